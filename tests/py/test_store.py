"""Run directories on disk: torn streams, full disks, bytes that depend on the rows only, locks and journals."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sated import _schemas, errors
from sated.results import _files, journal, store


def rows(name: str, count: int, seed: int = 1) -> pa.Table:
    """Rows of a load's table, the same for the same seed; every seventh latency is unknown."""
    random = np.random.default_rng(seed)
    columns: list[Any] = []
    for field in getattr(_schemas, name.upper()):
        if field.type == pa.string():
            value = {"phase": "measured", "op": "write", "kind": "service"}.get(field.name)
            columns.append(pa.array([value] * count, pa.string()))
        elif pa.types.is_list(field.type):
            columns.append(
                pa.array([random.integers(0, 1 << 40, size % 5).tolist() for size in range(count)], field.type)
            )
        elif field.name == "t_s":
            columns.append(pa.array(np.arange(1, count + 1, dtype=np.float64)))
        elif pa.types.is_floating(field.type):
            columns.append(pa.array(random.random(count), mask=np.arange(count) % 7 == 0))
        else:
            columns.append(pa.array(random.integers(0, 1000, count), field.type))
    return pa.Table.from_arrays(columns, schema=getattr(_schemas, name.upper()))


def filled(directory: Path, chunks: Callable[[int], int], count: int = 500) -> store.StepWriter:
    """A writer that was given `count` rows of each table, in chunks of so many rows each."""
    writer = store.StepWriter(directory, run="r", step="0001-fill")
    for name in store.NAMES:
        table = rows(name, count)
        at = number = 0
        while at < count:
            size = max(1, chunks(number))
            for batch in table.slice(at, size).combine_chunks().to_batches():
                getattr(writer, name)(batch)
            at, number = at + size, number + 1
    return writer


def test_bytes_depend_on_the_rows_only(tmp_path: Path) -> None:
    filled(tmp_path / "a", lambda number: 7).finish()
    filled(tmp_path / "b", lambda number: 1 + 37 * number).finish()
    for name in store.NAMES:
        one, other = ((tmp_path / folder / f"{name}.parquet").read_bytes() for folder in "ab")
        assert one == other
        stored = store.read_step(tmp_path / "a", name)
        assert stored.column_names[:2] == ["run", "step"]
        assert stored.drop_columns(["run", "step"]).equals(rows(name, 500))
        assert set(stored["step"].to_pylist()) == {"0001-fill"}
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == sorted(
        [*(f"{name}.parquet" for name in store.NAMES), "events.jsonl"]
    )


def test_other_rows_give_other_bytes(tmp_path: Path) -> None:
    filled(tmp_path / "a", lambda number: 50, 100).finish()
    filled(tmp_path / "b", lambda number: 50, 101).finish()
    assert (tmp_path / "a/intervals.parquet").read_bytes() != (tmp_path / "b/intervals.parquet").read_bytes()


def test_torn_stream_gives_its_whole_batches(tmp_path: Path) -> None:
    directory = tmp_path / "step"
    writer = store.StepWriter(directory, run="r", step="s")
    table = rows("intervals", 60)
    sizes = []
    for at in range(0, 60, 20):
        writer.intervals(table.slice(at, 20).combine_chunks().to_batches()[0])
        writer.flush()
        sizes.append((directory / store.LIVE).stat().st_size)
    whole = (directory / store.LIVE).read_bytes()
    assert store.read_step(directory, "intervals").num_rows == 60
    torn = tmp_path / "torn.arrows"
    seen = set()
    for length in [*range(0, len(whole), 61), *sizes, *(size - 1 for size in sizes)]:
        torn.write_bytes(whole[:length])
        found = store.read_live(torn)
        expected = 20 * sum(size <= length for size in sizes)
        assert found.num_rows == expected
        assert found.drop_columns(["run", "step"]).equals(table.slice(0, expected))
        seen.add(expected)
    assert seen == {0, 20, 40, 60}
    writer.abandon()


def test_stream_that_was_not_flushed_is_kept_when_abandoned(tmp_path: Path) -> None:
    writer = filled(tmp_path / "step", lambda number: 11, 33)
    writer.abandon()
    assert store.read_step(tmp_path / "step", "intervals").num_rows == 33


class Full(io.FileIO):
    """A file on a medium that has room for so many bytes."""

    room = 0

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        if size > Full.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.name)
        Full.room -= size
        return super().write(data) or 0


