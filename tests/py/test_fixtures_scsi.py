"""Every SCSI answer and sense fixture against what a reference tool (sg3_utils 1.46) printed for the same bytes.

What was decoded is written again in the tool's own words, so that each line of the reference is compared and none can
be forgotten. Where the tool prints 0 for "not reported", the decoder says None, which is what `or0` is for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import fixtures
import pytest
from fixtures import Fixture
from sated import ata, scsi
from sated._ffi import lib


def or0(value: Any) -> int:
    return 0 if value is None else int(value)


def tidy(text: str) -> list[str]:
    """Lines without indentation, comments, blank lines and the tool's case."""
    lines = (" ".join(line.split()).lower() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("##")]


def bare(text: str) -> list[str]:
    """The same without what the tool remarks in brackets at the end of a line (it leaves one of them open)."""
    return [re.sub(r" *\[[^\]]*\]?$", "", line) for line in tidy(text)]


# ---- sense ----------------------------------------------------------------------------------------------------------

SOURCES = {1: "Extended copy command destination device 0"}  # the tool's words for the number
STATES = {0: "active/optimized", 1: "active/non optimized", 2: "standby", 3: "unavailable"}


def registers(data: bytes) -> Any:
    return ata.decode_registers(data)


def sense_descriptors(data: bytes, s: Any) -> Iterator[str]:
    others = iter(s.other_progress)
    for d in s.descriptors:
        kind = {0: "Information", 1: "Command specific", 3: "Field replaceable unit code"}.get(d.type)
        if d.type == 0x00:
            yield f"Descriptor type: {kind}: 0x{s.information:016x}"
        elif d.type == 0x01:
            yield f"Descriptor type: {kind}: 0x{s.command_specific:016x}"
        elif d.type == 0x02 and s.retry_count is not None:
            yield f"Descriptor type: Sense key specific: Actual retry count: {s.retry_count}"
        elif d.type == 0x02 and s.field_pointer is not None:
            yield "Descriptor type: Sense key specific: Field pointer:"
            assert s.bit_pointer is None
            yield f"Error in {'Command' if s.field_in_cdb else 'Data'}: byte {s.field_pointer}"
        elif d.type == 0x03:
            yield f"Descriptor type: {kind}: 0x{s.fru:x}"
        elif d.type == 0x05:
            assert s.ili
            yield "Descriptor type: Block commands: Incorrect Length Indicator (ILI) set"
        elif d.type == 0x09:
            r = registers(data)
            yield f"Descriptor type: ATA Status Return: extend={r.extend} error=0x{r.error:x}"
            lba = f"0x{r.lba_low:012x}" if r.extend else f"0x{r.lba_low:06x}"
            yield f"count=0x{r.count:x} lba={lba} device=0x{r.device:x} status=0x{r.status:x}"
        elif d.type == 0x0A:
            p = next(others)
            # sg_lib.c of 1.46 writes "%d.02%d" where "%d.%02d" was meant: 19.53 % of the bytes 32 01 is printed as
            # 19.0253 %, and is compared so.
            percent = f"{100 * p.progress / 65536:.2f}".replace(".", ".02")
            yield f"Descriptor type: Another progress indication: {percent}%"
            yield f"[sense_key=0x{p.key:x} asc,ascq=0x{p.asc:x},0x{p.ascq:x}]"
        elif d.type == 0x0B:
            yield "Descriptor type: User data segment referral:"
            yield f"Not all referrals: {s.not_all_referrals:d}"
            for i, segment in enumerate(s.segments, 1):
                yield f"Descriptor {i}"
                yield f"first uds LBA: 0x{segment.first_lba:016x}"
                yield f"last uds LBA: 0x{segment.last_lba:016x}"
                for group in segment.groups:
                    yield f"tpg: {group.group} state: {STATES[group.state]}"
        elif d.type == 0x0C:
            yield "Descriptor type: Forwarded sense data"
            yield f"FSDT: {'set' if s.forwarded_fsdt else 'clear'}"
            yield f"Sense data source: {SOURCES[s.forwarded_source]}"
            assert s.forwarded_status == 2
            yield "Forwarded status: Check Condition"
            yield "vvvvvvvvvvvvvvvv"
            yield from sense_lines(s.forwarded)
            yield "^^^^^^^^^^^^^^^^"
        else:
            raise AssertionError(f"descriptor type {d.type:02x}h")


