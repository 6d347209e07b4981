"""What decoders make of NVMe answers that no recording shows.

Clauses are those of the NVM Express Base Specification 2.0c, of the NVM Command Set Specification 1.0c ("NVM") and of
the OCP Datacenter NVMe SSD Specification ("OCP"). Reports from the field are told in the docstrings.
"""

from __future__ import annotations

import dataclasses
import random
import struct
from collections.abc import Callable
from typing import Any

import pytest
import sated
from sated import nvme

# ---- cases from the field -------------------------------------------------------------------------------------------


def smart(**at: bytes) -> bytes:
    page = bytearray(512)
    page[4] = 10
    for place, content in at.items():
        page[int(place[1:]) : int(place[1:]) + len(content)] = content
    return bytes(page)


@pytest.mark.parametrize(
    ("composite", "kelvin", "celsius"), [("0000", None, None), ("0401", 260, -13), ("3901", 313, 40)]
)
def test_composite_temperature(composite: str, kelvin: int | None, celsius: int | None) -> None:
    """Drives that do not report one were shown at -273 degrees; below zero was shown as a huge number."""
    log = nvme.decode_smart_log(smart(b1=bytes.fromhex(composite)))
    assert log.temperature == kelvin
    assert nvme.celsius(log.temperature) == celsius


def test_temperatures_that_are_not_reported() -> None:
    assert nvme.decode_smart_log(smart()).sensors == ()
    ctrl = nvme.decode_id_ctrl(bytes(4096))
    assert (ctrl.wctemp, ctrl.cctemp, ctrl.mntmt, ctrl.mxtmt) == (None, None, None, None)
    assert nvme.decode_temperature_threshold(0xFFFF) is None
    assert nvme.decode_temperature_threshold(0) is None
    assert nvme.decode_temperature_threshold(0x157) == 343


def namespace(head: str, at_24: str, formats: str = "00 00 09 00 00 00 0c 00") -> bytes:
    page = bytearray(4096)
    for at, text in ((0, head), (24, at_24), (128, formats)):
        content = bytes.fromhex(text)
        page[at : at + len(content)] = content
    return bytes(page)


@pytest.mark.parametrize(
    ("head", "at_24", "block"),
    [
        ("b0 92 3e 7e 03 00 00 00 b0 92 3e 7e 03 00 00 00", "18 01 00", 512),
        ("56 d2 c7 6f 00 00 00 00 56 d2 c7 6f 00 00 00 00", "18 01 01", 4096),
    ],
)
def test_capacity_of_a_namespace(head: str, at_24: str, block: int) -> None:
    """7.68 TB either way; taken with the physical block or the wrong format it was 61.45 or 0.96 TB elsewhere."""
    ns = nvme.decode_id_ns(namespace(head, at_24))
    assert ns.capacity_bytes == 7_681_501_126_656
    assert ns.block_bytes == block
    assert [f.block_bytes for f in ns.lbaf] == [512, 4096]
    assert ns.used_bytes == 0
    assert ns.nvmcap is None
    told = bytearray(namespace(head, at_24))
    told[48:64] = (7_681_501_126_656 + 4096).to_bytes(16, "little")
    assert nvme.decode_id_ns(told).nvmcap == 7_681_501_130_752
    assert nvme.decode_id_ns(told).capacity_bytes == 7_681_501_126_656


@pytest.mark.parametrize(
    ("flbas", "index", "extended"),
    [(0x00, 0, False), (0x10, 0, True), (0x21, 17, False), (0x35, 21, True), (0x6F, 63, False)],
)
def test_format_in_use(flbas: int, index: int, extended: bool) -> None:
    """The index lies around the bit for extended LBAs (NVM 4.1.5.1), in FLBAS and in a new namespace's data."""
    assert nvme.decode_flbas(flbas, formats=64) == (index, extended)
    assert nvme.build_ns_data(nsze=1, lbaf=index, extended=extended)[26] == flbas
    page = bytearray(namespace("01", "00 3f"))
    page[26] = flbas
    page[128 + 4 * index + 2] = 12
    ns = nvme.decode_id_ns(page)
    assert (ns.format, bool(ns.extended), ns.block_bytes, ns.capacity_bytes) == (index, extended, 4096, 4096)
    command = nvme.build_format(nsid=1, lbaf=index)
    assert (command.cdw10 & 15, command.cdw10 >> 12 & 3) == (index & 15, index >> 4)


