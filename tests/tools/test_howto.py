"""The page on practising does what it shows: each command is run, and each line that it shows comes, in that order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tools

PAGE = Path(__file__).resolve().parents[2] / "docs/howto/practise-on-a-simulated-drive.md"


def test_practise_on_a_simulated_drive(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin:/sbin"
    missing = [tool for tool in ("hdparm", "nvme", "smartctl") if shutil.which(tool, path=path) is None]
    if missing:
        pytest.skip(f"{missing} not installed: make test-tools installs them")
    environment = {**os.environ, "PATH": path, "LC_ALL": "C"}
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    steps = [step for block in blocks for step in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)]
    assert len(steps) > 20
    for command, shown in steps:
        done = subprocess.run(
            command.split(), cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        told = done.stdout + done.stderr
        at = 0
        for line in shown.splitlines():
            found = told.find(line, at)
            assert found >= 0, f"{command}\nshows {line!r}, and not:\n{told}"
            at = found + len(line)
        assert shown or done.returncode == 0, f"{command}\n{told}"
