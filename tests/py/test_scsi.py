"""SCSI commands byte by byte, and what decoders make of answers that are short, stale or contradictory.

Layouts: SPC-5 (primary commands), SBC-4 (block commands; clauses in the table), SAT-4 clause 12 (ATA PASS-THROUGH).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sated import _decode, scsi
from sated._ffi import ffi, lib
from sated.errors import ParseError
from sated.scsi import Command, Direction, Sanitize

ROOT = Path(__file__).resolve().parents[2]
NONE, IN, OUT = Direction.NONE, Direction.IN, Direction.OUT
LBA = 0x0102030405060708


def h(text: str) -> bytes:
    return bytes.fromhex(text)


# ---- builders -------------------------------------------------------------------------------------------------------

COMMANDS: list[tuple[str, Command, str, int, int]] = [
    ("SPC-5 TEST UNIT READY", scsi.build_test_unit_ready(), "00 00 00 00 00 00", NONE, 0),
    ("SPC-5 REQUEST SENSE", scsi.build_request_sense(), "03 00 00 00 fc 00", IN, 252),
    ("SPC-5 REQUEST SENSE, DESC", scsi.build_request_sense(desc=True, alloc=18), "03 01 00 00 12 00", IN, 18),
    ("SPC-5 INQUIRY", scsi.build_inquiry(alloc=96), "12 00 00 00 60 00", IN, 96),
    ("SPC-5 INQUIRY, EVPD", scsi.build_inquiry(page=0x89, alloc=572), "12 01 89 02 3c 00", IN, 572),
    ("SPC-5 INQUIRY, EVPD 0", scsi.build_inquiry(page=0), "12 01 00 00 fc 00", IN, 252),
    ("SBC-4 5.20", scsi.build_read_capacity(long=False), "25 00 00 00 00 00 00 00 00 00", IN, 8),
    ("SBC-4 5.21", scsi.build_read_capacity(), "9e 10 00 00 00 00 00 00 00 00 00 00 00 20 00 00", IN, 32),
    ("SPC-5 LOG SENSE", scsi.build_log_sense(0x11, alloc=64), "4d 00 51 00 00 00 00 00 40 00", IN, 64),
    (
        "SPC-5 LOG SENSE, all of it",
        scsi.build_log_sense(0x0D, subpage=0xFF, pc=3, parameter=0x1234, alloc=0xFFFF),
        "4d 00 cd ff 00 12 34 ff ff 00",
        IN,
        65535,
    ),
    ("SPC-5 MODE SENSE(6)", scsi.build_mode_sense(8, long=False), "1a 00 08 00 fc 00", IN, 252),
    (
        "SPC-5 MODE SENSE(6), DBD, changeable",
        scsi.build_mode_sense(8, subpage=1, pc=1, dbd=True, long=False, alloc=32),
        "1a 08 48 01 20 00",
        IN,
        32,
    ),
    ("SPC-5 MODE SENSE(10)", scsi.build_mode_sense(0x3F), "5a 00 3f 00 00 00 00 10 00 00", IN, 4096),
    (
        "SPC-5 MODE SENSE(10), LLBAA, saved",
        scsi.build_mode_sense(0x0A, subpage=2, pc=3, llbaa=True, dbd=True, alloc=0x0203),
        "5a 18 ca 02 00 00 00 02 03 00",
        IN,
        0x203,
    ),
    ("SPC-5 MODE SELECT(6)", scsi.build_mode_select(24, long=False), "15 10 00 00 18 00", OUT, 24),
    ("SPC-5 MODE SELECT(10), SP", scsi.build_mode_select(0x0118, sp=True), "55 11 00 00 00 00 00 01 18 00", OUT, 280),
    (
        "SBC-4 5.30 overwrite",
        scsi.build_sanitize(Sanitize.OVERWRITE, list_len=0x0204),
        "48 81 00 00 00 00 00 02 04 00",
        OUT,
        516,
    ),
    ("SBC-4 5.30 block", scsi.build_sanitize(Sanitize.BLOCK_ERASE), "48 82 00 00 00 00 00 00 00 00", NONE, 0),
    (
        "SBC-4 5.30 crypto, ZNR, AUSE",
        scsi.build_sanitize(Sanitize.CRYPTO_ERASE, znr=True, ause=True),
        "48 e3 00 00 00 00 00 00 00 00",
        NONE,
        0,
    ),
    (
        "SBC-4 5.30 exit",
        scsi.build_sanitize(Sanitize.EXIT_FAILURE, immed=False),
        "48 1f 00 00 00 00 00 00 00 00",
        NONE,
        0,
    ),
    ("SBC-4 5.4", scsi.build_format_unit(), "04 00 00 00 00 00", NONE, 0),
    (
        "SBC-4 5.4, all of it",
        scsi.build_format_unit(fmtpinfo=3, ffmt=1, cmplst=True, longlist=True, list_len=8),
        "04 f8 00 00 01 00",
        OUT,
        8,
    ),
    ("SBC-4 5.4, short list", scsi.build_format_unit(list_len=4), "04 10 00 00 00 00", OUT, 4),
    ("SBC-4 5.5", scsi.build_format_with_preset(0x01020304), "38 80 01 02 03 04 00 00 00 00", NONE, 0),
    (
        "SBC-4 5.5, FMTMAXLBA",
        scsi.build_format_with_preset(1, immed=False, fmtmaxlba=True),
        "38 40 00 00 00 01 00 00 00 00",
        NONE,
        0,
    ),
    ("SBC-4 5.35", scsi.build_unmap(24, anchor=True, group=5), "42 01 00 00 00 00 05 00 18 00", OUT, 24),
    (
        "SBC-4 5.52",
        scsi.build_write_same(0x01020304, 0x0506, unmap=True, anchor=True, wrprotect=1, group=0x3F, long=False),
        "41 38 01 02 03 04 3f 05 06 00",
        OUT,
        512,
    ),
    (
        "SBC-4 5.53",
        scsi.build_write_same(LBA, 0x090A0B0C, block_bytes=4096, unmap=True),
        "93 08 01 02 03 04 05 06 07 08 09 0a 0b 0c 00 00",
        OUT,
        4096,
    ),
    (
        "SBC-4 5.53, NDOB",
        scsi.build_write_same(1, 0, unmap=True, ndob=True),
        "93 09 00 00 00 00 00 00 00 01 00 00 00 00 00 00",
        NONE,
        0,
    ),
    (
        "SPC-5 REPORT SUPPORTED OPERATION CODES, all",
        scsi.build_report_opcodes(),
        "a3 0c 80 00 00 00 00 00 20 00 00 00",
        IN,
        8192,
    ),
    (
        "SPC-5 REPORT SUPPORTED OPERATION CODES, one",
        scsi.build_report_opcodes(0x04, rctd=False, alloc=64),
        "a3 0c 01 04 00 00 00 00 00 40 00 00",
        IN,
        64,
    ),
    (
        "SPC-5 REPORT SUPPORTED OPERATION CODES, service action",
        scsi.build_report_opcodes(0x48, 0x0102, alloc=64),
        "a3 0c 82 48 01 02 00 00 00 40 00 00",
        IN,
        64,
    ),
    ("SPC-5 REPORT LUNS", scsi.build_report_luns(select=2), "a0 00 02 00 00 00 00 00 08 08 00 00", IN, 2056),
    ("SBC-4 5.31 start", scsi.build_start_stop_unit(start=True), "1b 00 00 00 01 00", NONE, 0),
    (
        "SBC-4 5.31 standby_z",
        scsi.build_start_stop_unit(power_condition=3, modifier=0, immed=True, no_flush=True),
        "1b 01 00 00 34 00",
        NONE,
        0,
    ),
    (
        "SBC-4 5.31 idle_b, eject",
        scsi.build_start_stop_unit(power_condition=2, modifier=1, loej=True),
        "1b 00 00 01 22 00",
        NONE,
        0,
    ),
    ("SBC-4 5.33", scsi.build_synchronize_cache(), "35 00 00 00 00 00 00 00 00 00", NONE, 0),
    (
        "SBC-4 5.33, IMMED",
        scsi.build_synchronize_cache(0x01020304, 0x0506, immed=True),
        "35 02 01 02 03 04 00 05 06 00",
        NONE,
        0,
    ),
    (
        "SBC-4 5.34",
        scsi.build_synchronize_cache(LBA, 0x090A0B0C, long=True),
        "91 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 00 00",
        NONE,
        0,
    ),
    (
        "SBC-4 5.16",
        scsi.build_read(0x01020304, 8, protect=1, dpo=True, fua=True, long=False),
        "28 38 01 02 03 04 00 00 08 00",
        IN,
        4096,
    ),
    (
        "SBC-4 5.18",
        scsi.build_read(LBA, 0x100, block_bytes=4096),
        "88 00 01 02 03 04 05 06 07 08 00 00 01 00 00 00",
        IN,
        1 << 20,
    ),
    ("SBC-4 5.40", scsi.build_write(7, 1, fua=True, long=False), "2a 08 00 00 00 07 00 00 01 00", OUT, 512),
    (
        "SBC-4 5.42",
        scsi.build_write(LBA, 3, block_bytes=520, protect=7, dpo=True),
        "8a f0 01 02 03 04 05 06 07 08 00 00 00 03 00 00",
        OUT,
        1560,
    ),
    ("SBC-4 5.36", scsi.build_verify(0x01020304, 0xFFFF, long=False), "2f 00 01 02 03 04 00 ff ff 00", NONE, 0),
    (
        "SBC-4 5.38",
        scsi.build_verify(LBA, 0x090A0B0C, protect=2, dpo=True),
        "8f 50 01 02 03 04 05 06 07 08 09 0a 0b 0c 00 00",
        NONE,
        0,
    ),
    (
        "SBC-4 5.6",
        scsi.build_get_lba_status(LBA, report=2, alloc=0x2000),
        "9e 12 01 02 03 04 05 06 07 08 00 00 20 00 02 00",
        IN,
        8192,
    ),
    ("SPC-5 SEND DIAGNOSTIC", scsi.build_send_diagnostic(self_test=True), "1d 04 00 00 00 00", NONE, 0),
    ("SPC-5 SEND DIAGNOSTIC, background", scsi.build_send_diagnostic(2), "1d 40 00 00 00 00", NONE, 0),
    (
        "SPC-5 SEND DIAGNOSTIC, page",
        scsi.build_send_diagnostic(devoffl=True, unitoffl=True, list_len=0x0104),
        "1d 13 00 01 04 00",
        OUT,
        260,
    ),
    ("SPC-5 RECEIVE DIAGNOSTIC", scsi.build_receive_diagnostic(0x40, alloc=256), "1c 01 40 01 00 00", IN, 256),
    ("SPC-5 RECEIVE DIAGNOSTIC, last", scsi.build_receive_diagnostic(alloc=512), "1c 00 00 02 00 00", IN, 512),
]


@pytest.mark.parametrize(("clause", "command", "cdb", "direction", "length"), COMMANDS, ids=[c[0] for c in COMMANDS])
def test_command(clause: str, command: Command, cdb: str, direction: int, length: int) -> None:
    assert command.cdb.hex(" ") == cdb
    assert (command.direction, command.data_len, command.timeout_ms) == (direction, length, 0)


REFUSED: dict[str, Any] = {
    "request sense: 256 bytes": lambda: scsi.build_request_sense(alloc=256),
    "inquiry: page 256": lambda: scsi.build_inquiry(page=256),
    "inquiry: 65536 bytes": lambda: scsi.build_inquiry(alloc=65536),
    "log sense: page 40h": lambda: scsi.build_log_sense(0x40),
    "log sense: pc 4": lambda: scsi.build_log_sense(0, pc=4),
    "log sense: subpage 256": lambda: scsi.build_log_sense(0, subpage=256),
    "mode sense: page 40h": lambda: scsi.build_mode_sense(0x40),
    "mode sense 6: 256 bytes": lambda: scsi.build_mode_sense(8, long=False, alloc=256),
    "mode sense 6: llbaa": lambda: scsi.build_mode_sense(8, long=False, llbaa=True),
    "mode select 6: 256 bytes": lambda: scsi.build_mode_select(256, long=False),
    "sanitize: overwrite without a list": lambda: scsi.build_sanitize(Sanitize.OVERWRITE),
    "sanitize: overwrite with a header only": lambda: scsi.build_sanitize(Sanitize.OVERWRITE, list_len=4),
    "sanitize: block with a list": lambda: scsi.build_sanitize(Sanitize.BLOCK_ERASE, list_len=5),
    "sanitize: action 4": lambda: scsi.build_sanitize(4),
    "format: long header, 4 bytes": lambda: scsi.build_format_unit(longlist=True, list_len=4),
    "format: cmplst without a list": lambda: scsi.build_format_unit(cmplst=True),
    "format: ffmt 4": lambda: scsi.build_format_unit(ffmt=4),
    "unmap: group 64": lambda: scsi.build_unmap(24, group=64),
    "write same 10: lba": lambda: scsi.build_write_same(1 << 32, 1, long=False),
    "write same 10: blocks": lambda: scsi.build_write_same(0, 1 << 16, long=False),
    "write same 10: ndob": lambda: scsi.build_write_same(0, 1, ndob=True, long=False),
    "write same: anchor without unmap": lambda: scsi.build_write_same(0, 1, anchor=True),
    "write same: a block of nothing": lambda: scsi.build_write_same(0, 1, block_bytes=0),
    "read 10: lba": lambda: scsi.build_read(1 << 32, 1, long=False),
    "read: protect 8": lambda: scsi.build_read(0, 1, protect=8),
    "read: 2 TiB at once": lambda: scsi.build_read(0, (1 << 32) - 1),
    "read: a negative lba": lambda: scsi.build_read(-1, 1),
    "read: lba of 65 bits": lambda: scsi.build_read(1 << 64, 1),
    "report luns: 15 bytes": lambda: scsi.build_report_luns(alloc=15),
    "opcodes: opcode 256": lambda: scsi.build_report_opcodes(256),
    "opcodes: only a service action": lambda: scsi.build_report_opcodes(None, 1),
    "start stop: condition 16": lambda: scsi.build_start_stop_unit(power_condition=16),
    "diagnostic: code 8": lambda: scsi.build_send_diagnostic(8),
    "diagnostic: code and self test": lambda: scsi.build_send_diagnostic(1, self_test=True),
    "diagnostic: page 256": lambda: scsi.build_receive_diagnostic(256),
    "overwrite list: 0 passes": lambda: scsi.build_overwrite_list(0, b"\0"),
    "overwrite list: 32 passes": lambda: scsi.build_overwrite_list(32, b"\0"),
    "overwrite list: no pattern": lambda: scsi.build_overwrite_list(1, b""),
    "resize list: blocks for 4 bytes": lambda: scsi.build_resize_list(0xFFFFFFFF, 512, llbaa=False),
    "resize list: block of 16 MiB": lambda: scsi.build_resize_list(0, 1 << 24, llbaa=False),
    "resize list: block of nothing": lambda: scsi.build_resize_list(0, 0),
    "unmap list: none": lambda: scsi.build_unmap_list([]),
    "unmap list: 4096": lambda: scsi.build_unmap_list([(0, 1)] * 4096),
    "unmap list: beyond the end": lambda: scsi.build_unmap_list([((1 << 64) - 1, 2)]),
    "format list: exponent in a short header": lambda: scsi.build_format_list(exponent=3),
    "format list: dcrt without fov": lambda: scsi.build_format_list(dcrt=True),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    with pytest.raises(ParseError) as refused:
        REFUSED[what]()
    assert len(str(refused.value)) > 20


def test_overwrite_list() -> None:
    """SBC-4 5.30.2.2, table 111: INVERT 7, TEST 6:5, OVERWRITE COUNT 4:0; length in bytes 2 and 3; pattern from 4."""
    assert scsi.build_overwrite_list(3, h("aa55"), invert=True, test=1) == h("a3 00 00 02 aa 55")
    assert scsi.build_overwrite_list(31, b"\0" * 512)[:4] == h("1f 00 02 00")


def test_format_list() -> None:
    """SBC-4 5.4, parameter list header: protection field usage, flags (FOV 7, DPRY 6, DCRT 5, STPF 4, IMMED 1)."""
    assert scsi.build_format_list() == h("00 02 00 00")
    everything = scsi.build_format_list(
        dcrt=True, dpry=True, stpf=True, fov=True, protection=2, exponent=9, longlist=True
    )
    assert everything == h("02 f2 00 09 00 00 00 00")


def test_unmap_list() -> None:
    """SBC-4 5.35: UNMAP DATA LENGTH (n - 1), BLOCK DESCRIPTOR DATA LENGTH (n - 7), descriptors of 16 bytes from 8."""
    assert scsi.build_unmap_list([(LBA, 0x11223344), (0, 1)]) == h(
        "0026 0020 00000000  0102030405060708 11223344 00000000  0000000000000000 00000001 00000000"
    )


def test_resize_list() -> None:
    """SPC-5 mode parameter header(10); SBC-4 6.5 block descriptors: short (4 + 1 + 3 bytes) and long (8 + 4 + 4)."""
    assert scsi.build_resize_list(0x01020304, 520, llbaa=False) == h("00000000 0000 0008  01020304 00 000208")
    assert scsi.build_resize_list(LBA, 4096) == h("00000000 0100 0010  0102030405060708 00000000 00001000")
    assert scsi.build_resize_list(scsi.ALL_BLOCKS, 512, llbaa=False)[8:12] == h("ffffffff")
    assert scsi.build_resize_list(scsi.ALL_BLOCKS, 512)[8:16] == h("ffffffffffffffff")


@pytest.mark.parametrize("long", [True, False])
def test_wce_list(long: bool) -> None:
    """The page goes back with nothing changed but WCE (byte 2 bit 2); PS, the data length, WP and DPOFUA are reserved
    in MODE SELECT (SPC-5), and the block descriptor is the drive's own."""
    page = h("88 12 14 55 ff ff 00 00 ff ff ff ff 80 14 00 00 00 00 00 00")
    descriptor = h("00 02 00 00 00 00 02 00")
    header = h("0022 00 90 00 00 0008") if long else h("1f 00 90 08")
    sense = header + descriptor + page
    clear = h("0000 00 00 00 00 0008") if long else h("00 00 00 08")
    off, on = (scsi.build_wce_list(sense, wce=wce, long=long) for wce in (False, True))
    assert off == clear + descriptor + h("08 12 10") + page[3:]
    assert on == clear + descriptor + h("08 12 14") + page[3:]
    with pytest.raises(ParseError, match="no whole caching page"):
        scsi.build_wce_list(sense[:-1], wce=True, long=long)
    other = header + descriptor + h("0a 12") + page[2:]
    with pytest.raises(ParseError, match="no whole caching page"):
        scsi.build_wce_list(other, wce=True, long=long)


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
    data = h(text)
    return _decode.decode(lib.sated_ata_decode_registers, "sated_ata_registers", data)


