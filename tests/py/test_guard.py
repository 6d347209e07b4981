"""Guard and consent as scripts and the command line meet them: recorded machines, loop devices, tokens."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sated
from devices import loop_device
from sated._drive import DriveSerial

TREES = Path(__file__).parents[1] / "corpus" / "trees"
MIB = 1 << 20
PLAN = """name = "short"
settle = false

[[step]]
kind = "measure"
op = "randwrite"
size = "4k"
seconds = 2.0
"""


@pytest.fixture(autouse=True)
def own_journals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SATED_STATE_DIR", str(tmp_path / "state"))


def build(tree: str, root: Path) -> None:
    """A recorded machine as a folder: the lines that test_trees.c describes."""
    for line in (TREES / f"{tree}.tree").read_text().splitlines():
        found = re.match(r"(/\S.*?)( = | -> | : |/$)(.*)", line)
        if not found or " ? " in line:
            continue
        name, kind, value = found.groups()
        path = root / name[1:]
        if kind == "/":
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == " -> ":
            path.symlink_to(value)
        elif kind == " : ":
            path.write_bytes(bytes.fromhex(value))
        else:
            path.write_text(value.replace("|", "\n"))


def replayed(folder: Path, node: str) -> str:
    """A drive of the machine in `folder`, without a single answer: whatever is sent to it fails."""
    file = folder / f"{node}.json"
    file.write_text(
        json.dumps({"sated_replay": 1, "protocol": "nvme", "node": node, "root": "machine", "exchanges": []})
    )
    return f"replay:{file}"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The recorded subsystem of two controllers and three namespaces, with the root file system on nvme0n1."""
    build("nvme-paths", tmp_path / "machine")
    number = (tmp_path / "machine/sys/class/block/nvme0n1/dev").read_text().strip()
    proc = tmp_path / "machine/proc/self"
    proc.mkdir(parents=True, exist_ok=True)
    (proc / "mountinfo").write_text(f"22 1 {number} / / rw,relatime shared:1 - ext4 /dev/nvme0n1 rw\n")
    return tmp_path


def test_root_is_on_another_namespace(machine: Path) -> None:
    """A sanitize of nvme0n2 would take the root file system on nvme0n1 with it: refused, nothing sent."""
    with sated.open(replayed(machine, "nvme0n2")) as drive:
        blocks, whole = drive.guard(), drive.guard(whole=True)
        assert blocks.safe, blocks.reasons
        assert not whole.safe
        assert any("nvme0n1 is mounted on / (ext4)" in reason for reason in whole.reasons)
        assert "/dev/nvme0n1" in whole.scope and "/dev/nvme0n3" in whole.scope
        assert whole.paths == ("nvme0 live", "nvme1 live")  # two ports, as the recording shows
        drive.permit()
        with pytest.raises(sated.UnsafeError, match="nvme0n1 is mounted on /"):
            drive.nvme_admin(0x84, cdw10=2, data_in=0)  # Sanitize, block erase
        with pytest.raises(sated.StateError):  # what reaches its own blocks is sent, and has no answer here
            drive.nvme_io(0x08, nsid=1, data_in=0)
    with sated.open(replayed(machine, "nvme2n1")) as other:  # a drive of its own
        assert other.guard(whole=True).safe
        other.permit()
        with pytest.raises(sated.StateError):
            other.nvme_admin(0x84, cdw10=2, data_in=0)


def test_the_drive_of_the_root(machine: Path) -> None:
    with sated.open(replayed(machine, "nvme0n1")) as drive:
        assert not drive.guard().safe
        with pytest.raises(sated.UnsafeError, match="nvme0n1 is mounted on /"):
            drive.permit()
        with pytest.raises(sated.UnsafeError):
            drive.nvme_io(0x08, nsid=1, data_in=0)


def test_nothing_is_mounted(machine: Path) -> None:
    """The same machine without the mount: what is refused above is the mount's doing."""
    (machine / "machine/proc/self/mountinfo").write_text("22 1 0:20 / / rw - tmpfs none rw\n")
    with sated.open(replayed(machine, "nvme0n2")) as drive:
        assert drive.guard(whole=True).safe
        drive.permit()
        with pytest.raises(sated.StateError):
            drive.nvme_admin(0x84, cdw10=2, data_in=0)


