"""Our own files: written beside and renamed, so that a reader or a killed writer never meets half of one."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Self

from sated import errors


def open_for_writing(path: Path) -> IO[bytes]:
    """Opens one of our files for writing, emptied; every byte of results goes through a file made here."""
    return path.open("wb")


def sync_directory(path: Path) -> None:
    """Makes the names in a directory durable."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def rename(source: Path, target: Path) -> None:
    """Puts a finished file in its place, replacing what was there, durably."""
    source.replace(target)
    sync_directory(target.parent)


def write(path: Path, fill: Callable[[IO[bytes]], None]) -> None:
    """Writes a whole file beside its place, syncs and renames it. @raises OSError."""
    beside = path.with_name(path.name + ".new")
    try:
        with open_for_writing(beside) as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        beside.unlink(missing_ok=True)
        if error.filename is None:
            error.filename = str(path)
        raise
    rename(beside, path)


def write_json(path: Path, value: Any) -> None:
    """Writes a JSON document whole. @raises OSError, and ValueError for a number that is not finite."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file whole. @raises OSError."""

    def fill(file: IO[bytes]) -> None:
        file.write(data)

    write(path, fill)


def checksum(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def explain(error: OSError, run: Path) -> errors.SatedError:
    """The one sentence for a failure of our own files: what, where, and what to do next.

    A full disk has exit code 8, as what is written is kept; anything else has 7.
    """
    number = error.errno if error.errno is not None else errno.EIO
    where = error.filename if error.filename is not None else run
    if number in (errno.ENOSPC, errno.EDQUOT):
        remedy = f"every finished step is kept; make room, then run: sated resume {run}"
    elif number in (errno.EACCES, errno.EPERM, errno.EROFS):
        remedy = f"allow writing there, then run: sated resume {run}"
    else:
        remedy = f"every finished step is kept; when it can be written again, run: sated resume {run}"
    return errors.file_error(error, f"{where}: {os.strerror(number)}: {remedy}")


class Lock:
    """Holds a run directory for this process; the kernel lets go of it when the process dies, however it dies."""

    def __init__(self, directory: Path) -> None:
        """@raises FileOSError (exit code 7) naming the process that holds the directory."""
        self._path = directory / "lock"
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._fd)
            raise errors.file_error(
                error,
                f"{directory}: another process works on this run (pid {holder}): wait for it or stop it first",
            ) from None
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)
        except OSError:
            # The lock itself holds; only its label could not be written, as on a full disk.
            pass

    def release(self) -> None:
        """Lets go; more than once does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
