"""Loads: sums against outside witnesses, queue and latency, determinism, ends."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
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
from sated.steady import Settle, Verdict

MIX = sated.Workload(read=0.7, write=0.2, trim=0.1, sizes={"4k": 70, "16k": 30}, access="random", threads=2, depth=8)


def column(table: pa.Table, name: str) -> int:
    return pc.sum(table[name]).as_py() or 0


def measured(table: pa.Table) -> pa.Table:
    return table.filter(pc.equal(table["phase"], "measured"))


def counts_of(histograms: pa.Table) -> int:
    return sum(sum(row) for row in histograms["count"].to_pylist())


def test_rows_are_totals_are_histograms_are_what_the_drive_served() -> None:
    with sated.open("sim:generic") as drive:
        result = sated.load(drive, MIX, seconds=0.3, interval=0.01, histogram_every=0.05, ramp=0.05, seed=3)
        served = drive.sim.counters
    rows = measured(result.table)
    assert result.totals.ios == column(rows, "ios") == counts_of(measured(result.histograms))
    assert result.totals.ios == result.histogram().count > 1000
    assert result.totals.bytes == column(rows, "bytes")
    for op, commands, size in (
        ("read", served.served_reads, served.read_bytes),
        ("write", served.served_writes, served.written_bytes),
        ("trim", served.served_trims, served.trimmed_bytes),
    ):
        mine = result.table.filter(pc.equal(result.table["op"], op))
        assert column(mine, "ios") == commands > 0
        assert column(mine, "bytes") == size
    assert set(result.table["phase"].unique().to_pylist()) == {"ramp", "measured", "after_stop"}
    assert column(result.environment, "energy_j") == pytest.approx(served.energy_j, rel=1e-6)


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    image = tmp_path / "image"
    image.write_bytes(os.urandom(1 << 20) * 64)
    with loop_device(image) as name:
        yield name


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
def test_the_kernel_counts_the_same(loop: str, engine: str) -> None:
    """The delta of /sys/block/X/stat: fields 1 and 3 are reads completed and sectors read (kernel: block/stat.rst)."""
    stat = Path("/sys/block", Path(loop).name, "stat")

    def reads() -> tuple[int, int]:
        words = stat.read_text().split()
        return int(words[0]), int(words[2]) * 512

    with sated.open(loop) as drive:
        before = reads()
        w = sated.Workload(op="randread", sizes={"4k": 50, "8k": 50}, threads=2, depth=4)
        result = sated.load(drive, w, seconds=1, interval=0.25, engine=engine)
        after = reads()
    assert result.totals.engine == engine
    assert result.totals.errors == 0
    assert after[0] - before[0] == column(result.table, "ios") > 100
    assert after[1] - before[1] == column(result.table, "bytes")
    assert result.totals.ios == column(measured(result.table), "ios") == result.histogram().count


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
def test_trims_are_discards(loop: str, engine: str) -> None:
    """Fields 12 and 14 of /sys/block/X/stat are discards completed and sectors discarded, 5 writes (kernel:
    block/stat.rst): a hole that is punched into a block device is zeros written instead, which counts as a write."""
    stat = Path("/sys/block", Path(loop).name, "stat")

    def counted() -> tuple[int, int, int]:
        words = stat.read_text().split()
        return int(words[11]), int(words[13]) * 512, int(words[4])

    with sated.open(loop) as drive:
        before = counted()
        w = sated.Workload(trim=0.5, read=0.5, sizes={"16k": 50, "64k": 50}, access="random", depth=4)
        try:
            result = sated.load(drive, w, ios=1000, engine=engine, confirm=str(drive.identity.token))
        except sated.UnsupportedError as e:
            pytest.skip(str(e))  # before Linux 6.12
        after = counted()
    trims = result.table.filter(pc.equal(result.table["op"], "trim"))
    assert result.totals.errors == 0
    assert after[0] - before[0] == column(trims, "ios") > 100
    assert after[1] - before[1] == column(trims, "bytes")
    assert after[2] == before[2]


@pytest.mark.parametrize("depth", [1, 8, 64])
def test_littles_law_on_a_simulated_drive(depth: int) -> None:
    with sated.open("sim:x210,scale=1/64") as drive:
        t = sated.load(drive, sated.Workload(op="randwrite", threads=4, depth=depth), seconds=120).totals
    assert t.queue_mean == pytest.approx(4 * depth, rel=1e-3)
    assert t.iops * t.lat_mean_ns / 1e9 == pytest.approx(t.queue_mean, rel=0.01)


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
@pytest.mark.parametrize(("threads", "depth"), [(1, 1), (2, 4)])
def test_littles_law_on_a_file(tmp_path: Path, engine: str, threads: int, depth: int) -> None:
    """The file is written first: reads of holes end at once, and what is then measured is the scheduler."""
    with sated.open(str(tmp_path / "drive"), create="64MiB") as drive:
        sated.load(drive, sated.Workload(op="write", size="1m"), bytes="64MiB")
        workload = sated.Workload(op="randread", threads=threads, depth=depth)
        result = sated.load(drive, workload, seconds=2, interval=0.2, engine=engine)
    t = result.totals
    assert t.queue_mean <= threads * depth * 1.001
    # What was outstanding at the end is in the mean queue, and completes after it: a busy host makes that long.
    after = [row for row in result.table.to_pylist() if row["phase"] == "after_stop" and row["ios"]]
    late_s = sum(row["ios"] * row["lat_mean_ns"] for row in after) / 1e9
    completed = t.iops * t.lat_mean_ns / 1e9
    assert completed * 0.99 <= t.queue_mean <= completed * 1.01 + late_s / t.duration_s
    assert result.host_bound == (t.queue_mean < 0.95 * threads * depth)


def tables(poll: float, *, hog: bool = False) -> list[pa.Table]:
    """A load with `until` on a fresh drive, polled every `poll` seconds."""
    stop = threading.Event()

    def burn() -> None:
        while not stop.is_set():
            pass

    burner = threading.Thread(target=burn, daemon=True)
    if hog:
        burner.start()
    try:
        with sated.open("sim:generic,seed=5") as drive:
            job = sated.start(
                drive,
                sated.Workload(op="randwrite", threads=2, depth=8),
                seconds=3.0,
                interval=0.01,
                check_every=0.05,
                seed=9,
                until=lambda rows: pc.sum(rows["ios"]).as_py() > 15000,
            )
            while not job.wait(poll):
                time.sleep(poll)
            result = job.result()
    finally:
        stop.set()
    return [result.table, result.environment, result.histograms]


def test_same_seed_same_tables_however_it_is_polled() -> None:
    quiet = tables(0.001)
    assert 15000 < column(quiet[0], "ios") < 40000
    assert all(a.equals(b) for a, b in zip(quiet, tables(1.0), strict=True))
    assert all(a.equals(b) for a, b in zip(quiet, tables(0.001, hog=True), strict=True))


def test_until_a_rule_and_settle() -> None:
    with sated.open("sim:x210,scale=1/64") as drive:
        sated.load(drive, sated.Workload(op="write", size="128k"), bytes=drive.identity.capacity_bytes)
        result = sated.load(
            drive,
            sated.Workload(op="randwrite", depth=32),
            until="pts",
            interval=10.0,
            round_every=600.0,
            settle=Settle(at_most=120.0),
            seconds=18000.0,
        )
    assert result.verdict is not None and result.verdict.steady, result.verdict
    assert len(result.rounds) >= 5 and result.settled is not None
    phases = result.table["phase"].to_pylist()
    assert phases[0] == "settle" and "measured" in phases
    first = measured(result.table)["t_s"][0].as_py()
    assert first % 60 == 10.0  # the phase turns at a full minute


def test_a_callables_error_is_the_loads_error() -> None:
    def fail(rows: pa.Table) -> bool:
        raise ZeroDivisionError("mine")

    with sated.open("sim:generic") as drive, pytest.raises(ZeroDivisionError, match="mine"):
        sated.load(drive, sated.Workload(op="randread"), seconds=1, interval=0.01, check_every=0.1, until=fail)


@pytest.mark.parametrize("answer", ["no", float("nan"), None])
def test_a_callable_has_to_answer(answer: object) -> None:
    with sated.open("sim:generic") as drive, pytest.raises(sated.ParseError, match="bool or a Verdict"):
        sated.load(drive, sated.Workload(), seconds=1, interval=0.01, check_every=0.1, until=lambda rows: answer)


def test_an_answer_after_the_end_is_no_error(tmp_path: Path) -> None:
    def slow(rows: pa.Table) -> bool:
        time.sleep(0.3)
        return False

    with sated.open(str(tmp_path / "drive"), create="4MiB") as drive:
        w = sated.Workload(op="randread")
        result = sated.load(drive, w, seconds=0.5, interval=0.1, check_every=0.2, until=slow)
    assert result.totals.duration_s == pytest.approx(0.5, abs=0.05)
    with sated.open("sim:generic") as drive, pytest.raises(sated.ParseError, match="check_every"):
        sated.load(drive, w, seconds=1, until=slow, check_every=0)


def test_a_callable_may_give_a_verdict() -> None:
    said = Verdict(True, "enough")
    with sated.open("sim:generic") as drive:
        w = sated.Workload(op="randread")
        result = sated.load(drive, w, seconds=1, interval=0.01, check_every=0.1, until=lambda rows: said)
    assert result.verdict is said and result.table["t_s"][-1].as_py() == pytest.approx(0.1, abs=0.011)


def test_ctrl_c_returns_what_there_is(tmp_path: Path) -> None:
    code = f"""
