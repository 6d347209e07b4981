"""`sated report`: the report of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._common import PARTIAL, Json, command, emit, epilog

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run, such as runs/x210.")]


def report(
    run: RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write it. [default: report.html in the run's directory]"),
    ] = None,
    json: Json = False,
) -> None:
    """Write the report of a run, finished or not, as one HTML file that needs nothing else, and print its path."""
    import sated

    path = sated.Run(run).report(out)
    if json:
        emit({"report": str(path)})
    else:
        print(path)


def add_to(app: typer.Typer) -> None:
    example = "sated report runs/x210 --out x210.html"
    app.command("report", short_help="Write the report of a run.", epilog=epilog(example, PARTIAL))(command(report))
