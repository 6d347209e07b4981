"""`sated capacity`: how much of a drive can be addressed."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import _text
from ._common import (
    DRIVE,
    UNSAFE,
    USAGE,
    Confirm,
    Ends,
    Json,
    PowerCycle,
    PowerOff,
    PowerOn,
    command,
    emit,
    epilog,
    pairs,
    power_control,
    say,
)
from .info import Uri

if TYPE_CHECKING:
    from sated import Drive
    from sated._provision import CapacityMethod, Provisioning

Size = Annotated[
    str | None,
    typer.Argument(metavar="[SIZE|FRACTION]", help="What can be addressed then: 160GB, 150GiB, 80% or 0.8."),
]
Method = Annotated[
    str,
    typer.Option(metavar="NAME", help="auto (an LBA limit only), hpa, amac, dco, mode-select or namespace."),
]


_NEED_NO_POWER = ("auto", "lba", "mode-select", "namespace")


def capacity(
    uri: Uri,
    size: Size = None,
    method: Method = "auto",
    restore: Annotated[bool, typer.Option("--restore", help="Lift the limits, or that of --method.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a change that was interrupted.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="With --resume: take it back instead.")] = False,
    methods: Annotated[bool, typer.Option("--methods", help="List the ways that this drive has.")] = False,
    confirm: Confirm = None,
    power_off: PowerOff = None,
    power_on: PowerOn = None,
    power_cycle: PowerCycle = None,
    json: Json = False,
) -> None:
    """Show or set how much of a drive can be addressed; what is not is spare area, once it was purged.

    Without SIZE nothing is changed. What a method destroys is said before it is done, and --methods lists it. A change
    that is interrupted, be it by a cut of power, is found again and finished with --resume.
    """
    import sated
    from sated._provision import wanted_bytes

    powers = (("--power-off", power_off), ("--power-on", power_on), ("--power-cycle", power_cycle))
    if (size is not None) + restore + resume + methods > 1 or (undo and not resume):
        raise Ends("give one of SIZE, --restore, --resume and --methods; --undo goes with --resume", USAGE)
    changes = size is not None or restore or resume
    given = [name for name, value in (("--confirm", confirm), *powers) if value is not None]
    if method != "auto" and (resume or not changes):
        given.append("--method")
    if given and not changes:
        raise Ends(f"{given[-1]} has no meaning where nothing is changed: give SIZE, --restore or --resume", USAGE)
    if given and given[-1] == "--method":
        raise Ends("--method has no meaning with --resume, which goes on by the method that was begun", USAGE)
    if size is not None and method in _NEED_NO_POWER and any(value is not None for _, value in powers):
        raise Ends(
            f"the method {method} takes no power cycle: leave --power-off, --power-on and --power-cycle out", USAGE
        )
    power = power_control(power_off, power_on, power_cycle)
    with sated.open(uri) as drive:
        if methods:
            _show_methods(drive.capacity_methods(), json)
            return
        wanted = _wanted(size) if size is not None else {}
        if wanted:
            wanted_bytes(
                drive, wanted.get("fraction"), wanted.get("bytes"), None, method
            )  # refused before a word of loss
        if wanted or (restore and method == "namespace"):
            _say_what_is_lost(drive, method)
        if wanted:
            now = drive.set_capacity(**wanted, method=method, power=power, confirm=confirm)
        elif restore:
            now = drive.restore_capacity(method=method, power=power, confirm=confirm)
        elif resume:
            now = drive.resume_capacity(undo=undo, power=power, confirm=confirm)
        else:
            now = drive.provisioning()
        then = next((m.then for m in drive.capacity_methods() if size is not None and m.method == method), None)
    if json:
        emit({"uri": uri, **asdict(now), "label": now.label})
        return
    print(pairs(_lines(now), 20))
    if then:
        say(f"now {then}")


def _wanted(size: str) -> dict[str, Any]:
    if re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+)%", size):
        return {"fraction": float(size[:-1]) / 100}
    if re.fullmatch(r"0?\.[0-9]+|1\.0*", size):
        return {"fraction": float(size)}
    return {"bytes": size}


def _say_what_is_lost(drive: Drive, method: str) -> None:
    lost = next((m.destroys for m in drive.capacity_methods() if m.method == method and m.supported), None)
    if lost:
        say(f"{method} destroys: {lost}")


def _lines(now: Provisioning) -> list[tuple[str, str]]:
    at_least = "" if now.native_known else "at least "
    hidden = _text.UNKNOWN if now.hidden_bytes is None else _text.exact(now.hidden_bytes)
    if now.hidden_bytes is None and now.hidden_at_least_bytes:
        hidden = f"at least {_text.exact(now.hidden_at_least_bytes)}"
    lines = [
        ("accessible", f"{_text.exact(now.accessible_bytes)}, {now.label}"),
        ("of the device", _text.exact(now.device_bytes)),
        ("native", at_least + _text.exact(now.native_bytes)),
        ("hidden", hidden),
        ("limited by", ", ".join(now.limits) or "nothing that is known"),
    ]
    if now.raw_bytes:
        lines.append(("flash", _text.exact(now.raw_bytes)))
        of_user, of_raw = _text.percent(now.op_of_user), _text.percent(now.op_of_raw)
        lines.append(("over-provisioning", f"{of_user} of the user's, {of_raw} of the flash"))
    lines.append(("LBAs removed", _text.UNKNOWN if now.lba_removed is None else _text.percent(now.lba_removed)))
    if now.interrupted:
        wait = ", after its power was switched off and on" if now.needs_power_cycle else ""
        lines.append(("interrupted", f"a change by {now.interrupted}: --resume goes on with it{wait}"))
    return lines


def _show_methods(found: list[CapacityMethod], json: bool) -> None:
    if json:
        emit([asdict(each) for each in found])
        return
    for each in found:
        lines = [(each.method, "supported" if each.supported else f"not supported: {each.why_not}")]
        if each.supported:
            lines.append(("", f"destroys: {each.destroys or 'nothing'}"))
            if each.then:
                lines.append(("", f"then: {each.then}"))
        print(pairs(lines, 14))


def add_to(app: typer.Typer) -> None:
    app.command(
        "capacity",
        short_help="Show or set how much of a drive can be addressed.",
        epilog=epilog("sated capacity sim:./my.sim 80% --method hpa", UNSAFE, DRIVE),
    )(command(capacity))
