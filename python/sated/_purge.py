"""Erasing a whole drive."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sated._ffi import ffi, lib, text
from sated.errors import ParseError, check

if TYPE_CHECKING:
    from sated._drive import Drive

_METHODS = {
    "auto": lib.SATED_PURGE_AUTO,
    "simulated": lib.SATED_PURGE_SIMULATED,
    "deallocate": lib.SATED_PURGE_DEALLOCATE,
    "write-same": lib.SATED_PURGE_WRITE_SAME,
    "sanitize-block": lib.SATED_PURGE_SANITIZE_BLOCK,
    "sanitize-crypto": lib.SATED_PURGE_SANITIZE_CRYPTO,
    "sanitize-overwrite": lib.SATED_PURGE_SANITIZE_OVERWRITE,
    "format": lib.SATED_PURGE_FORMAT,
    "format-crypto": lib.SATED_PURGE_FORMAT_CRYPTO,
    "security-enhanced": lib.SATED_PURGE_SECURITY_ENHANCED,
    "security": lib.SATED_PURGE_SECURITY,
    "external": lib.SATED_PURGE_EXTERNAL,
}
_NAMES = {value: name for name, value in _METHODS.items()}
_LEVELS = {
    lib.SATED_PURGE_UNKNOWN: "unknown",
    lib.SATED_PURGE_ADVISORY: "advisory",
    lib.SATED_PURGE_CLEAR: "clear",
    lib.SATED_PURGE_PURGE: "purge",
}
_STATES = {
    lib.SATED_PURGE_BEGUN: "begun",
    lib.SATED_PURGE_RUNNING: "running",
    lib.SATED_PURGE_FAILED: "failed",
    lib.SATED_PURGE_PASSWORD: "password",
    lib.SATED_PURGE_LOCKED: "locked",
    lib.SATED_PURGE_UNFORMATTED: "unformatted",
    lib.SATED_PURGE_UNCLEAR: "unclear",
}
_PHASES = {
    0: "begin",
    lib.SATED_PURGE_MARKING: "mark",
    lib.SATED_PURGE_ERASING: "erase",
    lib.SATED_PURGE_CHECKING: "check",
    lib.SATED_PURGE_ENDED: "end",
}
_VERIFIED = {
    lib.SATED_PURGE_NOT_VERIFIED: None,
    lib.SATED_PURGE_GONE: True,
    lib.SATED_PURGE_STILL_THERE: False,
}


@dataclass(frozen=True)
class PurgeMethod:
    """One way to erase a drive, by the drive's own answers.

    `level`: "purge" reaches what cannot be addressed too, "clear" what can be addressed (IEEE 2883-2022), "advisory" is
    a hint that the drive may leave alone. `whole`: it reaches all namespaces, or all of the device. `why`: which better
    one "auto" passed over, as it reaches further than consent.
    """

    method: str
    supported: bool
    estimate_s: float | None
    level: str
    why_not: str | None
    whole: bool = False
    why: str | None = None


@dataclass(frozen=True)
class PurgeResult:
    """What an erase did. `seconds` by the drive's own clock.

    `device_says` and `verified` are apart: `verified` is True where none of the blocks that were marked before holds
    what it held, False where one does, None where nothing could be marked. `log`: all of it, in sentences.
    """

    method: str
    seconds: float
    device_says: str
    verified: bool | None
    log: tuple[str, ...]
    level: str = "unknown"
    done: bool = False
    """The drive says that it is."""
    canaries: int = 0
    """Blocks that were marked, and read back, before."""
    still_there: int = 0
    unreadable: int = 0
    resumed: bool = False
    hidden_bytes: int | None = None
    """Behind an LBA limit; None where the drive does not say."""


@dataclass(frozen=True)
class PurgePending:
    """What an interrupted purge left, or another erase that is not over.

    `state`: "begun" (the journal alone says so), "running", "failed", "password", "locked", "unformatted",
    "unclear" (it does not read, and a bridge keeps back whether a sanitize operation goes on or failed).
    """

    state: str
    journaled: bool
    method: str | None
    began: str | None
    step: str | None
    progress: float | None
    text: str


@dataclass(frozen=True)
class PurgeProgress:
    """Where a purge is. `phase`: "begin", "mark", "erase", "check", "end"; times by the drive's clock, None where
    nobody knows; `notice`: what a person has to know meanwhile."""

    phase: str
    method: str
    fraction: float | None
    elapsed_s: float
    eta_s: float | None
    notice: str | None


def _way(c: Any) -> PurgeMethod:
    return PurgeMethod(
        _NAMES[c.method],
        bool(c.supported),
        c.estimate_ns / 1e9 if c.estimate_ns >= 0 else None,
        _LEVELS[c.level],
        text(c.why_not) or None,
        bool(c.whole),
        text(c.why) or None,
    )


def methods(drive: Drive) -> list[PurgeMethod]:
    n = lib.SATED_PURGE_LAST
    ways = ffi.new("struct sated_purge_way[]", n)
    return [_way(ways[i]) for i in range(check(lib.sated_purge_list(drive._handle, ways, n)))]


def pending(drive: Drive) -> PurgePending | None:
    c = ffi.new("struct sated_purge_pending *")
    if not check(lib.sated_purge_get_pending(drive._handle, c)):
        return None
    return PurgePending(
        state=_STATES[c.state],
        journaled=bool(c.journaled),
        method=_NAMES[c.method] if c.method else None,
        began=text(c.began) or None,
        step=text(c.step) or None,
        progress=c.progress / 65536 if c.state == lib.SATED_PURGE_RUNNING else None,
        text=text(c.text),
    )


def options(
    *,
    method: str,
    resume: bool,
    allow_usb_security: bool,
    stall_s: float | None,
    password: str | bytes | None,
    master: bool,
    note: str | None,
) -> Any:
    """The C struct. @raises ParseError for what has no meaning."""
    from sated._drive import nanoseconds

    if method not in _METHODS:
        raise ParseError(f'purge method "{method}" is unknown: use {", ".join(_METHODS)}')
    c = ffi.new("struct sated_purge_options *")
    lib.sated_purge_options_init(c)
    c.method = _METHODS[method]
    c.resume = resume
    c.allow_usb_security = allow_usb_security
    c.stall_ns = 0 if stall_s is None else nanoseconds("stall_s", stall_s)
    c.master = master
    if password is not None:
        given = password.encode() if isinstance(password, str) else password
        if not 1 <= len(given) <= 32:
            raise ParseError(f"a password of {len(given)} bytes: ATA Security takes 1 to 32")
        ffi.memmove(c.password, given, len(given))
        c.n_password = len(given)
    if note is not None:
        told = note.encode()[:251]
        ffi.memmove(c.note, told, len(told))
    return c


def plan(drive: Drive, chosen: Any) -> PurgeMethod:
    way = ffi.new("struct sated_purge_way *")
    check(lib.sated_purge_check(drive._handle, chosen, way))
    return _way(way) if way.method else PurgeMethod("auto", True, None, "unknown", None, True)


def _progress(job: Any) -> PurgeProgress:
    c = ffi.new("struct sated_purge_progress *")
    lib.sated_purge_get_progress(job, c)
    return PurgeProgress(
        phase=_PHASES[c.phase],
        method=_NAMES[c.method],
        fraction=None if math.isnan(c.fraction) else float(c.fraction),
        elapsed_s=c.elapsed_ns / 1e9,
        eta_s=c.eta_ns / 1e9 if c.eta_ns >= 0 else None,
        notice=text(c.notice) or None,
    )


def _wait(job: Any, result: Any, tell: Callable[[PurgeProgress], None] | None) -> None:
    while check(lib.sated_purge_wait(job, 200_000_000, result)):
        if tell is not None:
            tell(_progress(job))


def purge(drive: Drive, chosen: Any, tell: Callable[[PurgeProgress], None] | None) -> PurgeResult:
    out = ffi.new("struct sated_purge **")
    check(lib.sated_purge_start(out, drive._handle, chosen))
    job = out[0]
    result = ffi.new("struct sated_purge_result *")
    try:
        _wait(job, result, tell)
        if tell is not None:
            tell(_progress(job))
    except BaseException:
        # A drive that is in the midst of one long command answers only at its end: a second Ctrl-C leaves it alone, and
        # the job with it, which cannot be freed before.
        lib.sated_purge_stop(job)
        while lib.sated_purge_wait(job, 200_000_000, result) > 0:
            pass
        lib.sated_purge_free(job)
        raise
    lib.sated_purge_free(job)
    name = _NAMES[result.method]
    return PurgeResult(
        method=name,
        seconds=result.duration_ns / 1e9,
        device_says=text(result.device_says),
        verified=_VERIFIED[result.verified],
        log=(text(result.text),),
        level=_LEVELS[result.level],
        done=bool(result.done),
        canaries=result.canaries,
        still_there=result.still_there,
        unreadable=result.unreadable,
        resumed=bool(result.resumed),
        hidden_bytes=None if result.hidden_bytes == 2**64 - 1 else int(result.hidden_bytes),
    )
