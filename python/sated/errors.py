"""What can go wrong, each with the exit code of the table that C, Python and the shell share."""

from __future__ import annotations

import errno as _errno
from dataclasses import dataclass
from typing import Any, ClassVar

from sated._ffi import ffi, lib, text

__all__ = [
    "Detail",
    "DriveError",
    "DriveOSError",
    "FileOSError",
    "ParseError",
    "SatedError",
    "StalledError",
    "StateError",
    "UnsafeError",
    "UnsupportedError",
    "check",
    "exit_code",
    "file_error",
    "is_over",
]


@dataclass(frozen=True)
class Detail:
    """What a drive answered, beside the sentence."""

    layer: int = 0
    sense_key: int = 0
    asc: int = 0
    ascq: int = 0
    ata_status: int = 0
    ata_error: int = 0
    nvme_sct: int = 0
    nvme_sc: int = 0


class SatedError(Exception):
    """Every error of sated. `code` is C's, `exit_code` the command line's."""

    default_code: ClassVar[int] = lib.SATED_STATE
    reply: Any = None
    """Of a raw command: the `sated.Reply`, as far as things went."""

    def __init__(self, message: str, *, code: int | None = None, detail: Detail | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = self.default_code if code is None else code
        self.detail = detail or Detail()
        self.result: Any = None  # what a load had measured when it failed

    @property
    def layer(self) -> int:
        return self.detail.layer

    @property
    def exit_code(self) -> int:
        return int(lib.sated_error_exit_code(self.code, self.detail.layer))

    def __str__(self) -> str:
        return self.message


class ParseError(SatedError, ValueError):
    """A text, a number or a combination that has no meaning."""

    default_code = lib.SATED_PARSE


class UnsafeError(SatedError):
    """Refused, because it could destroy something."""

    default_code = lib.SATED_UNSAFE


class DriveError(SatedError):
    """The drive refused or failed."""

    default_code = lib.SATED_SENSE


class StalledError(DriveError, TimeoutError):
    """No progress within the time allowed."""

    default_code = lib.SATED_STALLED


class UnsupportedError(SatedError):
    """This drive, kernel, build or machine cannot do it."""

    default_code = lib.SATED_UNSUPPORTED


class StateError(SatedError, RuntimeError):
    """Not now: the object is in the wrong state."""

    default_code = lib.SATED_STATE


class DriveOSError(DriveError, OSError):
    """An errno of the drive or the file under test; also its builtin twin, such as FileNotFoundError."""


class FileOSError(SatedError, OSError):
    """An errno of one of our own files; also its builtin twin."""


_BY_CODE: dict[int, type[SatedError]] = {
    lib.SATED_PARSE: ParseError,
    lib.SATED_UNSAFE: UnsafeError,
    lib.SATED_STALLED: StalledError,
    lib.SATED_UNSUPPORTED: UnsupportedError,
    lib.SATED_STATE: StateError,
}
_TWINS: dict[tuple[type[SatedError], int], type[SatedError]] = {}


def _os_class(base: type[SatedError], number: int) -> type[SatedError]:
    """`base` joined with the builtin that Python has for this errno."""
    builtin = type(OSError(number, ""))
    if builtin is OSError:
        return base
    if (base, number) not in _TWINS:
        _TWINS[base, number] = type(f"{base.__name__.removesuffix('OSError')}{builtin.__name__}", (base, builtin), {})
    return _TWINS[base, number]


def _build(code: int, detail: Detail, message: str) -> SatedError:
    if code <= -4096:
        return _BY_CODE.get(code, DriveError)(message, code=code, detail=detail)
    number = -code
    if detail.layer == lib.SATED_LAYER_DRIVE and number == _errno.EBUSY:
        return UnsafeError(message, code=code, detail=detail)
    base = FileOSError if detail.layer == lib.SATED_LAYER_FILE else DriveOSError
    error = _os_class(base, number)(message, code=code, detail=detail)
    error.errno = number  # type: ignore[attr-defined]
    error.strerror = message  # type: ignore[attr-defined]
    return error


def last_error(code: int) -> SatedError:
    """The calling thread's last failure as an exception."""
    c = ffi.new("struct sated_detail *")
    lib.sated_detail_get(c)
    detail = Detail(c.layer, c.sense_key, c.asc, c.ascq, c.ata_status, c.ata_error, c.nvme_sct, c.nvme_sc)
    name = text(lib.sated_error_name(code))
    message = text(c.text) if c.code == code else f"{name} ({code})"
    return _build(code, detail, message)


def check(rc: int) -> int:
    """Returns rc where it says success, raises what C left where not."""
    if rc < 0:
        raise last_error(rc)
    return rc


def file_error(error: OSError, what: str) -> SatedError:
    """An OSError of one of our own files as sated's error; `what` is the sentence."""
    number = error.errno or _errno.EIO
    return _build(-number, Detail(layer=lib.SATED_LAYER_FILE), what)


def is_over(error: BaseException) -> bool:
    """Whether there is nobody left to ask, or nobody who may: the drive is gone, silent, or not ours to ask."""
    numbers = (_errno.ENODEV, _errno.ENXIO, _errno.EPERM, _errno.EACCES)
    return isinstance(error, StalledError) or (isinstance(error, DriveOSError) and error.errno in numbers)


def exit_code(error: BaseException) -> int:
    """The exit code for any exception.

    >>> exit_code(ParseError("no"))
    2
    """
    if isinstance(error, SatedError):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return 6
    if isinstance(error, OSError) and error.errno:
        return int(lib.sated_error_exit_code(-error.errno, lib.SATED_LAYER_FILE))
    return 70
