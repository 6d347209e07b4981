"""Loads on drives and machines that refuse: what failed is counted and named, and what came before it is kept."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import sated
from devices import loop_device

ENGINES = ["io_uring", "libaio", "threads"]
BLOCK = 4096
MIB = 1 << 20


def check_kept(failed: sated.SatedError, log: Path, *, from_offset: int, code: int, op: str) -> None:
    """The rows, the totals, the first offsets and the log of a load that its drive ended say the same."""
    result = failed.result
    rows = result.table.to_pylist()
    ios, errors = sum(row["ios"] for row in rows), sum(row["errors"] for row in rows)
    assert ios > 0 and 100 <= errors < 104  # so many end it; those that are out then may fail too
    told = pq.read_table(log).to_pylist()
    assert [each["error"] for each in told].count(0) == ios
    wrong = [each for each in told if each["error"]]
    assert len(wrong) == errors
    assert {(each["error"], each["op"], each["size"]) for each in wrong} == {(-code, op, BLOCK)}
    assert all(each["complete_ns"] >= each["submit_ns"] for each in told)
    assert min(each["offset"] for each in wrong) >= from_offset
    named = {(each["offset"], each["error"]) for each in wrong}
    assert len(result.failed_ios) == 16 and set(result.failed_ios) <= named
    text = str(failed)
    assert f"the load has ended after 100 failed I/Os, the last a {op} of 4096 bytes at offset" in text
    assert os.strerror(code) in text


@pytest.mark.parametrize("engine", ENGINES)
def test_a_device_that_ends_in_the_middle(tmp_path: Path, engine: str) -> None:
    """The backing file is cut short behind the loop device's back: the kernel answers what lies beyond with EIO."""
    image, log = tmp_path / "image", tmp_path / "log.parquet"
    image.write_bytes(os.urandom(MIB) * 4)
    with loop_device(image, "--direct-io=on") as path, sated.open(path) as drive:
        os.truncate(image, MIB)
        work = sated.Workload(op="read", access="sequential", size=BLOCK, depth=4)
        with pytest.raises(sated.SatedError) as failed:
            sated.load(drive, work, seconds=30, interval=0.1, engine=engine, log=log)
        assert failed.value.exit_code == 4
        assert sum(failed.value.result.table["ios"].to_pylist()) == MIB // BLOCK
        check_kept(failed.value, log, from_offset=MIB, code=errno.EIO, op="read")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_device_that_becomes_read_only(tmp_path: Path, engine: str) -> None:
    """The kernel refuses writes then, and says EPERM (block/fops.c, blkdev_write_iter)."""
    image, log = tmp_path / "image", tmp_path / "log.parquet"
    image.write_bytes(bytes(4 * MIB))
    with loop_device(image) as path, sated.open(path) as drive:
        token = str(drive.identity.token)
        work = sated.Workload(op="randwrite", size=BLOCK, depth=4)
        job = sated.start(drive, work, seconds=60, interval=0.1, engine=engine, log=log, confirm=token)
        while job.progress.ios < 50:
            assert not job.wait(0.01)
        subprocess.run(["blockdev", "--setro", path], check=True, timeout=20)
        with pytest.raises(sated.SatedError) as failed:
            job.wait()
        subprocess.run(["blockdev", "--setrw", path], check=True, timeout=20)
    check_kept(failed.value, log, from_offset=0, code=errno.EPERM, op="write")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_load_that_goes_on_counts_each_failure(tmp_path: Path, engine: str) -> None:
    image, log = tmp_path / "image", tmp_path / "log.parquet"
    image.write_bytes(os.urandom(MIB) * 2)
    with loop_device(image, "--direct-io=on") as path, sated.open(path) as drive:
        os.truncate(image, MIB)
        work = sated.Workload(op="read", access="sequential", size=BLOCK, depth=4)
        result = sated.load(drive, work, ios=300, engine=engine, on_error="continue", log=log)
    table = pq.read_table(log).to_pylist()
    wrong = sorted(each["offset"] for each in table if each["error"])
    # 256 blocks are there, then 256 are not, then the first come again.
    assert wrong == list(range(MIB, 2 * MIB, BLOCK))
    assert (result.totals.ios, result.totals.errors) == (300, 256)
    assert len(result.histogram()) == 300


