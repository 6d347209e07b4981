"""The border to C: names stay what they are, imports stay light, memory stays alive, errors keep their kind."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

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
    assert sated.profiles.FILE_SERVER.size_bytes[4096] == pytest.approx(0.6)
    assert sum(sated.profiles.WEB_SERVER.size_bytes.values()) == pytest.approx(1)
