"""How a drive is set: write cache, read look-ahead, power states, block size; with what it was before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from sated._ffi import ffi, lib
from sated._text import html_table
from sated.errors import ParseError, check

if TYPE_CHECKING:
    from sated._drive import Drive

NAMES = {
    "write_cache": lib.SATED_SETTING_WRITE_CACHE,
    "look_ahead": lib.SATED_SETTING_LOOK_AHEAD,
    "apm": lib.SATED_SETTING_APM,
    "power_state": lib.SATED_SETTING_POWER_STATE,
    "apst": lib.SATED_SETTING_APST,
    "logical_block_bytes": lib.SATED_SETTING_BLOCK,
}
_SWITCHES = ("write_cache", "look_ahead", "apst")
_WORDS = {"on": True, "yes": True, "off": False, "no": False}


@dataclass(frozen=True)
class Settings:
    """What can be switched of a drive, as it is now; None where the drive does not tell or does not have it."""

    write_cache: bool | None = None
    """The volatile one: ATA SET FEATURES 02h/82h, SCSI WCE, NVMe feature 06h."""
    look_ahead: bool | None = None
    """ATA SET FEATURES AAh/55h, SCSI DRA."""
    apm: int | None = None
    """ATA: 1, the least power, to 254; 0 is off."""
    power_state: int | None = None
    """NVMe feature 02h."""
    apst: bool | None = None
    """NVMe feature 0Ch: it goes to states of lower power by itself."""
    logical_block_bytes: int | None = None
    """Setting it formats the drive: SCSI by FORMAT UNIT, NVMe by Format NVM."""
    changeable: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        return html_table((f.name, getattr(self, f.name)) for f in fields(self))


@dataclass(frozen=True)
class SettingsChange:
    """What was set: `before`, and what the drive tells `after` it."""

    before: Settings
    after: Settings


def _settings(c: Any) -> Settings:
    values: dict[str, Any] = {
        name: (bool if name in _SWITCHES else int)(getattr(c, name)) for name, bit in NAMES.items() if c.known & bit
    }
    return Settings(**values, changeable=tuple(name for name, bit in NAMES.items() if c.changeable & bit))


def get(drive: Drive) -> Settings:
    c = ffi.new("struct sated_settings *")
    check(lib.sated_drive_get_settings(drive._handle, c))
    return _settings(c)


def read(name: str, value: str) -> bool | int:
    """A setting as a person writes it.

    >>> read("write_cache", "off"), read("apm", "128")
    (False, 128)
    """
    if name not in NAMES:
        raise ParseError(f'setting "{name}" is unknown: use {", ".join(NAMES)}')
    if name in _SWITCHES:
        if value.lower() not in _WORDS:
            raise ParseError(f"{name}={value}: give on or off")
        return _WORDS[value.lower()]
    if not value.isdecimal() or int(value) >= 1 << 32:
        raise ParseError(f"{name}={value}: give a whole number")
    return int(value)


def change(drive: Drive, wanted: Mapping[str, bool | int], passing: bool) -> SettingsChange:
    c = ffi.new("struct sated_settings *")
    for name, value in wanted.items():
        if name not in NAMES:
            raise ParseError(f'setting "{name}" is unknown: use {", ".join(NAMES)}')
        if (name in _SWITCHES) != isinstance(value, bool) or not 0 <= value < 1 << 32:
            kind = "True or False" if name in _SWITCHES else "a whole number from 0 up"
            raise ParseError(f"{name}={value!r}: give {kind}")
        c.known |= NAMES[name]
        setattr(c, name, value)
    if not c.known:
        raise ParseError(f"set: name a setting: {', '.join(NAMES)}")
    before = get(drive)
    from sated._provision import go_through

    go_through(drive, lambda: int(lib.sated_drive_set_settings(drive._handle, c, passing)), None)
    return SettingsChange(before, get(drive))


def restore(drive: Drive) -> Settings | None:
    c = ffi.new("struct sated_settings *")
    return _settings(c) if check(lib.sated_drive_restore_settings(drive._handle, c)) else None
