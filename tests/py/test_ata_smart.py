"""SMART data and logs: constructed answers, and cases from the field."""

from __future__ import annotations

import struct

import pytest
from sated import ata
from sated._ffi import ffi
from sated.errors import ParseError

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