def sense_lines(data: bytes) -> Iterator[str]:
    s = scsi.decode_sense(data)
    form = "Descriptor" if s.descriptor_format else "Fixed"
    yield f"{form} format, {'deferred' if s.deferred else 'current'}; Sense key: {s.key_text}"
    if s.descriptor_format and s.sdat_ovfl:
        yield "<<<Sense data overflow (SDAT_OVFL)>>>"
    yield f"Additional sense: {s.text}"
    assert not s.truncated
    if s.descriptor_format:
        yield from sense_descriptors(data, s)
        return
    if s.information is not None:
        yield f"Info fld=0x{s.information:x} [{s.information}]"
    if s.fru is not None:
        yield f"Field replaceable unit code: {s.fru}"
    if s.retry_count is not None:
        yield f"Actual retry count: 0x{s.retry_count:04x}"
    if s.progress is not None:
        yield f"Progress indication: {100 * s.progress / 65536:.2f}%"


def padded(line: str) -> str:
    """The tool writes some 64-bit numbers with leading zeros and some without."""
    return re.sub(r"0x[0-9a-f]+", lambda m: hex(int(m[0], 16)), line)


@pytest.mark.parametrize("fixture", fixtures.params("sense_"))
def test_sense(fixture: Fixture) -> None:
    text = "\n".join(line for line in fixture.expected.splitlines() if not re.match("ATA registers|meaning", line))
    # sg_decode_sense reads 21/04, which libata's table made of ABRT, as the drive's own; so does this text, and the
    # registers beside it say what the drive said.
    assert [padded(x) for x in tidy("\n".join(sense_lines(fixture.data)))] == [padded(x) for x in tidy(text)]


def test_sense_text_has_no_truncation() -> None:
    assert max(len(scsi.asc_text(a, q)) for a in range(256) for q in range(256)) < 95


@pytest.mark.parametrize("fixture", fixtures.params("sense_"))
def test_registers(fixture: Fixture) -> None:
    r = registers(fixture.data)
    told = re.search(r"ATA registers: (.*)", fixture.expected)
    if told is None:
        assert r.source == lib.SATED_ATA_REGISTERS_NONE
        assert (r.error, r.status, r.device, r.count, r.count_low, r.lba, r.lba_low) == (None,) * 7
        return
    want = {key: int(value, 16) for key, value in re.findall(r"([A-Z]+)=([0-9a-f]+)", told[1])}
    got = {"ERROR": r.error, "STATUS": r.status, "DEVICE": r.device, "COUNT": r.count, "EXTEND": r.extend}
    assert got == {key: want[key] for key in got}
    assert r.lba_low == want["LBA"] & (1 << r.lba_low_bits) - 1
    if "legacy" in fixture.name:
        assert (r.source, r.lba_low_bits, r.lba) == (lib.SATED_ATA_REGISTERS_LEGACY, 8, None)
    else:
        assert r.source == lib.SATED_ATA_REGISTERS_DESCRIPTOR
        assert r.lba == want["LBA"]


# ---- pages ----------------------------------------------------------------------------------------------------------


