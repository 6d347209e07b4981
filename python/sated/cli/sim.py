"""`sated sim`: simulated drives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import _text
from ._common import FAILED, OK, Json, command, emit, epilog, say
from .info import Uri

if TYPE_CHECKING:
    from sated._expected import Figure
    from sated.sim import Simulation

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
    fill: Annotated[
        str,
        typer.Option(
            metavar="WORD", help="What it holds: fresh, sequential or random (:50% for a part of it), or steady."
        ),
    ] = "fresh",
    json: Json = False,
) -> None:
    """Make a simulated drive that keeps its state in FILE from one command to the next; its URI is printed."""
    import sated

    keys = {} if fill == "fresh" else {"fill": fill}
    uri = sated.sim.create(model.removeprefix("sim:"), file, **keys)
    if json:
        emit({"uri": uri, "file": str(file)})
    else:
        print(uri)


def validate(
    model: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Models with published figures.")],
    scale: Annotated[str, typer.Option(metavar="1/N", help="Size of the simulated drives.")] = "1/64",
    seed: Annotated[int, typer.Option(metavar="N", help="Of the addresses.")] = 1,
    json: Json = False,
) -> int:
    """Measure the figures published for a drive on its model, and print how far off each is.

    MISS is a figure outside its tolerance; one that the model allows to miss says why. Figures without a tolerance are
    shown only, such as the greatest latency, with how many I/Os it is of.
    """
    import sated

    figures = [figure for name in model for figure in sated.sim.validate(name, scale=scale, seed=seed)]
    missed = [figure for figure in figures if figure.outcome == "MISS"]
    if json:
        emit([{**asdict(figure), "difference": figure.difference} for figure in figures])
    else:
        print("\n".join(_figures(figures)))
    if missed:
        told = ", ".join(f"{figure.model}: {figure.name} {figure.setting}".rstrip() for figure in missed)
        say(f"{len(missed)} of {len(figures)} figures outside their tolerance: {told}")
    return FAILED if missed else OK


def _figures(figures: list[Figure]) -> Iterator[str]:
    head = ("", "", "published", "simulated", "", "difference", "tolerance", "", "I/Os")
    rows = [head]
    for f in figures:
        difference = f"{f.measured - f.published:+.2f}" if f.absolute else f"{100 * f.difference:+.1f} %"
        tolerance = "" if f.tolerance is None else f"{f.tolerance:g}" if f.absolute else f"{100 * f.tolerance:.0f} %"
        values = (_text.number(f.published), _text.number(f.measured), f.unit, difference, tolerance)
        rows.append((f"{f.model} {f.name}", f.setting, *values, f.outcome, _text.number(f.ios)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    left = {0, 1, 4, 7}
    for row in rows:
        yield "  ".join(
            text.ljust(width) if i in left else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
    for f in figures:
        if f.reason:
            yield f"allowed: {f.model} {f.name}: {f.reason}"


def counters(uri: Uri, json: Json = False) -> None:
    """Print what a simulated drive has counted: pages programmed, blocks erased, commands served, energy."""
    with _simulated(uri) as simulation:
        counted = simulation.counters
        told = {**asdict(counted), "write_amplification": counted.write_amplification}
    if json:
        emit(told)
        return
    for name, value in told.items():
        print(f"{name:<20}{_text.number(value):>20}")


def execute(
    line: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND [ARGUMENT]...", help="The program to run, with its arguments.")
    ],
    drive: Annotated[
        str,
        typer.Option("--drive", metavar="FILE|URI", help="A state file (sated sim create), or sim:NAME,state=FILE."),
    ],
) -> int:
    """Run an unmodified program against a simulated drive.

    For it, and for all that it starts, the drive is /dev/sim0 and /dev/sgsim0 (SATA, SAS) or /dev/nvmesim0,
    /dev/nvmesim0n1 and so on (NVMe; /dev/nvmesim1 is the second controller). Sleeping runs on the drive's clock and
    takes no time. What happens to the drive is kept in its state file; a program that is killed cuts its power. The
    exit code is the program's.
    """
    import sated

    return sated.sim.execute(line, drive=drive)


def fail(
    uri: Uri,
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What goes wrong; a wrong one lists them all.")],
    opcode: Annotated[str, typer.Option(metavar="BYTE", help="Only commands of this code, such as 0xf4.")] = "any",
    after: Annotated[int, typer.Option(metavar="N", help="Let so many matching commands through first.")] = 0,
    count: Annotated[int, typer.Option(metavar="N", help="Meet so many; 0 = until `sated sim heal`.")] = 0,
    outcome: Annotated[str, typer.Option(metavar="WORD", help="Of power-cut: before, after or half.")] = "before",
    sense: Annotated[str | None, typer.Option(metavar="K/AA/QQ", help="Of fail: the sense, such as 3/11/00.")] = None,
    error: Annotated[int, typer.Option(metavar="N", help="Of fail: the ATA ERROR register.")] = 0x04,
    status: Annotated[int, typer.Option(metavar="N", help="Of fail: the NVMe status.")] = 0x6,
    json: Json = False,
) -> None:
    """Order a fault: it is kept with the drive's state."""
    import sated

    try:
        code = None if opcode == "any" else int(opcode, 0)
        told = (0x5, 0x24, 0) if sense is None else tuple(int(part, 16) for part in sense.split("/"))
        if len(told) != 3:
            raise ValueError
    except ValueError:
        raise sated.ParseError(
            f"--opcode {opcode} --sense {sense}: give a byte such as 0xf4, and sense as K/AA/QQ in hex, such as 3/11/00"
        ) from None
    with _simulated(uri) as simulation:
        simulation.fail(
            kind,
            opcode=code,
            after=after,
            count=count,
            outcome=outcome,
            sense=(told[0], told[1], told[2]),
            ata_error=error,
            nvme_status=status,
        )
    if json:
        emit({"uri": uri, "fault": kind})


