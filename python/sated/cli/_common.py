"""What the commands share: exit codes, one sentence per error, numbers and tables as text."""

from __future__ import annotations

import functools
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, ParamSpec

import typer

P = ParamSpec("P")

OK, FAILED, USAGE, UNSAFE, DRIVE, NOT_STEADY, STOPPED, MISSING, PARTIAL, BUG = 0, 1, 2, 3, 4, 5, 6, 7, 8, 70

EXIT_CODES = {
    OK: "ok",
    FAILED: "a criterion failed",
    USAGE: "usage",
    UNSAFE: "refused for safety",
    DRIVE: "drive error",
    NOT_STEADY: "not steady",
    STOPPED: "stopped by the user",
    MISSING: "something is missing on this machine",
    PARTIAL: "partial result",
    BUG: "a bug",
}

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object (or array) instead of text.")]
Confirm = Annotated[
    str | None,
    typer.Option(metavar="TOKEN", help="Consent to writing to the drive: its token, as `sated list` shows it."),
]
Create = Annotated[
    str | None,
    typer.Option(metavar="CAPACITY", help="Make the file first, such as 1GiB; an existing one is refused."),
]


class Ends(Exception):
    """Ends a command with a sentence and an exit code."""

    def __init__(self, sentence: str, code: int) -> None:
        super().__init__(sentence)
        self.exit_code = code


def epilog(example: str, *codes: int) -> str:
    """The end of a command's help: an example, and the exit codes that it can have."""
    told = "\n".join(f"  {code:>2}  {EXIT_CODES[code]}" for code in sorted({OK, USAGE, MISSING, BUG, *codes}))
    return f"\b\nExample:\n  {example}\n\n\b\nExit codes:\n{told}"


def debugging() -> bool:
    return os.environ.get("SATED_LOG", "").lower() == "debug"


def say(sentence: str) -> None:
    """One line on standard error."""
    print(f"sated: {' '.join(sentence.split())}", file=sys.stderr, flush=True)


def emit(value: Any) -> None:
    """Prints JSON; what is not a number is null there."""
    print(json.dumps(_plain(value), indent=2, ensure_ascii=False))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, (str, int, bool)) or value is None:
        return str(value) if isinstance(value, str) else value
    return str(value)


def command(function: Callable[P, int | None]) -> Callable[P, None]:
    """Turns what a command returns or raises into an exit code, and an error into one sentence."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        raise typer.Exit(guarded(lambda: function(*args, **kwargs) or OK))

    return run


def guarded(function: Callable[[], int]) -> int:
    try:
        return function()
    except KeyboardInterrupt:
        say("stopped")
        return STOPPED
    except Ends as end:
        say(str(end))
        return end.exit_code
    except BrokenPipeError:
        # The reader of our output went away, as `head` does: nothing is wrong, and nobody is left to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except ImportError as error:
        if debugging():
            raise
        return _import_failed(error)
    except Exception as error:
        if debugging():
            raise
        return _failed(error)


def _import_failed(error: ImportError) -> int:
    name = (error.name or "").partition(".")[0]
    if name in ("", "sated"):
        say(f"sated is not complete here ({error}); run `make ready` in the checkout, or install the package again")
    else:
        say(f"the Python package {name} is missing or broken ({error}); install it with: pip install 'sated[all]'")
    return MISSING


def _failed(error: Exception) -> int:
    from sated import errors

    code = errors.exit_code(error)
    sentence = str(error)
    if code == BUG and not isinstance(error, errors.SatedError):
        sentence = f"a bug in sated: {type(error).__name__}: {error}; please report it (SATED_LOG=debug shows where)"
    say(sentence)
    return code


def count(value: float | None) -> str:
    """A rate or a number of things: 41,826; 3.17 below a hundred."""
    if value is None or not math.isfinite(value):
        return "-"
    if abs(value) < 100 and value != int(value):
        return f"{value:,.3g}" if abs(value) < 10 else f"{value:,.1f}"
    return f"{value:,.0f}"


def number(value: float | None, digits: int = 1) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:,.{digits}f}"


_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def time_unit(values: Iterable[float | None]) -> tuple[float, str]:
    """The unit in which a block of latencies reads best: that of its median."""
    known = sorted(v for v in values if v is not None and math.isfinite(v) and v > 0)
    if not known:
        return _TIMES[2]
    middle = known[len(known) // 2]
    return next((unit for unit in _TIMES if middle >= unit[0]), _TIMES[-1])


def latency(value: float | None, unit: tuple[float, str]) -> str:
    """A latency in a unit from `time_unit`, with four figures where there is room."""
    if value is None or not math.isfinite(value) or value < 0:
        return "-"
    scaled = value / unit[0]
    return f"{scaled:,.{0 if scaled >= 1000 else 1 if scaled >= 100 else 2 if scaled >= 10 else 3}f}"


def latency_text(value: float | None) -> str:
    """A latency alone, with its unit."""
    if value is None or not math.isfinite(value) or value < 0:
        return "-"
    unit = time_unit([value])
    return f"{latency(value, unit)} {unit[1]}"


def capacity(value: float | None) -> str:
    """A capacity, decimal: 256.1 GB."""
    if value is None or not math.isfinite(value):
        return "-"
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= factor:
            return f"{value / factor:,.4g} {unit}"
    return f"{value:,.0f} B"


def io_size(value: float | None) -> str:
    """An I/O size, binary: 4k, 1m."""
    if value is None:
        return "mixed"
    whole = int(value)
    for factor, unit in ((1 << 20, "m"), (1 << 10, "k")):
        if whole >= factor and whole % factor == 0:
            return f"{whole // factor}{unit}"
    return str(whole)


def duration(seconds: float | None) -> str:
    """0:07, 12:30, 5:00:00."""
    if seconds is None or not math.isfinite(seconds):
        return "-"
    whole = max(0, round(seconds))
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def percent(value: float | None, digits: int = 1, *, sign: bool = False) -> str:
    if value is None or not math.isfinite(value):
        return "-"
    return f"{100 * value:+.{digits}f} %" if sign else f"{100 * value:.{digits}f} %"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table as text: the first `left` columns to the left, the others, being numbers, to the right."""
    lines = [list(head), *[list(row) for row in rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    told = []
    for line in lines:
        cells = [text.ljust(widths[i]) if i < left else text.rjust(widths[i]) for i, text in enumerate(line)]
        told.append("  ".join(cells).rstrip())
    return "\n".join(told)


def slug(text: str) -> str:
    """A text as a part of a file's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.").lower() or "drive"
