"""What the commands share: exit codes, one sentence per error, numbers and tables as text."""

from __future__ import annotations

import functools
import json
import math
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer

if TYPE_CHECKING:
    from sated import PowerControl

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
WipeSignatures = Annotated[
    bool,
    typer.Option(
        "--wipe-signatures",
        help="Clear old file systems and partition tables first, where nothing uses them.",
        show_default=False,
    ),
]
Create = Annotated[
    str | None,
    typer.Option(metavar="CAPACITY", help="Make the file first, such as 1GiB; an existing one is refused."),
]
PowerOff = Annotated[
    str | None,
    typer.Option(metavar="CMD", help="A command that switches the drive's power off; with --power-on."),
]
PowerOn = Annotated[str | None, typer.Option(metavar="CMD", help="A command that switches it on again.")]
PowerCycle = Annotated[
    str | None, typer.Option(metavar="CMD", help="One command for both, such as 'uhubctl -a cycle'.")
]


class Ends(Exception):
    """Ends a command with a sentence and an exit code."""

    def __init__(self, sentence: str, code: int) -> None:
        super().__init__(sentence)
        self.exit_code = code


def power_control(off: str | None, on: str | None, cycle: str | None) -> PowerControl:
    """How power is switched: by the commands given, else by the person at the terminal."""
    from sated import PowerControl

    ask = _ask_for_power if sys.stdin.isatty() and sys.stderr.isatty() else None
    return PowerControl(off=off, on=on, cycle_command=cycle, ask=ask)


def _ask_for_power(sentence: str) -> None:
    say(sentence)
    print("press Enter when that is done ", end="", file=sys.stderr, flush=True)
    if not sys.stdin.readline():
        raise Ends("nobody answered; go on with --resume once the power was switched", USAGE)


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
    if isinstance(value, bytes):
        return value.hex()
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


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table as text: the first `left` columns to the left, the others, being numbers, to the right."""
    lines = [list(head), *[list(row) for row in rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    told = []
    for line in lines:
        cells = [text.ljust(widths[i]) if i < left else text.rjust(widths[i]) for i, text in enumerate(line)]
        told.append("  ".join(cells).rstrip())
    return "\n".join(told)


def width() -> int | None:
    """Columns of the terminal that is written to; None where it is none: a pipe takes lines of any length."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def pairs(lines: Iterable[tuple[str, str]], indent: int) -> str:
    """Names and values, the values from column `indent` on; on a terminal long ones go on below their beginning."""
    told, columns = [], width()
    wrap = textwrap.TextWrapper(columns or 0, subsequent_indent=" " * indent)
    wrap.break_long_words = wrap.break_on_hyphens = False
    for name, value in lines:
        wrap.initial_indent = f"{name:<{indent}}"
        fits = not columns or columns < indent + 20 or len(wrap.initial_indent + value) <= columns
        told.append(wrap.initial_indent + value if fits else wrap.fill(value))
    return "\n".join(told)


def slug(text: str) -> str:
    """A text as a part of a file's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.").lower() or "drive"
