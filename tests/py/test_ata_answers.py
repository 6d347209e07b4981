"""What ATA registers, IDENTIFY DEVICE and hidden sectors say: constructed answers, and cases from the field."""

from __future__ import annotations

import struct

import pytest
from sated import ata
from sated.errors import ParseError
from test_ata_commands import dco_data

# ---- registers ------------------------------------------------------------------------------------------------------


def descriptor(*, status: int = 0x50, error: int = 0, count: int = 0, lba: int = 0, ext: int = 1) -> bytes:
    """Sense data with an ATA Status Return descriptor (SAT-4 table 148)."""
    b = [lba >> 8 * i & 0xFF for i in range(6)]
    return bytes(
        [
            *(0x72, 1, 0, 0x1D, 0, 0, 0, 14, 9, 12, ext, error, count >> 8, count & 0xFF),
            *(b[3], b[0], b[4], b[1], b[5], b[2], 0x40, status),
        ]
    )


NOTHING = bytes.fromhex("70 00 0b 00 00 00 00 0a 00 00 00 00 00 00 00 00 00 00")


def test_unknown_registers_are_no_success() -> None:
    for decoder in (ata.decode_power_mode, ata.decode_smart_status, ata.decode_native_max, ata.decode_sanitize_status):
        assert set(vars(decoder(NOTHING)).values()) == {None}
        busy = decoder(descriptor(status=0xD0, count=0x80FF, lba=0xC24F00))
        assert set(vars(busy).values()) == {None}, "while BSY is set no register holds (ACS-4 6.2)"


@pytest.mark.parametrize(("lba", "exceeded"), [(0xC24F00, 0), (0x2CF400, 1), (0xC24F01, 0), (0xC2F400, None)])
def test_smart_status(lba: int, exceeded: int | None) -> None:
    assert ata.decode_smart_status(descriptor(lba=lba, ext=0)).exceeded == exceeded


@pytest.mark.parametrize("count", [0x00, 0x01, 0x40, 0x41, 0x80, 0x81, 0x82, 0x83, 0xFF])
def test_power_mode(count: int) -> None:
    assert ata.decode_power_mode(descriptor(count=count, ext=0)).mode == ata.Power(count)


def test_power_mode_that_no_standard_has() -> None:
    assert ata.decode_power_mode(descriptor(count=0x7E, ext=0)).mode is None


def test_sanitize_status() -> None:
    """ACS-4 7.36.6: COUNT 15 completed, 14 in progress, 13 frozen, 12 antifreeze; LBA 15:0 the progress."""
    done = ata.decode_sanitize_status(descriptor(count=0x8000, lba=0xFFFF))
    assert (done.failed, done.completed, done.in_progress, done.progress) == (0, 1, 0, None)
    frozen = ata.decode_sanitize_status(descriptor(count=0x2000, lba=0xFFFF))
    assert (frozen.frozen, frozen.antifreeze) == (1, 0)
    assert ata.decode_sanitize_status(descriptor(count=0x1000)).antifreeze == 1


@pytest.mark.parametrize("reason", list(ata.SanitizeReason))
def test_sanitize_reason(reason: int) -> None:
    failed = ata.decode_sanitize_status(descriptor(status=0x51, error=4, count=0x8000, lba=reason))
    assert (failed.failed, failed.reason) == (1, reason)
    assert (failed.completed, failed.in_progress) == (None, None)


def test_native_max_needs_the_whole_address() -> None:
    """The fixed format keeps 24 bits of LBA and a flag for more (SAT-4 table 151): then the address is unknown."""
    cut = bytes.fromhex("f0 00 01 00 50 40 00 0a a0 af be c0 00 1d 00 00 00 00")
    assert ata.decode_registers(cut).lba_low == 0xC0BEAF
    assert ata.decode_native_max(cut).sectors is None
    whole = bytes.fromhex("f0 00 01 00 50 40 00 0a 80 af be c0 00 1d 00 00 00 00")
    assert ata.decode_native_max(whole).max_lba == 0xC0BEAF


