"""The simulated SAS drive asked as a real one is: identity and health by its own commands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sated


class Through(sated.Transport):
    """Another drive's commands, so that nothing is known of it but what it answers."""

    simulated = True

    def __init__(self, drive: sated.Drive) -> None:
        self.drive = drive

    def scsi(self, cdb: bytes, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> sated.Reply:
        try:
            return self.drive.scsi(cdb, data_in_len, data_out)
        except sated.DriveError as e:
            return e.reply


@pytest.fixture
def drive() -> Iterator[sated.Drive]:
    with sated.open("sim:s840,scale=1/64") as drive:
        yield drive


def test_identity(drive: sated.Drive) -> None:
    known = drive.identity
    with sated.open(Through(drive)) as outside:
        told = outside.identity
        assert (told.vendor, told.model, told.firmware) == (known.vendor, known.model, known.firmware)
        assert (told.serial, told.rotation_rpm) == (known.serial, 0)
        assert told.capacity_bytes == known.capacity_bytes
        assert (told.logical_block_bytes, told.physical_block_bytes) == (512, 8192)


def test_health(drive: sated.Drive) -> None:
    result = sated.load(drive, sated.Workload(op="randwrite", size="8k", threads=1, depth=32), ios=20000)
    written = sum(t.bytes for t in result.totals if t.op == "write")
    drive.scsi(sated.scsi.build_write(0, 16), data_out=bytes(8192))
    drive.scsi(sated.scsi.build_read(0, 16))
    drive.scsi(sated.scsi.build_send_diagnostic(5))
    with sated.open(Through(drive)) as outside:
        health = outside.health()
        assert health.host_bytes_written == (written + 8192) * 64
        assert health.host_bytes_read == 8192 * 64
        assert health.media_errors == 0 and health.critical_warnings == ()
        assert health.percentage_used == 0 and health.temperature_warning_c == 70
        assert health.self_test_result == "passed" and not health.self_test_running
        assert health.warnings == ()
        # A unit attention is told once, and does not stand in the way.
        drive.sim.power_cycle()
        again = outside.health()
        assert again.host_bytes_written == health.host_bytes_written and again.warnings == ()
        drive.scsi(sated.scsi.build_send_diagnostic(2))
        drive.sleep(303)
        running = outside.health()
        assert running.self_test_running and running.self_test_percent == 50


def test_limit(drive: sated.Drive) -> None:
    """A limit of what loads address is the host's own; the drive does not know of it, and commands leave it alone."""
    with sated.open("sim:s840,scale=1/64,lba=50%") as limited:
        half = limited.identity.capacity_bytes
        assert half == drive.identity.capacity_bytes // 8192 // 2 * 8192
        limited.scsi(sated.scsi.build_sanitize(2, immed=False))
        assert limited.identity.capacity_bytes == half
        told = sated.scsi.decode_capacity_16(limited.scsi(sated.scsi.build_read_capacity()).data)
        assert told.bytes == drive.identity.capacity_bytes
