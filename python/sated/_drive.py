"""Drives: opened by URI, looked at freely, changed only with consent."""

from __future__ import annotations

import contextlib
import math
import os
import weakref
from dataclasses import dataclass, fields
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, overload

from sated._commands import Commands, Transport, c_path, open_transport, record
from sated._ffi import ffi, lib, text
from sated._text import capacity, html_table
from sated.errors import ParseError, SatedError, UnsafeError, check

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sated._health import Health
    from sated._power_control import PowerControl
    from sated._provision import CapacityMethod, Provisioning
    from sated._pump import Pump
    from sated._purge import PurgeMethod, PurgePending, PurgeProgress, PurgeResult
    from sated._settings import Settings, SettingsChange

_PROTOCOLS = {
    lib.SATED_PROTOCOL_NONE: None,
    lib.SATED_PROTOCOL_SCSI: "scsi",
    lib.SATED_PROTOCOL_ATA: "ata",
    lib.SATED_PROTOCOL_NVME: "nvme",
}


class DriveSerial(str):
    """A serial or token as read from a drive. It is for looking at: `confirm=` wants what a person typed, and refuses
    this very object."""

    __slots__ = ()


@dataclass(frozen=True)
class Identity:
    """What a drive is. None means that nobody says."""

    protocol: str | None
    vendor: str | None
    model: str | None
    serial: DriveSerial | None
    firmware: str | None
    capacity_bytes: int | None
    native_capacity_bytes: int | None
    raw_bytes: int | None
    raw_source: str | None
    logical_block_bytes: int | None
    physical_block_bytes: int | None
    rotation_rpm: int | None
    transport: str | None
    link: str | None
    """As negotiated, such as "6.0 Gbps" or "8.0 GT/s PCIe x4"."""
    link_max: str | None
    hba: str | None
    """What it is attached to: name and place of a host adapter, a USB bridge, a PCI function."""
    driver: str | None
    """The kernel's, of that."""
    namespaces: tuple[str, ...]
    """NVMe: all that its controller or subsystem has."""
    controllers: tuple[str, ...]
    """NVMe: the paths to this namespace, with their states."""
    members: tuple[str, ...]
    """Of a set, with their states."""
    mounted: bool
    reasons: tuple[str, ...]
    """Why it may not be written to, as far as can be seen without opening it."""
    path: DriveSerial | None
    features: tuple[str, ...]
    scale: int
    token: DriveSerial | None
    note: str | None

    @property
    def simulated(self) -> bool:
        return "simulated" in self.features

    def _repr_html_(self) -> str:
        return html_table((f.name, getattr(self, f.name)) for f in fields(self))


@dataclass(frozen=True)
class Guard:
    """What stands against changing a drive, as looked at now."""

    safe: bool
    reasons: tuple[str, ...]
    scope: str
    """What would be touched."""
    needs_token: bool
    wipeable: bool
    """Nothing stands against it but partitions and signatures that nothing uses: `permit(wipe_signatures=True)`."""
    paths: tuple[str, ...]
    """The ports or controllers in use, such as "nvme4 live"."""


_FEATURES = {
    lib.SATED_IDENTITY_SIMULATED: "simulated",
    lib.SATED_IDENTITY_FILE: "file",
    lib.SATED_IDENTITY_BLOCK: "block",
    lib.SATED_IDENTITY_MOUNTED: "mounted",
    lib.SATED_IDENTITY_REPLAYED: "replayed",
    lib.SATED_IDENTITY_CALLBACK: "transport",
    lib.SATED_IDENTITY_COMMANDS_ONLY: "commands-only",
}


def _lines(value: Any) -> tuple[str, ...]:
    return tuple(line for line in text(value).split("\n") if line)


def _told(value: Any) -> str | None:
    return text(value) or None


def _as_read(value: Any) -> DriveSerial | None:
    return DriveSerial(text(value)) or None


