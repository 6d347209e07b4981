"""Runs in a guest: writes those parts of /sys, /proc and /dev that a list of drives is made from, as lines of the form
that tests/corpus/trees explains, and what the reference tools say about the same drives."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import oracle

ATTRIBUTES = """
dev size hidden partition removable ro nsid wwid serial uuid state transport address cntlid subsysnqn model vendor rev
firmware_rev name type scsi_level vpd_pg80 board_name proc_name class device product manufacturer idVendor
idProduct speed version current_link_speed current_link_width max_link_speed max_link_width sata_spd sata_spd_limit
hw_sata_spd_limit negotiated_linkrate maximum_linkrate sas_address ana_state queue/logical_block_size
queue/physical_block_size queue/rotational loop/backing_file md/level md/uuid md/array_state md/raid_disks md/degraded
md/metadata_version dm/name dm/uuid
"""
LINKS = ["subsystem", "driver", "device"]
CLASSES = [
    "ata_link",
    "bsg",
    "nvme",
    "nvme-generic",
    "nvme-subsystem",
    "sas_phy",
    "sas_port",
    "scsi_generic",
    "scsi_host",
]
# Of AHCI's ports and the like only those that a drive is at.
PORT = re.compile(r"/(ata|host|nvme|nvme-subsys)\d+(?=/|$)")
NEVER = re.compile(r"(ram|zram|sr|fd)\d+$")


class Tree:
    def __init__(self) -> None:
        self.lines: dict[str, str] = {}
        self.ports: set[str] = set()

    def file(self, path: Path) -> None:
        try:
            data = path.read_bytes()
        except OSError:  # an attribute of a device that is going, or that only can be written
            return
        if all(32 <= byte < 127 or byte in b"\t\n" for byte in data) and b"|" not in data:
            self.lines[str(path)] = " = " + data.decode().replace("\n", "|")
        else:
            self.lines[str(path)] = f" : {data.hex()}"

    def link(self, path: Path) -> None:
        if path.is_symlink():
            self.lines[str(path)] = f" -> {path.readlink()}"

    def folder_of_links(self, path: Path) -> None:
        if path.is_dir():
            self.lines[str(path)] = "/"
            for entry in path.iterdir():
                self.link(entry)

    def number(self, kind: str, folder: Path) -> None:
        if (folder / "dev").exists():
            self.link(Path("/sys/dev", kind, (folder / "dev").read_text().strip()))

    def device(self, folder: Path) -> None:
        """A device and all above it, which name the adapter, the bus and the driver."""
        while len(folder.parts) > 3:  # /sys/devices
            for name in ATTRIBUTES.split():
                if (folder / name).is_file():
                    self.file(folder / name)
            for name in LINKS:
                self.link(folder / name)
            folder = folder.parent

    def block(self, entry: Path) -> None:
        folder = entry.resolve()
        self.link(entry)
        self.link(Path("/sys/block") / entry.name)
        self.number("block", folder)
        self.ports |= {str(folder)[: match.end()] for match in PORT.finditer(str(folder))}
        self.device(folder)
        self.folder_of_links(folder / "holders")
        self.folder_of_links(folder / "slaves")
        for member in (folder / "md").glob("dev-*"):
            self.file(member / "state")

    def of_class(self, name: str) -> None:
        for entry in Path("/sys/class", name).glob("*"):
            folder = entry.resolve()
            above = {str(folder)[: match.end()] for match in PORT.finditer(str(folder))}
            if name.startswith("nvme") or above & self.ports or (name.startswith("sas") and self.ports):
                self.link(entry)
                self.number("char", folder)
                self.device(folder)
                for phy in (folder / "device").glob("phy-*"):
                    self.link(phy)

    def take(self) -> list[str]:
        for entry in Path("/sys/class/block").iterdir():
            backed = not entry.name.startswith("loop") or (entry / "loop/backing_file").exists()
            if backed and not NEVER.match(entry.name):
                self.block(entry)
        for name in CLASSES:
            self.of_class(name)
        for name in ("disk/by-id", "disk/by-path", "mapper"):
            for link in Path("/dev", name).glob("*"):
                self.link(link)
        for name in ("swaps", "mdstat"):
            if Path("/proc", name).exists():
                self.file(Path("/proc", name))
        # The guest's own root is no part of the machine that is recorded.
        mounts = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if " - 9p " not in line]
        mounts = [line for line in mounts if not line.split()[2].startswith("0:")]
        self.lines["/proc/self/mountinfo"] = " = " + "".join(f"{line}|" for line in mounts)
        return [path + rest for path, rest in sorted(self.lines.items())]


def main() -> None:
    out = Path(sys.argv[1])
    (out / "tree").write_text("\n".join(Tree().take()) + "\n")
    (out / "oracle.json").write_text(json.dumps(oracle.ask(), indent=1))
    (out / "kernel").write_text(subprocess.run(["uname", "-srv"], capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    main()