import sated
with sated.open({str(tmp_path / "drive")!r}, create="16MiB") as drive:
    print("ready", flush=True)
    result = sated.load(drive, sated.Workload(op="randread", depth=4), seconds=60, interval=0.1)
print(result.interrupted, result.totals.ios > 0, result.totals.duration_s < 30)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.stdout.read() == "True True True\n"
    assert process.wait() == 0


def run_alone(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", "import sated\n" + code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "leave", ["raise SystemExit('left')", "del job; drive.close(); print('left'); raise SystemExit(1)"]
)
@pytest.mark.parametrize("uri", ["sim:generic", "file"])
def test_a_drive_is_not_closed_under_a_running_load(tmp_path: Path, uri: str, leave: str) -> None:
    """Leaving the with block, or dropping the job, ends the load first."""
    opened = f"{str(tmp_path / 'drive')!r}, create='16MiB'" if uri == "file" else repr(uri)
    ran = run_alone(f"""
with sated.open({opened}) as drive:
    job = sated.start(drive, sated.Workload(op="randwrite", threads=2, depth=8), seconds=3600)
    job.wait(0.1)
    {leave}
""")
    assert ran.returncode == 1 and "left" in ran.stdout + ran.stderr, ran


def test_the_interpreter_may_end_with_loads_running() -> None:
    ran = run_alone("""
import pyarrow
for _ in range(5):
    drive = sated.open("sim:x210,scale=1/64")
    job = sated.start(drive, sated.Workload(op="randwrite", threads=4, depth=8), seconds=1e6)
    job.wait(0.05)
    drive = job = None
print("end", flush=True)
""")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "end\n", "")


