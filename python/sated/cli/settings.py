"""`sated settings`: how a drive is set."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import _text
from ._common import DRIVE, UNSAFE, USAGE, Confirm, Ends, Json, command, emit, epilog, pairs
from .info import Uri

if TYPE_CHECKING:
    from sated._settings import Settings

Wanted = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME=VALUE]...", help="What to set, such as write_cache=off or apm=254."),
]


def settings(
    uri: Uri,
    wanted: Wanted = None,
    restore: Annotated[bool, typer.Option("--restore", help="Set back what a run that was killed had set.")] = False,
    confirm: Confirm = None,
    json: Json = False,
) -> None:
    """Show or set a drive's write cache, read look-ahead, power states and block size.

    Names are write_cache, look_ahead and apst (on or off), apm, power_state and logical_block_bytes (numbers). None but
    the last outlasts a cut of power; logical_block_bytes formats the drive and destroys all data.
    """
    import sated
    from sated._settings import read

    if restore and wanted:
        raise Ends("give settings or --restore, not both", USAGE)
    if confirm is not None and not restore and not wanted:
        raise Ends("--confirm has no meaning where nothing is set: give NAME=VALUE or --restore", USAGE)
    values = dict(_split(each) for each in wanted or [])
    asked: dict[str, Any] = {name: read(name, value) for name, value in values.items()}
    with sated.open(uri) as drive:
        before = drive.settings()
        if asked:
            before = drive.set(**asked, confirm=confirm).before
        restored = drive.restore_settings(confirm=confirm) if restore else None
        after = drive.settings()
    if json:
        emit({"uri": uri, "before": asdict(before), "after": asdict(after), "restored": restored is not None})
        return
    print(pairs(_lines(before, after), 20))
    if restore and restored is None:
        print("nothing was to be set back")


def _split(word: str) -> tuple[str, str]:
    name, sign, value = word.partition("=")
    if not sign:
        raise Ends(f"{word}: give NAME=VALUE, such as write_cache=off", USAGE)
    return name.replace("-", "_"), value


def _told(value: bool | int | None) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return _text.UNKNOWN if value is None else str(value)


def _lines(before: Settings, after: Settings) -> list[tuple[str, str]]:
    lines = []
    for name, value in asdict(after).items():
        if name == "changeable":
            continue
        was = getattr(before, name)
        text = _told(value) if was == value else f"{_told(value)} (before: {_told(was)})"
        lines.append((name, text if name in after.changeable or value is None else f"{text}, cannot be set"))
    return lines


def add_to(app: typer.Typer) -> None:
    app.command(
        "settings",
        short_help="Show or set write cache, look-ahead, power states, block size.",
        epilog=epilog("sated settings sim:./my.sim write_cache=off", UNSAFE, DRIVE),
    )(command(settings))