def test_format_in_use_is_not_listed() -> None:
    with pytest.raises(sated.ParseError, match="selects LBA format 17, but the namespace lists 17"):
        nvme.decode_flbas(0x21, formats=17)
    with pytest.raises(sated.ParseError, match="selects LBA format 2, but the namespace lists 2"):
        nvme.decode_id_ns(namespace("01", "00 01 02"))
    # Formats with attributes of their own are counted apart (NULBAF, byte 82).
    page = bytearray(namespace("01", "00 01 02", "00 00 09 00 00 00 0c 00 00 00 0d 00"))
    page[82] = 1
    assert nvme.decode_id_ns(page).block_bytes == 8192


def test_block_size_that_cannot_be() -> None:
    """LBADS below 9: the format is not available; 64 and more would not fit in any number."""
    for lbads in (0, 8, 64, 255):
        ns = nvme.decode_id_ns(namespace("01", "00 00 00", f"00 00 {lbads:02x} 00"))
        assert (ns.block_bytes, ns.capacity_bytes, ns.used_bytes) == (None, None, None)
    ns = nvme.decode_id_ns(namespace("ff" * 8, "00 00 00"))
    assert (ns.nsze, ns.capacity_bytes) == ((1 << 64) - 1, None)


def test_a_namespace_that_is_not_active() -> None:
    """Identify answers zeros for it (5.17.2): no size, not a size of zero."""
    ns = nvme.decode_id_ns(bytes(4096))
    assert (ns.capacity_bytes, ns.block_bytes, ns.eui64) == (None, None, None)


@pytest.mark.parametrize(
    ("units", "count", "said"),
    [(903_441_207, 462_561_897_984_000, "462.56 TB"), (1, 512_000, "at most 512 kB"), (0, None, "0 or not reported")],
)
def test_data_units(units: int, count: int | None, said: str) -> None:
    """1000 x 512 bytes, rounded up (5.16.1.3); tools multiplied by 500, by 512 x 1024, and printed TiB."""
    log = nvme.decode_smart_log(smart(b48=units.to_bytes(16, "little"), b32=b"\1"))
    assert nvme.data_units_bytes(log.data_units_written) == count
    assert nvme.data_units_text(log.data_units_written) == said
    assert bool(nvme.doubts(log)) == (units == 0)


@pytest.mark.parametrize(
    ("passes", "invert", "cdw10"), [(16, False, 0x00000003), (3, True, 0x00000133), (1, False, 0x00000013)]
)
def test_overwrite_passes(passes: int, invert: bool, cdw10: int) -> None:
    """16 passes are a field of 0 (5.24); shifted as they are they became the bit that inverts."""
    assert nvme.build_sanitize("overwrite", passes=passes, invert=invert).cdw10 == cdw10


def test_sanitize_status() -> None:
    """SSTAT 1Bh: three passes done, then failed; the other bits of SSTAT are told too."""
    log = nvme.decode_sanitize_log(bytes.fromhex("ffff 1b00") + bytes(508))
    assert (log.passes, log.state, log.progress) == (3, nvme.SanitizeState["FAILED"], None)
    log = nvme.decode_sanitize_log(bytes.fromhex("0080 0401") + bytes(508))
    assert (log.state, log.passes, log.global_data_erased) == (nvme.SanitizeState["OK_NO_DEALLOCATE"], 0, 1)
    log = nvme.decode_sanitize_log(bytes.fromhex("0080 1200") + bytes(508))
    assert (log.state, log.passes, log.progress) == (nvme.SanitizeState["RUNNING"], 2, 0x8000)
    assert nvme.decode_sanitize_log(b"\xff\xff").state is None


