"""`sated health`: how one drive is."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import _text
from ._common import DRIVE, Json, command, emit, epilog

if TYPE_CHECKING:
    from sated import Health

Uri = Annotated[str, typer.Argument(metavar="URI", help="PATH, serial:TEXT, replay:FILE or sim:NAME[,key=value]...")]
Raw = Annotated[bool, typer.Option("--raw", help="Add the pages as they came, in hexadecimal.")]


def health(uri: Uri, json: Json = False, raw: Raw = False) -> None:
    """Show how a drive is: temperature, wear, what was written to it, errors, self-tests.

    Reads only. What the drive does not tell is "–" (null in JSON), never 0.
    """
    import sated

    with sated.open(uri) as drive:
        told = drive.health()
    pages = {name: page.hex() for name, page in told.raw.items()}
    if json:
        emit(
            {**{f.name: getattr(told, f.name) for f in fields(told) if f.name != "raw"}, "raw": pages if raw else None}
        )
        return
    for name, value in _lines(told):
        print(f"{name:<24}{value}")
    for name, page in pages.items() if raw else ():
        print(f"\n{name}")
        for at in range(0, len(page), 64):
            print(f"{at // 2:04x}  {page[at : at + 64]}")


def _unit(value: Any, unit: str) -> str:
    return _text.UNKNOWN if value is None else f"{_text.number(value)} {unit}"


def _bytes(value: int | None) -> str:
    return _text.UNKNOWN if value is None else f"{_text.capacity(value)} ({value:,} bytes)"


def _self_test(told: Health) -> str:
    if told.self_test_running:
        return "running" + ("" if told.self_test_percent is None else f", {told.self_test_percent} % done")
    if told.self_test_result is None:
        return _text.UNKNOWN
    return told.self_test_result + ("" if told.self_test_hours is None else f" at {told.self_test_hours:,} h")


def _lines(told: Health) -> list[tuple[str, str]]:
    critical = told.critical_warnings
    lines = [
        ("critical warnings", _text.UNKNOWN if critical is None else ", ".join(critical) or "none"),
        ("temperature", _unit(told.temperature_c, "C")),
        ("percentage used", _unit(told.percentage_used, "%")),
        ("available spare", _unit(told.available_spare, "%")),
        ("spare threshold", _unit(told.spare_threshold, "%")),
        ("host bytes read", _bytes(told.host_bytes_read)),
        ("host bytes written", _bytes(told.host_bytes_written)),
        ("media bytes written", _bytes(told.media_bytes_written)),
        (
            "write amplification",
            _text.UNKNOWN
            if told.lifetime_write_amplification is None
            else f"{told.lifetime_write_amplification:.2f} (lifetime)",
        ),
        ("power-on hours", _text.number(told.power_on_hours)),
        ("power cycles", _text.number(told.power_cycles)),
        ("unsafe shutdowns", _text.number(told.unsafe_shutdowns)),
        ("media errors", _text.number(told.media_errors)),
        ("self-test", _self_test(told)),
    ]
    lines.extend(("sensor", _unit(value, "C")) for value in told.sensors_c)
    lines.extend(("doubt", sentence) for sentence in told.doubts)
    lines.extend(("warning", sentence) for sentence in told.warnings)
    return lines


def add_to(app: typer.Typer) -> None:
    app.command("health", short_help="Show how one drive is.", epilog=epilog("sated health sim:x210", DRIVE))(
        command(health)
    )