def test_native_max_of_eight_hidden_sectors() -> None:
    """READ NATIVE MAX EXT of a disk with an HPA of 8 sectors; sg_decode_sense 1.46 reads LBA 0x1d1c0beaf too."""
    r = registers("72 01 00 1d 00 00 00 0e 09 0c 01 00 00 00 d1 af 01 be 00 c0 40 50")
    assert r.lba == 0x1D1C0BEAF
    assert r.lba + 1 == 7_814_037_168
    identify_sectors = 7_814_037_160
    assert (r.lba + 1 - identify_sectors) * 512 == 4096
    assert (r.status, r.error, r.extend, r.source) == (0x50, 0, 1, lib.SATED_ATA_REGISTERS_DESCRIPTOR)


def test_registers_fixed_sat() -> None:
    """SAT-4, fixed format: ERROR, STATUS, DEVICE, COUNT in bytes 3 to 6; flags and LBA 23:0 in 8 to 11."""
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


# ---- sense ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["", "00", "6f 00 05", "74 00 05", "ff"])
def test_no_sense_data(data: str) -> None:
    with pytest.raises(ParseError, match=r"70h to 73h was expected|at least 1 was expected"):
        scsi.decode_sense(h(data))


def test_sense_cut() -> None:
    """What is beyond the bytes there are, or beyond ADDITIONAL SENSE LENGTH, is not known."""
    s = scsi.decode_sense(h("70 00 02"))
    assert (s.key, s.asc, s.progress, s.length, s.text, s.truncated) == (2, None, None, None, None, True)
    s = scsi.decode_sense(h("70 00 02 00 00 00 00 06 00 00 00 00 04 1b 00 80 40 00"))
    assert (s.key, s.asc, s.ascq, s.progress, s.truncated) == (2, 4, 0x1B, None, False)
    s = scsi.decode_sense(h("70 00 02 00 00 00 00 ff 00 00 00 00 04 1b 00 80 40 00"))
    assert (s.asc, s.progress, s.truncated) == (4, 0x4000, True)
    s = scsi.decode_sense(h("72 02 04"))
    assert (s.key, s.asc, s.ascq, s.descriptors, s.truncated) == (2, 4, None, (), True)


