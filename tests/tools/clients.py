"""Unmodified hdparm, smartctl, sg3_utils and nvme-cli as clients of simulated drives.

Each test looks at the drive before and after: through the tool, through `sated`, and through the simulator's counters.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import sated

BLOCK = 512


@dataclass(frozen=True)
class Told:
    """What a program said."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        return self.out + self.err


@dataclass(frozen=True)
class Client:
    """A simulated drive in a state file, as one tool after the other has it."""

    path: Path

    def run(self, line: str, *, code: int | None = 0, data: bytes = b"") -> Told:
        """Runs a tool, and checks its exit code where one is given."""
        words = line.split()
        if shutil.which(words[0], path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
            pytest.skip(f"{words[0]} is not installed: make test-tools installs it")
        environment = {
            **os.environ,
            "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
            "LC_ALL": "C",
            **sated.sim.environment(self.path),
        }
        done = subprocess.run(words, env=environment, input=data, capture_output=True, timeout=60, check=False)
        told = Told(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
        assert code is None or told.code == code, f"{line}: exit code {told.code}\n{told.all}"
        return told

    def write(self, offset: int, data: bytes, *, node: str = "/dev/sim0", flush: bool = True, code: int = 0) -> None:
        """dd of data to the drive, in one piece; with FLUSH CACHE behind it unless told otherwise."""
        end = " conv=fsync" if flush else ""
        line = f"dd of={node} oflag=seek_bytes seek={offset} bs={len(data)} count=1 iflag=fullblock{end}"
        self.run(line, data=data, code=code)

    def read(self, offset: int, n: int, *, node: str = "/dev/sim0") -> bytes:
        """What dd reads; ends early at the end of the drive. Raises AssertionError where it cannot."""
        with TemporaryDirectory() as folder:
            into = Path(folder) / "out"
            self.run(f"dd if={node} of={into} iflag=skip_bytes skip={offset} bs={n} count=1")
            return into.read_bytes()

    def unreadable(self) -> bool:
        """Whether dd is refused to read its first block, and also to write there."""
        reads = self.run("dd if=/dev/sim0 of=/dev/null bs=4096 count=1", code=None)
        writes = self.run("dd of=/dev/sim0 bs=4096 count=1 iflag=fullblock", data=bytes(4096), code=None)
        assert reads.code == writes.code, "one of reading and writing is refused"
        return reads.code == 1 and all("Input/output error" in told.err for told in (reads, writes))

    def killed(self, line: str, data: bytes) -> None:
        """Kills a dd that has written `data` and waits for more: a cut of power."""
        environment = {**os.environ, "LC_ALL": "C", **sated.sim.environment(self.path)}
        with subprocess.Popen(line.split(), env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as dd:
            assert dd.stdin is not None and dd.stderr is not None
            dd.stdin.write(data)
            dd.stdin.flush()
            # dd tells on SIGUSR1 how much it has written, so that nobody has to guess for how long.
            done, told = len(data), ""
            while f"{done} bytes" not in told:
                time.sleep(0.05)
                dd.send_signal(signal.SIGUSR1)
                told = "".join(dd.stderr.readline().decode() for _ in range(3))
            dd.kill()
        assert dd.returncode == -signal.SIGKILL

    @contextmanager
    def drive(self) -> Iterator[sated.Drive]:
        with sated.open(f"sim:{self.path}") as drive:
            yield drive

    def power_cycle(self) -> None:
        with self.drive() as drive:
            assert drive.sim is not None
            drive.sim.power_cycle()

    def sleep(self, seconds: float) -> None:
        with self.drive() as drive:
            drive.sleep(seconds)

    def mapped(self) -> int:
        """Mapping units that hold data."""
        with self.drive() as drive:
            assert drive.sim is not None
            return drive.sim.counters.mapped_units

    def fail(self, kind: str, **what: object) -> None:
        with self.drive() as drive:
            assert drive.sim is not None
            drive.sim.fail(kind, **what)  # type: ignore[arg-type]

    def heal(self) -> None:
        with self.drive() as drive:
            assert drive.sim is not None
            drive.sim.heal()


def make(folder: Path, model: str) -> Client:
    path = folder / "drive.sim"
    sated.sim.create(model, path)
    return Client(path)


def copy(made: Client, folder: Path) -> Client:
    """The same drive as new: making one takes longer than copying its file."""
    path = folder / "drive.sim"
    shutil.copy(made.path, path)
    return Client(path)
