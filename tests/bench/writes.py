"""What a host write costs the simulated drive: builds tests/bench/writes.c with the library, counts what it executes,
and times it beside increments at random places of an array of as many numbers as the drive has units."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import loops

FEW, MANY = 20_000, 80_000


@dataclass(frozen=True)
class Cell:
    spec: str
    depth: int


CELLS = {
    "timing off": Cell("generic,timing=off,fill=steady", 32),
    "timing off, one at a time": Cell("generic,timing=off,fill=steady", 1),
    "full timing, A = 2.2": Cell("x210,scale=1/64,lba=80%,fill=steady", 32),
    "full timing, A = 9": Cell("x210,scale=1/64,fill=steady", 32),
}
# As many units as 256 GB has, through commands and without.
WHOLE = Cell("generic,timing=off,blocks=655360,fill=steady", 64)
WHOLE_BARE = Cell("generic,timing=off,blocks=655360,fill=steady", 0)


@dataclass(frozen=True)
class Writes:
    program: Path

    def instructions(self, cell: Cell) -> float:
        """User instructions for each host write by callgrind: the slope between two numbers of writes."""
        few, many = (loops.executed(self.command(cell, writes)) for writes in (FEW, MANY))
        return (many - few) / (MANY - FEW)

    def times(self, cell: Cell, writes: int, increments: int) -> tuple[float, float]:
        """CPU nanoseconds of a write and of an increment, in one run."""
        line = [*self.command(cell, writes), str(increments)]
        done = subprocess.run(line, capture_output=True, text=True, check=True).stdout
        _, write, increment = map(float, done.split())
        return write, increment

    def command(self, cell: Cell, writes: int) -> list[str]:
        return [str(self.program), cell.spec, str(cell.depth), str(writes)]


@contextmanager
def built() -> Iterator[Writes]:
    with tempfile.TemporaryDirectory(prefix="sated-writes-") as name:
        folder = Path(name)
        compiler, archive = loops.library(folder)
        source = loops.ROOT / "tests/bench/writes.c"
        subprocess.run(
            [*compiler, str(source), str(archive), *loops.LIBRARIES, "-o", str(folder / "writes")], check=True
        )
        yield Writes(folder / "writes")