def test_signals_lose_no_row() -> None:
    ran = run_alone("""
import os, signal, threading, time
import pyarrow.compute as pc
for turn in range(12):
    with sated.open("sim:generic") as drive:
        threading.Timer(0.02 + turn * 0.007, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            result = sated.load(drive, sated.Workload(op="randwrite", depth=8), seconds=3600, interval=0.001)
        except KeyboardInterrupt:
            continue  # before the load began
        served = drive.sim.counters.served_writes
    assert result.interrupted
    measured = result.table.filter(pc.equal(result.table["phase"], "measured"))
    assert pc.sum(measured["ios"], min_count=0).as_py() == result.totals.ios == result.histogram().count
    assert pc.sum(result.table["ios"]).as_py() == served
    print("same")
""")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("same") >= 6


def test_a_full_disk_under_the_rows_keeps_the_result() -> None:
    class Full:
        def intervals(self, batch: pa.RecordBatch) -> None:
            raise OSError(28, "No space left on device")

        environment = histograms = intervals

    with sated.open("sim:generic") as drive, pytest.raises(OSError, match="No space") as full:
        sated.load(drive, sated.Workload(op="randread"), seconds=1, interval=0.01, sink=Full())
    assert full.value.result.totals.ios == column(measured(full.value.result.table), "ios")


def test_the_ramp_is_not_judged_and_a_rule_always_answers() -> None:
    with sated.open("sim:x210,scale=1/64") as drive:
        w = sated.Workload(op="randread")
        result = sated.load(drive, w, ramp=90.0, seconds=150.0, interval=10.0, until="pts", round_every=60.0)
        assert [m.t_s for m in result.minutes] == [60.0, 120.0]
        assert [m.t_s for m in result.rounds] == [60.0, 120.0]
        assert result.verdict is not None and result.verdict.reason == "too-few"
        rounds = sated.load(drive, w, seconds=600.0, interval=10.0, until="pts", round_every=60.0, check_every=120.0)
        assert rounds.verdict is not None and rounds.verdict.steady and len(rounds.rounds) == 5