def _identity(c: Any) -> Identity:
    raw = bool(c.flags & lib.SATED_IDENTITY_RAW_KNOWN)
    return Identity(
        protocol=_PROTOCOLS[c.protocol],
        vendor=_told(c.vendor),
        model=_told(c.model),
        serial=_as_read(c.serial),
        firmware=_told(c.firmware),
        capacity_bytes=int(c.capacity_bytes) or None,
        native_capacity_bytes=int(c.native_capacity_bytes) or None,
        raw_bytes=int(c.raw_bytes) if raw else None,
        raw_source=text(c.raw_source) if raw else None,
        logical_block_bytes=int(c.logical_block_bytes) or None,
        physical_block_bytes=int(c.physical_block_bytes) or None,
        rotation_rpm=int(c.rotation_rpm) if c.flags & lib.SATED_IDENTITY_ROTATION_KNOWN else None,
        transport=_told(c.transport),
        link=_told(c.link),
        link_max=_told(c.link_max),
        hba=_told(c.hba),
        driver=_told(c.driver),
        namespaces=_lines(c.namespaces),
        controllers=_lines(c.controllers),
        members=_lines(c.members),
        mounted=bool(c.flags & lib.SATED_IDENTITY_MOUNTED),
        reasons=_lines(c.reasons),
        path=_as_read(c.path),
        features=tuple(name for flag, name in _FEATURES.items() if c.flags & flag),
        scale=int(c.scale),
        token=_as_read(c.token),
        note=_told(c.note),
    )