# ---- other answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "sct", "sc", "more", "dnr", "name"),
    [
        (0x0000, 0, 0x00, False, False, "Successful Completion"),
        (0x001D, 0, 0x1D, False, False, "Sanitize In Progress"),
        (0x401C, 0, 0x1C, False, True, "Sanitize Failed"),
        (0x6002, 0, 0x02, True, True, "Invalid Field in Command"),
        (0x0083, 0, 0x83, False, False, "Reservation Conflict"),
        (0x4109, 1, 0x09, False, True, "Invalid Log Page"),
        (0x010A, 1, 0x0A, False, False, "Invalid Format"),
        (0x0115, 1, 0x15, False, False, "Namespace Insufficient Capacity"),
        (0x4281, 2, 0x81, False, True, "Unrecovered Read Error"),
        (0x0287, 2, 0x87, False, False, "Deallocated or Unwritten Logical Block"),
        (0x0302, 3, 0x02, False, False, "Asymmetric Access Inaccessible"),
        (0x0371, 3, 0x71, False, False, "Command Aborted By Host"),
        (0x0017, 0, 0x17, False, False, "unknown status code"),
        (0x02C5, 2, 0xC5, False, False, "vendor specific status code"),
        (0x0700, 7, 0x00, False, False, "vendor specific status code"),
    ],
)
def test_status(status: int, sct: int, sc: int, more: bool, dnr: bool, name: str) -> None:
    """3.3.3.2.1: SC 7:0, SCT 10:8, CRD 12:11, M 13, DNR 14, above the phase bit; libnvme has these names."""
    told = nvme.decode_status(status)
    assert (told.sct, told.sc, told.crd, told.more, told.dnr, told.name) == (sct, sc, 0, more, dnr, name)
    assert nvme.decode_status(status | 3 << 11).crd == 3


def test_status_types() -> None:
    types = [nvme.decode_status(sct << 8).type for sct in range(8)]
    assert types[:4] == [
        "Generic Command Status",
        "Command Specific Status",
        "Media and Data Integrity Errors",
        "Path Related Status",
    ]
    assert types[4:] == ["unknown status code type"] * 3 + ["Vendor Specific"]
    for bad in (0x8000, 1 << 33, -1):
        with pytest.raises(sated.ParseError, match="from 0 to 32767"):
            nvme.decode_status(bad)


def test_junk_in_the_smart_log() -> None:
    log = nvme.decode_smart_log(smart(b3=b"\xff\xff\xff", b1=b"\xff\xff", b32=b"\1", b48=b"\1", b202=b"\x40\x01"))
    assert (log.avail_spare, log.spare_thresh, log.percent_used, log.temperature) == (None, None, 255, None)
    assert [(s.sensor, s.kelvin) for s in log.sensors] == [(2, 320)]
    doubt = nvme.Doubt
    names = ("SPARE", "SPARE_THRESHOLD", "USED_SATURATED", "TEMPERATURE")
    assert log.doubts == sum(doubt[name] for name in names)
    assert len(nvme.doubts(log)) == 4
    log = nvme.decode_smart_log(smart(b3=b"\x64\x64\xfe", b32=b"\1", b48=b"\1"))
    assert (log.avail_spare, log.spare_thresh, log.percent_used, log.doubts) == (100, 100, 254, 0)


def test_critical_warnings() -> None:
    """5.16.1.3: bits 0 to 5."""
    log = nvme.decode_smart_log(smart(b0=b"\x3f"))
    assert nvme.CriticalWarning(log.critical_warning) == sum(nvme.CriticalWarning) == 0x3F
    assert nvme.CriticalWarning["READ_ONLY"] == 8 and nvme.CriticalWarning["PMR"] == 32


