"""Simulated drives: models, URIs, counters, state."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from sated._ffi import ffi, lib, text
from sated.errors import ParseError, check

if TYPE_CHECKING:
    from sated._drive import Drive

__all__ = ["Counters", "Simulation", "add_model", "create", "model", "models", "uri"]

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


def create(name: str, path: str | os.PathLike[str], **keys: Any) -> str:
    """Makes a state file of a new drive and returns its URI. Raises an error where the file exists."""
    check(lib.sated_sim_create(os.fsencode(uri(name, **keys)), os.fsencode(path)))
    return f"sim:{os.fspath(path)}" if "/" in os.fspath(path) else f"sim:./{os.fspath(path)}"


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


class Simulation:
    """The simulated side of an open drive: `drive.sim`."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive

    @property
    def counters(self) -> Counters:
        """Raises StateError while a load runs."""
        c = ffi.new("struct sated_sim_counters *")
        check(lib.sated_sim_get_counters(self._drive._handle, c))
        return Counters(**{f.name: int(getattr(c, f.name)) for f in fields(Counters)})

    def reset_counters(self) -> None:
        """Sets back the counters and the energy, so that a span can be measured; contents stay."""
        check(lib.sated_sim_reset_counters(self._drive._handle))

    def save(self, path: str | os.PathLike[str] | None = None) -> None:
        """Writes the whole state to a file, atomically; without a path to the drive's own `state=` file, if any."""
        check(lib.sated_sim_save(self._drive._handle, ffi.NULL if path is None else os.fsencode(path)))

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Puts a saved state of the same model and keys back. Raises StateError for another drive's."""
        check(lib.sated_sim_restore(self._drive._handle, os.fsencode(path)))

    def power_cycle(self) -> None:
        """Switches the drive off and on."""
        check(lib.sated_sim_power_cycle(self._drive._handle))

    @property
    def model(self) -> str:
        """The name of its model, or the path of its state file."""
        return self._drive.uri.removeprefix("sim:").split(",")[0]

    @property
    def scale(self) -> int:
        return self._drive.identity.scale
