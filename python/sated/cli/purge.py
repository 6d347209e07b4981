"""`sated purge`: erases one drive."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from .. import _text
from ._common import (
    DRIVE,
    FAILED,
    OK,
    STOPPED,
    UNSAFE,
    USAGE,
    Confirm,
    Ends,
    Json,
    WipeSignatures,
    command,
    emit,
    epilog,
    pairs,
    say,
    table,
)
from ._line import Line
from .info import Uri

if TYPE_CHECKING:
    from sated import Drive
    from sated._purge import PurgeMethod, PurgeProgress, PurgeResult

Method = Annotated[str, typer.Option(metavar="METHOD", help="One of those that --list shows.")]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Finish what an interrupted purge left, by its journal or the drive's own state."),
]
List = Annotated[bool, typer.Option("--list", help="Only show the methods that the drive has, and what stands.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done; needs no consent.")]
External = Annotated[
    str | None,
    typer.Option(metavar="NOTE", help="Erase nothing, but record that another tool did: which, when, by whom."),
]
Usb = Annotated[
    bool,
    typer.Option(
        "--allow-usb-security", help="ATA Security also behind a USB bridge, though some leave the drive locked."
    ),
]
Password = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Of an ATA drive that somebody else locked; hex:… for bytes. Zeros fill it up."),
]
Master = Annotated[bool, typer.Option("--master", help="--password is the master password.")]
Stall = Annotated[
    float | None,
    typer.Option(
        "--stall", metavar="SECONDS", help="Give up after so long without progress. [default: twice the estimate]"
    ),
]


def purge(
    uri: Uri,
    method: Method = "auto",
    confirm: Confirm = None,
    resume: Resume = False,
    list_: List = False,
    dry_run: DryRun = False,
    external: External = None,
    allow_usb_security: Usb = False,
    password: Password = None,
    master: Master = False,
    stall: Stall = None,
    wipe_signatures: WipeSignatures = False,
    json: Json = False,
) -> int:
    """Erase a whole drive by its own commands, and look whether what was there can still be read.

    Without --method it takes the best that the drive has: NVMe Sanitize or Format, ATA Sanitize or Security Erase, SCSI
    SANITIZE or FORMAT UNIT. Interrupted at any point, --resume brings the drive to an erased, unlocked state.
    """
    import sated

    if external is not None and method not in ("auto", "external"):
        raise Ends(f"--external records an erase that was done elsewhere: leave --method {method} out", USAGE)
    others = [dry_run, resume, allow_usb_security, master, wipe_signatures, external, password, stall, confirm]
    if list_ and (method != "auto" or any(each is not None and each is not False for each in others)):
        raise Ends("--list only shows what the drive has: give no other option with it but --json", USAGE)
    with sated.open(uri) as drive:
        if list_:
            return _list(drive, json)
        with Line(quiet=json) as line:
            shown: list[str] = []

            def tell(now: PurgeProgress) -> None:
                if now.notice and now.notice not in shown:
                    shown.append(now.notice)
                    line.keep(f"sated: {now.notice}") if not json else say(now.notice)
                line.show(_now(now))

            wanted = {
                "method": "external" if external is not None else method,
                "resume": resume,
                "allow_usb_security": allow_usb_security,
                "stall_s": stall,
                "password": _bytes(password),
                "master": master,
                "note": external,
            }
            if dry_run:
                return _dry(drive, drive.purge(dry_run=True, **wanted), json)  # type: ignore[call-overload]
            if wipe_signatures:
                drive.purge(dry_run=True, **wanted)  # type: ignore[call-overload] # what cannot be purged keeps them
                drive.permit(confirm, wipe_signatures=True)
            try:
                result = drive.purge(confirm=confirm, progress=tell, **wanted)  # type: ignore[call-overload]
            except KeyboardInterrupt:
                say(f"stopped; what the drive has begun goes on in it, and sated purge {uri} --resume finishes it")
                return STOPPED
        return _done(drive, result, json)


def _bytes(password: str | None) -> bytes | None:
    if password is None or not password.startswith("hex:"):
        return None if password is None else password.encode()
    try:
        return bytes.fromhex(password[4:])
    except ValueError as error:
        raise Ends(f"--password {password}: hex: takes pairs of hexadecimal digits", USAGE) from error


def _seconds(seconds: float | None) -> str:
    return _text.UNKNOWN if seconds is None else _text.duration(seconds)


def _now(now: PurgeProgress) -> str:
    done = "" if now.fraction is None else f", {100 * now.fraction:.0f} %"
    eta = "" if now.eta_s is None else f", {_seconds(now.eta_s)} left"
    return f"purge: {now.method}: {now.phase}{done}, {_seconds(now.elapsed_s)}{eta}"


def _list(drive: Drive, json: bool) -> int:
    ways, left = drive.purge_methods(), drive.purge_pending()
    if json:
        emit({"methods": [asdict(way) for way in ways], "pending": None if left is None else asdict(left)})
        return OK
    rows = [
        (way.method, way.level if way.supported else _text.UNKNOWN, _seconds(way.estimate_s), way.why_not or "yes")
        for way in ways
    ]
    print(table(("method", "level", "estimate", "supported"), rows, left=4))
    if left is not None:
        print(f"\n{left.text}")
    return OK


def _dry(drive: Drive, way: PurgeMethod, json: bool) -> int:
    guard = drive.guard()
    if json:
        emit({**asdict(way), "scope": guard.scope, "reasons": guard.reasons})
        return OK
    lines = [
        ("method", way.method),
        ("level", way.level),
        ("estimate", _seconds(way.estimate_s)),
        ("reaches", "all of the device" if way.whole else "what can be addressed here"),
        ("scope", guard.scope),
    ]
    if way.why:
        lines.append(("why", way.why))
    lines.extend(("against it", reason) for reason in guard.reasons)
    print(pairs(lines, 12))
    return OK


def _done(drive: Drive, result: PurgeResult, json: bool) -> int:
    identity = drive.identity
    if json:
        emit({**asdict(result), "capacity_bytes": identity.capacity_bytes})
    else:
        for line in result.log:
            print(line)
        print(f"capacity: {_text.exact(identity.capacity_bytes)}")
    return FAILED if result.verified is False else OK


def add_to(app: typer.Typer) -> None:
    app.command(
        "purge",
        short_help="Erase a whole drive by its own commands.",
        epilog=epilog("sated purge /dev/sdX --confirm SERIAL", FAILED, UNSAFE, DRIVE, STOPPED),
    )(command(purge))