def test_self_test_log() -> None:
    """5.16.1.7: 4 bytes, then twenty results of 28 bytes; what "valid diagnostic information" does not name is None."""
    passed = struct.pack("<BBBBQIQBBH", 0x10, 0, 0, 0, 1234, 0, 0, 0, 0, 0)
    failed = struct.pack("<BBBBQIQBBH", 0x27, 3, 0x0F, 0, 99, 1, 0x1122334455, 2, 0x81, 0)
    unused = b"\x0f" + bytes(27)
    page = b"\x01\x2a\0\0" + failed + passed + unused * 18
    assert len(page) == 564
    log = nvme.decode_self_test_log(page)
    assert (log.operation, log.completion, log.truncated, len(log.results)) == (1, 42, 0, 2)
    first, second = log.results
    assert (first.code, first.result, first.segment, first.poh) == (2, 7, 3, 99)
    assert (first.nsid, first.flba, first.sct, first.sc) == (1, 0x1122334455, 2, 0x81)
    assert (second.code, second.result, second.segment, second.poh) == (1, 0, None, 1234)
    assert (second.nsid, second.flba, second.sct, second.sc) == (None, None, None, None)
    idle = nvme.decode_self_test_log(bytes(564))
    assert (idle.operation, idle.completion, idle.results) == (0, None, ())
    cut = nvme.decode_self_test_log(page[:40])
    assert (len(cut.results), cut.truncated) == (1, 1)


def test_telemetry_header() -> None:
    """5.16.1.8: last blocks of areas 1 to 3 at 8, 10, 12, of area 4 at 16; generation numbers at 381 and 383."""
    page = bytearray(512)
    page[0], page[5:8] = 7, bytes.fromhex("382500")
    struct.pack_into("<HHHxxI", page, 8, 1, 20, 300, 70000)
    page[381:384] = bytes((9, 1, 4))
    page[384:390] = b"reason"
    head = nvme.decode_telemetry_header(page)
    assert (head.lid, head.ieee) == (7, 0x002538)
    assert (head.area1_last, head.area2_last, head.area3_last, head.area4_last) == (1, 20, 300, 70000)
    assert (head.host_generation, head.ctrl_available, head.ctrl_generation) == (9, 1, 4)
    assert head.reason == b"reason" + bytes(122)
    page[0] = 8
    assert nvme.decode_telemetry_header(page).host_generation is None
    with pytest.raises(sated.ParseError, match="byte 0 is 02h"):
        nvme.decode_telemetry_header(b"\x02" + bytes(511))


def test_persistent_event_header() -> None:
    """5.16.1.14: the offsets of the header's 512 bytes."""
    page = bytearray(512)
    page[0], page[16] = 0x0D, 2
    struct.pack_into("<IQ", page, 4, 77, 1 << 33)
    struct.pack_into("<HQ", page, 18, 460, 1_700_000_000_000)
    page[28:44] = ((1 << 64) + 5).to_bytes(16, "little")
    struct.pack_into("<QHH", page, 44, 321, 0x144D, 0x144E)
    page[56:76], page[76:116] = b"SERIAL".ljust(20), b"MODEL".ljust(40)
    page[116:120] = b"nqn."
    struct.pack_into("<HI", page, 372, 6, 0x10001)
    page[480] = 0x7E
    head = nvme.decode_persistent_event_header(page)
    assert (head.tnev, head.tll, head.revision, head.lhl) == (77, 1 << 33, 2, 460)
    assert (head.timestamp, head.poh, head.pcc) == (1_700_000_000_000, (1 << 64) + 5, 321)
    assert (head.vid, head.ssvid, head.sn, head.mn, head.subnqn) == (0x144D, 0x144E, "SERIAL", "MODEL", "nqn.")
    assert (head.generation, head.rci, head.supported) == (6, 0x10001, b"\x7e" + bytes(31))
    with pytest.raises(sated.ParseError, match="0Dh"):
        nvme.decode_persistent_event_header(bytes(512))


