"""NVMe commands as bytes (`build_...`), and what drives answer (`decode_...`: bytes to a dataclass, also for files).

Layouts and names are those of the NVM Express Base Specification 2.0c, the NVM Command Set Specification 1.0c and the
OCP Datacenter NVMe SSD Specification 2.0. A member that the drive did not report, or that the answer was too short for,
is None. Temperatures are in kelvin, as the standard has them (`celsius` turns them), 128-bit counters are plain
integers, bit fields go with the flags below. Answers may be in anything that holds bytes, such as a memoryview or a
numpy array. All raise ParseError for arguments that a command cannot carry, and for answers that are too short to be
any.

>>> command = build_sanitize("overwrite", passes=16)
>>> hex(command.cdw10), command.admin
('0x3', True)
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sated import _decode
from sated._ffi import c_enum, ffi, lib, text
from sated.errors import ParseError, check

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "ALL",
    "Cns",
    "Command",
    "CriticalWarning",
    "Doubt",
    "Dsm",
    "Effect",
    "Fid",
    "Fna",
    "IoFlag",
    "Lid",
    "Lpa",
    "Oacs",
    "Oaes",
    "Oncs",
    "Sanicap",
    "SanitizeState",
    "Status",
    "Vwc",
    "build_apst_table",
    "build_compare",
    "build_ctrl_list",
    "build_directive_receive",
    "build_dsm",
    "build_dsm_ranges",
    "build_firmware_commit",
    "build_flush",
    "build_format",
    "build_get_features",
    "build_get_log",
    "build_get_temperature_threshold",
    "build_identify",
    "build_ns_attach",
    "build_ns_create",
    "build_ns_data",
    "build_ns_delete",
    "build_ns_detach",
    "build_raw",
    "build_read",
    "build_sanitize",
    "build_security_receive",
    "build_security_send",
    "build_self_test",
    "build_set_apst",
    "build_set_features",
    "build_set_power_state",
    "build_set_sanitize_config",
    "build_set_write_cache",
    "build_verify",
    "build_write",
    "build_write_zeroes",
    "celsius",
    "data_units_bytes",
    "data_units_text",
    "decode_apst",
    "decode_ctrl_list",
    "decode_effects_log",
    "decode_endurance_group_log",
    "decode_error_log",
    "decode_firmware_log",
    "decode_flbas",
    "decode_granularity_list",
    "decode_id_ctrl",
    "decode_id_ns",
    "decode_independent_ns",
    "decode_ns_descs",
    "decode_ns_list",
    "decode_nvm_ctrl",
    "decode_nvm_ns",
    "decode_ocp_smart_log",
    "decode_persistent_event_header",
    "decode_sanitize_log",
    "decode_self_test_log",
    "decode_smart_log",
    "decode_status",
    "decode_telemetry_header",
    "decode_temperature_threshold",
    "decode_uuid_list",
    "doubts",
]

ALL: int = lib.SATED_NVME_ALL_NAMESPACES


def _flags(name: str, prefix: str) -> type[enum.IntFlag]:
    members = ffi.typeof(f"enum sated_nvme_{name}").relements
    return enum.IntFlag(name, {key.removeprefix(prefix): value for key, value in members.items()})  # type: ignore[return-value]


Cns = c_enum("sated_nvme_cns", "SATED_NVME_CNS_")
Lid = c_enum("sated_nvme_lid", "SATED_NVME_LID_")
Fid = c_enum("sated_nvme_fid", "SATED_NVME_FID_")
SanitizeState = c_enum("sated_nvme_sanitize_state", "SATED_NVME_SANITIZE_")
Doubt = _flags("doubt", "SATED_NVME_DOUBT_")
Dsm = _flags("dsm", "SATED_NVME_DSM_")
Effect = _flags("effect", "SATED_NVME_EFFECT_")
Fna = _flags("fna", "SATED_NVME_FNA_")
IoFlag = _flags("io_flag", "SATED_NVME_")
Lpa = _flags("lpa", "SATED_NVME_LPA_")
Oacs = _flags("oacs", "SATED_NVME_OACS_")
Oaes = _flags("oaes", "SATED_NVME_OAES_")
Oncs = _flags("oncs", "SATED_NVME_ONCS_")
Sanicap = _flags("sanicap", "SATED_NVME_SANICAP_")
Vwc = _flags("vwc", "SATED_NVME_VWC_")
CriticalWarning = _flags("warning", "SATED_NVME_WARNING_")


# ---- commands -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class Command:
    """One command. `data_len` in bytes; `direction` 0 none, 1 from the drive, 2 to it; `timeout_ms` 0: by the
    transport."""

    opcode: int
    nsid: int
    cdw10: int
    cdw11: int
    cdw12: int
    cdw13: int
    cdw14: int
    cdw15: int
    data_len: int
    direction: int
    timeout_ms: int
    admin: bool
    bytes: bytes
    """The 64 bytes of the submission queue entry, without identifier and pointers."""


_NVME = _decode.Family("nvme")


def _build(name: str, *arguments: Any) -> Command:
    c = _NVME.command(name, *arguments)
    values = {f.name: getattr(c, f.name) for f in dataclasses.fields(Command) if f.name != "bytes"}
    return Command(**values, bytes=_decode.filled(lib.sated_nvme_build_sqe, 64, c))


def build_identify(cns: int, *, nsid: int = 0, cntid: int = 0, csi: int = 0, cns_specific: int = 0) -> Command:
    """Identify; `cns` is one of `Cns`. Raises ParseError for an NSID that does not go with it."""
    return _build("identify", cns, nsid, cntid, csi, cns_specific)


def build_get_log(
    lid: int,
    *,
    length: int,
    nsid: int = ALL,
    offset: int = 0,
    lsp: int = 0,
    lsi: int = 0,
    rae: bool = False,
    csi: int = 0,
    uuid_index: int = 0,
) -> Command:
    """Get Log Page; `lid` is one of `Lid`, `length` and `offset` in bytes, multiples of 4."""
    return _build("get_log", lid, nsid, length, offset, lsp, lsi, rae, csi, uuid_index)


_SEL = {"current": 0, "default": 1, "saved": 2, "supported": 3}


def _choice(what: str, of: dict[str, int], value: str) -> int:
    if value not in of:
        raise ParseError(f"{what}: {value!r}, expected one of {', '.join(of)}")
    return of[value]


def build_get_features(fid: int, *, nsid: int = 0, sel: str = "current", cdw11: int = 0, length: int = 0) -> Command:
    """Get Features; `sel`: current, default, saved or supported; `length` of the feature's data in bytes."""
    return _build("get_features", fid, nsid, _choice("Get Features", _SEL, sel), cdw11, length)


