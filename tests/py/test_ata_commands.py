"""ATA commands byte by byte against the standards' layouts, and against what hdparm sends."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from sated import ata
from sated._ffi import lib
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


# Bytes 1 and 2 (SAT-4 12.2.2): "06 20" non-data with registers, "07 20" the same as a 48-bit command, "08 0e" PIO-in,
# "09 0e" PIO-in of a 48-bit command, "0a 06" PIO-out ("0a 26" with registers), "0d 06"/"0d 0e" DMA out/in, 48 bits.
COMMANDS: dict[str, tuple[ata.Command, bytes]] = {
    "IDENTIFY DEVICE (ACS-4 7.13)": (ata.build_identify_device(), cdb("080e", count=1, command=0xEC)),
    "READ LOG EXT (ACS-4 7.23)": (
        ata.build_read_log(0x30, page=0x0108, pages=2, features=0x1234),
        cdb("090e", features=0x1234, count=2, lba=0x01_0000_0830, command=0x2F),
    ),
    "READ LOG DMA EXT (ACS-4 7.24)": (
        ata.build_read_log(0x04, page=7, dma=True),
        cdb("0d0e", count=1, lba=0x0704, command=0x47),
    ),
    "SMART READ DATA (ATA8-ACS 7.53.6)": (
        ata.build_smart_read_data(),
        cdb("080e", features=0xD0, count=1, lba=0xC24F00, command=0xB0),
    ),
    "SMART READ THRESHOLDS (ATA-3)": (
        ata.build_smart_read_thresholds(),
        cdb("080e", features=0xD1, count=1, lba=0xC24F00, command=0xB0),
    ),
    "SMART RETURN STATUS (ACS-4 7.44.7)": (
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
    "SECURITY SET PASSWORD (ACS-4 7.41)": (
        ata.build_security_set_password(PASSWORD),
        cdb("0a26", count=1, command=0xF1),
    ),
    "SECURITY UNLOCK (ACS-4 7.42)": (ata.build_security_unlock(PASSWORD), cdb("0a26", count=1, command=0xF2)),
    "SECURITY ERASE PREPARE (ACS-4 7.38)": (ata.build_security_erase_prepare(), cdb("0620", command=0xF3)),
    "SECURITY ERASE UNIT (ACS-4 7.39)": (
        ata.build_security_erase_unit(PASSWORD, timeout_ms=720_000),
        cdb("0a26", count=1, command=0xF4),
    ),
    "SECURITY FREEZE LOCK (ACS-4 7.40)": (ata.build_security_freeze_lock(), cdb("0620", command=0xF5)),
    "SECURITY DISABLE PASSWORD (ACS-4 7.37)": (
        ata.build_security_disable_password(PASSWORD),
        cdb("0a26", count=1, command=0xF6),
    ),
    "SANITIZE STATUS EXT (ACS-4 7.36.6)": (ata.build_sanitize_status(), cdb("0720", command=0xB4)),
    "SANITIZE STATUS EXT, clear": (ata.build_sanitize_status(clear=True), cdb("0720", count=1, command=0xB4)),
    "CRYPTO SCRAMBLE EXT (ACS-4 7.36.3)": (
        ata.build_sanitize_crypto_scramble(),
        cdb("0720", features=0x11, lba=int.from_bytes(b"Cryp", "big"), command=0xB4),
    ),
    "CRYPTO SCRAMBLE EXT, failure mode": (
        ata.build_sanitize_crypto_scramble(failure_mode=True, zoned_no_reset=True),
        cdb("0720", features=0x11, count=0x8010, lba=0x43727970, command=0xB4),
    ),
    "BLOCK ERASE EXT (ACS-4 7.36.2)": (
        ata.build_sanitize_block_erase(),
        cdb("0720", features=0x12, lba=int.from_bytes(b"BkEr", "big"), command=0xB4),
    ),
    "BLOCK ERASE EXT, failure mode": (
        ata.build_sanitize_block_erase(failure_mode=True),
        cdb("0720", features=0x12, count=0x0010, lba=0x426B4572, command=0xB4),
    ),
    "OVERWRITE EXT (ACS-4 7.36.4)": (
        ata.build_sanitize_overwrite(0xDEADBEEF, passes=16, invert=True, definitive_ending=True, failure_mode=True),
        cdb("0720", features=0x14, count=0x00D0, lba=0x4F57_DEADBEEF, command=0xB4),
    ),
    "OVERWRITE EXT, three passes": (
        ata.build_sanitize_overwrite(0, passes=3),
        cdb("0720", features=0x14, count=3, lba=0x4F57_00000000, command=0xB4),
    ),
    "SANITIZE FREEZE LOCK EXT (ACS-4 7.36.5)": (
        ata.build_sanitize_freeze_lock(),
        cdb("0720", features=0x20, lba=int.from_bytes(b"FrLk", "big"), command=0xB4),
    ),
    "SANITIZE ANTIFREEZE LOCK EXT (ACS-4 7.36.1)": (
        ata.build_sanitize_antifreeze_lock(),
        cdb("0720", features=0x40, lba=int.from_bytes(b"Anti", "big"), command=0xB4),
    ),
    "READ NATIVE MAX ADDRESS (ATA8-ACS 7.30)": (
        ata.build_read_native_max(ext=False),
        cdb("0620", command=0xF8),
    ),
    "READ NATIVE MAX ADDRESS EXT (ATA8-ACS 7.31)": (ata.build_read_native_max(), cdb("0720", command=0x27)),
    "SET MAX ADDRESS (ATA8-ACS 7.51)": (
        # A 28-bit command has LBA 27:24 in DEVICE 3:0.
        ata.build_set_max(0x0ABCDEF0, keep=True, ext=False),
        cdb("0620", count=1, lba=0xBCDEF0, command=0xF9, device=0x4A),
    ),
    "SET MAX ADDRESS EXT (ATA8-ACS 7.52)": (
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
    "GET NATIVE MAX ADDRESS EXT (ACS-4 7.2.2)": (ata.build_get_native_max(), cdb("0720", command=0x78)),
    "SET ACCESSIBLE MAX ADDRESS EXT (ACS-4 7.2.3)": (
        ata.build_set_accessible_max(0xABCDEF012345),
        cdb("0720", features=1, lba=0xABCDEF012345, command=0x78),
    ),
    "FREEZE ACCESSIBLE MAX ADDRESS EXT (ACS-4 7.2.4)": (
        ata.build_freeze_accessible_max(),
        cdb("0720", features=2, command=0x78),
    ),
    # As hdparm sends it: Seagate/nwipe reports show 85 08 0e 00 c2 00 01 00 00 00 00 00 00 40 b1 00.
    "DEVICE CONFIGURATION IDENTIFY (ACS-2 7.7.3)": (
        ata.build_dco_identify(),
        bytes.fromhex("85080e00c2000100000000000040b100"),
    ),
    "DEVICE CONFIGURATION RESTORE": (ata.build_dco_restore(), cdb("0620", features=0xC0, command=0xB1)),
    "DEVICE CONFIGURATION FREEZE LOCK": (ata.build_dco_freeze_lock(), cdb("0620", features=0xC1, command=0xB1)),
    "DEVICE CONFIGURATION SET": (
        ata.build_dco_set(dco_data(), max_lba=1000),
        cdb("0a26", features=0xC3, count=1, command=0xB1),
    ),
    "DATA SET MANAGEMENT, TRIM (ACS-4 7.6)": (
        ata.build_trim([(0, 65528 * 65)], max_blocks=2),
        cdb("0d06", features=1, count=2, command=0x06),
    ),
    "CHECK POWER MODE (ACS-4 7.3)": (ata.build_check_power_mode(), cdb("0620", command=0xE5)),
    "IDLE (ACS-4 7.14)": (ata.build_idle(0xF1), cdb("0620", count=0xF1, command=0xE3)),
    "IDLE IMMEDIATE (ACS-4 7.15)": (ata.build_idle_immediate(), cdb("0620", command=0xE1)),
    "STANDBY (ACS-4 7.53)": (ata.build_standby(1), cdb("0620", count=1, command=0xE2)),
    "STANDBY IMMEDIATE (ACS-4 7.54)": (ata.build_standby_immediate(), cdb("0620", command=0xE0)),
    "SLEEP (ACS-4 7.46)": (ata.build_sleep(), cdb("0620", command=0xE6)),
    "SET FEATURES (ACS-4 7.43)": (
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
    "SET FEATURES, EPC, go to Idle_b (ACS-4 7.43.15)": (
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
    "FLUSH CACHE (ACS-4 7.10)": (ata.build_flush_cache(ext=False), cdb("0620", command=0xE7)),
    "FLUSH CACHE EXT (ACS-4 7.11)": (ata.build_flush_cache(), cdb("0720", command=0xEA)),
    "READ DMA EXT (ACS-4 7.21)": (
        ata.build_read(0x1234_56789ABC, 65536),
        cdb("0d0e", count=0, lba=0x1234_56789ABC, command=0x25),
    ),
    "READ DMA (ACS-4 7.20)": (
        ata.build_read(0x0ABCDEF0, 8, ext=False),
        cdb("0c0e", count=8, lba=0xBCDEF0, command=0xC8, device=0x4A),
    ),
    "READ SECTORS EXT (ACS-4 7.26)": (
        ata.build_read(1, 1, dma=False),
        cdb("090e", count=1, lba=1, command=0x24),
    ),
    "READ SECTORS (ACS-4 7.25)": (
        ata.build_read(1, 256, dma=False, ext=False),
        cdb("080e", count=0, lba=1, command=0x20),
    ),
    # BYT_BLOK with T_TYPE: the length counts logical sectors, here of 4096 bytes.
    "READ DMA EXT, 4Kn": (
        ata.build_read(2, 3, block_bytes=4096),
        cdb("0d1e", count=3, lba=2, command=0x25),
    ),
    "WRITE DMA EXT (ACS-4 7.55)": (ata.build_write(2, bytes(1024)), cdb("0d06", count=2, lba=2, command=0x35)),
    "WRITE DMA": (
        ata.build_write(2, bytes(512), ext=False),
        cdb("0c06", count=1, lba=2, command=0xCA),
    ),
    "WRITE SECTORS EXT (ACS-4 7.59)": (
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
    """ACS-4 table 46: 8 bytes little-endian, LBA 47:0 and the count of sectors in 63:48. Where a range takes several
    entries, each begins where the 4 KiB of a drive do."""
    data = ata.build_trim([(0x123456789ABC, 8), (8, 65536)]).data
    assert data[:24] == struct.pack("<QQQ", 0x0008_123456789ABC, 0xFFF8_000000000008, 0x0008_000000010000)
    assert data[24:] == bytes(488)
    with pytest.raises(ParseError, match="does not fit"):
        ata.build_trim([(0, 65528 * 64 + 1)])
    assert len(ata.build_trim([(0, 65528 * 64)]).data) == 512


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
    ("33 bytes: give 1 to 32", lambda: ata.build_security_unlock(bytes(33))),
    ("maximum=True", lambda: ata.build_security_set_password(b"x", master=True, maximum=True)),
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
        # IDENTIFY words 89 and 90, both formats (ACS-4 7.13.7.49); the rule is max(2 x estimate, estimate + 10 min).
        (0x0000, 12 * 60),  # no estimate
        (0x00FF, 2 * 508),  # "more than 508 minutes"
        (0xFFFF, (2**32 - 1) / 60_000),  # "more than 65532 minutes": the most that a command can be given
        (0x8000, 12 * 60),
        (0x0001, 12),
        (0x0005, 20),
        (0x0062, 392),
        (0x80C8, 800),
        (0x80FF, 1020),
    ],
)
def test_erase_timeout(word: int, minutes: float) -> None:
    assert ata.erase_timeout_ms(word) == minutes * 60_000


def test_every_erase_timeout_can_be_given_to_a_command() -> None:
    """2 x 65,532 minutes (ACS-4 table 45, the longest that word 89 tells) are more ms than 32 bits hold."""
    longest = ata.erase_timeout_ms(0xFFFE)
    assert longest == 0xFFFFFFFF
    assert ata.build_security_erase_unit(b"x", timeout_ms=longest).timeout_ms == longest


@pytest.mark.parametrize("password", [b"", bytes(33)])
def test_an_empty_password_is_none(password: bytes) -> None:
    """Nothing would lock a drive, or try to unlock it, with zeros that nobody asked for; zeros themselves may be."""
    for build in (
        ata.build_security_set_password,
        ata.build_security_unlock,
        ata.build_security_disable_password,
        ata.build_set_max_password,
        ata.build_set_max_unlock,
    ):
        with pytest.raises(ParseError, match=f"a password of {len(password)} bytes: give 1 to 32"):
            build(password)
        assert build(bytes(32)).data[2:34] == bytes(32)
    with pytest.raises(ParseError, match="password"):
        ata.build_security_erase_unit(password, timeout_ms=1000)
