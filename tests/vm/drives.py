"""What the tests in all guests ask of a drive."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import oracle
import sated


def listed(node: str) -> sated.Identity:
    """What the list says about a device of this name."""
    found = [each for each in sated.list() if Path(each.path).resolve().name == node]
    assert len(found) == 1, f"{node} is {len(found)} times in the list"
    return found[0]


def agree(said: dict[str, Any], node: str) -> None:
    """The list says what lsblk and nvme list say."""
    ours = listed(node)
    for expected in (oracle.of_lsblk(said)[node], oracle.of_nvme(said).get(node, {})):
        for member, text in expected.items():
            if member in oracle.NOT_MEMBERS:
                continue
            if member == "solid":
                got = "yes" if ours.rotation_rpm == 0 else "no"
            elif member == "mounted":
                got = "yes" if ours.mounted else "no"
            elif member in ("controllers", "namespaces"):
                got = "|".join(getattr(ours, member))
            else:
                got = str(getattr(ours, member))
            assert got == text, f"{node}: {member}"


def counted(node: str) -> dict[str, int]:
    """Documentation/block/stat.rst: read I/Os, merges, sectors of 512 bytes; the same of writes."""
    fields = [int(field) for field in Path("/sys/class/block", node, "stat").read_text().split()]
    read = {"reads": fields[0] + fields[1], "read_bytes": fields[2] * 512}
    return {**read, "writes": fields[4] + fields[5], "write_bytes": fields[6] * 512}


@contextmanager
def requests() -> Iterator[Callable[[], str]]:
    """What goes to drives meanwhile, for which process, and what NVMe ones answer (Documentation/trace/events.rst): for
    the text of an assertion about `counted`."""
    tracing = Path("/sys/kernel/debug/tracing")
    events = [tracing / "events" / name / "enable" for name in ("block/block_bio_queue", "nvme/nvme_complete_rq")]
    (tracing / "trace").write_text("")
    for event in events:
        event.write_text("1")
    try:
        yield (tracing / "trace").read_text
    finally:
        for event in events:
            event.write_text("0")


def check_reads(node: str, engine: str, ios: int = 600) -> None:
    """A load of reads on a device is what the kernel counts of it, I/O by I/O and byte by byte."""
    with sated.open(f"/dev/{node}") as drive:
        work = sated.Workload(op="randread", size="4k", threads=2, depth=4)
        before = counted(node)
        result = sated.load(drive, work, ios=ios, engine=engine, seed=1)
        after = counted(node)
    moved = {key: after[key] - before[key] for key in after}
    everything = {name: sum(result.table[name].to_pylist()) for name in ("ios", "bytes", "errors")}
    assert everything == {"ios": ios, "bytes": ios * 4096, "errors": 0}
    assert moved == {"reads": ios, "read_bytes": ios * 4096, "writes": 0, "write_bytes": 0}
    assert {total.engine for total in result.totals.members} == {engine}


def check_writes(node: str, folder: Path, engine: str) -> None:
    """A load on a file whose blocks are there, by direct I/O: what is read is what the kernel counts of the device,
    byte by byte; to what is written the file system adds its own, which is little."""
    path = folder / f"file-{engine}"
    with sated.open(str(path), create="8MiB") as drive:
        mix = sated.Workload(read=0.5, write=0.5, size="4k", access="random", threads=2, depth=4)
        sated.load(drive, sated.Workload(op="write", access="sequential", size="128k"), ios=64, engine=engine)
        before = counted(node)
        result = sated.load(drive, mix, ios=400, engine=engine, seed=2)
        after = counted(node)
    table = result.table.to_pylist()
    ours = {op: sum(row["bytes"] for row in table if row["op"] == op) for op in ("read", "write")}
    assert sum(row["ios"] for row in table) == 400 and sum(row["errors"] for row in table) == 0
    assert after["read_bytes"] - before["read_bytes"] == ours["read"] > 0
    assert 0 < ours["write"] <= after["write_bytes"] - before["write_bytes"] < ours["write"] + (1 << 20)
    path.unlink()


def wait_for(job: sated.Job, *, ios: int) -> None:
    """Until a running load has made so many more."""
    wanted = job.progress.ios + ios
    while job.progress.ios < wanted:
        assert job.progress.running, "the load has ended before"
        time.sleep(0.02)


@contextmanager
def file_system(device: str) -> Iterator[Path]:
    """Where a new ext4 on a device is mounted. What the device held is lost."""
    where = Path("/run/files")
    where.mkdir(exist_ok=True)
    make = ["mkfs.ext4", "-q", "-F", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", device]
    for command in (make, ["mount", "-t", "ext4", device, where]):
        subprocess.run(command, check=True, timeout=60)
    try:
        yield where
    finally:
        subprocess.run(["umount", where], check=True, timeout=60)


def dmsetup(*arguments: str, table: tuple[str, ...] = ()) -> None:
    subprocess.run(["dmsetup", *arguments], input="\n".join(table), text=True, check=True, timeout=30)


def mapped(name: str, *table: str) -> str:
    """A device-mapper target without udev: the kernel's own node."""
    dmsetup("create", name, "--noudevsync", table=table)
    told = subprocess.run(
        ["dmsetup", "info", "-c", "--noheadings", "-o", "minor", name], capture_output=True, check=True
    )
    return f"/dev/dm-{int(told.stdout)}"
