"""Erasing a whole drive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sated._ffi import ffi, lib, text
from sated.errors import ParseError, check

if TYPE_CHECKING:
    from sated._drive import Drive

_METHODS = {
    "auto": lib.SATED_PURGE_AUTO,
    "simulated": lib.SATED_PURGE_SIMULATED,
    "deallocate": lib.SATED_PURGE_DEALLOCATE,
}
_NAMES = {value: name for name, value in _METHODS.items()}


@dataclass(frozen=True)
class PurgeMethod:
    """One way to erase a drive."""

    method: str
    supported: bool
    estimate_s: float | None
    level: str
    why_not: str | None


@dataclass(frozen=True)
class PurgeResult:
    """What an erase did. `seconds` by the drive's own clock."""

    method: str
    seconds: float
    device_says: str
    verified: bool
    log: tuple[str, ...]


def methods(drive: Drive) -> list[PurgeMethod]:
    features = drive.identity.features
    simulated, file = "simulated" in features, "file" in features
    # What blocks a simulated drive (a lock, an erase that goes on) blocks its purge too.
    blocked = "; ".join(drive.guard().reasons) if simulated else "only for simulated drives"
    return [
        PurgeMethod("simulated", not blocked, None, "all blocks erased", blocked or None),
        PurgeMethod(
            "deallocate",
            file,
            None,
            "all blocks given back to the file system",
            None if file else "only for regular files",
        ),
    ]


def purge(drive: Drive, method: str) -> PurgeResult:
    if method not in _METHODS:
        raise ParseError(f'purge method "{method}" is unknown: use {", ".join(_METHODS)}')
    options = ffi.new("struct sated_purge_options *")
    lib.sated_purge_options_init(options)
    options.method = _METHODS[method]
    out = ffi.new("struct sated_purge **")
    check(lib.sated_purge_start(out, drive._handle, options))
    job = ffi.gc(out[0], lib.sated_purge_free)
    result = ffi.new("struct sated_purge_result *")
    while check(lib.sated_purge_wait(job, 200_000_000, result)):
        pass
    says = text(result.device_says)
    name = _NAMES[result.method]
    seconds = result.duration_ns / 1e9
    return PurgeResult(name, seconds, says, bool(result.verified), (f"{name}: {says} ({seconds:.3f} s)",))
