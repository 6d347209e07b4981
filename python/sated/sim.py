"""Simulated drives: models, URIs, counters, state, faults, and other programs as their clients."""

from __future__ import annotations

import builtins
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sated._ffi import ffi, lib, text
from sated.errors import ParseError, UnsupportedError, check

if TYPE_CHECKING:
    from sated._drive import Drive
    from sated._expected import Figure

__all__ = [
    "FAULTS",
    "FILLINGS",
    "Counters",
    "Member",
    "Simulation",
    "add_model",
    "create",
    "environment",
    "execute",
    "model",
    "models",
    "uri",
    "validate",
]

_added: list[str] = []


def models() -> list[str]:
    """The names of the models: those built in, then those added.

    >>> "x210" in models()
    True
    """
    names, index = [], 0
    while (name := lib.sated_sim_model_name(index)) != ffi.NULL:
        names.append(text(name))
        index += 1
    return names + [name for name in _added if name not in names]


def model_text(name: str) -> str:
    """The TOML text of a model. Raises ParseError if there is none of that name."""
    found = lib.sated_sim_model_text(name.encode())
    if found == ffi.NULL:
        raise ParseError(f'there is no model "{name}": use one of {", ".join(models())}')
    return text(found)


def model(name: str) -> dict[str, Any]:
    """A model as a dict; each value with its origin (published, inferred, fitted)."""
    import tomllib

    return tomllib.loads(model_text(name))


def add_model(name: str, toml: str) -> None:
    """Adds a model by its text. Raises ParseError with line and key."""
    check(lib.sated_sim_add_model(name.encode(), toml.encode()))
    if name not in _added:
        _added.append(name)


def uri(name: str, **keys: Any) -> str:
    """The URI of a simulated drive.

    >>> uri("x210", lba=0.8, scale="1/64")
    'sim:x210,lba=0.8,scale=1/64'
    """
    return ",".join([f"sim:{name}", *(f"{key}={value}" for key, value in keys.items())])


def validate(name: str, *, scale: str = "1/64", seed: int = 1, **keys: Any) -> list[Figure]:
    """Measures each published figure of a model on the simulated drive, by the workload that the model names for it.

    `keys`: further keys of its URI, to see what other parameters would do. Raises ParseError for an unknown model, one
    that has no figures, or whose tables say what nobody reads.
    """
    from sated import _expected

    return _expected.validate(name, scale=scale, seed=seed, **keys)


def create(name: str, path: str | os.PathLike[str], **keys: Any) -> str:
    """Makes a state file of a new drive and returns its URI. Raises an error where the file exists."""
    _need_no_comma(os.path.abspath(path))  # noqa: PTH100
    check(lib.sated_sim_create(os.fsencode(uri(name, **keys)), os.fsencode(path)))
    return f"sim:{os.fspath(path)}" if "/" in os.fspath(path) else f"sim:./{os.fspath(path)}"


def execute(line: Sequence[str], *, drive: str | os.PathLike[str]) -> int:
    """Runs an unmodified program against a simulated drive, and returns its exit code: 128 + n where signal n ended it.

    `line`: the program and its arguments. `drive`: as of `environment`. Raises ParseError where there is no such drive
    or program.
    """
    import subprocess

    if not line:
        raise ParseError("no program to run: give it behind --, such as -- hdparm -I /dev/sim0")
    try:
        code = subprocess.run(list(line), env={**os.environ, **environment(drive)}, check=False).returncode
    except FileNotFoundError:
        raise ParseError(f"{line[0]}: there is no such program here; check its name, or install it") from None
    except PermissionError:
        raise ParseError(f"{line[0]}: is not a program that may be run; check the file") from None
    return 128 - code if code < 0 else code


def environment(drive: str | os.PathLike[str]) -> dict[str, str]:
    """The environment variables by which a program has a simulated drive as /dev/sim0, /dev/nvmesim0, ...

    `drive`: a state file, or the URI of a simulated drive that has one; without, nothing would be kept from one process
    to the next. Raises ParseError for another drive, UnsupportedError where the shim is missing.
    """
    where, shim = _state_uri(os.fspath(drive)), _shim()
    if set(shim) & set(": "):
        raise UnsupportedError(f"{shim}: LD_PRELOAD takes no path with blanks or colons; install sated elsewhere")
    return {
        "SATED_SIM_EXEC": where,
        "LD_PRELOAD": ":".join([shim, *filter(None, [os.environ.get("LD_PRELOAD")])]),
    }


