"""What a scaled drive shares with the whole one: rates, write amplification and latencies."""

from __future__ import annotations

import pytest
import sated


def _steady(scale: str, lba: str) -> tuple[float, float, float]:
    """IOPS, write amplification and the 99th percentile of 4K random writes, of two million of them."""
    write = sated.Workload(op="randwrite", size="4k", threads=16, depth=16)
    with sated.open(sated.sim.uri("x210", scale=scale, lba=lba)) as drive:
        assert drive.sim is not None
        capacity = drive.identity.capacity_bytes or 0
        fill = sated.Workload(op="write", size="128k", depth=32)
        sated.load(drive, fill, bytes=capacity, interval=600.0)
        sated.load(drive, write, bytes=3 * capacity // 2, interval=600.0)
        drive.sim.reset_counters()
        # Addresses of their own: the same ones again would go to blocks that they once filled together.
        result = sated.load(drive, write, ios=2_000_000, interval=600.0, seed=1)
        amplification = drive.sim.counters.write_amplification
        p99 = result.histogram("write").percentile(99.0)
        assert amplification is not None and p99 is not None
        return result.totals.iops, amplification, p99


@pytest.mark.long
@pytest.mark.parametrize("lba", ["100%", "80%"])
def test_a_scaled_drive_is_like_the_whole_one(lba: str) -> None:
    """1/64 of the blocks of every die, and rates, amplification and tail as with all of them: 3 %, 3 % and 5 %."""
    scaled, whole = _steady("1/64", lba), _steady("1", lba)
    print(f"lba {lba}: 1/64 {scaled}, 1 {whole}")
    assert scaled[0] == pytest.approx(whole[0], rel=0.03)
    assert scaled[1] == pytest.approx(whole[1], rel=0.03)
    assert scaled[2] == pytest.approx(whole[2], rel=0.05)
