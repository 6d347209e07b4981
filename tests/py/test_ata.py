"""ATA commands byte by byte against the standards' layouts, decoders against constructed answers, and cases from the
field."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from sated import ata
from sated._ffi import ffi, lib
from sated.errors import ParseError

ROOT = Path(__file__).resolve().parents[2]


def cdb(
    preset: str,
    *,
    features: int = 0,
    count: int = 0,
    lba: int = 0,
    command: int,
    device: int = 0x40,
) -> bytes:
    """ATA PASS-THROUGH(16) as SAT-4 table 138 lays it out. `preset`: bytes 1 and 2."""
    return bytes(
        [
            0x85,
            *bytes.fromhex(preset),
            *(features >> 8, features & 0xFF),
            *(count >> 8, count & 0xFF),
            *(lba >> 24 & 0xFF, lba & 0xFF, lba >> 32 & 0xFF, lba >> 8 & 0xFF, lba >> 40 & 0xFF, lba >> 16 & 0xFF),
            device,
            command,
            0,
        ]
    )


PASSWORD = b"sated"
DCO_SIZE = 7_814_037_167


def dco_data(max_lba: int = DCO_SIZE) -> bytes:
    """DEVICE CONFIGURATION IDENTIFY data (ACS-2 table 29) with a good checksum."""
    data = bytearray(512)
    struct.pack_into("<HHHQHH", data, 0, 2, 7, 0x7F, max_lba, 0x6FFF, 0x001F)
    data[510] = 0xA5
    data[511] = -sum(data) & 0xFF
    return bytes(data)


# Bytes 1 and 2 (SAT-4): "06 20" non-data with registers, "07 20" the same as a 48-bit command, "08 0e" PIO-in,
# "09 0e" PIO-in of a 48-bit command, "0a 06" PIO-out ("0a 26" with registers), "0d 06"/"0d 0e" DMA out/in, 48 bits.
COMMANDS: dict[str, tuple[ata.Command, bytes]] = {
    "IDENTIFY DEVICE (ACS-4)": (ata.build_identify_device(), cdb("080e", count=1, command=0xEC)),
    "READ LOG EXT (ACS-4)": (
        ata.build_read_log(0x30, page=0x0108, pages=2, features=0x1234),
        cdb("090e", features=0x1234, count=2, lba=0x01_0000_0830, command=0x2F),
    ),
    "READ LOG DMA EXT (ACS-4)": (
        ata.build_read_log(0x04, page=7, dma=True),
        cdb("0d0e", count=1, lba=0x0704, command=0x47),
    ),
    "SMART READ DATA (ATA8-ACS)": (
        ata.build_smart_read_data(),
        cdb("080e", features=0xD0, count=1, lba=0xC24F00, command=0xB0),
    ),
    "SMART READ THRESHOLDS (ATA-3)": (
        ata.build_smart_read_thresholds(),
        cdb("080e", features=0xD1, count=1, lba=0xC24F00, command=0xB0),
    ),
    "SMART RETURN STATUS (ACS-4)": (
        ata.build_smart_return_status(),
        cdb("0620", features=0xDA, lba=0xC24F00, command=0xB0),
    ),
    "SMART ENABLE OPERATIONS": (
        ata.build_smart_enable(),
        cdb("0620", features=0xD8, lba=0xC24F00, command=0xB0),
    ),
    "SMART DISABLE OPERATIONS": (
        ata.build_smart_disable(),
        cdb("0620", features=0xD9, lba=0xC24F00, command=0xB0),
    ),
    "SMART EXECUTE OFF-LINE IMMEDIATE, extended, captive": (
        ata.build_smart_offline(ata.SelfTest.EXTENDED | ata.SelfTest.CAPTIVE),
        cdb("0620", features=0xD4, lba=0xC24F82, command=0xB0),
    ),
    "SMART EXECUTE OFF-LINE IMMEDIATE, abort": (
        ata.build_smart_offline(ata.SelfTest.ABORT),
        cdb("0620", features=0xD4, lba=0xC24F7F, command=0xB0),
    ),
    "SMART READ LOG": (
        ata.build_smart_read_log(0x06),
        cdb("080e", features=0xD5, count=1, lba=0xC24F06, command=0xB0),
    ),
    "SMART WRITE LOG": (
        ata.build_smart_write_log(0x09, bytes(1024)),
        cdb("0a06", features=0xD6, count=2, lba=0xC24F09, command=0xB0),
    ),
    "SECURITY SET PASSWORD (ACS-4)": (
        ata.build_security_set_password(PASSWORD),
        cdb("0a26", count=1, command=0xF1),
    ),
    "SECURITY UNLOCK (ACS-4)": (ata.build_security_unlock(PASSWORD), cdb("0a26", count=1, command=0xF2)),
    "SECURITY ERASE PREPARE (ACS-4)": (ata.build_security_erase_prepare(), cdb("0620", command=0xF3)),
    "SECURITY ERASE UNIT (ACS-4)": (
        ata.build_security_erase_unit(PASSWORD, timeout_ms=720_000),
        cdb("0a26", count=1, command=0xF4),
    ),
    "SECURITY FREEZE LOCK (ACS-4)": (ata.build_security_freeze_lock(), cdb("0620", command=0xF5)),
    "SECURITY DISABLE PASSWORD (ACS-4)": (
        ata.build_security_disable_password(PASSWORD),
        cdb("0a26", count=1, command=0xF6),
    ),
    "SANITIZE STATUS EXT (ACS-4)": (ata.build_sanitize_status(), cdb("0720", command=0xB4)),
    "SANITIZE STATUS EXT, clear": (ata.build_sanitize_status(clear=True), cdb("0720", count=1, command=0xB4)),
    "CRYPTO SCRAMBLE EXT (ACS-4)": (
        ata.build_sanitize_crypto_scramble(),
        cdb("0720", features=0x11, lba=int.from_bytes(b"Cryp", "big"), command=0xB4),
    ),
    "CRYPTO SCRAMBLE EXT, failure mode": (
        ata.build_sanitize_crypto_scramble(failure_mode=True, zoned_no_reset=True),
        cdb("0720", features=0x11, count=0x8010, lba=0x43727970, command=0xB4),
    ),
    "BLOCK ERASE EXT (ACS-4)": (
        ata.build_sanitize_block_erase(),
        cdb("0720", features=0x12, lba=int.from_bytes(b"BkEr", "big"), command=0xB4),
    ),
    "BLOCK ERASE EXT, failure mode": (
        ata.build_sanitize_block_erase(failure_mode=True),
        cdb("0720", features=0x12, count=0x0010, lba=0x426B4572, command=0xB4),
    ),
    "OVERWRITE EXT (ACS-4)": (
        ata.build_sanitize_overwrite(0xDEADBEEF, passes=16, invert=True, definitive_ending=True, failure_mode=True),
        cdb("0720", features=0x14, count=0x00D0, lba=0x4F57_DEADBEEF, command=0xB4),
    ),
    "OVERWRITE EXT, three passes": (
        ata.build_sanitize_overwrite(0, passes=3),
        cdb("0720", features=0x14, count=3, lba=0x4F57_00000000, command=0xB4),
    ),
    "SANITIZE FREEZE LOCK EXT (ACS-4)": (
        ata.build_sanitize_freeze_lock(),
        cdb("0720", features=0x20, lba=int.from_bytes(b"FrLk", "big"), command=0xB4),
    ),
    "SANITIZE ANTIFREEZE LOCK EXT (ACS-4)": (
        ata.build_sanitize_antifreeze_lock(),
        cdb("0720", features=0x40, lba=int.from_bytes(b"Anti", "big"), command=0xB4),
    ),
    "READ NATIVE MAX ADDRESS (ATA8-ACS)": (
        ata.build_read_native_max(ext=False),
        cdb("0620", command=0xF8),
    ),
    "READ NATIVE MAX ADDRESS EXT (ATA8-ACS)": (ata.build_read_native_max(), cdb("0720", command=0x27)),
    "SET MAX ADDRESS (ATA8-ACS)": (
        # A 28-bit command has LBA 27:24 in DEVICE 3:0.
        ata.build_set_max(0x0ABCDEF0, keep=True, ext=False),
        cdb("0620", count=1, lba=0xBCDEF0, command=0xF9, device=0x4A),
    ),
    "SET MAX ADDRESS EXT (ATA8-ACS)": (
        ata.build_set_max(0x1234_56789ABC, keep=True),
        cdb("0720", count=1, lba=0x1234_56789ABC, command=0x37),
    ),
    "SET MAX ADDRESS EXT, volatile": (
        ata.build_set_max(0xFF, keep=False),
        cdb("0720", lba=0xFF, command=0x37),
    ),
    "SET MAX SET PASSWORD": (
        ata.build_set_max_password(PASSWORD),
        cdb("0a26", features=1, count=1, command=0xF9),
    ),
    "SET MAX LOCK": (ata.build_set_max_lock(), cdb("0620", features=2, command=0xF9)),
    "SET MAX UNLOCK": (ata.build_set_max_unlock(PASSWORD), cdb("0a26", features=3, count=1, command=0xF9)),
    "SET MAX FREEZE LOCK": (ata.build_set_max_freeze_lock(), cdb("0620", features=4, command=0xF9)),
    "GET NATIVE MAX ADDRESS EXT (ACS-4)": (ata.build_get_native_max(), cdb("0720", command=0x78)),
    "SET ACCESSIBLE MAX ADDRESS EXT (ACS-4)": (
        ata.build_set_accessible_max(0xABCDEF012345),
        cdb("0720", features=1, lba=0xABCDEF012345, command=0x78),
    ),
    "FREEZE ACCESSIBLE MAX ADDRESS EXT (ACS-4)": (
        ata.build_freeze_accessible_max(),
        cdb("0720", features=2, command=0x78),
    ),
    # As hdparm sends it: Seagate/nwipe reports show 85 08 0e 00 c2 00 01 00 00 00 00 00 00 40 b1 00.
    "DEVICE CONFIGURATION IDENTIFY (ACS-2)": (
        ata.build_dco_identify(),
        bytes.fromhex("85080e00c2000100000000000040b100"),
    ),
    "DEVICE CONFIGURATION RESTORE": (ata.build_dco_restore(), cdb("0620", features=0xC0, command=0xB1)),
    "DEVICE CONFIGURATION FREEZE LOCK": (ata.build_dco_freeze_lock(), cdb("0620", features=0xC1, command=0xB1)),
    "DEVICE CONFIGURATION SET": (
        ata.build_dco_set(dco_data(), max_lba=1000),
        cdb("0a26", features=0xC3, count=1, command=0xB1),
    ),
    "DATA SET MANAGEMENT, TRIM (ACS-4)": (
        ata.build_trim([(0, 65535 * 65)], max_blocks=2),
        cdb("0d06", features=1, count=2, command=0x06),
    ),
    "CHECK POWER MODE (ACS-4)": (ata.build_check_power_mode(), cdb("0620", command=0xE5)),
    "IDLE (ACS-4)": (ata.build_idle(0xF1), cdb("0620", count=0xF1, command=0xE3)),
    "IDLE IMMEDIATE (ACS-4)": (ata.build_idle_immediate(), cdb("0620", command=0xE1)),
    "STANDBY (ACS-4)": (ata.build_standby(1), cdb("0620", count=1, command=0xE2)),
    "STANDBY IMMEDIATE (ACS-4)": (ata.build_standby_immediate(), cdb("0620", command=0xE0)),
    "SLEEP (ACS-4)": (ata.build_sleep(), cdb("0620", command=0xE6)),
    "SET FEATURES (ACS-4)": (
        ata.build_set_features(0xC3, count=5, lba=0xC24F44),
        cdb("0620", features=0xC3, count=5, lba=0xC24F44, command=0xEF),
    ),
    # As it was sent to a drive: 85 06 20 00 82 .. 40 ef.
    "SET FEATURES, write cache off": (
        ata.build_set_write_cache(False),
        bytes.fromhex("85062000820000000000000000 40ef00"),
    ),
    "SET FEATURES, write cache on": (ata.build_set_write_cache(True), cdb("0620", features=0x02, command=0xEF)),
    "SET FEATURES, look-ahead on": (ata.build_set_look_ahead(True), cdb("0620", features=0xAA, command=0xEF)),
    "SET FEATURES, look-ahead off": (ata.build_set_look_ahead(False), cdb("0620", features=0x55, command=0xEF)),
    "SET FEATURES, APM 80h": (ata.build_set_apm(0x80), cdb("0620", features=0x05, count=0x80, command=0xEF)),
    "SET FEATURES, APM off": (ata.build_set_apm(0), cdb("0620", features=0x85, command=0xEF)),
    "SET FEATURES, EPC, go to Idle_b (ACS-4)": (
        ata.build_set_epc(1, condition=0x82),
        cdb("0620", features=0x4A, count=0x82, lba=0x1, command=0xEF),
    ),
    "SET FEATURES, EPC, timer of Standby_z": (
        ata.build_set_epc(2, condition=0x00, parameter=0x01234E),
        cdb("0620", features=0x4A, lba=0x1234E2, command=0xEF),
    ),
    "SET FEATURES, DIPM on (SATA 3.2 13.3)": (
        ata.build_set_sata_feature(0x03, True),
        cdb("0620", features=0x10, count=3, command=0xEF),
    ),
    "SET FEATURES, DevSleep off": (
        ata.build_set_sata_feature(0x09, False),
        cdb("0620", features=0x90, count=9, command=0xEF),
    ),
    "FLUSH CACHE (ACS-4)": (ata.build_flush_cache(ext=False), cdb("0620", command=0xE7)),
    "FLUSH CACHE EXT (ACS-4)": (ata.build_flush_cache(), cdb("0720", command=0xEA)),
    "READ DMA EXT (ACS-4)": (
        ata.build_read(0x1234_56789ABC, 65536),
        cdb("0d0e", count=0, lba=0x1234_56789ABC, command=0x25),
    ),
    "READ DMA (ACS-4)": (
        ata.build_read(0x0ABCDEF0, 8, ext=False),
        cdb("0c0e", count=8, lba=0xBCDEF0, command=0xC8, device=0x4A),
    ),
    "READ SECTORS EXT (ACS-4)": (
        ata.build_read(1, 1, dma=False),
        cdb("090e", count=1, lba=1, command=0x24),
    ),
    "READ SECTORS (ACS-4)": (
        ata.build_read(1, 256, dma=False, ext=False),
        cdb("080e", count=0, lba=1, command=0x20),
    ),
    # BYT_BLOK with T_TYPE: the length counts logical sectors, here of 4096 bytes.
    "READ DMA EXT, 4Kn": (
        ata.build_read(2, 3, block_bytes=4096),
        cdb("0d1e", count=3, lba=2, command=0x25),
    ),
    "WRITE DMA EXT (ACS-4)": (ata.build_write(2, bytes(1024)), cdb("0d06", count=2, lba=2, command=0x35)),
    "WRITE DMA": (
        ata.build_write(2, bytes(512), ext=False),
        cdb("0c06", count=1, lba=2, command=0xCA),
    ),
    "WRITE SECTORS EXT (ACS-4)": (
        ata.build_write(2, bytes(512), dma=False),
        cdb("0b06", count=1, lba=2, command=0x34),
    ),
    "WRITE SECTORS": (
        ata.build_write(2, bytes(512), dma=False, ext=False),
        cdb("0a06", count=1, lba=2, command=0x30),
    ),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_command_bytes(what: str) -> None:
    command, expected = COMMANDS[what]
    assert command.cdb.hex(" ") == expected.hex(" ")
    blocks = {0: 0, 1: 1, 2: 1}[command.direction]
    assert bool(command.data_len) == bool(blocks)
    assert command.data_len == len(command.data) or command.direction == 1
    if command.ext:
        with pytest.raises(ParseError, match="48-bit"):
            command.pass_through(12)
    else:
        short = command.pass_through(12)
        assert short.hex(" ") == bytes(
            [0xA1, *expected[1:3], expected[4], expected[6], *expected[8:14:2], expected[13], expected[14], 0, 0]
        ).hex(" ")  # fmt: skip


# What hdparm 9.65 issued, captured by interposing ioctl: its options, the CDB, and ours.
HDPARM: list[tuple[str, str, ata.Command]] = [
    ("-I", "85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00", ata.build_identify_device()),
    ("-C", "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", ata.build_check_power_mode()),
    ("-y", "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e0 00", ata.build_standby_immediate()),
    ("-Y", "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e6 00", ata.build_sleep()),
    ("-S 241", "85 06 20 00 00 00 f1 00 00 00 00 00 00 40 e3 00", ata.build_idle(241)),
    ("--idle-immediate", "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e1 00", ata.build_idle_immediate()),
    ("-A0", "85 06 20 00 55 00 00 00 00 00 00 00 00 40 ef 00", ata.build_set_look_ahead(False)),
    ("-A1", "85 06 20 00 aa 00 00 00 00 00 00 00 00 40 ef 00", ata.build_set_look_ahead(True)),
    ("-B128", "85 06 20 00 05 00 80 00 00 00 00 00 00 40 ef 00", ata.build_set_apm(128)),
    ("-B255", "85 06 20 00 85 00 00 00 00 00 00 00 00 40 ef 00", ata.build_set_apm(0)),
    ("-M128", "85 06 20 00 42 00 80 00 00 00 00 00 00 40 ef 00", ata.build_set_features(0x42, count=0x80)),
    ("-F", "85 07 20 00 00 00 00 00 00 00 00 00 00 40 ea 00", ata.build_flush_cache()),
    ("-N", "85 07 20 00 00 00 00 00 00 00 00 00 00 40 27 00", ata.build_read_native_max()),
    ("-N p1000", "85 07 20 00 00 00 01 00 e7 00 03 00 00 40 37 00", ata.build_set_max(999, keep=True)),
    ("-N 1000", "85 07 20 00 00 00 00 00 e7 00 03 00 00 40 37 00", ata.build_set_max(999, keep=False)),
    ("--dco-identify", "85 08 0e 00 c2 00 01 00 00 00 00 00 00 40 b1 00", ata.build_dco_identify()),
    ("--dco-restore", "85 06 20 00 c0 00 00 00 00 00 00 00 00 40 b1 00", ata.build_dco_restore()),
    ("--dco-freeze", "85 06 20 00 c1 00 00 00 00 00 00 00 00 40 b1 00", ata.build_dco_freeze_lock()),
    ("--security-freeze", "85 06 20 00 00 00 00 00 00 00 00 00 00 40 f5 00", ata.build_security_freeze_lock()),
    (
        "--security-set-pass",
        "85 0a 06 00 00 00 01 00 00 00 00 00 00 40 f1 00",
        ata.build_security_set_password(PASSWORD),
    ),
    ("--security-unlock", "85 0a 06 00 00 00 01 00 00 00 00 00 00 40 f2 00", ata.build_security_unlock(PASSWORD)),
    (
        "--security-disable",
        "85 0a 06 00 00 00 01 00 00 00 00 00 00 40 f6 00",
        ata.build_security_disable_password(PASSWORD),
    ),
    ("--security-erase, first", "85 06 20 00 00 00 00 00 00 00 00 00 00 40 f3 00", ata.build_security_erase_prepare()),
    (
        "--security-erase, then",
        "85 0a 06 00 00 00 01 00 00 00 00 00 00 40 f4 00",
        ata.build_security_erase_unit(PASSWORD, timeout_ms=1),
    ),
    ("--sanitize-status", "85 07 20 00 00 00 00 00 00 00 00 00 00 40 b4 00", ata.build_sanitize_status()),
    (
        "--sanitize-crypto-scramble",
        "85 07 20 00 11 00 00 43 70 00 79 00 72 40 b4 00",
        ata.build_sanitize_crypto_scramble(),
    ),
    ("--sanitize-block-erase", "85 07 20 00 12 00 00 42 72 00 45 00 6b 40 b4 00", ata.build_sanitize_block_erase()),
    (
        "--sanitize-overwrite hex:deadbeef",
        "85 07 20 00 14 00 00 de ef 57 be 4f ad 40 b4 00",
        ata.build_sanitize_overwrite(0xDEADBEEF, passes=16),
    ),
    (
        "--sanitize-overwrite-passes 3",
        "85 07 20 00 14 00 03 de ef 57 be 4f ad 40 b4 00",
        ata.build_sanitize_overwrite(0xDEADBEEF, passes=3),
    ),
    ("--sanitize-freeze-lock", "85 07 20 00 20 00 00 46 6b 00 4c 00 72 40 b4 00", ata.build_sanitize_freeze_lock()),
    (
        "--sanitize-antifreeze-lock",
        "85 07 20 00 40 00 00 41 69 00 74 00 6e 40 b4 00",
        ata.build_sanitize_antifreeze_lock(),
    ),
    ("--trim-sector-ranges 1000:8", "85 0d 06 00 01 00 01 00 00 00 00 00 00 40 06 00", ata.build_trim([(1000, 8)])),
    (
        "--read-sector 1000",
        "85 08 0e 00 00 00 01 00 e8 00 03 00 00 e0 20 00",
        ata.build_read(1000, 1, dma=False, ext=False),
    ),
    (
        "--write-sector 1000",
        "85 0a 06 00 00 00 01 00 e8 00 03 00 00 e0 30 00",
        ata.build_write(1000, bytes(512), dma=False, ext=False),
    ),
]


@pytest.mark.parametrize(("options", "captured", "ours"), HDPARM, ids=[row[0] for row in HDPARM])
def test_same_bytes_as_hdparm(options: str, captured: str, ours: ata.Command) -> None:
    theirs = bytearray.fromhex(captured)
    if theirs[1] == 0x0A and theirs[14] >> 4 == 0xF:
        theirs[2] |= 0x20  # Security: we ask for the registers too, so that success is seen and not assumed
    theirs[13] &= ~0xA0  # DEVICE bits 7 and 5, obsolete since ATA/ATAPI-6, which hdparm sets in some commands
    assert ours.cdb.hex(" ") == theirs.hex(" ")


def test_same_data_as_hdparm() -> None:
    """The first bytes of --security-disable (master), --security-erase-enhanced and --trim-sector-ranges."""
    assert ata.build_security_disable_password(PASSWORD, master=True).data[:8].hex(" ") == "01 00 73 61 74 65 64 00"
    enhanced = ata.build_security_erase_unit(PASSWORD, enhanced=True, timeout_ms=1)
    assert enhanced.data[:8].hex(" ") == "02 00 73 61 74 65 64 00"
    assert ata.build_trim([(1000, 8)]).data[:16].hex(" ") == "e8 03 00 00 00 00 08 00 00 00 00 00 00 00 00 00"


def test_every_builder_is_compared() -> None:
    header = (ROOT / "include" / "sated" / "ata.h").read_text()
    builders = {name for name in dir(lib) if name.startswith("sated_ata_build_") and f"int {name}(" in header}
    data = {name for name in builders if name.endswith(("_data", "_list"))} - {"sated_ata_build_smart_read_data"}
    python = {f"build_{name.removeprefix('sated_ata_build_')}" for name in builders - data}
    python -= {"build_cdb"}
    assert {name for name in ata.__all__ if name.startswith("build_")} == python
    source = Path(__file__).read_text()
    assert not [name for name in python if f"ata.{name}(" not in source]
    assert len(COMMANDS) >= 60


def test_timeout_goes_along() -> None:
    assert ata.build_security_erase_unit(PASSWORD, timeout_ms=720_000).timeout_ms == 720_000


# ---- data that goes with commands -----------------------------------------------------------------------------------


def test_security_data() -> None:
    """ACS-4 tables 114, 117 and 121: word 0 the switches, words 1-16 the password, word 17 the master's identifier."""
    plain = ata.build_security_unlock(b"secret").data
    assert plain == b"\0\0" + b"secret".ljust(32, b"\0") + bytes(478)
    master = ata.build_security_set_password(bytes(range(32)), master=True, revision=0xFFFE).data
    assert (master[0], master[1], master[2:34], master[34:36]) == (1, 0, bytes(range(32)), b"\xfe\xff")
    assert ata.build_security_set_password(b"x", maximum=True).data[:3] == b"\x00\x01x"
    assert ata.build_security_erase_unit(b"x", enhanced=True, master=True, timeout_ms=1).data[:3] == b"\x03\x00x"
    assert ata.build_set_max_password(b"p").data == b"\0\0p" + bytes(509)


