"""SCSI commands byte by byte.

Layouts: SPC-5 (primary commands), SBC-4 (block commands; clauses in the table).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sated import scsi
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
