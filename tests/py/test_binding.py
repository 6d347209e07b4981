"""The border to C: names stay what they are, imports stay light, memory stays alive, errors keep their kind."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sated
from sated._ffi import dtype, ffi, view


def fresh(code: str) -> str:
    """Runs code in a fresh interpreter and returns what it printed."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_functions_stay_functions_whatever_is_imported() -> None:
    out = fresh(
        """
import importlib, pkgutil, sated, inspect
for module in pkgutil.walk_packages(sated.__path__, "sated."):
    if module.name != "sated.__main__":
        importlib.import_module(module.name)
for _ in range(2):
    with sated.open("sim:generic") as drive:
        w = sated.Workload(op="randread", size="4k")
        assert sated.load(drive, w, ios=10).totals.ios == 10
        job = sated.start(drive, w, ios=10)
        assert job.wait()
    assert isinstance(sated.list(), list)
    for name in ("open", "list", "load", "start", "review", "query"):
        assert inspect.isfunction(getattr(sated, name)), name
    for name in ("Run", "Drive", "Workload", "Histogram"):
        assert inspect.isclass(getattr(sated, name)), name
    for name in ("sim", "steady", "profiles"):
        assert inspect.ismodule(getattr(sated, name)), name
print("ok")
"""
    )
    assert out == "ok\n"


def test_import_is_light() -> None:
    heavy = "numpy pyarrow duckdb pydantic altair typer rich"
    out = fresh(f"import sys, sated; print([m for m in {heavy.split()!r} if m in sys.modules])")
    assert out == "[]\n"


def test_percent_is_not_a_fraction() -> None:
    """HdrHistogram_c's question of 0.5 and 50: 0.5 is half a percent (nearest rank; N = 22)."""
    h = sated.Histogram()
    for value in range(40, 51):
        h.record(value, 2)
    assert [h.percentile(p) for p in (50, 90, 0.5, 100)] == [45, 49, 40, 50]
    assert (h.min, h.max, h.mean) == (40, 50, 45.0)
    with pytest.raises(sated.ParseError, match="from 0 to 100"):
        h.percentile(101)


def test_histogram_travels() -> None:
    h = sated.Histogram()
    rng = np.random.default_rng(1)
    for value in rng.integers(0, 10**9, 1000).tolist():
        h.record(value)
    low, counts = h.buckets()
    again = sated.Histogram.from_buckets(low, counts, maximum=h.max)
    assert again == h and again.max == h.max and again.percentile(99) == h.percentile(99)
    assert sated.Histogram.from_buckets([], []).count == 0
    with pytest.raises(sated.ParseError, match="another histogram"):
        sated.Histogram.from_buckets([2**20 + 1], [1])


@pytest.mark.parametrize("name", ["sated_row", "sated_environment", "sated_totals", "sated_workload", "sated_identity"])
def test_numpy_reads_structs_at_c_offsets(name: str) -> None:
    kind, struct = dtype(name), ffi.typeof(f"struct {name}")
    assert kind.itemsize == ffi.sizeof(struct)
    for field, info in struct.fields:
        assert kind.fields[field][1] == info.offset


def test_view_keeps_its_owner_alive() -> None:
    memory = ffi.new("struct sated_row[]", 3)
    memory[1].ios = 7
    owner = weakref.ref(memory)
    rows = view(memory, 3, "sated_row", memory)
    del memory
    gc.collect()
    assert rows["ios"].tolist() == [0, 7, 0] and owner() is not None
    with pytest.raises(ValueError, match="read-only"):
        rows["ios"][0] = 1
    del rows
    gc.collect()
    assert owner() is None


def test_errors_have_twins_and_exit_codes() -> None:
    with pytest.raises(FileNotFoundError) as missing:
        sated.open("/nonexistent/drive")
    assert isinstance(missing.value, sated.DriveError) and missing.value.exit_code == 2
    with pytest.raises(ValueError, match=r"sclae.*scale") as parse:
        sated.open("sim:x210,sclae=1/64")
    assert parse.value.exit_code == 2
    assert sated.errors.exit_code(KeyboardInterrupt()) == 6
    assert sated.errors.exit_code(OSError(28, "no space")) == 8
    assert sated.errors.exit_code(RuntimeError()) == 70


def test_a_token_must_be_typed(tmp_path) -> None:
    path = tmp_path / "drive"
    path.write_bytes(b"x" * (1 << 20))
    with sated.open(str(path)) as drive:
        w = sated.Workload(op="randwrite", size="4k")
        with pytest.raises(sated.UnsafeError, match="confirm"):
            sated.load(drive, w, ios=1)
        with pytest.raises(sated.UnsafeError, match="type the token"):
            sated.load(drive, w, ios=1, confirm=drive.identity.token)
        with pytest.raises(sated.UnsafeError):
            sated.load(drive, w, ios=1, confirm="/some/other")
        assert path.read_bytes() == b"x" * (1 << 20)
        assert sated.load(drive, w, ios=1, confirm=str(path.resolve())).totals.ios == 1