def test_trim_list() -> None:
    """ACS-4 table 46: 8 bytes little-endian, LBA 47:0 and the count of sectors in 63:48."""
    data = ata.build_trim([(0x123456789ABC, 8), (1, 65536)]).data
    assert data[:24] == struct.pack("<QQQ", 0x0008_123456789ABC, 0xFFFF_000000000001, 0x0001_000000010000)
    assert data[24:] == bytes(488)
    with pytest.raises(ParseError, match="does not fit"):
        ata.build_trim([(0, 65535 * 64 + 1)])
    assert len(ata.build_trim([(0, 65535 * 64)]).data) == 512


def test_dco_set_data() -> None:
    data = ata.build_dco_set(dco_data(), max_lba=999_999).data
    assert struct.unpack_from("<Q", data, 6) == (999_999,)
    assert (data[:6], data[14:18], data[510], sum(data) & 0xFF) == (dco_data()[:6], dco_data()[14:18], 0xA5, 0)
    with pytest.raises(ParseError, match="the last address is"):
        ata.build_dco_set(dco_data(), max_lba=DCO_SIZE + 1)
    with pytest.raises(ParseError, match="checksum"):
        ata.build_dco_set(dco_data()[:-1] + b"\x00", max_lba=1)


REFUSED: list[tuple[str, Any]] = [
    ("the number of passes is 17", lambda: ata.build_sanitize_overwrite(0, passes=17)),
    ("the number of passes is 0", lambda: ata.build_sanitize_overwrite(0, passes=0)),
    ("33 bytes; it has 32", lambda: ata.build_security_unlock(bytes(33))),
    ("the level", lambda: ata.build_security_set_password(b"x", master=True, maximum=True)),
    ("the revision", lambda: ata.build_security_set_password(b"x", revision=1)),
    ("the last address is 268435456", lambda: ata.build_set_max(1 << 28, keep=False, ext=False)),
    ("the last address", lambda: ata.build_set_accessible_max(1 << 48)),
    ("subcommand 05h is reserved", lambda: ata.build_smart_offline(5)),
    ("subcommand 80h is reserved", lambda: ata.build_smart_offline(0x80)),
    ("the number of pages is 0", lambda: ata.build_read_log(4, pages=0)),
    ("the log is 256", lambda: ata.build_read_log(256)),
    ("the number of sectors is 257", lambda: ata.build_read(0, 257, ext=False)),
    ("the number of sectors is 0", lambda: ata.build_read(0, 0)),
    ("the first address", lambda: ata.build_read((1 << 48) - 1, 2)),
    ("a logical sector of 520", lambda: ata.build_read(0, 1, block_bytes=520)),
    ("the level is 255", lambda: ata.build_set_apm(255)),
    ("range 0 has 0 sectors", lambda: ata.build_trim([(0, 0)])),
    ("range 1 has", lambda: ata.build_trim([(0, 1), ((1 << 48) - 1, 2)])),
    ("the number of ranges is 0", lambda: ata.build_trim([])),
    ("the feature is 0", lambda: ata.build_set_sata_feature(0, True)),
    ("the subcommand is 16", lambda: ata.build_set_epc(16, condition=0)),
]


