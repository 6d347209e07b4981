"""What a reference tool issues: capture.c between it and the kernel, no device needed."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

PATTERN = bytes(range(256)) * 16
"""What {file} holds: 4096 bytes for the tool to send."""


@dataclasses.dataclass(frozen=True)
class Call:
    """One command that a tool issued; `direction` 0 none, 1 in, 2 out; `data` is what it sent."""

    kind: str
    command: bytes
    direction: int
    length: int
    timeout_ms: int
    data: bytes


Issued = Callable[[str, str], list[Call]]
"""(the words of the command line, the node that is caught) to all that the tool issued. In the words, {} is the node,
{file} a file that holds `PATTERN`, {out} one to write to."""


def parse(line: str) -> Call:
    kind, command, direction, length, timeout, data = line.split(" ")
    return Call(kind, bytes.fromhex(command), int(direction), int(length), int(timeout), bytes.fromhex(data))


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    source = Path(__file__).resolve().with_name("capture.c")
    out = tmp_path_factory.mktemp("shim") / "capture.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-O1", source, "-o", out], check=True)
    return out


@pytest.fixture
def issued(shim: Path, tmp_path: Path) -> Issued:
    def run(words: str, node: str) -> list[Call]:
        line = words.format(node, file=tmp_path / "file", out=tmp_path / "out").split()
        if shutil.which(line[0]) is None:
            pytest.skip(f"{line[0]} is not installed")
        (tmp_path / "file").write_bytes(PATTERN)
        log = tmp_path / "log"
        env = {**os.environ, "LD_PRELOAD": str(shim), "SATED_CAPTURE": str(log), "SATED_CAPTURE_NODE": node}
        ran = subprocess.run(line, env=env, capture_output=True, stdin=subprocess.DEVNULL, check=False, timeout=60)
        assert log.exists(), f"{line} issued nothing: {ran.stdout!r} {ran.stderr!r}"
        return [parse(one) for one in log.read_text().splitlines()]

    return run