def _state_uri(name: str) -> str:
    if not name.startswith("sim:"):
        if not os.path.isfile(name):  # noqa: PTH113
            raise ParseError(f"{name}: there is no such state file; make one: sated sim create x210 {name}")
        return f"sim:{_need_no_comma(os.path.abspath(name))}"  # noqa: PTH100
    model, *keys = _parts(name.removeprefix("sim:"))
    is_file = "/" in model or model.endswith(".sim")
    if not is_file and not any(key.startswith("state=") for key in keys):
        raise ParseError(f"{name}: keeps nothing from one process to the next; add state=FILE, or give a state file")
    # The program may change its folder.
    if is_file:
        model = _need_no_comma(os.path.abspath(model))  # noqa: PTH100
    keys = [f"state={_need_no_comma(os.path.abspath(key[6:]))}" if key.startswith("state=") else key for key in keys]  # noqa: PTH100
    return "sim:" + ",".join([model, *keys])


def _parts(spec: str) -> list[str]:
    """What commas part, but for those between parentheses: raid1,members=2,of=(710,lba=80%)."""
    return re.findall(r"(?:\([^()]*\)|[^,])+", spec)


def _need_no_comma(path: str) -> str:
    if "," in path:
        raise ParseError(f'{path}: has a comma, behind which a URI has its keys; use a folder and a name without ","')
    return path


def _shim() -> str:
    found = sorted((Path(__file__).parent / "native").glob("shim*.so"))
    if not found:
        raise UnsupportedError("sated is not complete here: its shim is missing; run `make ready`, or install it again")
    return str(found[0])


#: What a drive can be filled with, as `Simulation.fill` takes it.
FILLINGS = {
    "fresh": lib.SATED_FILL_FRESH,
    "sequential": lib.SATED_FILL_SEQUENTIAL,
    "random": lib.SATED_FILL_RANDOM,
    "steady": lib.SATED_FILL_STEADY,
}

#: The kinds of faults, as `Simulation.fail` takes them.
FAULTS = {
    "fail": lib.SATED_FAULT_FAIL,
    "power-cut": lib.SATED_FAULT_POWER_CUT,
    "operation-fails": lib.SATED_FAULT_OPERATION_FAILS,
    "stall": lib.SATED_FAULT_STALL,
    "no-registers": lib.SATED_FAULT_NO_REGISTERS,
    "fixed-sense": lib.SATED_FAULT_FIXED_SENSE,
    "legacy-sense": lib.SATED_FAULT_LEGACY_SENSE,
    "twelve-only": lib.SATED_FAULT_TWELVE_ONLY,
    "no-erase": lib.SATED_FAULT_NO_ERASE,
    "bridge-lock": lib.SATED_FAULT_BRIDGE_LOCK,
    "dma-4k": lib.SATED_FAULT_DMA_4K,
}

_OUTCOMES = {"before": lib.SATED_FAULT_BEFORE, "after": lib.SATED_FAULT_AFTER, "half": lib.SATED_FAULT_HALF}


@dataclass(frozen=True)
class Counters:
    """What a simulated drive has counted since it was made, or since the last reset. Units are
    mapping units of `unit_bytes`; commands are counted once each."""

    host_write_units: int
    nand_write_units: int
    gc_write_units: int
    erases: int
    served_reads: int
    served_writes: int
    served_trims: int
    read_bytes: int
    written_bytes: int
    trimmed_bytes: int
    map_hits: int
    map_misses: int
    energy_nj: int
    mapped_units: int
    free_blocks: int
    unit_bytes: int
    scale: int
    served_write_zeroes: int
    served_flushes: int
    zeroed_bytes: int
    parity_units: int
    slc_write_units: int
    folded_units: int
    slc_held_units: int
    bad_blocks: int
    spare_blocks: int
    lost_units: int
    degraded_units: int
    uncorrectable_commands: int
    wear_sum: int
    wear_least: int
    wear_most: int
    failed_dies: int
    read_only: int

    @property
    def host_writes(self) -> int:
        return self.host_write_units

    @property
    def nand_writes(self) -> int:
        return self.nand_write_units

    @property
    def gc_writes(self) -> int:
        return self.gc_write_units

    @property
    def energy_j(self) -> float:
        return self.energy_nj / 1e9

    @property
    def write_amplification(self) -> float | None:
        """Programmed units per unit written by the host; None before the first write."""
        return self.nand_write_units / self.host_write_units if self.host_write_units else None


def _index(index: int) -> int:
    if not 0 <= index < 1 << 32:
        raise ParseError(f"there is no member {index}: they count from 0")
    return index


