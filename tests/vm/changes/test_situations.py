"""Drives that must not be written to, as a real kernel has them: nothing gets through to any of them. And one that may
be: what is written to it is what the kernel counts."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import attempts
import drives
import pytest
import sated
from attempts import EXT4, WHERE, blank, nothing_gets_through, sh
from machines import content, wait_for

MD = "MDADM_NO_UDEV=1 mdadm --quiet"


def sectors(disk: str) -> int:
    return int(Path("/sys/class/block", Path(disk).name, "size").read_text())


def partition(disk: str) -> str:
    sh(f"echo 2048,32768 | sfdisk --quiet {disk}")
    found = [path.name for path in Path("/sys/class/block", Path(disk).name).iterdir() if (path / "partition").exists()]
    return f"/dev/{found[0]}"


@contextmanager
def built(make: str, take_away: str) -> Iterator[str]:
    """@param make, take_away shell lines. Yields what the first wrote."""
    said = sh(make).strip()
    try:
        yield said
    finally:
        sh(take_away)


def mount(device: str, options: str = "ro") -> str:
    return f"mkdir -p {WHERE}; mount -t ext4 -o {options} {device} {WHERE}"


@contextmanager
def mounted_partition(disk: str) -> Iterator[str]:
    part = partition(disk)
    with built(f"{EXT4} {part}; {mount(part)}", f"umount {WHERE}"):
        yield rf"{Path(part).name} is mounted on {WHERE} \(ext4\)"


@contextmanager
def elsewhere(disk: str) -> Iterator[str]:
    """In a mount namespace of which nothing is seen here but the process that is in it."""
    command = f"{EXT4} {disk}; {mount(disk)}; echo mounted; exec sleep 600"
    with subprocess.Popen(["unshare", "--mount", "sh", "-ec", command], stdout=subprocess.PIPE) as there:
        try:
            assert there.stdout and there.stdout.readline() == b"mounted\n"
            assert WHERE not in Path("/proc/self/mountinfo").read_text()
            yield rf"in the mount namespace of process {there.pid}\b"
        finally:
            there.kill()
    wait_until_released(disk)


def wait_until_released(disk: str) -> None:
    """Until the kernel, which unmounts when it has the time, lets it be had alone (open(2), O_EXCL)."""
    for _ in range(100):
        try:
            os.close(os.open(disk, os.O_RDONLY | os.O_EXCL))
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"{disk} stays in use")


@contextmanager
def swap(disk: str) -> Iterator[str]:
    with built(f"mkswap -q {disk}; swapon {disk}", f"swapoff {disk}"):
        yield "is swap space"


def assemble(disk: str, metadata: str) -> str:
    options = f"--run --assume-clean --metadata={metadata} --level=1 --raid-devices=2"
    clean = "grep -q clean /sys/block/md50/md/array_state"
    return f"{MD} --create /dev/md50 {options} {disk} missing; {wait_for(clean)}"


@contextmanager
def md_member(disk: str) -> Iterator[str]:
    with built(assemble(disk, "1.2"), f"{MD} --stop /dev/md50"):
        yield "is part of md50"


@contextmanager
def stopped_md_member(disk: str) -> Iterator[str]:
    """Nothing but what is left of it says so."""
    with md_member(disk):
        pass
    yield r"holds signatures \(linux_raid_member\)"


@contextmanager
def crypt(disk: str) -> Iterator[str]:
    mapped = drives.mapped("secret", f"0 {sectors(disk)} crypt aes-xts-plain64 {'07' * 64} 0 {disk} 0")
    try:
        yield f"is part of {Path(mapped).name}"
    finally:
        drives.dmsetup("remove", "--noudevsync", "secret")


@contextmanager
def volume_without_extents(disk: str) -> Iterator[str]:
    """Of a group that is active, while nothing of any logical volume lies on it: it has no holders."""
    with built(f"vgextend --quiet --quiet group {disk}", f"vgreduce --quiet --quiet group {disk}; pvremove -qq {disk}"):
        assert not list(Path("/sys/class/block", Path(disk).name, "holders").iterdir())
        yield "is a physical volume of the LVM group group, which is active .dm-0, group-volume."


@contextmanager
def partition_without_extents(disk: str) -> Iterator[str]:
    with volume_without_extents(partition(disk)) as why:
        yield why


@contextmanager
def volume_without_metadata(disk: str) -> Iterator[str]:
    """What group it is of stands on the others alone (pvcreate(8), --metadatacopies)."""
    with built(f"pvcreate --quiet --quiet --metadatacopies 0 {disk}", f"pvremove --quiet --quiet {disk}"):
        yield "is a physical volume of LVM that does not tell its group"


@contextmanager
def multipath(disk: str) -> Iterator[str]:
    table = f"0 {sectors(disk)} multipath 0 0 1 1 round-robin 0 1 1 {disk} 1"
    drives.dmsetup("create", "path", "--uuid", "mpath-victim", "--noudevsync", table=(table,))
    try:
        yield "is a path of the multipath device dm-"
    finally:
        drives.dmsetup("remove", "--noudevsync", "path")


@contextmanager
def loop(disk: str) -> Iterator[str]:
    with built(f"losetup --find --show {disk}", "losetup --detach-all") as device:
        yield f"backs the loop device {device}"


@contextmanager
def loop_on_a_file(disk: str) -> Iterator[str]:
    file = f"truncate -s 8M {WHERE}/file; losetup --read-only --find --show {WHERE}/file; mount -o remount,ro {WHERE}"
    with built(f"{EXT4} {disk}; {mount(disk, 'rw')}; {file}", f"losetup --detach-all; umount {WHERE}"):
        yield f"is mounted on {WHERE}"


@contextmanager
def read_only(disk: str) -> Iterator[str]:
    with built(f"blockdev --setro {disk}", f"blockdev --setrw {disk}"):
        yield "is read-only"


Situation = Callable[[str], AbstractContextManager[str]]
SITUATIONS: list[Situation] = [
    *(mounted_partition, elsewhere, swap, md_member, stopped_md_member),
    *(crypt, multipath, loop, loop_on_a_file, read_only),
    *(volume_without_extents, partition_without_extents, volume_without_metadata),
]


@pytest.fixture
def victim(nodes: dict[str, str]) -> Iterator[str]:
    path = f"/dev/{nodes['VICTIM01']}"
    blank(path)
    yield path
    blank(path)


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: each.__name__)
def test_nothing_gets_through_to_what_is_in_use(victim: str, situation: Situation) -> None:
    with situation(victim) as why:
        nothing_gets_through(victim, ["VICTIM01", "VICTIM01:all"], why)


@pytest.mark.parametrize("serial", ["SATA0001", "NVME0001"])
def test_nothing_gets_through_by_other_protocols(nodes: dict[str, str], serial: str) -> None:
    path = f"/dev/{nodes[serial]}"
    with mounted_partition(path) as why:
        nothing_gets_through(path, [serial, f"{serial}:all"], why)
    blank(path)


def test_nothing_gets_through_by_the_generic_node(victim: str) -> None:
    """It takes commands alone, which the kernel does not count: what is on the disk tells."""
    node = Path(victim).name
    generic = next(Path("/sys/class/block", node, "device/scsi_generic").iterdir()).name
    with mounted_partition(victim) as why:
        before = attempts.state(node)
        with sated.open(f"/dev/{generic}") as drive:
            assert not drive.guard().safe
            for name, attempt in {**attempts.OF_ALL, **attempts.BY_PROTOCOL["scsi"]}.items():
                with pytest.raises(sated.UnsafeError, match=why):
                    attempt(drive, "VICTIM01")
                    pytest.fail(name)
        assert attempts.state(node) == before


@pytest.mark.parametrize(
    ("serial", "why"),
    [
        ("BOOT0001", r"is what this machine was booted from \(root="),
        ("LVM00001", "is part of dm-0"),
        ("TWIN0001", "may be the same drive by another path: its serial number or name, .*, is that of"),
    ],
)
def test_nothing_gets_through_to_what_the_machine_has(nodes: dict[str, str], serial: str, why: str) -> None:
    path = f"/dev/{nodes[serial]}"
    with sated.open(path) as drive:
        told = str(drive.identity.token)  # of a serial number that two have it is something else
    nothing_gets_through(path, sorted({serial, f"{serial}:all", told}), why)


def test_no_partition_and_no_mapping_is_a_target(victim: str) -> None:
    part = partition(victim)
    nothing_gets_through(part, ["VICTIM01"], "is a partition, and only whole disks are written to")
    nothing_gets_through("/dev/dm-0", ["LVM00001"], r"is a mapping \(device mapper\)")


def test_what_nobody_sees_is_known_by_the_kernel(victim: str) -> None:
    """A file system that was unmounted lazily, with a loop device still on a file of it, is in no table of mounts."""
    sh(f"{EXT4} {victim}; mkdir -p {WHERE}; mount -t ext4 {victim} {WHERE}; truncate -s 8M {WHERE}/file")
    sh(f"losetup --read-only --find {WHERE}/file; mount -o remount,ro {WHERE}; umount --lazy {WHERE}")
    before = attempts.state(Path(victim).name)
    with sated.open(victim) as drive:
        assert drive.guard().wipeable  # nothing but the file system's signature is seen
        with pytest.raises(sated.UnsafeError, match="it is in use, says the kernel, which cannot open it exclusively"):
            drive.permit("VICTIM01", wipe_signatures=True)
        attempts.refuses(drive, ["VICTIM01"], "holds signatures")
    assert attempts.state(Path(victim).name) == before
    sh("losetup --detach-all")
    wait_until_released(victim)


def test_mounted_between_the_look_and_the_use(victim: str) -> None:
    with sated.open(victim) as drive:
        assert drive.guard().safe
        sh(f"{EXT4} {victim}; mkdir -p {WHERE}; mount -t ext4 -o ro {victim} {WHERE}")
        before = attempts.state(Path(victim).name)
        attempts.refuses(drive, ["VICTIM01"], f"is mounted on {WHERE}")
        assert attempts.state(Path(victim).name) == before
        sh(f"umount {WHERE}")


def test_what_is_held_cannot_be_mounted(victim: str, tmp_path: Path) -> None:
    """open(2): with O_EXCL on a block device it is busy for whoever else wants it so, as a mount does."""
    image = tmp_path / "image"
    sh(f"truncate -s 8M {image}; {EXT4} {image}; mkdir -p {WHERE}")
    mount = ["mount", "-t", "ext4", "-o", "ro", victim, WHERE]
    with sated.open(victim) as drive:
        drive.permit("VICTIM01")
        sh(f"dd if={image} of={victim} bs=1M conv=fsync,notrunc status=none")
        ran = subprocess.run(mount, capture_output=True, text=True, check=False, timeout=60)
        assert ran.returncode == 32 and "busy" in ran.stderr, ran.stderr
    assert subprocess.run(mount, capture_output=True, check=False, timeout=60).returncode == 0
    sh(f"umount {WHERE}")


# ---- What is another drive since -------------------------------------------------------------------------------------


def by_serial(serial: str) -> str | None:
    """The SCSI disk that has a serial number now (SPC-6 7.7.15, VPD page 80h)."""
    for path in Path("/sys/block").glob("sd*/device/vpd_pg80"):
        if path.read_bytes()[4:].decode().strip() == serial:
            return path.parts[3]
    return None


def wait_for_serial(serial: str, *, gone: bool = False) -> str:
    for _ in range(200):
        found = by_serial(serial)
        if (found is None) == gone:
            return found or ""
        time.sleep(0.05)
    raise AssertionError(f"{serial} is {'still' if gone else 'not'} there")


def test_a_drive_that_comes_back_under_another_name(nodes: dict[str, str]) -> None:
    """What was permitted of it is void; `refresh` finds it by its serial number, on the terms that there were."""
    name = nodes["MOVED001"]
    device = Path("/sys/block", name, "device").resolve()
    host = next(part for part in device.parts if part.startswith("host"))
    with sated.open(f"/dev/{name}") as drive, sated.open(f"/dev/{name}") as looked_at:
        drive.permit("MOVED001")
        assert looked_at.guard().safe or "it is in use" in str(looked_at.guard().reasons)
        Path("/sys/block", name, "device/delete").write_text("1")
        Path("/sys/class/scsi_host", host, "scan").write_text("- - -")
        now = wait_for_serial("MOVED001")
        assert now != name  # which is taken as long as it is open
        before = attempts.state(now)
        for each in (drive, looked_at):
            assert not each.guard().safe
            attempts.refuses(each, ["MOVED001"], "removed or replaced|is not in sysfs")
        assert attempts.state(now) == before
        drive.refresh()
        assert drive.identity.serial == "MOVED001"
        check_exact(drive, now, "io_uring")


def test_a_drive_that_another_was_put_in_the_place_of(nodes: dict[str, str]) -> None:
    name = nodes["OLD00001"]
    address = Path("/sys/block", name, "device").resolve().name
    with sated.open(f"/dev/{name}") as held, sated.open(f"/dev/{name}") as looked_at:
        held.permit("OLD00001")
        Path("/vm/unplug-old").touch()
        wait_for_serial("OLD00001", gone=True)
        Path("/vm/plug-new").touch()
        new = wait_for_serial("NEW00001")
        assert Path("/sys/block", new, "device").resolve().name == address
        before = attempts.state(new)
        for each in (held, looked_at):
            attempts.refuses(each, ["OLD00001", "NEW00001"], "removed or replaced|is not in sysfs")
    with pytest.raises(sated.UnsafeError, match='the token "OLD00001" is not the one'), sated.open(f"/dev/{new}") as d:
        d.permit("OLD00001")
    assert attempts.state(new) == before
    assert attempts.read(f"/dev/{new}", 0, 1 << 20) == content("new")


# ---- What may be written to ------------------------------------------------------------------------------------------


def check_exact(drive: sated.Drive, node: str, engine: str) -> None:
    """A load of writes on a whole disk is what the kernel counts of it, I/O by I/O and byte by byte."""
    work = sated.Workload(op="randwrite", size="4k", threads=2, depth=4)
    before = drives.counted(node)
    result = sated.load(drive, work, ios=600, engine=engine, seed=1)
    after = drives.counted(node)
    everything = {name: sum(result.table[name].to_pylist()) for name in ("ios", "bytes", "errors")}
    assert everything == {"ios": 600, "bytes": 600 * 4096, "errors": 0}
    moved = {key: after[key] - before[key] for key in after}
    assert moved == {"reads": 0, "read_bytes": 0, "writes": 600, "write_bytes": 600 * 4096}
    assert {total.engine for total in result.totals.members} == {engine}


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
@pytest.mark.parametrize("serial", ["SCSI0001", "SATA0001", "NVME0001"])
def test_writes_to_a_disk_are_what_the_kernel_counts(nodes: dict[str, str], serial: str, engine: str) -> None:
    with sated.open(f"/dev/{nodes[serial]}") as drive:
        for wrong in (None, serial.lower(), f"{serial} ", "VICTIM01"):
            with pytest.raises(sated.UnsafeError):
                drive.permit(wrong)
        drive.permit(serial)
        check_exact(drive, nodes[serial], engine)


def gpt(disk: str) -> None:
    sh(f"echo 2048,32768 | sfdisk --quiet --label gpt {disk}")
    sh(f"{EXT4} {disk}1")


def ext4(disk: str) -> None:
    sh(f"{EXT4} {disk}")


def md_of_old(disk: str) -> None:
    """Its superblock is at the end."""
    sh(f"{assemble(disk, '1.0')}; {MD} --stop /dev/md50")


@pytest.mark.parametrize(
    ("make", "names"), [(gpt, ("gpt", "1 partition")), (ext4, ("ext4",)), (md_of_old, ("linux_raid_member",))]
)
def test_stale_signatures_are_wiped(victim: str, make: Callable[[str], None], names: tuple[str, ...]) -> None:
    """To be found by nobody afterwards: wipefs of util-linux, which looks for all that libblkid knows."""
    node = Path(victim).name
    make(victim)
    assert sh(f"wipefs --noheadings {victim}")
    with sated.open(victim) as drive:
        guard = drive.guard()
        assert not guard.safe and guard.wipeable
        assert all(name in "\n".join(guard.reasons) for name in names), guard.reasons
        before = attempts.state(node)
        attempts.refuses(drive, ["VICTIM01"], "--wipe-signatures")
        with pytest.raises(sated.UnsafeError, match="is not the one"):
            drive.permit("SCSI0001", wipe_signatures=True)
        assert attempts.state(node) == before
        drive.permit("VICTIM01", wipe_signatures=True)
        check_exact(drive, node, "io_uring")
    assert not re.search(rf"\b{node}\d", Path("/proc/partitions").read_text())
    with sated.open(victim) as drive:
        assert drive.guard().safe, drive.guard().reasons
    assert sh(f"wipefs --noheadings {victim}") == ""