def test_sense_descriptors_that_lie() -> None:
    """A descriptor longer than the list is listed as cut and not read; the ones before it are."""
    s = scsi.decode_sense(h("72 03 11 00 00 00 00 0e  00 0a 80 00 00 00 00 00 00 00 12 34  03 20 00 55"))
    assert s.information == 0x1234
    assert s.fru is None
    assert s.truncated
    assert [(d.type, d.offset, d.length, d.truncated) for d in s.descriptors] == [(0, 8, 12, 0), (3, 20, 2, 1)]
    # A list that claims more than there is.
    s = scsi.decode_sense(h("72 03 11 00 00 00 00 f4  00 0a 80 00 00 00 00 00 00 00 12"))
    assert (s.information, s.truncated, s.descriptors[0].truncated) == (None, True, 1)
    # A descriptor of a known type that is too short for it.
    s = scsi.decode_sense(h("72 03 11 00 00 00 00 06  00 04 80 00 12 34"))
    assert (s.information, s.truncated, len(s.descriptors)) == (None, False, 1)


def test_sense_information_not_valid() -> None:
    assert scsi.decode_sense(h("70 00 03 00 00 12 34 0a 00 00 00 00 11 00 00 00 00 00")).information is None
    assert scsi.decode_sense(h("f0 00 03 00 00 00 00 0a 00 00 00 00 11 00 00 00 00 00")).information == 0
    assert scsi.decode_sense(h("72 03 11 00 00 00 00 0c 00 0a 00 00 00 00 00 00 00 00 12 34")).information is None