class Drive(Commands):
    """An open drive. A context manager; closing a simulated drive with `state=FILE` saves it."""

    def __init__(self, uri: str | os.PathLike[str] | Transport, *, create: int | str | None = None) -> None:
        self._c: Any = None
        self._permitted = False
        self._pumps: weakref.WeakSet[Pump] = weakref.WeakSet()  # loads that may still run on it
        self._transport: Transport | None = None
        self._members: list[Drive] | None = None
        if not isinstance(uri, str | os.PathLike):
            self._open_transport(uri, create)
            return
        self.uri = os.fspath(uri)
        options = ffi.new("struct sated_drive_options *")
        lib.sated_drive_options_init(options)
        if create is not None:
            size = ffi.new("uint64_t *")
            check(lib.sated_workload_capacity(str(create).encode(), 0, size))
            if not size[0]:
                raise ParseError(f"create={create!r}: give the size of the new file, such as 1GiB")
            options.create_bytes = size[0]
        out = ffi.new("struct sated_drive **")
        check(lib.sated_drive_open(out, c_path(uri), options))
        self._c = out[0]

    def _open_transport(self, transport: Transport, create: int | str | None) -> None:
        if not isinstance(transport, Transport):
            raise ParseError(f"a {type(transport).__name__} is no drive: give a URI, or an instance of sated.Transport")
        if create is not None:
            raise ParseError("create= makes files only: leave it out for a transport")
        self.uri = transport.name or type(transport).__name__
        self._c, self._kept = open_transport(transport)
        self._transport = transport

    def close(self) -> None:
        """Ends a load that still runs on it, and closes it. Raises FileOSError where a simulated drive's `state=` file
        cannot be saved; it is then as it was before."""
        if self._c is not None:
            for pump in list(self._pumps):
                pump.stop()
                pump.ended.wait()
            c, self._c = self._c, None
            for member in self._members or ():
                member.close()
            try:
                check(lib.sated_drive_close(c))
            finally:
                if self._transport is not None:
                    self._transport.close()

    @property
    def _handle(self) -> Any:
        if self._c is None:
            from sated.errors import StateError

            raise StateError(f"{self.uri} is closed: open it again with sated.open")
        return self._c

    def __enter__(self) -> Drive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_c", None) is not None:  # None too where __init__ was refused
            with contextlib.suppress(SatedError):  # nobody could catch it here: close a drive whose state counts
                self.close()

    @property
    def identity(self) -> Identity:
        c = ffi.new("struct sated_identity *")
        check(lib.sated_drive_get_identity(self._handle, c))
        return _identity(c)

    @property
    def members(self) -> list[Drive]:
        """The drives of a set, in the order of `identity.members`; none for a single drive. They are opened when they
        are first asked for, and closed with the set.

        Raises DriveOSError where one cannot be opened, as where it was taken out.
        """
        if self._members is None:
            opened: list[Drive] = []
            try:
                for line in self.identity.members:  # a name in sysfs, where "!" stands for "/", and a state
                    opened.append(Drive(f"/dev/{line.split()[0].replace('!', '/')}"))
            except SatedError:
                for each in opened:
                    each.close()
                raise
            self._members = opened
        return [*self._members]

    def health(self) -> Health:
        """How the drive is, as far as it tells; what one page refuses is in `.warnings`, and the rest goes on.

        Raises UnsupportedError for a file, DriveError where nothing at all is told, StateError while a load runs on a
        simulated drive.

        >>> with open_drive("sim:generic") as drive:
        ...     drive.health().media_errors
        0
        """
        from sated import _health

        return _health.get(self)

    def guard(self, *, whole: bool = False) -> Guard:
        """What writes and trims would touch, and what stands against them; with `whole` what a command that reaches all
        of the device would (NVMe Sanitize: every namespace; SCSI: every logical unit).

        >>> with open_drive("sim:generic") as drive:
        ...     drive.guard().safe
        True
        """
        c = ffi.new("struct sated_guard *")
        look = lib.sated_drive_guard_whole if whole else lib.sated_drive_guard
        check(look(self._handle, c))
        return Guard(
            safe=bool(c.safe),
            reasons=_lines(c.reasons),
            scope=text(c.scope),
            needs_token=bool(c.needs_token),
            wipeable=bool(c.wipeable),
            paths=_lines(c.paths),
        )

    def permit(self, confirm: str | None = None, *, wipe_signatures: bool = False) -> None:
        """Consents to changing the drive for as long as it is open; once given, here or in the `confirm=` of a call, it
        need not be repeated. A block device is held from then on: nobody else can mount it.

        `confirm`: the token that `sated list` shows, typed by a person; None for simulated drives and new files.
        `SERIAL:all` stands for every namespace or logical unit of the device. `wipe_signatures`: clears old file
        systems and partition tables first, where nothing uses them. Raises UnsafeError for a missing or wrong token and
        for a drive that the guard does not pass, DriveOSError where it cannot be opened for writing.
        """
        if isinstance(confirm, DriveSerial):
            raise UnsafeError(
                "confirm= got what was read from the drive: type the token, do not read it from the drive"
            )
        if confirm is not None and not isinstance(confirm, str):
            raise UnsafeError(f"confirm= is a {type(confirm).__name__}: type the token as text")
        try:
            token = ffi.NULL if confirm is None else os.fsencode(confirm)  # as the path of a file is
        except UnicodeEncodeError as error:
            raise UnsafeError(f"confirm= has a character that no token has: {error}") from None
        if confirm is not None and b"\0" in token:  # C would not see what is behind it
            raise UnsafeError("confirm= has a NUL, and no token has one: type the token to the letter")
        permit = lib.sated_drive_wipe_signatures if wipe_signatures else lib.sated_drive_permit
        check(permit(self._handle, token))
        self._permitted = True

    def now_s(self) -> float:
        """The drive's clock in reported seconds: monotonic for real drives, virtual for simulated ones."""
        return int(lib.sated_drive_now_ns(self._handle)) / 1e9

    def sleep(self, seconds: float) -> None:
        """Leaves the drive idle for so many reported seconds by its own clock; a simulated one takes none of ours."""
        check(lib.sated_drive_sleep(self._handle, nanoseconds("seconds", seconds)))

    def purge_methods(self) -> list[PurgeMethod]:
        """Every way to erase this drive, by its own answers: method, supported, estimate_s, level, why_not.

        >>> with open_drive("sim:x210,scale=1/64") as drive:
        ...     [way.method for way in drive.purge_methods() if way.supported and way.level == "purge"]
        ['sanitize-block', 'sanitize-crypto', 'sanitize-overwrite', 'security-enhanced']
        """
        from sated._purge import methods

        return methods(self)

    def purge_pending(self) -> PurgePending | None:
        """What an interrupted purge left, by its journal and by the drive's own state; None where nothing is left.
        `purge(resume=True)` finishes it."""
        from sated._purge import pending

        return pending(self)

    @overload
    def purge(
        self,
        *,
        dry_run: Literal[True],
        method: str = ...,
        confirm: str | None = ...,
        resume: bool = ...,
        allow_usb_security: bool = ...,
        stall_s: float | None = ...,
        password: str | bytes | None = ...,
        master: bool = ...,
        note: str | None = ...,
        progress: Callable[[PurgeProgress], None] | None = ...,
    ) -> PurgeMethod: ...

    @overload
    def purge(
        self,
        *,
        method: str = ...,
        confirm: str | None = ...,
        resume: bool = ...,
        allow_usb_security: bool = ...,
        stall_s: float | None = ...,
        password: str | bytes | None = ...,
        master: bool = ...,
        note: str | None = ...,
        progress: Callable[[PurgeProgress], None] | None = ...,
        dry_run: Literal[False] = ...,
    ) -> PurgeResult: ...

    def purge(
        self,
        *,
        method: str = "auto",
        confirm: str | None = None,
        resume: bool = False,
        allow_usb_security: bool = False,
        stall_s: float | None = None,
        password: str | bytes | None = None,
        master: bool = False,
        note: str | None = None,
        progress: Callable[[PurgeProgress], None] | None = None,
        dry_run: bool = False,
    ) -> PurgeResult | PurgeMethod:
        """Erases the whole drive: marks 64 blocks, erases, looks for the marks, and asks the drive what it is now.

        `method`: of `purge_methods()`; "auto" never takes one that is advisory or overwrites. `resume`: finish what an
        interrupted purge left, or purge anew where nothing is left. `stall_s`: give up after so many seconds of the
        drive's clock without progress. `password`, `master`: of an ATA drive that somebody else locked. `note`: for the
        method "external", which tool erased it. `progress` is called five times a second. `dry_run` returns the method
        that would be taken, and needs no consent.

        Raises UnsafeError without consent, UnsupportedError where nothing can erase it, DriveError where it is frozen,
        locked or fails, StalledError without progress, StateError where an interrupted purge stands. Ctrl-C lets go of
        it between two commands: what the drive has begun goes on, and `resume` finishes it.
        """
        from sated import _purge

        chosen = _purge.options(
            method=method,
            resume=resume,
            allow_usb_security=allow_usb_security,
            stall_s=stall_s,
            password=password,
            master=master,
            note=note,
        )
        if dry_run:
            return _purge.plan(self, chosen)
        self._consent(confirm)
        return _purge.purge(self, chosen, progress)

    def provisioning(self) -> Provisioning:
        """What can be addressed, what limits it, and the over-provisioning percentages that are knowable."""
        from sated._provision import get

        return get(self)

    def capacity_methods(self) -> list[CapacityMethod]:
        """Every way to set the capacity: method, supported, why_not, destroys, then, whole_drive, once."""
        from sated._provision import methods

        return methods(self)

    def set_capacity(
        self,
        *,
        fraction: float | None = None,
        bytes: int | str | None = None,
        lba: int | None = None,
        method: str = "auto",
        power: PowerControl | None = None,
        confirm: str | None = None,
    ) -> Provisioning:
        """Limits what can be addressed: to a fraction of the native LBAs, to bytes (a text such as "100GB" is rounded
        down to a multiple of 4096), or to a number of logical blocks.

        `method`: "auto" or "lba", an LBA limit in this handle (and in a simulated drive's state); or by the drive
        itself "hpa", "amac", "dco", "mode-select" or "namespace" (`capacity_methods` tells what each destroys).
        `power`: how it is switched off and on where a change takes that; a simulated drive needs none.

        Raises UnsupportedError where the drive does not have the method, StateError where its power has to be switched
        or another change was interrupted; `resume_capacity` then goes on.
        """
        from sated._provision import set_capacity

        self._consent(confirm)
        return set_capacity(self, fraction, bytes, lba, method, power)

    def restore_capacity(
        self, *, method: str = "auto", power: PowerControl | None = None, confirm: str | None = None
    ) -> Provisioning:
        """Lifts the limits: "auto" all of them in the order that the drive needs, but not by deleting a namespace,
        which destroys what it restores and has to be named."""
        from sated._provision import restore_capacity

        self._consent(confirm)
        return restore_capacity(self, method, power)

    def resume_capacity(
        self, *, undo: bool = False, power: PowerControl | None = None, confirm: str | None = None
    ) -> Provisioning:
        """Goes on with a change of capacity that was interrupted, or takes it back (`undo`); without any it only
        looks."""
        from sated._provision import resume_capacity

        self._consent(confirm)
        return resume_capacity(self, undo, power)

    def settings(self) -> Settings:
        """Write cache, read look-ahead, power states and block size, as they are now; None where nobody tells.

        >>> with open_drive("sim:x210,scale=1/64") as drive:
        ...     drive.settings().write_cache
        True
        """
        from sated._settings import get

        return get(self)

    def set(
        self,
        *,
        write_cache: bool | None = None,
        look_ahead: bool | None = None,
        apm: int | None = None,
        power_state: int | None = None,
        apst: bool | None = None,
        logical_block_bytes: int | None = None,
        passing: bool = False,
        confirm: str | None = None,
    ) -> SettingsChange:
        """Sets what is given, and tells what it was before and is after. None but the block size outlasts a cut of
        power.

        `logical_block_bytes` formats the drive, which destroys all data. `passing`: what it was is kept in a journal
        until `restore_settings`, be it of another process after this one was killed.

        Raises UnsupportedError for what this drive does not have, ParseError for a value that there is not.
        """
        from sated._settings import change

        given = {
            "write_cache": write_cache,
            "look_ahead": look_ahead,
            "apm": apm,
            "power_state": power_state,
            "apst": apst,
            "logical_block_bytes": logical_block_bytes,
        }
        self._consent(confirm)
        return change(self, {name: value for name, value in given.items() if value is not None}, passing)

    def restore_settings(self, *, confirm: str | None = None) -> Settings | None:
        """Sets back what was set for a time; None where nothing was."""
        from sated._settings import restore

        self._consent(confirm)
        return restore(self)

    def refresh(self) -> None:
        """Has the kernel look at the drive again, follows it where it has another name since, and asks it anew what it
        is. Raises UnsafeError where another drive stands in its place, DriveOSError where it is not there."""
        check(lib.sated_drive_refresh(self._handle))

    def record(self, path: str | Path) -> AbstractContextManager[None]:
        """Records every command sent in the `with` block, and writes them at its end as a replay file, with serial
        numbers and world-wide names replaced. Raises UnsupportedError for what takes no commands, UnsafeError for a
        file that exists; nothing is written where the block raises."""
        return record(self, path)

    def _consent(self, confirm: str | None) -> None:
        if confirm is not None or not self._permitted:
            self.permit(confirm)

    @property
    def sim(self) -> Any:  # Simulation | None: not typed so, for every script would have to ask first
        """The simulated drive behind this one (counters, save, restore, power_cycle); None for real drives."""
        from sated.sim import Simulation

        return Simulation(self) if self.identity.simulated else None

    def __repr__(self) -> str:
        if self._c is None:
            return f"<Drive {self.uri}, closed>"
        i = self.identity
        whose = " ".join(part for part in (i.vendor, i.model) if part)
        return f"<Drive {self.uri}: {whose or 'unknown'}, {capacity(i.capacity_bytes)}>"

    def _repr_html_(self) -> str:
        return self.identity._repr_html_() if self._c is not None else repr(self)