def build_set_features(
    fid: int, *, nsid: int = 0, save: bool = False, cdw11: int = 0, cdw12: int = 0, length: int = 0
) -> Command:
    """Set Features; `save` keeps the value over a reset; `length` of the feature's data in bytes."""
    return _build("set_features", fid, nsid, save, cdw11, cdw12, length)


def build_set_power_state(ps: int, *, workload_hint: int = 0, save: bool = False) -> Command:
    """Set Features: power state 0 to 31."""
    return _build("set_power_state", ps, workload_hint, save)


def build_set_write_cache(enable: bool, *, save: bool = False) -> Command:
    """Set Features: volatile write cache."""
    return _build("set_write_cache", enable, save)


def build_set_apst(enable: bool, *, save: bool = False) -> Command:
    """Set Features: autonomous power state transitions; the data is `build_apst_table`."""
    return _build("set_apst", enable, save)


def build_set_sanitize_config(*, nodrm: bool, save: bool = False) -> Command:
    """Set Features: whether an inhibited no-deallocate is a warning (`nodrm`) or an error."""
    return _build("set_sanitize_config", nodrm, save)


def build_get_temperature_threshold(*, sensor: int = 0, under: bool = False, sel: str = "current") -> Command:
    """Get Features: a temperature threshold of sensor 0 (composite) to 8."""
    return _build("get_temperature_threshold", sensor, under, _choice("Get Features", _SEL, sel))