def test_sense_key_specific() -> None:
    """What the three bytes say depends on the key (SPC-5, "Sense key specific sense data")."""

    def fixed(key: int, specific: str) -> Any:
        return scsi.decode_sense(h(f"70 00 {key:02x} 00 00 00 00 0a 00 00 00 00 24 00 00 {specific}"))

    s = fixed(5, "cf 00 02")
    assert (s.field_pointer, s.field_in_cdb, s.bit_pointer) == (2, True, 7)
    s = fixed(5, "80 01 04")
    assert (s.field_pointer, s.field_in_cdb, s.bit_pointer) == (260, False, None)
    assert fixed(5, "4f 00 02").field_pointer is None
    assert fixed(4, "80 00 07").retry_count == 7
    assert fixed(0, "80 80 00").progress == 0x8000
    assert fixed(6, "81 00 00").unit_attention_overflow is True
    s = fixed(0xA, "a8 00 10")
    assert (s.segment_pointer, s.segment_descriptor, s.bit_pointer) == (16, True, 0)
    assert fixed(7, "80 12 34").progress is None


def test_sense_within_sense() -> None:
    outer = scsi.decode_sense(
        h("72 06 18 07 00 00 00 1e 0c 1c 82 02  72 03 11 00 00 00 00 14")
        + h("0c 0c 01 02 70 00 05 00 00 00 00 0a 00 00  03 02 00 99")
    )
    assert (outer.forwarded_fsdt, outer.forwarded_source, outer.forwarded_status) == (True, 2, 2)
    inner = scsi.decode_sense(outer.forwarded)
    assert (inner.key, inner.asc, inner.fru) == (3, 0x11, 0x99)
    innermost = scsi.decode_sense(inner.forwarded)
    assert (innermost.key, innermost.asc, innermost.truncated) == (5, None, True)


