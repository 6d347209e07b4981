"""Tables of a run on disk: a live stream while a step runs, Parquet at its end, one file per table at the end of all.

The Parquet bytes depend on the rows only: the chunks in which they came are joined first, and compression, row groups
and dictionaries are fixed.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from sated import _schemas, errors
from sated._spool import Spool
from sated.results import _files

NAMES = ("intervals", "environment", "histograms")
LIVE = "live.arrows"
_FLUSH_S = 1.0
_KEYS = [pa.field("run", pa.string()), pa.field("step", pa.string())]
_PARQUET: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 3,
    "row_group_size": 1 << 20,
    "use_dictionary": True,
    "version": "2.6",
}


def schema(name: str) -> pa.Schema:
    """The stored columns of a table: run and step, then those of the load."""
    return pa.schema(_KEYS + list(_of_load(name)))


def _of_load(name: str) -> pa.Schema:
    of_load: pa.Schema = getattr(_schemas, name.upper())
    return of_load


def _keyed(table: pa.Table, run: str, step: str) -> pa.Table:
    """The table without chunks, with run and step in front."""
    table = table.combine_chunks()
    for position, value in enumerate((run, step)):
        table = table.add_column(position, _KEYS[position], pa.repeat(pa.scalar(value, pa.string()), table.num_rows))
    return table


def _write_parquet(path: Path, table: pa.Table) -> None:
    _files.write(path, lambda file: pq.write_table(table, file, **_PARQUET))


class StepWriter:
    """The sink of a step's loads: takes their batches, streams the intervals, and leaves Parquet at the end."""

    def __init__(self, directory: Path, *, run: str, step: str) -> None:
        """@param directory of this step; what an interrupted attempt left in it is thrown away. @raises OSError."""
        if directory.exists():
            shutil.rmtree(directory)
        directory.mkdir(parents=True)
        _files.sync_directory(directory.parent)
        self.directory = directory
        self._run = run
        self._step = step
        self._kept = {name: Spool(_of_load(name)) for name in NAMES}
        self._events: list[dict[str, Any]] = []
        self._waiting: list[pa.RecordBatch] = []
        self._live: IO[bytes] | None = _files.open_for_writing(directory / LIVE)
        self._stream: pa.RecordBatchStreamWriter = pa.ipc.new_stream(self._live, schema("intervals"))
        self._flushed = time.monotonic()

    def intervals(self, batch: pa.RecordBatch) -> None:
        """Rows of finished intervals; in the stream about once a second. @raises OSError."""
        self._kept["intervals"].add(batch)
        self._waiting.append(batch)
        if time.monotonic() - self._flushed >= _FLUSH_S:
            self.flush()

    def environment(self, batch: pa.RecordBatch) -> None:
        """Rows of what surrounded the intervals."""
        self._kept["environment"].add(batch)

    def histograms(self, batch: pa.RecordBatch) -> None:
        """Rows of finished histograms."""
        self._kept["histograms"].add(batch)

    def event(self, kind: str, **fields: Any) -> None:
        """Something worth a line in events.jsonl: a verdict, a note, a drive that was restored."""
        self._events.append({"event": kind, **fields})

    def flush(self) -> None:
        """Writes what waits as one batch of the stream. @raises OSError."""
        if self._live is None:
            return
        if self._waiting:
            waiting = pa.Table.from_batches(self._waiting, schema=_of_load("intervals"))
            for batch in _keyed(waiting, self._run, self._step).to_batches():
                self._stream.write_batch(batch)
            self._live.flush()
            self._waiting.clear()
        self._flushed = time.monotonic()

    def table(self, name: str) -> pa.Table:
        """What has come so far, without the columns run and step."""
        return self._kept[name].table()

    def finish(self) -> None:
        """Puts the tables in their places and removes the stream last. @raises OSError."""
        for name in NAMES:
            table = _keyed(self.table(name), self._run, self._step)
            _write_parquet(self.directory / f"{name}.parquet", table)
        lines = "".join(json.dumps(event, ensure_ascii=False, allow_nan=False) + "\n" for event in self._events)
        _files.write_bytes(self.directory / "events.jsonl", lines.encode())
        self._close()
        (self.directory / LIVE).unlink()
        _files.sync_directory(self.directory)

    def abandon(self) -> None:
        """Leaves the stream as it is, with all that came, for a step that did not end. Never raises."""
        try:
            self.flush()
        except OSError:
            # The medium is full or gone: what was flushed before stays readable.
            self._waiting.clear()
        self._close()

    def _close(self) -> None:
        # The stream gets no end mark: a reader takes whole batches until there are no more, as after a kill.
        if self._live is not None:
            live, self._live = self._live, None
            with contextlib.suppress(OSError):
                live.close()


def read_live(path: Path) -> pa.Table:
    """The whole batches of a stream; a torn last one is ignored, a file without its head gives no rows."""
    batches: list[pa.RecordBatch] = []
    wanted = schema("intervals")
    try:
        with path.open("rb") as file, pa.ipc.open_stream(file) as stream:
            while True:
                batches.append(stream.read_next_batch())
    except (StopIteration, FileNotFoundError):
        pass
    except (pa.ArrowInvalid, OSError):
        # Torn by a kill or a full disk; what came before it stands.
        pass
    return pa.Table.from_batches([batch for batch in batches if batch.schema.equals(wanted)], schema=wanted)


def read_step(directory: Path, name: str) -> pa.Table:
    """A table of one step: from Parquet, or the live stream of one that runs or was cut short.

    A step without such rows gives an empty table of the right columns.
    """
    path = directory / f"{name}.parquet"
    if path.exists():
        return read_table(path)
    if name == "intervals" and (directory / LIVE).exists():
        return read_live(directory / LIVE)
    return schema(name).empty_table()


def merge_tables(run: Path, steps: Iterable[str]) -> None:
    """Writes tables/*.parquet: the rows of all steps in their order, a row group for each. @raises OSError."""
    ids = list(steps)
    (run / "tables").mkdir(exist_ok=True)
    for name in NAMES:
        _files.write(run / "tables" / f"{name}.parquet", partial(_merge, run=run, ids=ids, name=name))
    _files.sync_directory(run)


def _merge(file: IO[bytes], *, run: Path, ids: Sequence[str], name: str) -> None:
    options = {key: value for key, value in _PARQUET.items() if key != "row_group_size"}
    with pq.ParquetWriter(file, schema(name), **options) as writer:
        for step in ids:
            if not (run / "steps" / step / f"{name}.parquet").exists():
                raise errors.ParseError(
                    f"{run}: step {step} is finished by the journal, but its {name}.parquet is missing: restore it, or "
                    f"begin a new run"
                )
            table = read_step(run / "steps" / step, name)
            if table.num_rows:
                writer.write_table(table.combine_chunks(), row_group_size=_PARQUET["row_group_size"])


def read_table(path: Path) -> pa.Table:
    """A whole Parquet file, by its own columns only."""
    # Not by dataset discovery: it would take the names of folders for columns.
    table: pa.Table = pq.ParquetFile(path).read()
    return table
