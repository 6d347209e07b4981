"""Single commands: what came back of one, sending one, and transports written in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sated._ffi import ffi, lib, text
from sated.errors import ParseError, SatedError, StateError, UnsafeError, check, last_error

if TYPE_CHECKING:
    from sated._drive import Drive

__all__ = ["ReadOnly", "Reply", "Transport", "ata", "nvme", "read_only", "record", "scsi"]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came of one command; also what the methods of a `Transport` return.

    data: what the drive sent, cut to what really came. status: of SCSI (SAM-6 5.3.1), 0 good, 2 check condition.
    sense: sense data. host_status, driver_status: of host adapter and kernel; the latter is made up from `sense` if
    None. residual: bytes that did not move, as told; computed from `data` if None. nvme_status: 15 bits, 0 = good.
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
    from sated._decode import convert

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


def _number(what: str, value: int, bits: int) -> int:
    if not 0 <= value < 1 << bits:
        raise ParseError(f"{what} is {value}: give a number from 0 to {(1 << bits) - 1}")
    return value


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
    length = 0 if data_out is not None else _number("data_in", data_in, 31)
    return (lib.SATED_DATA_IN if length else lib.SATED_DATA_NONE), length


def scsi(
    drive: Drive, cdb: Any, data_in: int, data_out: bytes | None, timeout: float | None, confirm: str | None
) -> Reply:
    c = ffi.new("struct sated_scsi_command *")
    if hasattr(cdb, "cdb"):
        data_in = cdb.data_len if cdb.direction == lib.SATED_DATA_IN else 0
        if cdb.direction == lib.SATED_DATA_OUT and len(data_out or b"") != cdb.data_len:
            raise ParseError(f"data_out has {len(data_out or b'')} bytes: the command sends {cdb.data_len}")
        c.timeout_ms = cdb.timeout_ms
        cdb = cdb.cdb
    bytes_of_cdb = bytes(cdb)
    if not 6 <= len(bytes_of_cdb) <= 32:
        raise ParseError(f"a CDB of {len(bytes_of_cdb)} bytes: give 6 to 32")
    ffi.buffer(c.cdb)[0 : len(bytes_of_cdb)] = bytes_of_cdb
    c.cdb_len = len(bytes_of_cdb)
    c.direction, c.data_len = _direction(data_in, data_out)
    c.timeout_ms = _milliseconds(timeout) or c.timeout_ms
    _consent(drive, lambda: int(lib.sated_scsi_check_read_only(c)), confirm)
    return _exchange(drive, lambda data, told: int(lib.sated_scsi_raw(drive._handle, c, data, told)), data_in, data_out)


_PROTOCOLS = {
    "non-data": lib.SATED_ATA_NON_DATA,
    "pio-in": lib.SATED_ATA_PIO_IN,
    "pio-out": lib.SATED_ATA_PIO_OUT,
    "dma": lib.SATED_ATA_DMA,
    "fpdma": lib.SATED_ATA_FPDMA,
}


def _ata_registers(
    command: int,
    features: int,
    count: int | None,
    lba: int,
    device: int,
    protocol: str | None,
    ext: bool | None,
    ck_cond: bool,
    data_in: int,
    data_out: bytes | None,
) -> dict[str, int]:
    direction, length = _direction(data_in, data_out)
    if protocol is None:
        protocol = {lib.SATED_DATA_NONE: "non-data", lib.SATED_DATA_IN: "pio-in"}.get(direction, "pio-out")
    if protocol not in _PROTOCOLS:
        raise ParseError(f'ATA protocol "{protocol}" is unknown: use {", ".join(_PROTOCOLS)}')
    if count is None:
        count = length // 512
    if ext is None:
        ext = features > 0xFF or count > 0xFF or lba > 0xFFFFFFF
    return {
        "command": _number("command", command, 8),
        "device": _number("device", device, 8),
        "protocol": _PROTOCOLS[protocol],
        "direction": direction,
        "ext": int(ext),
        "ck_cond": int(ck_cond),
        "features": _number("features", features, 16),
        "count": _number("count", count, 16),
        "lba": _number("lba", lba, 48),
        "data_len": length,
    }


def ata(
    drive: Drive,
    command: Any,
    features: int,
    count: int | None,
    lba: int,
    device: int,
    protocol: str | None,
    ext: bool | None,
    ck_cond: bool,
    data_in: int,
    data_out: bytes | None,
    timeout: float | None,
    confirm: str | None,
) -> Reply:
    if hasattr(command, "pass_through"):
        names = [name for name, _ in ffi.typeof("struct sated_ata_command").fields]
        values = {name: int(getattr(command, name)) for name in names}
        data_in = command.data_len if command.direction == lib.SATED_DATA_IN else 0
        data_out = command.data or data_out
        if command.direction == lib.SATED_DATA_OUT and len(data_out or b"") != command.data_len:
            raise ParseError(f"data_out has {len(data_out or b'')} bytes: the command sends {command.data_len}")
    else:
        values = _ata_registers(command, features, count, lba, device, protocol, ext, ck_cond, data_in, data_out)
    c = ffi.new("struct sated_ata_command *", values)
    c.timeout_ms = _milliseconds(timeout) or c.timeout_ms
    registers = ffi.new("struct sated_ata_registers *")
    _consent(drive, lambda: int(lib.sated_ata_check_read_only(c)), confirm)

    def call(data: Any, told: Any) -> int:
        return int(lib.sated_ata_raw(drive._handle, c, data, registers, told))

    return _exchange(drive, call, data_in, data_out, registers)


def nvme(
    drive: Drive,
    admin: bool,
    opcode: Any,
    nsid: int,
    cdws: dict[str, int],
    data_in: int,
    data_out: bytes | None,
    timeout: float | None,
    confirm: str | None,
) -> Reply:
    c = ffi.new("struct sated_nvme_command *")
    if hasattr(opcode, "opcode"):
        given = opcode
        if given.admin != admin:
            raise ParseError(f"the command goes to the {'admin' if given.admin else 'I/O'} queue: use the other method")
        data_in = given.data_len if given.direction == lib.SATED_DATA_IN else 0
        if given.direction == lib.SATED_DATA_OUT and len(data_out or b"") != given.data_len:
            raise ParseError(f"data_out has {len(data_out or b'')} bytes: the command sends {given.data_len}")
        opcode, nsid, c.timeout_ms = given.opcode, given.nsid, given.timeout_ms
        cdws = {f"cdw{i}": getattr(given, f"cdw{i}") for i in range(10, 16)}
    c.opcode = _number("opcode", opcode, 8)
    c.nsid = _number("nsid", nsid, 32)
    for name, value in cdws.items():
        setattr(c, name, _number(name, value, 32))
    c.admin = admin
    c.direction, c.data_len = _direction(data_in, data_out)
    c.timeout_ms = _milliseconds(timeout) or c.timeout_ms
    function = lib.sated_nvme_admin_raw if admin else lib.sated_nvme_io_raw
    _consent(drive, lambda: int(lib.sated_nvme_check_read_only(c)), confirm)
    return _exchange(drive, lambda data, told: int(function(drive._handle, c, data, told)), data_in, data_out)


# ---- transports in Python -------------------------------------------------------------------------------------------


class Transport:
    """A way to reach a drive, written in Python: subclass it, override `scsi` or `nvme`, and `sated.open` an instance.

    It counts as a real drive, to which commands outside the read-only table are not sent, unless the class sets
    `simulated = True`. What a method raises becomes the error of the call that led to it, with the exception as its
    cause.

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


