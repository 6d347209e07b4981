"""Latencies beside fio's, on a drive that is known to have some: null_blk, completed by a timer of the kernel's.

fio's `lat` is compared, from before an I/O is handed to the kernel until it is seen to be done, as ours is. Its `clat`
begins only when io_uring_enter(2) has come back from submitting (fio 3.33, engines/io_uring.c: fio_ioring_queued after
the call), and leaves out what the kernel took for that."""

from __future__ import annotations

import json
import os
import select
import shutil
import statistics
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import drives
import pytest
import sated

DEPTH = 2
RAMP_S, SECONDS = 0.5, 1.0  # the first I/Os of a thread find its code and its memory in no cache
PERCENTS = (50.0, 99.0)
PLACE = Path("/run/fio")


def fifo(path: Path) -> int:
    """Open at both ends, so that nobody waits for the other to open it."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    return os.open(path, os.O_RDWR)


@contextmanager
def first() -> Iterator[None]:
    """What is started in here goes before everything else. A guest has one processor, and what Python does while a load
    runs would keep it from the load: the kernel looks only each 4 ms who comes next."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    yield
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


@contextmanager
def fio(path: str, rounds: int) -> Iterator[Callable[[], None]]:
    """One fio with a job for each round, since it takes seconds to begin: each waits for its turn, and says when it is
    over. What it found is in result.json afterwards."""
    assert shutil.which("fio"), "fio is missing on this machine; `make test-vm` brings it"
    PLACE.mkdir(exist_ok=True)
    turn, done = (fifo(PLACE / name) for name in ("turn", "done"))
    job = [
        *("[global]", f"filename={path}", "rw=randread", "bs=4k", "direct=1", "size=8m"),
        *("ioengine=io_uring", "fixedbufs=1", "registerfiles=1", f"iodepth={DEPTH}"),
        *("thread=1", "norandommap=1", "randrepeat=0", "clocksource=clock_gettime", "lat_percentiles=1"),
        *("time_based=1", f"runtime={SECONDS * 1000:.0f}ms", f"ramp_time={RAMP_S * 1000:.0f}ms"),
        *("percentile_list=" + ":".join(map(str, PERCENTS)), "stonewall=1"),
        # In parentheses, since fio sends what it runs to files of its own.
        *(f"exec_prerun=(read word <{PLACE}/turn)", f"exec_postrun=(echo over >{PLACE}/done)"),
        *(f"[round-{number}]" for number in range(rounds)),
    ]
    (PLACE / "job").write_text("\n".join(job) + "\n")
    command = ["fio", "--readonly", "--output-format=json", f"--output={PLACE}/result.json", f"{PLACE}/job"]
    with (PLACE / "said").open("w") as said, first():
        process = subprocess.Popen(command, cwd=PLACE, stdout=said, stderr=said)
    with process:

        def once() -> None:
            os.write(turn, b"go\n")
            ready, _, _ = select.select([done], [], [], 60)
            assert ready and process.poll() is None, "fio did nothing; what it said follows"
            os.read(done, 100)

        try:
            yield once
            process.wait(60)
        finally:
            process.kill()
            print((PLACE / "said").read_text())
            os.close(turn)
            os.close(done)
        assert process.returncode == 0


def ratios(path: str, rounds: int, *engines: str) -> dict[str, dict[float, float]]:
    """Our percentiles over fio's: the median of pairs, each measured one right after the other."""
    found: dict[str, list[dict[float, int]]] = {engine: [] for engine in engines}
    work = sated.Workload(op="randread", size="4k", depth=DEPTH, length="8MiB")
    with sated.open(path) as drive, fio(path, rounds) as once:
        sated.load(drive, work, ios=100)  # the first one brings what Python has to import
        for number in range(rounds):
            once()
            for engine, ours in found.items():
                with first():
                    job = sated.start(
                        drive, work, seconds=SECONDS, ramp=RAMP_S, interval=RAMP_S, engine=engine, seed=number
                    )
                job.wait()
                result = job.result()
                assert result.totals.ios and not result.totals.errors
                ours.append({p: result.histogram().percentile(p) or 0 for p in PERCENTS})
    told = (PLACE / "result.json").read_text()
    told = json.loads(told[told.index("{") :])  # behind what it says of prerun and postrun
    theirs = [{p: job["read"]["lat_ns"]["percentile"][f"{p:.6f}"] for p in PERCENTS} for job in told["jobs"]]
    assert len(theirs) == rounds and all(job["read"]["total_ios"] for job in told["jobs"])
    return {
        engine: {p: statistics.median(a[p] / b[p] for a, b in zip(ours, theirs, strict=True)) for p in PERCENTS}
        for engine, ours in found.items()
    }


def show(name: str, found: dict[str, dict[float, float]], capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        for engine, of in found.items():
            print(f"\n# {name}, {engine}: " + ", ".join(f"p{p:g} {ratio:.3f} of fio's" for p, ratio in of.items()))


def test_the_latencies_that_fio_finds(removed: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Of 8 MiB a twenty-fifth takes 30 ms, and the rest 4: so the drive, and not what else the machine does, has a tail
    for the 99th percentile to be in. An interpreted processor has little part in either."""
    slow = 8 * 2048 // 25 // 8 * 8  # sectors
    lines = (f"0 {8 * 2048 - slow} linear /dev/nullb0 0", f"{8 * 2048 - slow} {slow} linear /dev/nullb1 0")
    path = drives.mapped("tail", *lines)
    # Nine pairs while the host did other things tell of the host: an engine that is wrong is wrong in all three sets.
    for _ in range(3):
        found = ratios(path, 9, "io_uring")
        show("null_blk", found, capsys)
        if abs(found["io_uring"][50.0] - 1) <= 0.05 and abs(found["io_uring"][99.0] - 1) <= 0.15:
            return
    pytest.fail("p50 is not within 5 % of fio's, or p99 not within 15 %, in any of three sets of nine pairs")


def test_the_latencies_of_a_file_beside_fios(capsys: pytest.CaptureFixture[str]) -> None:
    """What a file costs is mostly processor time, and ours is less than fio's: the ratios are told."""
    with drives.file_system("/dev/nullb2") as folder:
        path = folder / "file"
        path.write_bytes(os.urandom(8 << 20))
        show("a file", ratios(str(path), 2, "io_uring", "libaio", "threads"), capsys)
