"""How fast sated itself is: prints a table and writes build/bench.json. Nothing here passes or fails.

CPU seconds, not wall seconds, so that what else runs on the machine matters less; the best of three.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import sated

ROOT = Path(__file__).resolve().parents[2]


def simulated(uri: str, workload: sated.Workload, ios: int, *, filled: bool = True) -> Callable[[], float]:
    """I/Os per CPU second of a simulated drive."""

    def measure() -> float:
        with sated.open(uri) as drive:
            if filled:
                fill = sated.Workload(op="write", size="128k", depth=32)
                sated.load(drive, fill, bytes=drive.identity.capacity_bytes)
            began = time.process_time()
            sated.load(drive, workload, ios=ios, interval=60.0)
            return ios / (time.process_time() - began)

    return measure


def through_io_uring() -> float:
    """4K random reads of a small file per CPU second: what engine and kernel cost together."""
    with tempfile.TemporaryDirectory() as folder, sated.open(f"{folder}/bench.bin", create="64MiB") as drive:
        sated.load(drive, sated.Workload(op="write", size="1m"), bytes=drive.identity.capacity_bytes)
        began = time.process_time()
        result = sated.load(drive, sated.Workload(op="randread", size="4k", depth=32), ios=200_000)
        return result.totals.ios / (time.process_time() - began)


def histogram() -> float:
    """Values recorded per CPU second, one call each from Python."""
    h = sated.Histogram()
    began = time.process_time()
    for value in range(200_000):
        h.record(value)
    return 200_000 / (time.process_time() - began)


def start_of_the_command() -> float:
    """`sated --help`, runs per CPU second."""
    began = os.times()
    for _ in range(5):
        subprocess.run([sys.executable, "-m", "sated", "--help"], stdout=subprocess.DEVNULL, check=True)
    ended = os.times()
    return 5 / (ended.children_user + ended.children_system - began.children_user - began.children_system)


BENCHES: dict[str, Callable[[], float]] = {
    "x210 1/64, 4K random write, filled": simulated(
        "sim:x210,scale=1/64", sated.Workload(op="randwrite", size="4k", threads=16, depth=16), 300_000
    ),
    "x210 1/64, 4K random read, filled": simulated(
        "sim:x210,scale=1/64", sated.Workload(op="randread", size="4k", threads=16, depth=16), 300_000
    ),
    "generic, 4K random write, no timing": simulated(
        "sim:generic,timing=off", sated.Workload(op="randwrite", size="4k", depth=1), 1_000_000
    ),
    "io_uring, 4K random read of a file": through_io_uring,
    "histogram, values recorded from Python": histogram,
    "sated --help, runs": start_of_the_command,
}


def main() -> None:
    found = {}
    for name, bench in BENCHES.items():
        found[name] = max(bench() for _ in range(3))
        print(f"{name:<42}{found[name]:>16,.1f} /CPU-s", flush=True)
    out = ROOT / "build" / "bench.json"
    out.parent.mkdir(exist_ok=True)
    told = {"version": sated.__version__, "machine": platform.machine(), "per_cpu_second": found}
    out.write_text(json.dumps(told, indent=2) + "\n")
    print(out)


if __name__ == "__main__":
    main()
