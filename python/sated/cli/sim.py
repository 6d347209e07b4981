"""`sated sim`: simulated drives."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from .. import _text
from ._common import Json, command, emit, epilog
from .info import Uri

app = typer.Typer(
    help="Simulated drives: their models, state files and counters.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=epilog("sated sim models"),
)

Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model's name: sated sim models lists them.")]


def models(json: Json = False) -> None:
    """List the models of simulated drives."""
    import sated

    names = sated.sim.models()
    if json:
        emit([{"name": name, "description": _description(name)} for name in names])
        return
    for name in names:
        print(f"{name:<12}{_description(name)}".rstrip())


def _description(name: str) -> str:
    import sated

    told = sated.sim.model(name)
    return str(told.get("description") or told.get("model") or "")


def show(model: Model, json: Json = False) -> None:
    """Print a model: every value, with where it comes from (published, inferred or fitted)."""
    import sated

    if json:
        emit(sated.sim.model(model))
    else:
        print(sated.sim.model_text(model), end="")


def create(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model's name, or sim:NAME,key=value... to set more.")
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The state file; an existing one is refused.")],
    json: Json = False,
) -> None:
    """Make a simulated drive that keeps its state in FILE from one command to the next; its URI is printed."""
    import sated

    uri = sated.sim.create(model.removeprefix("sim:"), file)
    if json:
        emit({"uri": uri, "file": str(file)})
    else:
        print(uri)


def counters(uri: Uri, json: Json = False) -> None:
    """Print what a simulated drive has counted: pages programmed, blocks erased, commands served, energy."""
    import sated

    with sated.open(uri) as drive:
        if drive.sim is None:
            raise sated.UnsupportedError(f"{uri}: only simulated drives have these counters; name one as sim:NAME")
        counted = drive.sim.counters
        told = {**asdict(counted), "write_amplification": counted.write_amplification}
    if json:
        emit(told)
        return
    for name, value in told.items():
        print(f"{name:<20}{_text.number(value):>20}")


app.command("models", short_help="List the models.", epilog=epilog("sated sim models --json"))(command(models))
app.command("show", short_help="Print a model.", epilog=epilog("sated sim show x210"))(command(show))
app.command(
    "create", short_help="Make a drive that keeps its state in a file.", epilog=epilog("sated sim create x210 my.sim")
)(command(create))
app.command("counters", short_help="Print what a drive has counted.", epilog=epilog("sated sim counters sim:./my.sim"))(
    command(counters)
)