def test_trims_are_no_volume() -> None:
    with sated.open("sim:x210,scale=1/64") as drive:
        w = sated.Workload(read=0.5, trim=0.5, size="4k", access="random")
        minutes = sated.load(drive, w, seconds=60.0, interval=10.0).minutes
    assert len(minutes) == 1 and minutes[0].iops > 0 and minutes[0].bytes_written == 0


def test_percentiles_of_each_class_and_pooled() -> None:
    with sated.open("sim:generic") as drive:
        totals = sated.load(drive, MIX, ios=5000, interval=0.01).totals
    for total in totals:
        assert total.histogram.count == total.ios
        value, interval = total.percentiles()[50.0]
        assert value is not None and interval is not None and interval[0] <= value <= interval[1]
        assert total.lat_min_ns <= value <= total.lat_max_ns
    assert totals.histogram().count == 5000 and totals.percentiles()[99.99][1] is None
    assert totals.histogram().stddev == pytest.approx(totals.lat_stddev_ns, rel=1e-6)


def test_two_members_and_their_rows() -> None:
    with sated.open("sim:generic,seed=1") as a, sated.open("sim:generic,seed=2") as b:
        result = sated.load([a, b], sated.Workload(op="randwrite", depth=4), ios=500, interval=0.01)
        assert [t.ios for t in result.totals] == [500, 500]
        assert a.sim.counters.served_writes == b.sim.counters.served_writes == 500
        with pytest.raises(sated.ParseError):
            sated.load([], sated.Workload(), ios=1)


def test_data_is_incompressible_and_never_the_same_twice(tmp_path: Path) -> None:
    import zlib

    path = tmp_path / "drive"
    with sated.open(str(path), create="4MiB") as drive:
        sated.load(drive, sated.Workload(op="write", size="64k", depth=4), bytes="4MiB")
    data = path.read_bytes()
    assert len(zlib.compress(data)) > 0.99 * len(data)
    blocks = np.frombuffer(data, np.uint8).reshape(-1, 512)
    assert len(np.unique(blocks, axis=0)) == len(blocks)


def test_no_end_is_refused() -> None:
    with sated.open("sim:generic") as drive:
        with pytest.raises(sated.ParseError, match="pts or range-20"):
            sated.load(drive, sated.Workload(), until="never")
        for bad in ({}, {"seconds": 0}, {"seconds": -1}, {"ios": 0}, {"seconds": 1, "interval": float("nan")}):
            with pytest.raises(sated.ParseError):
                sated.load(drive, sated.Workload(), **bad)
        with pytest.raises(sated.ParseError, match="engine"):
            sated.load(drive, sated.Workload(), ios=1, engine="spdk")


def test_a_stall_is_in_every_response_that_it_delayed(tmp_path: Path) -> None:
    """1000 I/Os per second and 200 ms without an answer: 200 I/Os are due meanwhile, by arithmetic."""
    with sated.open("sim:generic") as drive:
        drive.sim.stall(after=1.0, seconds=0.2)
        workload = sated.Workload(op="randread", depth=4, rate=1000)
        result = sated.load(drive, workload, seconds=2, ramp=0.5, interval=0.1, histogram_every=0.1)
    totals = result.totals
    response, service = result.histogram(kind="response"), result.histogram()
    assert totals.ios == len(response) == len(service)
    low, counts = response.buckets()
    assert 200 <= int(counts[low >= 1_000_000].sum()) <= 210
    low, counts = service.buckets()
    assert int(counts[low >= 1_000_000].sum()) <= 4 + 4  # those in the drive, and those that came behind them
    assert totals.late_max_ns is not None and 190e6 < totals.late_max_ns < 200e6
    assert totals.late_mean_ns == pytest.approx((response.mean or 0) - (service.mean or 0), rel=1e-9)
    assert 190 <= totals.backlog_max <= 200 and totals.unsent == 0
    assert set(result.histograms["kind"].to_pylist()) == {"service", "response"}
    # The ramp is in the rows, and in the histograms of its own phase only.
    ramp = result.table.filter(pc.equal(result.table["phase"], "ramp"))
    assert pc.sum(ramp["ios"]).as_py() == 500
    kept = result.histograms.filter(pc.equal(result.histograms["phase"], "measured"))
    for kind in ("service", "response"):
        rows = kept.filter(pc.equal(kept["kind"], kind))
        assert sum(sum(row) for row in rows["count"].to_pylist()) == totals.ios


