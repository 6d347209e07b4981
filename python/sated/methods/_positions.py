"""Where the keys of a TOML text stand. tomllib keeps no positions, so they are found again in a text it accepted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

Path = tuple[str | int, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}\n#]*")


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {(): 1}
        self._counts: dict[Path, int] = {}

    def _line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _space(self, *, lines: bool) -> None:
        """Skips blanks and comments; with `lines` line feeds too."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif char in " \t\r" or (lines and char == "\n"):
                self.at += 1
            else:
                return

    def _string(self) -> str:
        """A quoted string; where it is a key, without its quotes."""
        quote = self._peek()
        if self.text.startswith(quote * 3, self.at):
            begin = self.at + 3
            end = begin
            while not self.text.startswith(quote * 3, end):
                end += 2 if quote == '"' and self.text[end] == "\\" else 1
            # Up to two more quotes may belong to the text.
            while self.text[end + 3 : end + 4] == quote:
                end += 1
            self.at = end + 3
            return self.text[begin:end]
        end = self.at + 1
        while self.text[end] != quote:
            end += 2 if quote == '"' and self.text[end] == "\\" else 1
        raw = self.text[self.at : end + 1]
        self.at = end + 1
        return str(json.loads(raw)) if quote == '"' and "\\" in raw else raw[1:-1]

    def _key(self) -> Path:
        parts: list[str | int] = []
        while True:
            self._space(lines=False)
            if self._peek() in ('"', "'"):
                parts.append(self._string())
            else:
                match = _BARE.match(self.text, self.at)
                if match is None:
                    return tuple(parts)
                parts.append(match.group())
                self.at = match.end()
            self._space(lines=False)
            if self._peek() != ".":
                return tuple(parts)
            self.at += 1

    def _note(self, base: Path, key: Path, line: int) -> Path:
        """Remembers each part of a dotted key; the first place counts."""
        path = base
        for part in key:
            path = (*path, part)
            self.lines.setdefault(path, line)
        return path

    def _pair(self, base: Path) -> None:
        line = self._line()
        path = self._note(base, self._key(), line)
        self._space(lines=False)
        self.at += 1  # the sign of equality
        self._value(path)

    def _list(self, closing: str, item: Callable[[int], None]) -> None:
        self.at += 1
        index = 0
        while True:
            self._space(lines=True)
            if self._peek() == closing:
                self.at += 1
                return
            if self._peek() == ",":
                self.at += 1
                continue
            item(index)
            index += 1

    def _value(self, path: Path) -> None:
        self._space(lines=False)
        char = self._peek()
        if char == "{":
            self._list("}", lambda _: self._pair(path))
        elif char == "[":
            self._list("]", lambda index: self._element((*path, index)))
        elif char in ('"', "'"):
            self._string()
        else:
            match = _SCALAR.match(self.text, self.at)
            self.at = match.end() if match else len(self.text)

    def _element(self, path: Path) -> None:
        self.lines.setdefault(path, self._line())
        self._value(path)

    def _resolve(self, key: Path) -> Path:
        """A header's key with the index of the array elements it stands in."""
        path: Path = ()
        for part in key[:-1]:
            path = (*path, part)
            if path in self._counts:
                path = (*path, self._counts[path])
        return (*path, key[-1])

    def scan(self) -> dict[Path, int]:
        base: Path = ()
        while True:
            self._space(lines=True)
            if self.at >= len(self.text):
                return self.lines
            if self._peek() == "[":
                array = self.text.startswith("[[", self.at)
                line = self._line()
                self.at += 2 if array else 1
                base = self._resolve(self._key())
                self.lines.setdefault(base, line)
                if array:
                    self._counts[base] = self._counts.get(base, -1) + 1
                    base = (*base, self._counts[base])
                    self.lines[base] = line
                self.at += 2 if array else 1
            else:
                self._pair(base)


def positions(text: str) -> dict[Path, int]:
    """The line of each key of a TOML document, counted from 1; elements of arrays by their index.

    >>> positions('a = 1\\n[[step]]\\nkind = "fill"\\n')[("step", 0, "kind")]
    3
    """
    return _Scanner(text).scan()


def line_of(lines: dict[Path, int], path: Path) -> int:
    """The line of a path, or of the nearest thing around it that has one."""
    while path not in lines:
        path = path[:-1]
    return lines[path]
