"""Files whose drive fails below them. All that the file system has of its own lies on a drive that does not."""

from __future__ import annotations

import array
import errno
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import drives
import pytest
import sated

ENGINES = ["io_uring", "threads"]
BLOCK = 4096
BLOCKS = 256  # of the file
LENGTH = BLOCKS * 8  # in sectors of 512 bytes
FREE = 98304  # a sector of the second drive that nothing is wrong with, nor any of the LENGTH behind it
FIBMAP = 1  # linux/fs.h
OLD = b"what was there before".ljust(BLOCK, b".")


@dataclass
class Apart:
    """A file on a file system on one drive, whose own blocks device-mapper finds elsewhere. @param system the drive of
    the file system; @param data another, of which nobody else reads or writes; @param start the file's first sector"""

    path: Path
    system: str
    data: str
    start: int

    def put(self, *table: str) -> None:
        """Where the file's blocks are from now on: lines of a table of LENGTH sectors."""
        end = self.start + LENGTH
        lines = [line.split(" ", 1) for line in table]
        drives.dmsetup(
            "reload",
            "apart",
            table=(
                f"0 {self.start} linear {self.system} 0",
                *(f"{self.start + int(first)} {rest}" for first, rest in lines),
                f"{end} {100_000 - end} linear {self.system} {end}",
            ),
        )
        drives.dmsetup("resume", "--noudevsync", "apart")

    def moved(self, before: dict[str, int]) -> dict[str, int]:
        return {key: count - before[key] for key, count in drives.counted(Path(self.data).name).items()}

    def blocks(self) -> list[bytes]:
        with self.path.open("rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            return [file.read(BLOCK) for _ in range(BLOCKS)]


def first_block(path: Path) -> int:
    found = []
    with path.open("rb") as file:
        for number in range(BLOCKS):
            place = array.array("i", [number])
            fcntl.ioctl(file, FIBMAP, place)
            found.append(place[0])
    assert found == list(range(found[0], found[0] + BLOCKS)) and found[0] > 0, "the file is not in one piece"
    return found[0]


def write_old(path: Path) -> None:
    with path.open("r+b" if path.exists() else "wb") as file:
        file.write(OLD * BLOCKS)
        file.flush()
        os.fsync(file.fileno())


@pytest.fixture
def apart(nodes: dict[str, str], removed: None) -> Iterator[Apart]:
    system, data = (f"/dev/{nodes[serial]}" for serial in ("RESET001", "BAD00001"))
    with drives.file_system(drives.mapped("apart", f"0 100000 linear {system} 0")) as folder:
        path = folder / "file"
        write_old(path)
        made = Apart(path, system, data, first_block(path) * BLOCK // 512)
        made.put(f"0 {LENGTH} linear {data} {FREE}")
        write_old(path)
        yield made


def check_once(apart: Apart, engine: str, bad: list[int], code: int, counted: int) -> None:
    """Writes each block of the file once: these fail, as what they are, and no others. @param counted writes on the
    second drive"""
    with sated.open(str(apart.path)) as drive:
        work = sated.Workload(op="write", access="sequential", size=BLOCK, depth=4)
        before = drives.counted(Path(apart.data).name)
        good = BLOCKS - len(bad)
        result = sated.load(drive, work, ios=good, engine=engine, confirm=str(apart.path))
        assert apart.moved(before)["writes"] == counted
    assert sorted(result.failed_ios) == [(block * BLOCK, -code) for block in bad]
    told = {name: sum(result.table[name].to_pylist()) for name in ("ios", "bytes", "errors")}
    assert told == {"ios": good, "bytes": good * BLOCK, "errors": len(bad)}


@pytest.mark.parametrize("engine", ENGINES)
def test_writes_that_an_error_target_refuses(apart: Apart, engine: str) -> None:
    """What failed still is what it was, everything else is new."""
    apart.put(
        f"0 512 linear {apart.data} {FREE}", "512 32 error", f"544 {LENGTH - 544} linear {apart.data} {FREE + 544}"
    )
    bad = [64, 65, 66, 67]
    check_once(apart, engine, bad, errno.EIO, counted=BLOCKS - len(bad))
    apart.put(f"0 {LENGTH} linear {apart.data} {FREE}")
    assert [number for number, block in enumerate(apart.blocks()) if block == OLD] == bad


@pytest.mark.parametrize("engine", ENGINES)
def test_a_write_that_blkdebug_fails(apart: Apart, engine: str) -> None:
    """QEMU answers Write Fault, which the kernel makes ENODATA (drivers/nvme/host/core.c) and counts as a write."""
    apart.put(f"0 {LENGTH} linear {apart.data} {65536 - 80}")
    check_once(apart, engine, [10], errno.ENODATA, counted=BLOCKS)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_load_gives_up_on_a_file_that_takes_nothing(apart: Apart, engine: str) -> None:
    apart.put(f"0 {LENGTH} error")
    with sated.open(str(apart.path)) as drive, pytest.raises(sated.SatedError) as failed:
        sated.load(
            drive,
            sated.Workload(op="randwrite", size=BLOCK, depth=4),
            seconds=30,
            engine=engine,
            confirm=str(apart.path),
        )
    assert failed.value.exit_code == 4
    told = str(failed.value)
    assert told.startswith(f"{apart.path}: the load has ended after 100 failed I/Os, the last a write of 4096 bytes")
    assert os.strerror(errno.EIO) in told


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_on_a_flakey_target_that_comes_and_goes(apart: Apart, engine: str) -> None:
    """Every other second writes fail and reads do not (dm-flakey.rst). A delay of 100 ms keeps the failures of such a
    second below the 100 that would end the load: 60 that succeed need more than the first two seconds."""
    flakey = drives.mapped("flakey", f"0 {LENGTH} flakey {apart.data} {FREE} 1 1 1 error_writes")
    apart.put(f"0 {LENGTH} linear {drives.mapped('slow', f'0 {LENGTH} delay {flakey} 0 100')} 0")
    name = Path(apart.data).name
    with sated.open(str(apart.path)) as drive, drives.requests() as requests:
        mix = sated.Workload(read=0.5, write=0.5, access="random", size=BLOCK, depth=2)
        before = drives.counted(name)
        result = sated.load(drive, mix, ios=60, interval=0.2, engine=engine, seed=1, confirm=str(apart.path))
        moved = apart.moved(before)
        seen = requests()
    rows = {op: [row for row in result.table.to_pylist() if row["op"] == op] for op in ("read", "write")}
    ios = {op: sum(row["ios"] for row in rows[op]) for op in rows}
    assert (moved["reads"], moved["writes"]) == (ios["read"], ios["write"]), f"{rows}\n{seen}"
    assert sum(ios.values()) == 60
    assert not any(row["errors"] for row in rows["read"])
    failed = [row["t_s"] for row in rows["write"] if row["errors"]]
    assert failed and max(row["t_s"] for row in rows["write"] if row["ios"]) > failed[0]
    assert {code for _, code in result.failed_ios} == {-errno.EIO}
