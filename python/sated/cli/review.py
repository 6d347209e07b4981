"""`sated review`: a whole plan on one drive."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._common import (
    DRIVE,
    NOT_STEADY,
    PARTIAL,
    STOPPED,
    UNSAFE,
    Confirm,
    Create,
    Json,
    PowerCycle,
    PowerOff,
    PowerOn,
    WipeSignatures,
    command,
    epilog,
    power_control,
    slug,
)
from ._run import carry_out, refuse_finished
from .info import Uri

if TYPE_CHECKING:
    from sated import Drive


def review(
    uri: Uri,
    plan: Annotated[str, typer.Option(metavar="NAME|FILE", help="A built-in plan (quick, op-study) or a TOML file.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="The run's directory. [default: runs/DRIVE-PLAN-TIME]"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random draws.")] = 0,
    confirm: Confirm = None,
    create: Create = None,
    power_off: PowerOff = None,
    power_on: PowerOn = None,
    power_cycle: PowerCycle = None,
    wipe_signatures: WipeSignatures = False,
    json: Json = False,
) -> int:
    """Run a whole plan over a drive and write its report; the last line printed is the report's path.

    An unfinished run of the same plan, seed and drive in RUN is gone on with. Ctrl-C ends the running step and keeps
    what there is. Consent is given once for the whole plan.
    """
    import sated
    from sated.methods import plan as plans

    power = power_control(power_off, power_on, power_cycle)
    chosen = plans.load(plan)
    with sated.open(uri, create=create) as drive:
        path = out if out is not None else Path("runs") / _name(drive, chosen.name)
        refuse_finished(path, "give another --out, or none")
        return carry_out(
            path,
            lambda progress: sated.review(
                drive,
                plan=chosen,
                out=path,
                confirm=confirm,
                seed=seed,
                power=power,
                wipe_signatures=wipe_signatures,
                progress=progress,
            ),
            json=json,
        )


def _name(drive: Drive, plan: str) -> str:
    identity = drive.identity
    whose = Path(identity.path or drive.uri).name if "file" in identity.features else identity.model or ""
    return f"{slug(whose)}-{plan}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"


def add_to(app: typer.Typer) -> None:
    example = 'sated review test.bin --plan quick --confirm "$(realpath test.bin)"'
    codes = (UNSAFE, DRIVE, NOT_STEADY, STOPPED, PARTIAL)
    app.command("review", short_help="Run a whole plan on one drive.", epilog=epilog(example, *codes))(command(review))