@pytest.mark.parametrize("text", [text for text, _ in REFUSED])
def test_refused(text: str) -> None:
    with pytest.raises(ParseError, match=text):
        dict(REFUSED)[text]()


@pytest.mark.parametrize(
    ("word", "minutes"),
    [
        # IDENTIFY words 89 and 90, both formats (ACS-4); the rule is max(2 x estimate, estimate + 10 min).
        (0x0000, 12 * 60),  # no estimate
        (0x00FF, 12 * 60),  # "more than 508 minutes"
        (0xFFFF, 12 * 60),  # "more than 65532 minutes"
        (0x8000, 12 * 60),
        (0x0001, 12),
        (0x0005, 20),
        (0x0062, 392),
        (0x80C8, 800),
        (0x80FF, 1020),
    ],
)
def test_erase_timeout(word: int, minutes: int) -> None:
    assert ata.erase_timeout_ms(word) == minutes * 60_000


# ---- registers ------------------------------------------------------------------------------------------------------


def descriptor(*, status: int = 0x50, error: int = 0, count: int = 0, lba: int = 0, ext: int = 1) -> bytes:
    """Sense data with an ATA Status Return descriptor (SAT-4 table 148)."""
    b = [lba >> 8 * i & 0xFF for i in range(6)]
    return bytes(
        [
            *(0x72, 1, 0, 0x1D, 0, 0, 0, 14, 9, 12, ext, error, count >> 8, count & 0xFF),
            *(b[3], b[0], b[4], b[1], b[5], b[2], 0x40, status),
        ]
    )