def test_ns_list() -> None:
    """4.4.2: increasing identifiers up to the first zero."""
    assert nvme.decode_ns_list(bytes(4096)).nsid == ()
    full = nvme.decode_ns_list(struct.pack("<1024I", *range(1, 1025)))
    assert (len(full.nsid), full.nsid[-1], full.truncated) == (1024, 1024, 0)
    cut = nvme.decode_ns_list(struct.pack("<2I", 1, 9))
    assert (cut.nsid, cut.truncated) == ((1, 9), 1)
    with pytest.raises(sated.ParseError, match="entry 1 is 2h after 5h"):
        nvme.decode_ns_list(struct.pack("<1024I", 5, 2, *[0] * 1022))
    # The log of changed namespaces says so where there are more than 1024 (5.16.1.5).
    changed = nvme.decode_ns_list(b"\xff\xff\xff\xff" + bytes(4092))
    assert (changed.nsid, changed.truncated) == ((), 1)


def test_ctrl_list_that_lies() -> None:
    cut = nvme.decode_ctrl_list(struct.pack("<HHH", 3, 1, 2))
    assert (cut.cntlid, cut.truncated) == ((1, 2), 1)
    with pytest.raises(sated.ParseError, match="say 2048"):
        nvme.decode_ctrl_list(struct.pack("<H", 2048) + bytes(4094))


def test_ns_descs_that_lie() -> None:
    """5.17.2.3: each type has its length; the list ends with a length of 0."""
    nguid = bytes(range(16))
    descs = nvme.decode_ns_descs(b"\x02\x10\0\0" + nguid + b"\x09\x02\0\0ab" + b"\x04\x01\0\0\x02" + bytes(64))
    assert (descs.nguid, descs.csi, descs.uuid, descs.truncated) == (nguid, 2, None, 0)
    with pytest.raises(sated.ParseError, match="type 1 at byte 0 has length 16, expected 8"):
        nvme.decode_ns_descs(b"\x01\x10\0\0" + bytes(60))
    cut = nvme.decode_ns_descs(b"\x02\x10\0\0" + nguid[:9])
    assert (cut.nguid, cut.truncated) == (None, 1)


def test_ocp_smart_log() -> None:
    """OCP, log C0h; the offsets as in nvme-cli's struct ocp_smart_extended_log."""
    page = bytearray(512)
    page[0:16] = ((1 << 64) + 7).to_bytes(16, "little")
    page[16:32] = (9).to_bytes(16, "little")
    page[32:40] = (0x112233445566).to_bytes(6, "little") + (100).to_bytes(2, "little")
    page[40:48] = (5).to_bytes(6, "little") + (99).to_bytes(2, "little")
    struct.pack_into("<QQQIIB", page, 48, 1, 2, 3, 4, 5, 6)
    page[81:88] = (0xAABBCCDDEEFF11).to_bytes(7, "little")
    struct.pack_into("<IIBB", page, 88, 1000, 900, 2, 1)
    page[98:104] = bytes((1, 2, 0, 3, 0, 2))
    struct.pack_into("<QI", page, 104, 11, 12)
    page[120] = 55
    struct.pack_into("<H", page, 128, 101)
    struct.pack_into("<QQQ", page, 136, 13, 14, 15)
    page[160:176], page[176:192] = (16).to_bytes(16, "little"), (17).to_bytes(16, "little")
    struct.pack_into("<QQ", page, 192, 18, 19)
    struct.pack_into("<H", page, 494, 3)
    page[496:512] = 0xAFD514C97C6F4F9CA4F2BFEA2810AFC5.to_bytes(16, "little")
    log = nvme.decode_ocp_smart_log(page)
    assert (log.physical_media_units_written, log.physical_media_units_read) == ((1 << 64) + 7, 9)
    assert (log.bad_user_nand_blocks_raw, log.bad_user_nand_blocks_normalized) == (0x112233445566, 100)
    assert (log.bad_system_nand_blocks_raw, log.bad_system_nand_blocks_normalized) == (5, 99)
    assert (log.xor_recovery_count, log.uncorrectable_read_error_count, log.soft_ecc_error_count) == (1, 2, 3)
    assert (log.end_to_end_detected_errors, log.end_to_end_corrected_errors) == (4, 5)
    assert (log.system_data_percent_used, log.refresh_counts) == (6, 0xAABBCCDDEEFF11)
    assert (log.max_user_data_erase_count, log.min_user_data_erase_count) == (1000, 900)
    assert (log.thermal_throttling_events, log.thermal_throttling_status) == (2, 1)
    assert (log.dssd_major_version, log.dssd_minor_version) == (2, 3)
    assert (log.dssd_point_version, log.dssd_errata_version) == (2, 1)
    assert (log.pcie_correctable_error_count, log.incomplete_shutdowns) == (11, 12)
    assert (log.percent_free_blocks, log.capacitor_health) == (55, 101)
    assert (log.unaligned_io, log.security_version_number, log.total_nuse) == (13, 14, 15)
    assert (log.plp_start_count, log.endurance_estimate) == (16, 17)
    assert (log.pcie_link_retraining_count, log.power_state_change_count, log.log_page_version) == (18, 19, 3)
    page[494] = 1
    assert nvme.decode_ocp_smart_log(page).power_state_change_count is None
    page[500] ^= 1
    with pytest.raises(sated.ParseError, match="vendor's own page"):
        nvme.decode_ocp_smart_log(page)


