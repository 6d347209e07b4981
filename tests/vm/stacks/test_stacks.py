"""Devices upon devices: what is in use and by what, and loads through all of it."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from typing import Any

import drives
import pytest
import sated

MOUNTED = {"md": "/run/md", "lvm": "/run/lvm2", "crypt": "/run/crypt", "multipath": "/run/paths"}
DEVICES = {"md": "md127", "lvm": "dm-0", "crypt": "dm-1", "multipath": "dm-2"}


@pytest.mark.parametrize(
    "name", ["MDNVME01", "MDSATA01", "LVM00001", "LVM00002", "CRYPT001", "SWAP0001", "PATHS001", "md127"]
)
def test_the_list_agrees_with_lsblk(said: dict[str, Any], nodes: dict[str, str], name: str) -> None:
    """All of them are in use: lsblk tells where below each something is mounted, or swapped to."""
    drives.agree(said, nodes[name])
    assert drives.listed(nodes[name]).mounted


def test_the_members_of_a_set_are_those_of_mdstat(nodes: dict[str, str]) -> None:
    line = next(each for each in Path("/proc/mdstat").read_text().splitlines() if each.startswith("md127 :"))
    members = set(re.findall(r"(\w+)\[\d+\]", line))
    assert {each.split()[0] for each in drives.listed("md127").members} == members
    assert members == {nodes["MDNVME01"], nodes["MDSATA01"]}


@pytest.mark.parametrize(
    ("serial", "through", "where"),
    [
        ("MDSATA01", "md127", "/run/md"),
        ("LVM00002", "dm-0", "/run/lvm2"),
        ("CRYPT001", "dm-1", "/run/crypt"),
    ],
)
def test_the_reasons_name_what_is_above(nodes: dict[str, str], serial: str, through: str, where: str) -> None:
    reasons = "\n".join(drives.listed(nodes[serial]).reasons)
    assert f"{nodes[serial]} is part of {through}" in reasons
    assert f"{through} is mounted on {where} (ext4)" in reasons


def test_the_reasons_name_a_path(nodes: dict[str, str]) -> None:
    reasons = "\n".join(drives.listed(nodes["PATHS001"]).reasons)
    assert f"{nodes['PATHS001']} is a path of the multipath device dm-2" in reasons
    assert "dm-2 is mounted on /run/paths (ext4)" in reasons


@pytest.mark.parametrize("name", ["md127", "dm-0", "dm-1", "dm-2", "MDNVME01", "SWAP0001", "PATHS001"])
def test_nothing_that_is_in_use_is_written_to(nodes: dict[str, str], name: str) -> None:
    node = nodes.get(name, name)
    with sated.open(f"/dev/{node}") as drive:
        before = drives.counted(node)["write_bytes"]  # device mapper counts an empty flush as a write
        guard = drive.guard()
        assert not guard.safe
        assert any(re.search(r"is part of|is mounted on|is swap space|is a path of", each) for each in guard.reasons)
        typed = f"{drive.identity.token}"
        with pytest.raises(sated.UnsafeError, match=r"is part of|is mounted on|is swap space|is a path of"):
            sated.load(drive, sated.Workload(op="randwrite", size="4k"), ios=10, confirm=typed)
        assert drives.counted(node)["write_bytes"] == before


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
@pytest.mark.parametrize("node", DEVICES.values())
def test_reads_of_what_is_mapped(node: str, engine: str) -> None:
    drives.check_reads(node, engine)


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
@pytest.mark.parametrize("name", MOUNTED)
def test_writes_to_a_file_reach_the_device(name: str, engine: str) -> None:
    drives.check_writes(DEVICES[name], Path(MOUNTED[name]), engine)


def test_a_mirror_writes_to_both_halves(nodes: dict[str, str]) -> None:
    """Every byte of a mirror is written to each member (Documentation/admin-guide/md.rst)."""
    members = [nodes["MDNVME01"], nodes["MDSATA01"]]
    path = Path("/run/md/mirrored")
    with sated.open(str(path), create="4MiB") as drive:
        before = [drives.counted(each)["write_bytes"] for each in members]
        work = sated.Workload(op="write", access="sequential", size="64k")
        result = sated.load(drive, work, ios=64)
        after = [drives.counted(each)["write_bytes"] for each in members]
    assert all(now - then >= result.totals.bytes == 4 << 20 for now, then in zip(after, before, strict=True))
    path.unlink()


def paths() -> list[str]:
    return sorted(path.name for path in Path("/sys/block/dm-2/slaves").iterdir())


def test_each_path_to_a_disk_is_listed_as_that_disk(nodes: dict[str, str]) -> None:
    """Whichever of them somebody takes for a drive of its own: it has the serial number and is in use."""
    assert nodes["PATHS001"] in paths() and len(paths()) == 2
    for each in map(drives.listed, paths()):
        assert each.serial == "PATHS001" and each.mounted


@pytest.mark.parametrize(("which", "engine"), [(0, "io_uring"), (1, "threads")])
def test_a_load_goes_on_when_a_path_fails(which: int, engine: str) -> None:
    """What a disk that went offline refuses is sent by the other path: every byte that was counted was read."""
    gone, stays = paths()[which], paths()[1 - which]
    state = Path("/sys/block", gone, "device/state")
    before = {each: drives.counted(each)["read_bytes"] for each in ["dm-2", gone, stays]}
    with sated.open("/dev/dm-2") as drive:
        work = sated.Workload(op="randread", size="4k", threads=2, depth=4)
        job = sated.start(drive, work, seconds=60, interval=0.1, engine=engine)
        drives.wait_for(job, ios=200)
        state.write_text("offline\n")
        drives.wait_for(job, ios=500)
        job.stop()
        job.wait()
    moved = {each: drives.counted(each)["read_bytes"] - then for each, then in before.items()}
    state.write_text("running\n")
    drives.dmsetup("message", "mpatha", "0", f"reinstate_path /dev/{gone}")
    table = job.result().table
    assert sum(table["errors"].to_pylist()) == 0
    assert moved["dm-2"] == sum(table["bytes"].to_pylist())
    assert moved[stays] > moved[gone] > 0


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
def test_a_file_that_shrinks_in_the_middle_of_a_load(engine: str) -> None:
    """At the end of a file fewer bytes come back, behind it none (read(2)); neither counts as read."""
    path = Path("/run/lvm2", f"shrinks-{engine}")
    with sated.open(str(path), create="8MiB") as drive:
        thread = threading.Timer(1.0, os.truncate, (path, (4 << 20) + 2048))
        thread.start()
        with pytest.raises(sated.SatedError) as short:
            sated.load(drive, sated.Workload(op="randread", size="16k", depth=4), seconds=10, engine=engine)
        thread.join()
    assert short.value.exit_code == 4
    assert re.search(r"only (0|2048) of 16384 bytes came through", str(short.value))
    path.unlink()
