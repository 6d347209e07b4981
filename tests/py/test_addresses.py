"""Addresses of the caller's: arrays and generators, what they may say, and what becomes of a load without."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import sated
from sated.errors import ParseError

MIB = 1 << 20
BLOCKS = 1024


def offsets(n: int = BLOCKS) -> np.ndarray[Any, Any]:
    """Block i x 397 modulo 1024: each once in 1024."""
    return np.arange(n, dtype=np.uint64) * 397 % BLOCKS * 4096


def given(addresses: Any, **keys: Any) -> sated.Workload:
    return sated.Workload(**{"op": "randread", "size": "4k", **keys}, addresses=addresses)


def logged(path: Path) -> tuple[list[int], list[str], list[int]]:
    table = pq.read_table(path)
    return table["offset"].to_pylist(), table["op"].to_pylist(), table["size"].to_pylist()


@pytest.fixture(params=["sim", "io_uring", "libaio", "threads"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[sated.Drive, dict[str, Any]]]:
    """A drive, and the engine to choose on it."""
    if request.param == "sim":
        with sated.open("sim:generic") as drive:
            yield drive, {}
        return
    with sated.open(str(tmp_path / "drive"), create=4 * MIB) as drive:
        try:
            sated.load(drive, sated.Workload(op="randread", size="4k"), ios=1, engine=request.param)
        except OSError as error:
            pytest.skip(f"{request.param} is refused here: {error}")
        yield drive, {"engine": request.param}


def test_array(place: tuple[sated.Drive, dict[str, Any]], tmp_path: Path) -> None:
    drive, engine = place
    log = tmp_path / "log.parquet"
    result = sated.load(drive, given(offsets()), log=log, **engine)
    assert logged(log)[0] == offsets().tolist()
    assert result.totals.ios == BLOCKS
    assert result.totals.starved == 0 and result.totals.starved_s == 0
    assert "the addresses are used up" in result.note
    assert result.limited and not result.host_bound
    assert result.workload.order == "given" and not result.workload.sequential
    # Signed ones are as good, and what lies in the array by strides.
    sated.load(drive, given(np.repeat(offsets().astype(np.int64), 2)[::2]), log=log, **engine)
    assert logged(log)[0] == offsets().tolist()


def test_longer_than_a_slice() -> None:
    with sated.open("sim:generic") as drive:
        assert sated.load(drive, given(offsets(70_000), depth=8)).totals.ios == 70_000
        wrong = offsets(70_000)
        wrong[69_000] += 1
        with pytest.raises(
            ParseError, match=r"address 69000, counted from 0, is offset .* no multiple of the 512 bytes"
        ):
            sated.load(drive, given(wrong))
        below = offsets(70_000).astype(np.int64)
        below[69_000] = -512
        with pytest.raises(ParseError, match="address 69000 of addresses=, counted from 0, has offset -512"):
            sated.load(drive, given(below))
        assert sated.load(drive, given(offsets(), repeat=True), ios=5 * BLOCKS).totals.ios == 5 * BLOCKS


def test_fields(place: tuple[sated.Drive, dict[str, Any]], tmp_path: Path) -> None:
    drive, engine = place
    log = tmp_path / "log.parquet"
    rows = np.zeros(300, dtype=[("op", "U12"), ("offset", "<u8"), ("bytes", "<i4")])
    rows["offset"] = offsets(300) // 8192 * 8192
    rows["bytes"] = np.where(np.arange(300) % 3, 4096, 8192)
    rows["op"] = np.where(np.arange(300) % 5, "read", "write")
    mix = sated.Workload(read=0.5, write=0.5, sizes={"4k": 50, "8k": 50}, addresses=rows)
    sated.load(drive, mix, log=log, **engine)
    assert logged(log) == (rows["offset"].tolist(), rows["op"].tolist(), rows["bytes"].tolist())
    numbers = np.zeros(300, dtype=[("offset", "<u8"), ("op", "u1")])  # one size: the operation is enough
    numbers["offset"] = rows["offset"]
    numbers["op"] = np.where(rows["op"] == "read", 0, 1)
    sated.load(drive, sated.Workload(read=0.5, write=0.5, size="4k", addresses=numbers), log=log, **engine)
    assert logged(log) == (rows["offset"].tolist(), rows["op"].tolist(), [4096] * 300)


def test_generator(place: tuple[sated.Drive, dict[str, Any]], tmp_path: Path) -> None:
    """Chunks of any length, none too; it is asked in a thread of the load, and its end is the load's."""
    drive, engine = place
    threads = set()

    def chunks() -> Iterator[np.ndarray[Any, Any]]:
        for n in (0, 1, 10, 0, 1000):
            threads.add(threading.current_thread().name)
            yield offsets(n)

    log = tmp_path / "log.parquet"
    source = chunks()
    result = sated.load(drive, given(source), log=log, **engine)
    assert logged(log)[0] == np.concatenate([offsets(1), offsets(10), offsets(1000)]).tolist()
    assert threads == {"sated-addresses"}
    assert result.totals.ios == 1011
    assert sated.load(drive, given(source), **engine).totals.ios == 0  # it has its addresses once
    again = [offsets(10), offsets(5)]
    assert sated.load(drive, given(again), **engine).totals.ios == 15
    assert sated.load(drive, given(again), **engine).totals.ios == 15
    assert sated.load(drive, given(again, repeat=True), ios=77, **engine).totals.ios == 77
    nothing = given([offsets(0), offsets(0)], repeat=True)  # of which there is no end, nor any I/O
    assert sated.load(drive, nothing, seconds=60, **engine).totals.ios == 0


