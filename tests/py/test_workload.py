"""Workloads: operations, sizes, places and data, against drives and files as witnesses."""

from __future__ import annotations

import hashlib
import math
import zlib
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import sated
from sated.methods import plan as plans

BLOCK = 4096
FIVE = sated.Workload(
    read=0.3, write=0.3, trim=0.2, write_zeroes=0.15, flush=0.05, sizes={"4k": 50, "6k": 50}, access="random", depth=8
)


def per_op(result: sated.Result) -> dict[str, int]:
    return {op: sum(total.ios for total in result.totals if total.op == op) for op in FIVE.shares}


@pytest.mark.parametrize("uri", ["sim:generic", "sim:x210,scale=1/64", "sim:710,scale=1/64"])
def test_simulated_drives_serve_five_operations(uri: str) -> None:
    with sated.open(uri) as drive:
        result = sated.load(drive, FIVE, ios=20_000, seed=4)
        served = drive.sim.counters
    ios = per_op(result)
    assert sum(ios.values()) == 20_000
    assert ios == {
        "read": served.served_reads,
        "write": served.served_writes,
        "trim": served.served_trims,
        "write_zeroes": served.served_write_zeroes,
        "flush": served.served_flushes,
    }
    for op, share in FIVE.shares.items():
        assert abs(ios[op] - 20_000 * share) < 4 * math.sqrt(20_000 * share * (1 - share)), op
    zeroed = sum(total.bytes for total in result.totals if total.op == "write_zeroes")
    assert zeroed == served.zeroed_bytes > 0
    (flush,) = [total for total in result.totals if total.op == "flush"]
    assert (flush.size, flush.bytes) == (0, 0)


def test_a_flush_takes_as_long_as_the_cache_needs() -> None:
    """The x210 programs a stripe in 945 us, the 710's capacitors make a flush needless (figures of the models)."""
    means = {}
    for name in ("x210", "710"):
        with sated.open(f"sim:{name},scale=1/64") as drive:
            work = sated.Workload(write=0.5, flush=0.5, size="4k", access="random")
            result = sated.load(drive, work, ios=2_000)
            means[name] = next(total.lat_mean_ns for total in result.totals if total.op == "flush")
    # Half of the flushes follow a flush and find nothing to do.
    assert 945e3 / 2 < means["x210"] < 2 * 945e3
    assert means["710"] < 100e3


