"""`sated health`: how one drive is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import _text
from ._common import DRIVE, FAILED, OK, USAGE, Ends, Json, command, emit, epilog, pairs, table

if TYPE_CHECKING:
    from sated import Calibration, Health

Uri = Annotated[str, typer.Argument(metavar="URI", help="PATH, serial:TEXT, replay:FILE or sim:NAME[,key=value]...")]
Raw = Annotated[
    bool, typer.Option("--raw", help="Add attributes, vendor pages, and all pages as they came, in hexadecimal.")
]
Calibrate = Annotated[
    Path | None,
    typer.Option(
        "--calibrate",
        metavar="FILE",
        help="Find the units of the drive's own counters: FILE is what --json told before --written was written.",
    ),
]
Written = Annotated[
    str | None, typer.Option("--written", metavar="CAPACITY", help="With --calibrate: how much, such as 20GiB.")
]


def health(uri: Uri, json: Json = False, raw: Raw = False, calibrate: Calibrate = None, written: Written = None) -> int:
    """Show how a drive is: what stands in its way, temperature, wear, what was written to it, errors, self-tests.

    Reads only. What the drive does not tell is "–" (null in JSON), never 0.
    """
    import sated

    if (calibrate is None) != (written is None):
        raise Ends("--calibrate FILE and --written CAPACITY go together: a health before, and what came since", USAGE)
    before = None if calibrate is None else _before(calibrate)
    with sated.open(uri) as drive:
        told = drive.health()
        whose = {name: getattr(drive.identity, name) for name in ("vendor", "model", "serial", "firmware")}
    if before is not None and written is not None:
        if any((before["drive"].get(name) or None) != whose[name] for name in ("model", "serial")):
            this = " ".join(whose[name] or _text.UNKNOWN for name in ("model", "serial"))
            raise Ends(f"{calibrate}: is not of this drive, {this}; ask that one", USAGE)
        found = sated.calibrate(before["counters"], told, bytes_written=_amount(written))
        return _calibrated(found, told, json)
    if json:
        emit(_plain(told, whose, raw))
        return OK
    print(pairs(_lines(told), 24))
    if raw:
        _print_raw(told)
    return OK


def _plain(told: Health, whose: dict[str, str | None], raw: bool) -> dict[str, Any]:
    plain = {f.name: getattr(told, f.name) for f in fields(told) if f.name not in ("raw", "vendor")}
    return {
        "drive": whose,
        **plain,
        "attributes": [asdict(a) | {"raw": a.raw.hex(), "total_bytes": a.total_bytes} for a in told.attributes],
        "vendor": {page.page: asdict(page) for page in told.vendor},
        "counters": told.counters,
        "raw": {name: page.hex() for name, page in told.raw.items()} if raw else None,
    }


def _before(path: Path) -> dict[str, Any]:
    import json

    do = f"make it with: sated health URI --json > {path}"
    try:
        told: Any = json.loads(path.read_text())
    except OSError as error:
        raise Ends(f"{path}: {error.strerror}; {do}", USAGE) from error
    except ValueError as error:
        raise Ends(f"{path}: is no JSON ({error}); {do}", USAGE) from error
    named = told if isinstance(told, dict) else {}
    drive, counters = named.get("drive"), named.get("counters")
    if not isinstance(drive, dict) or not isinstance(counters, dict):
        raise Ends(f"{path}: has no counters of a drive; {do}", USAGE)
    return {"drive": drive, "counters": {name: n for name, n in counters.items() if isinstance(n, int)}}


def _amount(written: str) -> int:
    from sated._ffi import ffi, lib
    from sated.errors import check

    size = ffi.new("uint64_t *")
    check(lib.sated_workload_capacity(written.encode(), 0, size))
    return int(size[0])


def _calibrated(found: Sequence[Calibration], told: Health, json: bool) -> int:
    decided = any(one.unit_bytes is not None for one in found)
    if json:
        emit([asdict(one) for one in found])
    elif not found:
        print("no counter of the drive went up")
    else:
        names = {f"attribute-{a.id}": f" {a.name}" for a in told.attributes}
        rows = [(o.counter + names.get(o.counter, ""), _unit_of(o), f"{o.before:,}", f"{o.after:,}") for o in found]
        print(table(("counter", "one count is", "before", "after"), rows, left=2))
    return OK if decided else FAILED


def _unit_of(one: Calibration) -> str:
    if one.unit_bytes is not None:
        lifetime = _text.capacity(one.lifetime_bytes)
        return f"{_text.binary(one.unit_bytes)} ({_text.percent(abs(one.error or 0.0))} off), so {lifetime} in its life"
    if not one.candidates:
        return "in no known unit"
    return f"undecided: {' or '.join(_text.binary(size) for size in one.candidates)}; write more"


def _print_raw(told: Health) -> None:
    if told.attributes:
        rows = [
            (f"{a.id} {a.name}", str(a.value), str(a.worst), _text.number(a.threshold), _text.number(a.raw_value))
            for a in told.attributes
        ]
        print("\n" + table(("attribute", "value", "worst", "limit", "raw"), rows))
    for page in told.vendor:
        lines = [(name, _text.UNKNOWN if value is None else value) for name, value in page.lines()]
        print(f"\n{page.page}: {page.title}")
        print(pairs(lines, max((len(name) for name, _ in lines), default=0) + 2))
    for name, data in told.raw.items():
        print(f"\n{name}")
        for at in range(0, len(data), 32):
            print(f"{at:04x}  {data[at : at + 32].hex()}")


def _unit(value: Any, unit: str) -> str:
    return _text.UNKNOWN if value is None else f"{_text.number(value)} {unit}"


def _self_test(told: Health) -> str:
    if told.self_test_running:
        return "running" + ("" if told.self_test_percent is None else f", {told.self_test_percent} % done")
    if told.self_test_result is None:
        return _text.UNKNOWN
    return told.self_test_result + ("" if told.self_test_hours is None else f" at {told.self_test_hours:,} h")


def _conditions(told: Health) -> list[tuple[str, str]]:
    if told.conditions_told is None:
        return [("condition", _text.UNKNOWN)]
    if told.conditions:
        return [("condition", line) for line in told.advice]
    return [("condition", f"none; it told of {', '.join(told.conditions_told)}")]


def _lines(told: Health) -> list[tuple[str, str]]:
    critical = told.critical_warnings
    lines = [
        *_conditions(told),
        ("critical warnings", _text.UNKNOWN if critical is None else ", ".join(critical) or "none"),
        ("temperature", _unit(told.temperature_c, "C")),
        ("percentage used", _unit(told.percentage_used, "%")),
        ("available spare", _unit(told.available_spare, "%")),
        ("spare threshold", _unit(told.spare_threshold, "%")),
        ("host bytes read", _text.exact(told.host_bytes_read)),
        ("host bytes written", _text.exact(told.host_bytes_written)),
        ("media bytes written", _text.exact(told.media_bytes_written)),
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
    app.command("health", short_help="Show how one drive is.", epilog=epilog("sated health sim:x210", FAILED, DRIVE))(
        command(health)
    )
