"""SCSI commands as bytes (`build_...`), and what drives answer (`decode_...`: bytes to a dataclass, also for files).

A member that the drive did not report, or that the answer was too short for, is None. Names are the standards' (SPC-5,
SBC-4, SAT-4); bytes that stand behind the length that an answer states are not read. Answers may be in anything that
holds bytes, such as a memoryview or a numpy array. All raise ParseError for arguments that a command cannot carry, and
for answers that are too short to be any, or are another page.

>>> build_inquiry(page=0xB0).cdb.hex(" ")
'12 01 b0 00 fc 00'
>>> decode_sense(bytes.fromhex("70000200000000 0a00000000041b0080 4000")).progress / 65536
0.25
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sated import _decode
from sated._ffi import c_enum, ffi, lib, text
from sated.errors import ParseError

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "ALL_BLOCKS",
    "Command",
    "Direction",
    "Sanitize",
    "asc_text",
    "build_format_list",
    "build_format_unit",
    "build_format_with_preset",
    "build_get_lba_status",
    "build_inquiry",
    "build_log_sense",
    "build_mode_select",
    "build_mode_sense",
    "build_overwrite_list",
    "build_read",
    "build_read_capacity",
    "build_receive_diagnostic",
    "build_report_luns",
    "build_report_opcodes",
    "build_request_sense",
    "build_resize_list",
    "build_sanitize",
    "build_send_diagnostic",
    "build_start_stop_unit",
    "build_synchronize_cache",
    "build_test_unit_ready",
    "build_unmap",
    "build_unmap_list",
    "build_verify",
    "build_wce_list",
    "build_write",
    "build_write_same",
    "decode_capacity_10",
    "decode_capacity_16",
    "decode_inquiry",
    "decode_log",
    "decode_log_page",
    "decode_luns",
    "decode_mode",
    "decode_mode_page",
    "decode_one_opcode",
    "decode_opcodes",
    "decode_sense",
    "decode_vpd",
    "key_text",
    "opcode_text",
]

ALL_BLOCKS = (1 << 64) - 1
"""As the number of blocks of `build_resize_list`: all that there are."""

Direction = c_enum("sated_direction", "SATED_DATA_")
Sanitize = c_enum("sated_scsi_sanitize", "SATED_SANITIZE_")


# ---- commands -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class Command:
    """One command. `data_len` in bytes; `direction` 0 none, 1 from the drive, 2 to it; `timeout_ms` 0: by the
    transport."""

    cdb: bytes
    direction: int
    data_len: int
    timeout_ms: int


def command(c: Any) -> Command:
    """A `struct sated_scsi_command *` as Python has it."""
    return Command(
        cdb=bytes(ffi.buffer(c.cdb, c.cdb_len)),
        direction=int(c.direction),
        data_len=int(c.data_len),
        timeout_ms=int(c.timeout_ms),
    )


_SCSI = _decode.Family("scsi")


def _build(name: str, *arguments: Any) -> Command:
    return command(_SCSI.command(name, *arguments))


def build_test_unit_ready() -> Command:
    """TEST UNIT READY."""
    return _build("test_unit_ready")


def build_request_sense(*, desc: bool = False, alloc: int = 252) -> Command:
    """REQUEST SENSE; `desc` asks for the descriptor format, `alloc` bytes of room up to 255."""
    return _build("request_sense", desc, alloc)


def build_inquiry(*, page: int | None = None, alloc: int = 252) -> Command:
    """INQUIRY for the standard data or for a VPD page; `alloc` bytes of room up to 65535."""
    return _build("inquiry", -1 if page is None else page, alloc)


def build_read_capacity(*, long: bool = True, alloc: int = 32) -> Command:
    """READ CAPACITY(16), or (10) with `long=False`."""
    return _build("read_capacity_16", alloc) if long else _build("read_capacity_10")


def build_log_sense(page: int, *, subpage: int = 0, pc: int = 1, parameter: int = 0, alloc: int = 4096) -> Command:
    """LOG SENSE; `pc` 1 for cumulative values, `parameter` the first one wanted, `alloc` bytes of room up to 65535."""
    return _build("log_sense", pc, page, subpage, parameter, alloc)


def build_mode_sense(
    page: int,
    *,
    subpage: int = 0,
    pc: int = 0,
    dbd: bool = False,
    llbaa: bool = False,
    long: bool = True,
    alloc: int | None = None,
) -> Command:
    """MODE SENSE(10), or (6) with `long=False`; `pc` 0 current, 1 changeable, 2 default, 3 saved; `page` 0x3F for all;
    `dbd` leaves out block descriptors, `llbaa` allows 16-byte ones."""
    if long:
        return _build("mode_sense_10", pc, page, subpage, dbd, llbaa, 4096 if alloc is None else alloc)
    if llbaa:
        raise ParseError("MODE SENSE(6) has no LLBAA: use the (10) form")
    return _build("mode_sense_6", pc, page, subpage, dbd, 252 if alloc is None else alloc)


def build_mode_select(list_len: int, *, sp: bool = False, long: bool = True) -> Command:
    """MODE SELECT(10), or (6) with `long=False`; `list_len` bytes of the parameter list, `sp` saves the pages."""
    return _build("mode_select_10" if long else "mode_select_6", sp, list_len)


def build_wce_list(sense: Buffer, *, wce: bool, long: bool = True) -> bytes:
    """The MODE SELECT parameter list that sets the write cache and leaves the rest as `sense`, what MODE SENSE answered
    for page 08h, has it. Raises ParseError if there is no whole caching page in it."""
    held = _decode.octets(sense)
    return _SCSI.data("wce_list", len(held), held, len(held), long, wce)


def build_resize_list(blocks: int, block_bytes: int, *, llbaa: bool = True) -> bytes:
    """The MODE SELECT(10) parameter list with one block descriptor: `blocks` of `block_bytes` each; 0 blocks leaves the
    number as it is, ALL_BLOCKS takes all there are."""
    return _SCSI.data("resize_list", 24, blocks, block_bytes, llbaa)


def build_sanitize(
    action: int, *, immed: bool = True, znr: bool = False, ause: bool = False, list_len: int = 0
) -> Command:
    """SANITIZE; `action` of `Sanitize`, `list_len` bytes of the overwrite list."""
    return _build("sanitize", action, immed, znr, ause, list_len)


def build_overwrite_list(passes: int, pattern: Buffer, *, invert: bool = False, test: int = 0) -> bytes:
    """The parameter list of SANITIZE, overwrite; `passes` 1 to 31, `pattern` no longer than a block."""
    held = _decode.octets(pattern)
    return _SCSI.data("overwrite_list", 4 + len(held), passes, invert, test, held, len(held))


def build_format_unit(
    *, fmtpinfo: int = 0, ffmt: int = 0, cmplst: bool = False, longlist: bool = False, list_len: int = 0
) -> Command:
    """FORMAT UNIT; `list_len` bytes of the parameter list, 0 for none."""
    return _build("format_unit", fmtpinfo, ffmt, cmplst, longlist, list_len)


def build_format_list(
    *,
    immed: bool = True,
    dcrt: bool = False,
    dpry: bool = False,
    stpf: bool = False,
    fov: bool = False,
    protection: int = 0,
    exponent: int = 0,
    longlist: bool = False,
) -> bytes:
    """The parameter list of FORMAT UNIT: a header and no defects."""
    flags = sum(
        flag
        for wanted, flag in (
            (immed, lib.SATED_FORMAT_IMMED),
            (stpf, lib.SATED_FORMAT_STPF),
            (dcrt, lib.SATED_FORMAT_DCRT),
            (dpry, lib.SATED_FORMAT_DPRY),
            (fov, lib.SATED_FORMAT_FOV),
        )
        if wanted
    )
    return _SCSI.data("format_list", 8, flags, protection, exponent, longlist)


def build_format_with_preset(preset: int, *, immed: bool = True, fmtmaxlba: bool = False) -> Command:
    """FORMAT WITH PRESET."""
    return _build("format_with_preset", preset, immed, fmtmaxlba)


def build_unmap(list_len: int, *, anchor: bool = False, group: int = 0) -> Command:
    """UNMAP; `list_len` bytes of `build_unmap_list`."""
    return _build("unmap", anchor, group, list_len)


def build_unmap_list(ranges: Iterable[tuple[int, int]]) -> bytes:
    """The parameter list of UNMAP from pairs of (first LBA, blocks), up to 4095 of them."""
    c = _SCSI.new("unmap_list", "range[]", [{"lba": lba, "blocks": blocks} for lba, blocks in ranges])
    return _SCSI.data("unmap_list", 8 + 16 * len(c), c, len(c))


def build_write_same(
    lba: int,
    blocks: int,
    *,
    block_bytes: int = 512,
    unmap: bool = False,
    anchor: bool = False,
    ndob: bool = False,
    wrprotect: int = 0,
    group: int = 0,
    long: bool = True,
) -> Command:
    """WRITE SAME(16), or (10) with `long=False`; `blocks` 0 to the last one, `block_bytes` of the one block that is
    sent (none with `ndob`)."""
    if long:
        size = 0 if ndob else block_bytes
        return _build("write_same_16", lba, blocks, size, wrprotect, unmap, anchor, ndob, group)
    if ndob:
        raise ParseError("WRITE SAME(10) has no NDOB: use the (16) form")
    return _build("write_same_10", lba, blocks, block_bytes, wrprotect, unmap, anchor, group)


def build_read(
    lba: int,
    blocks: int,
    *,
    block_bytes: int = 512,
    protect: int = 0,
    dpo: bool = False,
    fua: bool = False,
    long: bool = True,
) -> Command:
    """READ(16), or (10) with `long=False`."""
    return _build("read_16" if long else "read_10", lba, blocks, block_bytes, protect, dpo, fua)


def build_write(
    lba: int,
    blocks: int,
    *,
    block_bytes: int = 512,
    protect: int = 0,
    dpo: bool = False,
    fua: bool = False,
    long: bool = True,
) -> Command:
    """WRITE(16), or (10) with `long=False`."""
    return _build("write_16" if long else "write_10", lba, blocks, block_bytes, protect, dpo, fua)


def build_verify(lba: int, blocks: int, *, protect: int = 0, dpo: bool = False, long: bool = True) -> Command:
    """VERIFY(16), or (10) with `long=False`, without data: the drive reads the blocks itself."""
    return _build("verify_16" if long else "verify_10", lba, blocks, protect, dpo)


def build_synchronize_cache(lba: int = 0, blocks: int = 0, *, immed: bool = False, long: bool = False) -> Command:
    """SYNCHRONIZE CACHE(10), or (16) with `long=True`; 0 blocks: to the last one."""
    return _build("synchronize_cache_16" if long else "synchronize_cache_10", lba, blocks, immed)


def build_get_lba_status(lba: int, *, report: int = 0, alloc: int = 4096) -> Command:
    """GET LBA STATUS(16)."""
    return _build("get_lba_status", lba, report, alloc)


def build_report_opcodes(
    opcode: int | None = None, service_action: int | None = None, *, rctd: bool = True, alloc: int = 8192
) -> Command:
    """REPORT SUPPORTED OPERATION CODES: all, one, or one with its service action; `rctd` asks for the timeouts."""
    if opcode is None:
        if service_action is not None:
            raise ParseError("report opcodes: a service action without an operation code; give opcode=, too")
        return _build("report_opcodes", 0, 0, 0, rctd, alloc)
    if service_action is None:
        return _build("report_opcodes", 1, opcode, 0, rctd, alloc)
    return _build("report_opcodes", 2, opcode, service_action, rctd, alloc)


def build_report_luns(*, select: int = 0, alloc: int = 2056) -> Command:
    """REPORT LUNS."""
    return _build("report_luns", select, alloc)


def build_start_stop_unit(
    *,
    power_condition: int = 0,
    modifier: int = 0,
    immed: bool = False,
    no_flush: bool = False,
    loej: bool = False,
    start: bool = False,
) -> Command:
    """START STOP UNIT."""
    return _build("start_stop_unit", power_condition, modifier, immed, no_flush, loej, start)


def build_send_diagnostic(
    self_test_code: int = 0,
    *,
    self_test: bool = False,
    devoffl: bool = False,
    unitoffl: bool = False,
    list_len: int = 0,
) -> Command:
    """SEND DIAGNOSTIC; `self_test_code` 1 background short, 2 background extended, 4 abort, 5 foreground short, 6
    foreground extended."""
    return _build("send_diagnostic", self_test_code, self_test, devoffl, unitoffl, list_len)


def build_receive_diagnostic(page: int | None = None, *, alloc: int = 4096) -> Command:
    """RECEIVE DIAGNOSTIC RESULTS."""
    return _build("receive_diagnostic", -1 if page is None else page, alloc)


# ---- answers --------------------------------------------------------------------------------------------------------


def decode_sense(data: Buffer) -> Any:
    """Sense data in either format; `forwarded` is sense data again. Raises ParseError for bytes that are none."""
    return _SCSI.decode("sense", data)


def key_text(key: int) -> str:
    """What a sense key means.

    >>> key_text(3)
    'Medium error'
    """
    return text(lib.sated_scsi_key_text(_decode.unsigned("sense key", key, 4)))


def asc_text(asc: int, ascq: int) -> str:
    """What an additional sense code and its qualifier mean (T10's list).

    >>> asc_text(0x31, 0x03)
    'Sanitize command failed'
    """
    out = ffi.new("char[]", 96)
    lib.sated_scsi_asc_text(_decode.unsigned("ASC", asc, 8), _decode.unsigned("ASCQ", ascq, 8), out, 96)
    return text(out)


def opcode_text(opcode: int, service_action: int = 0) -> str | None:
    """The name of a command (T10's list), None if it is not a disk's.

    >>> opcode_text(0x9E, 0x10)
    'READ CAPACITY(16)'
    """
    name = lib.sated_scsi_opcode_text(
        _decode.unsigned("opcode", opcode, 8), _decode.unsigned("service action", service_action, 16)
    )
    return None if name == ffi.NULL else text(name)


def decode_inquiry(data: Buffer) -> Any:
    """Standard INQUIRY data."""
    return _SCSI.decode("inquiry", data)


_VPD = {
    0x00: "vpd_supported",
    0x80: "vpd_serial",
    0x83: "vpd_device_id",
    0x86: "vpd_extended",
    0x87: "vpd_mode_policy",
    0x88: "vpd_ports",
    0x89: "vpd_ata",
    0x8A: "vpd_power",
    0xB0: "vpd_limits",
    0xB1: "vpd_characteristics",
    0xB2: "vpd_provisioning",
    0xB6: "vpd_zoned",
    0xB7: "vpd_limits_extension",
}


def decode_vpd(data: Buffer, page: int | None = None) -> Any:
    """A VPD page, one of 00h 80h 83h 86h to 8Ah B0h to B2h B6h B7h. `page`: the one that was asked for; without it, the
    one that the bytes say they are. Raises ParseError for another."""
    held = _decode.octets(data)
    if page is None:
        if len(held) < 2:
            raise ParseError(f"VPD page: {len(held)} bytes, where at least 4 were expected; give the whole answer")
        page = held[1]
    if page not in _VPD:
        raise ParseError(f"VPD page {page:02X}h has no decoder: known are {', '.join(f'{p:02X}h' for p in _VPD)}")
    return _SCSI.decode(_VPD[page], held)


def decode_capacity_10(data: Buffer) -> Any:
    """READ CAPACITY(10) data; `last_lba` is None where 32 bits do not hold it."""
    return _SCSI.decode("capacity_10", data, struct="capacity")


def decode_capacity_16(data: Buffer) -> Any:
    """READ CAPACITY(16) data."""
    return _SCSI.decode("capacity_16", data, struct="capacity")


def decode_mode(data: Buffer, *, long: bool = True) -> Any:
    """MODE SENSE(10) data, or (6) with `long=False`: header, block descriptors, and where each page stands."""
    return _SCSI.decode("mode", data, long)


_MODE_PAGES = {0x08: "mode_caching", 0x0A: "mode_control", 0x1A: "mode_power"}


def decode_mode_page(data: Buffer) -> Any:
    """A mode page from its page code on, one of 08h 0Ah 1Ah. Raises ParseError for another."""
    held = _decode.octets(data)
    page = held[0] & 0x7F if held else -1
    if page not in _MODE_PAGES:
        raise ParseError(f"mode page: byte 0 is {held[:1].hex() or 'missing'}, where 08h, 0Ah or 1Ah was expected")
    return _SCSI.decode(_MODE_PAGES[page], held)


def decode_log(data: Buffer) -> Any:
    """Any log page of parameters: where each parameter stands."""
    return _SCSI.decode("log", data)


_LOG_PAGES = {
    0x00: "log_supported",
    0x02: "log_errors",
    0x03: "log_errors",
    0x05: "log_errors",
    0x0D: "log_temperature",
    0x0E: "log_start_stop",
    0x10: "log_self_tests",
    0x11: "log_endurance",
    0x15: "log_background_scan",
    0x18: "log_phys",
    0x2F: "log_exceptions",
}


def decode_log_page(data: Buffer, page: int | None = None) -> Any:
    """A log page, one of 00h 02h 03h 05h 0Dh 0Eh 10h 11h 15h 2Fh. `page`: the one that was asked for; without it, the
    one that the bytes say they are. Raises ParseError for another."""
    held = _decode.octets(data)
    if page is None:
        if not held:
            raise ParseError("log page: 0 bytes, where at least 4 were expected; give the whole answer")
        page = held[0] & 0x3F
    if page not in _LOG_PAGES:
        raise ParseError(f"log page {page:02X}h has no decoder: known are {', '.join(f'{p:02X}h' for p in _LOG_PAGES)}")
    return _SCSI.decode(_LOG_PAGES[page], held)


def decode_opcodes(data: Buffer) -> Any:
    """REPORT SUPPORTED OPERATION CODES data, all commands."""
    return _SCSI.decode("opcodes", data)


def decode_one_opcode(data: Buffer) -> Any:
    """REPORT SUPPORTED OPERATION CODES data, one command."""
    return _SCSI.decode("one_opcode", data)


def decode_luns(data: Buffer) -> Any:
    """REPORT LUNS data."""
    return _SCSI.decode("luns", data)
