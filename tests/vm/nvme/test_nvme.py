"""NVMe on a real kernel: list, identity, logs, the right namespace on the right node, and loads that lose nothing."""

from __future__ import annotations

import errno
import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import drives
import pytest
import sated
from machines import content
from sated import nvme

NAMESPACES = {
    "DUAL0001-1": "one",
    "DUAL0001-2": "two",
    "DUAL0001-3": "three",
    "PLAIN001-1": "plain",
    "LOOP0001-1": "loop",
}


def raw(*command: str) -> bytes:
    return subprocess.run(["nvme", *command, "--raw-binary"], capture_output=True, check=True, timeout=30).stdout


def told(*command: str) -> dict[str, Any]:
    text = subprocess.run(
        ["nvme", *command, "--output-format=json"], capture_output=True, check=True, timeout=30
    ).stdout
    return dict(json.loads(text))


def serial_of(controller: str) -> str:
    return Path("/sys/class/nvme", controller, "serial").read_text().strip()


def controllers() -> list[str]:
    return sorted(path.name for path in Path("/sys/class/nvme").iterdir())


@pytest.mark.parametrize("name", [*NAMESPACES, "PROT0001-1"])
def test_the_list_agrees_with_lsblk_and_nvme_list(said: dict[str, Any], nodes: dict[str, str], name: str) -> None:
    drives.agree(said, nodes[name])


def test_the_list_has_nothing_else(said: dict[str, Any]) -> None:
    assert {Path(each.token).name for each in sated.list()} == {
        "DUAL0001:1",
        "DUAL0001:2",
        "DUAL0001:3",
        "PROT0001",
        "PLAIN001",
        "LOOP0001",
        "BACK0001",
    }