NOTHING = bytes.fromhex("70 00 0b 00 00 00 00 0a 00 00 00 00 00 00 00 00 00 00")


def test_unknown_registers_are_no_success() -> None:
    for decoder in (ata.decode_power_mode, ata.decode_smart_status, ata.decode_native_max, ata.decode_sanitize_status):
        assert set(vars(decoder(NOTHING)).values()) == {None}
        busy = decoder(descriptor(status=0xD0, count=0x80FF, lba=0xC24F00))
        assert set(vars(busy).values()) == {None}, "while BSY is set no register holds (ACS-4 6.2)"


@pytest.mark.parametrize(("lba", "exceeded"), [(0xC24F00, 0), (0x2CF400, 1), (0xC24F01, 0), (0xC2F400, None)])
def test_smart_status(lba: int, exceeded: int | None) -> None:
    assert ata.decode_smart_status(descriptor(lba=lba, ext=0)).exceeded == exceeded


@pytest.mark.parametrize("count", [0x00, 0x01, 0x40, 0x41, 0x80, 0x81, 0x82, 0x83, 0xFF])
def test_power_mode(count: int) -> None:
    assert ata.decode_power_mode(descriptor(count=count, ext=0)).mode == ata.Power(count)


def test_power_mode_that_no_standard_has() -> None:
    assert ata.decode_power_mode(descriptor(count=0x7E, ext=0)).mode is None