def test_blocks_of_4_kib(tmp_path: Path) -> None:
    """A 4Kn drive takes nothing smaller, and nothing that does not begin at a block."""
    image = tmp_path / "image"
    image.write_bytes(bytes(4 * MIB))
    with loop_device(image, "--sector-size", "4096") as path, sated.open(path) as drive:
        assert drive.identity.logical_block_bytes == BLOCK
        refused: list[tuple[dict[str, object], str]] = [
            ({"size": "512"}, f"size 512 on {path}: its logical blocks have 4096 bytes"),
            ({"sizes": {"4k": 50, "6k": 50}}, f"size 6144 on {path}: its logical blocks have 4096 bytes"),
            ({"size": "4k", "offset": "512B"}, "offset"),
        ]
        for keys, says in refused:
            with pytest.raises(sated.ParseError, match=says):
                sated.load(drive, sated.Workload(op="randread", **keys), ios=1)  # type: ignore[arg-type]
        result = sated.load(drive, sated.Workload(op="randread", sizes={"4k": 50, "12k": 50}), ios=200)
        assert (result.totals.ios, result.totals.errors) == (200, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_more_at_a_time_than_the_queue_holds(tmp_path: Path, engine: str) -> None:
    """queue/nr_requests of one queue: the kernel lets the others wait, all of them are done, and it is said."""
    image = tmp_path / "image"
    image.write_bytes(os.urandom(MIB) * 4)
    with loop_device(image) as path, sated.open(path) as drive:
        folder = Path("/sys/block", Path(path).name)
        most = int((folder / "queue/nr_requests").read_text()) * len(list((folder / "mq").iterdir()))
        says = f"{path}: its queues hold {most} of the {{}} I/Os that are asked for at a time"
        deep = sated.load(drive, sated.Workload(op="randread", depth=2 * most), ios=5000, engine=engine)
        assert (deep.totals.ios, deep.totals.errors) == (5000, 0)
        assert says.format(2 * most) in deep.note
        flat = sated.load(drive, sated.Workload(op="randread", depth=most), ios=500, engine=engine)
        assert "its queues hold" not in flat.note


# --- machines and containers that refuse io_uring ---

CALLS = {"x86_64": {"io_uring_setup": 425, "io_setup": 206}, "aarch64": {"io_uring_setup": 425, "io_setup": 0}}


def refusing(*names: str) -> Callable[[], None]:
    """What a process does before it becomes another program: from then on these system calls are EPERM, as under the
    seccomp profiles of containers (seccomp(2), linux/filter.h, linux/seccomp.h)."""
    numbers = [CALLS[platform.machine()][name] for name in names]
    code = [struct.pack("=HBBI", 0x20, 0, 0, 0)]  # BPF_LD + BPF_W + BPF_ABS: seccomp_data.nr
    code += [struct.pack("=HBBI", 0x15, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]  # BPF_JEQ
    code += [struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)]  # SECCOMP_RET_ALLOW
    code += [struct.pack("=HBBI", 0x06, 0, 0, 0x00050000 | errno.EPERM)]  # SECCOMP_RET_ERRNO
    instructions = ctypes.create_string_buffer(b"".join(code))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(code), ctypes.addressof(instructions)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def filter_calls() -> None:
        # PR_SET_NO_NEW_PRIVS; PR_SET_SECCOMP, SECCOMP_MODE_FILTER
        if prctl(38, 1, 0, 0, 0) or prctl(22, 2, program, 0, 0):
            os._exit(len(instructions))  # which have to be there still

    return filter_calls


@pytest.mark.skipif(platform.machine() not in CALLS, reason="numbers of system calls are not known here")
@pytest.mark.parametrize("refused", [("io_uring_setup",), ("io_uring_setup", "io_setup")])
def test_a_container_that_refuses_io_uring(tmp_path: Path, refused: tuple[str, ...]) -> None:
    """The next engine stands in, and the note says for which and why; one that is insisted on is not there."""
    path = str(tmp_path / "drive")
    with sated.open(path, create="1MiB") as drive:
        direct = "no direct I/O" not in sated.load(drive, sated.Workload(op="randread"), ios=1).note
    command = [sys.executable, "-m", "sated", "load", path, "--op", "randread", "--ios", "100", "--json"]

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *more],
            preexec_fn=refusing(*refused),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    ran = run()
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    expected = "libaio" if direct and "io_setup" not in refused else "threads"
    assert told["pooled"]["engine"] == expected
    assert "libaio instead of io_uring, which is refused here: Operation not permitted" in told["note"]
    assert ("threads instead of libaio, which is refused here: " in told["note"]) == (expected == "threads")
    insisted = run("--engine", "io_uring")
    assert insisted.returncode == 7
    assert "io_uring is refused here: Operation not permitted" in insisted.stderr
    assert "seccomp" in insisted.stderr