def test_sense_direct_access_descriptor() -> None:
    """Descriptor 0Dh (SBC-4 4.18): VALID, ILI, sense-key specific, FRU, INFORMATION, COMMAND-SPECIFIC INFORMATION."""
    s = scsi.decode_sense(
        h("72 05 24 00 00 00 00 20  0d 1e a0 00 c0 00 02 77") + LBA.to_bytes(8) + h("00000000000000ff") + bytes(8)
    )
    assert (s.information, s.ili, s.command_specific, s.field_pointer, s.fru) == (LBA, True, 0xFF, 2, 0x77)


@pytest.mark.parametrize(
    ("asc", "ascq", "text"),
    [
        (0x04, 0x1B, "Logical unit not ready, sanitize in progress"),
        (0x31, 0x03, "Sanitize command failed"),
        (0x00, 0x1D, "ATA pass through information available"),
        (0x40, 0x85, "Diagnostic failure on component 85h"),
        (0x4D, 0x12, "Tagged overlapped commands (task tag 12h)"),
        (0x04, 0x81, "Vendor specific (ASC 04h, ASCQ 81h)"),
        (0x81, 0x00, "Vendor specific (ASC 81h, ASCQ 00h)"),
        (0x04, 0x7F, "Reserved (ASC 04h, ASCQ 7Fh)"),
        (0x74, 0x79, "Security conflict in translated device"),
        (0x00, 0x00, "No additional sense information"),
    ],
)
def test_asc_text(asc: int, ascq: int, text: str) -> None:
    assert scsi.asc_text(asc, ascq) == text


# ---- pages ----------------------------------------------------------------------------------------------------------


def test_vpd_page_length_rules() -> None:
    """Bytes behind PAGE LENGTH are an earlier answer's, and bytes that are missing are not known."""
    stale = h("00 b1 00 04 00 01 00 02") + b"\x55" * 56
    page = scsi.decode_vpd(stale)
    assert (page.medium_rotation_rate, page.nominal_form_factor, page.zoned, page.vbuls) == (1, 2, None, None)
    assert page.depopulation_time is None
    assert not page.truncated
    long = h("00 b1 ff ff 00 01 00 02 10")
    page = scsi.decode_vpd(long)
    assert (page.medium_rotation_rate, page.zoned, page.depopulation_time, page.truncated) == (1, 1, None, True)


@pytest.mark.parametrize("data", ["", "00", "00 b0 00", "00 00 00 3c 00 00", "00 b1 00 3c 00 00"])
def test_vpd_of_another_page(data: str) -> None:
    with pytest.raises(ParseError):
        scsi.decode_vpd(h(data), 0xB0)


def test_vpd_serial() -> None:
    assert scsi.decode_vpd(h("00 80 00 08") + b"  S123  ").serial == "S123"
    assert scsi.decode_vpd(h("00 80 00 08") + b"S123\0\0\0\0").serial == "S123"
    assert scsi.decode_vpd(h("00 80 00 04") + b"S123456").serial == "S123"
    assert scsi.decode_vpd(h("00 80 00 08") + b"        ").serial is None
    cut = scsi.decode_vpd(h("00 80 00 08") + b"S123")
    assert (cut.serial, cut.truncated) == (None, True)


def test_vpd_designators_that_lie() -> None:
    naa = h("01 03 00 08 50 00 c5 00 15 ea 71 aa")
    page = scsi.decode_vpd(h("00 83 00 18") + naa + h("01 03 00 ff 50 00 c5 00 15 ea 71 ab"))
    assert [d.text for d in page.designators] == ["0x5000c50015ea71aa"]
    assert page.truncated
    page = scsi.decode_vpd(h("00 83 00 0c") + naa + naa)
    assert (len(page.designators), page.truncated) == (1, False)
    page = scsi.decode_vpd(h("00 83 02 58") + naa * 50)
    assert (len(page.designators), page.truncated) == (24, True)


