"""Percentiles against numpy's nearest rank ("inverted_cdf") over the log of every I/O, in both precisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import sated
from sated.results.run import merged

FEW = {"4k": 50, "16k": 50}
MANY = {f"{4 * n}k": 3 + (n == 1) for n in range(1, 34)}  # 66 classes with two operations
PERCENTS = (0.1, 1, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 100)


def bound(exact: Any, bits: int) -> Any:
    """The most that may be told for what is `exact`: 2^-bits more, and the same below 2^(bits + 1)."""
    return np.where(exact < 2 << bits, exact, exact * (1 + 2.0**-bits))


def load(drive: sated.Drive, sizes: dict[str, int], log: Path | None, **options: Any) -> tuple[sated.Result, int]:
    rate = options.pop("rate", None)
    workload = sated.Workload(
        read=0.7, write=0.3, sizes=sizes, access="random", depth=4, rate=rate, arrival="poisson" if rate else "fixed"
    )
    result = sated.load(drive, workload, log=log, seed=5, **options)
    bits = 7 if sizes is MANY else 10
    assert set(result.histograms["bits"].to_pylist()) == {bits} == {result.histogram().bits}
    assert ("exact to 1/128, not 1/1024" in result.note) == (bits == 7)
    return result, bits


def of_class(table: pa.Table, total: sated.Total) -> pa.Table:
    return table.filter(pc.and_(pc.equal(table["op"].cast(pa.string()), total.op), pc.equal(table["size"], total.size)))


def check(histogram: sated.Histogram, exact_ns: Any, bits: int) -> None:
    exact = np.percentile(exact_ns.to_numpy(), PERCENTS, method="inverted_cdf")
    told = np.array([histogram.percentile(p) for p in PERCENTS])
    assert (histogram.bits, histogram.count) == (bits, len(exact_ns))
    assert (told >= exact).all() and (told <= bound(exact, bits)).all()


def service(log: pa.Table) -> Any:
    return pc.subtract(log["complete_ns"], log["submit_ns"])


@pytest.mark.parametrize("sizes", [FEW, MANY], ids=["few", "many"])
def test_simulated(tmp_path: Path, sizes: dict[str, int]) -> None:
    with sated.open("sim:generic") as drive:
        result, bits = load(drive, sizes, tmp_path / "log", seconds=10, histogram_every=3, rate=5000)
    log = pq.read_table(tmp_path / "log")
    measured = log.filter(pc.less_equal(log["complete_ns"], 10_000_000_000))
    for total in result.totals:
        own = of_class(measured, total)
        check(total.histogram, service(own), bits)
        check(total.response, pc.subtract(own["complete_ns"], own["intended_ns"]), bits)
    # And each row's own.
    ends = np.ceil(log["complete_ns"].to_numpy() / 1e9)
    ops, lengths, latency = log["op"].cast(pa.string()).to_numpy(), log["size"].to_numpy(), service(log).to_numpy()
    compared = 0
    for row in result.table.filter(pc.equal(result.table["phase"], "measured")).to_pylist():
        own = latency[(ends == row["t_s"]) & (ops == row["op"]) & (lengths == row["size"])]
        assert len(own) == row["ios"] and own.max() == row["lat_max_ns"]
        for name, percent in (("lat_p50_ns", 50), ("lat_p99_ns", 99), ("lat_p999_ns", 99.9)):
            if row[name] is not None:
                exact = np.percentile(own, percent, method="inverted_cdf")
                assert exact <= row[name] <= bound(exact, bits)
                compared += 1
    assert compared >= 10 * len(result.totals.members)


@pytest.mark.parametrize("engine", ["io_uring", "libaio", "threads"])
@pytest.mark.parametrize("sizes", [FEW, MANY], ids=["few", "many"])
def test_real(tmp_path: Path, engine: str, sizes: dict[str, int]) -> None:
    with sated.open(str(tmp_path / "drive"), create="16MiB") as drive:
        try:
            result, bits = load(drive, sizes, tmp_path / "log", ios=8000, engine=engine)
        except PermissionError as error:
            pytest.skip(f"{engine} is refused here: {error}")
        log = pq.read_table(tmp_path / "log")
        for total in result.totals:  # and what came after the end: as it is stored
            found = merged(of_class(result.histograms, total), of_class(result.table, total))
            check(found, service(of_class(log, total)), bits)
        # Without a log io_uring has a loop for each precision. Sums are exact, and no bucket is further from them.
        result, bits = load(drive, sizes, None, ios=8000, engine=engine)
    for total in result.totals:
        low, counts = total.histogram.buckets()
        assert total.ios == counts.sum() > 0 and total.lat_mean_ns is not None
        least, most = (low * counts).sum() / total.ios, (bound(low, bits) * counts).sum() / total.ios
        assert least <= total.lat_mean_ns <= most