_STATES = {
    lib.SATED_MEMBER_ONLINE: "online",
    lib.SATED_MEMBER_FAILED: "failed",
    lib.SATED_MEMBER_REBUILDING: "rebuilding",
}


@dataclass(frozen=True)
class Member:
    """A drive of a RAID set of simulated drives, as it was when it was asked for.

    `state`: "online", "failed", or "rebuilding" (a spare that is in use as far as it is filled: `rebuilt_bytes`).
    `capacity_bytes`: what the set lets it address.
    """

    index: int
    state: str
    model: str
    serial: str
    capacity_bytes: int
    native_bytes: int
    raw_bytes: int
    rebuilt_bytes: int
    counters: Counters


def _counters(c: Any) -> Counters:
    return Counters(**{f.name: int(getattr(c, f.name)) for f in fields(Counters)})


class Simulation:
    """The simulated side of an open drive: `drive.sim`."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive

    @property
    def counters(self) -> Counters:
        """Of a set: what its host was served, and of the rest the sums of its members, parity and mirrors included.
        Raises StateError while a load runs."""
        c = ffi.new("struct sated_sim_counters *")
        check(lib.sated_sim_get_counters(self._drive._handle, c))
        return _counters(c)

    def reset_counters(self) -> None:
        """Sets back the counters and the energy, so that a span can be measured; contents stay."""
        check(lib.sated_sim_reset_counters(self._drive._handle))

    def save(self, path: str | os.PathLike[str] | None = None) -> None:
        """Writes the whole state to a file, atomically; without a path to the drive's own `state=` file, if any."""
        check(lib.sated_sim_save(self._drive._handle, ffi.NULL if path is None else os.fsencode(path)))

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Puts a saved state of the same model and keys back. Raises StateError for another drive's."""
        check(lib.sated_sim_restore(self._drive._handle, os.fsencode(path)))

    def fill(self, filling: str, *, share: float = 1.0) -> None:
        """Forgets what the drive holds and fills it anew, at once and without a write: "fresh" (nothing), "sequential",
        "random" (each address once), or "steady", as endless uniform random writes leave it, so that the first write
        already meets the amplification of steady state.

        `share` of the addresses, for "sequential" and "random". Takes none of the drive's time and counts as no write.
        Raises ParseError; StateError while a load runs.
        """
        if filling not in FILLINGS:
            raise ParseError(f'no filling "{filling}": use one of {", ".join(FILLINGS)}')
        check(lib.sated_sim_fill(self._drive._handle, FILLINGS[filling], share))

    def power_cycle(self) -> None:
        """Switches the drive off and on."""
        check(lib.sated_sim_power_cycle(self._drive._handle))

    def fail(
        self,
        kind: str,
        *,
        opcode: int | None = None,
        after: int = 0,
        count: int = 0,
        outcome: str = "before",
        sense: tuple[int, int, int] = (0x5, 0x24, 0x00),
        ata_error: int = 0x04,
        nvme_status: int = 0x0006,
        host_status: int = 0,
    ) -> None:
        """Orders a fault; up to 16 stand at a time, and they are kept with the drive's state.

        `kind`: one of FAULTS. "fail" answers a command with `sense` (key, ASC, ASCQ), `ata_error` (the ERROR register),
        `nvme_status` (15 bits) or `host_status` (the kernel's DID_*), as the drive's protocol has it; it meets commands
        only, and nothing that a load reads or writes. "power-cut" cuts the power during a command, which had its effect
        (`outcome` "after"), none ("before"), or half of it ("half"); "operation-fails" spoils the next sanitize, format
        or self-test; "stall" stops the progress of what goes on; the others are the quirks of bridges, adapters and
        drives in the field. `opcode`: only for commands of this code (SCSI operation code, ATA command, NVMe opcode).
        `after`: so many are let through; `count`: so many are met, 0 = all until `heal`. Raises ParseError.
        """
        if kind not in FAULTS or outcome not in _OUTCOMES:
            raise ParseError(
                f'no fault "{kind}" with outcome "{outcome}": kinds are {", ".join(FAULTS)}; outcomes are '
                f"{', '.join(_OUTCOMES)}"
            )
        if len(sense) != 3:
            raise ParseError(f"sense = {sense}: give key, ASC, ASCQ, such as (0x5, 0x24, 0x00)")
        fault = ffi.new("struct sated_sim_fault *")
        lib.sated_sim_fault_init(fault)
        given = {
            "kind": FAULTS[kind],
            "after": after,
            "count": count,
            "opcode": -1 if opcode is None else opcode,
            "outcome": _OUTCOMES[outcome],
            "key": sense[0],
            "asc": sense[1],
            "ascq": sense[2],
            "ata_error": ata_error,
            "nvme_status": nvme_status,
            "host_status": host_status,
        }
        for name, value in given.items():
            try:
                setattr(fault, name, value)
            except OverflowError:
                raise ParseError(f"{name} = {value}: does not fit; see the help of Simulation.fail") from None
        check(lib.sated_sim_fail(self._drive._handle, fault))

    def stall(self, *, after: float, seconds: float) -> None:
        """Once, `after` seconds from now, the drive takes no command for `seconds` of its own time: what comes
        meanwhile waits. Not kept with its state. Raises ParseError."""
        from sated._drive import nanoseconds

        check(lib.sated_sim_stall(self._drive._handle, nanoseconds("after", after), nanoseconds("seconds", seconds)))

    def fail_die(self, die: int) -> None:
        """A die fails, for ever. `die`: from 0 on.

        With parity (a model's, or `parity=on`) what it held is told from the other dies at their cost, and relocated in
        idle and beside writes (`counters.degraded_units` goes to 0). Without, it is lost (`counters.lost_units`): to
        read it is a media error until it is written again. Raises ParseError for a die that the drive has not,
        StateError for one that has failed already.
        """
        if not 0 <= die < 1 << 32:
            raise ParseError(f"die = {die}: dies are numbered from 0 on")
        check(lib.sated_sim_fail_die(self._drive._handle, die))

    def heal(self) -> None:
        """Takes all faults away; what stalled goes on."""
        check(lib.sated_sim_clear_faults(self._drive._handle))

    @property
    def members(self) -> list[Member]:
        """The drives of a set with what each has counted; none of a drive that is no set.

        >>> import sated
        >>> with sated.open("sim:raid5,members=3,of=generic") as drive:
        ...     [member.state for member in drive.sim.members]
        ['online', 'online', 'online']
        """
        n = ffi.new("uint32_t *")
        check(lib.sated_sim_count_members(self._drive._handle, n))
        return [self._member(index) for index in range(n[0])]

    def _member(self, index: int) -> Member:
        m = ffi.new("struct sated_sim_member *")
        check(lib.sated_sim_get_member(self._drive._handle, index, m))
        return Member(
            index=index,
            state=_STATES[m.state],
            model=text(m.model),
            serial=text(m.serial),
            capacity_bytes=int(m.capacity_bytes),
            native_bytes=int(m.native_bytes),
            raw_bytes=int(m.raw_bytes),
            rebuilt_bytes=int(m.rebuilt_bytes),
            counters=_counters(m.counters),
        )

    def fail_member(self, index: int) -> None:
        """A member of a set is lost: what it held is worked out from the others. Raises StateError where the set cannot
        miss it, ParseError where there is none of that index."""
        check(lib.sated_sim_fail_member(self._drive._handle, _index(index)))

    def replace_member(self, index: int, *, bytes_per_s: int = 100_000_000) -> None:
        """A spare takes the place of a member that has failed, and is filled while the set goes on, at `bytes_per_s` at
        most, in its own time. Raises StateError where it has not failed, or another one is being rebuilt."""
        check(lib.sated_sim_replace_member(self._drive._handle, _index(index), bytes_per_s))

    def read(self, offset_bytes: int, bytes: int) -> builtins.bytes:
        """Bytes of the drive or set; both numbers are multiples of 512. What a load wrote reads as a filler. Raises an
        error outside of what can be addressed."""
        out = ffi.new("uint8_t[]", bytes)
        check(lib.sated_sim_read(self._drive._handle, offset_bytes, out, bytes))
        return builtins.bytes(ffi.buffer(out))

    def write(self, offset_bytes: int, data: builtins.bytes) -> None:
        """Writes bytes; offset and length are multiples of 512. Raises an error outside of what can be addressed."""
        check(lib.sated_sim_write(self._drive._handle, offset_bytes, ffi.from_buffer(data), len(data)))

    def use_controller(self, index: int) -> None:
        """NVMe: later commands go through controller 0 or 1 of the subsystem. Raises UnsupportedError for another."""
        check(lib.sated_sim_set_controller(self._drive._handle, index))

    @property
    def model(self) -> str:
        """The name of its model, or the path of its state file."""
        return self._drive.uri.removeprefix("sim:").split(",")[0]

    @property
    def scale(self) -> int:
        return self._drive.identity.scale
