"""How a drive is: one view over SCSI, ATA, NVMe and simulated drives, and the pages behind it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sated import _plugins, ata, pages
from sated._commands import send
from sated._decode import convert
from sated._ffi import ffi, lib, text
from sated._text import html_table
from sated.errors import ParseError, SatedError, check, is_over

if TYPE_CHECKING:
    from sated._drive import Drive

__all__ = ["Calibration", "Health", "calibrate", "get"]

_WARNINGS = {
    lib.SATED_HEALTH_SPARE: "spare",
    lib.SATED_HEALTH_TEMPERATURE: "temperature",
    lib.SATED_HEALTH_RELIABILITY: "reliability",
    lib.SATED_HEALTH_READ_ONLY: "read-only",
    lib.SATED_HEALTH_BACKUP: "backup",
    lib.SATED_HEALTH_PMR: "persistent-memory",
    lib.SATED_HEALTH_FAILING: "failing",
}
_CONDITIONS = {
    lib.SATED_HEALTH_SECURITY_ENABLED: (
        "security-enabled",
        "a password is set, by which it locks as soon as it loses power; SECURITY DISABLE PASSWORD takes it away",
    ),
    lib.SATED_HEALTH_LOCKED: (
        "locked",
        "its data can be neither read nor written; unlock it with its password (SECURITY UNLOCK), or erase it with it",
    ),
    lib.SATED_HEALTH_FROZEN: (
        "frozen",
        "it refuses passwords and secure erases until it has been without power; suspend and resume the machine, or "
        "re-plug the drive",
    ),
    lib.SATED_HEALTH_PASSWORD_EXPIRED: (
        "password-expired",
        "too many wrong passwords were tried; switch it off and on before the next one",
    ),
    lib.SATED_HEALTH_SANITIZING: (
        "sanitizing",
        "it erases itself, and goes on with that after a loss of power; wait until it is done",
    ),
    lib.SATED_HEALTH_SANITIZE_FAILED: (
        "sanitize-failed",
        "the last sanitize failed, and it refuses reads and writes until another one succeeds, or the failure is left "
        "where the failed one allowed that",
    ),
    lib.SATED_HEALTH_SANITIZE_FROZEN: (
        "sanitize-frozen",
        "it refuses to be sanitized until it has been without power; re-plug the drive",
    ),
    lib.SATED_HEALTH_FORMATTING: ("formatting", "wait until it is done, and leave it its power meanwhile"),
    lib.SATED_HEALTH_FORMAT_CORRUPT: (
        "format-corrupt",
        "a format did not come to its end, or other blocks were chosen; format it before it is used (FORMAT UNIT)",
    ),
    lib.SATED_HEALTH_STOPPED: ("stopped", "start it (START STOP UNIT with START set)"),
    lib.SATED_HEALTH_STANDBY: ("standby", "it saves power; the next read or write wakes it, and takes longer for that"),
    lib.SATED_HEALTH_NOT_READY: (
        "not-ready",
        "it can be neither read nor written; wait, ask again, and format it where that does not help",
    ),
    lib.SATED_HEALTH_HIDDEN_SECTORS: (
        "hidden-sectors",
        "it has more sectors than it shows (HPA, AMAC or DCO), and only those that it shows are measured",
    ),
}
_ADVICE = dict(_CONDITIONS.values())
_RESULTS = {
    lib.SATED_HEALTH_TEST_NEVER: "never",
    lib.SATED_HEALTH_TEST_PASSED: "passed",
    lib.SATED_HEALTH_TEST_ABORTED: "aborted",
    lib.SATED_HEALTH_TEST_FAILED: "failed",
}


@dataclass(frozen=True, kw_only=True)
class Health:
    """How a drive is. None is unknown, which is never 0; counters are those of the drive's life."""

    temperature_c: float | None
    temperature_warning_c: float | None
    temperature_critical_c: float | None
    sensors_c: tuple[float, ...]
    percentage_used: float | None
    """Of the rated endurance, in percent; may exceed 100."""
    available_spare: float | None
    """Percent."""
    spare_threshold: float | None
    host_bytes_read: int | None
    host_bytes_written: int | None
    media_bytes_written: int | None
    """To flash, by the host's writes and the drive's own."""
    lifetime_write_amplification: float | None
    power_on_hours: int | None
    power_cycles: int | None
    unsafe_shutdowns: int | None
    media_errors: int | None
    error_log_entries: int | None
    critical_warnings: tuple[str, ...] | None
    """Of spare, temperature, reliability, read-only, backup, persistent-memory, failing."""
    conditions: tuple[str, ...] | None
    """What stands in the way of using or erasing it, of security-enabled, locked, frozen, password-expired, sanitizing,
    sanitize-failed, sanitize-frozen, formatting, format-corrupt, stopped, standby, not-ready, hidden-sectors."""
    conditions_told: tuple[str, ...] | None
    """Those that it told of, whether they hold or not: of all others nothing is known."""
    operation_percent: int | None
    """Done, of the sanitize or the format that goes on."""
    self_test_running: bool | None
    self_test_percent: int | None
    """Done, of the one in progress."""
    self_test_result: str | None
    """never, passed, aborted or failed: how the last one ended."""
    self_test_hours: int | None
    warnings: tuple[str, ...]
    """What could not be asked."""
    doubts: tuple[str, ...]
    """What was told, and cannot be taken as it stands."""
    raw: dict[str, bytes] = field(repr=False)
    """The pages as they came, by name, such as "log-02h"."""
    vendor: tuple[pages.Decoded, ...]
    """What the maker adds, as far as `sated.pages` has tables of it."""

    @property
    def advice(self) -> tuple[str, ...]:
        """For each condition that holds what it means, and what can be done about it."""
        lines = []
        for name in self.conditions or ():
            running = name in ("sanitizing", "formatting") and self.operation_percent is not None
            done = f", {self.operation_percent} % done" if running else ""
            lines.append(f"{name}{done}: {_ADVICE[name]}")
        return tuple(lines)

    @cached_property
    def attributes(self) -> tuple[ata.Attribute, ...]:
        """The SMART attributes of an ATA drive, with the names and units of its family; none for others."""
        return _attributes(self.raw)

    @property
    def counters(self) -> dict[str, int]:
        """What the drive counts in units of its own, by name: "attribute-241", or "log-CAh/host_writes" of a vendor
        page. `calibrate` finds the unit."""
        counts = {f"attribute-{a.id}": a.raw_value for a in self.attributes if a.raw_value is not None}
        for page in self.vendor:
            for name, value in page.values.items():
                if isinstance(value, int) and name not in page.units:
                    counts[f"{page.page}/{name}"] = value
        return counts

    def _repr_html_(self) -> str:
        rows = [(f.name, getattr(self, f.name)) for f in fields(self) if f.name not in ("raw", "vendor")]
        return html_table((name, self.advice or value if name == "conditions" else value) for name, value in rows)