def test_sanitize_status() -> None:
    """ACS-4 7.36.6: COUNT 15 completed, 14 in progress, 13 frozen, 12 antifreeze; LBA 15:0 the progress."""
    done = ata.decode_sanitize_status(descriptor(count=0x8000, lba=0xFFFF))
    assert (done.failed, done.completed, done.in_progress, done.progress) == (0, 1, 0, None)
    frozen = ata.decode_sanitize_status(descriptor(count=0x2000, lba=0xFFFF))
    assert (frozen.frozen, frozen.antifreeze) == (1, 0)
    assert ata.decode_sanitize_status(descriptor(count=0x1000)).antifreeze == 1


@pytest.mark.parametrize("reason", list(ata.SanitizeReason))
def test_sanitize_reason(reason: int) -> None:
    failed = ata.decode_sanitize_status(descriptor(status=0x51, error=4, count=0x8000, lba=reason))
    assert (failed.failed, failed.reason) == (1, reason)
    assert (failed.completed, failed.in_progress) == (None, None)


def test_native_max_needs_the_whole_address() -> None:
    """The fixed format keeps 24 bits of LBA and a flag for more (SAT-4 table 151): then the address is unknown."""
    cut = bytes.fromhex("f0 00 01 00 50 40 00 0a a0 af be c0 00 1d 00 00 00 00")
    assert ata.decode_registers(cut).lba_low == 0xC0BEAF
    assert ata.decode_native_max(cut).sectors is None
    whole = bytes.fromhex("f0 00 01 00 50 40 00 0a 80 af be c0 00 1d 00 00 00 00")
    assert ata.decode_native_max(whole).max_lba == 0xC0BEAF


# ---- IDENTIFY -------------------------------------------------------------------------------------------------------


def identify(words: dict[int, int], *, base: bool = True) -> bytes:
    """IDENTIFY data of a 48-bit drive of 7 814 037 160 sectors (ACS-4 table 48) with some words replaced."""
    w = [0] * 256
    if base:
        w[0], w[49], w[83], w[84], w[86], w[87] = 0x0040, 0x0200, 0x4400, 0x4000, 0x0400, 0x4000
        w[60], w[61] = 0xFFFF, 0x0FFF
        for i, part in enumerate(struct.unpack("<4H", struct.pack("<Q", 7_814_037_160))):
            w[100 + i] = part
    for word, value in words.items():
        w[word] = value
    return struct.pack("<256H", *w)


def test_locked_drive() -> None:
    """A drive locked by a password (Seagate/openSeaChest#48): hdparm says 196min, locked, high of these words."""
    words = {59: 0x5000, 82: 2, 85: 2, 89: 0x62, 90: 0x62, 92: 0xFFFE, 128: 0x27}
    drive = ata.decode_identify(identify(words))
    s = drive.security
    assert (s.supported, s.enabled, s.locked, s.frozen, s.count_expired) == (1, 1, 1, 0, 0)
    assert (s.level, s.enhanced_erase, s.master_revision) == (0, 1, 0xFFFE)
    assert (s.erase_minutes, s.erase_at_least, s.enhanced_minutes, s.enhanced_at_least) == (196, 0, 196, 0)
    z = drive.sanitize
    assert (z.supported, z.overwrite, z.crypto_scramble, z.block_erase) == (1, 1, 0, 0)
    assert ata.erase_timeout_ms(drive.words[90]) >= 392 * 60_000
    expired = ata.decode_identify(identify(words | {128: 0x37}))
    assert expired.security.count_expired == 1


@pytest.mark.parametrize(
    ("word", "minutes", "at_least"),
    [
        (0x00FF, 508, 1),
        (0xFFFF, 65532, 1),
        (0x0000, None, None),
        (0x8000, None, None),
        (0x8001, 2, 0),
        (0x80C8, 400, 0),
    ],
)
def test_erase_time_formats(word: int, minutes: int | None, at_least: int | None) -> None:
    s = ata.decode_identify(identify({82: 2, 89: word, 90: word, 128: 0x21})).security
    assert (s.erase_minutes, s.erase_at_least) == (minutes, at_least)
    assert (s.enhanced_minutes, s.enhanced_at_least) == (minutes, at_least)