def test_write_zeroes_give_whole_units_back() -> None:
    with sated.open("sim:generic") as drive:
        sated.load(drive, sated.Workload(op="write", size="64k"), bytes=1 << 20)
        mapped = drive.sim.counters.mapped_units
        sated.load(drive, sated.Workload(op="write_zeroes", size="64k"), bytes=1 << 20)
        assert (mapped, drive.sim.counters.mapped_units) == (256, 0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
def test_a_file_is_zeroed_and_flushed(file: Path, engine: str) -> None:
    size = 4 << 20
    with sated.open(file, create=size) as drive:
        sated.load(drive, sated.Workload(op="write", size="64k"), bytes=size, engine=engine)
        assert not any(not any(page) for page in pages(file))
        try:
            sated.load(drive, sated.Workload(op="write_zeroes", size="64k", depth=4), bytes=size, engine=engine)
        except sated.SatedError as error:
            pytest.skip(f"this file system cannot: {error}")
        assert not any(file.read_bytes())
        work = sated.Workload(write=0.5, flush=0.5, size="4k", access="random", depth=4)
        ios = per_op(sated.load(drive, work, ios=200, engine=engine))
    assert ios["write"] + ios["flush"] == 200
    assert ios["flush"] > 60


def test_libaio_flushes_but_does_not_zero(file: Path) -> None:
    with sated.open(file, create=1 << 20) as drive:
        with pytest.raises(sated.UnsupportedError, match="neither trims nor write-zeroes"):
            sated.load(drive, sated.Workload(op="write_zeroes", size="4k"), ios=1, engine="libaio")
        work = sated.Workload(write=0.5, flush=0.5, size="4k", access="random", depth=4)
        assert per_op(sated.load(drive, work, ios=100, engine="libaio"))["flush"] > 20


def logged(drive: sated.Drive, work: sated.Workload, folder: Path, **options: Any) -> dict[str, Any]:
    """Every I/O of a load, as columns."""
    path = folder / "log.parquet"
    sated.load(drive, work, log=path, **options)
    table = pq.read_table(path)
    return {name: table[name].to_numpy() for name in ("offset", "size", "error")} | {
        "op": table["op"].to_numpy(zero_copy_only=False)
    }


def test_two_sizes_of_which_one_is_no_multiple_of_the_other(tmp_path: Path) -> None:
    """Half 6 KiB, half 10 KiB, where other tools give 6 KiB only, at multiples of it (axboe/fio#1836)."""
    work = sated.Workload(op="randread", sizes={"6144": 50, "10240": 50}, length="1GiB", depth=4)
    with sated.open("sim:generic,blocks=20000,pages_per_block=64") as drive:
        assert drive.identity.logical_block_bytes == 512
        log = logged(drive, work, tmp_path, ios=20_000, seed=1)
    offset, size = log["offset"], log["size"]
    assert len(size) == 20_000 and not log["error"].any()
    assert set(size.tolist()) == {6144, 10240}
    # By the binomial law: four standard deviations of 20,000 that are one of two; and since an I/O begins at a multiple
    # of 2 KiB, the greatest power of two in both sizes, one of three is at a multiple of 6 KiB, and one of five of 10.
    assert abs(int((size == 6144).sum()) - 10_000) <= 283
    assert not (offset % 2048).any() and int((offset + size).max()) <= 1 << 30
    for each in (6144, 10240):
        of = offset[size == each]
        share = 2048 / each
        aligned = int((of % each == 0).sum())
        assert abs(aligned - share * len(of)) <= 4 * math.sqrt(len(of) * share * (1 - share))


def test_zones_of_each_direction(tmp_path: Path) -> None:
    """Reads: 60 % in the first 10 %, 25 % in the next 20 %, 15 % in the rest, whose part is left empty; writes: 40 % in
    the first 5 %, 60 % in the rest (axboe/fio#1923)."""
    span = 1 << 30
    work = sated.Workload(
        read=0.5,
        size="4k",
        access="random",
        read_zones="60:10,25:20,15:",
        write_zones="40:5,60:95",
        length="1GiB",
        depth=8,
    )
    assert work.order == "zones"
    with sated.open("sim:generic,blocks=20000,pages_per_block=64") as drive:
        log = logged(drive, work, tmp_path, ios=100_000, seed=1)
    assert len(log["op"]) == 100_000 and not log["error"].any()
    assert not (log["offset"] % BLOCK).any()
    for op, zones in {
        "read": ((0.6, 0.0, 0.1), (0.25, 0.1, 0.3), (0.15, 0.3, 1.0)),
        "write": ((0.4, 0.0, 0.05), (0.6, 0.05, 1.0)),
    }.items():
        place = log["offset"][log["op"] == op] // BLOCK
        n = len(place)
        assert abs(n - 50_000) < 4 * math.sqrt(100_000 * 0.25)
        for share, low, high in zones:
            inside = (place >= round(low * span / BLOCK)) & (place < round(high * span / BLOCK))
            assert abs(int(inside.sum()) - share * n) < 4 * math.sqrt(n * share * (1 - share))


def test_zones_lie_where_they_should(file: Path) -> None:
    """The file is the witness: n writes to P blocks leave P (1 - exp(-n/P)) of them written."""
    blocks, ios = 16_384, 4_000
    work = sated.Workload(op="randwrite", size="4k", write_zones="40:5,60:95", depth=4)
    with sated.open(file, create=blocks * BLOCK) as drive:
        sated.load(drive, work, ios=ios, seed=2)
    written = [any(page) for page in pages(file)]
    edge = round(blocks * 0.05)
    for share, part in ((0.4, written[:edge]), (0.6, written[edge:])):
        expected = len(part) * (1 - math.exp(-share * ios / len(part)))
        assert abs(sum(part) - expected) < 5 * math.sqrt(expected)


def test_a_hot_spot_and_segments(file: Path) -> None:
    with sated.open(file, create=4 << 20) as drive:
        sated.load(drive, sated.Workload(op="randwrite", size="4k", zones="100:4k,0:"), ios=100)
        assert [i for i, page in enumerate(pages(file)) if any(page)] == [0]
        work = sated.Workload(op="randwrite", size="4k", active="128KiB", segments=8)
        sated.load(drive, work, ios=2_000)
    # Four blocks in each eighth of 1,024.
    assert [i for i, page in enumerate(pages(file)) if any(page)] == [128 * k + j for k in range(8) for j in range(4)]


def test_a_permutation_writes_each_block_once(file: Path) -> None:
    with sated.open(file, create=4 << 20) as drive:
        sated.load(drive, sated.Workload(op="randwrite", size="4k", access="permutation", threads=2), ios=512)
        assert 500 <= sum(any(page) for page in pages(file)) <= 512  # threads do not end together
        sated.load(drive, sated.Workload(op="write", size="4k", access="permutation"), ios=1_024)
        assert all(any(page) for page in pages(file))


def pages(path: Path) -> list[bytes]:
    data = path.read_bytes()
    return [data[i : i + BLOCK] for i in range(0, len(data), BLOCK)]


def fill(path: Path, **keys: float) -> bytes:
    size = 16 << 20
    with sated.open(path, create=size) as drive:
        sated.load(drive, sated.Workload(op="write", size="4k", depth=8, threads=2, **keys), ios=size // BLOCK, seed=5)
    return path.read_bytes()


@pytest.mark.parametrize("percent", [0, 25, 50, 90])
def test_compressibility(tmp_path: Path, percent: int) -> None:
    """zlib finds in each block what was promised; a run of zeros costs it a few bytes in each 512."""
    data = fill(tmp_path / "file", compress=percent)
    blocks = [data[i : i + 65536] for i in range(0, len(data), 65536) if any(data[i : i + 65536])]
    share = sum(len(zlib.compress(block, 6)) for block in blocks) / sum(map(len, blocks))
    assert share == pytest.approx(1 - percent / 100, abs=0.03)


@pytest.mark.parametrize("percent", [0, 30, 100])
def test_duplication(tmp_path: Path, percent: int) -> None:
    """Blocks whose contents another one has too; those it was made from may be 64 at most."""
    data = fill(tmp_path / "file", dedupe=percent)
    blocks = [data[i : i + BLOCK] for i in range(0, len(data), BLOCK) if any(data[i : i + BLOCK])]
    distinct = len({hashlib.sha256(block).digest() for block in blocks})
    expected = len(blocks) * (1 - percent / 100) + (64 if percent else 0)
    assert abs(distinct - expected) <= 4 * math.sqrt(len(blocks) * percent / 100 * (1 - percent / 100))
    if percent < 100:  # what is new does not compress; zlib sees duplicates only within 8 blocks
        assert len(zlib.compress(data[: 1 << 20], 6)) > 0.98 * (1 << 20)


def test_plans_and_ids_know_them() -> None:
    loads = [
        {"op": "randread", "access": "zipf", "theta": 1.2},
        {"op": "flush", "access": "random"},
        {"read": 0.5, "write": 0.3, "write_zeroes": 0.1, "flush": 0.1, "zones": "50:5,30:15,20:80", "compress": 50},
    ]
    steps = [{"kind": "measure", "size": "4k", "seconds": 1.0, **load} for load in loads]
    plan = plans.load({"name": "all", "step": steps})
    assert [step["id"][5:] for step in plan.steps] == ["flush-qd1", "write30-write-zeroes10-flush10-qd1", "read-qd1"]
    assert [step["workload"]["access"] for step in plan.steps] == ["random", "zones", "zipf"]
    with pytest.raises(sated.ParseError, match="theta is of access"):
        plans.load({"name": "all", "step": [{**steps[0], "access": "pareto"}]})


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"zones": "50:5,30:15"}, "sum to 20 %"),
        ({"zones": "50:5,30:15,20:90"}, "sum to 110 %"),
        ({"zones": "50:5,30:95"}, "sum to 80"),
        ({"zones": "50:,50:"}, "only one of them"),
        ({"zones": "50=5"}, "write them like 50:5,30:15,20:80"),
        ({"zones": "50:4G,50:"}, "two readings"),
        ({"zones": "50:4096,50:"}, "bytes need a unit"),
        ({"zones": "100:100", "read_zones": "100:100"}, "zones of the same direction"),
        ({"zones": "100:100", "access": "sequential"}, "contradicts"),
        ({"access": "zones"}, "needs zones"),
        ({"streams": 4}, "streams is of access"),
        ({"access": "zipf", "theta": 11}, "10 at most"),
        ({"access": "zipf", "theta": 0}, "theta = 0: it is above 0"),
        ({"access": "pareto", "h": 0}, "h = 0: it is above 0"),
        ({"access": "normal", "stddev": "0%"}, "stddev = 0: it is above 0"),
        ({"access": "pareto", "h": 0.5}, "below 0.5"),
        ({"access": "zipff"}, 'did you mean "zipf"'),
        ({"segments": 4}, "give active too"),
        ({"active": "110%"}, "not between"),
        ({"compress": 99}, "between 0 and 0.98"),
        ({"data": "zeros", "compress": 50}, "contradicts"),
        ({"read": 0.7, "flush": 0.1}, "sum to 0.8"),
        ({"sizes": {str(512 * i): 1 for i in range(1, 66)}}, "more than 64"),
    ],
)
def test_what_is_refused(keys: dict[str, object], says: str) -> None:
    with pytest.raises(sated.ParseError, match=says):
        sated.Workload(**keys)  # type: ignore[arg-type]
