"""The live line: on a terminal one line that renews itself, elsewhere only the lines that stay."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.live import Live


class Line:
    """Shows on standard error what is going on, so that standard output holds results only.

    `show` renews the line, at most ten times a second and on a terminal only; `keep` prints a line that stays.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        """@param quiet shows and keeps nothing: for --json."""
        self._quiet = quiet
        self._live: Live | None = None
        self._next = 0.0

    def __enter__(self) -> Line:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, highlight=False)
            self._live = Live(console=console, transient=True, auto_refresh=False)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.update("")
            self._live.stop()
            self._live = None

    def show(self, text: str, *, now: bool = False) -> None:
        """@param now at once, however short ago the last one was."""
        clock = time.monotonic()
        if self._live is None or (clock < self._next and not now):
            return
        self._next = clock + 0.1
        from rich.text import Text

        self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)

    def keep(self, text: str) -> None:
        if self._quiet:
            return
        if self._live is not None:
            from rich.text import Text

            self._live.console.print(Text(text, no_wrap=True, overflow="ellipsis"))
        else:
            # Hours of measuring do not end because nobody reads along any more.
            with suppress(BrokenPipeError):
                print(text, file=sys.stderr, flush=True)