def test_contradictions_are_unknown() -> None:
    s = ata.decode_identify(identify({82: 0, 85: 0, 128: 0x23})).security
    assert (s.supported, s.enabled) == (None, None), "word 128 and words 82, 85 say different things"
    z = ata.decode_identify(identify({59: 0xE000})).sanitize
    assert (z.supported, z.crypto_scramble, z.overwrite, z.block_erase) == (0, None, None, None)
    assert ata.decode_identify(identify({100: 0, 101: 0, 102: 0})).capacity.sectors is None, "48 bits say less than 28"
    assert ata.decode_identify(identify({106: 0x5000, 117: 0, 118: 0})).capacity.bytes is None


def test_sectors_of_4096_bytes() -> None:
    """Word 106 (ACS-4): 12 logical sectors are longer, 13 several in a physical one, 3:0 how many as 2^n."""
    native = ata.decode_identify(identify({106: 0x5000, 117: 2048})).capacity
    assert (native.logical_block_bytes, native.physical_block_bytes) == (4096, 4096)
    assert native.bytes == 7_814_037_160 * 4096
    emulated = ata.decode_identify(identify({106: 0x6003, 209: 0x4001})).capacity
    assert (emulated.logical_block_bytes, emulated.physical_block_bytes, emulated.offset_bytes) == (512, 4096, 512)


def test_extended_addresses() -> None:
    """Word 69 bit 3: the size stands in words 230-233, and words 100-103 are no longer it."""
    drive = ata.decode_identify(identify({69: 8, 230: 0, 231: 0, 232: 2}))
    assert drive.capacity.sectors == 2 << 32


def test_amac_needs_valid_words() -> None:
    valid = {83: 0x4400, 86: 0x8400, 119: 0x4100, 120: 0x4000}
    assert ata.decode_identify(identify(valid)).areas.amac_supported == 1
    assert ata.decode_identify(identify(valid | {119: 0x0100})).areas.amac_supported is None
    assert ata.decode_identify(identify(valid | {86: 0x0400})).areas.amac_supported == 0


def test_short_identify_is_unknown_beyond() -> None:
    whole = identify({128: 0x21, 82: 2})
    for length in (2, 100, 121, 256, 257, 511):
        part = ata.decode_identify(whole[:length])
        assert part.words is None
        assert part.checksum is None
        if length < 258:
            assert set(vars(part.security).values()) == {None}
    assert ata.decode_identify(whole[:100]).capacity.sectors is None


@pytest.mark.parametrize("data", [b"", b"\x40", bytes(512), b"\xff" * 512])
def test_no_identify_at_all(data: bytes) -> None:
    with pytest.raises(ParseError, match="IDENTIFY DEVICE data"):
        ata.decode_identify(data)


def test_checksum() -> None:
    data = bytearray(identify({255: 0x00A5}))
    assert ata.decode_identify(data).checksum == ata.Checksum.BAD
    data[511] = -sum(data) & 0xFF
    assert ata.decode_identify(data).checksum == ata.Checksum.OK
    assert ata.decode_identify(identify({})).checksum == ata.Checksum.ABSENT


# ---- hidden sectors -------------------------------------------------------------------------------------------------

NATIVE_8_MORE = bytes.fromhex("72 01 00 1d 00 00 00 0e 09 0c 01 00 00 00 d1 af 01 be 00 c0 40 50")
"""READ NATIVE MAX EXT; sg_decode_sense says lba=0x1d1c0beaf."""
DCO_SUPPORTED = {83: 0x4C00, 86: 0x0C00}


def test_eight_sectors_in_an_hpa() -> None:
    """martijnvanbrummelen/nwipe#542: the numbers differ although a text said "disabled"."""
    h = ata.hidden(identify({}), native=NATIVE_8_MORE)
    assert (h.accessible_sectors, h.native_sectors) == (7_814_037_160, 7_814_037_168)
    # One block of the 4096 bytes that the USB bridge shows, but sectors of 512 to the drive.
    assert (h.hpa_sectors, h.dco_sectors, h.hidden_sectors, h.hidden_bytes) == (8, 0, 8, 4096)


def test_eight_sectors_in_an_overlay() -> None:
    native = descriptor(lba=7_814_037_159)
    h = ata.hidden(identify(DCO_SUPPORTED), native=native, dco=dco_data(7_814_037_167))
    assert (h.hpa_sectors, h.dco_sectors, h.hidden_sectors, h.hidden_bytes) == (0, 8, 8, 4096)


@pytest.mark.parametrize("dco", [None, dco_data()[:-1] + b"\x00", bytes(512)])
def test_no_answer_of_the_overlay_is_not_zero(dco: bytes | None) -> None:
    h = ata.hidden(identify(DCO_SUPPORTED), native=descriptor(lba=7_814_037_159), dco=dco)
    assert (h.hpa_sectors, h.overlay_sectors, h.dco_sectors) == (0, None, None)
    assert (h.hidden_sectors, h.hidden_bytes, h.hidden_at_least_sectors) == (None, None, 0)


def test_no_registers_hide_what_they_hide() -> None:
    aborted = descriptor(status=0x51, error=4)
    for native in (None, NOTHING, aborted):
        h = ata.hidden(identify({}), native=native)
        assert (h.native_sectors, h.hpa_sectors, h.hidden_sectors) == (None, None, None)
    backwards = ata.hidden(identify({}), native=descriptor(lba=99))
    assert (backwards.native_sectors, backwards.hpa_sectors, backwards.hidden_sectors) == (100, None, None)


# ---- SMART ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        # prometheus-community/smartctl_exporter#20, smartmontools#243: 48 bits are no degrees.
        ("29 00 11 00 3f 00", (41, 17, 63)),
        ("07 00 02 00 1b 00", (7, 2, 27)),
        ("1d 00 3f 00 11 00", (29, 17, 63)),  # the other order
        ("1d 00 00 00 00 00", (29, None, None)),
        ("1d 01 11 00 3f 00", (29, None, None)),  # byte 1 is not zero
        ("1d 00 11 02 3f 00", (29, None, None)),  # byte 3 is not zero
        ("1d 00 20 00 3f 00", (29, None, None)),  # colder than the coldest
        ("fb ff f6 ff 1e 00", (-5, -10, 30)),  # below zero, with its sign extended
    ],
)
def test_packed_temperature(raw: str, expected: tuple[int, int | None, int | None]) -> None:
    t = ata.attribute_raw(bytes.fromhex(raw), ata.RawFormat.TEMPERATURE)
    assert (t.temperature_c, t.min_c, t.max_c) == expected
    assert t.value is None


