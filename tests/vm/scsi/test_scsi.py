"""SCSI and ATA on a real kernel: the same bytes as the reference tools get, through each kind of node."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import drives
import pytest
import sated
from machines import content
from sated import ata, scsi

# By serial number, with the disk's name in machines.py.
DISKS = {"VSCSI512": "plain", "VSCSI4096": "large", "SATA0001": "sata", "BULK0001": "bulk", "UASB0001": "uas"}
SPEAK_SCSI = ["VSCSI512", "VSCSI4096", "BULK0001", "UASB0001"]


def raw(*command: str) -> bytes:
    return subprocess.run(command, capture_output=True, check=True, timeout=30).stdout


def faces(node: str) -> dict[str, str]:
    """Every node through which a disk takes commands: SG_IO v3 on the first two, v4 on the third."""
    device = Path("/sys/class/block", node, "device").resolve()
    generic = next((device / "scsi_generic").iterdir()).name
    return {"block": f"/dev/{node}", "sg": f"/dev/{generic}", "bsg": f"/dev/bsg/{device.name}"}


@pytest.mark.parametrize("serial", DISKS)
def test_the_list_agrees_with_lsblk(said: dict[str, Any], nodes: dict[str, str], serial: str) -> None:
    drives.agree(said, nodes[serial])


def test_the_list_has_nothing_else() -> None:
    assert len(sated.list()) == len(DISKS)


@pytest.mark.parametrize("face", ["block", "sg", "bsg"])
@pytest.mark.parametrize("serial", DISKS)
def test_inquiry_and_blocks_through_every_node(nodes: dict[str, str], serial: str, face: str) -> None:
    """Each disk holds its own name, so that a node that leads to another is seen."""
    path = faces(nodes[serial])[face]
    with sated.open(path) as drive:
        answer = drive.scsi(scsi.build_inquiry(alloc=252))
        assert answer.data == raw("sg_inq", "--raw", "--len=252", f"/dev/{nodes[serial]}")
        assert answer.status == 0 and answer.residual == 252 - len(answer.data)
        size = drive.identity.logical_block_bytes
        assert size == (4096 if serial == "VSCSI4096" else 512)
        for long in (True, False):
            read = drive.scsi(scsi.build_read(4096 // size, 2, block_bytes=size, long=long))
            assert read.data == content(DISKS[serial])[4096 : 4096 + 2 * size]


@pytest.mark.parametrize("page", [0x00, 0x80, 0x83, 0xB0, 0xB1, 0xB2])
@pytest.mark.parametrize("serial", ["VSCSI512", "VSCSI4096", "SATA0001"])
def test_vital_product_data(nodes: dict[str, str], serial: str, page: int) -> None:
    node = f"/dev/{nodes[serial]}"
    by_tool = raw("sg_vpd", "--raw", f"--page={page:#x}", node)
    with sated.open(node) as drive:
        data = drive.scsi(scsi.build_inquiry(page=page, alloc=512)).data
    assert data[: len(by_tool)] == by_tool and len(by_tool) >= 4


@pytest.mark.parametrize("serial", ["VSCSI512", "VSCSI4096", "SATA0001", "UASB0001"])
def test_capacity(nodes: dict[str, str], serial: str) -> None:
    node = f"/dev/{nodes[serial]}"
    with sated.open(node) as drive:
        data = drive.scsi(scsi.build_read_capacity()).data
        capacity = drive.identity.capacity_bytes
    # libata answers with 16 bytes, and the tool fills up with zeros.
    assert data == raw("sg_readcap", "--16", "--raw", node)[: len(data)] and len(data) >= 16
    ours = scsi.decode_capacity_16(data)
    assert ours.bytes == capacity == 64 << 20


@pytest.mark.parametrize("serial", ["VSCSI512", "SATA0001"])
def test_the_caching_page(nodes: dict[str, str], serial: str) -> None:
    node = f"/dev/{nodes[serial]}"
    with sated.open(node) as drive:
        data = drive.scsi(scsi.build_mode_sense(0x08)).data
    page = next(each for each in scsi.decode_mode(data).pages if each.page == 0x08)
    cache = Path("/sys/class/block", nodes[serial], "queue/write_cache").read_text().strip()
    assert scsi.decode_mode_page(data[page.offset : page.offset + page.length]).wce == (cache == "write back")
    by_tool = raw("sg_modes", "--raw", "--page=8", node)
    assert data[page.offset : page.offset + page.length] == by_tool[-page.length :]


def test_a_command_that_is_not_supported_has_its_sense(nodes: dict[str, str]) -> None:
    """SPC-6: ILLEGAL REQUEST, INVALID COMMAND OPERATION CODE; SBC-4: LOGICAL BLOCK ADDRESS OUT OF RANGE."""
    for face, path in faces(nodes["VSCSI512"]).items():
        with sated.open(path) as drive:
            with pytest.raises(sated.DriveError) as refused:
                drive.scsi(scsi.build_log_sense(0x0D))
            detail = refused.value.detail
            assert (detail.sense_key, detail.asc, detail.ascq) == (5, 0x20, 0), face
            with pytest.raises(sated.DriveError) as behind:
                drive.scsi(scsi.build_read(drive.identity.capacity_bytes // 512, 1, block_bytes=512))
            detail = behind.value.detail
            assert (detail.sense_key, detail.asc, detail.ascq) == (5, 0x21, 0), face


@pytest.mark.parametrize("face", ["block", "sg", "bsg"])
def test_identify_device_through_sat(nodes: dict[str, str], face: str) -> None:
    """`hdparm --Istdout` prints the 256 words as the drive sent them."""
    node = nodes["SATA0001"]
    text = raw("hdparm", "--Istdout", f"/dev/{node}").decode()
    words = [int(word, 16) for word in re.findall(r"\b[0-9a-f]{4}\b", text.split(":", 1)[1])]
    by_tool = b"".join(word.to_bytes(2, "little") for word in words)
    assert len(by_tool) == 512
    with sated.open(faces(node)[face]) as drive:
        data = drive.ata(ata.build_identify_device()).data
        assert drive.identity.protocol == "ata"
    assert data == by_tool
    identify = ata.decode_identify(data)
    assert (identify.serial, identify.model) == ("SATA0001", "QEMU SSD")


def smartctl(node: str, *flags: str) -> dict[str, Any]:
    told = subprocess.run(["smartctl", "--json", *flags, f"/dev/{node}"], capture_output=True, check=False, timeout=60)
    return dict(json.loads(told.stdout))


def test_smart_attributes_and_health(nodes: dict[str, str]) -> None:
    node = nodes["SATA0001"]
    by_tool = smartctl(node, "--all")
    with sated.open(f"/dev/{node}") as drive:
        data = drive.ata(ata.build_smart_read_data()).data
        status = ata.decode_smart_status(drive.ata(ata.build_smart_return_status()).sense)
        health = drive.health()
    ours = {each.id: (each.value, each.worst) for each in ata.decode_smart(data).attributes}
    theirs = {each["id"]: (each["value"], each["worst"]) for each in by_tool["ata_smart_attributes"]["table"]}
    assert ours == theirs and len(ours) > 3
    assert by_tool["smart_status"]["passed"] is not bool(status.exceeded)
    assert health.temperature_c == by_tool["temperature"]["current"]
    assert health.power_cycles == by_tool["power_cycle_count"]
    assert health.power_on_hours == by_tool["power_on_time"]["hours"]


def test_a_bridge_that_answers_no_ata_command_is_told_so(nodes: dict[str, str]) -> None:
    with sated.open(f"/dev/{nodes['BULK0001']}") as drive, pytest.raises(sated.SatedError):
        drive.ata(ata.build_identify_device())


@pytest.mark.parametrize("serial", ["VSCSI512", "SATA0001"])
def test_a_command_that_writes_does_not_leave(nodes: dict[str, str], serial: str) -> None:
    for path in faces(nodes[serial]).values():
        with sated.open(path) as drive:
            with pytest.raises(sated.UnsafeError):
                drive.scsi(scsi.build_write(0, 1, block_bytes=512), data_out=bytes(512))
            assert drive.scsi(scsi.build_read(0, 1, block_bytes=512)).data == content(DISKS[serial])[:512]


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
@pytest.mark.parametrize("serial", DISKS)
def test_a_load_is_what_the_kernel_counts(nodes: dict[str, str], serial: str, engine: str) -> None:
    drives.check_reads(nodes[serial], engine, ios=200 if "B0001" in serial else 600)


# From here on nothing of what the disks held is left.


@pytest.mark.parametrize("serial", DISKS)
def test_writes_to_a_file_on_a_disk(nodes: dict[str, str], serial: str) -> None:
    with drives.file_system(f"/dev/{nodes[serial]}") as folder:
        for engine in ("io_uring", "threads"):
            drives.check_writes(nodes[serial], folder, engine)