def inquiry_lines(data: bytes) -> Iterator[str]:
    i = scsi.decode_inquiry(data)
    versions = {5: "SPC-3", 6: "SPC-4", 7: "SPC-5"}
    yield "standard INQUIRY:"
    yield (
        f"PQual={i.peripheral_qualifier} PDT={i.peripheral_device_type} RMB={i.rmb:d} LU_CONG={i.lu_cong:d} "
        f"hot_pluggable={or0(i.hot_pluggable)} version=0x{i.version:02x} [{versions[i.version]}]"
    )
    yield (
        f"[AERC={i.aerc:d}] [TrmTsk={i.trmtsk:d}] NormACA={i.normaca:d} HiSUP={i.hisup:d} "
        f"Resp_data_format={i.response_data_format}"
    )
    yield (
        f"SCCS={i.sccs:d} ACC={i.acc:d} TPGS={i.tpgs} 3PC={i.third_party_copy:d} Protect={i.protect:d} "
        f"[BQue={i.bque:d}]"
    )
    vs = f" (VS={i.vs6:d})" if i.multip else ""
    yield (
        f"EncServ={i.encserv:d} MultiP={i.multip:d}{vs} [MChngr={i.mchngr:d}] [ACKREQQ={i.ackreqq:d}] "
        f"Addr16={i.addr16:d}"
    )
    yield (
        f"[RelAdr={i.reladr:d}] WBus16={i.wbus16:d} Sync={i.sync:d} [Linked={i.linked:d}] "
        f"[TranDis={i.trandis:d}] CmdQue={i.cmdque:d}"
    )
    yield f"[SPI: Clocking=0x{i.clocking:x} QAS={i.qas:d} IUS={i.ius:d}]"
    yield f"length={i.length} (0x{i.length:x}) Peripheral device type: disk"
    yield f"Vendor identification: {i.vendor}"
    yield f"Product identification: {i.product}"
    yield f"Product revision level: {i.revision}"


VPD_NAMES = {
    "sv": 0x00, "sn": 0x80, "di": 0x83, "ei": 0x86, "mpp": 0x87, "sp": 0x88, "ai": 0x89, "pc": 0x8A, "pslu": 0x90,
    "bl": 0xB0, "bdc": 0xB1, "lbpv": 0xB2, "firm": 0xC0, "datc": 0xC1, "devb": 0xC3,
}  # fmt: skip


def check_vpd_supported(f: Fixture) -> None:
    want = [
        VPD_NAMES[m[1]] if (m := re.search(r"\[(\w+)\]$", line)) else int(line, 16) for line in tidy(f.expected)[1:]
    ]
    page = scsi.decode_vpd(f.data)
    assert list(page.pages) == want
    assert not page.truncated


PROTOCOLS = {6: "Serial Attached SCSI Protocol (SPL-4)"}
ASSOCIATIONS = ("Addressed logical unit:", "Target port:", "Target device that contains addressed lu:")
TYPES = {
    0: "vendor specific [0x0]", 1: "T10 vendor identification", 3: "NAA", 4: "Relative target port",
    8: "SCSI name string",
}  # fmt: skip
CODE_SETS = {1: "Binary", 2: "ASCII", 3: "UTF-8"}


def designator_lines(d: Any) -> Iterator[str]:
    yield f"designator type: {TYPES[d.type]}, code set: {CODE_SETS[d.code_set]}"
    if d.protocol is not None:
        yield f"transport: {PROTOCOLS[d.protocol]}"
    if d.type == 0:
        yield f"vendor specific: {d.text}"
    elif d.type == 1:
        yield f"vendor id: {d.designator[:8].decode()}"
        yield f"vendor specific: {d.designator[8:].decode()}"
    elif d.type == 4:
        yield f"Relative target port: {d.text}"
    elif d.type == 8:
        yield "SCSI name string:"
        yield d.text
    else:
        yield d.text


def device_id_lines(data: bytes) -> Iterator[str]:
    page = scsi.decode_vpd(data)
    assert not page.truncated
    yield "Device Identification VPD page:"
    for association, title in enumerate(ASSOCIATIONS):
        mine = [d for d in page.designators if d.association == association]
        if mine:
            yield title
        for d in mine:
            yield from designator_lines(d)


def ata_lines(data: bytes) -> Iterator[str]:
    page = scsi.decode_vpd(data)

    def swapped(first: int, last: int) -> str:
        words = page.identify[2 * first : 2 * last]
        return bytes(b for i in range(0, len(words), 2) for b in (words[i + 1], words[i])).decode()

    yield "ATA information VPD page:"
    yield f"SAT Vendor identification: {page.sat_vendor}"
    yield f"SAT Product identification: {page.sat_product}"
    yield f"SAT Product revision level: {page.sat_revision}"
    yield f"Device signature indicates {'SATA' if page.sata else 'PATA'} transport"
    yield f"Command code: 0x{page.command_code:x}"
    yield "ATA command IDENTIFY DEVICE response summary:"
    yield f"model: {swapped(27, 47)}"
    yield f"serial number: {swapped(10, 20)}"
    yield f"firmware revision: {swapped(23, 27)}"


