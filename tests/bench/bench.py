"""How fast sated itself is: prints a table and writes build/bench.json. Nothing here passes or fails.

CPU seconds, not wall seconds, so that what else runs on the machine matters less; the best of three.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import loops
import sated
import writes

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


def of_the_loop(pairs: int) -> dict[str, Any]:
    """Instructions by callgrind, and IOPS against fio with full statistics and against t/io_uring (whose path stands in
    T_IO_URING) in interleaved pairs. What is not installed has no row."""
    told: dict[str, Any] = {}
    with loops.built() as loop:
        batch = {"depth": 32, "batch": 8}
        if shutil.which("valgrind"):
            told["instructions_per_io"] = {
                "all_recorded": loop.instructions(**loops.ALIAS, **batch),
                "all_recorded_4k": loop.instructions(op="randread", size="4k", **batch),
                "nothing_recorded": loop.instructions("nothing_recorded", op="randread", size="4k", **batch),
                "writes_4k": loop.instructions(op="randwrite", size="4k", **batch),
                "mixed_70_30": loop.instructions(read=0.7, access="random", size="4k", **batch),
                "two_threads": loop.instructions(op="randread", size="4k", threads=2, **batch),
            }
            one, two = (told["instructions_per_io"][name] for name in ("all_recorded_4k", "two_threads"))
            told["cpu_two_threads"] = two / one
        if shutil.which(os.environ.get("FIO", "fio")):
            told["iops_vs_fio"] = {
                f"depth {depth}, batch {size}, {read} % reads": loops.ratios(
                    pairs,
                    lambda depth=depth, size=size, read=read: loops.ours(loop, depth, size, read),
                    lambda depth=depth, size=size, read=read: loops.fio(depth, size, read),
                )
                for depth, size in loops.CELLS
                for read in (100, 70)
            }
            told["iops_vs_fio_untuned"] = loops.ratios(
                pairs, lambda: loops.ours(loop, 32, 8, 100), lambda: loops.fio(32, 1, 100, tuned=False)
            )
        if binary := os.environ.get("T_IO_URING"):
            told["iops_vs_tio"] = {
                f"depth {depth}, batch {size}": loops.ratios(
                    pairs,
                    lambda depth=depth, size=size: loops.ours(loop, depth, size, 100, "no_operation"),
                    lambda depth=depth, size=size: loops.t_io_uring(binary, depth, size),
                )
                for depth, size in loops.CELLS[1:]
            }
    return told


def of_simulated_writes(pairs: int) -> dict[str, Any]:
    """Instructions by callgrind, and the CPU time of a random increment over that of a write, on a drive of 256 GB."""
    told: dict[str, Any] = {}
    with writes.built() as program:
        if shutil.which("valgrind"):
            told["instructions_per_write"] = {name: program.instructions(cell) for name, cell in writes.CELLS.items()}
        for name, cell in (("increment_vs_write", writes.WHOLE), ("increment_vs_bare_write", writes.WHOLE_BARE)):
            found = sorted(b / a for a, b in (program.times(cell, 4_000_000, 16_000_000) for _ in range(pairs)))
            told[name] = {"median": found[pairs // 2], "low": found[pairs // 4], "high": found[-1 - pairs // 4]}
    return told


def show(told: dict[str, Any]) -> None:
    for name, value in told.get("instructions_per_io", {}).items():
        print(f"{'instructions per I/O, ' + name:<56}{value:>10.1f}", flush=True)
    for name, value in told.get("instructions_per_write", {}).items():
        print(f"{'instructions per simulated write, ' + name:<56}{value:>10.1f}", flush=True)
    for name in ("increment_vs_write", "increment_vs_bare_write"):
        text = f"{told[name]['median']:.2f} [{told[name]['low']:.2f}, {told[name]['high']:.2f}]"
        print(f"{name.replace('_', ' '):<56}{text:>20}", flush=True)
    for other in ("iops_vs_fio", "iops_vs_tio"):
        for cell, found in told.get(other, {}).items():
            text = f"{found['median']:.2f} [{found['low']:.2f}, {found['high']:.2f}]"
            print(f"{other.replace('_', ' ') + ', ' + cell:<56}{text:>20}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=9, help="interleaved runs of ours and theirs")
    options = parser.parse_args()
    told: dict[str, Any] = {"version": sated.__version__, "machine": platform.machine(), **of_the_loop(options.pairs)}
    told |= of_simulated_writes(options.pairs)
    show(told)
    found = {}
    for name, bench in BENCHES.items():
        found[name] = max(bench() for _ in range(3))
        print(f"{name:<42}{found[name]:>16,.1f} /CPU-s", flush=True)
    out = ROOT / "build" / "bench.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps({**told, "per_cpu_second": found}, indent=2) + "\n")
    print(out)


if __name__ == "__main__":
    main()
