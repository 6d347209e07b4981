"""What a simulated drive's own state means to what is done to it from outside: guard, purge, limits, faults, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sated
from sated import ata, nvme, scsi

X210 = "sim:x210,scale=1/64"


Helps = tuple[str, str]  # for what is changed from outside, and what a purge by commands says


def locked(drive: Any) -> Helps:
    drive.ata(ata.build_security_set_password(b"secret"))
    drive.sim.power_cycle()
    return "unlock it by its password", "give the password that was set"


def sanitizing(drive: Any) -> Helps:
    drive.ata(ata.build_sanitize_block_erase())
    return "wait for the end", "--resume"


def sanitize_failed(drive: Any) -> Helps:
    drive.sim.fail("operation-fails", count=1)
    drive.ata(ata.build_sanitize_block_erase())
    drive.sleep(60)
    return "start another one", "--resume"


def without_power(drive: Any) -> Helps:
    drive.sim.fail("power-cut", count=1)
    with pytest.raises(sated.SatedError):
        drive.ata(ata.build_flush_cache())
    return "switch it on", "cannot be reached"


def formatting_scsi(drive: Any) -> Helps:
    parameters = scsi.build_format_list()
    drive.scsi(scsi.build_format_unit(list_len=len(parameters)), data_out=parameters)
    return "wait for the end", "--resume"


def stopped(drive: Any) -> Helps:
    drive.scsi(scsi.build_start_stop_unit())
    return "start it", "start it"


def without_namespace(drive: Any) -> Helps:
    drive.nvme_admin(nvme.build_ns_delete(1))
    return "create and attach one", ""  # all of a subsystem can be sanitized, whatever it has


NVME = "sim:generic-tlc-nvme,scale=1/1024"


@pytest.mark.parametrize(
    ("uri", "block"),
    [
        (X210, locked),
        (X210, sanitizing),
        (X210, sanitize_failed),
        (X210, without_power),
        ("sim:s840,scale=1/64", formatting_scsi),
        ("sim:s840,scale=1/64", stopped),
        (NVME, without_namespace),
    ],
)
def test_what_is_blocked_is_not_purged_or_limited(uri: str, block: Any) -> None:
    """No way around the drive's own state: what a command could not do, nothing else does either, and the reason says
    what helps."""
    with sated.open(uri) as drive:
        sated.load(drive, sated.Workload(op="randwrite", size="8k", depth=4), ios=100)
        assert drive.guard().safe and not drive.identity.reasons
        capacity = drive.identity.capacity_bytes or 0
        helps, purges = block(drive)
        mapped = drive.sim.counters.mapped_units
        for change in (lambda: drive.set_capacity(bytes=capacity // 8192 * 4096), drive.restore_capacity):
            with pytest.raises(sated.StateError, match=helps):
                change()
        with pytest.raises(sated.SatedError):
            sated.load(drive, sated.Workload(op="read", size="8k"), ios=1)
        assert drive.sim.counters.mapped_units == mapped
        guard = drive.guard()
        assert not guard.safe and helps in guard.reasons[0] and guard.reasons == drive.identity.reasons
        if purges:
            with pytest.raises(sated.SatedError, match=purges):
                drive.purge()
        else:
            assert drive.purge().verified is None and drive.sim.counters.mapped_units == 0


def test_a_clipped_drive_says_that_it_hides_sectors_itself() -> None:
    with sated.open(X210) as drive:
        sectors = int(ata.decode_native_max(drive.ata(ata.build_read_native_max()).sense).sectors)
        drive.ata(ata.build_set_max(sectors // 2 // 8 * 8 - 1, keep=True))
        offered = drive.identity.capacity_bytes or 0
        with pytest.raises(sated.SatedError, match=f"{offered}.*hides the rest itself.*SET MAX"):
            drive.set_capacity(fraction=0.75)
        assert drive.set_capacity(bytes=offered // 8192 * 4096).accessible_bytes == offered // 8192 * 4096
        assert drive.restore_capacity(method="lba").accessible_bytes == offered  # all that the device offers
        assert drive.restore_capacity().accessible_bytes == sectors * 512  # and all that it hid


def test_who_asked_last_does_not_stay_with_the_drive(tmp_path: Path) -> None:
    """What info tells of an NVMe subsystem is what its first controller has, whichever another process went through."""
    path = tmp_path / "my.sim"
    with sated.open(f"{NVME},state={path}") as drive:
        drive.nvme_admin(nvme.build_ns_delete(1))
        for nsid in (1, 2):
            data = nvme.build_ns_data(nsze=nsid * 2**16, ncap=nsid * 2**16)
            drive.nvme_admin(nvme.build_ns_create(), data_out=data)
            drive.nvme_admin(nvme.build_ns_attach(nsid), data_out=nvme.build_ctrl_list([nsid]))
        assert drive.identity.capacity_bytes == 2**16 * 512
        drive.sim.use_controller(1)
        assert drive.identity.capacity_bytes == 2 * 2**16 * 512
        drive.nvme_admin(nvme.build_identify(nvme.Cns["CTRL"]))
        drive.sim.save(tmp_path / "copy.sim")
    for uri in (f"sim:{path}", f"{NVME},state={path}"):
        with sated.open(uri) as drive:
            assert drive.identity.capacity_bytes == 2**16 * 512
            drive.sim.use_controller(1)
            drive.sim.restore(tmp_path / "copy.sim")
            assert drive.identity.capacity_bytes == 2 * 2**16 * 512


@pytest.mark.parametrize(
    ("uri", "options", "part"),
    [
        (X210, {"sense": (99, 1, 1)}, "sense key 99"),
        (X210, {"sense": (1,)}, "key, ASC, ASCQ"),
        (X210, {"sense": (1, 2, 3, 4)}, "key, ASC, ASCQ"),
        (NVME, {"nvme_status": 0}, "success"),
        (NVME, {"nvme_status": 0x4000}, "success"),  # Do Not Retry, of nothing
        (NVME, {"nvme_status": 0x8006}, "15 bits"),
    ],
)
def test_faults_that_are_none(uri: str, options: dict[str, Any], part: str) -> None:
    with sated.open(uri) as drive:
        with pytest.raises(sated.ParseError, match=part):
            drive.sim.fail("fail", **options)
        drive.sim.fail("fail", sense=(15, 255, 255), nvme_status=0x7FFF)


def test_a_failing_command_is_no_failing_load() -> None:
    with sated.open(X210) as drive:
        drive.sim.fail("fail")
        assert sated.load(drive, sated.Workload(op="read", size="4k"), ios=10).totals.ios == 10
        with pytest.raises(sated.DriveError):
            drive.ata(ata.build_identify_device())


def test_a_path_with_a_comma(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a,b"
    folder.mkdir()
    file = tmp_path / "my.sim"
    sated.sim.create("x210,scale=1/64", file)
    moved = folder / "my.sim"
    file.rename(moved)
    with pytest.raises(sated.ParseError, match="comma"):
        sated.sim.environment(moved)
    with pytest.raises(sated.ParseError, match="comma"):
        sated.sim.create("x210,scale=1/64", folder / "new.sim")
    assert not (folder / "new.sim").exists()
    monkeypatch.chdir(folder)
    for uri in ("my.sim", "sim:./my.sim", "sim:x210,scale=1/64,state=my.sim"):
        with pytest.raises(sated.ParseError, match="comma"):
            sated.sim.environment(uri)


def test_no_ratio_of_a_few_coarse_units_of_an_ata_drive() -> None:
    """Attribute 233 counts whole GiB: n of them are off by up to 1/n, and up to 100 make no ratio that holds to 1 %.
    Sequential writes are programmed once."""
    writes = sated.Workload(op="write", size="128k", depth=4)
    with sated.open(X210) as drive:
        sated.load(drive, writes, bytes=30 * 2**24)  # times 64: 30 GiB
        few = drive.health()
        assert few.media_bytes_written and few.host_bytes_written
        assert few.lifetime_write_amplification is None
        assert any("too few for a ratio" in doubt for doubt in few.doubts)
        sated.load(drive, writes, bytes=120 * 2**24)
        many = drive.health()
        assert many.lifetime_write_amplification == pytest.approx(1, abs=0.01)
        assert not any("too few for a ratio" in doubt for doubt in many.doubts)


def test_no_ratio_of_a_few_coarse_units_of_an_nvme_drive() -> None:
    """Data units written are thousands of 512 bytes, rounded up (NVMe Base 2.0, 5.16.1.3)."""
    with sated.open(NVME) as drive:
        sated.load(drive, sated.Workload(op="write", size="4k"), ios=1)  # times 1024: 8.2 units, told as 9
        few = drive.health()
        assert few.host_bytes_written == 9 * 512000
        assert few.lifetime_write_amplification is None
        assert any("too few for a ratio" in doubt for doubt in few.doubts)
        sated.load(drive, sated.Workload(op="write", size="4k"), ios=20)
        many = drive.health()
        assert many.lifetime_write_amplification == pytest.approx(1, abs=0.01)
