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

pytestmark = pytest.mark.vm

MOUNTED = {"md": "/run/md", "lvm": "/run/lvm2", "crypt": "/run/crypt"}


@pytest.mark.parametrize("name", ["MDNVME01", "MDSATA01", "LVM00001", "LVM00002", "CRYPT001", "SWAP0001", "md127"])
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


@pytest.mark.parametrize("name", ["md127", "dm-0", "dm-1", "MDNVME01", "SWAP0001"])
def test_nothing_that_is_in_use_is_written_to(nodes: dict[str, str], name: str) -> None:
    node = nodes.get(name, name)
    with sated.open(f"/dev/{node}") as drive:
        before = drives.counted(node)["writes"]
        guard = drive.guard()
        assert not guard.safe
        assert any(re.search(r"is part of|is mounted on|is swap space", reason) for reason in guard.reasons)
        with pytest.raises((sated.UnsafeError, sated.UnsupportedError)):
            sated.load(drive, sated.Workload(op="randwrite", size="4k"), ios=10, confirm=drive.identity.token)
        assert drives.counted(node)["writes"] == before


@pytest.mark.parametrize("engine", ["io_uring", "sync"])
@pytest.mark.parametrize("node", ["md127", "dm-0", "dm-1"])
def test_reads_of_what_is_mapped(node: str, engine: str) -> None:
    drives.check_reads(node, engine)


@pytest.mark.parametrize("engine", ["io_uring", "sync"])
@pytest.mark.parametrize("name", MOUNTED)
def test_writes_to_a_file_reach_the_device(nodes: dict[str, str], name: str, engine: str) -> None:
    """Direct I/O on a file whose blocks are there: what is read is counted byte by byte; of what is written the file
    system adds its own, which is little."""
    device = {"md": "md127", "lvm": "dm-0", "crypt": "dm-1"}[name]
    path = Path(MOUNTED[name], f"file-{engine}")
    with sated.open(str(path), create="8MiB") as drive:
        mix = sated.Workload(read=0.5, write=0.5, size="4k", access="random", threads=2, depth=4)
        written = sated.Workload(op="write", access="sequential", size="128k")
        sated.load(drive, written, ios=64, engine=engine)
        before = drives.counted(device)
        result = sated.load(drive, mix, ios=400, engine=engine, seed=2)
        after = drives.counted(device)
    table = result.table.to_pylist()
    ours = {op: sum(row["bytes"] for row in table if row["op"] == op) for op in ("read", "write")}
    assert sum(row["ios"] for row in table) == 400 and sum(row["errors"] for row in table) == 0
    assert after["read_bytes"] - before["read_bytes"] == ours["read"] > 0
    assert 0 < ours["write"] <= after["write_bytes"] - before["write_bytes"] < ours["write"] + (1 << 20)
    path.unlink()


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


@pytest.mark.parametrize("engine", ["io_uring", "sync"])
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