def limits_lines(data: bytes) -> Iterator[str]:
    p = scsi.decode_vpd(data)
    yield "Block limits VPD page (SBC):"
    yield f"Write same non-zero (WSNZ): {p.wsnz:d}"
    yield f"Maximum compare and write length: {p.maximum_compare_and_write_length} blocks"
    yield f"Optimal transfer length granularity: {or0(p.optimal_transfer_length_granularity)} blocks"
    yield f"Maximum transfer length: {or0(p.maximum_transfer_length)} blocks"
    yield f"Optimal transfer length: {or0(p.optimal_transfer_length)} blocks"
    yield f"Maximum prefetch transfer length: {or0(p.maximum_prefetch_length)} blocks"
    yield f"Maximum unmap LBA count: {p.maximum_unmap_lba_count}"
    yield f"Maximum unmap block descriptor count: {p.maximum_unmap_block_descriptor_count}"
    yield f"Optimal unmap granularity: {or0(p.optimal_unmap_granularity)} blocks"
    yield f"Unmap granularity alignment valid: {str(p.ugavalid).lower()}"
    yield f"Unmap granularity alignment: {or0(p.unmap_granularity_alignment)}"
    same = p.maximum_write_same_length
    yield f"Maximum write same length: {f'0x{same:x}' if same else '0'} blocks"
    yield f"Maximum atomic transfer length: {or0(p.maximum_atomic_transfer_length)} blocks"
    yield f"Atomic alignment: {p.atomic_alignment}"
    yield f"Atomic transfer length granularity: {p.atomic_transfer_length_granularity}"
    boundary = or0(p.maximum_atomic_transfer_length_with_boundary)
    yield f"Maximum atomic transfer length with atomic boundary: {boundary} blocks"
    yield f"Maximum atomic boundary size: {p.maximum_atomic_boundary_size} blocks"
    assert p.ugavalid or p.unmap_granularity_alignment is None


def characteristics_lines(data: bytes) -> Iterator[str]:
    p = scsi.decode_vpd(data)
    yield "Block device characteristics VPD page (SBC):"
    rate = p.medium_rotation_rate
    yield "Non-rotating medium (e.g. solid state)" if rate == 1 else f"Nominal rotation rate: {rate} rpm"
    yield "Product type: Not specified" if p.product_type is None else f"Product type: {p.product_type}"
    yield f"WABEREQ={p.wabereq}"
    yield f"WACEREQ={p.wacereq}"
    yield "Nominal form factor not reported" if p.nominal_form_factor is None else f"{p.nominal_form_factor}"
    yield f"ZONED={p.zoned}"
    yield f"RBWZ={p.rbwz:d}"
    yield f"BOCS={p.bocs:d}"
    yield f"FUAB={p.fuab:d}"
    yield f"VBULS={p.vbuls:d}"
    yield f"DEPOPULATION_TIME={p.depopulation_time} (seconds)"


def provisioning_lines(data: bytes) -> Iterator[str]:
    p = scsi.decode_vpd(data)
    kinds = {0: "not known or fully provisioned", 1: "resource provisioned", 2: "thin provisioned"}
    yield "Logical block provisioning VPD page (SBC):"
    yield f"Unmap command supported (LBPU): {p.lbpu:d}"
    yield f"Write same (16) with unmap bit supported (LBPWS): {p.lbpws:d}"
    yield f"Write same (10) with unmap bit supported (LBPWS10): {p.lbpws10:d}"
    yield f"Logical block provisioning read zeros (LBPRZ): {p.lbprz}"
    yield f"Anchored LBAs supported (ANC_SUP): {p.anc_sup:d}"
    yield f"Threshold exponent: {p.threshold_exponent}"
    yield f"Descriptor present (DP): {p.dp:d}"
    yield f"Minimum percentage: {or0(p.minimum_percentage)}"
    yield f"Provisioning type: {p.provisioning_type} ({kinds[p.provisioning_type]})"
    yield f"Threshold percentage: {or0(p.threshold_percentage)}"
    for d in p.group:
        yield "Provisioning group descriptor:"
        yield from designator_lines(d)


