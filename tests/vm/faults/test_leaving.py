"""Drives that are reset, and that leave, in the middle of a load."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import drives
import pytest
import sated

pytestmark = pytest.mark.vm

WORK = sated.Workload(op="randread", size="4k", threads=2, depth=4)


def later(path: Path, seconds: float = 1.0) -> threading.Thread:
    """Writes 1 to an attribute in the middle of what follows."""

    def write() -> None:
        time.sleep(seconds)
        path.write_text("1")

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@pytest.mark.parametrize("engine", ["io_uring", "sync"])
def test_a_controller_that_is_reset_loses_nothing(nodes: dict[str, str], engine: str) -> None:
    """The kernel sends again what a reset took; what was read stays what was counted."""
    node = nodes["RESET001"]
    controller = Path("/sys/class/block", node, "device").resolve()
    if not (controller / "reset_controller").exists():  # the subsystem's, where the kernel knows paths
        controller = next(path.parent for path in Path("/sys/class/nvme").glob(f"nvme*/{node[:5]}c*n1"))
    with sated.open(f"/dev/{node}") as drive:
        before = drives.counted(node)
        thread = later(controller / "reset_controller")
        result = sated.load(drive, WORK, seconds=3, engine=engine)
        thread.join()
        after = drives.counted(node)
    ios = sum(result.table["ios"].to_pylist())
    assert sum(result.table["errors"].to_pylist()) == 0
    assert after["read_bytes"] - before["read_bytes"] == ios * 4096
    assert ios > 100


@pytest.mark.parametrize("engine", ["io_uring", "sync"])
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
    node = nodes["PULLED01"]
    function = next(
        path.resolve()
        for path in Path("/sys/class/nvme").glob("nvme*/device")
        if "PULLED01" in (path.parent / "serial").read_text()
    )
    with sated.open(f"/dev/{node}") as drive:
        thread = later(function / "remove")
        with pytest.raises(sated.SatedError) as gone:
            sated.load(drive, WORK, seconds=30)
        thread.join()
    assert gone.value.exit_code == 4, str(gone.value)
    assert all(each.serial != "PULLED01" for each in sated.list())
    with pytest.raises(sated.SatedError) as missing:
        sated.open(f"/dev/{node}")
    assert missing.value.exit_code == 2
