"""What the reference tools say about the drives of a machine: lsblk of util-linux, lsscsi, and nvme-cli."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

COLUMNS = "NAME,TYPE,SIZE,VENDOR,MODEL,SERIAL,REV,TRAN,LOG-SEC,PHY-SEC,ROTA,MOUNTPOINTS,PKNAME"


def say(*command: str) -> str:
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return ran.stdout


def ask() -> dict[str, Any]:
    """Asks all of them, on the machine that this runs on."""
    nvme = json.loads(say("nvme", "list", "-v", "-o", "json") or "{}").get("Devices", [])
    for host in nvme:  # made up anew at each boot
        host.pop("HostNQN", None)
        host.pop("HostID", None)
    subsystems = json.loads(say("nvme", "list-subsys", "-o", "json") or "[]")
    subsystems = [{"Subsystems": host["Subsystems"]} for host in subsystems]
    return {
        "lsblk": json.loads(say("lsblk", "--json", "--bytes", "--output", COLUMNS))["blockdevices"],
        "lsscsi": say("lsscsi", "--transport").split("\n")[:-1],
        "lsscsi hosts": say("lsscsi", "--hosts").split("\n")[:-1],
        "nvme": nvme,
        "nvme subsystems": subsystems,
    }


def blank(text: str | None) -> str:
    return " ".join((text or "").split())


def mounts(device: dict[str, Any]) -> Iterator[str]:
    yield from filter(None, device.get("mountpoints", []))
    for child in device.get("children", []):
        yield from mounts(child)


def of_lsblk(said: dict[str, Any]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    pending = list(said["lsblk"])
    while pending:
        device = pending.pop(0)
        pending += device.get("children", [])
        if device["type"] not in ("disk", "loop") and not device["type"].startswith("raid"):
            continue
        told = {
            "capacity_bytes": str(device["size"]),
            "logical_block_bytes": str(device["log-sec"]),
            "physical_block_bytes": str(device["phy-sec"]),
            "solid": "no" if device["rota"] else "yes",
            "mounted": "yes" if any(mounts(device)) else "no",
            # Of USB it is the bridge's: another drive in the same enclosure would have the same.
            "serial" if device["tran"] != "usb" else "bridge": blank(device["serial"]),
            "model": blank(device["model"]),
            "firmware": blank(device["rev"]),
            "transport": blank(device["tran"]),
        }
        found[device["name"]] = {member: text for member, text in told.items() if text}
    return found


def of_nvme(said: dict[str, Any]) -> dict[str, dict[str, str]]:
    """By `nvme list -v` and `nvme list-subsys`: the controllers that have a path to each namespace."""
    states = dict(states_of(said["nvme subsystems"]))
    found: dict[str, dict[str, str]] = {}
    for subsystem in (each for host in said["nvme"] for each in host["Subsystems"]):
        everything = sorted(space["NameSpace"] for space in subsystem["Namespaces"])
        for space in subsystem["Namespaces"]:
            reached = [
                controller
                for controller in subsystem["Controllers"]
                if space in controller["Namespaces"]
                or any(path["Path"].endswith(f"n{number(space)}") for path in controller["Paths"])
            ]
            names = sorted(controller["Controller"] for controller in reached)
            found[space["NameSpace"]] = {
                # list-subsys 2.3 leaves out one of two controllers with the same serial number.
                "controllers": "|".join(f"{name} {states.get(name, 'live')}" for name in names),
                "capacity_bytes": str(space["PhysicalSize"]),
                "logical_block_bytes": str(space["SectorSize"]),
                "serial": blank(reached[0]["SerialNumber"]),
                "model": blank(reached[0]["ModelNumber"]),
                "firmware": blank(reached[0]["Firmware"]),
                "namespaces": "|".join(everything),
                "nsid": str(space["NSID"]),
            }
    return found


def number(space: dict[str, Any]) -> str:
    """The last number of nvme0n3, which a path such as nvme0c1n3 has too."""
    return str(space["NameSpace"]).rsplit("n", 1)[1]


def states_of(said: list[Any]) -> Iterator[tuple[str, str]]:
    for host in said:
        for subsystem in host["Subsystems"]:
            for path in subsystem.get("Paths", []):
                yield path["Name"], path["State"]


# What is told of a drive but is no member of an identity.
NOT_MEMBERS = ("bridge", "nsid")


def nodes(said: dict[str, Any]) -> dict[str, str]:
    """Names in sysfs by serial number; those of namespaces by "SERIAL-NSID" too; of sets by themselves."""
    by_lsblk = of_lsblk(said)
    found = {node: node for node in by_lsblk}
    for node, told in by_lsblk.items():
        found |= {told[key]: node for key in ("serial", "bridge") if key in told}
    return found | {f"{told['serial']}-{told['nsid']}": node for node, told in of_nvme(said).items()}
