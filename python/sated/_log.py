"""The log of every I/O of a load, as a Parquet file that grows while the load runs."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sated.errors import ParseError, SatedError, file_error

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_GROUP = 1 << 15  # rows that are written at once, 1.5 MiB of C's


def _may_replace(path: Path) -> bool:
    """Not a drive or whatever else stands there: a log replaces Parquet alone, or a file without contents."""
    if not path.exists():
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) in (b"", b"PAR1")


class LogWriter:
    """Writes beside the file, which takes its name when it is whole. The load's thread is its only user."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises ParseError where it has nowhere to go, OSError where the folder takes no file."""
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise ParseError(f"log={self.path}: there is no folder {self.path.parent}; make it first")
        if not _may_replace(self.path):
            raise ParseError(
                f"log={self.path}: is there, and no log that could be replaced; give the name of a new file"
            )
        self._part = self.path.with_name(self.path.name + ".part")
        self._file = self._part.open("wb")
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0

    def add(self, rows: Any) -> None:
        """`struct sated_io`, n of them. Raises FileOSError, and leaves nothing behind then."""
        from sated import _tables

        self._waiting.append(_tables.log(rows))
        self._rows += len(rows)
        if self._rows >= _GROUP:
            try:
                self._write()
            except BaseException as error:
                self.discard()
                raise self._said(error) from None

    def _said(self, error: BaseException) -> BaseException:
        if isinstance(error, SatedError) or not isinstance(error, OSError):
            return error
        why = os.strerror(error.errno) if error.errno else str(error)
        return file_error(
            error, f"log={self.path}: {why}: it is not kept, what else was measured is; let it have more room elsewhere"
        )

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
        """Puts the file in its place. Raises FileOSError, and leaves nothing behind then."""
        try:
            if self._rows or self._writer is None:
                self._write()
            assert self._writer is not None
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._part.replace(self.path)
        except BaseException as error:
            self.discard()
            raise self._said(error) from None

    def discard(self) -> None:
        """Leaves nothing behind."""
        with suppress(OSError):  # what is still to be written is not wanted
            self._file.close()
        self._part.unlink(missing_ok=True)
