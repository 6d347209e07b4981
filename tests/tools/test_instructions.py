"""What the io_uring loop and a simulated write cost a processor, counted by callgrind: numbers that no other load on
the machine moves."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import loops
import writes

BATCH = {"depth": 32, "batch": 8}


@pytest.fixture(scope="module")
def loop() -> Iterator[loops.Loops]:
    with loops.built() as found:
        yield found


def test_instructions_for_each_io(loop: loops.Loops) -> None:
    """4K and less by an alias table, everything recorded. fio with the same statistics: about 1,980."""
    everything = loop.instructions(**loops.ALIAS, **BATCH)
    nothing = loop.instructions("nothing_recorded", op="randread", size="4k", **BATCH)
    print(f"{everything:.1f} instructions an I/O, {nothing:.1f} without recording and mix")
    assert 50 < everything <= 130
    assert 0 < everything - nothing <= 60


def test_two_threads_cost_what_one_does(loop: loops.Loops) -> None:
    one, two = (loop.instructions(op="randread", size="4k", threads=threads, **BATCH) for threads in (1, 2))
    assert two == pytest.approx(one, rel=0.01)


#: Recorded with gcc 12; who makes it cheaper or dearer on purpose records anew.
RECORDED = {
    "timing off": 614,
    "timing off, one at a time": 694,
    "full timing, A = 2.2": 1454,
    "full timing, A = 9": 2846,
}


def test_instructions_for_each_simulated_write() -> None:
    with writes.built() as program:
        found = {name: program.instructions(cell) for name, cell in writes.CELLS.items()}
    print(found)
    assert found == pytest.approx(RECORDED, rel=0.05)
