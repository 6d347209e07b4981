"""Recorded ATA answers against what hdparm 9.65 (-I) and smartctl 7.3 printed of them, field by field.

Every line of hdparm must be known to the table below, and every attribute of smartctl is compared: a line that nothing
compares fails. smartctl's word-by-word listing is the second judge of single bits. Where a reference tool is wrong, the
table says why.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sated import ata

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "corpus"

OWN_IDENTIFY = ("ata_identify_qemu_ide_ssd",)
PUBLIC_IDENTIFY = (
    "ata_identify_derived_exttime_amac_sanitize",
    "ata_identify_fujitsu_mhy2250",
    "ata_identify_intel320_120g",
    "ata_identify_kingston_a400_240g",
    "ata_identify_samsung_860evo_500g",
    "ata_identify_samsung_870qvo_4tb",
    "ata_identify_samsung_mccoe64",
    "ata_identify_samsung_mmcre28",
    "ata_identify_toshiba_thnsnh128",
    "ata_identify_wd20ears_hdd",
    "ata_identify_wd2500js_clipped",
)
SMART = ("intel320_120g", "kingston_a400_240g", "samsung_870qvo_4tb", "samsung_mmcre28", "toshiba_thnsnh128")


def public() -> Path:
    """The folder of recordings that others published: named by SATED_FIXTURES, else beside the checkout or above it."""
    named = os.environ.get("SATED_FIXTURES")
    if named:
        return Path(named)
    above = [folder / "shared" / "fixtures" / "public" for folder in ROOT.parents]
    return next((folder for folder in above if folder.is_dir()), above[0])


def folder_of(name: str) -> Path:
    for folder in (CORPUS, public()):
        if (folder / f"{name}.hex").is_file():
            return folder
    pytest.skip(f"{name} is among the public recordings, which are not here: set SATED_FIXTURES to their folder")


def content(name: str) -> bytes:
    text = (folder_of(name) / f"{name}.hex").read_text()
    return bytes.fromhex(" ".join(line for line in text.splitlines() if not line.startswith("#")))


def section(name: str, tool: str) -> list[str]:
    """The lines that `tool` printed."""
    parts = re.split(r"^## (.*)$", (folder_of(name) / f"{name}.expected.txt").read_text(), flags=re.MULTILINE)
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title.startswith(tool):
            return [line for line in body.splitlines() if line.strip()]
    raise AssertionError(f"{name}: no output of {tool}")


# ---- hdparm -I ------------------------------------------------------------------------------------------------------

FEATURES: dict[str, tuple[int, int]] = {
    "SMART feature set": (82, 0),
    "Security Mode feature set": (82, 1),
    "Power Management feature set": (82, 3),
    "Write cache": (82, 5),
    "Look-ahead": (82, 6),
    "Host Protected Area feature set": (82, 10),
    "WRITE_BUFFER command": (82, 12),
    "READ_BUFFER command": (82, 13),
    "NOP cmd": (82, 14),
    "DOWNLOAD_MICROCODE": (83, 0),
    "Advanced Power Management feature set": (83, 3),
    "Power-Up In Standby feature set": (83, 5),
    "SET_FEATURES required to spinup after power up": (83, 6),
    "SET_MAX security extension": (83, 8),
    "Automatic Acoustic Management feature set": (83, 9),
    "48-bit Address feature set": (83, 10),
    "Device Configuration Overlay feature set": (83, 11),
    "Mandatory FLUSH_CACHE": (83, 12),
    "FLUSH_CACHE_EXT": (83, 13),
    "SMART error logging": (84, 0),
    "SMART self-test": (84, 1),
    "General Purpose Logging feature set": (84, 5),
    "WRITE_{DMA|MULTIPLE}_FUA_EXT": (84, 6),
    "64-bit World wide name": (84, 8),
    "IDLE_IMMEDIATE with UNLOAD": (84, 13),
    "Disable Data Transfer After Error Detection": (119, 0),
    "Write-Read-Verify feature set": (119, 1),
    "WRITE_UNCORRECTABLE_EXT command": (119, 2),
    "{READ,WRITE}_DMA_EXT_GPL commands": (119, 3),
    "Segmented DOWNLOAD_MICROCODE": (119, 4),
    # hdparm 9.65 has no name for it; ACS-3: the ACCESSIBLE MAX ADDRESS CONFIGURATION feature set.
    "unknown 119[8]": (119, 8),
    "Gen1 signaling speed (1.5Gb/s)": (76, 1),
    "Gen2 signaling speed (3.0Gb/s)": (76, 2),
    "Gen3 signaling speed (6.0Gb/s)": (76, 3),
    "Native Command Queueing (NCQ)": (76, 8),
    "Host-initiated interface power management": (76, 9),
    "Phy event counters": (76, 10),
    "Idle-Unload when NCQ is active": (76, 11),
    "NCQ priority information": (76, 12),
    "Host automatic Partial to Slumber transitions": (76, 13),
    "Device automatic Partial to Slumber transitions": (76, 14),
    "READ_LOG_DMA_EXT equivalent to READ_LOG_EXT": (76, 15),
    "DMA Setup Auto-Activate optimization": (78, 2),
    "Device-initiated interface power management": (78, 3),
    # hdparm takes the bit for what it is in IDENTIFY PACKET DEVICE data; a disk means hardware feature control by it.
    "Asynchronous notification (eg. media change)": (78, 5),
    "Software settings preservation": (78, 6),
    "Device Sleep (DEVSLP)": (78, 8),
    # hdparm 9.65 has no name for it; ACS-5: DIPM SSP PRESERVATION SUPPORTED.
    "unknown 78[10]": (78, 10),
    "SMART Command Transport (SCT) feature set": (206, 0),
    "SCT Read/Write Long (AC1), obsolete": (206, 1),
    "SCT Write Same (AC2)": (206, 2),
    "SCT Error Recovery Control (AC3)": (206, 3),
    "SCT Features Control (AC4)": (206, 4),
    "SCT Data Tables (AC5)": (206, 5),
    "SANITIZE_ANTIFREEZE_LOCK_EXT command": (59, 10),
    "SANITIZE feature set": (59, 12),
    "CRYPTO_SCRAMBLE_EXT command": (59, 13),
    "OVERWRITE_EXT command": (59, 14),
    "BLOCK_ERASE_EXT command": (59, 15),
    "Device encrypts all user data": (69, 4),
    "IEEE 1667 authentication of transient storage devices": (69, 7),
    "DOWNLOAD MICROCODE DMA command": (69, 8),
    "SET MAX SETPASSWORD/UNLOCK DMA commands": (69, 9),
    "WRITE BUFFER DMA command": (69, 10),
    "READ BUFFER DMA command": (69, 11),
    "DEVICE CONFIGURATION SET/IDENTIFY DMA commands": (69, 12),
}
# Bits of word 206 that the standard leaves to the maker; hdparm lists them as unknown, we do not list them.
VENDOR_SPECIFIC = re.compile(r"unknown 206\[1[2-5]\] \(vendor specific\)")
# Features that hdparm prints elsewhere or not at all; smartctl's listing is compared for them instead.
NOT_IN_HDPARM = {(48, 0), (69, 14), (69, 5), (169, 0), (77, 4), (77, 5), (77, 6), (77, 7)}
# hdparm takes a bit of the word after it for each switch. These have none: word 120 bit 8 is reserved, and word
# 79 bit 10 belongs to the power disable feature (ACS-4).
NO_SWITCH = {(119, 8), (78, 10)}

FORM_FACTOR = {"5.25 inch": 1, "3.5 inch": 2, "2.5 inch": 3, "1.8 inch": 4}
# hdparm's names of what word 222 lists. It knows none after SATA 3.0, so only the lower bits can be compared.
TRANSPORTS = [
    "ATA8-AST",
    "SATA 1.0a",
    "SATA II Extensions",
    "SATA Rev 2.5",
    "SATA Rev 2.6",
    "SATA Rev 3.0",
]
BUFFER_TYPES = {"DualPortCache": 3}


def mask(text: str, prefix: str) -> tuple[int, int | None]:
    """`mdma0 *mdma1` as the mask of modes and the one that is selected."""
    modes, selected = 0, None
    for star, number in re.findall(rf"(\*?){prefix}(\d)", text):
        modes |= 1 << int(number)
        if star:
            selected = int(number)
    return modes, selected


class Hdparm:
    """Compares what hdparm printed with an AtaIdentify, line by line."""

    def __init__(self, identify: Any, tool_lines: list[str]) -> None:
        self.i = identify
        self.seen_features: set[tuple[int, int]] = set()
        self.security: dict[str, int] = {}
        self.compared = 0
        self.previous = ""
        for line in tool_lines:
            self.line(line)

    def same(self, ours: Any, theirs: Any, line: str) -> None:
        assert ours == theirs, f"{line.strip()!r}: we say {ours!r}"
        self.compared += 1

    def line(self, line: str) -> None:
        for pattern, method in TABLE:
            found = re.fullmatch(pattern, line.strip())
            if found:
                method(self, line, *found.groups())
                self.previous = line.strip()
                return
        raise AssertionError(f"not a line that this test knows: {line!r}")

    def heading(self, line: str, *_: str) -> None:
        pass

    def kind(self, line: str, what: str) -> None:
        self.same((self.i.atapi, self.i.removable), (0, int(what == "removable")), line)

    def name(self, line: str, what: str, value: str) -> None:
        member = {"Model Number": "model", "Serial Number": "serial", "Firmware Revision": "firmware"}[what]
        self.same(getattr(self.i, member), value.strip(), line)

    def transport(self, line: str, names: str, revision: str | None) -> None:
        self.same(self.i.link.type, 1, line)
        bits = sum(1 << TRANSPORTS.index(name) for name in names.split(", "))
        self.same(self.i.link.versions & 0x3F, bits, line)
        # Word 223; hdparm has a text for 0021h, which is this one.
        self.same(self.i.link.minor_version, 0x21 if revision else None, line)

    def used(self, line: str, what: str) -> None:
        unknown = re.fullmatch(r"unknown \(minor revision code 0x([0-9a-f]+)\)", what)
        if unknown:  # newer than hdparm's table: it tells the code, we tell the name that smartctl has for it
            self.same(self.i.minor_version, int(unknown.group(1), 16), line)
            return
        # The same revision in two spellings: compare the standard and its number.
        theirs = set(re.findall(r"ATAPI-\d|1532D|340-2000|revision \w+", what.replace("ATA-8-ACS", "ATA8-ACS")))
        assert theirs
        for part in theirs:
            assert part in self.i.version, (line, self.i.version)
        self.compared += 1

    def supported(self, line: str, versions: str) -> None:
        # hdparm prints down to ATA-4 or -5; "& some of 6" is its guess from features.
        printed = [int(v) for v in versions.split("&")[0].split()]
        ours = [v for v in range(15, 3, -1) if (self.i.major_versions or 0) >> v & 1]
        self.same([v for v in ours if v >= min(printed)], printed, line)

    def likely(self, line: str, version: str) -> None:
        # A guess of hdparm's from features, as for a drive of ATA-7 that has SCT; the drive itself claims the newest.
        newest = max(v for v in range(16) if self.i.major_versions >> v & 1)
        assert newest <= int(version), line
        self.compared += 1

    def chs(self, line: str, what: str, most: str, now: str) -> None:
        member = what.replace("sectors/track", "sectors_per_track")
        self.same(getattr(self.i.geometry, member), int(most), line)
        self.same(getattr(self.i.geometry, f"current_{member}"), int(now), line)

    def sectors(self, line: str, what: str, value: str) -> None:
        ours = {
            "CHS current": self.i.geometry.current_sectors,
            "LBA    user": self.i.capacity.lba28_sectors,
            "LBA48  user": self.i.capacity.lba48_sectors,
        }[what]
        self.same(ours, int(value), line)

    def block(self, line: str, what: str, value: str) -> None:
        if "Logical" in what:
            self.same(self.i.capacity.logical_block_bytes, int(value), line)
        if "Physical" in what:
            self.same(self.i.capacity.physical_block_bytes, int(value), line)

    def offset(self, line: str, value: str) -> None:
        self.same(self.i.capacity.offset_bytes, int(value), line)

    def size(self, line: str, unit: str, value: str) -> None:
        self.same(self.i.capacity.bytes // {"1024*1024": 1 << 20, "1000*1000": 10**6}[unit], int(value), line)

    def buffer(self, line: str, kilobytes: str | None, kind: str | None) -> None:
        self.same(self.i.transfer.buffer_bytes, int(kilobytes) * 1024 if kilobytes else None, line)
        if kind:
            self.same(self.i.transfer.buffer_type, BUFFER_TYPES[kind], line)

    def form_factor(self, line: str, value: str) -> None:
        self.same(self.i.form_factor, FORM_FACTOR[value], line)

    def rotation(self, line: str, value: str) -> None:
        self.same(self.i.rotation_rpm, 0 if value == "Solid State Device" else int(value), line)

    def lba(self, line: str, can: str) -> None:
        self.same((self.i.transfer.lba, self.i.transfer.iordy), (1, 1), line)
        self.same(self.i.transfer.iordy_can_be_disabled, int(can == "can"), line)

    def queue(self, line: str, value: str) -> None:
        if self.i.link.queue_depth is None:
            # hdparm prints word 75 whatever it belongs to. It counts only with NCQ (word 76 bit 8) or tagged queuing
            # (word 83 bit 1), and this drive has neither.
            assert not self.i.words[76] >> 8 & 1 and not self.i.words[83] >> 1 & 1, line
            assert self.i.words[75] + 1 == int(value)
            self.compared += 1
            return
        self.same(self.i.link.queue_depth, int(value), line)

    def standby(self, line: str, who: str, rest: str | None) -> None:
        self.same(self.i.transfer.standby_timer_standard, int(who == "Standard"), line)
        if rest:
            self.same(self.i.transfer.standby_timer_minimum, int(rest == "with"), line)

    def multiple(self, line: str, most: str, now: str) -> None:
        self.same(self.i.transfer.multiple_max, int(most), line)
        # Word 59 bit 8 says whether bits 7:0 are valid; hdparm prints 0 for a setting that is not.
        ours = self.i.transfer.multiple_current
        self.same(ours if self.i.words[59] >> 8 & 1 else 0, int(now), line)
        self.same(ours is None, not self.i.words[59] >> 8 & 1, line)

    def apm(self, line: str, level: str) -> None:
        self.same(self.i.settings.apm_supported, 1, line)
        self.same(self.i.settings.apm_enabled, int(level != "disabled"), line)
        self.same(self.i.settings.apm_level, None if level == "disabled" else int(level), line)

    def aam(self, line: str, recommended: str, now: str) -> None:
        self.same((self.i.settings.aam_recommended, self.i.settings.aam_level), (int(recommended), int(now)), line)

    def dma(self, line: str, modes: str) -> None:
        t = self.i.transfer
        self.same((t.single_dma_modes, t.single_dma_selected), mask(modes, "sdma"), line)
        self.same((t.multi_dma_modes, t.multi_dma_selected), mask(modes, "mdma"), line)
        self.same((t.ultra_dma_modes, t.ultra_dma_selected), mask(modes, "udma"), line)

    def dma_cycle(self, line: str, least: str, recommended: str) -> None:
        t = self.i.transfer
        self.same((t.multi_dma_min_ns, t.multi_dma_recommended_ns), (int(least), int(recommended)), line)

    def pio(self, line: str, modes: str) -> None:
        self.same(self.i.transfer.pio_modes, mask(modes, "pio")[0], line)

    def pio_cycle(self, line: str, plain: str, iordy: str) -> None:
        self.same((self.i.transfer.pio_min_ns, self.i.transfer.pio_iordy_min_ns), (int(plain), int(iordy)), line)

    def trim(self, line: str, limit: str) -> None:
        self.same(self.i.trim.supported, 1, line)
        self.same(self.i.trim.max_blocks, None if limit == "unknown" else int(limit.split()[0]), line)

    def trim_reads(self, line: str, what: str) -> None:
        self.same((self.i.trim.deterministic, self.i.trim.zeroed), (1, int(what == "ZEROs")), line)

    def vendor(self, line: str, *_: str) -> None:
        assert VENDOR_SPECIFIC.fullmatch(line.strip().lstrip("*").strip())

    def feature(self, line: str, star: str | None, name: str) -> None:
        place = FEATURES.get(name)
        assert place is not None, f"a feature that this test does not know: {name!r}"
        ours = {(f.word, f.bit): f for f in self.i.features}
        assert place in ours, f"{name!r}: we do not list it"
        if place not in NO_SWITCH:
            self.same(ours[place].enabled, int(bool(star)), line)
        self.seen_features.add(place)
        self.compared += 1

    def master(self, line: str, value: str) -> None:
        self.same(self.i.security.master_revision, int(value), line)

    def security_state(self, line: str, no: str | None, what: str) -> None:
        member = {
            "supported": "supported",
            "enabled": "enabled",
            "locked": "locked",
            "frozen": "frozen",
            "expired: security count": "count_expired",
            "supported: enhanced erase": "enhanced_erase",
        }[what]
        self.same(getattr(self.i.security, member), int(not no), line)
        self.security[member] = int(not no)

    def level(self, line: str, what: str) -> None:
        self.same(self.i.security.level, int(what == "maximum"), line)
        self.security["level"] = 1

    def erase(self, line: str, more: str | None, minutes: str, rest: str | None) -> None:
        s = self.i.security
        self.same((s.erase_minutes, s.erase_at_least), (int(minutes), int(bool(more))), line)
        if rest:
            found = re.match(r" (more than )?(\d+)min for ENHANCED", rest)
            assert found
            self.same((s.enhanced_minutes, s.enhanced_at_least), (int(found[2]), int(bool(found[1]))), line)

    def wwn(self, line: str, value: str) -> None:
        self.same(self.i.wwn, int(value, 16), line)

    def wwn_part(self, line: str, what: str, value: str) -> None:
        shift, width = {"NAA": (60, 4), "IEEE OUI": (36, 24), "Unique ID": (0, 36)}[what]
        self.same(self.i.wwn >> shift & (1 << width) - 1, int(value, 16), line)

    def cable(self, line: str) -> None:
        self.same(self.i.transfer.cblid_above_vih, 1, line)

    def device(self, line: str, number: str) -> None:
        self.same(self.i.transfer.device_number, int(number), line)

    def checksum(self, line: str, found: str | None) -> None:
        self.same(self.i.checksum, ata.Checksum.ABSENT if found else ata.Checksum.OK, line)


TABLE: list[tuple[str, Callable[..., None]]] = [
    (r"ATA device, with (non-removable|removable) media", Hdparm.kind),
    (r"(Model Number|Serial Number|Firmware Revision): +(.*)", Hdparm.name),
    (r"Transport: +Serial, (.*?)(?:; Revision: (ATA8-AST T13 Project D1697 Revision 0b))?", Hdparm.transport),
    (r"Standards:|Configuration:|Logical\t\tmax\tcurrent|--|Capabilities:|Commands/features:", Hdparm.heading),
    (r"Enabled\tSupported:|Security:|HW reset results:", Hdparm.heading),
    (r"Used: (.*?)", Hdparm.used),
    (r"Supported: (.*?)", Hdparm.supported),
    (r"Likely used: (\d+)", Hdparm.likely),
    (r"(cylinders|heads|sectors/track)\t+(\d+)\t(\d+)", Hdparm.chs),
    (r"(CHS current|LBA    user|LBA48  user) addressable sectors: +(\d+)", Hdparm.sectors),
    (r"(Logical|Physical|Logical/Physical) +Sector size: +(\d+) bytes", Hdparm.block),
    (r"Logical Sector-0 offset: +(\d+) bytes", Hdparm.offset),
    (r"device size with M = (1024\*1024|1000\*1000): +(\d+) MBytes.*", Hdparm.size),
    (r"cache/buffer size  = (?:unknown|(\d+) KBytes)(?: \(type=(\w+)\))?", Hdparm.buffer),
    (r"Form Factor: (.*)", Hdparm.form_factor),
    (r"Nominal Media Rotation Rate: (.*)", Hdparm.rotation),
    (r"LBA, IORDY\((can|cannot) be disabled\)", Hdparm.lba),
    (r"Queue depth: (\d+)", Hdparm.queue),
    (r"Standby timer values: spec'd by (Standard|Vendor)(?:, (no|with) device specific minimum)?", Hdparm.standby),
    (r"R/W multiple sector transfer: Max = (\d+)\tCurrent = (\d+)", Hdparm.multiple),
    (r"Advanced power management level: (\w+)", Hdparm.apm),
    (r"Recommended acoustic management value: (\d+), current value: (\d+)", Hdparm.aam),
    (r"DMA: (.*)", Hdparm.dma),
    (r"Cycle time: min=(\d+)ns recommended=(\d+)ns", Hdparm.dma_cycle),
    (r"PIO: (.*)", Hdparm.pio),
    (r"Cycle time: no flow control=(\d+)ns  IORDY flow control=(\d+)ns", Hdparm.pio_cycle),
    (r"\*\tData Set Management TRIM supported \(limit (unknown|\d+ blocks)\)", Hdparm.trim),
    (r"\*\tDeterministic read (ZEROs|data) after TRIM", Hdparm.trim_reads),
    (r"(\*\t)?unknown 206.*", Hdparm.vendor),
    (r"Master password revision code = (\d+)", Hdparm.master),
    (r"(?:(not)\t)?(supported|enabled|locked|frozen|expired: security count|supported: enhanced erase)",
     Hdparm.security_state),
    (r"Security level (maximum|high)", Hdparm.level),
    (r"(more than )?(\d+)min for SECURITY ERASE UNIT\.( .*)?", Hdparm.erase),
    (r"Logical Unit WWN Device Identifier: ([0-9a-f]{16})", Hdparm.wwn),
    (r"(NAA|IEEE OUI|Unique ID)\t+: ([0-9a-f]+)", Hdparm.wwn_part),
    (r"CBLID- above Vih", Hdparm.cable),
    (r"Device num = (\d)(?: determined by the jumper)?", Hdparm.device),
    (r"Checksum: correct|Integrity word not set \(found (0x0000), expected 0x[0-9a-f]{4}\)", Hdparm.checksum),
    (r"(?:(\*)\t)?(\S.*)", Hdparm.feature),
]  # fmt: skip


@pytest.mark.parametrize("name", OWN_IDENTIFY + PUBLIC_IDENTIFY)
def test_identify_as_hdparm(name: str) -> None:
    identify = ata.decode_identify(content(name))
    compared = Hdparm(identify, section(name, "hdparm"))
    assert compared.compared > 50
    # The other way round: what hdparm does not print, the drive does not have.
    ours = {(f.word, f.bit) for f in identify.features}
    assert ours - compared.seen_features <= NOT_IN_HDPARM
    assert identify.security.supported == compared.security.get("supported", 0)
    if identify.security.supported:
        assert identify.security.level == compared.security.get("level", 0)


# ---- smartctl --identify=wb -----------------------------------------------------------------------------------------

# smartctl's word and bit -> our member.
BITS: dict[tuple[int, str], Callable[[Any], Any]] = {
    (0, "15"): lambda i: i.atapi,
    (0, "7"): lambda i: i.removable,
    (0, "2"): lambda i: i.incomplete,
    (1, "-"): lambda i: i.geometry.cylinders,
    (3, "-"): lambda i: i.geometry.heads,
    (6, "-"): lambda i: i.geometry.sectors_per_track,
    (47, "7:0"): lambda i: i.transfer.multiple_max,
    (49, "13"): lambda i: i.transfer.standby_timer_standard,
    (49, "11"): lambda i: i.transfer.iordy,
    (49, "10"): lambda i: i.transfer.iordy_can_be_disabled,
    (49, "9"): lambda i: i.transfer.lba,
    (59, "15"): lambda i: i.sanitize.block_erase,
    (59, "14"): lambda i: i.sanitize.overwrite,
    (59, "13"): lambda i: i.sanitize.crypto_scramble,
    (59, "12"): lambda i: i.sanitize.supported,
    (59, "11"): lambda i: i.sanitize.acs3_commands,
    (59, "10"): lambda i: i.sanitize.antifreeze_lock,
    (65, "-"): lambda i: i.transfer.multi_dma_min_ns,
    (66, "-"): lambda i: i.transfer.multi_dma_recommended_ns,
    (67, "-"): lambda i: i.transfer.pio_min_ns,
    (68, "-"): lambda i: i.transfer.pio_iordy_min_ns,
    (69, "14"): lambda i: i.trim.deterministic,
    (69, "12"): lambda i: i.areas.dco_dma,
    (69, "9"): lambda i: i.areas.set_max_dma,
    (69, "5"): lambda i: i.trim.zeroed,
    (69, "4"): lambda i: i.encrypts_all,
    (69, "3"): lambda i: i.areas.extended_addresses,
    (76, "12"): lambda i: i.link.ncq_priority,
    (76, "10"): lambda i: i.link.phy_counters,
    (76, "8"): lambda i: i.link.ncq,
    (77, "6"): lambda i: i.link.ncq_send_receive,
    (77, "5"): lambda i: i.link.ncq_management,
    (77, "4"): lambda i: i.link.ncq_streaming,
    (77, "3:1"): lambda i: i.link.speed_current or 0,
    (78, "8"): lambda i: i.settings.devsleep_supported,
    (78, "7"): lambda i: i.link.ncq_autosense,
    (78, "3"): lambda i: i.settings.dipm_supported,
    (79, "8"): lambda i: i.settings.devsleep_enabled,
    (79, "3"): lambda i: i.settings.dipm_enabled,
    (80, "-"): lambda i: i.major_versions or 0,
    (81, "-"): lambda i: i.minor_version or 0,
    (82, "10"): lambda i: i.areas.hpa_supported,
    (82, "6"): lambda i: i.settings.look_ahead_supported,
    (82, "5"): lambda i: i.settings.write_cache_supported,
    (82, "1"): lambda i: i.security.supported,
    (82, "0"): lambda i: i.settings.smart_supported,
    (83, "11"): lambda i: i.areas.dco_supported,
    (83, "8"): lambda i: i.areas.set_max_security,
    (83, "5"): lambda i: i.settings.puis_supported,
    (83, "3"): lambda i: i.settings.apm_supported,
    (84, "5"): lambda i: i.settings.gpl_supported,
    (84, "1"): lambda i: i.settings.self_test_supported,
    (84, "0"): lambda i: i.settings.error_log_supported,
    (85, "10"): lambda i: i.areas.hpa_enabled,
    (85, "6"): lambda i: i.settings.look_ahead_enabled,
    (85, "5"): lambda i: i.settings.write_cache_enabled,
    (85, "1"): lambda i: i.security.enabled,
    (85, "0"): lambda i: i.settings.smart_enabled,
    (86, "11"): lambda i: i.areas.dco_enabled,
    (86, "8"): lambda i: i.areas.set_max_locked,
    (86, "5"): lambda i: i.settings.puis_enabled,
    (86, "3"): lambda i: i.settings.apm_enabled,
    (105, "-"): lambda i: i.trim.max_blocks or 0,
    (119, "8"): lambda i: i.areas.amac_supported,
    (119, "7"): lambda i: i.settings.epc_supported,
    (119, "3"): lambda i: i.settings.read_log_dma,
    (120, "7"): lambda i: i.settings.epc_enabled,
    (128, "8"): lambda i: i.security.level,
    (128, "5"): lambda i: i.security.enhanced_erase,
    (128, "4"): lambda i: i.security.count_expired,
    (128, "3"): lambda i: i.security.frozen,
    (128, "2"): lambda i: i.security.locked,
    (128, "1"): lambda i: i.security.enabled,
    (128, "0"): lambda i: i.security.supported,
    (168, "3:0"): lambda i: i.form_factor or 0,
    (169, "0"): lambda i: i.trim.supported,
    (206, "0"): lambda i: i.settings.sct_supported,
}


@pytest.mark.parametrize("name", OWN_IDENTIFY + PUBLIC_IDENTIFY)
def test_identify_as_smartctl(name: str) -> None:
    identify = ata.decode_identify(content(name))
    listed = {(f.word, f.bit): f for f in identify.features}
    compared = 0
    for line in section(name, "smartctl"):
        found = re.match(r" *(\d+) +(-|[\d:]+) +(0x[0-9a-f]+|\d+) ", line)
        if not found:
            continue
        word, bit, value = int(found[1]), found[2], int(found[3], 0)
        if bit == "-":
            assert identify.words[word] == value, line
            compared += 1
        if (word, bit) in BITS:
            ours = BITS[word, bit](identify)
            if word == 105 and not identify.trim.supported:
                continue  # without TRIM it means nothing; smartctl prints what stands there
            assert ours == value, f"{line}: we say {ours}"
            compared += 1
        if bit.isdigit() and "eserved" not in line and (word, int(bit)) in SUPPORTED_BITS:
            assert ((word, int(bit)) in listed) == bool(value), line
            compared += 1
    assert compared > 150


# Every bit that says of a feature that it is supported, in words that hold nothing else.
SUPPORTED_BITS = {
    *((59, b) for b in (10, 12, 13, 14, 15)),
    *((69, b) for b in (2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 14)),
    *((76, b) for b in (1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15)),
    *((77, b) for b in (4, 5, 6, 7, 8, 9)),
    *((78, b) for b in (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12)),
    *((82, b) for b in range(16)),
    *((83, b) for b in (*range(7), *range(8, 14))),
    *((84, b) for b in (*range(11), 13)),
    *((119, b) for b in range(1, 10)),
    (169, 0),
    *((206, b) for b in range(6)),
}


# ---- smartctl -i -c -A ----------------------------------------------------------------------------------------------


def raw_text(a: ata.Attribute) -> str:
    """The raw value as smartctl prints it."""
    if a.temperature_c is not None:
        return f"{a.temperature_c}" if a.min_c is None else f"{a.temperature_c} (Min/Max {a.min_c}/{a.max_c})"
    if a.second is None:
        return f"{a.raw_value}"
    return f"{a.raw_value}/{a.second}" if "/" in a.name else f"{a.raw_value} (Average {a.second})"


@pytest.mark.parametrize("drive", SMART)
def test_attributes_as_smartctl(drive: str) -> None:
    identify = ata.decode_identify(content(f"ata_identify_{drive}"))
    smart = ata.decode_smart(content(f"ata_smart_{drive}"))
    thresholds = ata.decode_smart_thresholds(content(f"ata_smartthr_{drive}"))
    rotating = None if identify.rotation_rpm is None else identify.rotation_rpm > 0
    ours = ata.attributes(smart, thresholds, model=identify.model, rotating=rotating)
    lines = section(f"ata_smart_{drive}", "smartctl")
    table = [line for line in lines if re.match(r" *\d+ \S+ +0x", line)]
    assert len(table) == len(ours) >= 14
    for line, a in zip(table, ours, strict=True):
        number, name, flag, value, worst, limit, kind, updated, failed, raw = line.split(None, 9)
        assert (a.id, a.name, a.flags) == (int(number), name, int(flag, 16)), line
        assert (a.value, a.worst, a.threshold) == (int(value), int(worst), int(limit)), line
        assert a.prefailure == (kind == "Pre-fail"), line
        assert (a.flags >> 1 & 1) == (updated == "Always"), line
        assert {"": "-", "now": "FAILING_NOW", "past": "In_the_past"}[a.failed] == failed, line
        assert raw_text(a) == raw, line
    assert smart.checksum == thresholds.checksum == ata.Checksum.OK
    family = [line for line in lines if line.startswith("Model Family:")]
    expected = family[0].split(":", 1)[1].strip() if family else None
    assert {a.family for a in ours} == {expected}


@pytest.mark.parametrize("drive", SMART)
def test_smart_data_as_smartctl(drive: str) -> None:
    smart = ata.decode_smart(content(f"ata_smart_{drive}"))
    text = " ".join(" ".join(section(f"ata_smart_{drive}", "smartctl")).split())
    values: dict[str, Any] = {
        r"Offline data collection status: \((0x\w+)\)": smart.offline_status,
        r"Self-test execution status: \( *(\d+)\)": smart.self_test_result << 4 | smart.self_test_remaining // 10,
        r"Total time to complete Offline data collection: \( *(\d+)\)": smart.offline_seconds,
        r"Offline data collection capabilities: \((0x\w+)\)": smart.offline_capabilities,
        r"SMART capabilities: \((0x\w+)\)": smart.capabilities,
        r"Error logging capability: \(0x0([01])\)": smart.error_logging,
        r"Short self-test routine recommended polling time: \( *(\d+)\)": smart.short_minutes,
        r"Extended self-test routine recommended polling time: \( *(\d+)\)": smart.extended_minutes,
        r"Conveyance self-test routine recommended polling time: \( *(\d+)\)": smart.conveyance_minutes,
        r"SMART Attributes Data Structure revision number: (\d+)": smart.revision,
    }
    compared = 0
    for pattern, ours in values.items():
        found = re.search(pattern, text)
        if found:
            assert ours == int(found[1], 0), pattern
            compared += 1
    # smartctl leaves the self-test lines out where the drive cannot do the test.
    can = smart.offline_capabilities
    assert compared == 6 + (3 if can & 0x10 else 0) + (1 if can & 0x20 else 0)


@pytest.mark.parametrize("drive", SMART)
def test_information_as_smartctl(drive: str) -> None:
    identify = ata.decode_identify(content(f"ata_identify_{drive}"))
    info = dict(
        (part.strip() for part in line.split(":", 1))
        for line in section(f"ata_smart_{drive}", "smartctl")
        if ":" in line and not line.startswith("\t")
    )
    assert identify.model == info["Device Model"]
    assert identify.serial == info["Serial Number"]
    assert identify.firmware == info["Firmware Version"]
    assert f"{identify.wwn:016x}" == info["LU WWN Device Id"].replace(" ", "")
    assert f"{identify.capacity.bytes:,} bytes" == info["User Capacity"].split(" [")[0]
    assert (identify.capacity.logical_block_bytes, identify.capacity.physical_block_bytes) == (512, 512)
    assert info["Sector Size"] == "512 bytes logical/physical"
    assert info["Rotation Rate"] == "Solid State Device"
    assert identify.rotation_rpm == 0
    trim = "Available" + (", deterministic" if identify.trim.deterministic else "")
    assert trim + (", zeroed" if identify.trim.zeroed else "") == info["TRIM Command"]
    # smartctl adds to the name of a standard that the drive names no revision of it.
    assert identify.version == info["ATA Version is"].removesuffix(" (minor revision not indicated)")
    assert identify.form_factor == {"2.5 inches": 3, None: None}[info.get("Form Factor")]
    speeds = {1: "1.5 Gb/s", 2: "3.0 Gb/s", 3: "6.0 Gb/s"}
    if "SATA Version is" in info:
        now = identify.link.speed_current
        current = f" (current: {speeds[now]})" if now else ""
        assert f"{identify.link.version}, {speeds[identify.link.speed_max]}{current}" == info["SATA Version is"]
    else:
        assert identify.link.version is None


# ---- registers and logs ---------------------------------------------------------------------------------------------

SENSE = (
    "sense_ata_sanitize_inprogress_desc",
    "sense_libata_checkpower_desc",
    "sense_libata_readnativemaxext_desc",
    "sense_libata_setmax_abrt_fixed_legacy",
)


@pytest.mark.parametrize("name", SENSE)
def test_registers(name: str) -> None:
    first = (CORPUS / f"{name}.expected.txt").read_text().splitlines()[0]
    told = dict(part.split("=") for part in first.removeprefix("ATA registers: ").split(" (")[0].split())
    r = ata.decode_registers(content(name))
    assert (r.error, r.status, r.device) == tuple(int(told[k], 16) for k in ("ERROR", "STATUS", "DEVICE"))
    assert r.extend == int(told["EXTEND"])
    assert r.count == int(told["COUNT"], 16)
    assert r.lba_low == int(told["LBA"], 16)
    if "truncated" in first:
        assert (r.lba, r.lba_low_bits, r.source) == (None, 8, ata.RegistersSource.LEGACY)
    else:
        assert r.lba == r.lba_low
        assert r.source == ata.RegistersSource.DESCRIPTOR


def test_results_in_registers() -> None:
    power = ata.decode_power_mode(content("sense_libata_checkpower_desc"))
    assert (power.failed, power.mode) == (0, ata.Power.ACTIVE_OR_IDLE)
    native = ata.decode_native_max(content("sense_libata_readnativemaxext_desc"))
    assert (native.max_lba, native.sectors) == (131071, 131072)
    running = ata.decode_sanitize_status(content("sense_ata_sanitize_inprogress_desc"))
    assert (running.completed, running.in_progress, running.frozen, running.reason) == (0, 1, 0, None)
    assert running.progress / 65536 == 0.5
    refused = ata.decode_native_max(content("sense_libata_setmax_abrt_fixed_legacy"))
    assert (refused.failed, refused.max_lba, refused.sectors) == (1, None, None)


def test_device_statistics_page_7() -> None:
    expected = (CORPUS / "ata_log04_page07_reenc.expected.txt").read_text()
    found = re.search(r"rev (\d+), page (\w+)h .*\noffset (\w+)h (.*): flags (\w+)h .* value (\d+)", expected)
    assert found
    page = ata.decode_statistics(content("ata_log04_page07_reenc"))
    assert (page.revision, page.page) == (int(found[1]), int(found[2], 16))
    (used,) = page.statistics
    assert (used.offset, used.name, used.value) == (int(found[3], 16), found[4], int(found[6]))
    assert used.normalized == int(found[5], 16) >> 5 & 1
    assert used.condition_met == 0
