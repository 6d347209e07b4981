"""What waits for the end of a load comes back as it was, and is not all in memory."""

from __future__ import annotations

import errno
import resource
from typing import Any

import pyarrow as pa
import pytest
import sated
from sated import _spool
from sated._spool import Spool

SCHEMA = pa.schema([("n", pa.int64()), ("many", pa.list_(pa.int64()))])


def batch(n: int, many: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"n": n, "many": [n] * many}, {"n": None, "many": []}], schema=SCHEMA)


def test_all_comes_back_at_any_time() -> None:
    spool = Spool(SCHEMA)
    assert spool.table().equals(SCHEMA.empty_table())
    given = []
    for n in range(300):
        given.append(batch(n, 5000 if n % 3 else 1))
        spool.add(given[-1])
        if n % 50 == 7:
            assert spool.table().equals(pa.Table.from_batches(given))
    before = pa.total_allocated_bytes()
    table = spool.table()
    assert pa.total_allocated_bytes() - before < 100_000  # 8 MB of it are mapped
    del spool
    assert table.equals(pa.Table.from_batches(given))


def test_a_large_one_waits_elsewhere() -> None:
    spool, before = Spool(SCHEMA), pa.total_allocated_bytes()
    for n in range(1000):
        spool.add(batch(n, 5000))  # 40 KB
    assert pa.total_allocated_bytes() - before < 4 << 20
    assert spool.table().num_rows == 2000


def test_a_file_that_takes_no_more() -> None:
    """The kernel ends a write in the midst of a batch: what came before it is there, and so is what comes then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    spool, told = Spool(SCHEMA), 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, hard))
    try:
        for n in range(200):  # 8 MB
            try:
                spool.add(batch(n, 5000))
            except sated.SatedError as error:
                told += 1
                assert isinstance(error, OSError) and error.errno == errno.EFBIG
                assert "the tables of a load cannot be put there" in str(error) and "set TMPDIR" in str(error)
        table = spool.table()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert told == 1
    assert table.equals(pa.Table.from_batches([batch(n, 5000) for n in range(200)]))


def test_no_room_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(_spool.tempfile, "TemporaryFile", full)
    spool = Spool(SCHEMA)
    with pytest.raises(OSError, match="no room"):
        for n in range(100):
            spool.add(batch(n, 5000))
    assert spool.table().num_rows >= 2