def test_power_states() -> None:
    """5.17.2.1: scales of 0.01 W and 0.0001 W; idle and active power say whether they are reported."""
    page = bytearray(4096)
    page[263] = 1
    struct.pack_into("<HxBIIBBBBHBxHB", page, 2048, 900, 0, 0, 0, 0, 0, 0, 0, 15, 0x80, 800, 0x82)
    struct.pack_into("<HxBIIBBBBHBxHB", page, 2080, 50, 3, 5000, 9000, 1, 2, 3, 4, 20, 0x40, 0, 0)
    first, second = nvme.decode_id_ctrl(page).psd
    assert (first.mp_uw, first.idlp_uw, first.actp_uw, first.apw, first.nops) == (9_000_000, 150_000, 8_000_000, 2, 0)
    assert (first.enlat_us, first.exlat_us) == (None, None)
    assert (second.mp_uw, second.idlp_uw, second.actp_uw, second.apw, second.nops) == (5000, 2000, None, None, 1)
    assert (second.enlat_us, second.exlat_us, second.rrt, second.rrl, second.rwt, second.rwl) == (
        5000,
        9000,
        1,
        2,
        3,
        4,
    )


def test_bits_have_names() -> None:
    assert nvme.Oacs(0x17) == sum(nvme.Oacs[name] for name in ("SECURITY", "FORMAT", "FIRMWARE", "SELF_TEST"))
    assert nvme.Sanicap["NDI"] == 1 << 29 and nvme.Oncs["DSM"] == 4 and nvme.Fna["CRYPTO"] == 4
    assert nvme.Vwc["PRESENT"] == 1 and nvme.Lpa["EXTENDED"] == 4 and nvme.Oaes["NS_CHANGE"] == 1 << 8


@pytest.mark.parametrize(
    ("decode", "least"),
    [
        (nvme.decode_id_ctrl, 1),
        (nvme.decode_id_ns, 1),
        (nvme.decode_ns_list, 4),
        (nvme.decode_ctrl_list, 2),
        (nvme.decode_ns_descs, 1),
        (nvme.decode_error_log, 64),
        (nvme.decode_smart_log, 1),
        (nvme.decode_firmware_log, 1),
        (nvme.decode_effects_log, 1024),
        (nvme.decode_self_test_log, 4),
        (nvme.decode_telemetry_header, 1),
        (nvme.decode_endurance_group_log, 1),
        (nvme.decode_persistent_event_header, 1),
        (nvme.decode_sanitize_log, 1),
        (nvme.decode_ocp_smart_log, 512),
    ],
)
def test_too_short_to_say_anything(decode: Callable[[bytes], Any], least: int) -> None:
    with pytest.raises(sated.ParseError, match=f"{least - 1} bytes came, expected {least} at least"):
        decode(bytes(least - 1))