def test_slow_generator(tmp_path: Path) -> None:
    """Slots wait, which is counted and said, and rows come meanwhile."""
    seen = []

    class Rows:
        def intervals(self, batch: Any) -> None:
            seen.append(time.monotonic())

        def environment(self, batch: Any) -> None: ...

        def histograms(self, batch: Any) -> None: ...

    def chunks() -> Iterator[np.ndarray[Any, Any]]:
        yield offsets(10)
        time.sleep(0.6)
        told.append(time.monotonic())
        yield offsets(10)

    told: list[float] = []
    with sated.open(str(tmp_path / "drive"), create=4 * MIB) as drive:
        result = sated.load(drive, given(chunks(), depth=4), interval=0.1, sink=Rows())
    assert result.totals.ios == 20
    assert result.totals.starved == 1
    assert result.totals.starved_s == pytest.approx(0.6, abs=0.3)
    assert "the addresses came too slowly, threads with free slots waited 1 times for them" in result.note
    assert any(at < told[0] for at in seen)


def test_simulated_time_stands_still() -> None:
    """A generator is asked when the drive needs it, and the rows do not depend on how long it takes."""

    def chunks(drive: sated.Drive, pause: float) -> Iterator[np.ndarray[Any, Any]]:
        for _ in range(5):
            asked.append(drive.now_s())
            time.sleep(pause)
            yield offsets(200)

    asked: list[float] = []
    tables = []
    for pause in (0.0, 0.03):
        with sated.open("sim:generic") as drive:
            result = sated.load(drive, given(chunks(drive, pause), depth=4), interval=0.001)
            assert result.totals.starved == 0
            tables.append(result.table)
    assert tables[0].num_rows == 3
    assert tables[0].equals(tables[1])
    assert asked[:5] == asked[5:] == sorted(asked[:5])  # by the drive's own clock
    assert asked[4] > asked[0]


def test_generator_fails(place: tuple[sated.Drive, dict[str, Any]]) -> None:
    """Its exception is raised as it is, with what there was."""
    drive, engine = place

    def chunks() -> Iterator[np.ndarray[Any, Any]]:
        yield offsets(100)
        time.sleep(0.2)
        raise ZeroDivisionError("of the caller's")

    with pytest.raises(ZeroDivisionError, match="of the caller's") as caught:
        sated.load(drive, given(chunks()), seconds=30, **engine)
    kept = caught.value.result  # type: ignore[attr-defined]
    assert sum(kept.table["ios"].to_pylist()) == 100
    assert sated.load(drive, given(offsets(3)), **engine).totals.ios == 3  # the drive is free again


