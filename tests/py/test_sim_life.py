"""The life of a simulated drive's flash: what it endures, and what becomes of it when a die fails."""

from __future__ import annotations

import pytest
import sated


def test_endurance_against_the_drive() -> None:
    """Written over and over, a drive wears as the closed form says, whatever its spare space is."""
    for op in (0.1, 0.28, 0.6):
        with sated.open(f"sim:generic,blocks=512,op={op},timing=off,gc=fifo,endurance=100,fill=steady") as drive:
            before = drive.sim.counters
            sated.load(drive, sated.Workload(op="randwrite", size="4k"), ios=drive.identity.capacity_bytes // 4096 * 4)
            after = drive.sim.counters
            blocks = 515  # those of T, the open one, the victim and one to spare
            worn = (after.wear_sum - before.wear_sum) / blocks
            days = 4 / sated.endurance.drive_writes_per_day(op, erases=100, years=1, gc="fifo")
            assert worn / 100 == pytest.approx(days / 365, rel=0.03)


def test_endurance_figures() -> None:
    # Twice the spare space: more blocks, and each write wears less of them.
    small, large = (sated.endurance.drive_writes_per_day(op) for op in (0.14, 0.28))
    assert large / small > 1.6
    assert sated.endurance.write_amplification(0.28, gc="random") == pytest.approx(1.28 / 0.28)
    assert sated.endurance.drive_writes_per_day(0.5, erases=1000, years=1, amplification=2) == pytest.approx(750 / 365)
    for wrong in (0, -1, float("nan")):
        with pytest.raises(sated.ParseError, match="share above 0"):
            sated.endurance.write_amplification(wrong)
    with pytest.raises(sated.ParseError, match="one of fifo, greedy, random"):
        sated.endurance.write_amplification(0.1, gc="windowed")
    with pytest.raises(sated.ParseError, match="at least what is written"):
        sated.endurance.drive_writes_per_day(0.1, amplification=0.5)


def test_die() -> None:
    with sated.open("sim:generic,parity=on,blocks=512") as drive:
        sated.load(drive, sated.Workload(op="write", size="128k", depth=8), ios=drive.identity.capacity_bytes >> 17)
        mapped = drive.sim.counters.mapped_units
        drive.sim.fail_die(3)
        counters = drive.sim.counters
        # 16 dies hold the data, a sixteenth each: less by what the parities of a block's last row leave.
        assert counters.failed_dies == 1
        assert counters.degraded_units == pytest.approx(mapped / 16, rel=0.1)
        drive.sleep(60)
        counters = drive.sim.counters
        assert (counters.degraded_units, counters.lost_units, counters.mapped_units) == (0, 0, mapped)
        with pytest.raises(sated.StateError, match="failed already"):
            drive.sim.fail_die(3)
        for wrong in (-1, 16, 1 << 40):
            with pytest.raises(sated.ParseError):
                drive.sim.fail_die(wrong)


def test_media_error_in_a_load() -> None:
    with sated.open("sim:generic,blocks=512,fill=sequential") as drive:
        drive.sim.fail_die(0)
        lost = drive.sim.counters.lost_units
        units = drive.identity.capacity_bytes // 4096
        assert lost == pytest.approx(units / 16, rel=0.01)
        result = sated.load(drive, sated.Workload(op="read", size="4k"), ios=units - lost, on_error="continue")
        assert result.totals.errors == lost == drive.sim.counters.uncorrectable_commands


def test_quick_cache_of_a_client_drive() -> None:
    """A sustained write is fast, then slow, and after idle time fast again."""
    with sated.open("sim:generic-client-nvme,scale=1/256") as drive:
        pages = drive.identity.capacity_bytes // 4096

        written = 0.0

        def rate(share: float) -> float:
            nonlocal written
            offset = int(pages * written) // 32 * 131072
            written += share
            workload = sated.Workload(op="write", size="128k", depth=32, offset=offset)
            return sated.load(drive, workload, ios=int(pages * share) // 32).totals.iops * 131072 / 1e6

        # x = 1.2 % + (1.055 - x) / 4 of the capacity fits, a bit to a cell.
        fits = (0.012 + 1.055 / 4) / 1.25
        fast = rate(fits * 0.95)
        assert drive.sim.counters.folded_units == 0
        rate(fits * 0.1)
        assert drive.sim.counters.folded_units > 0
        slow = rate(0.2)
        # 16 dies program 24 pages in 3 x 0.2 ms, and to fold as many takes 2 ms more; 0.01 ms is the slice of an erase.
        stripe_mb = 16 * 24 * 4096 / 1e6
        assert fast == pytest.approx(stripe_mb / 0.61e-3, rel=0.05)
        # A page more in the drive is a quarter less in the cache: 1.25 are folded for each.
        assert slow == pytest.approx(stripe_mb / (0.61e-3 + 1.25 * 2e-3), rel=0.05)
        drive.sleep(3600)
        counters = drive.sim.counters
        assert counters.slc_held_units == 0
        assert counters.nand_writes == counters.host_writes + counters.gc_writes + counters.folded_units
        assert rate(0.02) == pytest.approx(fast, rel=0.1)