def build_apst_table(transitions: Sequence[tuple[int, int]]) -> bytes:
    """256 bytes from (idle milliseconds, state to enter) for the power states from 0 on; 0 ms: no transition."""
    rows = _NVME.new("apst_table", "transition[]", [{"idle_ms": ms, "state": state} for ms, state in transitions])
    return _NVME.data("apst_table", 256, rows, len(transitions))


_SES = {"none": 0, "user-data": 1, "crypto": 2}
_SANACT = {"exit-failure": 1, "block": 2, "overwrite": 3, "crypto": 4, "exit-verification": 5}
_SELF_TEST = {"short": 1, "extended": 2, "vendor": 14, "abort": 15}


def build_format(
    *, nsid: int, lbaf: int, ses: str = "none", mset: bool = False, pi: int = 0, pil: bool = False
) -> Command:
    """Format NVM; `lbaf` is the index of the format, `ses` none, user-data or crypto."""
    return _build("format", nsid, lbaf, mset, pi, pil, _choice("Format NVM", _SES, ses))


def build_sanitize(
    action: str,
    *,
    passes: int = 0,
    pattern: int = 0,
    invert: bool = False,
    unrestricted_exit: bool = False,
    no_deallocate: bool = False,
    verification: bool = False,
) -> Command:
    """Sanitize; `action`: block, crypto, overwrite (with `passes` 1 to 16), exit-failure or exit-verification."""
    act = _choice("Sanitize", _SANACT, action)
    return _build("sanitize", act, unrestricted_exit, passes, invert, pattern, no_deallocate, verification)


def build_self_test(code: str, *, nsid: int = ALL) -> Command:
    """Device Self-test; `code`: short, extended, vendor or abort; `nsid` 0: the controller only."""
    return _build("self_test", nsid, _choice("Device Self-test", _SELF_TEST, code))


def build_ns_create(*, csi: int = 0) -> Command:
    """Namespace Management, create; the data is `build_ns_data`, the new NSID is dword 0 of the answer."""
    return _build("ns_create", csi)


def build_ns_data(
    *,
    nsze: int,
    ncap: int | None = None,
    lbaf: int = 0,
    extended: bool = False,
    dps: int = 0,
    shared: bool = False,
    anagrpid: int = 0,
    nvmsetid: int = 0,
    endgid: int = 0,
) -> bytes:
    """The 4096 bytes of a new namespace: size and capacity in blocks of format `lbaf`."""
    told = {"nsze": nsze, "ncap": nsze if ncap is None else ncap, "lbaf": lbaf, "dps": dps, "anagrpid": anagrpid}
    told |= {"nvmsetid": nvmsetid, "endgid": endgid, "extended": extended, "shared": shared}
    c = _NVME.new("new namespace", "ns_create *", told)
    return _NVME.data("ns_data", 4096, c)


def build_ns_delete(nsid: int) -> Command:
    """Namespace Management, delete; `ALL` deletes every namespace."""
    return _build("ns_delete", nsid)


def build_ns_attach(nsid: int) -> Command:
    """Namespace Attachment, attach; the data is `build_ctrl_list`."""
    return _build("ns_attach", nsid)


def build_ns_detach(nsid: int) -> Command:
    """Namespace Attachment, detach; the data is `build_ctrl_list`."""
    return _build("ns_detach", nsid)


def build_ctrl_list(cntlids: Iterable[int]) -> bytes:
    """The 4096 bytes of a controller list, from increasing controller identifiers (CNTLID, not the device number)."""
    ids = [_decode.unsigned("controller identifier", each, 16) for each in cntlids]
    held = ffi.new("uint16_t[]", ids)
    return _NVME.data("ctrl_list", 4096, held, len(ids))


def build_dsm(*, nsid: int, ranges: int, attributes: int = lib.SATED_NVME_DSM_DEALLOCATE) -> Command:
    """Dataset Management of 1 to 256 `ranges`, deallocating them; the data is `build_dsm_ranges`."""
    return _build("dsm", nsid, ranges, attributes)


