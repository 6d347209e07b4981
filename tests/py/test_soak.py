"""Hours of a load with everything on: memory stays where it was, no second is missing, and all sums are the same."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import sated
from devices import loop_device

VIRTUAL_S, VIRTUAL_LONG_S = 600, 24 * 3600
REAL_S, REAL_LONG_S = 5, 600
GROWTH_MB = 5.0  # after the first minute
EVERYTHING: dict[str, Any] = {
    "read": 0.6,
    "write": 0.3,
    "trim": 0.05,
    "flush": 0.05,
    "sizes": {"4k": 60, "16k": 40},
    "access": "random",
    "arrival": "poisson",
    "threads": 2,
    "depth": 8,
}


def resident_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


class Memory:
    """Resident memory over a load. What waits to be written makes it go up and down all the time, so that quarters of
    the load are compared by their medians."""

    def __init__(self, settled_s: float) -> None:
        self._settled_s = settled_s
        # All of it in use from the start: a list of samples would itself be what grows.
        self._samples = np.ones((50_000, 2))
        self._n = 0

    def watch(self, job: sated.Job) -> Any:
        """The job's result, when it has ended."""
        while not job.wait(0.02):
            t_s = job.progress.t_s
            if t_s >= self._settled_s:
                self._samples[self._n] = t_s, resident_mb()
                self._n += 1
        return job.result()

    def quarter(self, which: int) -> float:
        """The median of a quarter of the time, in MB; the first quarter is 0."""
        t_s, mb = self._samples[: self._n].T
        at = (t_s - self._settled_s) / (t_s[-1] - self._settled_s) * 4
        return float(np.median(mb[(at >= which) & (at <= which + 1)]))

    @property
    def growth(self) -> float:
        return self.quarter(3) - self.quarter(0)

    def __str__(self) -> str:
        peak = self._samples[: self._n, 1].max()
        quarters = " ".join(f"{self.quarter(i):.1f}" for i in range(4))
        return f"resident {self._samples[0, 1]:.1f} MB at {self._settled_s:.0f} s, quarters {quarters}, peak {peak:.1f}"


def check_seconds(table: pa.Table, seconds: int) -> None:
    """Every class has a row each second, up to the last."""
    measured = table.filter(pc.equal(table["phase"], "measured"))
    for member, op, size in {tuple(row.values()) for row in measured.select(["member", "op", "size"]).to_pylist()}:
        own = pc.and_(
            pc.and_(pc.equal(measured["member"], member), pc.equal(measured["op"], op)),
            pc.equal(measured["size"], size),
        )
        t_s = measured["t_s"].filter(own).to_numpy()
        assert np.array_equal(t_s, np.arange(1, seconds + 1)), (member, op, size)


def sums_of_log(path: Path) -> tuple[dict[tuple[str, int], int], int]:
    """I/Os by operation and size, and the latest completion, read a group at a time."""
    found: dict[tuple[str, int], int] = {}
    latest = 0
    with pq.ParquetFile(path) as file:
        for i in range(file.num_row_groups):
            group = file.read_row_group(i)
            assert pc.sum(pc.not_equal(group["error"], 0)).as_py() == 0
            group = group.set_column(group.column_names.index("op"), "op", group["op"].cast(pa.string()))
            for row in group.group_by(["op", "size"]).aggregate([("size", "count")]).to_pylist():
                key = (row["op"], row["size"])
                found[key] = found.get(key, 0) + row["size_count"]
            latest = max(latest, pc.max(group["complete_ns"]).as_py())
    return found, latest


def check_sums(result: Any, path: Path) -> None:
    """Rows, log, histograms of both kinds and totals, class by class."""
    rows: dict[tuple[str, int], int] = {}
    measured: dict[tuple[str, int], int] = {}
    for row in result.table.group_by(["phase", "op", "size"]).aggregate([("ios", "sum"), ("bytes", "sum")]).to_pylist():
        key = (row["op"], row["size"])
        rows[key] = rows.get(key, 0) + row["ios_sum"]
        assert row["bytes_sum"] == row["ios_sum"] * row["size"]
        if row["phase"] == "measured":
            measured[key] = row["ios_sum"]
    logged, latest = sums_of_log(path)
    assert logged == {key: n for key, n in rows.items() if n}
    assert latest <= 1e9 * pc.max(result.table["t_s"]).as_py() + 1e9
    stored: dict[tuple[str, int, str], int] = {}
    kept = result.histograms.filter(pc.equal(result.histograms["phase"], "measured"))
    for row in kept.select(["op", "size", "kind", "count"]).to_pylist():
        at = (row["op"], row["size"], row["kind"])
        stored[at] = stored.get(at, 0) + sum(row["count"])
    for total in result.totals:
        assert total.ios == measured[total.op, total.size] == total.histogram.count == total.response.count > 0
        assert total.ios == stored[total.op, total.size, "service"] == stored[total.op, total.size, "response"]