def test_generator_gives_what_is_wrong(place: tuple[sated.Drive, dict[str, Any]]) -> None:
    """Nothing of a chunk is done that holds a wrong address, and what went before is kept."""
    drive, engine = place
    wrong = offsets(100)
    wrong[7] = 1 << 50
    with pytest.raises(ParseError, match=r"address 7 of chunk 1, counted from 0, is offset 1125899906842624") as caught:
        sated.load(drive, given([offsets(50), wrong]), **engine)
    assert sum(caught.value.result.table["ios"].to_pylist()) == 50
    for chunk, why in (
        ("text", "chunk 0 is of the type str"),
        (np.zeros((2, 2), np.uint64), "chunk 0 is an array of 2 dimensions"),
        (np.zeros(2), "chunk 0 is of float64: offsets are whole numbers"),
        (np.array([0, -4096]), "address 1 of chunk 0, counted from 0, has offset -4096"),
    ):
        with pytest.raises(ParseError, match=why):
            sated.load(drive, given([chunk]), **engine)


def test_limits_and_stop(place: tuple[sated.Drive, dict[str, Any]]) -> None:
    drive, engine = place
    assert sated.load(drive, given(offsets()), ios=10, **engine).totals.ios == 10
    let_go = threading.Event()

    def chunks() -> Iterator[np.ndarray[Any, Any]]:
        yield offsets(10)
        let_go.wait(20)
        yield offsets(10)

    job = sated.start(drive, given(chunks()), seconds=100, **engine)
    assert not job.wait(0.3)
    job.stop()
    assert job.wait(5)  # whatever the generator does
    assert sum(job.result().table["ios"].to_pylist()) == 10
    let_go.set()


def test_two_drives() -> None:
    with sated.open("sim:generic") as one, sated.open("sim:generic,seed=2") as other:
        result = sated.load([one, other], given(offsets(), depth=4))
    assert [t.ios for t in result.totals] == [BLOCKS, BLOCKS]


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"access": "zipf"}, "addresses= says where I/Os go, and so does access=: leave one out"),
        ({"streams": 2}, "so does streams="),
        ({"addresses": 4096}, "addresses= is int: give a numpy array"),
        ({"addresses": "0,4096"}, "addresses= is str"),
        ({"addresses": np.zeros(3)}, "addresses= is of float64"),
        ({"addresses": np.array(4096)}, "addresses= is an array of 0 dimensions: give a numpy array of one"),
        ({"addresses": np.zeros(3, [("lba", "u8")])}, "has the fields lba: there may be offset, bytes and op"),
        ({"addresses": iter([]), "repeat": True}, "repeat=True, but an iterator has its addresses once"),
        ({"addresses": None, "repeat": True}, "repeat=True repeats addresses=, and there are none"),
    ],
)
def test_refused(keys: dict[str, Any], why: str) -> None:
    with pytest.raises(ParseError, match=why):
        sated.Workload(**{"op": "read", "size": "4k", "addresses": offsets(), **keys})


def test_fields_refused() -> None:
    rows = np.zeros(5, dtype=[("offset", "u8"), ("bytes", "i8"), ("op", "U12")])
    rows["op"] = "read"
    rows["bytes"] = 4096
    with sated.open("sim:generic") as drive:
        for field, value, why in (
            ("op", "reed", 'has the operation "reed": it is one of read, write, trim, write_zeroes, flush'),
            ("bytes", -1, "address 3 of addresses=, counted from 0, has bytes -1"),
            ("bytes", 1 << 32, "address 3 of addresses=, counted from 0, has bytes 4294967296"),
            ("bytes", 8192, "address 3, counted from 0, is a read of 8192 bytes, which the workload has none of"),
        ):
            bad = rows.copy()
            bad[field][3] = value
            with pytest.raises(ParseError, match=why):
                sated.load(drive, given(bad))
        with pytest.raises(ParseError, match="the load has no end"):
            sated.load(drive, given(offsets(), repeat=True))
        assert sated.load(drive, given(rows)).totals.ios == 5


def test_it_is_no_text() -> None:
    """A run's record has the keys of a plan, in which there are no addresses."""
    workload = given(offsets(), repeat=True)
    assert workload.as_dict() == {"op": "randread", "size": "4k", "threads": 1, "depth": 1, "data": "random"}
    assert "addresses" not in repr(workload)
