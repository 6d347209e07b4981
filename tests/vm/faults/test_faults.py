"""What fails is counted, once and where it is, and told as what it was."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator
from pathlib import Path

import drives
import pytest
import sated
from sated import nvme, scsi

ENGINES = ["io_uring", "threads"]
BLOCK = 4096


def check_pass(path: str, engine: str, offsets: set[int], code: int, length: int = 2 << 20) -> None:
    """Reads each block of the first bytes of a device once: those at these offsets fail and no others, everything else
    is counted as read, and the kernel has counted both."""
    good = length // BLOCK - len(offsets)
    node = Path(path).name
    with sated.open(path) as drive:
        work = sated.Workload(op="read", access="sequential", size=BLOCK, depth=4, length=length)
        before = drives.counted(node)
        result = sated.load(drive, work, ios=good, engine=engine)  # failures do not count towards its end
        # Device-mapper does not count what it refuses by itself; drivers count what came back as failed.
        counted = good if node.startswith("dm-") else good + len(offsets)
        assert drives.counted(node)["reads"] - before["reads"] == counted
    assert sorted(result.failed_ios) == [(offset, -code) for offset in sorted(offsets)]
    told = {name: sum(result.table[name].to_pylist()) for name in ("ios", "bytes", "errors")}
    assert told == {"ios": good, "bytes": good * BLOCK, "errors": len(offsets)}


@pytest.fixture(scope="module")
def debug() -> str:
    """The disk of scsi_debug."""
    return next(
        path.parents[1].name for path in Path("/sys/block").glob("sd*/device/model") if "scsi_debug" in path.read_text()
    )


@pytest.fixture
def medium_errors(debug: str) -> Iterator[str]:
    """scsi_debug fails reads of the ten blocks from 1234h on while bit 1 of its options is set."""
    options = Path("/sys/bus/pseudo/drivers/scsi_debug/opts")
    options.write_text("2")
    yield debug
    options.write_text("0")


@pytest.mark.parametrize("engine", ENGINES)
def test_bad_blocks_of_null_blk(engine: str) -> None:
    """Sectors 800 to 815 are two blocks of 4 KiB."""
    check_pass("/dev/nullb0", engine, {800 * 512, 808 * 512}, errno.EIO)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sector_that_blkdebug_fails(nodes: dict[str, str], engine: str) -> None:
    """QEMU answers Unrecovered Read Error, which the kernel makes ENODATA (drivers/nvme/host/core.c)."""
    check_pass(f"/dev/{nodes['BAD00001']}", engine, {2048 * 512}, errno.ENODATA)


@pytest.mark.parametrize("engine", ENGINES)
def test_medium_errors_of_scsi_debug(medium_errors: str, engine: str) -> None:
    """Blocks 1234h to 123Dh lie in two of 4 KiB; the kernel makes MEDIUM ERROR ENODATA (drivers/scsi/scsi_lib.c)."""
    check_pass(f"/dev/{medium_errors}", engine, {0x1230 * 512, 0x1238 * 512}, errno.ENODATA, 4 << 20)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_error_target(nodes: dict[str, str], removed: None, engine: str) -> None:
    under = f"/dev/{nodes['RESET001']}"
    lines = [f"0 1024 linear {under} 0", "1024 24 error", f"1048 100000 linear {under} 1048"]
    check_pass(drives.mapped("broken", *lines), engine, {512 * number for number in (1024, 1032, 1040)}, errno.EIO)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_load_gives_up_on_a_flakey_target_that_is_down(nodes: dict[str, str], removed: None, engine: str) -> None:
    """Up for no second and down for a minute: every read fails, and after 100 the load says so."""
    path = drives.mapped("flakey", f"0 100000 flakey /dev/{nodes['RESET001']} 0 0 60")
    with sated.open(path) as drive, pytest.raises(sated.SatedError) as failed:
        sated.load(drive, sated.Workload(op="randread", size=BLOCK, depth=4), seconds=30, engine=engine)
    assert failed.value.exit_code == 4
    assert "100" in str(failed.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_flakey_target_that_comes_and_goes(nodes: dict[str, str], removed: None, engine: str) -> None:
    """Up for a second, down for a second: what failed is counted apart, and the load goes on. A delay of 100 ms keeps
    the failures of a second below the 100 that would end it; for 30 that succeed the target has to come up again."""
    under = nodes["RESET001"]
    flakey = drives.mapped("flakey", f"0 100000 flakey /dev/{under} 0 1 1 1 error_reads")
    with sated.open(drives.mapped("slow", f"0 100000 delay {flakey} 0 100")) as drive:
        before = drives.counted(under)["reads"]
        result = sated.load(drive, sated.Workload(op="randread", size=BLOCK, depth=2), ios=30, engine=engine)
        assert drives.counted(under)["reads"] - before == 30  # the target refuses by itself, and the drive sees nothing
    errors = sum(result.table["errors"].to_pylist())
    assert (result.totals.ios, result.totals.errors) == (30, errors) and errors > 0
    assert len(result.failed_ios) == min(errors, 16) and {code for _, code in result.failed_ios} == {-errno.EIO}


def test_the_status_of_a_failed_nvme_read(nodes: dict[str, str]) -> None:
    """Unrecovered Read Error: media errors 2, 81h (NVM Command Set 1.0, figure 20)."""
    with sated.open(f"/dev/{nodes['BAD00001']}") as drive, pytest.raises(sated.DriveError) as failed:
        drive.nvme_io(nvme.build_read(nsid=1, slba=2048, blocks=1, block_bytes=512))
    status = nvme.decode_status(failed.value.reply.nvme_status)
    assert (status.sct, status.sc) == (2, 0x81)


def test_the_sense_of_a_failed_scsi_read(medium_errors: str) -> None:
    """MEDIUM ERROR, UNRECOVERED READ ERROR, and the block in INFORMATION (SPC-6)."""
    with sated.open(f"/dev/{medium_errors}") as drive, pytest.raises(sated.DriveError) as failed:
        drive.scsi(scsi.build_read(0x1230, 8, block_bytes=512))
    detail = failed.value.detail
    assert (detail.sense_key, detail.asc, detail.ascq) == (3, 0x11, 0)
    assert scsi.decode_sense(failed.value.reply.sense).information == 0x1234


def inject(disk: str, line: str) -> None:
    device = Path("/sys/class/block", disk, "device").resolve().name
    Path("/sys/kernel/debug/scsi_debug", device, "error").write_text(line)


def test_an_injected_sense_is_told_as_it_is(debug: str) -> None:
    """Of drivers/scsi/scsi_debug.c: type 2 fails with a status and a sense, here HARDWARE ERROR 44h/00h, once."""
    inject(debug, "2 -1 0x12 0 0 0x2 0x4 0x44 0x0")
    with sated.open(f"/dev/{debug}") as drive:
        with pytest.raises(sated.DriveError) as failed:
            drive.scsi(scsi.build_inquiry())
        detail = failed.value.detail
        assert (detail.sense_key, detail.asc, detail.ascq) == (4, 0x44, 0)
        assert drive.scsi(scsi.build_inquiry()).status == 0


def test_a_command_that_is_lost_times_out(debug: str) -> None:
    """Type 0 loses one command: the host adapter's status says so, not the drive, and long before the minute that the
    kernel waits by itself (drivers/scsi/sg.c, SG_DEFAULT_TIMEOUT)."""
    inject(debug, "0 -1 0x25")
    with sated.open(f"/dev/{debug}") as drive:
        began = time.monotonic()
        with pytest.raises(sated.SatedError) as lost:
            drive.scsi(scsi.build_read_capacity(long=False, alloc=8), timeout=1.0)
        assert 1 <= time.monotonic() - began < 15
        assert lost.value.exit_code == 4
        assert lost.value.reply.host_status == 3  # DID_TIME_OUT
        assert drive.scsi(scsi.build_read_capacity(long=False, alloc=8)).status == 0


def test_scsi_debug_is_listed_and_read(debug: str) -> None:
    drives.check_reads(debug, "io_uring")
    listed = drives.listed(debug)
    assert (listed.vendor, listed.model) == ("Linux", "scsi_debug")
    assert listed.capacity_bytes == 64 << 20


@pytest.mark.parametrize("disk", ["scsi_debug", "nullb2"])
def test_writes_to_a_file_where_nothing_fails(debug: str, disk: str) -> None:
    node = debug if disk == "scsi_debug" else disk
    with drives.file_system(f"/dev/{node}") as folder:
        for engine in ENGINES:
            drives.check_writes(node, folder, engine)