def smart_data(attributes: list[tuple[int, int, int, str]]) -> bytes:
    data = bytearray(512)
    data[0] = 1
    for i, (number, value, worst, raw) in enumerate(attributes):
        data[2 + 12 * i : 13 + 12 * i] = bytes([number, 0x32, 0, value, worst]) + bytes.fromhex(raw)
    data[511] = -sum(data) & 0xFF
    return bytes(data)


def test_temperature_is_not_the_normalised_value() -> None:
    smart = ata.decode_smart(smart_data([(194, 93, 73, "07 00 02 00 1b 00")]))
    (a,) = ata.attributes(smart)
    assert (a.name, a.value, a.temperature_c, a.meaning) == ("Temperature_Celsius", 93, 7, ata.Meaning.TEMPERATURE)


def test_unit_of_a_counter_found_by_experiment() -> None:
    """smartmontools#578: 20 GiB were written, the counter went from 50 108 to 50 749."""
    c = ata.calibrate(50_108, 50_749, 20 << 30)
    assert c.step_bytes / (1 << 20) == pytest.approx(31.95, abs=0.005)
    assert (c.unit_bytes, c.candidates) == (32 << 20, (32 << 20,))
    assert abs(c.error) == pytest.approx(0.002, abs=0.0005)
    assert c.lifetime_bytes / 1e12 == pytest.approx(1.703, abs=0.0005)


@pytest.mark.parametrize("unit", [512, 4096, 512_000, 1 << 20, 16 << 20, 32 << 20, 64 << 20, 1 << 30, 10**9])
def test_every_unit_is_found(unit: int) -> None:
    written = 5 * 10**11
    assert ata.calibrate(7, 7 + written // unit, written).unit_bytes == unit


def test_an_experiment_that_does_not_decide() -> None:
    assert ata.calibrate(100, 100, 1 << 30).unit_bytes is None
    assert ata.calibrate(100, 99, 1 << 30).unit_bytes is None
    assert ata.calibrate(100, 200, 0).unit_bytes is None
    one = ata.calibrate(100, 101, 1 << 30)
    assert (one.unit_bytes, one.lifetime_bytes) == (None, None)
    assert set(one.candidates) == {1 << 30, 10**9}
    nothing = ata.calibrate(0, 1000, 1000 * 100_000)
    assert (nothing.unit_bytes, nothing.candidates) == (None, ())


def test_without_a_known_family_there_is_no_unit() -> None:
    smart = ata.decode_smart(smart_data([(241, 99, 99, "3d c6 00 00 00 00")]))
    (a,) = ata.attributes(smart, model="NOBODY KNOWS THIS")
    assert (a.raw_value, a.unit_bytes, a.total_bytes, a.family) == (50_749, None, None, None)
    (a,) = ata.attributes(smart, model="INTEL SSDSA2BZ200G3")
    assert (a.total_bytes, a.family) == (50_749 * (32 << 20), "Intel 710 Series SSDs")
    (a,) = ata.attributes(smart, model="Samsung SSD 840 Series")
    assert a.total_bytes == 50_749 * 512
    (a,) = ata.attributes(smart, model="SanDisk SD6SB2M256G1022I")
    assert a.total_bytes == 50_749 << 30


def test_names_for_the_other_kind_of_drive() -> None:
    assert ata.attribute_rule(10, rotating=True).name == "Spin_Retry_Count"
    assert ata.attribute_rule(10, rotating=False).name == "Unknown_SSD_Attribute"
    assert ata.attribute_rule(177, rotating=True).name == "Unknown_HDD_Attribute"
    assert ata.attribute_rule(99).name == "Unknown_Attribute"
    with pytest.raises(ParseError, match="1 to 255"):
        ata.attribute_rule(256)


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(ata, "_rules", [])
    ata._load_entry_points.cache_clear()
    yield
    ata._load_entry_points.cache_clear()


def test_registered_names_come_first(rules: None) -> None:
    ata.register_attributes("ACME *", {241: ata.AttributeRule(name="Pages", meaning=5, unit_bytes=8192)})
    assert ata.attribute_rule(241, model="ACME ONE").unit_bytes == 8192
    ata.register_attributes(lambda model: model.endswith("ONE"), {241: "Sheets"})
    assert ata.attribute_rule(241, model="ACME ONE").name == "Sheets"
    assert ata.attribute_rule(241, model="ACME TWO").name == "Pages"
    assert ata.attribute_rule(9, model="ACME ONE").name == "Power_On_Hours"
    with pytest.raises(ParseError, match="attribute 0"):
        ata.register_attributes("*", {0: "x"})


def test_names_from_an_entry_point(rules: None, monkeypatch: pytest.MonkeyPatch) -> None:
    module = type(sys)("sated_acme")
    module.register = lambda: ata.register_attributes("ACME *", {250: "From_Elsewhere"})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sated_acme", module)
    point = EntryPoint(name="acme", value="sated_acme:register", group="sated.decoders")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: [point] if "decoders" in group else [])
    assert ata.attribute_rule(250, model="ACME ONE").name == "From_Elsewhere"


def test_thresholds_and_failures() -> None:
    smart = ata.decode_smart(smart_data([(1, 10, 10, "00" * 6), (5, 50, 9, "00" * 6), (9, 1, 1, "00" * 6)]))
    limits = bytearray(512)
    limits[0] = 1
    limits[2:4], limits[14:16] = b"\x01\x0a", b"\x05\x0a"
    thresholds = ata.decode_smart_thresholds(limits)
    assert thresholds.checksum == ata.Checksum.BAD
    assert [a.failed for a in ata.attributes(smart, thresholds)] == ["now", "past", ""]
    assert [a.threshold for a in ata.attributes(smart, thresholds)] == [10, 10, None]


def test_short_smart_data_is_unknown() -> None:
    whole = smart_data([(9, 99, 99, "01" + "00" * 5)])
    assert ata.decode_smart(whole[:100]).attributes is None
    assert ata.decode_smart(whole[:363]).self_test_result is None
    assert ata.decode_smart(whole[:511]).checksum is None
    with pytest.raises(ParseError, match="SMART data"):
        ata.decode_smart(b"\x01")


def test_self_test_log() -> None:
    """ACS-4 A.15: 21 places of 24 bytes in a ring, byte 508 the newest, from 1 on."""
    data = bytearray(512)
    data[0] = 1
    for place, entry in {
        0: struct.pack("<BBHBI", 2, 0x00, 300, 0, 0xFFFFFFFF),
        1: struct.pack("<BBHBI", 1, 0x79, 301, 5, 0x01234567),
        20: struct.pack("<BBHBI", 1, 0xF5, 299, 0, 0),
    }.items():
        data[2 + 24 * place : 11 + 24 * place] = entry
    data[508] = 2
    data[511] = -sum(data) & 0xFF
    log = ata.decode_self_test_log(data)
    assert [(e.subcommand, e.result, e.hours) for e in log.entries] == [(1, 7, 301), (2, 0, 300), (1, 15, 299)]
    assert [e.lba for e in log.entries] == [0x01234567, None, None]
    assert [e.remaining for e in log.entries] == [90, 0, 50]
    assert log.checksum == ata.Checksum.OK
    data[508] = 0
    assert ata.decode_self_test_log(data).entries == ()
    data[508] = 22
    assert ata.decode_self_test_log(data).entries is None
    assert ata.decode_self_test_log(data[:511]).entries is None


