"""Drives: opened by URI, looked at freely, changed only with consent."""

from __future__ import annotations

import contextlib
import math
import os
import weakref
from dataclasses import dataclass, fields
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sated._commands import Commands, Transport, c_path, open_transport, record
from sated._ffi import ffi, lib, text
from sated._text import capacity, html_table
from sated.errors import ParseError, SatedError, UnsafeError, check

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sated._health import Health
    from sated._provision import Provisioning
    from sated._pump import Pump
    from sated._purge import PurgeMethod, PurgeResult

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
    """What stands against writing to a drive, as looked at now."""

    safe: bool
    reasons: tuple[str, ...]
    scope: str
    needs_token: bool


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

    def guard(self) -> Guard:
        """What a write, a trim or a purge would touch, and what stands against it."""
        c = ffi.new("struct sated_guard *")
        check(lib.sated_drive_guard(self._handle, c))
        return Guard(bool(c.safe), _lines(c.reasons), text(c.scope), bool(c.needs_token))

    def permit(self, confirm: str | None = None) -> None:
        """Consents to changing the drive for as long as it is open; once given, here or in the `confirm=` of a call, it
        need not be repeated.

        `confirm`: the token that `sated list` shows, typed by a person; None for simulated drives and new files. Raises
        UnsafeError for a missing or wrong one, UnsupportedError for a block device.
        """
        if isinstance(confirm, DriveSerial):
            raise UnsafeError(
                "confirm= got what was read from the drive: type the token, do not read it from the drive"
            )
        check(lib.sated_drive_permit(self._handle, ffi.NULL if confirm is None else confirm.encode()))
        self._permitted = True

    def now_s(self) -> float:
        """The drive's clock in reported seconds: monotonic for real drives, virtual for simulated ones."""
        return int(lib.sated_drive_now_ns(self._handle)) / 1e9

    def sleep(self, seconds: float) -> None:
        """Leaves the drive idle for so many reported seconds by its own clock; a simulated one takes none of ours."""
        check(lib.sated_drive_sleep(self._handle, nanoseconds("seconds", seconds)))

    def purge_methods(self) -> list[PurgeMethod]:
        """Every way to erase this drive: method, supported, estimate_s, level, why_not."""
        from sated._purge import methods

        return methods(self)

    def purge(self, *, method: str = "auto", confirm: str | None = None) -> PurgeResult:
        """Erases the whole drive. Raises UnsafeError without consent, UnsupportedError where nothing can erase it."""
        from sated._purge import purge

        self._consent(confirm)
        return purge(self, method)

    def provisioning(self) -> Provisioning:
        """What can be addressed, and the over-provisioning percentages that are knowable."""
        from sated._provision import get

        return get(self)

    def set_capacity(
        self,
        *,
        fraction: float | None = None,
        bytes: int | str | None = None,
        lba: int | None = None,
        method: str = "auto",
        confirm: str | None = None,
    ) -> Provisioning:
        """Limits what can be addressed: to a fraction of the native LBAs, to bytes, or to a number of logical blocks.

        `method`: "auto" or "lba", an LBA limit in this handle (and in a simulated drive's state).
        """
        from sated._provision import set_capacity

        self._consent(confirm)
        return set_capacity(self, fraction, bytes, lba, method)

    def restore_capacity(self, *, confirm: str | None = None) -> Provisioning:
        """Lifts the limit: all that the device itself lets be addressed."""
        from sated._provision import restore_capacity

        self._consent(confirm)
        return restore_capacity(self)

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