def test_what_lies_past_the_end_is_not_known() -> None:
    whole = smart(b0=b"\4\x39\1\x64", b32=b"\7", b48=b"\7")
    log = nvme.decode_smart_log(whole[:48])
    assert (log.temperature, log.data_units_read, log.data_units_written) == (313, 7, None)
    assert (log.power_cycles, log.sensors, log.thm_temp2_total_time) == (None, None, None)
    assert nvme.decode_smart_log(whole[:47]).data_units_read is None


DECODERS: list[tuple[Callable[[bytes], Any], int, bytes]] = [
    (nvme.decode_id_ctrl, 4096, b""),
    (nvme.decode_smart_log, 512, b""),
    (nvme.decode_firmware_log, 512, b""),
    (nvme.decode_effects_log, 4096, b""),
    (nvme.decode_telemetry_header, 512, b"\x07"),
    (nvme.decode_endurance_group_log, 512, b""),
    (nvme.decode_persistent_event_header, 512, b"\x0d"),
    (nvme.decode_sanitize_log, 512, b""),
    (nvme.decode_error_log, 1024, b""),
    (nvme.decode_self_test_log, 564, b""),
]


@pytest.mark.parametrize(("decode", "size", "head"), DECODERS)
def test_a_cut_answer_says_nothing_else(decode: Callable[[bytes], Any], size: int, head: bytes) -> None:
    """What a cut answer tells is what the whole one tells: a list is shorter, a member is None, and nothing differs."""
    rng = random.Random(7)
    for _ in range(10):
        page = head + rng.randbytes(size - len(head))
        whole = decode(page)
        for cut in (rng.randrange(1, size) for _ in range(20)):
            try:
                part = decode(page[:cut])
            except sated.ParseError as error:
                assert "bytes came" in str(error)
                continue
            for field in dataclasses.fields(part):
                ours, theirs = getattr(part, field.name), getattr(whole, field.name)
                if field.name == "doubts":
                    assert ours & ~theirs == 0
                elif field.name == "truncated":
                    assert ours >= theirs
                elif isinstance(ours, tuple):
                    assert ours == theirs[: len(ours)], field.name
                else:
                    assert ours is None or ours == theirs, field.name


# ---- layouts --------------------------------------------------------------------------------------------------------

