"""4K random reads at depth 32 against fio's io_uring engine with equal options, on the same file with direct I/O."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
from pathlib import Path

import pytest
import sated

pytestmark = pytest.mark.tools
PAIRS, SECONDS = 9, 3


def fio(path: Path) -> float:
    """fio's IOPS."""
    command = [
        "fio", "--name=j", f"--filename={path}", "--direct=1", "--ioengine=io_uring", "--fixedbufs=1",
        "--registerfiles=1", "--thread=1", "--bs=4k", "--rw=randread", "--norandommap=1", "--randrepeat=0",
        "--invalidate=0", "--iodepth=32", "--iodepth_batch_submit=8", "--iodepth_batch_complete_min=1",
        "--iodepth_batch_complete_max=32", "--time_based", f"--runtime={SECONDS}s", "--output-format=json",
    ]  # fmt: skip
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(json.loads(out[out.index("{") :])["jobs"][0]["read"]["iops"])


def test_iops_at_depth_32(tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed: apt-get install fio")
    path = Path(os.environ.get("SATED_BENCH_DIR", tmp_path_factory.mktemp("fio"))) / "drive"
    with sated.open(str(path), create="1GiB") as drive:
        if drive.identity.note:
            pytest.skip(f"direct I/O is needed: {drive.identity.note}")
        fill = sated.Workload(op="write", size="1m", depth=4)
        sated.load(drive, fill, bytes="1GiB")
        workload = sated.Workload(op="randread", size="4k", depth=32)
        ratios = []
        for pair in range(PAIRS):
            ours = theirs = 0.0
            for turn in (0, 1) if pair % 2 else (1, 0):
                if turn:
                    result = sated.load(drive, workload, seconds=SECONDS, engine="io_uring", seed=pair)
                    assert result.totals.engine == "io_uring"
                    ours = result.totals.iops
                else:
                    theirs = fio(path)
            ratios.append(ours / theirs)
    path.unlink()
    ratios.sort()
    # Order statistics 2 and 8 of nine hold the median with 96.1 % (binomial).
    median, low, high = statistics.median(ratios), ratios[1], ratios[7]
    with capsys.disabled():
        print(f"\nsated/fio, 4K random read, depth 32: median {median:.3f}, 96 % interval {low:.3f} to {high:.3f}")
    assert high >= 0.97, "sated is slower than fio"
