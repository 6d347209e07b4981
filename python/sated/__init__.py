"""sated measures what a solid-state drive does when writing more to it no longer changes how it behaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sated import ata, endurance, errors, nvme, pages, profiles, scsi, sim, steady
from sated._commands import ReadOnly, Reply, Transport, read_only
from sated._drive import Drive, Guard, Identity
from sated._drive import list_drives as list
from sated._drive import open_drive as open
from sated._ffi import lib as _lib
from sated._ffi import text as _c_text
from sated._health import Calibration, Health, calibrate
from sated._histogram import Histogram
from sated._load import Job, Progress, Result, load, start
from sated._power_control import PowerControl
from sated._workload import Workload
from sated.errors import (
    DriveError,
    ParseError,
    SatedError,
    StalledError,
    StateError,
    UnsafeError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from sated.methods.runner import review
    from sated.results.query import query
    from sated.results.run import Run

__version__ = _c_text(_lib.sated_version())

__all__ = [
    "Calibration",
    "Drive",
    "DriveError",
    "Guard",
    "Health",
    "Histogram",
    "Identity",
    "Job",
    "ParseError",
    "PowerControl",
    "Progress",
    "ReadOnly",
    "Reply",
    "Result",
    "Run",
    "SatedError",
    "StalledError",
    "StateError",
    "Transport",
    "UnsafeError",
    "UnsupportedError",
    "Workload",
    "ata",
    "calibrate",
    "endurance",
    "errors",
    "list",
    "load",
    "nvme",
    "open",
    "pages",
    "profiles",
    "query",
    "read_only",
    "review",
    "scsi",
    "sim",
    "start",
    "steady",
]

_LAZY = {"Run": "sated.results.run", "query": "sated.results.query", "review": "sated.methods.runner"}


def __getattr__(name: str) -> Any:
    """What needs pyarrow, pydantic or duckdb is imported when it is first asked for."""
    if name in _LAZY:
        from importlib import import_module

        value = getattr(import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sated' has no attribute {name!r}")


def __dir__() -> Any:
    return sorted(__all__)