def test_vpd_designator_texts() -> None:
    """Association, code set, type and what each reads as (SPC-5, designation descriptor)."""
    uuid = h("01 0a 00 12 10 00 00112233445566778899aabbccddeeff")
    port = h("61 94 00 04 00 00 00 02")
    name = h("03 28 00 08") + "naa.é".encode() + b"\0\0"
    page = scsi.decode_vpd(h("00 83 00") + bytes([len(uuid + port + name)]) + uuid + port + name)
    assert [d.text for d in page.designators] == ["00112233-4455-6677-8899-aabbccddeeff", "0x2", "naa.é"]
    assert [(d.association, d.protocol) for d in page.designators] == [(0, None), (1, 6), (2, None)]


def test_vpd_limits_not_reported() -> None:
    """0 is "not reported" for most of it, and a number for UNMAP, whose 0 says that there is none (SBC-4 6.6.4)."""
    page = scsi.decode_vpd(h("00 b0 00 3c") + bytes(60))
    assert page.maximum_transfer_length is None
    assert page.maximum_write_same_length is None
    assert page.optimal_unmap_granularity is None
    assert page.unmap_granularity_alignment is None
    assert (page.maximum_unmap_lba_count, page.maximum_unmap_block_descriptor_count) == (0, 0)
    aligned = bytearray(h("00 b0 00 3c") + bytes(60))
    aligned[32:36] = h("80 00 00 00")
    assert scsi.decode_vpd(bytes(aligned)).unmap_granularity_alignment == 0
    short = scsi.decode_vpd(h("00 b0 00 0c") + bytes(12) + b"\xff" * 48)  # as SBC-2 had it
    assert (short.maximum_unmap_lba_count, short.wsnz) == (None, False)


def test_capacity_10() -> None:
    c = scsi.decode_capacity_10(h("00 01 ff ff 00 00 02 00"))
    assert (c.last_lba, c.blocks, c.block_bytes, c.bytes) == (131071, 131072, 512, 67108864)
    assert (c.prot_en, c.lbppbe, c.physical_block_bytes, c.lbpme) == (None,) * 4
    c = scsi.decode_capacity_10(h("ff ff ff ff 00 00 02 00"))
    assert (c.last_lba, c.blocks, c.block_bytes, c.bytes) == (None, None, 512, None)
    with pytest.raises(ParseError):
        scsi.decode_capacity_10(bytes(7))


def test_capacity_16() -> None:
    """A capacity that does not fit in 64 bits of bytes is not known, and neither is one of blocks of 0 bytes."""
    c = scsi.decode_capacity_16(h("ff ff ff ff ff ff ff fe 00 00 02 00") + bytes(20))
    assert (c.blocks, c.bytes) == ((1 << 64) - 1, None)
    c = scsi.decode_capacity_16(b"\xff" * 32)
    assert (c.last_lba, c.blocks, c.bytes, c.physical_block_bytes) == ((1 << 64) - 1, None, None, None)
    c = scsi.decode_capacity_16(h("00 00 00 00 00 00 00 ff 00 00 00 00") + bytes(20))
    assert (c.blocks, c.block_bytes, c.bytes) == (256, None, None)
    c = scsi.decode_capacity_16(h("00 00 00 01 d1 c0 be af 00 00 02 00"))  # 12 bytes: as short as it may be
    assert (c.bytes, c.prot_en, c.lbpme, c.lowest_aligned_lba) == (7_814_037_168 * 512, None, None, None)
    c = scsi.decode_capacity_16(h("00 00 00 01 d1 c0 be af 00 00 02 00 25 93 e0 07") + bytes(16))
    assert (c.rc_basis, c.p_type, c.prot_en, c.p_i_exponent, c.lbppbe) == (2, 2, True, 9, 3)
    assert (c.lbpme, c.lbprz, c.lowest_aligned_lba, c.physical_block_bytes) == (True, True, 0x2007, 4096)


def test_mode_that_lies() -> None:
    """Lengths that contradict each other: what can be read is, and the rest is said to be cut."""
    caching = h("08 12 04") + bytes(17)
    m = scsi.decode_mode(h("00 1e 00 00 00 00 00 08") + bytes(8) + caching)
    assert [(p.page, p.offset, p.length, p.truncated) for p in m.pages] == [(8, 16, 16, True)]
    m = scsi.decode_mode(h("ff ff 00 00 00 00 00 00") + caching)
    assert ([p.page for p in m.pages], m.truncated) == ([8], True)
    m = scsi.decode_mode(h("00 1a 00 00 00 00 ff ff") + caching)
    assert (m.pages, m.truncated) == ((), True)
    m = scsi.decode_mode(h("00 06 00 80 00 00 00 00") + caching)
    assert (m.pages, m.wp, m.truncated) == ((), True, False)
    with pytest.raises(ParseError):
        scsi.decode_mode(h("00 01 00 00 00 00 00 00"))
    with pytest.raises(ParseError):
        scsi.decode_mode(bytes(7))
    with pytest.raises(ParseError):
        scsi.decode_mode(bytes(3), long=False)


def test_mode_6_and_long_blocks() -> None:
    m = scsi.decode_mode(h("0f 00 10 08  ff ff ff ff 00 00 02 00  0a 02 04 00"), long=False)
    assert (m.dpofua, m.wp, m.longlba) == (True, False, False)
    assert (m.blocks[0].number_of_blocks, m.blocks[0].block_bytes) == (None, 512)  # it does not fit in 4 bytes
    assert [(p.page, p.offset, p.length) for p in m.pages] == [(0x0A, 12, 4)]
    m = scsi.decode_mode(h("00 1a 00 00 01 00 00 10") + LBA.to_bytes(8) + h("00000000 00001000") + h("48 01 00 00"))
    assert (m.blocks[0].number_of_blocks, m.blocks[0].block_bytes, m.blocks[0].density_code) == (LBA, 4096, None)
    assert [(p.page, p.subpage, p.spf, p.length) for p in m.pages] == [(8, 1, True, 4)]
    page = scsi.decode_mode_page(h("0a 02 04 00"))  # as short as SCSI-2 had it
    assert (page.d_sense, page.busy_timeout_period, page.swp) == (True, None, None)


