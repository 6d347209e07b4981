"""Switching a drive's power: by commands, by the simulated drive itself, or by a person who is asked."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sated.errors import DriveOSError, ParseError, StateError, UnsupportedError

if TYPE_CHECKING:
    from sated._drive import Drive

_OFF_S = 5.0
"""How long power stays off: capacitors keep a drive alive for a moment."""
_BACK_S = 120.0
"""How long a drive may take to be found again."""
_LOOK_S = 0.5
_COMMAND_S = 300.0


def words(command: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """A command as its words; a text is split as a shell would, and no shell ever sees it.

    >>> words("uhubctl -a cycle -p '2'")
    ('uhubctl', '-a', 'cycle', '-p', '2')
    """
    if command is None:
        return None
    try:
        split = tuple(shlex.split(command) if isinstance(command, str) else command)
    except ValueError as error:
        raise ParseError(f"power command {command!r}: {error}: close each quote") from None
    if not split:
        raise ParseError("a power command is empty: give a program and its arguments")
    return split


@dataclass(frozen=True, kw_only=True)
class PowerControl:
    """How a drive is switched off and on: `off` and `on` are commands as lists of words (or texts that are split into
    such), or `cycle_command` is one for both. `ask` is called with a sentence where there is none of them, and returns
    once a person has done it. A simulated drive needs none of this.

    >>> import sated
    >>> with sated.open("sim:x210,scale=1/64") as drive:
    ...     PowerControl().cycle(drive)
    """

    off: str | Sequence[str] | None = None
    on: str | Sequence[str] | None = None
    cycle_command: str | Sequence[str] | None = None
    ask: Callable[[str], None] | None = None
    off_s: float = _OFF_S
    back_s: float = _BACK_S

    def __post_init__(self) -> None:
        if (self.off is None) != (self.on is None):
            raise ParseError("power off and power on go together: give both commands, or one that does both (cycle)")
        for command in (self.off, self.on, self.cycle_command):
            words(command)

    @property
    def automatic(self) -> bool:
        """Whether it works without a person."""
        return self.off is not None or self.cycle_command is not None

    def can(self, drive: Drive) -> bool:
        """Whether anything or anybody can switch this drive."""
        return drive.identity.simulated or self.automatic or self.ask is not None

    def cycle(self, drive: Drive) -> None:
        """Off and on, and back once the drive has been found again, under whatever name.

        Raises StateError where nobody can do it, UnsupportedError where a command fails, DriveOSError where the drive
        does not come back.
        """
        if drive.identity.simulated:
            drive.sim.power_cycle()
            return
        if self.cycle_command is not None:
            _run(words(self.cycle_command))
        elif self.off is not None:
            _run(words(self.off))
            time.sleep(self.off_s)
            _run(words(self.on))
        elif self.ask is not None:
            self.ask(f"{drive.uri}: switch its power off, wait {self.off_s:g} s, and on again")
        else:
            raise StateError(
                f"{drive.uri}: its power has to be switched off and on, and there is no command for it: give one "
                f"(--power-cycle, or --power-off and --power-on), or do it by hand and go on with --resume"
            )
        self._wait(drive)

    def _wait(self, drive: Drive) -> None:
        end = time.monotonic() + self.back_s
        while True:
            try:
                drive.refresh()
                return
            except DriveOSError:
                if time.monotonic() >= end:
                    raise
            time.sleep(_LOOK_S)


def _run(command: tuple[str, ...] | None) -> None:
    assert command is not None
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_COMMAND_S, check=False
        )
    except OSError as error:
        raise UnsupportedError(
            f"power command {shlex.join(command)}: {error.strerror}: name a program there is"
        ) from None
    except subprocess.TimeoutExpired:
        raise UnsupportedError(
            f"power command {shlex.join(command)}: has not ended within {_COMMAND_S:g} s: try it by hand"
        ) from None
    if done.returncode:
        told = " ".join((done.stderr or done.stdout).split())[-200:] or "it said nothing"
        raise UnsupportedError(
            f"power command {shlex.join(command)}: ended with {done.returncode} ({told}): try it by hand"
        )
