"""`sated resume`: goes on with a run that was cut short."""

from __future__ import annotations

import typer

from ._common import (
    DRIVE,
    NOT_STEADY,
    PARTIAL,
    STOPPED,
    UNSAFE,
    Confirm,
    Json,
    PowerCycle,
    PowerOff,
    PowerOn,
    command,
    epilog,
    power_control,
)
from ._run import carry_out, refuse_finished
from .report import RunArgument


def resume(
    run: RunArgument,
    confirm: Confirm = None,
    power_off: PowerOff = None,
    power_on: PowerOn = None,
    power_cycle: PowerCycle = None,
    json: Json = False,
) -> int:
    """Go on with a run that was cut short, at the step in which it was.

    A simulated drive is first put back to where it stood at the end of the last finished step.
    """
    from sated.methods import runner

    refuse_finished(run, f"`sated report {run}` makes its report again")
    power = power_control(power_off, power_on, power_cycle)
    return carry_out(
        run, lambda progress: runner.resume(run, confirm=confirm, power=power, progress=progress), json=json
    )


def add_to(app: typer.Typer) -> None:
    codes = (UNSAFE, DRIVE, NOT_STEADY, STOPPED, PARTIAL)
    short = "Go on with a run that was cut short."
    app.command("resume", short_help=short, epilog=epilog("sated resume runs/x210", *codes))(command(resume))