# ---- IDENTIFY -------------------------------------------------------------------------------------------------------


def identify(words: dict[int, int], *, base: bool = True) -> bytes:
    """IDENTIFY data of a 48-bit drive of 7 814 037 160 sectors (ACS-4 table 48) with some words replaced."""
    w = [0] * 256
    if base:
        w[0], w[49], w[83], w[84], w[86], w[87] = 0x0040, 0x0200, 0x4400, 0x4000, 0x0400, 0x4000
        w[60], w[61] = 0xFFFF, 0x0FFF
        for i, part in enumerate(struct.unpack("<4H", struct.pack("<Q", 7_814_037_160))):
            w[100 + i] = part
    for word, value in words.items():
        w[word] = value
    return struct.pack("<256H", *w)


def test_locked_drive() -> None:
    """A drive locked by a password (Seagate/openSeaChest#48): hdparm says 196min, locked, high of these words."""
    words = {59: 0x5000, 82: 2, 85: 2, 89: 0x62, 90: 0x62, 92: 0xFFFE, 128: 0x27}
    drive = ata.decode_identify(identify(words))
    s = drive.security
    assert (s.supported, s.enabled, s.locked, s.frozen, s.count_expired) == (1, 1, 1, 0, 0)
    assert (s.level, s.enhanced_erase, s.master_revision) == (0, 1, 0xFFFE)
    assert (s.erase_minutes, s.erase_at_least, s.enhanced_minutes, s.enhanced_at_least) == (196, 0, 196, 0)
    z = drive.sanitize
    assert (z.supported, z.overwrite, z.crypto_scramble, z.block_erase) == (1, 1, 0, 0)
    assert ata.erase_timeout_ms(drive.words[90]) >= 392 * 60_000
    expired = ata.decode_identify(identify(words | {128: 0x37}))
    assert expired.security.count_expired == 1


@pytest.mark.parametrize(
    ("word", "minutes", "at_least"),
    [
        (0x00FF, 508, 1),
        (0xFFFF, 65532, 1),
        (0x0000, None, None),
        (0x8000, None, None),
        (0x8001, 2, 0),
        (0x80C8, 400, 0),
    ],
)
def test_erase_time_formats(word: int, minutes: int | None, at_least: int | None) -> None:
    s = ata.decode_identify(identify({82: 2, 89: word, 90: word, 128: 0x21})).security
    assert (s.erase_minutes, s.erase_at_least) == (minutes, at_least)
    assert (s.enhanced_minutes, s.enhanced_at_least) == (minutes, at_least)


def test_contradictions_are_unknown() -> None:
    s = ata.decode_identify(identify({82: 0, 85: 0, 128: 0x23})).security
    assert (s.supported, s.enabled) == (None, None), "word 128 and words 82, 85 say different things"
    z = ata.decode_identify(identify({59: 0xE000})).sanitize
    assert (z.supported, z.crypto_scramble, z.overwrite, z.block_erase) == (0, None, None, None)
    assert ata.decode_identify(identify({100: 0, 101: 0, 102: 0})).capacity.sectors is None, "48 bits say less than 28"
    assert ata.decode_identify(identify({106: 0x5000, 117: 0, 118: 0})).capacity.bytes is None


def test_sectors_of_4096_bytes() -> None:
    """Word 106 (ACS-4 7.13.7.58): 12 logical sectors are longer, 13 several in a physical one, 3:0 how many as 2^n."""
    native = ata.decode_identify(identify({106: 0x5000, 117: 2048})).capacity
    assert (native.logical_block_bytes, native.physical_block_bytes) == (4096, 4096)
    assert native.bytes == 7_814_037_160 * 4096
    emulated = ata.decode_identify(identify({106: 0x6003, 209: 0x4001})).capacity
    assert (emulated.logical_block_bytes, emulated.physical_block_bytes, emulated.offset_bytes) == (512, 4096, 512)


def test_extended_addresses() -> None:
    """Word 69 bit 3: the size stands in words 230-233, and words 100-103 are no longer it."""
    drive = ata.decode_identify(identify({69: 8, 230: 0, 231: 0, 232: 2}))
    assert drive.capacity.sectors == 2 << 32


