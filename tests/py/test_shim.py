"""`sated sim exec`: what unmodified programs see of a simulated drive. Clients of the protocols are in tests/tools."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import sated
from sated.errors import ParseError, UnsupportedError

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


def test_a_forked_child_takes_over(drive: Path) -> None:
    text = """
import os
fd = os.open("/dev/sim0", os.O_RDWR)
closed, tell = os.pipe()
child = os.fork()
if not child:
    os.read(closed, 1)
    assert len(os.read(fd, 512)) == 512
    os.close(fd)
    own = os.open("/dev/sim0", os.O_RDWR)
    assert os.pwrite(own, b"c" * 4096, 8192) == 4096
    os._exit(0)
assert os.pwrite(fd, b"p" * 4096, 0) == 4096
os.close(fd)
os.write(tell, b"x")
assert os.waitpid(child, 0)[1] == 0
fd = os.open("/dev/sim0", os.O_RDONLY)
print(os.pread(fd, 1, 0), os.pread(fd, 1, 8192))
"""
    assert python(drive, text) == "b'p' b'c'\n"


def test_what_a_child_before_exec_closes_stays_open(drive: Path) -> None:
    text = """
import os, subprocess
os.dup2(os.open("/dev/sim0", os.O_RDONLY), 0)
subprocess.run(["true"], stdin=subprocess.DEVNULL, check=True)
print(len(os.pread(0, 512, 0)))
"""
    assert python(drive, text) == "512\n"


def test_wrong_arguments(drive: Path) -> None:
    text = """
import errno, fcntl, os, struct
BLKDISCARD = 0x1277
fd = os.open("/dev/sim0", os.O_RDWR)
size = os.lseek(fd, 0, os.SEEK_END)
for call in (
    lambda: os.lseek(fd, 0, -1),
    lambda: os.lseek(fd, 2**63 - 1, os.SEEK_END),
    lambda: fcntl.ioctl(fd, BLKDISCARD, struct.pack("QQ", 100, 4096)),
    lambda: fcntl.ioctl(fd, BLKDISCARD, struct.pack("QQ", size, 4096)),
):
    try:
        call()
        print("taken")
    except OSError as error:
        print(errno.errorcode[error.errno])
assert os.pwrite(fd, b"x" * 8192, 0) == 8192
fcntl.ioctl(fd, BLKDISCARD, struct.pack("QQ", 0, 4096))
print(os.pread(fd, 1, 0), os.pread(fd, 1, 4096))
"""
    assert python(drive, text).split("\n")[:5] == [*["EINVAL"] * 4, r"b'\x00' b'x'"]


def test_a_command_that_cannot_be_kept_fails(drive: Path) -> None:
    text = """
import ctypes, fcntl, os, resource, struct
SG_IO = 0x2285
fd = os.open("/dev/sgsim0", os.O_RDWR)
flush = ctypes.create_string_buffer(bytes([0x35]) + bytes(9), 10)
header = struct.pack("@iiBBHIPPPIIiPBBBBHHiII", ord("S"), -1, 10, 0, 0, 0, 0, ctypes.addressof(flush), *[0] * 14)
fcntl.ioctl(fd, SG_IO, header)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    fcntl.ioctl(fd, SG_IO, header)
except OSError as error:
    print("told")
"""
    done = run(drive, sys.executable, "-c", text)
    assert done.stdout == "told\n", done.stderr
    assert "sated: " in done.stderr


@pytest.mark.parametrize("folder", ["a b", "a:b"])
def test_where_the_loader_cannot_find_it(drive: Path, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.setattr(sated.sim, "_shim", lambda: f"/opt/{folder}/shim.so")
    with pytest.raises(UnsupportedError, match="install sated elsewhere"):
        sated.sim.environment(drive)


def test_a_number_used_again_is_another_file(drive: Path, tmp_path: Path) -> None:
    """Something that is not interposed closes a node's descriptor, and the next open() gets its number."""
    text = f"""
import ctypes, os
fd = os.open("/dev/sim0", os.O_RDWR)
ctypes.CDLL(None).close_range(fd, fd, 0)
plain = os.open({str(tmp_path / "plain")!r}, os.O_RDWR | os.O_CREAT)
assert plain == fd
os.write(plain, b"hello")
print(os.pread(os.open("/dev/sim0", os.O_RDONLY), 5, 0))
"""
    assert python(drive, text) == "b'\\x00\\x00\\x00\\x00\\x00'\n"
    assert (tmp_path / "plain").read_bytes() == b"hello"


def test_what_is_not_carried_fails(drive: Path) -> None:
    """A descriptor that a program inherits, and calls that the shim does not know, fail: nothing is lost in silence."""
    assert (
        run(drive, "sh", "-c", "echo hello > /dev/sim0").returncode != 0
        or python(drive, "print(open('/dev/sim0', 'rb').read(5))") == "b'hello'\n"
    )
    done = run(drive, "sh", "-c", "cat /etc/hostname > /dev/sim0")
    assert done.returncode != 0 and "Bad file descriptor" in done.stderr


def test_a_forked_child_and_its_parent_share_the_drive(drive: Path) -> None:
    text = """
import os
fd = os.open("/dev/sim0", os.O_RDWR)
os.pwrite(fd, b"parent" * 1024, 0)
if not (child := os.fork()):
    assert os.pread(fd, 6, 0) == b"parent"
    os.pwrite(fd, b"child!" * 1024, 8192)
    os.fsync(fd)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert os.system("test -b /dev/sim0 && dd if=/dev/sim0 of=/dev/null bs=4k count=1 2>/dev/null") == 0
print(os.pread(fd, 6, 8192), os.pread(fd, 6, 0))
"""
    assert python(drive, text) == "b'child!' b'parent'\n"


def test_bad_addresses_are_refused(drive: Path) -> None:
    """As by the kernel: EFAULT (14)."""
    text = """
import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
fd = os.open("/dev/sim0", os.O_RDWR)
for request, argument in ((0x2285, None), (0x80081272, None), (0x80081272, ctypes.c_void_p(8))):
    print(c.ioctl(fd, ctypes.c_ulong(request), argument), ctypes.get_errno())
"""
    assert python(drive, text).splitlines() == ["-1 14"] * 3


def test_streams_and_folders(drive: Path) -> None:
    text = """
import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
c.fopen.restype = ctypes.c_void_p
c.fread.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p]
fd = os.open("/dev/sim0", os.O_RDWR)
os.pwrite(fd, b"stream" * 1024, 0)
data = ctypes.create_string_buffer(6)
print(c.fread(data, 1, 6, c.fopen(b"/dev/sim0", b"r")), data.raw)
try:
    os.open("/dev/sim0", os.O_RDONLY | os.O_DIRECTORY)
except NotADirectoryError:
    print("no folder")
print(os.preadv(fd, [bytearray(4), two := bytearray(4)], 2), bytes(two), os.pwritev(fd, [b"ab", b"cd"], 512))
print(os.pread(fd, 4, 512))
"""
    assert python(drive, text).splitlines() == ["6 b'stream'", "no folder", "8 b'stre' 4", "b'abcd'"]