def build_dsm_ranges(ranges: Iterable[tuple[int, int]]) -> bytes:
    """16 bytes for each (first block, blocks)."""
    rows = _NVME.new("dsm_ranges", "range[]", [{"slba": slba, "nlb": nlb} for slba, nlb in ranges])
    return _NVME.data("dsm_ranges", 16 * len(rows), rows, len(rows))


def build_flush(*, nsid: int) -> Command:
    """Flush."""
    return _build("flush", nsid)


def build_read(*, nsid: int, slba: int, blocks: int, block_bytes: int, flags: int = 0) -> Command:
    """Read 1 to 65536 `blocks` of `block_bytes`; `flags` are `IoFlag`."""
    return _build("read", nsid, slba, blocks, block_bytes, flags)


def build_write(*, nsid: int, slba: int, blocks: int, block_bytes: int, flags: int = 0) -> Command:
    """Write 1 to 65536 `blocks` of `block_bytes`; `flags` are `IoFlag`."""
    return _build("write", nsid, slba, blocks, block_bytes, flags)


def build_compare(*, nsid: int, slba: int, blocks: int, block_bytes: int, flags: int = 0) -> Command:
    """Compare 1 to 65536 `blocks` of `block_bytes`; `flags` are `IoFlag`."""
    return _build("compare", nsid, slba, blocks, block_bytes, flags)


def build_verify(*, nsid: int, slba: int, blocks: int, flags: int = 0) -> Command:
    """Verify 1 to 65536 `blocks`."""
    return _build("verify", nsid, slba, blocks, flags)


def build_write_zeroes(*, nsid: int, slba: int, blocks: int, deac: bool = False, flags: int = 0) -> Command:
    """Write Zeroes over 1 to 65536 `blocks`; `deac` deallocates them."""
    return _build("write_zeroes", nsid, slba, blocks, deac, flags)


def build_security_send(*, secp: int, spsp: int, length: int, nssf: int = 0, nsid: int = 0) -> Command:
    """Security Send of `length` bytes by protocol `secp`."""
    return _build("security_send", nsid, secp, spsp, nssf, length)


def build_security_receive(*, secp: int, spsp: int, length: int, nssf: int = 0, nsid: int = 0) -> Command:
    """Security Receive of up to `length` bytes by protocol `secp`."""
    return _build("security_receive", nsid, secp, spsp, nssf, length)


def build_firmware_commit(*, slot: int, action: int, boot_partition: int = 0) -> Command:
    """Firmware Commit."""
    return _build("firmware_commit", slot, action, boot_partition)


def build_directive_receive(*, nsid: int, dtype: int, doper: int, length: int = 0, dspec: int = 0) -> Command:
    """Directive Receive of `length` bytes."""
    return _build("directive_receive", nsid, dtype, doper, dspec, length)


def build_raw(opcode: int, *, admin: bool, nsid: int = 0, cdw: Sequence[int] = (), length: int = 0) -> Command:
    """Any command; `cdw` are dwords 10 on, at most six; the opcode says which way `length` bytes go."""
    if len(cdw) > 6 or any(not 0 <= word < 1 << 32 for word in cdw):
        raise ParseError(f"dwords {list(cdw)}: expected at most six of 32 bits (dwords 10 to 15)")
    return _build("raw", admin, opcode, nsid, ffi.new("uint32_t[6]", list(cdw)), length)


# ---- answers --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class Status:
    """A completion's status, with the names of its type and code."""

    sct: int
    sc: int
    crd: int
    more: bool
    dnr: bool
    type: str
    name: str

    def __str__(self) -> str:
        marks = "".join(mark for mark, is_set in ((", more", self.more), (", do not retry", self.dnr)) if is_set)
        return f"{self.name} (SCT {self.sct}h SC {self.sc:02X}h{marks})"