def test_amac_needs_valid_words() -> None:
    valid = {83: 0x4400, 86: 0x8400, 119: 0x4100, 120: 0x4000}
    assert ata.decode_identify(identify(valid)).areas.amac_supported == 1
    assert ata.decode_identify(identify(valid | {119: 0x0100})).areas.amac_supported is None
    assert ata.decode_identify(identify(valid | {86: 0x0400})).areas.amac_supported == 0


def test_short_identify_is_unknown_beyond() -> None:
    whole = identify({128: 0x21, 82: 2})
    for length in (2, 100, 121, 256, 257, 511):
        part = ata.decode_identify(whole[:length])
        assert part.words is None
        assert part.checksum is None
        if length < 258:
            assert set(vars(part.security).values()) == {None}
    assert ata.decode_identify(whole[:100]).capacity.sectors is None


@pytest.mark.parametrize("data", [b"", b"\x40", bytes(512), b"\xff" * 512])
def test_no_identify_at_all(data: bytes) -> None:
    with pytest.raises(ParseError, match="IDENTIFY DEVICE data"):
        ata.decode_identify(data)


def test_checksum() -> None:
    data = bytearray(identify({255: 0x00A5}))
    assert ata.decode_identify(data).checksum == ata.Checksum.BAD
    data[511] = -sum(data) & 0xFF
    assert ata.decode_identify(data).checksum == ata.Checksum.OK
    assert ata.decode_identify(identify({})).checksum == ata.Checksum.ABSENT


# ---- hidden sectors -------------------------------------------------------------------------------------------------

NATIVE_8_MORE = bytes.fromhex("72 01 00 1d 00 00 00 0e 09 0c 01 00 00 00 d1 af 01 be 00 c0 40 50")
"""READ NATIVE MAX EXT; sg_decode_sense says lba=0x1d1c0beaf."""
DCO_SUPPORTED = {83: 0x4C00, 86: 0x0C00}


def test_eight_sectors_in_an_hpa() -> None:
    """martijnvanbrummelen/nwipe#542: the numbers differ although a text said "disabled"."""
    h = ata.hidden(identify({}), native=NATIVE_8_MORE)
    assert (h.accessible_sectors, h.native_sectors) == (7_814_037_160, 7_814_037_168)
    # One block of the 4096 bytes that the USB bridge shows, but sectors of 512 to the drive.
    assert (h.hpa_sectors, h.dco_sectors, h.hidden_sectors, h.hidden_bytes) == (8, 0, 8, 4096)


def test_eight_sectors_in_an_overlay() -> None:
    native = descriptor(lba=7_814_037_159)
    h = ata.hidden(identify(DCO_SUPPORTED), native=native, dco=dco_data(7_814_037_167))
    assert (h.hpa_sectors, h.dco_sectors, h.hidden_sectors, h.hidden_bytes) == (0, 8, 8, 4096)


@pytest.mark.parametrize("dco", [None, dco_data()[:-1] + b"\x00", bytes(512)])
def test_no_answer_of_the_overlay_is_not_zero(dco: bytes | None) -> None:
    h = ata.hidden(identify(DCO_SUPPORTED), native=descriptor(lba=7_814_037_159), dco=dco)
    assert (h.hpa_sectors, h.overlay_sectors, h.dco_sectors) == (0, None, None)
    assert (h.hidden_sectors, h.hidden_bytes, h.hidden_at_least_sectors) == (None, None, 0)


def test_no_registers_hide_what_they_hide() -> None:
    aborted = descriptor(status=0x51, error=4)
    for native in (None, NOTHING, aborted):
        h = ata.hidden(identify({}), native=native)
        assert (h.native_sectors, h.hpa_sectors, h.hidden_sectors) == (None, None, None)
    backwards = ata.hidden(identify({}), native=descriptor(lba=99))
    assert (backwards.native_sectors, backwards.hpa_sectors, backwards.hidden_sectors) == (100, None, None)
