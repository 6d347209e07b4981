"""The log of every I/O of a load, as a Parquet file that grows while the load runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sated.errors import ParseError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_GROUP = 1 << 15  # rows that are written at once, 1.5 MiB of C's


class LogWriter:
    """Writes beside the file, which takes its name when it is whole. The load's thread is its only user."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises ParseError where it has nowhere to go, OSError where the folder takes no file."""
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise ParseError(f"log={self.path}: there is no folder {self.path.parent}; make it first")
        self._part = self.path.with_name(self.path.name + ".part")
        self._file = self._part.open("wb")
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0

    def add(self, rows: Any) -> None:
        """`struct sated_io`, n of them. Raises OSError."""
        from sated import _tables

        self._waiting.append(_tables.log(rows))
        self._rows += len(rows)
        if self._rows >= _GROUP:
            self._write()

    def _write(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        from sated import _schemas

        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, _schemas.LOG, compression="zstd", compression_level=1)
        table = pa.Table.from_batches(self._waiting, _schemas.LOG).combine_chunks()
        self._waiting, self._rows = [], 0
        self._writer.write_table(table)
        del table
        pa.default_memory_pool().release_unused()  # which it would keep, and grow by

    def finish(self) -> None:
        """Puts the file in its place. Raises OSError."""
        try:
            if self._rows or self._writer is None:
                self._write()
            assert self._writer is not None
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._part.replace(self.path)
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Leaves nothing behind."""
        self._file.close()
        self._part.unlink(missing_ok=True)
