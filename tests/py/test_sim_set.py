"""RAID sets of simulated drives as a user has them: members, bytes, a lost member, a purge, and loads."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import sated

SET = "sim:raid5,members=3,chunk=64k,cache_size=64m,of=(generic,blocks=64,pages_per_block=64,op=28%)"


def test_set_keeps_bytes_without_a_member_and_in_a_file(tmp_path: Path) -> None:
    draw = random.Random(5)
    uri = f"{SET},state={tmp_path / 'set.sim'}"
    data = draw.randbytes(1 << 20)
    with sated.open(uri) as drive:
        assert drive.identity.model.startswith("raid5 set of 3 ")
        drive.sim.write(4096 * 3 + 512, data)
        drive.sim.fail_member(1)
        assert drive.sim.read(4096 * 3 + 512, len(data)) == data
        serials = [member.serial for member in drive.sim.members]
        assert len(set(serials)) == 3
        with pytest.raises(sated.StateError, match="member 0 cannot fail"):
            drive.sim.fail_member(0)
    with sated.open(f"sim:{tmp_path / 'set.sim'}") as drive:
        assert [member.state for member in drive.sim.members] == ["online", "failed", "online"]
        data = data[:512] + draw.randbytes(8192) + data[8704:]
        drive.sim.write(4096 * 3 + 1024, data[512:8704])
        drive.sim.replace_member(1, bytes_per_s=10_000_000)
        assert drive.sim.members[1].serial not in serials
        drive.sleep(60)
        assert [member.state for member in drive.sim.members] == ["online"] * 3
        drive.sim.fail_member(0)
        assert drive.sim.read(4096 * 3 + 512, len(data)) == data


def test_set_is_purged_and_limited_member_by_member() -> None:
    with sated.open(SET) as drive:
        assert "all 3 members" in drive.guard().scope
        sated.load(drive, sated.Workload(op="write", size="64k", depth=8), seconds=0.5)
        counters = drive.sim.counters
        members = [member.counters for member in drive.sim.members]
        assert counters.nand_write_units == sum(c.nand_write_units for c in members) > 0
        assert counters.energy_nj == sum(c.energy_nj for c in members)
        assert counters.written_bytes == counters.served_writes * 65536 > 0  # of its own host
        before = drive.sim.members[2].capacity_bytes
        drive.set_capacity(fraction=0.5)
        assert all(member.capacity_bytes == pytest.approx(before / 2, rel=0.01) for member in drive.sim.members)
        drive.purge()
        assert all(member.counters.mapped_units == 0 for member in drive.sim.members)


def test_set_serves_all_that_a_load_generates_at_a_rate() -> None:
    with sated.open(SET) as drive:
        result = sated.load(drive, sated.Workload(op="randwrite", size="4k", depth=16, rate=500), seconds=2)
        assert drive.sim.counters.served_writes == result.totals.ios == 1000
        assert result.histogram("write").percentile(99) < 100_000  # far below what it can do: in the cache at once


def test_drive_that_is_no_set_has_bytes_and_no_members() -> None:
    with sated.open("sim:generic") as drive:
        assert drive.sim.members == []
        drive.sim.write(512, b"x" * 1024)
        assert drive.sim.read(0, 2048) == bytes(512) + b"x" * 1024 + bytes(512)
        with pytest.raises(sated.UnsupportedError, match="it is one drive"):
            drive.sim.fail_member(0)
        with pytest.raises(OSError, match="refused"):
            drive.sim.read(100, 512)


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("sim:raid5,members=2,of=710", "it has 3 to 32"),
        ("sim:raid1,members=2,of=710,chunk=100k", "no power of two"),
        ("sim:raid10,members=5,of=710", "odd number"),
        ("sim:raid0,members=2,of=(raid1,members=2,of=710)", "is a set itself"),
        ("sim:raid0,members=2,of=(710,lab=80%)", "lba"),
    ],
)
def test_bad_set_is_refused_in_one_sentence(uri: str, reason: str) -> None:
    with pytest.raises(sated.ParseError, match=reason) as refused:
        sated.open(uri)
    assert str(refused.value).count("\n") == 0