def test_rates_of_operations_and_time_to_think() -> None:
    with sated.open("sim:generic") as drive:
        workload = sated.Workload(rate={"read": 2000, "write": 100}, arrival="fixed", threads=2, depth=4)
        assert workload.shares == pytest.approx({"read": 20 / 21, "write": 1 / 21})
        result = sated.load(drive, workload, seconds=1)
        after = result.table.filter(pc.equal(result.table["phase"], "after_stop"))
        done = {op: sum(t.ios for t in result.totals if t.op == op) for op in ("read", "write")}
        for row in after.to_pylist():
            done[row["op"]] += row["ios"]
        assert done == {"read": 2000, "write": 100}
        thinks = sated.load(drive, sated.Workload(op="randread", think="1ms"), seconds=1)
        assert not thinks.host_bound and 800 < thinks.totals.ios <= 1000
        with pytest.raises(sated.ParseError, match="without a rate"):
            thinks.histogram(kind="response")
    with pytest.raises(sated.ParseError, match="contradicts"):
        sated.Workload(op="randread", rate=100, think=0.1)


def test_progress_costs_the_loop_nothing() -> None:
    """It is a copy of what the collector wrote last: asked a thousand times or never, the rows are the same bytes."""

    def rows(asked: bool) -> pa.Table:
        with sated.open("sim:generic") as drive:
            job = sated.start(drive, sated.Workload(op="randread", depth=8), seconds=1, interval=0.01)
            while asked and not job.wait(0):
                assert job.progress.ios >= 0
            job.wait()
            return job.result().table

    assert rows(True).equals(rows(False))


def test_a_log_is_the_rows_once_more(tmp_path: Path) -> None:
    path = tmp_path / "every.parquet"
    with sated.open("sim:generic") as drive:
        workload = sated.Workload(
            read=0.7, sizes={"4k": 50, "16k": 50}, access="random", threads=2, depth=4, rate=50000
        )
        result = sated.load(drive, workload, seconds=4, interval=0.1, log=path)
    log = pq.read_table(path)
    assert [each.name for each in tmp_path.iterdir()] == ["every.parquet"]
    assert log.num_rows == pc.sum(result.table["ios"]).as_py() == 200000
    assert pc.sum(log["size"]).as_py() == pc.sum(result.table["bytes"]).as_py()
    assert pc.sum(pc.equal(log["op"].cast(pa.string()), "read")).as_py() == sum(
        row["ios"] for row in result.table.to_pylist() if row["op"] == "read"
    )
    latency = pc.subtract(log["complete_ns"], log["submit_ns"])
    assert pc.max(latency).as_py() == result.totals.lat_max_ns
    # Even arrivals of two threads: each 20 us once, from nothing up to the end.
    assert sorted(log["intended_ns"].to_pylist()) == list(range(0, 4_000_000_000, 20_000))
    assert log["error"].unique().to_pylist() == [0]


@pytest.mark.parametrize("engine", ["io_uring", "libaio", "threads"])
@pytest.mark.parametrize("keys", [{}, {"rate": 20_000}, {"think": "10us"}])
def test_limits_are_of_the_measured_phase(tmp_path: Path, engine: str, keys: dict[str, Any]) -> None:
    """What the ramp does is not counted, however much it is; what is outstanding when it ends is."""
    with sated.open(str(tmp_path / "drive"), create="4MiB") as drive:
        workload = sated.Workload(op="randread", depth=8, **keys)
        for limit in ({"bytes": 200 * 4096}, {"ios": 200}):
            result = sated.load(drive, workload, engine=engine, ramp=0.2, interval=0.1, **limit)
            assert column(result.table, "ios") >= 400
            assert result.totals.ios == 200


def test_slower_than_the_rate_is_said_of_a_backlog_only(tmp_path: Path) -> None:
    """What was due in the last moments, before the thread woke up, says nothing of the drive."""
    with sated.open(str(tmp_path / "drive"), create="4MiB") as drive:
        for seed in range(20):
            work = sated.Workload(op="randread", depth=64, rate=20_000, arrival="poisson")
            result = sated.load(drive, work, seconds=0.05, interval=0.05, seed=seed)
            assert ("slower than the rate" in result.note) == (result.totals.unsent > 64)
        work = sated.Workload(op="randread", rate=10_000_000)
        assert "slower than the rate" in sated.load(drive, work, seconds=0.05, interval=0.05).note