def test_log_endurance_of_a_sas_ssd() -> None:
    """20 % used; stale bytes behind the page are not read; a page of length 0 tells nothing. sg_logs prints 20 %."""
    page = h("11 00 00 08 00 01 03 04 00 00 00 14")
    assert scsi.decode_log_page(page).percentage_used == 20
    again = scsi.decode_log_page(page + page[-4:])
    assert (again.percentage_used, again.truncated) == (20, False)
    empty = scsi.decode_log_page(h("11 00 00 00") + page[4:])
    assert (empty.percentage_used, empty.truncated) == (None, False)
    cut = scsi.decode_log_page(page[:-1])
    assert (cut.percentage_used, cut.truncated) == (None, True)
    assert scsi.decode_log_page(h("11 00 00 08 00 01 03 04 00 00 00 ff")).percentage_used == 255
    other = scsi.decode_log_page(h("11 00 00 08 00 02 03 04 00 00 00 14"))
    assert other.percentage_used is None


def test_log_of_another_page() -> None:
    for data in ("", "11", "11 00 00", "0d 00 00 08 00 01 03 04 00 00 00 14", "51 01 00 08 00 01 03 04 00 00 00 14"):
        with pytest.raises(ParseError):
            scsi.decode_log_page(h(data), 0x11)


def test_log_counters() -> None:
    """Counters are as long as their parameter says; one of more than 64 bits that holds more is not known."""
    errors = scsi.decode_log_page(
        h("03 00 00 2a")
        + h("0000 03 01 ff") + h("0003 03 0a 0000ffffffffffffffff") + h("0005 03 09 010000000000000000")
        + h("0006 03 00") + h("8000 03 02 0001")
    )  # fmt: skip
    assert errors.page == 3
    assert errors.corrected_without_substantial_delay == 255
    assert errors.total_errors_corrected == (1 << 64) - 1
    assert errors.total_bytes_processed is None
    assert errors.total_uncorrected_errors is None
    assert errors.total_rewrites_or_rereads is None


def test_log_temperature() -> None:
    page = scsi.decode_log_page(h("0d 00 00 0c 00 00 03 02 00 00 00 01 03 02 00 ff"))
    assert (page.temperature_c, page.reference_temperature_c) == (0, None)


def test_log_start_stop() -> None:
    """SPC-5, Start-Stop Cycle Counter: the year and the week as characters, counters of 4 bytes."""
    page = scsi.decode_log_page(
        h("0e 00 00 2a")
        + h("0001 03 06") + b"202317"
        + h("0003 03 04 0000c350") + h("0004 03 04 00000011") + h("0005 03 04 000493e0") + h("0006 03 04 00000000")
    )  # fmt: skip
    assert (page.manufacture_year, page.manufacture_week) == ("2023", "17")
    assert (page.specified_cycle_count, page.accumulated_start_stop_cycles) == (50000, 17)
    assert (page.specified_load_unload_count, page.accumulated_load_unload_cycles) == (300000, 0)
    assert scsi.decode_log_page(h("0e 00 00 0a 0001 03 06") + b"      ").manufacture_year is None


def test_log_self_tests() -> None:
    """SPC-5, Self-Test Results: 20 parameters of 16 bytes, those never used all zero."""
    failed = h("0001 03 10 47 03 1234 0000000000001000 03 11 00 00")
    passed = h("0002 03 10 20 00 1000 ffffffffffffffff 00 00 00 00")
    unused = b"".join(i.to_bytes(2) + h("03 10") + bytes(16) for i in range(3, 21))
    page = scsi.decode_log_page(h("10 00 01 90") + failed + passed + unused)
    assert [(t.code, t.result, t.number, t.power_on_hours) for t in page.tests] == [
        (2, 7, 3, 0x1234),
        (1, 0, None, 4096),
    ]
    assert [(t.first_failure_lba, t.key, t.asc) for t in page.tests] == [(4096, 3, 0x11), (None, None, None)]
    assert not page.truncated


def test_log_background_scan() -> None:
    """SBC-4 6.4: the status parameter (12 bytes), and results of 20 bytes."""
    status = h("0000 03 0c 00012345 00 01 0007 8000 0000")
    result = h("0001 03 14 00012340 53 11 00 0000000000 0000000000abcdef")
    page = scsi.decode_log_page(h("15 00 00 28") + status + result)
    assert (page.power_on_minutes, page.status, page.scans_performed, page.progress) == (0x12345, 1, 7, 0x8000)
    assert page.medium_scans_performed is None
    (r,) = page.results
    assert (r.code, r.power_on_minutes, r.reassign_status, r.key, r.asc, r.lba) == (1, 0x12340, 5, 3, 0x11, 0xABCDEF)


def test_log_exceptions() -> None:
    page = scsi.decode_log_page(h("2f 00 00 08 0000 03 04 5d 10 ff ff"))
    assert (page.asc, page.ascq, page.temperature_c, page.threshold_temperature_c) == (0x5D, 0x10, None, None)
    assert page.text == "Hardware impending failure general hard drive failure"
    page = scsi.decode_log_page(h("2f 00 00 06 0000 03 02 00 00"))
    assert (page.asc, page.temperature_c, page.text) == (0, None, "No additional sense information")


def test_log_supported_subpages() -> None:
    page = scsi.decode_log_page(h("40 ff 00 06 00 00 00 ff 0d 01"))
    assert [(p.page, p.subpage) for p in page.pages] == [(0, 0), (0, 0xFF), (0x0D, 1)]
    page = scsi.decode_log_page(h("40 ff 00 05 00 00 00 ff 0d 01"))
    assert ([(p.page, p.subpage) for p in page.pages], page.truncated) == ([(0, 0), (0, 0xFF)], True)


