"""`sated info`: what one drive is."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from .. import _text
from ._common import DRIVE, Json, command, emit, epilog, pairs

Uri = Annotated[str, typer.Argument(metavar="URI", help="PATH, serial:TEXT, replay:FILE or sim:NAME[,key=value]...")]


def info(uri: Uri, json: Json = False) -> None:
    """Show what a drive is: identity, capacity, over-provisioning, and what stands against writing to it."""
    import sated

    with sated.open(uri) as drive:
        provisioning = drive.provisioning()
        identity = {**asdict(drive.identity), "simulated": drive.identity.simulated}
        guard = drive.guard()
        told: dict[str, Any] = {
            "uri": uri,
            "identity": identity,
            "provisioning": {**asdict(provisioning), "label": provisioning.label},
            "guard": {
                "safe": guard.safe,
                "reasons": [*guard.reasons],
                "scope": guard.scope,
                "wipeable": guard.wipeable,
                "paths": [*guard.paths],
            },
        }
    if json:
        emit(told)
        return
    print(pairs(_lines(told), 18))


def _lines(told: dict[str, Any]) -> list[tuple[str, str]]:
    identity, provisioning, guard = told["identity"], told["provisioning"], told["guard"]
    vendor, model = identity["vendor"], identity["model"]
    whose = model if not vendor or (model or "").startswith(vendor) else f"{vendor} {model or ''}".strip()
    lines = [
        ("drive", whose or _text.UNKNOWN),
        ("serial", identity["serial"] or _text.UNKNOWN),
        ("firmware", identity["firmware"] or _text.UNKNOWN),
        ("path", identity["path"] or _text.UNKNOWN),
        ("transport", " ".join(part for part in (identity["transport"], identity["link"]) if part) or _text.UNKNOWN),
        *_attached(identity),
        ("capacity", _text.exact(identity["capacity_bytes"])),
    ]
    if identity["native_capacity_bytes"] not in (identity["capacity_bytes"], None):
        lines.append(("native capacity", _text.exact(identity["native_capacity_bytes"])))
        lines.append(("accessible", provisioning["label"]))
    if identity["raw_bytes"]:
        lines.append(("flash", f"{_text.exact(identity['raw_bytes'])} ({identity['raw_source']})"))
        of_user, of_raw = _text.percent(provisioning["op_of_user"]), _text.percent(provisioning["op_of_raw"])
        lines.append(("over-provisioning", f"{of_user} of the user's, {of_raw} of the flash"))
    sizes = {name: identity[f"{name}_block_bytes"] for name in ("logical", "physical")}
    lines.append(("blocks", ", ".join(f"{size} B {name}" for name, size in sizes.items() if size) or _text.UNKNOWN))
    if identity["scale"] > 1:
        lines.append(("scale", f"1/{identity['scale']} of the blocks; capacities above are what can be addressed"))
    if identity["token"] and not identity["simulated"]:
        lines.append(("token", identity["token"]))
    if identity["note"]:
        lines.append(("note", identity["note"]))
    lines.append(("writing", "allowed" if guard["safe"] else "refused"))
    lines.extend(("", reason) for reason in guard["reasons"])
    if guard["paths"]:
        lines.append(("path in use" if len(guard["paths"]) == 1 else "paths in use", ", ".join(guard["paths"])))
    if guard["scope"]:
        lines.append(("would touch", guard["scope"]))
    return lines


def _attached(identity: dict[str, Any]) -> list[tuple[str, str]]:
    """What not every drive has."""
    lines = []
    if identity["link_max"] and identity["link_max"] != identity["link"]:
        lines.append(("fastest link", identity["link_max"]))
    if identity["hba"]:
        driver = f", driver {identity['driver']}" if identity["driver"] else ""
        lines.append(("attached to", identity["hba"] + driver))
    named = ("namespaces", "controllers", "members")
    lines.extend((name, ", ".join(identity[name])) for name in named if identity[name])
    return lines


def add_to(app: typer.Typer) -> None:
    app.command("info", short_help="Show what one drive is.", epilog=epilog("sated info sim:x210,lba=80%", DRIVE))(
        command(info)
    )
