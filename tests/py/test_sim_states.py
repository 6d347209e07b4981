"""What a simulated drive can be made to hold at once, and what its spare space is called."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sated

BARE = "sim:generic,blocks=512,op=28%,timing=off,seed=4"


def amplification(drive: sated.Drive, ios: int) -> float:
    drive.sim.reset_counters()
    sated.load(drive, sated.Workload(op="randwrite", size="4k"), ios=ios)
    found = drive.sim.counters.write_amplification
    assert found is not None
    return found


def test_fill() -> None:
    with sated.open(BARE) as drive:
        units = drive.identity.capacity_bytes // 4096
        for filling, share in (("random", 0.25), ("sequential", 0.5), ("sequential", 1.0), ("fresh", 1.0)):
            drive.sim.fill(filling, share=share)
            counters = drive.sim.counters
            assert counters.mapped_units == (0 if filling == "fresh" else int(share * units))
            assert counters.nand_writes == counters.served_writes == 0
        drive.sim.fill("sequential")
        assert amplification(drive, units // 10) == 1
        drive.sim.fill("steady")
        # Greedy at alpha = 1.28 with blocks of 128 pages: 2.4412 (docs/explanation/write-amplification.md).
        assert amplification(drive, units // 2) == pytest.approx(2.4412, rel=0.01)


def test_fill_is_refused() -> None:
    with sated.open(BARE) as drive:
        with pytest.raises(sated.ParseError, match="use one of fresh, sequential, random, steady"):
            drive.sim.fill("full")
        with pytest.raises(sated.ParseError, match="a share from 0 to 1"):
            drive.sim.fill("random", share=2)


def test_fill_of_a_new_state_file(tmp_path: Path) -> None:
    uri = sated.sim.create("generic", tmp_path / "my.sim", blocks=512, timing="off", fill="sequential:75%")
    with sated.open(uri) as drive:
        units = drive.identity.capacity_bytes // 4096
        assert drive.sim.counters.mapped_units == int(0.75 * units)
    with pytest.raises(sated.ParseError, match="not fill"):
        sated.open(f"{uri},fill=steady")


def sized(name: str, raw_mib: int, user_mib: int, op: str) -> str:
    """The bare model with a capacity as printed on it instead of a number of blocks; returns its name."""
    text = re.sub(r"(?m)^(blocks|op|pages_per_block) = .*\n", "", sated.sim.model_text("generic"))
    said = 'origin = "inferred", note = "of the report"'
    text = text.replace("[geometry]\n", f"[geometry]\npages_per_block = {{ value = 1024, {said} }}\nop = {op}\n")
    table = f'names = {{ value = ["{user_mib}MiB"], {said} }}\nbytes = {{ value = [{user_mib << 20}], {said} }}\n'
    text += f"\n[capacity]\n{table}raw_bytes = {{ value = [{raw_mib << 20}], {said} }}\n"
    sated.sim.add_model(name, text)
    return name


@pytest.mark.parametrize(
    ("blocks", "raw_mib", "of_user", "of_raw"), [(141, 36096, 10.16, 9.22), (160, 40960, 25.0, 20.0)]
)
def test_two_meanings_of_over_provisioning(blocks: int, raw_mib: int, of_user: float, of_raw: float) -> None:
    """512-byte sectors, 8 a page, 1024 pages a block, on 64 units, and 32 768 MiB for the user: MoatLab/FEMU#189 and
    #191 call the one "25 %", and CMU-SAFARI/MQSim#49 asks which of the two it is. Computed: (T-U)/U and (T-U)/T."""
    assert 512 * 8 * 1024 * blocks * 64 == raw_mib << 20
    value = '{ value = 0.09, origin = "inferred", note = "less than the raw capacity leaves, for the reserve" }'
    name = sized(f"femu-{blocks}", raw_mib, 32768, value)
    with sated.open(f"sim:{name},timing=off") as drive:
        found = drive.provisioning()
    assert found.raw_bytes == raw_mib << 20 and found.accessible_bytes == 32768 << 20
    assert round(100 * (found.op_of_user or 0), 2) == of_user
    assert round(100 * (found.op_of_raw or 0), 2) == of_raw


def test_no_spare_space_at_all_is_refused() -> None:
    """U = T: random writes cannot be sustained, and a simulator without a free block dies of it (MoatLab/FEMU#138)."""
    with pytest.raises(sated.ParseError, match="T - U = 0 pages are spare"):
        sated.open("sim:generic,op=0,timing=off")
    # Next to none is slow, and ends all the same.
    with sated.open("sim:generic,blocks=1024,op=0.21%,timing=off,fill=steady") as drive:
        assert amplification(drive, 300) > 20