def capacity_lines(data: bytes) -> Iterator[str]:
    c = scsi.decode_capacity_16(data)
    kind = f" [type {c.p_type + 1} protection]" if c.prot_en else ""
    physical = f" [so physical block length={c.physical_block_bytes} bytes]" if c.lbppbe else ""
    yield "Read Capacity results:"
    yield f"Protection: prot_en={c.prot_en:d}, p_type={or0(c.p_type)}, p_i_exponent={c.p_i_exponent}{kind}"
    yield f"Logical block provisioning: lbpme={c.lbpme:d}, lbprz={c.lbprz:d}"
    yield f"Last LBA={c.last_lba} (0x{c.last_lba:x}), Number of logical blocks={c.blocks}"
    yield f"Logical block length={c.block_bytes} bytes"
    yield f"Logical blocks per physical block exponent={c.lbppbe}{physical}"
    yield f"Lowest aligned LBA={c.lowest_aligned_lba}"
    yield "Hence:"
    yield f"Device size: {c.bytes} bytes, {c.bytes / 2**20:.1f} MiB, {c.bytes / 1e9:.2f} GB"
    assert c.rc_basis == 0


ERRORS = (
    ("Errors corrected without substantial delay", "corrected_without_substantial_delay"),
    ("Errors corrected with possible delays", "corrected_with_possible_delays"),
    ("Total rewrites or rereads", "total_rewrites_or_rereads"),
    ("Total errors corrected", "total_errors_corrected"),
    ("Total times correction algorithm processed", "total_times_correction_algorithm_processed"),
    ("Total bytes processed", "total_bytes_processed"),
    ("Total uncorrected errors", "total_uncorrected_errors"),
)


def errors_lines(data: bytes) -> Iterator[str]:
    p = scsi.decode_log_page(data)
    names = {2: "Write", 3: "Read", 5: "Verify"}
    yield f"{names[p.page]} error counter page [0x{p.page:x}]"
    for title, member in ERRORS:
        value = getattr(p, member)
        if value is not None:
            yield f"{title} = {value}" + (f" [{value // 10**12} TB]" if value > 10**12 else "")


def temperature_lines(data: bytes) -> Iterator[str]:
    p = scsi.decode_log_page(data)
    yield "Temperature page [0xd]"
    yield f"Current temperature = {p.temperature_c} C"
    yield f"Reference temperature = {p.reference_temperature_c} C"


def endurance_lines(data: bytes) -> Iterator[str]:
    yield "Solid state media page [0x11]"
    yield f"Percentage used endurance indicator: {scsi.decode_log_page(data).percentage_used} %"


def exceptions_lines(data: bytes) -> Iterator[str]:
    p = scsi.decode_log_page(data)
    yield "Informational Exceptions page [0x2f]"
    yield f"IE asc = 0x{p.asc:x}, ascq = 0x{p.ascq:x}"
    yield f"Current temperature = {p.temperature_c} C"
    if p.threshold_temperature_c is not None:
        yield f"Threshold temperature = {p.threshold_temperature_c} C [common extension]"


def check_log_supported(f: Fixture) -> None:
    want = [(int(line.split()[0], 16), 0) for line in tidy(f.expected)[1:]]
    page = scsi.decode_log_page(f.data)
    assert [(p.page, p.subpage) for p in page.pages] == want
    assert not page.truncated


