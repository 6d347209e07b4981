"""Record batches that wait for the end of a load: few in memory, the rest in an unnamed file."""

from __future__ import annotations

import os
import tempfile
from typing import IO

import pyarrow as pa

from sated.errors import file_error

_JOINED = 64  # batches of some rows each take more memory for what describes them than for the rows
_BYTES = 1 << 20  # of one table: a row of histograms has thousands of buckets


class Spool:
    """Takes batches of one schema in order and gives them back as a table, as often as wanted."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._batches: list[pa.RecordBatch] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None
        self._away = 0  # bytes of whole batches in the file
        self._full = False
        self._stream: pa.RecordBatchStreamWriter | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        """Raises FileOSError, once, where the file takes no more: what is there and what still comes is kept."""
        self._batches.append(batch)
        self._bytes += batch.nbytes
        if self._bytes >= _BYTES and not self._full:
            self._put_away()
        elif len(self._batches) >= _JOINED:
            self._batches = self._joined()

    def _joined(self) -> list[pa.RecordBatch]:
        batches: list[pa.RecordBatch] = pa.Table.from_batches(self._batches, self._schema).combine_chunks().to_batches()
        return batches

    def _put_away(self) -> None:
        try:
            if self._file is None or self._stream is None:
                self._file = tempfile.TemporaryFile(prefix="sated-")  # noqa: SIM115, it lives as long as this
                self._stream = pa.ipc.new_stream(self._file, self._schema)
            for batch in self._joined():
                self._stream.write_batch(batch)
                del batch
            self._file.flush()
            self._away = self._file.tell()
        except OSError as error:
            self._full = True
            if self._file is not None:
                os.truncate(self._file.fileno(), self._away)  # a torn batch would spoil those before it
            raise file_error(
                error,
                f"{tempfile.gettempdir()}: the tables of a load cannot be put there: {error.strerror or error}; what "
                f"has come so far is kept: make room, or set TMPDIR to a folder with more",
            ) from error
        self._batches, self._bytes = [], 0
        pa.default_memory_pool().release_unused()  # which it would keep, and grow by

    def table(self) -> pa.Table:
        """All that came so far; what is in the file is mapped, not read."""
        away: list[pa.RecordBatch] = []
        if self._file is not None and self._away:
            with pa.ipc.open_stream(pa.memory_map(f"/proc/self/fd/{self._file.fileno()}")) as stream:
                away = list(stream)
        return pa.Table.from_batches([*away, *self._batches], self._schema)
