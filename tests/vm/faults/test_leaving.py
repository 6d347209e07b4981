"""Drives that are reset, and that leave, in the middle of a load."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import drives
import pytest
import sated

WORK = sated.Workload(op="randread", size="4k", threads=2, depth=4)


def later(path: Path, seconds: float = 1.0) -> threading.Thread:
    """Writes 1 to an attribute in the middle of what follows."""

    def write() -> None:
        time.sleep(seconds)
        path.write_text("1")

    thread = threading.Thread(target=write)
    thread.start()
    return thread


def reset_of(node: str) -> Path:
    controller = Path("/sys/class/block", node, "device").resolve()
    if not (controller / "reset_controller").exists():  # the subsystem's, where the kernel knows paths
        controller = next(path.parent for path in Path("/sys/class/nvme").glob(f"nvme*/{node[:5]}c*n1"))
    return controller / "reset_controller"


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
def test_a_controller_that_is_reset_loses_nothing(nodes: dict[str, str], engine: str) -> None:
    """The kernel sends again what a reset took; what was read stays what was counted."""
    node = nodes["RESET001"]
    with sated.open(f"/dev/{node}") as drive:
        before = drives.counted(node)
        thread = later(reset_of(node))
        result = sated.load(drive, WORK, seconds=3, engine=engine)
        thread.join()
        after = drives.counted(node)
    ios = sum(result.table["ios"].to_pylist())
    assert sum(result.table["errors"].to_pylist()) == 0
    assert after["read_bytes"] - before["read_bytes"] == ios * 4096
    assert ios > 100


def test_a_controller_that_is_reset_under_a_file(nodes: dict[str, str]) -> None:
    """Of what a file's load wrote nothing is lost either; the file system writes little beside it."""
    node = nodes["RESET001"]
    with drives.file_system(f"/dev/{node}") as folder, sated.open(str(folder / "file"), create="8MiB") as drive:
        sated.load(drive, sated.Workload(op="write", access="sequential", size="128k"), ios=64)
        before = drives.counted(node)["write_bytes"]
        job = sated.start(drive, sated.Workload(op="randwrite", size="4k", depth=8), seconds=60, interval=0.1)
        for _ in range(2):
            drives.wait_for(job, ios=200)
            reset_of(node).write_text("1")
        drives.wait_for(job, ios=200)
        job.stop()
        job.wait()
        moved = drives.counted(node)["write_bytes"] - before
    table = job.result().table
    assert sum(table["errors"].to_pylist()) == 0
    assert 600 * 4096 <= sum(table["bytes"].to_pylist()) <= moved < sum(table["bytes"].to_pylist()) + (1 << 20)


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
def test_a_load_ends_when_its_drive_is_gone(nodes: dict[str, str], engine: str) -> None:
    """scsi_debug's disk is deleted, then found again by a scan; NVMe's follows below."""
    disk = next(p.parents[1] for p in Path("/sys/block").glob("sd*/device/model") if "scsi_debug" in p.read_text())
    host = next(part for part in (disk / "device").resolve().parts if part.startswith("host"))
    with sated.open(f"/dev/{disk.name}") as drive:
        thread = later(disk / "device/delete")
        with pytest.raises(sated.SatedError) as gone:
            sated.load(drive, WORK, seconds=30, engine=engine)
        thread.join()
    assert gone.value.exit_code == 4, str(gone.value)
    Path("/sys/class/scsi_host", host, "scan").write_text("- - -")
    for _ in range(50):
        if any("scsi_debug" in path.read_text() for path in Path("/sys/block").glob("sd*/device/model")):
            return
        time.sleep(0.1)
    raise AssertionError("the scan found no disk")


def test_an_nvme_drive_that_is_pulled(nodes: dict[str, str]) -> None:
    function = next(
        path.resolve()
        for path in Path("/sys/class/nvme").glob("nvme*/device")
        if "PULLED01" in (path.parent / "serial").read_text()
    )
    check_pulled(nodes["PULLED01"], function / "remove", "auto")


@pytest.mark.parametrize(
    ("serial", "device", "engine"),
    [
        ("UNPLUG01", "nvme", "io_uring"),
        ("UNPLUG02", "scsi", "threads"),
        ("UNPLUG03", "bulk", "io_uring"),
        ("UNPLUG04", "uas", "threads"),
    ],
)
def test_a_drive_that_is_unplugged(nodes: dict[str, str], serial: str, device: str, engine: str) -> None:
    """By the host: the kernel learns it from the PCIe slot, the SCSI adapter or the USB port, and from nobody else."""
    check_pulled(nodes[serial], Path(f"/vm/unplug-{device}"), engine)


def check_pulled(node: str, switch: Path, engine: str) -> None:
    """The load ends with the drive's error and with the rows of what it had read, and the drive is in no list. @param
    switch a file; writing to it removes the drive"""
    path = f"/dev/{node}"
    tokens = {each.token for each in sated.list()} - {drives.listed(node).token}
    with sated.open(path) as drive:
        before = drives.counted(node)["reads"]
        job = sated.start(drive, WORK, seconds=60, interval=0.1, engine=engine)
        drives.wait_for(job, ios=200)
        counted = drives.counted(node)["reads"] - before
        switch.write_text("1")
        with pytest.raises(sated.SatedError) as gone:
            job.wait()
    assert gone.value.exit_code == 4, str(gone.value)
    result = gone.value.result
    rows = result.table.to_pylist()
    assert sum(row["ios"] for row in rows) >= counted >= 200
    # A slow host may leave the first tenth of a second without any.
    assert next(row for row in rows if row["ios"])["errors"] == 0
    assert sum(row["errors"] for row in rows) >= len(result.failed_ios) > 0
    for _ in range(100):  # the kernel may still be taking it away
        if not Path("/sys/class/block", node).exists():
            break
        time.sleep(0.1)
    assert {each.token for each in sated.list()} == tokens
    with pytest.raises(sated.SatedError) as missing:
        sated.open(path)
    assert missing.value.exit_code == 2