def _nvme_command(c: Any) -> Any:
    from sated._decode import filled
    from sated.nvme import Command

    names = ("opcode", "nsid", *(f"cdw{i}" for i in range(10, 16)), "data_len", "direction", "timeout_ms")
    values = {name: int(getattr(c, name)) for name in names}
    return Command(**values, admin=bool(c.admin), bytes=filled(lib.sated_nvme_build_sqe, 64, c))


def _answer(told: Reply | bytes, c: Any, data: Any, out: Any) -> None:
    if isinstance(told, (bytes, bytearray, memoryview)):
        told = Reply(data=bytes(told))
    if not isinstance(told, Reply):
        raise TypeError(f"a Reply or bytes expected, got {type(told).__name__}")
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
    out.residual = (room - len(told.data)) if told.residual is None else told.residual
    out.nvme_status = told.nvme_status
    out.result = told.result


def _failed(transport: Transport, name: str, error: BaseException) -> int:
    """Keeps the exception for the caller, and leaves a sentence in C for what C makes of it."""
    transport._error = error
    code, layer = lib.SATED_STATE, lib.SATED_LAYER_DRIVE
    if isinstance(error, SatedError):
        code, layer = error.code, error.layer or layer
    elif isinstance(error, OSError) and error.errno and 0 < error.errno < 4096:
        code = -error.errno
    sentence = f"{name}: its transport raised {type(error).__name__}: {error}"
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


@contextmanager
def record(drive: Drive, path: str | Path) -> Iterator[None]:
    check(lib.sated_drive_record_start(drive._handle))
    done = False
    try:
        yield
        done = True
    finally:
        if drive._c is not None:
            rc = lib.sated_drive_record_stop(drive._handle, str(path).encode() if done else ffi.NULL)
            if done:
                check(rc)
        elif done:
            raise StateError(f"{drive.uri} was closed while it was recorded: nothing was written to {path}")