def decode_status(status: int) -> Status:
    """A status of 15 bits, without its phase bit: what ioctls return and `status_field` of the error log holds.

    >>> print(decode_status(0x6002))
    Invalid Field in Command (SCT 0h SC 02h, more, do not retry)
    """
    out = _NVME.result("decode_status", _decode.unsigned("NVMe status", status, 15), struct="status")
    return Status(
        sct=out.sct,
        sc=out.sc,
        crd=out.crd,
        more=bool(out.more),
        dnr=bool(out.dnr),
        type=text(lib.sated_nvme_sct_name(out.sct)),
        name=text(lib.sated_nvme_sc_name(out.sct, out.sc)),
    )


_PARTS = ("general", "admin", "nvm")


@functools.cache
def _id_ctrl_class() -> type[Any]:
    parts = [_decode.struct_class(f"sated_nvme_id_ctrl_{part}") for part in _PARTS]
    fields = [(f.name, Any) for part in parts for f in dataclasses.fields(part)]
    whole = _decode.struct_class("sated_nvme_id_ctrl")
    made: type[Any] = dataclasses.make_dataclass(
        "NvmeIdCtrl", [*fields, ("psd", Any)], frozen=True, kw_only=True, namespace={"__doc__": whole.__doc__}
    )
    made._repr_html_ = whole._repr_html_
    made.__module__ = __name__
    return made


def decode_id_ctrl(data: Buffer) -> Any:
    """Identify Controller (CNS 01h): all members at one level, the power states in `psd`."""
    whole = _NVME.decode("id_ctrl", data)
    values: dict[str, Any] = dict.fromkeys((f.name for f in dataclasses.fields(_id_ctrl_class())), None)
    for name in _PARTS:
        part = getattr(whole, name)
        if part is not None:
            values |= {f.name: getattr(part, f.name) for f in dataclasses.fields(part)}
    return _id_ctrl_class()(**{**values, "psd": whole.psd})


def decode_id_ns(data: Buffer) -> Any:
    """Identify Namespace (CNS 00h or 11h). Raises ParseError where the format in use is none of those listed."""
    return _NVME.decode("id_ns", data)


def decode_nvm_ns(data: Buffer) -> Any:
    """Identify Namespace of the NVM command set (CNS 05h): `NvmeNvmNs`."""
    return _NVME.decode("nvm_ns", data)


def decode_nvm_ctrl(data: Buffer) -> Any:
    """Identify Controller of the NVM command set (CNS 06h): `NvmeNvmCtrl`."""
    return _NVME.decode("nvm_ctrl", data)


def decode_independent_ns(data: Buffer) -> Any:
    """Identify Namespace, whatever its command set (CNS 08h): `NvmeIndependentNs`."""
    return _NVME.decode("independent_ns", data)


def decode_granularity_list(data: Buffer) -> Any:
    """Namespace Granularity List (CNS 16h): `NvmeGranularityList`, in bytes."""
    return _NVME.decode("granularity_list", data)


def decode_uuid_list(data: Buffer) -> Any:
    """UUID List (CNS 17h): `NvmeUuidList`."""
    return _NVME.decode("uuid_list", data)


def decode_apst(data: Buffer) -> Any:
    """The data of feature 0Ch: `NvmeApst`, one transition for each power state."""
    return _NVME.decode("apst", data)


def decode_flbas(flbas: int, *, formats: int) -> tuple[int, bool]:
    """(index of the format, whether metadata is part of the block). Raises ParseError where there are not so many.

    >>> decode_flbas(0x35, formats=22)
    (21, True)
    """
    index, extended = ffi.new("uint32_t *"), ffi.new("bool *")
    told = _decode.unsigned("FLBAS", flbas, 8), _decode.unsigned("formats", formats, 16)
    check(lib.sated_nvme_decode_flbas(*told, index, extended))
    return int(index[0]), bool(extended[0])


def decode_ns_list(data: Buffer) -> Any:
    """A namespace list (CNS 02h, 07h, 10h, 1Ah), or the log of changed namespaces (04h)."""
    return _NVME.decode("ns_list", data)


def decode_ctrl_list(data: Buffer) -> Any:
    """A controller list (CNS 12h, 13h)."""
    return _NVME.decode("ctrl_list", data)


def decode_ns_descs(data: Buffer) -> Any:
    """Namespace Identification Descriptors (CNS 03h)."""
    return _NVME.decode("ns_descs", data)


