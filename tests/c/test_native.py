"""Runs every C test program, so that one runner counts them all."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PROGRAMS = sorted(path.stem for path in HERE.glob("test_*.c"))


@pytest.fixture(scope="session")
def programs(request: pytest.FixtureRequest) -> Path:
    out = HERE.parents[1] / "build" / "csrc"
    flags: list[str] = []
    if request.config.getoption("--sanitize"):
        out = out.with_name("sanitize")
        sanitizers = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
        flags = [f"CFLAGS={sanitizers}", f"LDFLAGS={sanitizers}"]
    command = ["make", "-s", "-j2", "-C", str(HERE), f"OUT={out}", *flags]
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert made.returncode == 0, made.stdout + made.stderr
    return out / "tests"


def run(program: Path, *arguments: str, where: Path, timeout: float) -> None:
    # The limit ends a program that eats the machine's memory, before the kernel ends something else.
    sanitizers = {"UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_OPTIONS": "hard_rss_limit_mb=6000"}
    env = {**os.environ, **sanitizers, "TMPDIR": str(where)}
    ran = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, cwd=where, env=env, timeout=timeout
    )
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-8000:]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(programs: Path, name: str, tmp_path: Path) -> None:
    run(programs / name, where=tmp_path, timeout=300)


@pytest.mark.long
@pytest.mark.parametrize("name", ["test_decode_scsi", "test_decode_ata", "test_decode_nvme"])
def test_a_million_answers(programs: Path, name: str, tmp_path: Path) -> None:
    """Random, truncated and altered answers; the default run takes 20 000 of each."""
    run(programs / name, "1000000", where=tmp_path, timeout=7200)


@pytest.mark.long
def test_ten_million_draws(programs: Path, tmp_path: Path) -> None:
    """With ten seeds, where the default run draws a million with three, and has to find a bias of 1 % instead of 3."""
    run(programs / "test_spread", "10000000", where=tmp_path, timeout=3600)


@pytest.mark.long
def test_write_amplification_table(programs: Path, tmp_path: Path) -> None:
    """All of docs/explanation/write-amplification.md: within the limits, and what stands there to the last digit."""
    command = [programs / "test_sim_wa", "table"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=3600)
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-8000:]
    table = ran.stdout[: ran.stdout.rindex("|") + 1]
    assert table.strip() in (HERE.parents[1] / "docs/explanation/write-amplification.md").read_text()


def test_there_are_programs() -> None:
    assert PROGRAMS, "no test_*.c found: the runner would pass without having run anything"
