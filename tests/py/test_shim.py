"""`sated sim exec`: what unmodified programs see of a simulated drive. Clients of the protocols are in tests/tools."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import sated
from sated.errors import ParseError

MODEL = "x210,scale=1/64"


@pytest.fixture
def drive(tmp_path: Path) -> Path:
    path = tmp_path / "my.sim"
    sated.sim.create(MODEL, path)
    return path


def run(drive: Path, *line: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **sated.sim.environment(drive)}
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)


def python(drive: Path, text: str) -> str:
    done = run(drive, sys.executable, "-c", text)
    assert done.returncode == 0, done.stderr
    return done.stdout


def now(drive: Path) -> float:
    with sated.open(f"sim:{drive}") as opened:
        return opened.now_s()


def test_exit_codes(drive: Path) -> None:
    assert sated.sim.execute(["true"], drive=drive) == 0
    assert sated.sim.execute(["sh", "-c", "exit 7"], drive=drive) == 7
    assert sated.sim.execute(["sh", "-c", "kill -9 $$"], drive=drive) == 128 + signal.SIGKILL


@pytest.mark.parametrize(
    ("line", "uri", "part"),
    [
        (["true"], "nothing-here.sim", "sated sim create"),
        (["true"], "sim:x210", "state=FILE"),
        (["no-such-program"], None, "no such program"),
        ([], None, "behind --"),
    ],
)
def test_refusals(drive: Path, line: list[str], uri: str | None, part: str) -> None:
    with pytest.raises(ParseError, match=part):
        sated.sim.execute(line, drive=uri or drive)


def test_nodes(drive: Path) -> None:
    text = """
import os, stat
for name in ("/dev/sim0", "/dev/sgsim0"):
    told = os.stat(name)
    fd = os.open(name, os.O_RDONLY)
    assert os.fstat(fd).st_rdev == told.st_rdev == os.lstat(name).st_rdev
    os.close(fd)
    print(name, "block" if stat.S_ISBLK(told.st_mode) else "character" if stat.S_ISCHR(told.st_mode) else "?")
for name in ("/dev/nvmesim0", "/dev/nvmesim0n1", "/dev/sim1"):
    assert not os.path.exists(name), name
assert os.access("/dev/sim0", os.R_OK | os.W_OK) and os.path.realpath("/dev/sim0") == "/dev/sim0"
"""
    assert python(drive, text).splitlines() == ["/dev/sim0 block", "/dev/sgsim0 character"]


def test_sleep_is_the_drives(drive: Path) -> None:
    before = now(drive)
    assert run(drive, "sleep", "3600").returncode == 0  # the time-out above is of our own clock
    assert python(drive, "import time; time.sleep(1800)") == ""
    assert now(drive) == pytest.approx(before + 5400, abs=1)


def test_without_the_variable_nothing_happens(drive: Path) -> None:
    environment = {**os.environ, **sated.sim.environment(drive)}
    del environment["SATED_SIM_EXEC"]
    line = [sys.executable, "-c", "import os; print(os.path.exists('/dev/sim0'))"]
    assert subprocess.check_output(line, env=environment, text=True) == "False\n"