def decode_error_log(data: Buffer) -> Any:
    """Error Information (log 01h), newest first; an entry whose error_count is 0 is empty."""
    return _NVME.decode("error_log", data)


def decode_smart_log(data: Buffer) -> Any:
    """SMART / Health Information (log 02h); `doubts` are `Doubt`."""
    return _NVME.decode("smart_log", data)


def decode_temperature_threshold(dw0: int) -> int | None:
    """A threshold in kelvin from dword 0 of Get Features; None where none is set."""
    kelvin = ffi.new("uint32_t *")
    return (
        int(kelvin[0])
        if lib.sated_nvme_decode_temperature_threshold(_decode.unsigned("dword 0", dw0, 32), kelvin)
        else None
    )


def decode_firmware_log(data: Buffer) -> Any:
    """Firmware Slot Information (log 03h)."""
    return _NVME.decode("firmware_log", data)


def decode_effects_log(data: Buffer) -> Any:
    """Commands Supported and Effects (log 05h): 256 `Effect` each for admin and I/O opcodes."""
    return _NVME.decode("effects_log", data)


def decode_self_test_log(data: Buffer) -> Any:
    """Device Self-test (log 06h), newest first."""
    return _NVME.decode("self_test_log", data)


def decode_telemetry_header(data: Buffer) -> Any:
    """The first block of a telemetry log (07h or 08h)."""
    return _NVME.decode("telemetry_header", data)


def decode_endurance_group_log(data: Buffer) -> Any:
    """Endurance Group Information (log 09h)."""
    return _NVME.decode("endurance_group_log", data)


def decode_persistent_event_header(data: Buffer) -> Any:
    """The first block of the Persistent Event log (0Dh)."""
    return _NVME.decode("persistent_event_header", data)


def decode_sanitize_log(data: Buffer) -> Any:
    """Sanitize Status (log 81h); `progress` is of 65536, None while none runs."""
    return _NVME.decode("sanitize_log", data)


def decode_ocp_smart_log(data: Buffer) -> Any:
    """SMART / Health Information Extended (log C0h). Raises ParseError where the page is a vendor's own."""
    return _NVME.decode("ocp_smart_log", data)


# ---- what the numbers mean ------------------------------------------------------------------------------------------


def celsius(kelvin: int | None) -> int | None:
    """Whole degrees; the standard's zero is 273 K.

    >>> celsius(260), celsius(313), celsius(None)
    (-13, 40, None)
    """
    return None if kelvin is None else kelvin - 273


def data_units_bytes(units: int | None) -> int | None:
    """Bytes of so many data units of the SMART log: 1000 x 512 each, rounded up by the drive."""
    return None if units is None else units * 512_000


def data_units_text(units: int | None) -> str:
    """Data units for a person.

    >>> data_units_text(903_441_207), data_units_text(1), data_units_text(None)
    ('462.56 TB', 'at most 512 kB', '0 or not reported')
    """
    if not units:
        return "0 or not reported"
    if units == 1:
        return "at most 512 kB"
    value = float(units * 512_000)
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if value < 1000:
            return f"{value:.2f} {unit}"
        value /= 1000
    return f"{value:.2f} EB"


_DOUBTS = {
    lib.SATED_NVME_DOUBT_SPARE: "available spare above 100 %: taken as not reported",
    lib.SATED_NVME_DOUBT_SPARE_THRESHOLD: "available spare threshold above 100 %: taken as not reported",
    lib.SATED_NVME_DOUBT_USED_SATURATED: "percentage used 255: 255 % or more",
    lib.SATED_NVME_DOUBT_TEMPERATURE: "a temperature of FFFFh: taken as not reported",
    lib.SATED_NVME_DOUBT_ZERO_UNITS: "a data unit counter of 0: none, or not reported",
}


def doubts(log: Any) -> tuple[str, ...]:
    """What a SMART or endurance group log holds that cannot be taken as it stands, in sentences."""
    return tuple(said for bit, said in _DOUBTS.items() if (log.doubts or 0) & bit)
