"""Drives that are slow by a known time: nothing that was measured may be shorter than what the kernel waited."""

from __future__ import annotations

from pathlib import Path

import drives
import pytest
import sated

ENGINES = ["io_uring", "threads"]


def check_slow(path: str, engine: str, least_ms: float) -> None:
    with sated.open(path) as drive:
        work = sated.Workload(op="randread", size="4k", depth=4)
        totals = sated.load(drive, work, ios=40, engine=engine, seed=1).totals
    assert (totals.ios, totals.errors) == (40, 0)
    # Not of each: where the host takes the processor away, the guest's jiffies lag behind and then run ahead.
    median = totals.histogram().percentile(50)
    assert median is not None and median >= least_ms * 1e6
    # Little's law: four outstanding, each for no less than that; fewer only while the last ones end.
    assert totals.iops <= 4000 / least_ms
    assert totals.lat_mean_ns is not None and 2.5 < totals.iops * totals.lat_mean_ns / 1e9 < 4.1


@pytest.mark.parametrize("engine", ENGINES)
def test_a_delay_target(nodes: dict[str, str], removed: None, engine: str) -> None:
    """100 ms, counted in jiffies (drivers/md/dm-delay.c): where the host lets the guest's processor wait, they fall
    behind by one or several of 4 ms, and then catch up."""
    check_slow(drives.mapped("slow", f"0 100000 delay /dev/{nodes['RESET001']} 0 100"), engine, 80)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_latency_of_null_blk(engine: str) -> None:
    """completion_nsec, by a timer of the kernel's (Documentation/block/null_blk.rst)."""
    check_slow("/dev/nullb1", engine, 20)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_drive_with_queues_to_poll(engine: str) -> None:
    """Nobody polls: such I/Os go to the other queues, and none is lost."""
    assert Path("/sys/block/nullb1/queue/io_poll").read_text().strip() == "1"
    drives.check_reads("nullb1", engine, ios=200)