def heal(uri: Uri, json: Json = False) -> None:
    """Take all faults of a drive away."""
    with _simulated(uri) as simulation:
        simulation.heal()
    if json:
        emit({"uri": uri, "fault": None})


def power(uri: Uri, json: Json = False) -> None:
    """Switch a drive off and on."""
    with _simulated(uri) as simulation:
        simulation.power_cycle()
    if json:
        emit({"uri": uri, "power": "cycled"})


@contextmanager
def _simulated(uri: str) -> Iterator[Simulation]:
    import sated

    with sated.open(uri) as drive:
        if drive.sim is None:
            raise sated.UnsupportedError(f"{uri}: is no simulated drive; name one as sim:./FILE or sim:NAME,state=FILE")
        yield drive.sim


app.command("models", short_help="List the models.", epilog=epilog("sated sim models --json"))(command(models))
app.command("show", short_help="Print a model.", epilog=epilog("sated sim show x210"))(command(show))
app.command(
    "validate",
    short_help="Compare a model with what was published.",
    epilog=epilog("sated sim validate x210 710 s840", FAILED),
)(command(validate))
app.command(
    "create", short_help="Make a drive that keeps its state in a file.", epilog=epilog("sated sim create x210 my.sim")
)(command(create))
app.command("counters", short_help="Print what a drive has counted.", epilog=epilog("sated sim counters sim:./my.sim"))(
    command(counters)
)
app.command(
    "exec",
    short_help="Run hdparm, smartctl, nvme ... against a drive.",
    epilog=epilog("sated sim exec --drive my.sim -- hdparm -I /dev/sim0"),
    context_settings={"ignore_unknown_options": True},
)(command(execute))
app.command(
    "fail",
    short_help="Order a fault.",
    epilog=epilog("sated sim fail sim:./my.sim power-cut --opcode 0xf4 --outcome half"),
)(command(fail))
app.command("heal", short_help="Take all faults away.", epilog=epilog("sated sim heal sim:./my.sim"))(command(heal))
app.command("power", short_help="Switch a drive off and on.", epilog=epilog("sated sim power sim:./my.sim"))(
    command(power)
)
