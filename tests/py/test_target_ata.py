"""A simulated ATA drive from Python: what its state machines mean to loads, provisioning and state files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sated
from sated import ata

X210 = "sim:x210,scale=1/64"
WRITES = sated.Workload(op="randwrite", size="4k", depth=4)


def native(drive: Any) -> int:
    return int(ata.decode_native_max(drive.ata(ata.build_read_native_max()).sense).sectors)


def test_a_locked_drive_takes_no_load() -> None:
    with sated.open(X210) as drive:
        drive.ata(ata.build_security_set_password(b"secret"))
        sated.load(drive, WRITES, ios=100)  # it locks at the next power-on only (ACS-4 4.18.4)
        drive.sim.power_cycle()
        with pytest.raises(sated.DriveError, match="locked"):
            sated.load(drive, WRITES, ios=100)
        with pytest.raises(sated.DriveError):
            drive.ata(ata.build_read(0, 1))
        drive.ata(ata.build_security_unlock(b"secret"))
        assert sated.load(drive, WRITES, ios=100).totals.ios == 100


def test_a_load_stays_within_a_clipped_drive() -> None:
    with sated.open(X210) as drive:
        sectors = native(drive)
        drive.ata(ata.build_set_max(sectors // 4 // 8 * 8 - 1, keep=True))
        assert drive.identity.capacity_bytes == sectors // 4 // 8 * 4096
        provisioning = drive.provisioning()
        assert provisioning.accessible_bytes == drive.identity.capacity_bytes
        assert provisioning.native_bytes == sectors * 512
        sated.load(drive, sated.Workload(op="write", size="128k", depth=4), bytes=drive.identity.capacity_bytes)
        # Whole writes of 128 KiB, one after the other from the first.
        assert drive.sim.counters.mapped_units == drive.identity.capacity_bytes // 2**17 * 32
        assert drive.provisioning().purged_beyond
        assert native(drive) == sectors


def test_an_erase_is_seen_by_the_flash_layer() -> None:
    with sated.open(X210) as drive:
        sated.load(drive, WRITES, ios=1000)
        assert drive.sim.counters.mapped_units > 0
        start = drive.now_s()
        drive.ata(ata.build_sanitize_block_erase())
        while ata.decode_sanitize_status(drive.ata(ata.build_sanitize_status()).sense).in_progress:
            with pytest.raises(sated.DriveError, match="erasing"):
                sated.load(drive, WRITES, ios=1)
            drive.sleep(1)
        assert drive.sim.counters.mapped_units == 0
        assert 7 < drive.now_s() - start < 10  # the model's 8 s, whatever the scale
        sated.load(drive, WRITES, ios=10)


def test_a_limit_within_a_clipped_drive(tmp_path: Path) -> None:
    path = tmp_path / "my.sim"
    with sated.open(f"{X210},state={path}") as drive:
        sectors = native(drive)
        drive.ata(ata.build_set_max(sectors // 2 // 8 * 8 - 1, keep=True))
    for share, part in (("80%", 0.8), ("25%", 0.25)):  # of what the drive offers
        wanted = int(sectors // 2 // 8 * part) * 4096
        with sated.open(f"sim:{path},lba={share}") as drive:
            assert drive.identity.capacity_bytes == wanted


def test_what_a_killed_process_leaves(tmp_path: Path) -> None:
    """Its state file is that of a drive whose power was cut: locked, with what was flushed."""
    path = tmp_path / "my.sim"
    with sated.open(f"{X210},state={path}") as drive:
        drive.ata(ata.build_write(0, b"\x5a" * 4096))
        drive.ata(ata.build_flush_cache())
        drive.ata(ata.build_security_set_password(b"secret"))
        left = path.read_bytes()  # as far as it is written while the drive is open
    path.write_bytes(left)
    with sated.open(f"sim:{path}") as drive:
        security = ata.decode_identify(drive.ata(ata.build_identify_device()).data).security
        assert (security.enabled, security.locked) == (1, 1)
        drive.ata(ata.build_security_unlock(b"secret"))
        assert drive.ata(ata.build_read(0, 8)).data == b"\x5a" * 4096
        assert drive.health().unsafe_shutdowns == 1
