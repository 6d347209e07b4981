"""Drives: what can be asked of one and set back, and what a simulated one counts."""

from __future__ import annotations

import dataclasses
import json
import statistics
import tempfile
from pathlib import Path

import pytest
import sated

URI = "sim:generic,blocks=256,pages_per_block=32,seed=5"


def test_a_limit_is_lifted_again() -> None:
    with sated.open(URI) as drive:
        whole = drive.provisioning()
        assert whole.label == "all LBAs" and whole.lba_removed == 0
        drive.purge()
        limited = drive.set_capacity(fraction=0.75)
        assert (
            drive.identity.capacity_bytes
            == limited.accessible_bytes
            == pytest.approx(0.75 * whole.native_bytes, abs=4096)
        )
        assert limited.purged_beyond and "over-provisioning" not in limited.label
        assert drive.restore_capacity() == whole
        assert drive.identity.capacity_bytes == whole.native_bytes


def test_members_of_a_set_are_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Named as sysfs names them, with their states; "!" stands there for "/". They are closed with the set."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for name in ("a", "b"):
            (Path(folder) / name).write_bytes(bytes(1 << 20))
        told = [f"shm!{Path(folder).name}!{name} {state}" for name, state in (("a", "in_sync"), ("b", "faulty"))]
        with sated.open(URI) as drive:
            single = drive.identity
            assert drive.members == []
        drive = sated.open(URI)
        monkeypatch.setattr(sated.Drive, "identity", dataclasses.replace(single, members=tuple(told)))
        members = drive.members
        assert [member.uri for member in members] == [f"{folder}/a", f"{folder}/b"]
        assert drive.members == members and members[1].now_s() > 0
        drive.close()
        with pytest.raises(sated.StateError, match="is closed"):
            members[1].now_s()
        (Path(folder) / "b").unlink()
        with sated.open(URI) as drive, pytest.raises(FileNotFoundError, match="/b"):
            _ = drive.members


def test_what_nobody_tells_is_none(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"sated_replay": 1, "protocol": "nvme", "exchanges": []}))
    with sated.open(f"replay:{path}") as drive:
        told = drive.identity
        assert repr(drive) == f"<Drive replay:{path}: unknown, –>"
    for name in ("vendor", "model", "serial", "firmware", "capacity_bytes", "native_capacity_bytes", "note", "hba"):
        assert getattr(told, name) is None, name
    assert told.logical_block_bytes is told.physical_block_bytes is None
    assert "" not in dataclasses.asdict(told).values()


def test_what_can_purge_is_told_with_the_reason_where_it_cannot(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * (1 << 20))
    for uri, able in ((URI, "simulated"), (str(tmp_path / "file"), "deallocate")):
        with sated.open(uri) as drive:
            found = {each.method: each for each in drive.purge_methods()}
            assert [name for name, each in found.items() if each.supported] == [able, "external"]
            assert all((each.why_not is None) == each.supported and each.level for each in found.values())


def test_what_a_simulated_drive_counts() -> None:
    """Every mapping unit that the host writes is programmed, and what garbage collection moves comes on top of it."""
    with sated.open(URI) as drive:
        unit = drive.sim.counters.unit_bytes
        load = sated.Workload(op="randwrite", size=unit, depth=8)
        sated.load(drive, load, bytes=3 * drive.identity.capacity_bytes)
        counted = drive.sim.counters
        assert counted.host_writes == counted.host_write_units == counted.written_bytes // unit > 0
        assert counted.gc_writes == counted.gc_write_units > 0
        assert counted.nand_writes == counted.nand_write_units
        # What is still in the buffer has been written by the host, and not been programmed yet.
        assert 0 <= counted.host_writes + counted.gc_writes - counted.nand_writes < 0.02 * counted.host_writes
        assert counted.write_amplification == counted.nand_writes / counted.host_writes > 1.2
        drive.sim.reset_counters()
        after = drive.sim.counters
        assert (after.served_writes, after.written_bytes, after.energy_j) == (0, 0, 0.0)
        assert after.mapped_units == counted.mapped_units > 0 and after.free_blocks == counted.free_blocks
        sated.load(drive, load, ios=100)
        assert drive.sim.counters.served_writes == 100


def test_deviation_of_a_histogram_is_that_of_the_population() -> None:
    values = [2, 4, 4, 4, 5, 5, 7, 9]  # a mean of 5 and a deviation of 2, as in any textbook
    histogram = sated.Histogram()
    for value in values:
        histogram.record(value)
    assert (histogram.mean, histogram.stddev) == (5.0, 2.0)
    histogram.record(10**9)
    assert histogram.stddev == pytest.approx(statistics.pstdev([*values, 10**9]), rel=1e-12)
    empty = sated.Histogram().stddev
    assert empty != empty