def test_a_log_takes_no_other_file_s_place(tmp_path: Path) -> None:
    """Least of all the drive's own: it would be gone, without anybody's consent."""
    node, link, log = tmp_path / "pipe", tmp_path / "link", tmp_path / "log.parquet"
    os.mkfifo(node)
    with sated.open(str(tmp_path / "drive"), create="1MiB") as drive:
        link.symlink_to(tmp_path / "drive")
        for path in (tmp_path / "drive", link, node, tmp_path):
            with pytest.raises(sated.ParseError, match="is there, and no log"):
                sated.load(drive, sated.Workload(op="randread"), ios=1, log=path)
        assert (tmp_path / "drive").stat().st_size == 1 << 20
        for n in (1, 2):
            sated.load(drive, sated.Workload(op="randread"), ios=n, log=log)
            assert pq.read_table(log).num_rows == n


def test_a_log_without_room(tmp_path: Path) -> None:
    """It is named, and what else was measured is kept."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with (
            sated.open("sim:generic") as drive,
            pytest.raises(sated.SatedError, match=r"x\.parquet: File too large") as e,
        ):
            sated.load(drive, sated.Workload(op="randread", depth=8), ios=300_000, log=tmp_path / "x.parquet")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert isinstance(e.value, OSError) and e.value.errno == errno.EFBIG
    assert 0 < e.value.result.totals.ios <= 300_000  # type: ignore[attr-defined]
    assert not list(tmp_path.iterdir())


def test_a_log_outlasts_what_others_raise(tmp_path: Path) -> None:
    def until(_: object) -> bool:
        raise ValueError("of the caller's own")

    log = tmp_path / "x.parquet"
    with sated.open("sim:generic") as drive, pytest.raises(ValueError, match="of the caller's own") as e:
        sated.load(drive, sated.Workload(op="randread"), until=until, check_every=1, log=log)
    result = e.value.result  # type: ignore[attr-defined]
    assert pq.read_table(log).num_rows == pc.sum(result.table["ios"]).as_py() > 0


def test_a_log_that_has_nowhere_to_go(tmp_path: Path) -> None:
    with sated.open("sim:generic") as drive:
        with pytest.raises(sated.ParseError, match="no folder"):
            sated.load(drive, sated.Workload(op="randread"), ios=1, log=tmp_path / "none" / "x.parquet")
        with pytest.raises(sated.ParseError):
            sated.load(drive, sated.Workload(op="randread", offset="1TB"), ios=1, log=tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mode": "fast"}, "max-iops"),
        ({"accurate": True, "mode": "max-iops"}, "contradicts"),
        ({"batch": 0}, "1 to 4096"),
        ({"cpus": [5000]}, "below 1024"),
        ({"on_error": "never"}, "continue"),
        ({"on_error": 0}, "continue"),
    ],
)
def test_ways_that_are_refused(options: dict[str, Any], says: str) -> None:
    with sated.open("sim:generic") as drive, pytest.raises(sated.ParseError, match=says):
        sated.load(drive, sated.Workload(op="randread"), ios=1, **options)


def test_ways_to_work(tmp_path: Path) -> None:
    with sated.open(str(tmp_path / "drive"), create="8MiB") as drive:
        workload = sated.Workload(op="randread", depth=32)
        exact = sated.load(
            drive, workload, ios=2000, accurate=True, on_error="stop", cpus=sorted(os.sched_getaffinity(0))
        )
        assert (exact.totals.batch_max, exact.totals.batch_mean) == (1, 1)
        fast = sated.load(drive, workload, ios=2048, mode="max-iops", batch=8, sqpoll=True, iopoll=True)
        assert fast.totals.ios == 2048 and "whole batches" in fast.note
        if fast.totals.engine != "threads":
            assert fast.totals.batch_max == 8


def test_three_drives_have_rows_and_totals_of_their_own() -> None:
    drives = [sated.open(f"sim:generic,seed={seed}") for seed in range(3)]
    result = sated.load(drives, sated.Workload(read=0.5, access="random", depth=4, rate=900), seconds=1, interval=0.1)
    for member, drive in enumerate(drives):
        served = drive.sim.counters
        rows = result.table.filter(pc.equal(result.table["member"], member))
        assert column(rows, "ios") == served.served_reads + served.served_writes == 900
        assert sum(t.ios for t in result.totals if t.member == member) == column(measured(rows), "ios")
        drive.close()
    assert result.totals.ios == column(measured(result.table), "ios")
    assert result.totals.duration_s == pytest.approx(1)
