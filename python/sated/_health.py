"""How a drive is: one view over SCSI, ATA, NVMe and simulated drives, and the pages behind it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from sated._ffi import ffi, lib, text
from sated.errors import check

if TYPE_CHECKING:
    from sated._drive import Drive

__all__ = ["Health", "get"]

_WARNINGS = {
    lib.SATED_HEALTH_SPARE: "spare",
    lib.SATED_HEALTH_TEMPERATURE: "temperature",
    lib.SATED_HEALTH_RELIABILITY: "reliability",
    lib.SATED_HEALTH_READ_ONLY: "read-only",
    lib.SATED_HEALTH_BACKUP: "backup",
    lib.SATED_HEALTH_PMR: "persistent-memory",
    lib.SATED_HEALTH_FAILING: "failing",
}
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
    raw: dict[str, bytes]
    """The pages as they came, by name, such as "log-02h"."""

    def _repr_html_(self) -> str:
        from html import escape

        shown = [f.name for f in fields(self) if f.name != "raw"]
        rows = "".join(f"<tr><th>{name}</th><td>{escape(str(getattr(self, name)))}</td></tr>" for name in shown)
        return f"<table>{rows}</table>"


def _pages(pages: Any) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    name, data = ffi.new("const char **"), ffi.new("const void **")
    while (n := lib.sated_health_page(pages, len(found), name, data)) >= 0:
        found[text(name[0])] = bytes(ffi.buffer(data[0], n))
    return found


def get(drive: Drive) -> Health:
    from sated._decode import convert

    c = ffi.new("struct sated_health *")
    pages = ffi.new("struct sated_health_pages **")
    check(lib.sated_health_get(drive._handle, c, pages))
    try:
        raw = _pages(pages[0])
    finally:
        lib.sated_health_pages_free(pages[0])
    told = convert(c)
    values = {f.name: getattr(told, f.name) for f in fields(Health) if f.name != "raw"}
    if told.critical_warnings is not None:
        values["critical_warnings"] = tuple(name for bit, name in _WARNINGS.items() if told.critical_warnings & bit)
    if told.self_test_running is not None:
        values["self_test_running"] = bool(told.self_test_running)
    values["self_test_result"] = _RESULTS.get(told.self_test_result)
    for name in ("warnings", "doubts"):
        values[name] = tuple(line for line in getattr(told, name).split("\n") if line)
    return Health(**values, raw=raw)