def test_extended_self_test_log() -> None:
    """ACS-4 9.9: 19 places of 26 bytes from byte 4 on, bytes 2-3 the newest."""
    data = bytearray(512)
    data[0], data[2] = 1, 1
    data[4:15] = struct.pack("<BBHB", 2, 0x70, 12, 1) + (0x123456789ABC).to_bytes(6, "little")
    log = ata.decode_self_test_log(data, extended=True)
    assert [(e.subcommand, e.result, e.hours, e.lba) for e in log.entries] == [(2, 7, 12, 0x123456789ABC)]


# ---- logs -----------------------------------------------------------------------------------------------------------


def quads(words: dict[int, int]) -> bytes:
    data = bytearray(512)
    for offset, value in words.items():
        struct.pack_into("<Q", data, offset, value)
    return bytes(data)


VALID = 1 << 63


def test_device_statistics_page_1() -> None:
    """ACS-4 9.5.4: byte 7 has supported (80h), valid (40h); the value is as long as its statistic."""
    page = ata.decode_statistics(
        quads(
            {
                0: 0x0001_0001,
                8: 0xC0 << 56 | 1234,
                16: 0xC0 << 56 | 0xAA_00000999,  # what lies beyond 4 bytes is not the value's
                24: 0xC8 << 56 | (1 << 48) - 2,
                32: 0x80 << 56 | 77,  # supported, not valid
                40: 0x40 << 56 | 88,  # not supported
            }
        )
    )
    values = {s.name: s.value for s in page.statistics}
    assert values == {
        "Lifetime Power-On Resets": 1234,
        "Power-on Hours": 0x999,
        "Logical Sectors Written": (1 << 48) - 2,
        "Number of Write Commands": None,
    }
    assert [s.condition_met for s in page.statistics] == [0, 0, 1, 0]


def test_temperature_statistics_are_signed() -> None:
    page = ata.decode_statistics(quads({0: 0x0005_0001, 8: 0xC0 << 56 | 0xFB, 40: 0xC0 << 56 | 0x19}))
    assert [(s.name, s.value) for s in page.statistics] == [("Current Temperature", -5), ("Lowest Temperature", 25)]


@pytest.mark.parametrize("data", [bytes(512), b"\x01\x00\x07", quads({0: 1})])
def test_no_statistics(data: bytes) -> None:
    with pytest.raises(ParseError, match="statistics"):
        ata.decode_statistics(data)


def test_lists_of_pages() -> None:
    pages = ata.decode_log_pages(bytes.fromhex("0100000000000000 04 00010307") + bytes(499))
    assert (pages.revision, pages.pages) == (1, bytes([0, 1, 3, 7]))
    assert ata.decode_log_pages(bytes.fromhex("0100000000000000 ff") + bytes(503)).pages is None
    assert ata.decode_log_pages(bytes.fromhex("0100000000000000 04 0001")).pages is None
    with pytest.raises(ParseError, match="page 07h"):
        ata.decode_log_pages(bytes.fromhex("0100070000000000 04") + bytes(503))
    directory = ata.decode_log_directory(struct.pack("<256H", *range(1, 257)))
    assert (directory.version, directory.pages[0x30]) == (1, 0x31)


def test_log_security() -> None:
    """ACS-4 9.11.8: page 06h of log 30h."""
    page = quads(
        {
            0: VALID | 0x06_0001,
            8: VALID | 0xFFFE,
            16: VALID | 0b1010011,
            24: VALID | 0x80C8,
            32: VALID | 0x00FF,
            48: VALID | 0b10001110,
        }
    )
    s = ata.decode_log_security(page)
    assert (s.supported, s.level, s.enhanced_erase, s.count_expired, s.frozen, s.locked, s.enabled) == (
        1,
        0,
        1,
        0,
        0,
        1,
        1,
    )
    assert (s.enhanced_minutes, s.enhanced_at_least, s.erase_minutes, s.erase_at_least) == (400, 0, 508, 1)
    assert (s.sanitize_overrides, s.acs3_commands, s.sanitize, s.crypto_scramble, s.overwrite) == (1, 0, 1, 1, 1)
    assert (s.block_erase, s.encrypts_all, s.master_revision) == (0, 0, 0xFFFE)
    assert s.trusted is None, "quad word 40 does not say that it is valid"
    with pytest.raises(ParseError, match="page 06h"):
        ata.decode_log_security(quads({0: VALID | 0x08_0001}))
    with pytest.raises(ParseError, match="page 06h"):
        ata.decode_log_security(quads({0: 0x06_0001}))


def test_log_capabilities() -> None:
    """ACS-4 9.11.5: page 03h of log 30h."""
    page = quads(
        {
            0: VALID | 0x03_0001,
            8: VALID | 1 << 51 | 1 << 41 | 1 << 31 | 1 << 24 | 1 << 11 | 1 << 6,
            24: VALID | 1,
            32: VALID | 3,
            72: VALID | 1,
            136: VALID | 31,
        }
    )
    c = ata.decode_log_capabilities(page)
    assert [c.definitive_ending, c.amac, c.rzat, c.write_cache, c.gpl, c.epc] == [1] * 6
    assert [c.dsm_xl, c.zero_ext, c.dsn, c.drat, c.look_ahead, c.smart, c.lba48, c.apm, c.gpl_dma] == [0] * 9
    assert (c.rotation_rpm, c.form_factor, c.trim, c.queue_depth) == (0, 3, 1, 32)
    assert ata.decode_log_capabilities(page[:32]).trim is None


def test_log_sata() -> None:
    """ACS-4 9.11.10: page 08h of log 30h."""
    s = ata.decode_log_sata(quads({0: VALID | 0x08_0001, 8: VALID | 1 << 25 | 1 << 20 | 1 << 7 | 7, 16: VALID | 2}))
    assert (s.speed_max, s.speed_current, s.ncq, s.dipm, s.devsleep, s.ncq_streaming) == (3, 2, 1, 1, 1, 0)
    assert ata.decode_log_sata(quads({0: VALID | 0x08_0001})).ncq is None


def test_stale_text_behind_a_short_list() -> None:
    """What stands behind the stated length is not part of the list."""
    data = bytes.fromhex("0100000000000000 02 0007") + b"ATA     Samsung SSD".ljust(501, b"\x20")
    assert ata.decode_log_pages(data).pages == bytes([0, 7])


def test_structs_have_room_in_known() -> None:
    for name in ("sated_ata_identify", "sated_ata_settings", "sated_ata_transfer", "sated_ata_log_capabilities"):
        assert len(ffi.typeof(f"struct {name}").fields) <= 64
