"""Single commands: what came back of one, sending one, and transports written in Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, Unpack

from sated import ata, nvme, scsi
from sated._decode import convert, filled, octets, unsigned
from sated._ffi import ffi, lib, text
from sated.errors import ParseError, SatedError, StateError, UnsafeError, check, last_error

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sated._drive import Drive
    from sated.scsi import Command as ScsiCommand

__all__ = [
    "Commands",
    "NvmeArguments",
    "ReadOnly",
    "Reply",
    "Transport",
    "c_path",
    "open_transport",
    "read_only",
    "record",
    "refuse_existing",
    "send",
]


@dataclass(frozen=True, kw_only=True, repr=False)
class Reply:
    """What came of one command; also what the methods of a `Transport` return.

    data: what the drive sent, cut to what really came. status: of SCSI (SAM-6 5.3.1), 0 good, 2 check condition.
    sense: sense data. host_status, driver_status: of host adapter and kernel; the latter is made up from `sense` if
    None. residual: bytes that did not move, as told; of a `Transport` at least those that `data` does not have, and
    just those if None. nvme_status: 15 bits, 0 = good.
    result: the completion's dwords 0 and 1. registers: an `AtaRegisters` for ATA commands, else None.
    """

    data: bytes = b""
    status: int = 0
    sense: bytes = b""
    host_status: int = 0
    driver_status: int | None = None
    residual: int | None = None
    nvme_status: int = 0
    result: int = 0
    duration_ns: int = 0
    registers: Any = None

    def __repr__(self) -> str:
        """What differs from nothing, bytes in hexadecimal and cut to 16.

        >>> Reply(data=bytes(512), result=3)
        Reply(data=<00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 ... 512 bytes>, result=3)
        """
        values = ((f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default)
        return f"Reply({', '.join(f'{name}={_short(value)}' for name, value in values)})"


def _short(value: Any) -> str:
    if not isinstance(value, bytes):
        return repr(value)
    return f"<{value[:16].hex(' ')}{f' ... {len(value)} bytes' if len(value) > 16 else ''}>"


@dataclass(frozen=True)
class ReadOnly:
    """A row of the table of read-only commands: what is sent to a real drive without consent."""

    set: str
    opcode: int
    name: str
    fields: str


_SETS = {
    lib.SATED_COMMANDS_SCSI: "SCSI",
    lib.SATED_COMMANDS_ATA: "ATA",
    lib.SATED_COMMANDS_NVME_ADMIN: "NVMe admin",
    lib.SATED_COMMANDS_NVME_IO: "NVMe I/O",
}


def read_only() -> list[ReadOnly]:
    """The table of read-only commands.

    >>> next(row.name for row in read_only() if row.set == "ATA" and row.opcode == 0xEC)
    'IDENTIFY DEVICE'
    """
    n = check(lib.sated_read_only_list(ffi.NULL, 0))
    rows = ffi.new("struct sated_read_only[]", n)
    lib.sated_read_only_list(rows, n)
    return [ReadOnly(_SETS[row.set], int(row.opcode), text(row.name), text(row.fields)) for row in rows]


# ---- sending --------------------------------------------------------------------------------------------------------


def _reply(c: Any, buffer: Any, registers: Any = None) -> Reply:
    return Reply(
        data=bytes(ffi.buffer(buffer, c.data_len)) if buffer != ffi.NULL and c.data_len else b"",
        status=int(c.scsi_status),
        sense=bytes(ffi.buffer(c.sense, c.sense_len)),
        host_status=int(c.host_status),
        driver_status=int(c.driver_status),
        residual=int(c.residual),
        nvme_status=int(c.nvme_status),
        result=int(c.result),
        duration_ns=int(c.duration_ns),
        registers=None if registers is None else convert(registers),
    )


def _milliseconds(timeout: float | None) -> int:
    if timeout is None:
        return 0
    if not 0 < timeout <= 0xFFFFFFFF / 1000:
        raise ParseError(f"timeout is {timeout} s: give more than 0, and at most {0xFFFFFFFF // 1000} s")
    return max(1, round(timeout * 1000))


def _consent(drive: Drive, refused: Callable[[], int], confirm: str | None) -> None:
    """A token is looked at only where it is needed, but its type always."""
    if confirm is None:
        return
    from sated._drive import DriveSerial

    if isinstance(confirm, DriveSerial):
        raise UnsafeError("confirm= got what was read from the drive: type the token, do not read it from the drive")
    if refused() == lib.SATED_UNSAFE:
        drive._consent(confirm)


def _exchange(
    drive: Drive,
    call: Callable[[Any, Any], int],
    data_in: int,
    data_out: bytes | None,
    registers: Any = None,
) -> Reply:
    length = len(data_out) if data_out is not None else data_in
    buffer = ffi.new("uint8_t[]", length) if length else ffi.NULL
    if data_out:
        ffi.buffer(buffer)[:] = data_out
    c = ffi.new("struct sated_reply *")
    rc = call(buffer, c)
    told = _reply(c, ffi.NULL if data_out else buffer, registers)
    transport = drive._transport
    raised = transport._take_error() if transport is not None else None
    if rc < 0:
        error = last_error(rc)
        error.reply = told
        if raised is not None and not isinstance(raised, Exception):
            raise raised
        raise error from raised
    return told


def _direction(data_in: int, data_out: bytes | None) -> tuple[int, int]:
    """(direction, length)"""
    if data_out:
        return lib.SATED_DATA_OUT, len(data_out)
    length = 0 if data_out is not None else unsigned("data_in", data_in, 31)
    return (lib.SATED_DATA_IN if length else lib.SATED_DATA_NONE), length


# The ATA commands of 48 bits (ACS-4 clause 7; those that it calls obsolete: ATA8-ACS), by their opcodes: they have
# EXTEND set in ATA PASS-THROUGH (SAT-4 12.2.2) however small their numbers are.
_EXTENDED = frozenset(
    bytes.fromhex(
        "06 07 0b 12 24 25 26 27 29 2a 2b 2f 34 35 36 37 39 3a 3b 3d 3e 3f 42 44 45 47 4a 51 57 60 61 63 64 65 77 78"
        "7c 7d 7e 9f b2 b4 ce ea"
    )
)
_PROTOCOLS = {
    "non-data": lib.SATED_ATA_NON_DATA,
    "pio-in": lib.SATED_ATA_PIO_IN,
    "pio-out": lib.SATED_ATA_PIO_OUT,
    "dma": lib.SATED_ATA_DMA,
    "fpdma": lib.SATED_ATA_FPDMA,
}


def _of_command(command: Any, data_out: bytes | None) -> int:
    """The `data_in` of a built command. Raises ParseError where `data_out` is not what it sends."""
    if command.direction == lib.SATED_DATA_OUT and len(data_out or b"") != command.data_len:
        raise ParseError(f"data_out has {len(data_out or b'')} bytes: the command sends {command.data_len}")
    return int(command.data_len) if command.direction == lib.SATED_DATA_IN else 0


class NvmeArguments(TypedDict, total=False):
    """What `Drive.nvme_admin` and `Drive.nvme_io` take beside the command, all of them by name.

    `nsid`: the namespace; `cdw2`, `cdw3`, `cdw10` to `cdw15`: dwords of the command; 0 where they are not given.
    `data_in`: bytes that the drive may send, 0 by default; `data_out`: what goes to the drive instead. `timeout`:
    seconds, else the command's own. `confirm`: the drive's token.
    """

    nsid: int
    cdw2: int
    cdw3: int
    cdw10: int
    cdw11: int
    cdw12: int
    cdw13: int
    cdw14: int
    cdw15: int
    data_in: int
    data_out: Buffer | None
    timeout: float | None
    confirm: str | None


class Commands:
    """Single commands: what a `Drive` has of them."""

    def scsi(
        self: Any,
        cdb: Buffer | scsi.Command,
        data_in: int = 512,
        data_out: Buffer | None = None,
        *,
        timeout: float | None = None,
        confirm: str | None = None,
    ) -> Reply:
        """Sends a SCSI command and waits for its answer.

        `cdb`: 6 to 32 bytes, or a command of `sated.scsi`, which knows its length of data itself. `data_in`: bytes that
        the drive may send; `data_out`: what goes to the drive instead. `timeout`: seconds, else the command's own.
        Commands outside the read-only table (`sated.read_only()`) need `confirm=` on a real drive: the token of the
        whole device, unless they are known to change blocks of this one alone.

        Raises DriveError (with `.detail` and `.reply`), StalledError, UnsafeError, UnsupportedError where the drive
        takes no such commands, StateError where recorded answers do not fit.
        """
        c = ffi.new("struct sated_scsi_command *")
        out = None if data_out is None else octets(data_out)
        if isinstance(cdb, scsi.Command):
            data_in = _of_command(cdb, out)
            c.timeout_ms = cdb.timeout_ms
            cdb = cdb.cdb
        bytes_of_cdb = octets(cdb)
        if not 6 <= len(bytes_of_cdb) <= 32:
            raise ParseError(f"a CDB of {len(bytes_of_cdb)} bytes: give 6 to 32")
        ffi.buffer(c.cdb)[0 : len(bytes_of_cdb)] = bytes_of_cdb
        c.cdb_len = len(bytes_of_cdb)
        c.direction, c.data_len = _direction(data_in, out)
        c.timeout_ms = _milliseconds(timeout) or c.timeout_ms
        _consent(self, lambda: int(lib.sated_scsi_check_read_only(c)), confirm)
        return _exchange(self, lambda data, told: int(lib.sated_scsi_raw(self._handle, c, data, told)), data_in, out)

    def scsi_timeout(self: Any, command: ScsiCommand) -> float:
        """How long to wait for a command, in seconds: as the drive itself says in REPORT SUPPORTED OPERATION CODES, at
        least the usual time. What is raised, as for `scsi`, also where the drive has no such report."""
        c = ffi.new("struct sated_scsi_command *", {"cdb": command.cdb, "cdb_len": len(command.cdb)})
        c.direction, c.data_len = command.direction, command.data_len
        out = ffi.new("uint32_t *")
        check(lib.sated_scsi_timeout_get(self._handle, c, out))
        return float(out[0]) / 1000

    def ata(
        self: Any,
        command: int | ata.Command,
        *,
        features: int = 0,
        count: int | None = None,
        lba: int = 0,
        device: int = 0x40,
        protocol: str | None = None,
        ext: bool | None = None,
        ck_cond: bool = False,
        data_in: int = 0,
        data_out: Buffer | None = None,
        timeout: float | None = None,
        confirm: str | None = None,
    ) -> Reply:
        """Sends an ATA command by ATA PASS-THROUGH.

        `command`: a number, or a command of `sated.ata`, which brings all the rest. `protocol`: non-data, pio-in,
        pio-out, dma or fpdma, by default by the data; `count`: by default the blocks of data; `ext`: a 48-bit command,
        by default where it is one by its opcode or a number needs it; `ck_cond`: the registers are the answer, in
        `Reply.registers`. The rest, and what is raised, as for `scsi`; UnsupportedError also where that answer never
        came.
        """
        out = None if data_out is None else octets(data_out)
        if isinstance(command, ata.Command):
            out = command.data or out
            data_in = _of_command(command, out)
            values = {name: getattr(command, name) for name, _ in ffi.typeof("struct sated_ata_command").fields}
        else:
            direction, length = _direction(data_in, out)
            if protocol is None:
                protocol = {lib.SATED_DATA_NONE: "non-data", lib.SATED_DATA_IN: "pio-in"}.get(direction, "pio-out")
            if protocol not in _PROTOCOLS:
                raise ParseError(f'ATA protocol "{protocol}" is unknown: use {", ".join(_PROTOCOLS)}')
            count = length // 512 if count is None else count
            if ext is None:
                ext = command in _EXTENDED or features > 0xFF or count > 0xFF or lba > 0xFFFFFFF
            values = {
                "command": unsigned("command", command, 8),
                "device": unsigned("device", device, 8),
                "protocol": _PROTOCOLS[protocol],
                "direction": direction,
                "ext": ext,
                "ck_cond": ck_cond,
                "features": unsigned("features", features, 16),
                "count": unsigned("count", count, 16),
                "lba": unsigned("lba", lba, 48),
                "data_len": length,
            }
        c = ffi.new("struct sated_ata_command *", values)
        c.timeout_ms = _milliseconds(timeout) or c.timeout_ms
        registers = ffi.new("struct sated_ata_registers *")
        _consent(self, lambda: int(lib.sated_ata_check_read_only(c)), confirm)

        def call(data: Any, told: Any) -> int:
            return int(lib.sated_ata_raw(self._handle, c, data, registers, told))

        return _exchange(self, call, data_in, out, registers)

    def nvme_admin(self, opcode: int | nvme.Command, **arguments: Unpack[NvmeArguments]) -> Reply:
        """Sends an NVMe admin command to the drive's controller.

        `opcode`: a number, or a command of `sated.nvme`, which brings its dwords and lengths. `nsid=` and the dwords
        `cdw2= cdw3= cdw10=` to `cdw15=` are 0 where they are not given. `data_in=`, `data_out=`, `timeout=`,
        `confirm=` and what is raised as for `scsi`; without `data_in=` no data is asked for.
        """
        return _nvme(self, lib.sated_nvme_admin_raw, True, opcode, **arguments)

    def nvme_io(self, opcode: int | nvme.Command, **arguments: Unpack[NvmeArguments]) -> Reply:
        """Sends an NVMe I/O command to the namespace; as `nvme_admin`."""
        return _nvme(self, lib.sated_nvme_io_raw, False, opcode, **arguments)


def _nvme(
    drive: Any,
    function: Callable[..., int],
    admin: bool,
    opcode: int | nvme.Command,
    *,
    nsid: int = 0,
    data_in: int = 0,
    data_out: Buffer | None = None,
    timeout: float | None = None,
    confirm: str | None = None,
    **cdws: int,
) -> Reply:
    c = ffi.new("struct sated_nvme_command *")
    out = None if data_out is None else octets(data_out)
    if unknown := cdws.keys() - NvmeArguments.__annotations__.keys():
        raise TypeError(
            f"{' '.join(sorted(unknown))}: an NVMe command takes {', '.join(NvmeArguments.__annotations__)}"
        )
    if isinstance(opcode, nvme.Command):
        given = opcode
        if given.admin != admin:
            raise ParseError(f"the command goes to the {'admin' if given.admin else 'I/O'} queue: use the other method")
        data_in = _of_command(given, out)
        opcode, nsid, c.timeout_ms = given.opcode, given.nsid, given.timeout_ms
        cdws = {f"cdw{i}": getattr(given, f"cdw{i}") for i in range(10, 16)}
    c.opcode = unsigned("opcode", opcode, 8)
    c.nsid = unsigned("nsid", nsid, 32)
    for name, value in cdws.items():
        setattr(c, name, unsigned(name, value, 32))
    c.admin = admin
    c.direction, c.data_len = _direction(data_in, out)
    c.timeout_ms = _milliseconds(timeout) or c.timeout_ms
    _consent(drive, lambda: int(lib.sated_nvme_check_read_only(c)), confirm)
    return _exchange(drive, lambda data, told: int(function(drive._handle, c, data, told)), data_in, out)


def send(drive: Drive, command: Any) -> Reply:
    """A command of `sated.scsi`, `sated.ata` or `sated.nvme` to where it belongs."""
    if isinstance(command, ata.Command):
        return drive.ata(command)
    if isinstance(command, scsi.Command):
        return drive.scsi(command)
    return drive.nvme_admin(command) if command.admin else drive.nvme_io(command)


# ---- transports in Python -------------------------------------------------------------------------------------------


class Transport:
    """A way to reach a drive, written in Python: subclass it, override `scsi` or `nvme`, and `sated.open` an instance.

    It counts as a real drive, to which commands outside the read-only table go with its token only (the serial number
    that it tells, else its name), unless the class sets `simulated = True`. What a method raises becomes the error of
    the call that led to it, with the exception as its cause.

    >>> class Echo(Transport):
    ...     simulated = True
    ...
    ...     def scsi(self, cdb, data_out, data_in_len, timeout_ms):
    ...         return bytes(data_in_len)
    >>> import sated
    >>> with sated.open(Echo()) as drive:
    ...     len(drive.scsi(bytes(6), data_in=8).data)
    8
    """

    simulated: ClassVar[bool] = False
    protocol: str = "scsi"
    """"scsi", "ata" (a SCSI transport with an ATA drive behind it) or "nvme"."""
    name: str = ""
    """For sentences; by default that of the class."""

    _error: BaseException | None = None

    def scsi(self, cdb: bytes, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> Reply | bytes:
        """Carries a SCSI command. `data_out`: what goes to the drive, None without; `data_in_len`: so many bytes are
        wanted back at most. Returns a `Reply`, or the data alone where the drive said "good"."""
        raise NotImplementedError

    def nvme(self, command: Any, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> Reply | bytes:
        """Carries an NVMe command, a `sated.nvme.Command`; the rest as for `scsi`."""
        raise NotImplementedError

    def close(self) -> None:
        """Called once, when the drive is closed."""

    def _take_error(self) -> BaseException | None:
        error, self._error = self._error, None
        return error


_TRANSPORT_PROTOCOLS = {
    "scsi": lib.SATED_PROTOCOL_SCSI,
    "ata": lib.SATED_PROTOCOL_ATA,
    "nvme": lib.SATED_PROTOCOL_NVME,
}


def _nvme_command(c: Any) -> nvme.Command:
    names = ("opcode", "nsid", *(f"cdw{i}" for i in range(10, 16)), "data_len", "direction", "timeout_ms")
    values = {name: int(getattr(c, name)) for name in names}
    return nvme.Command(**values, admin=bool(c.admin), bytes=filled(lib.sated_nvme_build_sqe, 64, c))


def _answer(told: Reply | bytes, c: Any, data: Any, out: Any) -> None:
    if not isinstance(told, Reply):
        told = Reply(data=octets(told))
    room = c.data_len if c.direction == lib.SATED_DATA_IN else 0
    if len(told.data) > room:
        raise ValueError(f"{len(told.data)} bytes of data came, {room} were asked for")
    if len(told.sense) > len(out.sense):
        raise ValueError(f"{len(told.sense)} bytes of sense data, at most {len(out.sense)} can be")
    if told.data:
        ffi.buffer(data, len(told.data))[:] = told.data
    ffi.buffer(out.sense)[0 : len(told.sense)] = told.sense
    out.sense_len = len(told.sense)
    out.scsi_status = told.status
    out.host_status = told.host_status
    out.driver_status = (8 if told.sense else 0) if told.driver_status is None else told.driver_status
    out.residual = _residual(told, room)
    out.nvme_status = told.nvme_status
    out.result = told.result


def _residual(told: Reply, room: int) -> int:
    """What is told where `data` bears it out: bytes that never came are not made up from a wrong number."""
    missing = room - len(told.data)
    if told.residual is None or (missing and not missing <= told.residual <= room):
        return missing
    return told.residual


def _failed(transport: Transport, name: str, error: BaseException) -> int:
    """Keeps the exception for the caller, and leaves a sentence in C for what C makes of it."""
    transport._error = error
    code, layer = lib.SATED_STATE, lib.SATED_LAYER_DRIVE
    if isinstance(error, SatedError):
        code, layer = error.code, error.layer or layer
    elif isinstance(error, TimeoutError):
        code = lib.SATED_STALLED
    elif isinstance(error, OSError) and error.errno and 0 < error.errno < 4096:
        code = -error.errno
    sentence = f"{name}: its transport raised {type(error).__name__}{f': {error}' if str(error) else ''}"
    return int(lib.sated_detail_set(code, layer, sentence.encode("utf-8", "replace").replace(b"\0", b"?")))


def open_transport(transport: Transport) -> tuple[Any, Any]:
    """(handle, what has to live as long as it)"""
    name = transport.name or type(transport).__name__
    if transport.protocol not in _TRANSPORT_PROTOCOLS:
        raise ParseError(f'{name}: protocol "{transport.protocol}" is unknown: use scsi, ata or nvme')
    struct = ffi.new("struct sated_transport *")
    lib.sated_transport_init(struct)
    struct.protocol = _TRANSPORT_PROTOCOLS[transport.protocol]
    struct.simulated = bool(type(transport).simulated)
    types = dict(ffi.typeof("struct sated_transport").fields)

    def run(method: Callable[..., Reply | bytes], first: Callable[[Any], Any]) -> Callable[..., int]:
        def carried(_user: Any, c: Any, data: Any, out: Any) -> int:
            try:
                sends = c.direction == lib.SATED_DATA_OUT
                data_out = bytes(ffi.buffer(data, c.data_len)) if sends else None
                wanted = c.data_len if c.direction == lib.SATED_DATA_IN else 0
                _answer(method(first(c), data_out, int(wanted), int(c.timeout_ms)), c, data, out)
            except BaseException as error:
                return _failed(transport, name, error)
            return 0

        return carried

    def cdb(c: Any) -> bytes:
        return bytes(ffi.buffer(c.cdb, c.cdb_len))

    # A struct keeps no callback alive: the objects themselves have to last as long as the handle.
    kept = [struct]
    for method, carry, first in (("scsi", transport.scsi, cdb), ("nvme", transport.nvme, _nvme_command)):
        if getattr(type(transport), method) is getattr(Transport, method):
            continue
        callback = ffi.callback(types[method].type, run(carry, first), error=lib.SATED_STATE)
        setattr(struct, method, callback)
        kept.append(callback)
    out = ffi.new("struct sated_drive **")
    check(lib.sated_drive_open_transport(out, name.encode(), struct))
    raised = transport._take_error()
    if raised is not None and not isinstance(raised, Exception):
        lib.sated_drive_close(out[0])
        raise raised
    return out[0], kept


# ---- recording ------------------------------------------------------------------------------------------------------


def refuse_existing(path: str | Path) -> None:
    """A recording never takes the place of a file, nor of what a link leads to."""
    if os.path.lexists(path):
        raise UnsafeError(f"{path}: is there already; record into a new file, or remove that one first")


def c_path(path: str | os.PathLike[str]) -> bytes:
    """A path as C takes it. Raises ParseError for a NUL in it, where C would take the path to end."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ParseError(f"{os.fspath(path)!r} has a NUL character: no path has one")
    return encoded


@contextmanager
def record(drive: Drive, path: str | Path) -> Iterator[None]:
    name = c_path(path)
    refuse_existing(path)
    check(lib.sated_drive_record_start(drive._handle))
    done = False
    try:
        yield
        refuse_existing(path)  # it may have come meanwhile
        done = True
    finally:
        if drive._c is not None:
            rc = lib.sated_drive_record_stop(drive._handle, name if done else ffi.NULL)
            if done:
                check(rc)
        elif done:
            raise StateError(f"{drive.uri} was closed while it was recorded: nothing was written to {path}")