def tell(what: str, result: Any, began: float, cpu_s: float) -> None:
    spent_s = time.process_time() - cpu_s
    print(f"\n{what}: {result.totals.ios} I/Os in {time.monotonic() - began:.0f} s, {spent_s:.1f} s of CPU")


def soak_simulated(seconds: int, path: Path) -> Memory:
    began, cpu_s = time.monotonic(), time.process_time()
    workload = sated.Workload(**EVERYTHING, rate=60)
    memory = Memory(60)
    # A minute of it is milliseconds of this machine: what fills up slowly is filled in an hour before.
    with sated.open("sim:generic") as drive:
        sated.load(drive, workload, seconds=seconds / 24, log=path)
    with sated.open("sim:generic") as drive:
        result = memory.watch(sated.start(drive, workload, seconds=seconds, log=path, seed=1))
        served = drive.sim.counters
    tell(f"{seconds} virtual seconds", result, began, cpu_s)
    check_seconds(result.table, seconds)
    check_sums(result, path)
    for op, n in (("read", served.served_reads), ("write", served.served_writes), ("trim", served.served_trims)):
        assert pc.sum(result.table["ios"].filter(pc.equal(result.table["op"], op))).as_py() == n
    return memory


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    image = tmp_path / "image"
    image.write_bytes(os.urandom(1 << 20) * 64)
    with loop_device(image) as name:
        yield name


def block_stat(name: str) -> dict[str, np.ndarray[Any, Any]]:
    """I/Os, those merged into others, and bytes, of reads and of what changes (writes and discards; kernel:
    block/stat.rst)."""
    words = np.array(Path("/sys/block", name, "stat").read_text().split(), np.int64)
    of = {"read": words[0:3], "change": words[4:7] + words[11:14]}
    return {key: np.array([n[0] + n[1], n[2] * 512]) for key, n in of.items()}


def soak_real(seconds: int, settled_s: float, name: str, path: Path) -> Memory:
    began, cpu_s = time.monotonic(), time.process_time()
    memory = Memory(settled_s)
    with sated.open(name) as drive:
        drive.permit(str.__str__(drive.identity.token))
        before = block_stat(Path(name).name)
        job = sated.start(drive, sated.Workload(**EVERYTHING, rate=1500), seconds=seconds, log=path)
        result = memory.watch(job)
        after = block_stat(Path(name).name)
    tell(f"{seconds} s on {name} by {result.totals.engine}", result, began, cpu_s)
    check_seconds(result.table, seconds)
    check_sums(result, path)
    # A flush is a write of nothing there, whether or not it has a command of its own.
    for key, ops in (("read", ["read"]), ("change", ["write", "trim", "flush"])):
        own = result.table.filter(pc.is_in(result.table["op"], pa.array(ops)))
        mine = [pc.sum(own["ios"]).as_py(), pc.sum(own["bytes"]).as_py()]
        assert (after[key] - before[key]).tolist() == mine, key
    return memory


def test_minutes_of_virtual_time(tmp_path: Path) -> None:
    """Too short for the memory to say anything, as is the next one."""
    soak_simulated(VIRTUAL_S, tmp_path / "log.parquet")


def test_seconds_on_a_block_device(loop: str, tmp_path: Path) -> None:
    soak_real(REAL_S, REAL_S / 2, loop, tmp_path / "log.parquet")


@pytest.mark.long
def test_a_day_of_virtual_time(tmp_path: Path) -> None:
    memory = soak_simulated(VIRTUAL_LONG_S, tmp_path / "log.parquet")
    print(memory)
    assert memory.growth < GROWTH_MB


@pytest.mark.long
def test_ten_minutes_on_a_block_device(loop: str, tmp_path: Path) -> None:
    memory = soak_real(REAL_LONG_S, 60, loop, tmp_path / "log.parquet")
    print(memory)
    assert memory.growth < GROWTH_MB
