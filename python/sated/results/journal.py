"""The journal of a run: one JSON object a line, appended and synced; what resuming reads.

Events: `begun` (state of the drive before the first step), `resumed`, `started`, `finished`, `failed`, `interrupted`
and `complete`. Those that change what the drive holds name the checksum of the saved state of a simulated drive.
"""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path
from typing import Any

from sated import errors

NAME = "journal.jsonl"
SCHEMA = 1


def utc_now() -> str:
    """The wall clock in UTC, to the millisecond, with Z."""
    now = datetime.datetime.now(datetime.UTC)
    return now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"


def read(path: Path) -> list[dict[str, Any]]:
    """All whole lines; a torn last one is left out. @raises ParseError for a line that is damaged further up."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    entries: list[dict[str, Any]] = []
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if not isinstance(entry, dict) or not isinstance(entry.get("event"), str):
            raise errors.ParseError(f"{path}:{number}: not a line of a journal: restore the file or begin a new run")
        if entry.get("schema", SCHEMA) > SCHEMA:
            raise errors.ParseError(
                f"{path}:{number}: journal schema {entry['schema']} is newer than {SCHEMA}: use a newer sated"
            )
        entries.append(entry)
    return entries


class Journal:
    """The journal while a run is being worked on."""

    def __init__(self, directory: Path) -> None:
        """Cuts off a torn last line, so that what is appended begins on its own. @raises OSError."""
        self.path = directory / NAME
        self.entries = read(self.path)
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        size = os.fstat(self._fd).st_size
        whole = self.path.read_bytes().rfind(b"\n") + 1 if size else 0
        if whole != size:
            os.ftruncate(self._fd, whole)
        self._size = whole

    def append(self, event: str, **fields: Any) -> None:
        """Adds a line and waits until it is on the medium. @raises OSError; then nothing of the line is left."""
        entry = {"event": event, "utc": utc_now(), **fields}
        line = json.dumps(entry, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        try:
            done = 0
            while done < len(line):
                done += os.write(self._fd, line[done:])
            os.fsync(self._fd)
        except OSError as error:
            os.ftruncate(self._fd, self._size)
            error.filename = str(self.path)
            raise
        self._size += len(line)
        self.entries.append(entry)

    def close(self) -> None:
        """Closes the file; more than once does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def finished(entries: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The line of each finished step, by its id."""
    return {entry["step"]: entry for entry in entries if entry["event"] == "finished"}


def last_state(entries: list[dict[str, Any]]) -> str | None:
    """The checksum of the simulated drive's state that the last line with one names."""
    for entry in reversed(entries):
        if entry.get("state"):
            return str(entry["state"])
    return None
