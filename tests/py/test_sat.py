"""ATA PASS-THROUGH (SAT-4 clause 12) byte by byte, and the registers in its sense data."""

from __future__ import annotations

from typing import Any

import pytest
from sated import ata, scsi
from sated._ffi import ffi, lib
from sated.errors import ParseError
from test_scsi_commands import h

# ---- ATA PASS-THROUGH -----------------------------------------------------------------------------------------------

ATA = {
    # The pairs of bytes 1 and 2 that Linux 6.1 took and answered: identify, non-data, PIO-out, DMA-out, PIO-in EXT.
    "identify 16": (
        {"command": 0xEC, "protocol": 4, "direction": 1, "count": 1, "data_len": 512},
        16,
        "85 08 0e 00 00 00 01 00 00 00 00 00 00 00 ec 00",
    ),
    "identify 12": (
        {"command": 0xEC, "protocol": 4, "direction": 1, "count": 1, "data_len": 512},
        12,
        "a1 08 0e 00 01 00 00 00 00 ec 00 00",
    ),
    "identify 32": (
        {"command": 0xEC, "protocol": 4, "direction": 1, "count": 1, "data_len": 512, "icc": 7,
         "auxiliary": 0x01020304},
        32,
        "7f 00 00 00 00 00 00 18 1f f0 08 0e 00 00 00 00 00 00 00 00 00 00 00 01 00 ec 00 07 01 02 03 04",
    ),
    "check power mode": (
        {"command": 0xE5, "protocol": 3, "ck_cond": 1},
        16,
        "85 06 20 00 00 00 00 00 00 00 00 00 00 00 e5 00",
    ),
    "read native max ext": (
        {"command": 0x27, "protocol": 3, "ck_cond": 1, "ext": 1, "device": 0x40},
        16,
        "85 07 20 00 00 00 00 00 00 00 00 00 00 40 27 00",
    ),
    "set max ext": (
        {"command": 0x37, "protocol": 3, "ck_cond": 1, "ext": 1, "device": 0x40, "lba": 0xA1A2A3A4A5A6, "count": 1},
        16,
        "85 07 20 00 00 00 01 a3 a6 a2 a5 a1 a4 40 37 00",
    ),
    "read log ext": (
        {"command": 0x2F, "protocol": 4, "direction": 1, "ext": 1, "lba": 0x0704, "count": 1, "data_len": 512},
        16,
        "85 09 0e 00 00 00 01 00 04 00 07 00 00 00 2f 00",
    ),
    "trim": (
        {
            "command": 0x06, "protocol": 6, "direction": 2, "ext": 1, "features": 1, "count": 2, "data_len": 1024,
            "device": 0x40,
        },
        16,
        "85 0d 06 00 01 00 02 00 00 00 00 00 00 40 06 00",
    ),
    "trim 32": (
        {
            "command": 0x06, "protocol": 6, "direction": 2, "ext": 1, "features": 1, "count": 2, "data_len": 1024,
            "device": 0x40, "lba": 0xA1A2A3A4A5A6,
        },
        32,
        "7f 00 00 00 00 00 00 18 1f f0 0d 06 00 00 a1 a2 a3 a4 a5 a6 00 01 00 02 40 06 00 00 00 00 00 00",
    ),
    "security unlock": (
        {"command": 0xF2, "protocol": 5, "direction": 2, "count": 1, "data_len": 512},
        16,
        "85 0a 06 00 00 00 01 00 00 00 00 00 00 00 f2 00",
    ),
    "read dma 28: LBA 27:24 in DEVICE": (
        {"command": 0xC8, "protocol": 6, "direction": 1, "count": 0, "data_len": 131072, "lba": 0x0ABCDEF,
         "device": 0x40},
        12,
        "a1 0c 0e 00 00 ef cd ab 40 c8 00 00",
    ),
    "read dma 28, high": (
        {"command": 0xC8, "protocol": 6, "direction": 1, "count": 1, "data_len": 512, "lba": 0xFABCDEF, "device": 0x40},
        16,
        "85 0c 0e 00 00 00 01 00 ef 00 cd 00 ab 4f c8 00",
    ),
    "read fpdma queued: the length in FEATURES": (
        {"command": 0x60, "protocol": 12, "direction": 1, "ext": 1, "features": 0x0102, "data_len": 0x0102 * 512},
        16,
        "85 19 0d 01 02 00 00 00 00 00 00 00 00 00 60 00",
    ),
}  # fmt: skip


def ata_cdb(registers: dict[str, int], length: int) -> Any:
    c = ffi.new("struct sated_ata_command *", registers)
    out = ffi.new("struct sated_scsi_command *")
    from sated.errors import check

    check(lib.sated_ata_build_cdb(c, length, out))
    return scsi.command(out)


@pytest.mark.parametrize("what", ATA)
def test_ata_pass_through(what: str) -> None:
    registers, length, cdb = ATA[what]
    made = ata_cdb(registers, length)
    assert made.cdb.hex(" ") == cdb
    assert (made.direction, made.data_len) == (registers.get("direction", 0), registers.get("data_len", 0))