def test_log_parameters() -> None:
    log = scsi.decode_log(h("b0 00 00 09 0001 83 02 aabb 0002 03 08 01"))
    assert (log.page, log.ds, log.spf) == (0x30, True, False)
    assert [(p.code, p.control, p.offset, p.length, p.truncated) for p in log.parameters] == [(1, 0x83, 8, 2, 0)]
    assert log.truncated
    log = scsi.decode_log(h("30 00 00 0b 0001 83 02 aabb 0002 03 08 01"))
    assert [(p.offset, p.length, p.truncated) for p in log.parameters] == [(8, 2, 0), (14, 1, 1)]


def test_opcodes_with_timeouts() -> None:
    """SPC-5, command descriptor (8 bytes) and command timeouts descriptor (000Ah, 12 bytes); 0 is "not told"."""
    data = (
        h("00 00 00 30")
        + h("04 00 0000 00 02 0006  000a 00 07 00000e10 00001c20")
        + h("48 00 0002 00 03 000a  000a 00 00 00000000 0000003c")
        + h("28 00 0000 00 00 000a")
    )
    page = scsi.decode_opcodes(data + b"stale")
    rows = [(c.opcode, c.service_action, c.cdb_length, c.name) for c in page.commands]
    assert rows == [
        (0x04, None, 6, "FORMAT UNIT"), (0x48, 2, 10, "SANITIZE, block erase"), (0x28, None, 10, "READ(10)")
    ]  # fmt: skip
    times = [(c.command_specific, c.nominal_timeout_s, c.recommended_timeout_s) for c in page.commands]
    assert times == [(7, 3600, 7200), (0, None, 60), (None, None, None)]
    assert not page.truncated
    cut = scsi.decode_opcodes(data[:-1])
    assert ([c.opcode for c in cut.commands], cut.truncated) == ([0x04, 0x48], True)
    lying = scsi.decode_opcodes(h("00 00 00 14 04 00 0000 00 02 0006  0fff 00 07 00000e10 00001c20"))
    assert (lying.commands, lying.truncated) == ((), True)


def test_one_opcode() -> None:
    data = h("00 83 00 06 04 ff 00 00 03 07  000a 00 00 00000e10 00001c20")
    page = scsi.decode_one_opcode(data)
    assert (page.support, page.cdb_usage) == (3, h("04 ff 00 00 03 07"))
    assert (page.nominal_timeout_s, page.recommended_timeout_s, page.truncated) == (3600, 7200, False)
    page = scsi.decode_one_opcode(h("00 01 00 00"))
    assert (page.support, page.cdb_usage, page.nominal_timeout_s, page.truncated) == (1, None, None, False)
    page = scsi.decode_one_opcode(data[:9])
    assert (page.support, page.cdb_usage, page.nominal_timeout_s, page.truncated) == (3, None, None, True)
    page = scsi.decode_one_opcode(data[:-1])
    assert (page.cdb_usage, page.nominal_timeout_s, page.truncated) == (h("04 ff 00 00 03 07"), None, True)


def test_luns() -> None:
    page = scsi.decode_luns(h("00 00 00 10 00 00 00 00") + bytes(8) + h("0001 0000 0000 0000") + b"stale---")
    assert (page.luns, page.truncated) == ((0, 1 << 48), False)
    assert scsi.decode_luns(h("00 00 00 10 00 00 00 00") + bytes(12)).truncated


def test_inquiry_short() -> None:
    """36 bytes, as SCSI-2 had it, and stale bytes behind ADDITIONAL LENGTH."""
    i = scsi.decode_inquiry(h("00 00 05 02 1f 00 00 02") + b"ATA     QEMU HARDDISK   2.5+" + b"STALE" * 12)
    assert (i.vendor, i.product, i.revision, i.length) == ("ATA", "QEMU HARDDISK", "2.5+", 36)
    assert (i.vendor_specific, i.versions, i.qas) == (None, None, None)
    i = scsi.decode_inquiry(h("00 80 05 02 ff 00 00 02") + b"ATA     QEMU")
    assert (i.vendor, i.product, i.rmb, i.truncated) == ("ATA", None, True, True)
    i = scsi.decode_inquiry(h("00 00 05 02 1f 00 00 02") + b"A\x01\xffA\0  x" + b" " * 20)
    assert (i.vendor, i.product) == ("A??A", "")
    with pytest.raises(ParseError):
        scsi.decode_inquiry(h("00 00 05 02"))


# ---- the way to Python ----------------------------------------------------------------------------------------------


def test_known_is_made_from_the_headers() -> None:
    """csrc/protocol/known_*.h says of each member the place that cffi finds it at too."""
    made = subprocess.run(
        [sys.executable, str(ROOT / "csrc/protocol/known.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout
    sys.path.insert(0, str(ROOT / "csrc/protocol"))
    try:
        import known
    finally:
        sys.path.pop(0)
    for name, members in known.structs("scsi.h").items():
        assert members == [field for field, _ in ffi.typeof(f"struct sated_{name}").fields]


def test_dataclass() -> None:
    import dataclasses

    page = scsi.decode_luns(h("00 00 00 08 00 00 00 00") + bytes(8))
    assert dataclasses.asdict(page) == {"luns": (0,), "truncated": False}
    assert page == scsi.decode_luns(h("00 00 00 08 00 00 00 00") + bytes(8))
    with pytest.raises(dataclasses.FrozenInstanceError):
        page.truncated = True
    assert "<th>luns</th>" in page._repr_html_()
    assert type(page).__name__ == "ScsiLuns"
