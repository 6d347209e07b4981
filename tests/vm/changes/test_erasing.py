"""Erasing, capacity and settings of what QEMU's drives have; the reference tools agree about the state after each. What
they do not have is refused with a sentence, and the drive goes on."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import sated
from attempts import BLOCK, read
from sated import cli, nvme

SIZE = 24 << 20

PLACES = range(0, 8 << 20, 1 << 19)


def told(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout


def id_ns(path: str) -> dict[str, Any]:
    return dict(json.loads(told("nvme", "id-ns", path, "--output-format=json")))


def in_kernel(node: str, name: str) -> str:
    return Path("/sys/class/block", node, name).read_text().strip()


def tool_says_write_cache(serial: str, path: str) -> bool:
    if serial == "NVME0001":
        found = re.search(r"value: *(?:0x)?([0-9a-f]+)", told("nvme", "get-feature", path, "--feature-id=6"))
        assert found
        return bool(int(found[1], 16) & 1)
    if serial == "SATA0001":
        found = re.search(r"write-caching = +(\d)", told("hdparm", "-W", path))
        assert found
        return found[1] == "1"
    page = subprocess.run(["sg_modes", "--raw", "--page=8", path], capture_output=True, check=True, timeout=30).stdout
    return bool(page[-20 + 2] & 4)  # SBC-4 6.5.5: the caching page has 20 bytes, WCE is bit 2 of byte 2


def tool_says_blocks(serial: str, path: str) -> tuple[int, int]:
    """How many, and of how many bytes."""
    if serial == "NVME0001":
        space = id_ns(path)
        return space["nsze"], 1 << space["lbafs"][space["flbas"] & 15]["ds"]
    if serial == "SATA0001":
        text = told("hdparm", "-I", path)
        found = re.search(r"LBA48? +user addressable sectors: *(\d+)", text)
        size = re.search(r"Logical +Sector size: *(\d+)", text)
        assert found and size, text
        return int(found[1]), int(size[1])
    text = told("sg_readcap", "--long", path)
    found = re.search(r"Number of logical blocks=(\d+)", text)
    size = re.search(r"Logical block length=(\d+)", text)
    assert found and size, text
    return int(found[1]), int(size[1])


@pytest.fixture
def paths(nodes: dict[str, str]) -> dict[str, str]:
    return {
        "NVME0001": namespace("NVME0001"),
        **{serial: f"/dev/{nodes[serial]}" for serial in ("SATA0001", "SCSI0001")},
    }


def namespace(serial: str) -> str:
    """The node that the only namespace of a drive has now, once it has one."""
    for _ in range(100):
        for path in Path("/sys/block").glob("nvme*n*"):
            node = Path("/dev", path.name)
            if node.exists() and (path / "device/serial").read_text().strip() == serial:
                return str(node)
        time.sleep(0.1)
    raise AssertionError(f"{serial} has no namespace")


def works(drive: sated.Drive) -> None:
    """It has nothing unfinished, and takes writes and reads."""
    assert drive.purge_pending() is None
    mix = sated.Workload(read=0.5, write=0.5, size="4k", access="random", depth=4)
    result = sated.load(drive, mix, ios=64)
    assert sum(result.table["errors"].to_pylist()) == 0 and sum(result.table["ios"].to_pylist()) == 64


# ---- Erasing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("serial", "method"),
    [
        ("NVME0001", "auto"),
        ("NVME0001", "deallocate"),
        ("NVME0001", "write-same"),
        ("SATA0001", "deallocate"),
        ("SCSI0001", "deallocate"),
        ("SCSI0001", "write-same"),
    ],
)
def test_what_is_erased_is_gone(paths: dict[str, str], serial: str, method: str) -> None:
    """QEMU gives back the blocks that a format or a hint names (discard=unmap), and then reads zeros there."""
    path = paths[serial]
    with sated.open(path) as drive:
        drive.permit(serial)
        sated.load(drive, sated.Workload(op="write", access="sequential", size="128k"), ios=64)
        assert all(any(read(path, at, 4096)) for at in PLACES)
        result = drive.purge(method=method)
        assert result.method == ("format" if method == "auto" else method)
        assert result.done and result.verified is True
        assert (result.canaries, result.still_there, result.unreadable) == (64, 0, 0)
        assert result.level == ("clear" if method == "auto" else "advisory")
        assert all(read(path, at, 65536) == bytes(65536) for at in PLACES)
        assert drive.identity.capacity_bytes == SIZE
        assert drive.identity.serial == serial
        works(drive)
    assert tool_says_blocks(serial, path) == (SIZE // 512, 512)


def test_a_drive_that_says_done_and_did_nothing_is_found_out(
    paths: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """QEMU's disk takes FORMAT UNIT, and leaves everything as it was (hw/scsi/scsi-disk.c)."""
    path = paths["SCSI0001"]
    code = cli.main(["purge", path, "--confirm", "SCSI0001", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert code == 1
    assert (result["method"], result["done"], result["verified"]) == ("format", True, False)
    assert result["canaries"] == result["still_there"] == 64
    assert "64 still hold their marks: the drive is not erased" in result["log"][0]
    with sated.open(path) as drive:
        drive.permit("SCSI0001")
        works(drive)
    assert "Fixed format" not in told("sg_requests", path)  # nothing is under way


def test_the_command_line_erases(paths: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    path = paths["NVME0001"]
    assert cli.main(["purge", path]) == 3
    assert "NVME0001" in capsys.readouterr().err
    assert cli.main(["purge", path, "--confirm", "NVME0001"]) == 0
    assert "none holds its mark any more" in capsys.readouterr().out


def test_a_cryptographic_erase_by_hand(paths: dict[str, str]) -> None:
    """QEMU carries SES 2 out without saying that it has it (FNA bit 2): sated does not choose it, a raw command may."""
    path = paths["NVME0001"]
    with sated.open(path) as drive:
        drive.permit("NVME0001")
        with pytest.raises(sated.UnsupportedError, match=r"no cryptographic erase \(FNA bit 2\)"):
            drive.purge(method="format-crypto")
        drive.nvme_io(nvme.build_write(nsid=1, slba=0, blocks=1, block_bytes=512), data_out=BLOCK)
        assert read(path, 0, 512) == BLOCK
        drive.nvme_admin(nvme.build_format(nsid=1, lbaf=0, ses="crypto"))
        assert read(path, 0, 512) == bytes(512)
        works(drive)


# ---- What there is not -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("serial", "method", "why"),
    [
        ("NVME0001", "sanitize-block", r"the drive does not have it \(SANICAP 00000000h\)"),
        ("NVME0001", "security", "its protocol does not have it"),
        ("SATA0001", "auto", "nothing erases it by itself"),
        ("SATA0001", "sanitize-block", "does not have it"),
        ("SATA0001", "security-enhanced", "Security"),
        ("SATA0001", "security", "Security"),
    ],
)
def test_an_erase_that_the_drive_does_not_have(paths: dict[str, str], serial: str, method: str, why: str) -> None:
    with sated.open(paths[serial]) as drive:
        drive.permit(serial)
        with pytest.raises(sated.UnsupportedError, match=why) as refused:
            drive.purge(method=method)
        assert refused.value.exit_code == 7
        works(drive)


@pytest.mark.parametrize(
    ("serial", "method", "why"),
    [
        ("SATA0001", "hpa", "has no"),
        ("SATA0001", "amac", "has no"),
        ("SATA0001", "dco", "has no"),
        ("SCSI0001", "mode-select", "Invalid field in parameter list"),
    ],
)
def test_a_capacity_that_the_drive_does_not_take(paths: dict[str, str], serial: str, method: str, why: str) -> None:
    with sated.open(paths[serial]) as drive:
        drive.permit(serial)
        with pytest.raises(sated.UnsupportedError if serial == "SATA0001" else sated.DriveError, match=why):
            drive.set_capacity(fraction=0.5, method=method)
        assert drive.provisioning().interrupted is None
        assert drive.provisioning().device_bytes == SIZE
        works(drive)
    assert tool_says_blocks(serial, paths[serial]) == (SIZE // 512, 512)


def test_sanitize_that_a_scsi_drive_does_not_have(paths: dict[str, str]) -> None:
    """QEMU's disk does not say which commands it has (REPORT SUPPORTED OPERATION CODES): it is tried, as it was named,
    and fails."""
    with sated.open(paths["SCSI0001"]) as drive:
        drive.permit("SCSI0001")
        with pytest.raises(sated.SatedError, match="SANITIZE"):
            drive.purge(method="sanitize-block")
        works(drive)


def test_a_namespace_that_cannot_be_deleted_comes_back(paths: dict[str, str]) -> None:
    """QEMU has Namespace Attachment, and says by OACS that it has Namespace Management too, but has not: the change
    stops half-way, and is taken back."""
    path = paths["NVME0001"]
    controller = f"/dev/{Path(path).name.rsplit('n', 1)[0]}"
    why = f"Invalid Command Opcode.*the change is unfinished: `sated capacity {controller} --resume`"
    for again in ("the same handle", "the controller"):
        with sated.open(path) as drive:
            drive.permit("NVME0001")
            with pytest.raises(sated.DriveError, match=why):
                drive.set_capacity(fraction=0.5, method="namespace")
            assert drive.provisioning().interrupted == "namespace"
            if again == "the same handle":
                drive.resume_capacity(undo=True)
                works(drive)
        if again == "the controller":
            assert not Path(path).exists()
            with sated.open(controller) as drive:
                drive.resume_capacity(undo=True, confirm="NVME0001:all")
        path = namespace("NVME0001")  # under a name that may be another one
        with sated.open(path) as drive:
            after = drive.provisioning()
            assert after.interrupted is None and after.device_bytes == SIZE
            drive.permit("NVME0001")
            works(drive)
        assert id_ns(path)["nsze"] == SIZE // 512


# ---- Settings --------------------------------------------------------------------------------------------------------


def test_other_blocks_and_back(paths: dict[str, str]) -> None:
    """Format NVM to an LBA format of 4096 bytes: the kernel has it at once."""
    path = paths["NVME0001"]
    node = Path(path).name
    with sated.open(path) as drive:
        drive.permit("NVME0001")
        for size in (4096, 512):
            changed = drive.set(logical_block_bytes=size)
            assert changed.after.logical_block_bytes == size != changed.before.logical_block_bytes
            assert drive.identity.logical_block_bytes == size
            assert in_kernel(node, "queue/logical_block_size") == str(size)
            assert tool_says_blocks("NVME0001", path) == (SIZE // size, size)
            assert drive.identity.capacity_bytes == int(in_kernel(node, "size")) * 512 == SIZE
            works(drive)
        with pytest.raises(sated.UnsupportedError, match="no format of 8192-byte blocks"):
            drive.set(logical_block_bytes=8192)


@pytest.mark.parametrize("serial", ["NVME0001", "SATA0001", "SCSI0001"])
def test_the_write_cache(paths: dict[str, str], serial: str) -> None:
    path = paths[serial]
    with sated.open(path) as drive:
        drive.permit(serial)
        was = drive.settings().write_cache
        assert was is tool_says_write_cache(serial, path)
        for wanted in (not was, was):
            changed = drive.set(write_cache=wanted)
            assert (changed.before.write_cache, changed.after.write_cache) == (not wanted, wanted)
            assert tool_says_write_cache(serial, path) is wanted
            if serial == "SCSI0001":  # sd asks at a rescan, libata and nvme do not
                assert (in_kernel(Path(path).name, "queue/write_cache") == "write back") is wanted
            works(drive)


@pytest.mark.parametrize("serial", ["NVME0001", "SATA0001", "SCSI0001"])
def test_what_was_set_for_a_time_is_set_back(paths: dict[str, str], serial: str) -> None:
    """By another process than the one that set it and was killed."""
    path = paths[serial]
    was = tool_says_write_cache(serial, path)
    script = (
        "import os, sys, sated\n"
        f"drive = sated.open({path!r})\n"
        f"drive.set(write_cache={not was}, passing=True, confirm={serial!r})\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([".venv/bin/python", "-c", script], check=False, timeout=60).returncode == -9
    assert tool_says_write_cache(serial, path) is not was
    with sated.open(path) as drive:
        restored = drive.restore_settings(confirm=serial)
        assert restored and restored.write_cache is was
        assert drive.restore_settings() is None
        works(drive)
    assert tool_says_write_cache(serial, path) is was
