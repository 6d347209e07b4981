"""More I/Os at a time than a drive's queue has places for."""

from __future__ import annotations

import drives
import pytest
import sated


@pytest.mark.parametrize("engine", ["io_uring", "libaio", "threads"])
def test_a_queue_of_sixteen(engine: str) -> None:
    """hw_queue_depth of null_blk: what has no place waits in the kernel, all of it is done, once, and it is said."""
    with sated.open("/dev/nullb2") as drive:
        before = drives.counted("nullb2")["reads"]
        result = sated.load(drive, sated.Workload(op="randread", size="4k", depth=64), ios=500, engine=engine)
        assert drives.counted("nullb2")["reads"] - before == 500
    assert (result.totals.ios, result.totals.errors, len(result.histogram())) == (500, 0, 500)
    assert "/dev/nullb2: its queues hold 16 of the 64 I/Os that are asked for at a time" in result.note