def _attributes(raw: Mapping[str, bytes]) -> tuple[ata.Attribute, ...]:
    if "smart-data" not in raw:
        return ()
    smart = ata.decode_smart(raw["smart-data"])
    if smart.checksum == ata.Checksum["BAD"]:
        return ()
    drive = ata.decode_identify(raw["identify"]) if "identify" in raw else None
    model, rpm = (drive.model, drive.rotation_rpm) if drive else (None, None)
    limits = ata.decode_smart_thresholds(raw["smart-thresholds"]) if "smart-thresholds" in raw else None
    return ata.attributes(smart, limits, model=model, rotating=None if rpm is None else rpm != 0)


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The unit of one counter, found by writing a known amount."""

    counter: str
    """As in `Health.counters`."""
    before: int
    after: int
    unit_bytes: int | None
    """Of one count; None where no known unit agrees with the amount, or more than one."""
    candidates: tuple[int, ...]
    """All known units that agree, in bytes."""
    error: float | None
    """Of the amount against the steps in that unit, as a fraction."""
    lifetime_bytes: int | None
    """`after` in bytes."""


def calibrate(
    before: Health | Mapping[str, int], after: Health | Mapping[str, int], *, bytes_written: int
) -> tuple[Calibration, ...]:
    """The units of all counters that went up while `bytes_written` were written between two looks at one drive.

    `before`, `after`: `Drive.health()`, or the `counters` of one. Nothing is written here: that is left to the reader,
    and so is that both looks were at the same drive. Raises ParseError where nothing was written. The rule is that of
    `sated.ata.calibrate`.

    >>> (found,) = calibrate({"attribute-241": 50_108}, {"attribute-241": 50_749}, bytes_written=20 << 30)
    >>> found.unit_bytes == 32 << 20, f"{found.lifetime_bytes / 1e12:.3f} TB"
    (True, '1.703 TB')
    """
    if bytes_written <= 0:
        raise ParseError(f"bytes_written={bytes_written}: give the bytes that were written in between, more than 0")
    first, last = (look.counters if isinstance(look, Health) else look for look in (before, after))
    found = []
    for name, count in last.items():
        if name in first and count > first[name]:
            told = ata.calibrate(first[name], count, bytes_written)
            found.append(
                Calibration(
                    counter=name,
                    before=first[name],
                    after=count,
                    unit_bytes=told.unit_bytes,
                    candidates=told.candidates,
                    error=told.error if told.unit_bytes is not None else None,
                    lifetime_bytes=told.lifetime_bytes,
                )
            )
    return tuple(found)


def _pages(pages: Any) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    name, data = ffi.new("const char **"), ffi.new("const void **")
    for i in itertools.count():
        if (n := lib.sated_health_page(pages, i, name, data)) < 0:
            break
        found[text(name[0])] = bytes(ffi.buffer(data[0], n))
    return found


def _vendor(drive: Drive, raw: dict[str, bytes], warnings: list[str], doubts: list[str]) -> list[pages.Decoded]:
    """Asks for the vendor pages that there are tables for, and adds them to `raw`."""
    identity = drive.identity
    protocol, model = identity.protocol, identity.model
    if "identify" in raw:  # also behind a bridge that calls itself SCSI
        protocol, model = "ata", ata.decode_identify(raw["identify"]).model
    found, over = [], False
    for page in pages.tables(protocol, model) if not identity.simulated else ():
        if page.length > len(raw.get(page.name, b"")) and not over:
            try:
                raw[page.name] = send(drive, page.command).data
            except SatedError as error:
                over = is_over(error)
                if page.name not in raw and (over or not page.optional):
                    warnings.append(f"{page.name} ({page.title}): {error}")
        try:
            if page.name in raw:
                found.append(page.decode(raw[page.name]))
        except SatedError as error:
            if not page.optional:
                doubts.append(str(error))
    return found


_COUNTED: dict[int, str] = {
    ata.Meaning["HOST_WRITES"]: "host_bytes_written",
    ata.Meaning["HOST_READS"]: "host_bytes_read",
    ata.Meaning["MEDIA_WRITES"]: "media_bytes_written",
}


def _apply_rules(values: dict[str, Any], attributes: tuple[ata.Attribute, ...]) -> None:
    """What registered attributes tell and nothing else did; the doubt that a unit is not known ends with it."""
    unit = 0
    for a in attributes:
        member = _COUNTED.get(a.meaning)
        if member and values[member] is None and a.total_bytes is not None:
            values[member] = a.total_bytes
            unit = max(unit, a.unit_bytes or 0)
            values["doubts"] = [line for line in values["doubts"] if not line.startswith(f"attribute {a.id} (")]
    host, media = values["host_bytes_written"], values["media_bytes_written"]
    # As in C: no ratio of counts that their units make uncertain by more than 1 %.
    if unit and host and media is not None and unit <= min(host, media) // 100:
        values["lifetime_write_amplification"] = media / host


def get(drive: Drive) -> Health:
    c = ffi.new("struct sated_health *")
    found = ffi.new("struct sated_health_pages **")
    check(lib.sated_health_get(drive._handle, c, found))
    try:
        raw = _pages(found[0])
    finally:
        lib.sated_health_pages_free(found[0])
    told = convert(c)
    values = {f.name: getattr(told, f.name) for f in fields(Health) if f.name not in ("raw", "vendor")}
    if told.critical_warnings is not None:
        values["critical_warnings"] = tuple(name for bit, name in _WARNINGS.items() if told.critical_warnings & bit)
    for name in ("conditions", "conditions_told"):
        if (mask := getattr(told, name)) is not None:
            values[name] = tuple(word for bit, (word, _) in _CONDITIONS.items() if mask & bit)
    if told.self_test_running is not None:
        values["self_test_running"] = bool(told.self_test_running)
    values["self_test_result"] = _RESULTS.get(told.self_test_result)
    for name in ("warnings", "doubts"):
        values[name] = [line for line in getattr(told, name).split("\n") if line]
    values["warnings"] += [plugin.error for plugin in _plugins.load() if plugin.error]
    vendor: list[pages.Decoded] = []
    try:
        vendor = _vendor(drive, raw, values["warnings"], values["doubts"])
        _apply_rules(values, _attributes(raw))
    except SatedError as error:  # of a decoder that somebody registered; what the drive told stays
        values["warnings"].append(str(error))
    for name in ("warnings", "doubts"):
        values[name] = tuple(values[name])
    return Health(**values, raw=raw, vendor=tuple(vendor))