def open_drive(uri: str | os.PathLike[str] | Transport, *, create: int | str | None = None) -> Drive:
    """Opens a drive: PATH, serial:TEXT, replay:FILE or sim:NAME[,key=value]..., or an instance of `sated.Transport`;
    `create="1GiB"` makes a new file.

    Raises ParseError for a URI without meaning, DriveOSError (and its builtin twin) where the drive cannot be opened.

    >>> with open_drive("sim:generic") as drive:
    ...     drive.identity.simulated
    True
    """
    return Drive(uri, create=create)


def list_drives() -> list[Identity]:
    """Every drive of the machine; nothing is opened for writing."""
    n = check(lib.sated_drive_list(ffi.NULL, 0))
    if not n:
        return []
    c = ffi.new("struct sated_identity[]", n)
    found = check(lib.sated_drive_list(c, n))
    return [_identity(c[i]) for i in range(min(n, found))]


def nanoseconds(name: str, seconds: float) -> int:
    """Seconds from 0 to some 285 years in ns. Raises ParseError for others."""
    if not (math.isfinite(seconds) and 0 <= seconds < 9e9):
        raise ParseError(f"{name}={seconds}: give seconds from 0 up")
    return round(seconds * 1e9)


def finite(value: float) -> float | None:
    """C's NaN for "nobody says" as None."""
    return None if math.isnan(value) else float(value)
