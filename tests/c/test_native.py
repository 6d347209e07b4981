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


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(programs: Path, name: str, tmp_path: Path) -> None:
    # The limit ends a program that eats the machine's memory, before the kernel ends something else.
    sanitizers = {"UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_OPTIONS": "hard_rss_limit_mb=6000"}
    env = {**os.environ, **sanitizers, "TMPDIR": str(tmp_path)}
    ran = subprocess.run(
        [programs / name], capture_output=True, text=True, check=False, cwd=tmp_path, env=env, timeout=300
    )
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-8000:]


def test_there_are_programs() -> None:
    assert PROGRAMS, "no test_*.c found: the runner would pass without having run anything"