def check_modes(f: Fixture) -> None:
    """The header by its words, block descriptors and pages by their bytes."""
    lines = [line for line in f.expected.splitlines() if not line.startswith("##")]
    text = "\n".join(lines)
    m = scsi.decode_mode(f.data)
    told = re.search(r"Mode data length=(\d+), medium type=(\w+), WP=(\d), DpoFua=(\d), longlba=(\d)", text)
    assert told is not None
    assert [int(x, 0) for x in told.groups()] == [
        m.mode_data_length + 2, m.medium_type, m.wp, m.dpofua, m.longlba
    ]  # fmt: skip
    assert f"Block descriptor length={m.block_descriptor_length}\n" in text
    assert not m.truncated
    (block,) = m.blocks
    assert f"Density code=0x{block.density_code:x}\n" in text
    dumps: list[tuple[str, bytearray]] = []
    for line in lines:
        if line.startswith(">"):
            dumps.append((line, bytearray()))
        elif hexed := re.match(r" [0-9a-f]{2} {5}((?: {1,2}[0-9a-f]{2}|[0-9a-f]{2})+)$", line.rstrip()):
            dumps[-1][1].extend(bytes.fromhex(hexed[1]))
    assert bytes(dumps[0][1]) == block.number_of_blocks.to_bytes(4) + bytes([0]) + block.block_bytes.to_bytes(3)
    pages = [bytes(f.data[p.offset : p.offset + p.length]) for p in m.pages]
    assert pages == [bytes(dump) for _, dump in dumps[1:]]
    assert [p.page for p in m.pages] == [dump[0] & 0x3F for _, dump in dumps[1:]]
    assert not any(p.truncated or p.spf or p.ps for p in m.pages)


CHECKS: dict[str, Callable[[Fixture], None] | Callable[[bytes], Iterator[str]]] = {
    "scsi_inquiry": inquiry_lines,
    "scsi_vpd00": check_vpd_supported,
    "scsi_vpd83": device_id_lines,
    "scsi_vpd89": ata_lines,
    "scsi_vpdb0": limits_lines,
    "scsi_vpdb1": characteristics_lines,
    "scsi_vpdb2": provisioning_lines,
    "scsi_readcap16": capacity_lines,
    "scsi_log00": check_log_supported,
    "scsi_log02": errors_lines,
    "scsi_log03": errors_lines,
    "scsi_log0d": temperature_lines,
    "scsi_log11": endurance_lines,
    "scsi_log2f": exceptions_lines,
    "scsi_modes": check_modes,
}
REMARKS = {"scsi_vpdb0", "scsi_vpdb2"}  # the tool explains zeros in brackets there


@pytest.mark.parametrize("fixture", fixtures.params("scsi_"))
def test_page(fixture: Fixture) -> None:
    (kind,) = (kind for kind in CHECKS if fixture.name.startswith(f"{kind}_"))
    check = CHECKS[kind]
    if check.__name__.startswith("check_"):
        check(fixture)  # type: ignore[arg-type]
        return
    read = bare if kind in REMARKS else tidy
    lines: Iterator[str] = check(fixture.data)  # type: ignore[arg-type,assignment]
    assert read("\n".join(lines)) == read(fixture.expected)


def mode_page(name: str, page: int) -> Any:
    data = fixtures.named(name).data
    (p,) = (p for p in scsi.decode_mode(data).pages if p.page == page)
    return scsi.decode_mode_page(data[p.offset : p.offset + p.length])


def set_bits(decoded: Any) -> dict[str, Any]:
    import dataclasses

    return {f.name: v for f in dataclasses.fields(decoded) if (v := getattr(decoded, f.name))}


def test_mode_pages() -> None:
    """The two pages that are decoded, by the bytes that sg_modes printed and SBC-4 6.5 and SPC-5."""
    assert set_bits(mode_page("scsi_modes_qemu", 0x08)) == {"wce": True}
    assert set_bits(mode_page("scsi_modes_scsi_debug", 0x08)) == {
        "disc": True,
        "wce": True,
        "disable_prefetch_transfer_length": 0xFFFF,
        "maximum_prefetch": 0xFFFF,
        "maximum_prefetch_ceiling": 0xFFFF,
        "fsw": True,
        "number_of_cache_segments": 0x14,
    }
    assert set_bits(mode_page("scsi_modes_scsi_debug", 0x0A)) == {
        "d_sense": True,
        "gltsd": True,
        "ato": True,
        "extended_self_test_completion_time": 0x024B,
    }
