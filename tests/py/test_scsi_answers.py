"""What decoders make of SCSI answers that are short, stale or contradictory (SPC-5, SBC-4)."""

from __future__ import annotations

from typing import Any

import pytest
from sated import scsi
from sated.errors import ParseError
from test_scsi_commands import LBA, h

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