def test_workload_contradictions() -> None:
    for bad in (
        {"op": "randwrite", "read": 1.0},
        {"op": "randread", "access": "sequential"},
        {"read": 0.5, "write": 0.6},
        {"size": "4k", "sizes": {"4k": 100}},
        {"sizes": {"4k": 60, "8k": 30}},
        {"threads": 0},
        {"op": "scribble"},
    ):
        with pytest.raises(sated.ParseError):
            sated.Workload(**bad)
    w = sated.Workload(read="2/3", size="8k", access="random", depth=32)
    assert w.shares["read"] == 2 / 3 and w.shares["write"] == pytest.approx(1 / 3)
    # Iometer's access specifications, as the reviews print them: percent of reads, and of each size in bytes. What is
    # drawn of both is within 0.1 % of that over 1e7 draws: tests/c/test_spread.c.
    for profile, reads, sizes in (
        (
            sated.profiles.FILE_SERVER,
            80,
            {512: 10, 1024: 5, 2048: 5, 4096: 60, 8192: 2, 16384: 4, 32768: 4, 65536: 10},
        ),
        (
            sated.profiles.WEB_SERVER,
            100,
            {512: 22, 1024: 15, 2048: 8, 4096: 23, 8192: 15, 16384: 2, 32768: 6, 65536: 7, 131072: 1, 524288: 1},
        ),
    ):
        assert profile.shares["read"] == pytest.approx(reads / 100)
        assert profile.size_bytes == pytest.approx({size: percent / 100 for size, percent in sizes.items()})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: sated.Workload(data="x"), "zeros"),
        (lambda: sated.Workload(read=1.5), "two readings"),
        (lambda: sated.open("sim:x210,lba=0.5,lba=0.6"), "twice"),
        (lambda: sated.open("a\0b"), "NUL"),
        (lambda: sated.open("sim:generic,blocks=9999999999999999999999"), "blocks"),
        (lambda: sated.Histogram().record(-1), "whole numbers"),
        (lambda: sated.steady.check([1e308] * 5), "round 1"),
        (lambda: sated.steady.check([1.0] * 5, t_s=[1.0, 2, 3, 4, 5], round_every=float("nan")), "finite"),
        (lambda: sated.steady.check([1.0] * 5, bytes_written=[1.0] * 5), "capacity_bytes"),
    ],
)
def test_bad_input_gets_a_sentence(make: Callable[[], object], says: str) -> None:
    with pytest.raises(sated.ParseError, match=says) as refused:
        make()
    assert refused.value.exit_code == 2 and len(str(refused.value)) > 30


def test_shares_as_python_writes_them() -> None:
    assert sated.Workload(read=1e-5, access="random").shares["read"] == 1e-5


def test_a_path_is_a_drive(tmp_path: Path) -> None:
    (tmp_path / "d").write_bytes(bytes(1 << 20))
    with sated.open(tmp_path / "d") as drive:
        assert drive.uri == str(tmp_path / "d")
        with pytest.raises(sated.ParseError, match="seconds"):
            drive.sleep(float("nan"))
        with pytest.raises(sated.UnsafeError, match="type the token"):
            drive.permit(drive.identity.path)
        drive.permit(str(tmp_path.resolve() / "d"))
        assert sated.load(drive, sated.Workload(op="write"), ios=1).totals.ios == 1  # consent was given


def test_a_child_does_not_take_the_lock_along(tmp_path: Path) -> None:
    sated.sim.create("generic", tmp_path / "my.sim")
    code = f"""
import os, sated
drive = sated.open("sim:{tmp_path}/my.sim")
if os.fork() == 0:
    drive.close()
    os._exit(0)
os.wait()
try:
    sated.open("sim:{tmp_path}/my.sim")
except OSError as error:
    print("refused" if str(os.getpid()) in str(error) else error)
"""
    assert fresh(code) == "refused\n"


def test_a_state_file_that_cannot_be_saved_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "states"
    folder.mkdir()
    sated.sim.create("generic", folder / "my.sim")
    drive = sated.open(f"sim:{folder}/my.sim")
    sated.load(drive, sated.Workload(op="write"), ios=1)
    before = (folder / "my.sim").read_bytes()
    folder.rename(tmp_path / "moved")
    with pytest.raises(OSError, match=r"my\.sim") as failed:
        drive.close()
    assert isinstance(failed.value, sated.SatedError) and failed.value.exit_code in (7, 8)
    assert (tmp_path / "moved" / "my.sim").read_bytes() == before


def test_capacity_and_counters_round_trip() -> None:
    with sated.open("sim:x210,scale=1/64") as drive:
        native = drive.provisioning().native_bytes
        limited = drive.set_capacity(fraction=0.8)
        assert limited.accessible_bytes == int(0.8 * native) // 4096 * 4096 and "address range" not in limited.label
        sated.load(drive, sated.Workload(op="randwrite", depth=8), ios=1000)
        c = drive.sim.counters
        assert c.host_writes == 1000 and c.nand_writes == c.host_writes + c.gc_writes and c.energy_j > 0
        drive.sim.reset_counters()
        assert drive.sim.counters.served_writes == 0 and drive.sim.counters.mapped_units == c.mapped_units
        assert drive.restore_capacity().accessible_bytes == native
        for bad in (
            {"fraction": 0.0},
            {"fraction": 1.1},
            {"bytes": "1GB", "lba": 5},
            {"method": "namespace", "fraction": 0.5},
        ):
            with pytest.raises(sated.SatedError):
                drive.set_capacity(**bad)