def test_full_disk_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path / "whole", lambda number: 100).finish()
    sizes = [(tmp_path / "whole" / f"{name}.parquet").stat().st_size for name in store.NAMES]
    for room in (0, 100, sizes[0] + 10, sum(sizes) - 10):
        directory = tmp_path / f"room-{room}"
        writer = filled(directory, lambda number: 100)
        Full.room = room
        monkeypatch.setattr(_files, "open_for_writing", lambda path: Full(path, "wb"))
        with pytest.raises(OSError, match="No space left") as caught:
            writer.finish()
        monkeypatch.undo()
        told = _files.explain(caught.value, Path("runs/x"))
        assert errors.exit_code(told) == 8
        assert "sated resume runs/x" in str(told)
        assert "\n" not in str(told)
        writer.abandon()
        # What is there is whole, and the stream still has every row.
        for path in directory.glob("*.parquet"):
            assert pq.ParquetFile(path).read().num_rows == 500
        assert not list(directory.glob("*.new"))
        assert store.read_live(directory / store.LIVE).num_rows == 500


@pytest.mark.parametrize(("number", "code"), [(errno.EACCES, 7), (errno.EROFS, 7), (errno.EDQUOT, 8), (errno.EIO, 8)])
def test_exit_codes_of_our_own_files(number: int, code: int) -> None:
    """The table of errno and exit codes for results, journal and state."""
    told = _files.explain(OSError(number, os.strerror(number), "runs/x/run.json"), Path("runs/x"))
    assert errors.exit_code(told) == code
    assert isinstance(told, OSError)
    assert told.errno == number


def test_merged_tables_are_the_steps_in_their_order(tmp_path: Path) -> None:
    for step, count in (("0002-b", 30), ("0001-a", 20)):
        writer = store.StepWriter(tmp_path / "steps" / step, run="r", step=step)
        writer.intervals(rows("intervals", count).to_batches()[0])
        writer.finish()
    store.merge_tables(tmp_path, ["0001-a", "0002-b"])
    merged = store.read_table(tmp_path / "tables/intervals.parquet")
    assert merged["step"].to_pylist() == ["0001-a"] * 20 + ["0002-b"] * 30
    assert merged.schema.equals(store.schema("intervals"))
    (tmp_path / "steps/0002-b/intervals.parquet").unlink()
    with pytest.raises(errors.ParseError, match=r"0002-b .* missing"):
        store.merge_tables(tmp_path, ["0001-a", "0002-b"])


def test_second_holder_is_refused_with_the_pid(tmp_path: Path) -> None:
    with _files.Lock(tmp_path):
        with pytest.raises(OSError, match=f"pid {os.getpid()}") as caught:
            _files.Lock(tmp_path)
        assert errors.exit_code(caught.value) == 7
    with _files.Lock(tmp_path):
        pass


def test_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("999999999\n")
    with _files.Lock(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_journal_leaves_out_and_cuts_off_a_torn_line(tmp_path: Path) -> None:
    written = journal.Journal(tmp_path)
    written.append("started", step="a")
    written.append("finished", step="a", result={"x": 1.5}, state="abc")
    written.close()
    whole = written.path.read_bytes()
    for torn in range(1, 40):
        written.path.write_bytes(whole[:-torn])
        assert [entry["event"] for entry in journal.read(written.path)] == ["started"]
    again = journal.Journal(tmp_path)
    again.append("failed", step="a")
    again.close()
    assert [entry["event"] for entry in journal.read(written.path)] == ["started", "failed"]
    assert journal.last_state(journal.read(written.path)) is None


def test_journal_is_whole_after_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = journal.Journal(tmp_path)
    written.append("started", step="a")
    real = os.write

    def half(fd: int, data: bytes) -> int:
        if len(data) > 10:
            return real(fd, data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError, match="No space"):
        written.append("finished", step="aaaaaaaaaaaaaaaaaaaaaaaa")
    monkeypatch.undo()
    written.append("failed", step="a")
    written.close()
    assert [entry["event"] for entry in journal.read(written.path)] == ["started", "failed"]


def test_damaged_and_newer_journals_are_refused(tmp_path: Path) -> None:
    path = tmp_path / journal.NAME
    for damaged in ("nonsense", "null", "[]", "{}", '{"event": 1}'):
        path.write_text(f'{{"event": "begun"}}\n{damaged}\n{{"event": "complete"}}\n')
        with pytest.raises(errors.ParseError, match=r"journal\.jsonl:2"):
            journal.read(path)
    path.write_text('{"event": "begun", "schema": 99}\n')
    with pytest.raises(errors.ParseError, match=r"schema 99 is newer than 1"):
        journal.read(path)