@pytest.mark.parametrize("name", NAMESPACES)
def test_each_namespace_is_read_by_its_own_number(nodes: dict[str, str], name: str) -> None:
    """Every disk holds its own name, so that a command sent to another namespace is seen. By the block node and by the
    generic one, both of which have the subsystem's number and not the controller's."""
    node, nsid = nodes[name], int(name.rsplit("-", 1)[1])
    for path in (f"/dev/{node}", f"/dev/{node.replace('nvme', 'ng')}"):
        with sated.open(path) as drive:
            size = drive.identity.logical_block_bytes
            answer = drive.nvme_io(nvme.build_read(nsid=nsid, slba=4096 // size, blocks=1, block_bytes=size))
            assert answer.data == content(NAMESPACES[name])[4096 : 4096 + size], path
            assert answer.nvme_status == 0
            raw_ns = raw("id-ns", f"/dev/{node}")
            assert drive.nvme_admin(nvme.build_identify(nvme.Cns.NS, nsid=nsid)).data == raw_ns
            assert nvme.decode_id_ns(raw_ns).capacity_bytes == 64 << 20
            assert drive.health().raw["identify-namespace"] == raw_ns


@pytest.mark.parametrize("name", NAMESPACES)
def test_identify_namespace_field_by_field(nodes: dict[str, str], name: str) -> None:
    node = nodes[name]
    by_tool = told("id-ns", f"/dev/{node}")
    with sated.open(f"/dev/{node}") as drive:
        data = drive.nvme_admin(nvme.build_identify(nvme.Cns.NS, nsid=int(name.rsplit("-", 1)[1]))).data
    ours = nvme.decode_id_ns(data)
    compared = "nsze ncap nuse nsfeat nlbaf flbas mc dpc dps nmic rescap dlfeat nawun nawupf nacwu"
    assert {each: getattr(ours, each) for each in compared.split()} == {
        each: by_tool[each] for each in compared.split()
    }
    assert ours.block_bytes == 1 << by_tool["lbafs"][by_tool["flbas"] & 15]["ds"]


TEXTS = "sn mn fr subnqn"
NUMBERS = """
vid ssvid rab ieee cmic mdts cntlid ver oaes ctratt oacs acl aerl frmw lpa elpe npss sqes cqes maxcmd nn oncs fuses fna
vwc awun awupf ocfs sgls
"""


def test_identify_controller_field_by_field() -> None:
    for name in controllers():
        by_tool = told("id-ctrl", f"/dev/{name}")
        with sated.open(f"/dev/{name}") as drive:
            data = drive.nvme_admin(nvme.build_identify(nvme.Cns.CTRL)).data
        assert data == raw("id-ctrl", f"/dev/{name}")
        ours = nvme.decode_id_ctrl(data)
        for field in TEXTS.split():
            assert getattr(ours, field) == by_tool[field].strip(), field
        by_tool["ieee"] = by_tool["ieee"] or None  # nvme-loop has none: 0 is nobody's
        for field in NUMBERS.split():
            assert getattr(ours, field) == by_tool[field], field


def test_health_is_the_smart_log(nodes: dict[str, str]) -> None:
    node = nodes["PLAIN001"]
    with sated.open(f"/dev/{node}") as drive:
        health = drive.health()
    by_tool = told("smart-log", f"/dev/{node}")
    assert health.temperature_c == pytest.approx(by_tool["temperature"] - 273.15)  # told in kelvins
    assert health.percentage_used == by_tool["percent_used"]
    assert health.power_cycles == int(by_tool["power_cycles"])
    assert health.power_on_hours == int(by_tool["power_on_hours"])
    assert health.unsafe_shutdowns == int(by_tool["unsafe_shutdowns"])
    assert health.media_errors == int(by_tool["media_errors"])
    assert health.error_log_entries == int(by_tool["num_err_log_entries"])
    assert health.host_bytes_read == int(by_tool["data_units_read"]) * 512_000
    page = nvme.decode_smart_log(health.raw["log-02h"])
    assert page.critical_warning == by_tool["critical_warning"]
    assert page.avail_spare == by_tool["avail_spare"]


@pytest.mark.parametrize(
    ("lid", "length", "command"),
    [
        (nvme.Lid.FIRMWARE, 512, ("fw-log",)),
        (nvme.Lid.ERROR, 64, ("error-log", "--log-entries=1")),
        (nvme.Lid.EFFECTS, 4096, ("get-log", "--log-id=5", "--log-len=4096")),
    ],
)
def test_logs_are_what_the_tool_gets(nodes: dict[str, str], lid: int, length: int, command: tuple[str, ...]) -> None:
    controller = controllers()[0]
    with sated.open(f"/dev/{controller}") as drive:
        ours = drive.nvme_admin(nvme.build_get_log(lid, length=length)).data
    assert ours == raw(command[0], f"/dev/{controller}", *command[1:])[:length]


def test_a_part_of_a_log_ends_where_it_should(nodes: dict[str, str]) -> None:
    """The last admin command that QEMU supports is Doorbell Buffer Config, 7Ch: four bytes of the log of commands."""
    controller, start, end = controllers()[0], 4 * 0x7C, 4 * 0x7D
    log = raw("get-log", f"/dev/{controller}", "--log-id=5", "--log-len=4096")
    assert any(log[start:end])
    with sated.open(f"/dev/{controller}") as drive:
        assert drive.nvme_admin(nvme.build_get_log(nvme.Lid.EFFECTS, length=end)).data == log[:end]
        last = nvme.build_get_log(nvme.Lid.EFFECTS, length=4, offset=start)
        assert drive.nvme_admin(last).data == log[start:end]


def test_what_a_completion_brings_back(nodes: dict[str, str]) -> None:
    """Temperature Threshold is in dword 0 (NVM Express Base 2.0, 5.27.1.3), which the tool prints in hexadecimal."""
    node = f"/dev/{nodes['PLAIN001']}"
    text = subprocess.run(["nvme", "get-feature", node, "--feature-id=4"], capture_output=True, check=True, timeout=30)
    found = re.search(rb"[Vv]alue: *(?:0x)?([0-9a-f]+)", text.stdout)
    assert found, text.stdout
    with sated.open(node) as drive:
        result = drive.nvme_admin(nvme.build_get_features(0x04)).result
    assert result == int(found[1], 16) > 0


def test_a_refusal_has_the_status_of_the_standard(nodes: dict[str, str]) -> None:
    """LBA Out of Range is 0/80h, Invalid Field in Command 0/02h (NVM Express Base 2.0, figure 98)."""
    with sated.open(f"/dev/{nodes['PLAIN001']}") as drive:
        last = drive.identity.capacity_bytes // 512
        with pytest.raises(sated.DriveError) as behind:
            drive.nvme_io(nvme.build_read(nsid=1, slba=last, blocks=1, block_bytes=512))
        status = nvme.decode_status(behind.value.reply.nvme_status)
        assert (status.sct, status.sc, status.dnr) == (0, 0x80, True)
        with pytest.raises(sated.DriveError) as unknown:
            drive.nvme_admin(nvme.build_get_log(nvme.Lid.SELF_TEST, length=564))
        status = nvme.decode_status(unknown.value.reply.nvme_status)
        assert status.sct == 0 and status.sc in (1, 2)


def test_a_command_that_writes_does_not_leave(nodes: dict[str, str]) -> None:
    with sated.open(f"/dev/{nodes['PLAIN001']}") as drive:
        before = drive.nvme_io(nvme.build_read(nsid=1, slba=0, blocks=1, block_bytes=512)).data
        with pytest.raises(sated.UnsafeError):
            drive.nvme_io(nvme.build_write(nsid=1, slba=0, blocks=1, block_bytes=512), data_out=bytes(512))
        assert drive.nvme_io(nvme.build_read(nsid=1, slba=0, blocks=1, block_bytes=512)).data == before


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
@pytest.mark.parametrize("name", [*NAMESPACES, "PROT0001-1"])
def test_a_load_is_what_the_kernel_counts(nodes: dict[str, str], name: str, engine: str) -> None:
    drives.check_reads(nodes[name], engine)


def test_metadata_that_the_kernel_does_not_carry(said: dict[str, Any]) -> None:
    """Eight bytes at the end of each block that are no protection information: Linux gives that no capacity."""
    controller = next(each for each in controllers() if serial_of(each) == "EXTD0001")
    disk = re.sub(r"c\d+n", "n", next(each.name for each in Path("/sys/class/nvme", controller).glob("nvme*n*")))
    assert int(Path("/sys/class/block", disk, "size").read_text()) == 0
    assert told("id-ns", f"/dev/{disk}")["flbas"] & 16
    with pytest.raises(sated.UnsupportedError, match="each of its blocks has 8 bytes of metadata at its end, which it"):
        sated.open(f"/dev/{disk}")


# From here on nothing of what the disks held is left.


def guard(data: bytes) -> int:
    """The CRC of SBC-4, 4.22.4: polynomial 18BB7h, the most significant bit first, from 0."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x18BB7 if crc & 0x8000 else 0)) & 0x1FFFF
    return crc


def test_the_guard_is_that_of_the_standard() -> None:
    """SBC-4, table 38: 32 bytes each."""
    samples = {
        bytes(32): 0x0000,
        b"\xff" * 32: 0xA293,
        bytes(range(32)): 0x0224,
        b"\xff\xff" + bytes(30): 0x21B8,
        bytes(range(255, 223, -1)): 0xA0B7,
    }
    assert {data: guard(data) for data in samples} == samples


def test_protection_information_is_carried_and_checked(nodes: dict[str, str], tmp_path: Path) -> None:
    """What a load writes has guard and reference tag by the standard; a block whose guard is wrong fails a load, with
    the errno of the kernel for it (BLK_STS_PROTECTION); and who does it is said, as it is set."""
    node = nodes["PROT0001-1"]
    parts = [f"--data={tmp_path / 'data'}", f"--metadata={tmp_path / 'metadata'}"]
    sizes = ["--block-count=0", "--data-size=512", "--metadata-size=8", "--prinfo=0"]

    def block(verb: str, lba: int) -> None:
        command = ["nvme", verb, f"/dev/{node}", f"--start-block={lba}", *sizes, *parts]
        subprocess.run(command, capture_output=True, check=True, timeout=30)

    reading = sated.Workload(op="read", size="4k", offset=0, length=4096)
    switch = Path("/sys/class/block", node, "integrity/read_verify")
    with sated.open(f"/dev/{node}") as drive:
        assert "T10-DIF-TYPE1-CRC" in drive.identity.note
        written = sated.load(drive, sated.Workload(op="write", size="4k"), ios=512, confirm="PROT0001")
        assert written.totals.errors == 0
        assert "(T10-DIF-TYPE1-CRC): the kernel makes guard and reference tag" in written.note
    for lba in (0, 7, 4095):
        block("read", lba)
        data, metadata = (tmp_path / "data").read_bytes(), (tmp_path / "metadata").read_bytes()
        assert data != bytes(512)
        assert int.from_bytes(metadata[:2]) == guard(data)
        assert int.from_bytes(metadata[4:]) == lba
    block("read", 5)
    right = (tmp_path / "metadata").read_bytes()
    (tmp_path / "metadata").write_bytes(bytes([right[0], right[1] ^ 1]) + right[2:])
    with sated.open(f"/dev/{node}") as drive:
        assert sated.load(drive, reading, ios=1).totals.errors == 0
        block("write", 5)
        for verify, says in (
            ("1", "makes guard and reference tag of what is written and checks them"),
            ("0", "makes it of what is written, and leaves the rest to the controller"),
        ):
            switch.write_text(verify)
            with pytest.raises(OSError) as caught:
                sated.load(drive, reading, ios=1, on_error="stop")
            assert caught.value.result.failed_ios == [(0, -errno.EILSEQ)]
            assert says in caught.value.result.note
        switch.write_text("1")
        (tmp_path / "metadata").write_bytes(right)
        block("write", 5)
        assert sated.load(drive, reading, ios=1).totals.errors == 0


@pytest.mark.parametrize("name", [*NAMESPACES, "PROT0001-1"])
def test_writes_to_a_file_on_a_namespace(nodes: dict[str, str], name: str) -> None:
    with drives.file_system(f"/dev/{nodes[name]}") as folder:
        for engine in ("io_uring", "threads"):
            drives.check_writes(nodes[name], folder, engine)


@pytest.mark.parametrize(("which", "engine"), [(0, "io_uring"), (1, "threads")])
def test_a_load_goes_on_when_a_controller_is_pulled(nodes: dict[str, str], which: int, engine: str) -> None:
    """What it had not answered yet the kernel sends through the other: every byte that was counted was read. Through
    which of them an I/O goes nobody knows, so both take their turns and each is pulled once."""
    node = nodes["DUAL0001-1"]
    both = [name for name in controllers() if Path("/sys/class/nvme", name, "serial").read_text().strip() == "DUAL0001"]
    Path("/sys/class/block", node, "device/iopolicy").write_text("round-robin")
    with sated.open(f"/dev/{node}") as drive:
        before = drives.counted(node)["read_bytes"]
        work = sated.Workload(op="randread", size="4k", threads=2, depth=4)
        job = sated.start(drive, work, seconds=60, interval=0.1, engine=engine)
        drives.wait_for(job, ios=200)
        Path("/sys/class/nvme", both[which], "device/remove").write_text("1")
        drives.wait_for(job, ios=500)
        job.stop()
        job.wait()
        moved = drives.counted(node)["read_bytes"] - before
    table = job.result().table
    assert sum(table["errors"].to_pylist()) == 0
    assert moved == sum(table["bytes"].to_pylist())
    assert drives.listed(node).controllers == (f"{both[1 - which]} live",)
    Path("/sys/bus/pci/rescan").write_text("1")
    for _ in range(100):
        if len(drives.listed(node).controllers) == 2:
            return
        time.sleep(0.1)
    raise AssertionError("the scan found no second controller")