ATA_REFUSED = {
    "48 bits in 12 bytes": ({"command": 0x27, "protocol": 3, "ext": 1}, 12),
    "14 bytes": ({"command": 0xE5, "protocol": 3}, 14),
    "auxiliary in 16": ({"command": 0xE5, "protocol": 3, "auxiliary": 1}, 16),
    "non-data with data": ({"command": 0xEC, "protocol": 3, "direction": 1, "count": 1, "data_len": 512}, 16),
    "PIO-in to the drive": ({"command": 0xEC, "protocol": 4, "direction": 2, "count": 1, "data_len": 512}, 16),
    "protocol 13": ({"command": 0xEC, "protocol": 13}, 16),
    "count and length differ": ({"command": 0xEC, "protocol": 4, "direction": 1, "count": 2, "data_len": 512}, 16),
    "half a block": ({"command": 0xEC, "protocol": 4, "direction": 1, "count": 1, "data_len": 511}, 16),
    "no direction, but data": ({"command": 0xE5, "protocol": 3, "data_len": 512}, 16),
    "count of 9 bits in a 28-bit command": ({"command": 0xE5, "protocol": 3, "count": 256}, 16),
    "lba of 29 bits": ({"command": 0xF9, "protocol": 3, "lba": 1 << 28}, 16),
    "lba of 49 bits": ({"command": 0x37, "protocol": 3, "ext": 1, "lba": 1 << 48}, 16),
    "device and lba differ": ({"command": 0xF9, "protocol": 3, "lba": 1 << 24, "device": 0x42}, 16),
}


@pytest.mark.parametrize("what", ATA_REFUSED)
def test_ata_refused(what: str) -> None:
    with pytest.raises(ParseError):
        ata_cdb(*ATA_REFUSED[what])


def registers(text: str) -> Any:
    return ata.decode_registers(h(text))


def test_native_max_of_eight_hidden_sectors() -> None:
    """READ NATIVE MAX EXT of a disk with an HPA of 8 sectors; sg_decode_sense 1.46 reads LBA 0x1d1c0beaf too."""
    r = registers("72 01 00 1d 00 00 00 0e 09 0c 01 00 00 00 d1 af 01 be 00 c0 40 50")
    assert r.lba == 0x1D1C0BEAF
    assert r.lba + 1 == 7_814_037_168
    identify_sectors = 7_814_037_160
    assert (r.lba + 1 - identify_sectors) * 512 == 4096
    assert (r.status, r.error, r.extend, r.source) == (0x50, 0, 1, lib.SATED_ATA_REGISTERS_DESCRIPTOR)


def test_registers_fixed_sat() -> None:
    """SAT-4 12.2.7: ERROR, STATUS, DEVICE, COUNT in bytes 3 to 6; flags and LBA 23:0 in 8 to 11."""
    r = registers("70 00 01 00 50 40 ff 0a 00 00 4f c2 00 1d 00 00 00 00")
    assert (r.source, r.error, r.status, r.device, r.count) == (lib.SATED_ATA_REGISTERS_FIXED, 0, 0x50, 0x40, 0xFF)
    assert (r.lba, r.lba_low, r.lba_low_bits, r.extend) == (0xC24F00, 0xC24F00, 24, 0)


def test_registers_fixed_sat_cut() -> None:
    """COUNT and LBA that say that they had more bits are not known, and their low bits are."""
    r = registers("70 00 01 00 50 40 01 0a e3 af be c0 00 1d 00 00 00 00")
    assert (r.extend, r.count, r.count_low) == (1, None, 1)
    assert (r.lba, r.lba_low, r.lba_low_bits) == (None, 0xC0BEAF, 24)


def test_registers_28_bits() -> None:
    """LBA 27:24 of a 28-bit command stand in DEVICE 3:0: READ NATIVE MAX ADDRESS of a 128 GB disk."""
    r = registers("72 01 00 1d 00 00 00 0e 09 0c 00 00 00 00 00 ff 00 ff 00 ff 4e 50")
    assert (r.lba, r.lba_low, r.lba_low_bits) == (0xEFFFFFF, 0xFFFFFF, 24)


@pytest.mark.parametrize(
    "sense",
    [
        "70 00 05 00 00 00 00 0a 00 00 00 00 24 00 00 00 00 00",  # refused, and no registers
        "70 00 0b 00 00 00 00 0a 00 41 e0 00 00 00 00 00 80 ff",  # ERROR 0: not the legacy layout
        "70 00 0b 00 00 00 00 0a 04 40 e0 00 00 00 00 00 80 ff",  # STATUS without ERR
        "70 00 0b 00 00 01 00 0a 04 41 e0 00 00 00 00 00 80 ff",  # INFORMATION in use
        "70 00 0b 00 00 00 00 05 04 41 e0 00 00",  # ends before ASC
        "72 0b 00 00 00 00 00 00",  # no descriptor
        "72 01 00 1d 00 00 00 0e 09 0c 01 00 00 00 d1 af 01 be 00 c0 40",  # the descriptor is cut
        "72 01 00 1d 00 00 00 04 09 02 01 00 00 00 d1 af 01 be 00 c0 40 50",  # the list ends before it
        "72 01 00 1d 00 00 00 0e 0a 0c 01 00 00 00 d1 af 01 be 00 c0 40 50",  # of another type
    ],
)
def test_registers_unknown(sense: str) -> None:
    r = registers(sense)
    assert r.source == lib.SATED_ATA_REGISTERS_NONE
    assert (r.error, r.status, r.lba, r.lba_low, r.count, r.count_low, r.device, r.extend) == (None,) * 8


def test_registers_behind_a_long_buffer() -> None:
    """The legacy layout ends where ADDITIONAL SENSE LENGTH says, though the sense buffer goes on."""
    r = registers("70 00 0b 00 00 00 00 0a 04 41 e0 00 00 00 00 00 80 ff" + "00" * 14)
    assert (r.source, r.lba_low, r.lba_low_bits, r.lba) == (lib.SATED_ATA_REGISTERS_LEGACY, 0xFF, 8, None)
    r = registers("70 00 0b 00 00 00 00 0c 04 41 e0 00 00 00 00 00 80 ff ff 01")
    assert (r.lba, r.lba_low_bits) == (0x01FFFF, 24)
