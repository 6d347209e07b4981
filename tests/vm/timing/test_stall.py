"""A drive that takes no I/O for 200 ms: device-mapper holds back what comes while a target is suspended, and hands all
of it on when it is resumed (drivers/md/dm.c)."""

from __future__ import annotations

import fcntl
import struct
import time
from pathlib import Path
from typing import Any

import drives
import numpy as np
import pyarrow.parquet as pq
import pytest
import sated
from numpy.typing import NDArray

SECONDS = 2
STALL_S = 0.2
RATE = 250
DEPTH = 4
LATE_NS = 40_000_000  # more than a guest is late for other reasons

# linux/dm-ioctl.h: version, sizes, target and open counts, flags, event, device, name, uuid.
HEAD = struct.Struct("=3I2IIiIIIQ128s129s7x")
DM_DEV_SUSPEND = 0xC138FD06  # _IOWR(0xfd, 6, struct dm_ioctl)
SUSPEND, SKIP_LOCKFS = 1 << 1, 1 << 10


def suspend(control: Any, name: str, flags: int) -> None:
    """By the ioctl that dmsetup makes: a program of its own would take longer to start than the stall lasts."""
    fcntl.ioctl(control, DM_DEV_SUSPEND, HEAD.pack(4, 0, 0, HEAD.size, 0, 0, 0, flags, 0, 0, 0, name.encode(), b""))


Log = dict[str, NDArray[np.int64]]


def stalled(path: str, work: sated.Workload, engine: str, log: Path) -> tuple[sated.Result, Log]:
    """A load with a stall in its middle, and its log."""
    with sated.open(path) as drive, Path("/dev/mapper/control").open("wb") as control:
        job = sated.start(drive, work, seconds=SECONDS, interval=0.1, engine=engine, log=log, seed=1)
        time.sleep(0.8)
        suspend(control, "stalls", SUSPEND | SKIP_LOCKFS)
        time.sleep(STALL_S)
        suspend(control, "stalls", 0)
        job.wait()
        result = job.result()
    table = pq.read_table(log)
    columns = {name: table[name].to_numpy() for name in ("intended_ns", "submit_ns", "complete_ns", "error")}
    assert not columns["error"].any() and len(table) == sum(result.table["ios"].to_pylist())
    return result, columns


def held(log: Log, to_ns: int) -> int:
    """How many I/Os the drive had until then, and for long."""
    return int(((log["submit_ns"] < to_ns - LATE_NS) & (log["complete_ns"] >= to_ns)).sum())


def silence(log: Log) -> tuple[int, int]:
    """The longest time in which no I/O ended although the drive had some: not one in which nobody asked, because a
    thread did not get the processor."""
    at = np.sort(log["complete_ns"])
    for longest in np.argsort(at[:-1] - at[1:]):
        from_ns, to_ns = int(at[longest]), int(at[longest + 1])
        if held(log, to_ns):
            return from_ns, to_ns
    raise AssertionError("the drive never was silent")


def late(histogram: sated.Histogram, log: Log, since: str) -> int:
    """How many values of a histogram are late; the log has as many until the end of the load."""
    low, counts = histogram.buckets()
    edge = int(low[low >= LATE_NS][0])
    found = int(counts[low >= edge].sum())
    measured = log["complete_ns"] <= SECONDS * 1_000_000_000
    assert found == int((measured & (log["complete_ns"] - log[since] >= edge)).sum())
    return found


@pytest.fixture
def device(removed: None) -> str:
    return drives.mapped("stalls", "0 100000 linear /dev/nullb2 0")


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
def test_each_io_that_a_stall_delays_is_in_the_responses_once(device: str, tmp_path: Path, engine: str) -> None:
    work = sated.Workload(op="randread", size="4k", depth=DEPTH, rate=RATE)
    result, log = stalled(device, work, engine, tmp_path / "log.parquet")
    from_ns, to_ns = silence(log)
    assert to_ns - from_ns >= STALL_S / 2 * 1e9
    # By arithmetic: so many are due in that time, and all but those of its last LATE_NS wait for longer; of those some
    # may, behind what has gathered.
    due = (log["intended_ns"] >= from_ns) & (log["intended_ns"] < to_ns)
    delayed = due & (log["complete_ns"] - log["intended_ns"] >= LATE_NS)
    assert due.sum() == pytest.approx(RATE * (to_ns - from_ns) / 1e9, abs=1)
    assert RATE * (to_ns - from_ns - LATE_NS) / 1e9 - 1 <= delayed.sum() <= due.sum()
    # Each is in the histogram once; the drive itself had no more than there are slots.
    responses, services = result.histogram(kind="response"), result.histogram()
    assert late(responses, log, "intended_ns") >= delayed.sum()
    assert len(responses) == len(services) == result.totals.ios
    assert 1 <= held(log, to_ns) <= DEPTH
    late(services, log, "submit_ns")
    assert result.totals.backlog_max >= due.sum() / 2


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
def test_a_closed_loop_has_as_many_slow_ones_as_slots(device: str, tmp_path: Path, engine: str) -> None:
    result, log = stalled(
        device, sated.Workload(op="randread", size="4k", depth=DEPTH), engine, tmp_path / "log.parquet"
    )
    from_ns, to_ns = silence(log)
    assert to_ns - from_ns >= STALL_S / 2 * 1e9
    assert 1 <= held(log, to_ns) <= DEPTH <= late(result.histogram(), log, "submit_ns")
    assert (result.histogram().percentile(99) or 0) < LATE_NS