@pytest.mark.parametrize(
    ("tree", "node", "says"),
    [
        ("md-set", "sda", "sda is part of md127"),
        ("md-set", "nvme0n1", "nvme0n1p1 is part of md127"),
        ("mapped", "sda", "sda is part of dm-0"),
        ("mapped", "nvme0n1", "nvme0n1 is part of dm-1"),
        ("virtio", "vda", "vda is swap space"),
    ],
)
def test_recorded_machines(tmp_path: Path, tree: str, node: str, says: str) -> None:
    """Machines that a guest was: what lsblk, mdadm and lvm of that guest had put together."""
    build(tree, tmp_path / "machine")
    with sated.open(replayed(tmp_path, node)) as drive:
        guard = drive.guard()
        assert not guard.safe and not guard.wipeable
        assert any(says in reason for reason in guard.reasons)
        with pytest.raises(sated.UnsafeError, match=re.escape(says)):
            drive.permit()


# ---- loop devices -----------------------------------------------------------------------------------------------


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    file = tmp_path / "backing"
    with file.open("wb") as f:
        f.truncate(16 * MIB)
    with loop_device(file) as name:
        yield name


def cli(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "sated", *args], capture_output=True, text=True, timeout=120)


def test_load_writes_to_a_block_device(loop: str, tmp_path: Path) -> None:
    write = sated.Workload(op="randwrite")
    with sated.open(loop) as drive:
        token = str(drive.identity.token)
        with pytest.raises(sated.UnsafeError, match="type its token"):
            sated.load(drive, write, ios=16)
        with pytest.raises(sated.UnsafeError, match="do not read it from the drive"):
            sated.load(drive, write, ios=16, confirm=drive.identity.token)
        with pytest.raises(sated.UnsafeError, match="do not read it from the drive"):
            sated.load([drive], write, ios=16, confirm=[DriveSerial(token)])
        assert not any((tmp_path / "backing").read_bytes())
        assert sated.load(drive, sated.Workload(op="randread"), ios=16).totals.ios == 16
        assert sated.load(drive, write, ios=16, confirm=token).totals.ios == 16
        assert sated.load(drive, write, ios=16).totals.ios == 16  # consent holds while it is open
    assert any((tmp_path / "backing").read_bytes())


def test_command_line(loop: str, tmp_path: Path) -> None:
    run = ("load", loop, "--op", "randwrite", "--ios", "16")
    assert cli(*run).returncode == 3
    assert cli(*run, "--confirm", "yes").returncode == 3
    told = json.loads(cli("info", loop, "--json").stdout)
    assert told["guard"]["safe"] and not told["guard"]["wipeable"]
    token = told["identity"]["token"]
    assert cli(*run, "--confirm", token).returncode == 0
    subprocess.run(["mkfs.ext4", "-q", "-F", loop], check=True, timeout=60)
    refused = cli(*run, "--confirm", token)
    assert refused.returncode == 3 and "signatures (ext4)" in refused.stderr
    assert json.loads(cli("info", loop, "--json").stdout)["guard"]["wipeable"]


def test_purge_clears_old_signatures(loop: str, tmp_path: Path) -> None:
    """The magic of mkswap at 4086 (linux/swap.h): gone where the purge can be done, and kept otherwise."""
    backing = tmp_path / "backing"
    with backing.open("r+b") as f:
        f.seek(1024)
        f.write((1).to_bytes(4, "little") + (4095).to_bytes(4, "little"))
        f.seek(4086)
        f.write(b"SWAPSPACE2")
    with sated.open(loop) as drive:
        token = str(drive.identity.token)
    told = cli("purge", loop, "--external", "ToolBox", "--confirm", token)
    assert told.returncode == 3 and "--wipe-signatures of sated purge" in told.stderr
    told = cli("purge", loop, "--wipe-signatures", "--confirm", token)
    assert told.returncode == 7, told.stderr  # a loop device has no command that erases it
    assert cli("purge", loop, "--external", "ToolBox", "--wipe-signatures").returncode == 3
    assert backing.read_bytes()[4086:4096] == b"SWAPSPACE2"
    told = cli("purge", loop, "--external", "ToolBox", "--wipe-signatures", "--confirm", token)
    assert told.returncode == 0, told.stderr
    assert not any(backing.read_bytes())


