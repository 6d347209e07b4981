"""`sated list`: the drives of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from .. import _text
from ._common import DRIVE, Json, command, emit, epilog, table

if TYPE_CHECKING:
    from sated import Identity


def list_drives(json: Json = False) -> None:
    """Show every drive of this machine, the token that consents to writing to it, and why one may not be touched.

    Nothing is written to any drive. Simulated drives are not listed: sated sim models names them.
    """
    import sated

    rows = [_row(identity) for identity in sated.list()]
    if json:
        emit(rows)
        return
    if not rows:
        print("no drives here; simulated ones always are: sated info sim:x210")
        return
    head = ("drive", "model", "capacity", "token", "may not be touched because")
    print(
        table(
            head,
            [
                (
                    row["path"],
                    row["model"] or "-",
                    _text.capacity(row["capacity_bytes"]),
                    row["token"] or "-",
                    "; ".join(row["reasons"]) or "(nothing stands against it)",
                )
                for row in rows
            ],
            left=len(head),
        )
    )


def _row(identity: Identity) -> dict[str, Any]:
    import sated

    reasons: list[str] = []
    safe = False
    try:
        with sated.open(identity.path) as drive:
            guard = drive.guard()
            safe, reasons = guard.safe, [*guard.reasons]
    except sated.SatedError as error:
        reasons = [str(error)]
    return {
        "path": identity.path,
        "vendor": identity.vendor,
        "model": identity.model,
        "serial": str(identity.serial),
        "capacity_bytes": identity.capacity_bytes,
        "transport": identity.transport,
        "token": identity.token,
        "safe": safe,
        "reasons": reasons,
    }


def add_to(app: typer.Typer) -> None:
    app.command("list", short_help="Show the drives of this machine.", epilog=epilog("sated list --json", DRIVE))(
        command(list_drives)
    )
