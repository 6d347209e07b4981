"""`sated list`: the drives of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from .. import _text
from ._common import DRIVE, Json, command, emit, epilog, pairs, table, width

if TYPE_CHECKING:
    from sated import Identity


def list_drives(json: Json = False) -> None:
    """Show every drive of this machine, the token that consents to writing to it, and why one may not be touched.

    No drive is opened, and none that sleeps is woken. Simulated drives are not listed: sated sim models names them.
    """
    import sated

    rows = [_row(identity) for identity in sated.list()]
    if json:
        emit(rows)
        return
    if not rows:
        print("no drives here; simulated ones always are: sated info sim:x210")
        return
    head = ("drive", "model", "capacity", "attached by", "token", "may not be touched because")
    lines = [
        (
            row["path"] or _text.UNKNOWN,
            row["model"] or _text.UNKNOWN,
            _text.capacity(row["capacity_bytes"]),
            " ".join(part for part in (row["transport"], row["link"]) if part) or _text.UNKNOWN,
            row["token"] or _text.UNKNOWN,
            "; ".join(row["reasons"]) or "(nothing stands against it)",
        )
        for row in rows
    ]
    told, columns = table(head, lines, left=len(head)), width()
    if columns and max(len(line) for line in told.splitlines()) > columns:  # one below the other
        told = "\n\n".join(pairs(zip((*head[:-1], "not because"), line, strict=True), 14) for line in lines)
    print(told)


def _row(identity: Identity) -> dict[str, Any]:
    return {
        "path": identity.path,
        "vendor": identity.vendor,
        "model": identity.model,
        "serial": identity.serial,
        "firmware": identity.firmware,
        "capacity_bytes": identity.capacity_bytes,
        "rotation_rpm": identity.rotation_rpm,
        "transport": identity.transport,
        "link": identity.link,
        "link_max": identity.link_max,
        "hba": identity.hba,
        "driver": identity.driver,
        "namespaces": identity.namespaces,
        "controllers": identity.controllers,
        "members": identity.members,
        "mounted": identity.mounted,
        "token": identity.token,
        "safe": not identity.reasons,
        "reasons": identity.reasons,
    }


def add_to(app: typer.Typer) -> None:
    app.command("list", short_help="Show the drives of this machine.", epilog=epilog("sated list --json", DRIVE))(
        command(list_drives)
    )
