"""The cost of the submission loop itself, on /dev/zero, where the kernel answers at once: builds tests/bench/loop.c
with the library, as it is and with less in it, counts what it executes, and compares it with fio and t/io_uring."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What each is built with beside the library as it is; the sources that read it come first, and the archive's stay out.
VARIANTS = {
    "all_recorded": "",
    "nothing_recorded": "-DINFLIGHT_RECORDS=0",
    "no_operation": "-DURING_NOP=1",
}
ALIAS = {"sizes": "4k:60,2k:20,1k:10,512:10", "op": "randread"}
FEW, MANY = 200_000, 1_000_000
LIBRARIES = ("-lm", "-ldl")


@dataclass(frozen=True)
class Loops:
    folder: Path

    def run(self, variant: str, ios: int, **keys: object) -> tuple[int, int]:
        """I/Os done, and nanoseconds."""
        done = subprocess.run(self.command(variant, ios, **keys), capture_output=True, text=True, check=True)
        ios_done, ns = map(int, done.stdout.split())
        return ios_done, ns

    def command(self, variant: str, ios: int, **keys: object) -> list[str]:
        return [str(self.folder / variant), str(ios), *(f"{key}={value}" for key, value in keys.items())]

    def instructions(self, variant: str = "all_recorded", **keys: object) -> float:
        """User instructions per I/O by callgrind: the slope between two numbers of I/Os, so that what a load costs by
        itself is not in it."""
        few, many = (executed(self.command(variant, ios, **keys)) for ios in (FEW, MANY))
        return (many - few) / (MANY - FEW)


def executed(command: list[str]) -> int:
    """User instructions of a program, by callgrind."""
    line = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    told = subprocess.run(line, capture_output=True, text=True, check=True).stderr
    found = re.search(r"Collected : (\d+)", told)
    assert found, told
    return int(found[1])


def library(folder: Path) -> tuple[list[str], Path]:
    """The library as an archive, made in a folder, and the compiler's line for what reads its sources."""
    archive = folder / "out/libsated.a"
    make = ["make", "-s", "-C", str(ROOT / "csrc"), f"OUT={folder}/out", str(archive)]
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
    options = "-std=gnu11 -O2 -g -ffp-contract=off -fvisibility=hidden -D_GNU_SOURCE -DSATED_STATIC -pthread"
    return [shutil.which("cc") or "gcc", *options.split(), f"-I{ROOT}/include", f"-I{ROOT}/csrc"], archive


@contextmanager
def built() -> Iterator[Loops]:
    with tempfile.TemporaryDirectory(prefix="sated-loop-") as name:
        folder = Path(name)
        compiler, archive = library(folder)
        for variant, define in VARIANTS.items():
            again = [str(ROOT / "csrc/load/engine_uring.c")] if define else []
            sources = [str(ROOT / "tests/bench/loop.c"), *again, str(archive), *LIBRARIES]
            line = [*compiler, *([define] if define else []), *sources, "-o", str(folder / variant)]
            subprocess.run(line, check=True)
        yield Loops(folder)


# The fio job that costs it least, with all of its latency statistics on.
FIO = [
    *("--name=loop", "--filename=/dev/zero", "--size=1g", "--bs=4k", "--time_based", "--output-format=json"),
    *("--ioengine=io_uring", "--direct=0", "--invalidate=0", "--fixedbufs=1", "--registerfiles=1", "--clocksource=cpu"),
    *("--thread=1", "--numjobs=1", "--group_reporting", "--norandommap=1", "--randrepeat=0", "--scramble_buffers=0"),
]
CELLS = ((1, 1), (32, 8), (256, 32))  # depth, batch
SECONDS = 1.2


def ours(loop: Loops, depth: int, batch: int, read: int, variant: str = "all_recorded") -> float:
    mix = {"op": "randread"} if read == 100 else {"read": read / 100, "access": "random"}
    ios, ns = loop.run(variant, 0, seconds=SECONDS, size="4k", depth=depth, batch=batch, **mix)
    return ios / ns * 1e9


def fio(depth: int, batch: int, read: int, *, tuned: bool = True) -> float:
    job = [*FIO, f"--iodepth={depth}", f"--runtime={SECONDS}", f"--rw={'randread' if read == 100 else 'randrw'}"]
    job += [] if read == 100 else [f"--rwmixread={read}"]
    if tuned:
        job += [f"--iodepth_batch_submit={batch}", f"--iodepth_batch_complete_min={batch}"]
        job += [f"--iodepth_batch_complete_max={batch}"]
    else:
        job = [part for part in job if part not in ("--fixedbufs=1", "--registerfiles=1", "--clocksource=cpu")]
    done = subprocess.run([os.environ.get("FIO", "fio"), *job], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["jobs"][0]
    return float(found["read"]["iops"]) + float(found["write"]["iops"])


def t_io_uring(binary: str, depth: int, batch: int) -> float:
    """Of fio's source, which Debian's package has not: its best second."""
    with tempfile.NamedTemporaryFile() as file:
        os.truncate(file.name, 1 << 30)
        line = f"-d{depth} -s{batch} -c{batch} -p0 -B1 -F1 -n1 -r3 -t1 -N1".split()
        told = subprocess.run([binary, *line, file.name], capture_output=True, text=True, check=False).stdout
    unit = {"": 1.0, "K": 1e3, "M": 1e6}
    return max(float(number) * unit[letter] for number, letter in re.findall(r"IOPS=([\d.]+)([KM]?)", told))


def ratios(pairs: int, a: Callable[[], float], b: Callable[[], float]) -> dict[str, float]:
    """Of interleaved pairs: the median, and the range between the quartiles, which what else the machine does moves."""
    found = sorted(a() / b() for _ in range(pairs))
    return {"median": statistics.median(found), "low": found[len(found) // 4], "high": found[-1 - len(found) // 4]}
