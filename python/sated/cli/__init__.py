"""The command `sated`: one file per command. Nothing heavy is imported before a command runs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from . import _common, capacity, doctor, health, info, load, purge, report, resume, review, settings, sim
from . import list as list_command

app = typer.Typer(
    name="sated",
    help="Measures solid-state drives until they are sated: purge, precondition to steady state, measure, report.",
    epilog=_common.epilog("sated review sim:x210,scale=1/64 --plan op-study", *_common.EXIT_CODES),
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        import sated

        print(f"sated {sated.__version__}")
        raise typer.Exit(_common.OK)


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


for module in (list_command, info, health, purge, capacity, settings, load, review, resume, report, doctor):
    module.add_to(app)
app.add_typer(sim.app, name="sim")


def _log_to_stderr() -> None:
    import logging

    level = os.environ.get("SATED_LOG", "").upper()
    if level in ("DEBUG", "INFO", "WARNING", "ERROR"):
        logging.basicConfig(level=level, format="%(name)s: %(levelname)s: %(message)s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line. @param arguments without the program's name; by default those of the process.

    Return: the exit code.
    """
    # What ends a service ends a measurement like Ctrl-C: what there is is kept.
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _log_to_stderr()
        code = app(args=None if arguments is None else [*arguments], prog_name="sated", standalone_mode=False)
        sys.stdout.flush()
        return int(code or _common.OK)
    except KeyboardInterrupt:
        _common.say("stopped")
        return _common.STOPPED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _common.OK
    except Exception as error:
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        _common.say(_usage(error, message()))
        return _common.USAGE
    finally:
        signal.signal(signal.SIGTERM, previous)


def _usage(error: Exception, sentence: str) -> str:
    """A usage error with the command it belongs to."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "sated"
    sentence = sentence.strip().rstrip(".")
    if not sentence:
        return f"say which command: {path} --help lists them"
    return f"{sentence[0].lower()}{sentence[1:]}; {path} --help tells what it takes"
