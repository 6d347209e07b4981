"""Block devices of this machine's kernel, for tests that may have one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def loop_device(backing: Path, *options: str) -> Iterator[str]:
    """A loop device over a file, where root and losetup have one to give; elsewhere the test is skipped."""
    if os.geteuid() or not shutil.which("losetup"):
        pytest.skip("needs root and losetup for a loop device")
    command = ["losetup", "-f", "--show", *options, str(backing)]
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    if made.returncode:
        pytest.skip(f"no loop device can be made here: {made.stderr.strip()}")
    name = made.stdout.strip()
    yield name
    subprocess.run(["losetup", "-d", name], check=True, timeout=20)
