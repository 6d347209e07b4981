"""All ways to change a drive, tried on one that must not be changed."""

from __future__ import annotations

import mmap
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import drives
import pytest
import sated
from sated import ata, nvme, scsi

WHERE = "/run/at"
EXT4 = "mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0"
BLOCK = b"not to be written".ljust(512, b"!")
BLOCK_ERASE = 2  # SBC-4 5.30.1, the service action of SANITIZE
RANDOM = sated.Workload(op="randwrite", size="4k")
Attempt = Callable[[sated.Drive, str], object]

OF_ANY: dict[str, Attempt] = {
    "a load by io_uring": lambda drive, token: sated.load(drive, RANDOM, ios=8, engine="io_uring", confirm=token),
    "a load by threads": lambda drive, token: sated.load(drive, RANDOM, ios=8, engine="threads", confirm=token),
    "a load of trims": lambda drive, token: sated.load(
        drive, sated.Workload(op="randtrim", size="4k"), ios=8, confirm=token
    ),
}
OF_ALL: dict[str, Attempt] = {
    "its best purge": lambda drive, token: drive.purge(confirm=token),
    "the advisory purge": lambda drive, token: drive.purge(method="deallocate", confirm=token),
    "a setting": lambda drive, token: drive.set(write_cache=False, confirm=token),
}
BY_PROTOCOL: dict[str | None, dict[str, Attempt]] = {
    None: {},
    "scsi": {
        "a capacity": lambda drive, token: drive.set_capacity(lba=4096, method="mode-select", confirm=token),
        "WRITE": lambda drive, token: drive.scsi(scsi.build_write(0, 1), data_out=BLOCK, confirm=token),
        "WRITE SAME": lambda drive, token: drive.scsi(scsi.build_write_same(0, 8), data_out=BLOCK, confirm=token),
        "FORMAT UNIT": lambda drive, token: drive.scsi(scsi.build_format_unit(), confirm=token),
        "SANITIZE": lambda drive, token: drive.scsi(scsi.build_sanitize(BLOCK_ERASE), confirm=token),
    },
    "ata": {
        "a capacity": lambda drive, token: drive.set_capacity(lba=4096, method="hpa", confirm=token),
        "WRITE": lambda drive, token: drive.ata(ata.build_write(0, BLOCK), confirm=token),
        "TRIM": lambda drive, token: drive.ata(ata.build_trim([(0, 8)]), confirm=token),
        "SECURITY SET PASSWORD": lambda drive, token: drive.ata(
            ata.build_security_set_password(b"password"), confirm=token
        ),
        "SANITIZE": lambda drive, token: drive.ata(ata.build_sanitize_block_erase(), confirm=token),
    },
    "nvme": {
        "a capacity": lambda drive, token: drive.set_capacity(lba=4096, method="namespace", confirm=token),
        "Write": lambda drive, token: drive.nvme_io(
            nvme.build_write(nsid=1, slba=0, blocks=1, block_bytes=512), data_out=BLOCK, confirm=token
        ),
        "Format of all": lambda drive, token: drive.nvme_admin(nvme.build_format(nsid=nvme.ALL, lbaf=0), confirm=token),
        "Sanitize": lambda drive, token: drive.nvme_admin(nvme.build_sanitize("block"), confirm=token),
        "Namespace Management": lambda drive, token: drive.nvme_admin(nvme.build_ns_delete(1), confirm=token),
    },
}


def of(drive: sated.Drive) -> dict[str, Attempt]:
    protocol = drive.identity.protocol
    return {**OF_ANY, **(OF_ALL if protocol else {}), **BY_PROTOCOL[protocol]}


def read(path: str, offset: int, length: int) -> bytes:
    """What a disk holds, whatever the kernel still has in memory of it."""
    memory = mmap.mmap(-1, length)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        assert os.preadv(fd, [memory], offset) == length
        return bytes(memory)
    finally:
        os.close(fd)
        memory.close()


def state(node: str) -> dict[str, object]:
    """What would show that something came through: the kernel's counters of writes and discards
    (Documentation/block/stat.rst), and the blocks that raw commands are for, which it does not count."""
    fields = Path("/sys/class/block", node, "stat").read_text().split()
    counted = drives.counted(node)
    wrote = {key: counted[key] for key in ("writes", "write_bytes")}
    return {**wrote, "discards": fields[11], "content": read(f"/dev/{node}", 0, 65536)}


def nothing_gets_through(path: str, tokens: list[str], why: str, *, bystander: str | None = None) -> None:
    """Whatever is tried, with whatever token, is refused with the reason. @param why a regular expression; @param
    bystander the disk that must stay as it is, of the same name in /sys as the path without it"""
    node = bystander or Path(path).name
    before = state(node)
    with sated.open(path) as drive:
        guard = drive.guard()
        assert not guard.safe
        assert re.search(why, "\n".join(guard.reasons)), guard.reasons
        refuses(drive, tokens, why)
        if not guard.wipeable:
            with pytest.raises(sated.UnsafeError, match=why):
                drive.permit(tokens[0], wipe_signatures=True)
    assert state(node) == before


def refuses(drive: sated.Drive, tokens: list[str], why: str) -> None:
    """Everything is tried with the first token; that no other one opens the way, one attempt shows for each."""
    everything = of(drive)
    tried = [(name, tokens[0]) for name in everything] + [(next(iter(everything)), token) for token in tokens[1:]]
    for name, token in tried:
        with pytest.raises(sated.UnsafeError) as refused:
            everything[name](drive, token)
        assert refused.value.exit_code == 3
        assert re.search(why, str(refused.value)), f"{name}: {refused.value}"


def sh(script: str) -> str:
    ran = subprocess.run(
        ["sh", "-e", "-c", script], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60
    )
    assert ran.returncode == 0, f"{script}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def blank(path: str) -> None:
    """Nothing is left at either end that somebody could take for a file system or a partition table."""
    with Path(path).open("r+b") as disk:
        size = disk.seek(0, os.SEEK_END)
        for at in (0, size - (1 << 20)):
            disk.seek(at)
            disk.write(bytes(1 << 20))
        disk.flush()
        os.fsync(disk.fileno())
    sh(f"blockdev --flushbufs {path}; blockdev --rereadpt {path}")