# Members in the order of their bytes with their sizes, "-" for what is reserved or not decoded: 5.17.2.1, NVM 4.1.5.1,
# 5.16.1.2, 5.16.1.3 and 5.16.1.10. The offsets follow from them, so that they are not those of the decoders.
LAYOUTS: dict[Callable[[bytes], Any], tuple[int, str]] = {
    nvme.decode_id_ctrl: (
        4096,
        "vid:2 ssvid:2 -:20 -:40 -:8 rab:1 ieee:3 cmic:1 mdts:1 cntlid:2 ver:4 rtd3r:4 rtd3e:4 oaes:4 ctratt:4 "
        "rrls:2 -:9 cntrltype:1 -:16 crdt1:2 crdt2:2 crdt3:2 -:119 nvmsr:1 vwci:1 mec:1 oacs:2 acl:1 aerl:1 "
        "frmw:1 lpa:1 elpe:1 npss:1 avscc:1 apsta:1 wctemp:2 cctemp:2 mtfa:2 hmpre:4 hmmin:4 tnvmcap:16 "
        "unvmcap:16 rpmbs:4 edstt:2 dsto:1 fwug:1 kas:2 hctma:2 mntmt:2 mxtmt:2 sanicap:4 hmminds:4 hmmaxd:2 "
        "nsetidmax:2 endgidmax:2 anatt:1 anacap:1 anagrpmax:4 nanagrpid:4 pels:4 domainid:2 -:10 megcap:16 -:128 "
        "sqes:1 cqes:1 maxcmd:2 nn:4 oncs:2 fuses:2 fna:1 vwc:1 awun:2 awupf:2 icsvscc:1 nwpc:1 acwu:2 ocfs:2 "
        "sgls:4 mnan:4 maxdna:16 maxcna:4 -:204 -:256 -:768 ioccsz:4 iorcsz:4 icdoff:2 fcatt:1 msdbd:1 ofcs:2",
    ),
    nvme.decode_id_ns: (
        4096,
        "nsze:8 ncap:8 nuse:8 nsfeat:1 nlbaf:1 flbas:1 mc:1 dpc:1 dps:1 nmic:1 rescap:1 fpi:1 dlfeat:1 nawun:2 "
        "nawupf:2 nacwu:2 nabsn:2 nabo:2 nabspf:2 noiob:2 nvmcap:16 npwg:2 npwa:2 npdg:2 npda:2 nows:2 mssrl:2 "
        "mcl:4 msrc:1 -:1 nulbaf:1 -:9 anagrpid:4 -:3 nsattr:1 nvmsetid:2 endgid:2",
    ),
    nvme.decode_smart_log: (
        512,
        "critical_warning:1 temperature:2 avail_spare:1 spare_thresh:1 percent_used:1 endu_grp_crit_warn_sumry:1 "
        "-:25 data_units_read:16 data_units_written:16 host_reads:16 host_writes:16 ctrl_busy_time:16 "
        "power_cycles:16 power_on_hours:16 unsafe_shutdowns:16 media_errors:16 num_err_log_entries:16 "
        "warning_temp_time:4 critical_comp_time:4 -:16 thm_temp1_trans_count:4 thm_temp2_trans_count:4 "
        "thm_temp1_total_time:4 thm_temp2_total_time:4",
    ),
    nvme.decode_endurance_group_log: (
        512,
        "critical_warning:1 features:1 -:1 avl_spare:1 avl_spare_threshold:1 percent_used:1 domainid:2 -:24 "
        "endurance_estimate:16 data_units_read:16 data_units_written:16 media_units_written:16 host_read_cmds:16 "
        "host_write_cmds:16 media_data_integrity_err:16 num_err_info_log_entries:16 tegcap:16 uegcap:16",
    ),
    lambda page: nvme.decode_error_log(page).entries[0]: (
        64,
        "error_count:8 sqid:2 cmdid:2 -:2 parm_err_loc:2 lba:8 nsid:4 vs:1 trtype:1 -:2 cs:8 trtype_spec_info:2",
    ),
    nvme.decode_sanitize_log: (
        512,
        "sprog:2 sstat:2 scdw10:4 eto:4 etbe:4 etce:4 etond:4 etbend:4 etcend:4",
    ),
}


@pytest.mark.parametrize(("decode", "size", "layout"), [(d, size, text) for d, (size, text) in LAYOUTS.items()])
def test_layout(decode: Callable[[bytes], Any], size: int, layout: str) -> None:
    """Every byte of the page is another one's neighbour and none is 0: a member read at a wrong place shows."""
    page = bytearray(1 + at % 97 for at in range(size))
    page[26:27] = b"\x05" if decode is nvme.decode_id_ns else page[26:27]
    answer, at, compared = decode(bytes(page)), 0, 0
    for word in layout.split():
        name, _, length = word.partition(":")
        if name != "-":
            assert getattr(answer, name) == int.from_bytes(page[at : at + int(length)], "little"), name
            compared += 1
        at += int(length)
    assert compared > 8 and at <= size


def test_texts_and_identifiers() -> None:
    """Blank-padded texts are stripped; what is not printable cannot reach a terminal; empty ones are not known."""
    page = bytearray(4096)
    page[4:24], page[24:64], page[64:72] = b"  S1\x1b[31m".ljust(20), b" " * 40, b"1.0\0\0\0\0\0"
    page[112:128] = bytes(range(16))
    page[768:780] = b"nqn.2014-08."
    ctrl = nvme.decode_id_ctrl(page)
    assert (ctrl.sn, ctrl.mn, ctrl.fr) == ("S1?[31m", None, "1.0")
    assert (ctrl.fguid, ctrl.subnqn) == (bytes(range(16)), "nqn.2014-08.")
    ns = bytearray(4096)
    ns[104:120], ns[120:128] = bytes(range(16)), bytes(range(16, 24))
    assert (nvme.decode_id_ns(ns).nguid, nvme.decode_id_ns(ns).eui64) == (bytes(range(16)), bytes(range(16, 24)))