def test_plan_on_a_block_device(loop: str, tmp_path: Path) -> None:
    """A plan writes with one token for all of it; `wipe_signatures` clears what an older use left."""
    subprocess.run(["mkfs.ext4", "-q", "-F", loop], check=True, timeout=60)
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    with sated.open(loop) as drive:
        token = str(drive.identity.token)
    with pytest.raises(sated.UnsafeError, match="signatures"):
        sated.review(loop, plan=plan, out=tmp_path / "run", confirm=token)
    assert not (tmp_path / "run").exists()
    with pytest.raises(sated.UnsafeError, match="the token"):
        sated.review(loop, plan=plan, out=tmp_path / "run", confirm="other", wipe_signatures=True)
    run = sated.review(loop, plan=plan, out=tmp_path / "run", confirm=token, wipe_signatures=True)
    assert len(run.steps) == 1


# ---- tokens of several drives, and a plan that is edited ---------------------------------------------------------


def files(folder: Path) -> tuple[str, str]:
    for name in ("target", "bystander"):
        (folder / name).write_bytes(b"\xb7" * MIB)
    return str(folder / "target"), str(folder / "bystander")


def is_untouched(path: str) -> bool:
    return Path(path).read_bytes() == b"\xb7" * MIB


def test_tokens_of_several_drives(tmp_path: Path) -> None:
    target, bystander = files(tmp_path)
    write = sated.Workload(op="randwrite")
    for confirm in (None, target, [target], [target, target], [bystander, target], [target, None], [target, ""]):
        refused = pytest.raises((sated.UnsafeError, sated.ParseError))
        with sated.open(target) as one, sated.open(bystander) as two, refused:
            sated.load([one, two], write, ios=16, confirm=confirm)  # type: ignore[arg-type]
    assert is_untouched(bystander)
    with sated.open(target) as one, sated.open(bystander) as two:
        sated.load([one, two], write, ios=16, confirm=[target, bystander])
    assert not is_untouched(bystander)


def test_tokens_that_are_no_text(tmp_path: Path) -> None:
    """What begins with the token, is it as bytes or in a list, or cannot be encoded: no token, and a sentence each."""
    target, _ = files(tmp_path)
    with sated.open(target) as drive:
        for confirm in (f"{target}\0", f"{target}\0x", target.encode(), [target], True, f"{target}\ud800"):
            with pytest.raises(sated.UnsafeError):
                drive.permit(confirm)  # type: ignore[arg-type]
    assert is_untouched(target)
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.img")  # a name that is no UTF-8 is confirmed as it is opened
    Path(odd).write_bytes(b"\xb7" * MIB)
    with sated.open(odd) as drive:
        drive.permit(odd)


def test_run_edited_under_way(tmp_path: Path) -> None:
    """An unfinished run whose manifest was made to name another drive does not reach that one by the first's token,
    and no manifest, plan or environment consents by itself."""
    target, bystander = files(tmp_path)
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)

    def stop(progress: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sated.review(target, plan=plan, out=tmp_path / "run", confirm=target, progress=stop)
    manifest = tmp_path / "run" / "run.json"
    written = json.loads(manifest.read_text())
    for confirm in (None, target):
        for edited in (
            {**written, "uri": bystander},
            {**written, "uri": bystander, "confirm": bystander, "token": bystander},
        ):
            manifest.write_text(json.dumps(edited))
            with pytest.raises((sated.UnsafeError, sated.ParseError)):
                sated.methods.runner.resume(tmp_path / "run", confirm=confirm)  # type: ignore[attr-defined]
    plan.write_text(f'confirm = "{bystander}"\n{PLAN}')
    with pytest.raises(sated.ParseError):
        sated.review(bystander, plan=plan, out=tmp_path / "other", confirm=None)
    assert is_untouched(bystander)
