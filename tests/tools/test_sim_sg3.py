"""sg3_utils, sdparm and dd, unmodified, on a simulated SAS drive and on a SATA one behind SAT.

A scaled drive is used, as it is small; what takes time is told to the tools as on the whole one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from clients import Client, copy, make
from sated import ata, scsi
from sated.cli import main

pytestmark = pytest.mark.tools

SG = "/dev/sgsim0"
NODE = "/dev/sim0"
PIECE = bytes(range(1, 256)) * 257 + b"!"  # 64 KiB without a zero
UNIT = 8192  # of s840: what is mapped at a time


@pytest.fixture(scope="module")
def sas_drive(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return make(tmp_path_factory.mktemp("sas"), "s840,scale=1/64")


@pytest.fixture(scope="module")
def sata_drive(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return make(tmp_path_factory.mktemp("sata"), "x210,scale=1/64")


@pytest.fixture
def sas(sas_drive: Client, tmp_path: Path) -> Client:
    return copy(sas_drive, tmp_path)


@pytest.fixture
def sata(sata_drive: Client, tmp_path: Path) -> Client:
    folder = tmp_path / "sata"  # beside a SAS one, where a test has both
    folder.mkdir()
    return copy(sata_drive, folder)


def number(text: str, pattern: str) -> int:
    """The number that a tool tells behind some words."""
    found = re.search(pattern + r"\s*(0x[0-9a-f]+|\d+)", text)
    assert found, f"no {pattern!r} in:\n{text}"
    return int(found[1], 0)


def sense_of(client: Client) -> tuple[int, int, int]:
    """What REQUEST SENSE tells, by sated."""
    with client.drive() as drive:
        sense = scsi.decode_sense(drive.scsi(scsi.build_request_sense()).data)
    return sense.key, sense.asc, sense.ascq


def capacity(client: Client) -> tuple[int, int]:
    """Blocks and their size, by sated."""
    with client.drive() as drive:
        told = scsi.decode_capacity_16(drive.scsi(scsi.build_read_capacity()).data)
        assert (told.bytes, told.block_bytes) == (drive.identity.capacity_bytes, drive.identity.logical_block_bytes)
    return told.blocks, told.block_bytes


def attend(client: Client) -> None:
    """Takes away the unit attention that a power cycle or another capacity leaves (SPC-5, unit attention condition)."""
    client.run(f"sg_turs {SG}", code=6)


# ---- What the drive tells ----


def test_sg_inq(sas: Client) -> None:
    told = sas.run(f"sg_inq {SG}").out
    with sas.drive() as drive:
        identity = drive.identity
    assert f"Unit serial number: {identity.serial}" in told
    assert f"Product revision level: {identity.firmware}" in told
    assert re.search(r"Vendor identification: (\S+)", told)[1] == identity.vendor == "STEC"  # type: ignore[index]
    assert f"Product identification: {identity.model}" in told and "[SPC-5]" in told


def test_sg_vpd_all(sas: Client) -> None:
    told = sas.run(f"sg_vpd -a {SG}").out
    with sas.drive() as drive:
        pages = {page: drive.scsi(scsi.build_inquiry(page=page)).data for page in (0x00, 0x80, 0xB0, 0xB1, 0xB2)}
    supported = told.split("Supported VPD pages VPD page:\n")[1].split("Unit serial number VPD page")[0].split("\n")
    supported = [line for line in supported if line.strip()]
    assert len(supported) == pages[0x00][3]
    # SPC-5, SBC-4: every page is named as the standard has it, none is a vendor's.
    assert not re.search(r"vendor specific|0x[c-f][0-9a-f] ", "\n".join(supported))
    limits = scsi.decode_vpd(pages[0xB0])
    assert number(told, "Maximum unmap block descriptor count:") == limits.maximum_unmap_block_descriptor_count
    assert number(told, "Maximum write same length:") == limits.maximum_write_same_length
    assert number(told, "Optimal unmap granularity:") == limits.optimal_unmap_granularity == UNIT // 512
    assert "Non-rotating medium" in told and scsi.decode_vpd(pages[0xB1]).medium_rotation_rate == 1
    assert number(told, r"\(LBPU\):") == number(told, r"\(LBPWS\):") == number(told, r"\(LBPRZ\):") == 1


def test_sg_logs_all(sas: Client) -> None:
    sas.write(0, PIECE)
    sas.run(f"sg_dd if={SG} of=/dev/null bs=512 count=64")
    told = sas.run(f"sg_logs -a {SG}").out
    with sas.drive() as drive:
        health = drive.health()
    written, read = (
        number(told.split(f"{name} error counter page")[1], "Total bytes processed =") for name in ("Write", "Read")
    )
    # The reports are those of a whole drive: the scale times as much.
    assert written == health.host_bytes_written == len(PIECE) * 64
    assert read == health.host_bytes_read == 64 * 512 * 64
    assert number(told, "Percentage used endurance indicator:") == health.percentage_used == 0
    assert number(told, "Current temperature =") == health.temperature_c
    assert number(told, "Reference temperature =") == health.temperature_warning_c
    listed = re.findall(r"^    0x([0-9a-f]{2})  ", told, re.M)
    for page in listed:
        sas.run(f"sg_logs -p 0x{page} {SG}")


def test_sg_modes_all(sas: Client) -> None:
    told = sas.run(f"sg_modes -a {SG}").out
    for page in (
        "Read-Write error recovery",
        "Caching",
        "Control",
        "Power condition",
        "Informational exceptions control",
    ):
        assert f">> {page}, page_control: current" in told
    blocks, block_bytes = capacity(sas)
    assert f" 00     {blocks.to_bytes(4, 'big').hex(' ')} 00 {block_bytes.to_bytes(3, 'big').hex(' ')}" in told
    caching = bytes.fromhex(re.search(r">> Caching.*\n 00     (.*)", told)[1])  # type: ignore[index]
    assert caching[0] & 0x3F == 8 and caching[2] & 4


def test_sg_readcap(sas: Client) -> None:
    told = sas.run(f"sg_readcap -l {SG}").out
    blocks, block_bytes = capacity(sas)
    assert number(told, "Number of logical blocks=") == blocks
    assert number(told, "Logical block length=") == block_bytes == 512
    assert number(told, "Last LBA=") == blocks - 1
    assert "lbpme=1, lbprz=1" in told and number(told, "physical block length=") == UNIT
    assert number(sas.run(f"sg_readcap {SG}").out, "Device size:") == blocks * block_bytes


def test_sg_opcodes(sas: Client) -> None:
    told = sas.run(f"sg_opcodes {SG}").out
    with sas.drive() as drive:
        known = scsi.decode_opcodes(drive.scsi(scsi.build_report_opcodes()).data).commands
    rows = re.findall(r"^ ([0-9a-f]{2}) +([0-9a-f]+)? +(6|10|12|16|32) ", told, re.M)
    assert [(int(a, 16), int(b or "0", 16), int(n)) for a, b, n in rows] == [
        (c.opcode, c.service_action or 0, c.cdb_length) for c in known
    ]
    assert {(0x48, 1), (0x48, 2), (0x48, 3), (0x48, 0x1F)} <= {(c.opcode, c.service_action) for c in known}


def test_sg_opcodes_tells_times_that_hold(sas: Client) -> None:
    """With timeouts: what is erased is so within the nominal one, and not long before."""
    told = sas.run(f"sg_opcodes -R -o 0x48,2 {SG}").out
    nominal = number(told, "nominal timeout:")
    assert number(told, "recommended timeout:") >= 2 * nominal
    sas.run(f"sg_sanitize --block --quick --early {SG}")
    sas.sleep(nominal / 2)
    assert "sanitize in progress" in sas.run(f"sg_turs -v {SG}", code=2).err
    sas.sleep(nominal / 2)
    sas.run(f"sg_turs {SG}")


def test_sg_opcodes_task_management(sas: Client) -> None:
    told = sas.run(f"sg_opcodes -t {SG}").out
    # SPC-5: these two have to be there.
    assert "Abort task\n" in told and "Logical unit reset\n" in told


def test_sated_tells_the_same(sas: Client, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands info and health, after a tool has changed what they tell."""
    sas.run(f"sg_format --resize --count=100000 --quick {SG}")
    sas.run(f"sg_senddiag -s 5 {SG}")
    uri = f"sim:{sas.path}"
    assert main(["info", "--json", uri]) == 0
    identity = json.loads(capsys.readouterr().out)["identity"]
    assert main(["health", "--json", uri]) == 0
    health = json.loads(capsys.readouterr().out)
    assert identity["capacity_bytes"] == number(sas.run(f"sg_readcap {SG}").out, "Device size:") == 100000 * 512
    assert identity["native_capacity_bytes"] > identity["capacity_bytes"]
    assert (health["self_test_running"], health["self_test_result"]) == (False, "passed")


# ---- Contents ----


@pytest.mark.parametrize("written_by", ["dd", "sg_dd"])
def test_contents_are_the_same_through_both_nodes(sas: Client, tmp_path: Path, written_by: str) -> None:
    data, back = tmp_path / "data", tmp_path / "back"
    data.write_bytes(PIECE)
    at = 4096 * 512
    if written_by == "dd":
        sas.write(at, PIECE)
    else:
        sas.run(f"sg_dd if={data} of={SG} bs=512 count=128 seek=4096")
    assert sas.mapped() == len(PIECE) // UNIT
    sas.run(f"sg_sync {SG}")
    sas.power_cycle()
    attend(sas)
    sas.run(f"sg_dd if={SG} of={back} bs=512 count=128 skip=4096")
    assert back.read_bytes() == PIECE == sas.read(at, len(PIECE))
    with sas.drive() as drive:
        assert drive.scsi(scsi.build_read(4096, 128, block_bytes=512)).data == PIECE
    sas.run(f"sg_verify --lba=4096 --count=128 {SG}")


def test_compare_and_write(sas: Client, tmp_path: Path) -> None:
    pair = tmp_path / "pair"
    pair.write_bytes(PIECE[:512] + PIECE[512:1024])
    sas.write(0, PIECE[:512])
    line = f"sg_compare_and_write --lba=0 --num=1 --in={pair} --xferlen=1024 {SG}"
    sas.run(line)
    assert sas.read(0, 512) == PIECE[512:1024]
    assert "Miscompare" in sas.run(line, code=14).err  # now it is another block
    assert sas.read(0, 512) == PIECE[512:1024]


def test_unmap(sas: Client) -> None:
    sas.write(0, PIECE)
    before = sas.mapped()
    sas.run(f"sg_unmap --lba=32 --num=64 {SG}")
    assert sas.mapped() == before - 64 * 512 // UNIT
    expected = PIECE[: 32 * 512] + bytes(64 * 512) + PIECE[96 * 512 :]
    assert sas.read(0, len(PIECE)) == expected  # LBPRZ = 1
    sas.power_cycle()
    assert sas.read(0, len(PIECE)) == expected
    blocks = capacity(sas)[0]
    assert "LBA out of range" in sas.run(f"sg_unmap --lba={blocks} --num=16 {SG}", code=22).err


def test_get_lba_status(sas: Client) -> None:
    sas.write(UNIT, PIECE)
    told = sas.run(f"sg_get_lba_status --lba=0 {SG}").out
    assert number(told, "blocks:") == UNIT // 512 and "deallocated" in told
    told = sas.run(f"sg_get_lba_status --lba=16 {SG}").out
    assert number(told, "blocks:") == len(PIECE) // 512 and "mapped" in told


@pytest.mark.parametrize(
    ("options", "filled", "maps"),
    [
        ("--10 --in={}", True, True),
        ("--16 --in={}", True, True),
        ("--16 --ndob", False, True),
        ("--16 --unmap --in=/dev/zero", False, False),
        ("--16 --unmap --ndob", False, False),
        ("--10 --unmap --in=/dev/zero", False, False),
        # SBC-4 5.55: what is not zero cannot be what unmapped blocks read as, so it is written.
        ("--16 --unmap --in={}", True, True),
    ],
)
def test_write_same(sas: Client, tmp_path: Path, options: str, filled: bool, maps: bool) -> None:
    one = tmp_path / "one"
    one.write_bytes(PIECE[512:1024])
    sas.write(0, PIECE)
    length = "" if "ndob" in options else "--xferlen=512"
    sas.run(f"sg_write_same --lba=16 --num=32 {options.format(one)} {length} {SG}")
    filling = (PIECE[512:1024] if filled else bytes(512)) * 32
    assert sas.read(0, len(PIECE)) == PIECE[: 16 * 512] + filling + PIECE[48 * 512 :]
    assert sas.mapped() == (len(PIECE) - (0 if maps else 32 * 512)) // UNIT


# ---- Sanitize ----

# Options, what is read then, and seconds in which something has been done, and not all.
SANITIZE = {
    "block": ("--block", bytes(4), 20),
    "crypto": ("--crypto", bytes(4), 1),
    "zeros": ("--overwrite --zero", bytes(4), 1000),
    "pattern": ("--overwrite --pattern={} --ipl=4 --count=2 --invert", b"\x11\x22\x33\x44", 1000),
}


@pytest.mark.parametrize("kind", SANITIZE)
def test_sanitize(sas: Client, tmp_path: Path, kind: str) -> None:
    options, word, seconds = SANITIZE[kind]
    pattern = tmp_path / "pattern"
    pattern.write_bytes(b"\x11\x22\x33\x44")
    sas.write(UNIT, PIECE)
    size = capacity(sas)
    sas.run(f"sg_sanitize {options.format(pattern)} --quick --early {SG}")
    assert "sanitize in progress" in sas.run(f"sg_turs -v {SG}", code=2).err
    assert sense_of(sas) == (2, 0x04, 0x1B)
    assert sas.run(f"dd if={NODE} of=/dev/null count=1", code=1).err.count("Input/output error") == 1
    progress = [number(sas.run(f"sg_requests --progress {SG}").out, "Progress indication:")]
    sas.sleep(seconds)
    progress.append(number(sas.run(f"sg_requests --progress {SG}").out, "Progress indication:"))
    assert 0 <= progress[0] < progress[1] < 100
    # A power cycle does not get round it (SBC-4 4.11: it goes on when the power is back).
    sas.power_cycle()
    attend(sas)
    assert sense_of(sas) == (2, 0x04, 0x1B)
    sas.run(f"sg_turs --progress --num=1000 --delay=10000 {SG}")
    sas.run(f"sg_turs {SG}")
    assert sas.read(UNIT, 4096) == word * 1024
    assert capacity(sas) == size
    with sas.drive() as drive:
        mapped = drive.sim.counters.mapped_units
    assert (mapped == 0) == ("overwrite" not in options)


@pytest.mark.parametrize("ause", [False, True])
def test_sanitize_fails(sas: Client, ause: bool) -> None:
    sas.write(0, PIECE)
    sas.fail("operation-fails", count=1)
    sas.run(f"sg_sanitize --block --quick --early {'--ause' if ause else ''} {SG}")
    sas.sleep(1000)
    assert "Sanitize command failed" in sas.run(f"sg_turs -v {SG}", code=3).err
    sas.run(f"dd if={NODE} of=/dev/null count=1", code=1)
    # SBC-4 5.30.1: only a failure in the unrestricted mode can be left without an erase.
    left = sas.run(f"sg_sanitize --fail --quick {SG}", code=0 if ause else 5)
    if not ause:
        assert "Illegal request" in left.err
        assert sense_of(sas) == (3, 0x31, 0x03)
        sas.power_cycle()
        attend(sas)
        sas.run(f"sg_turs {SG}", code=3)
        # ... and not by an erase in the unrestricted mode either.
        sas.run(f"sg_sanitize --block --ause --quick --wait {SG}", code=5)
        sas.run(f"sg_sanitize --block --quick --wait {SG}")
        assert sas.mapped() == 0
    sas.run(f"sg_turs {SG}")
    sas.read(0, 512)


# ---- Format ----


def test_format(sas: Client) -> None:
    sas.write(0, PIECE)
    size = capacity(sas)
    sas.run(f"sg_format --format --quick --early {SG}")
    assert sense_of(sas) == (2, 0x04, 0x04)
    assert "format in progress" in sas.run(f"sg_turs -v {SG}", code=2).err
    sas.sleep(10000)
    sas.run(f"sg_turs {SG}")
    assert sas.read(0, len(PIECE)) == bytes(len(PIECE))
    assert sas.mapped() == 0 and capacity(sas) == size


@pytest.mark.parametrize("wait", ["", "--wait"])
def test_format_with_other_blocks(sas: Client, wait: str) -> None:
    sas.write(0, PIECE)
    blocks = capacity(sas)[0]
    sas.run(f"sg_format --format --quick --size=4096 {wait} {SG}")
    sas.run(f"sg_turs {SG}", code=None)
    told = sas.run(f"sg_readcap -l {SG}").out
    assert number(told, "Logical block length=") == 4096
    assert capacity(sas) == (blocks // 8, 4096)
    assert sas.mapped() == 0
    sas.write(0, PIECE)
    sas.power_cycle()
    attend(sas)
    assert capacity(sas) == (blocks // 8, 4096)
    assert sas.read(0, len(PIECE)) == PIECE
    sas.run(f"sg_format --format --quick --size=512 {SG}")
    assert capacity(sas) == (blocks, 512)
    assert sas.mapped() == 0


@pytest.mark.parametrize("how", ["--resize", "--format"])
def test_format_with_fewer_blocks(sas: Client, how: str) -> None:
    """A resize keeps what is there, a format does not; nothing beyond can be reached after either."""
    blocks = capacity(sas)[0]
    few = 1000 * UNIT // 512
    sas.write(0, PIECE)
    sas.write(few * 512, PIECE)
    sas.run(f"sg_format {how} --count={few} --quick {SG}")
    sas.run(f"sg_turs {SG}", code=None)
    assert number(sas.run(f"sg_readcap {SG}").out, "Number of logical blocks=") == few
    assert capacity(sas) == (few, 512)
    kept = PIECE if how == "--resize" else bytes(len(PIECE))
    assert sas.read(0, len(PIECE)) == kept
    assert sas.read(few * 512, len(PIECE)) == b""
    sas.run(f"sg_dd if={SG} of=/dev/null bs=512 count=1 skip={few}", code=22)  # LBA out of range
    sas.power_cycle()
    attend(sas)
    assert capacity(sas) == (few, 512)
    sas.run(f"sg_format {how} --count=-1 --quick {SG}")
    assert capacity(sas) == (blocks, 512)
    assert sas.read(0, len(PIECE)) == kept


@pytest.mark.parametrize("how", ["fault", "while it goes on"])
def test_format_interrupted(sas: Client, how: str) -> None:
    """SBC-4 4.37 and 5.4: its medium is format corrupt, 31h/00h, until it is formatted again."""
    sas.write(0, PIECE)
    if how == "fault":
        sas.fail("power-cut", opcode=0x04, outcome="half", count=1)
        sas.run(f"sg_format --format --quick --wait {SG}", code=None)
    else:
        sas.run(f"sg_format --format --quick --early {SG}")
        sas.sleep(1)
    for _ in range(2):
        sas.power_cycle()
        attend(sas)
        assert "Medium format corrupted" in sas.run(f"sg_turs -v {SG}", code=3).err
        assert sense_of(sas) == (3, 0x31, 0x00)
        sas.run(f"dd if={NODE} of=/dev/null count=1", code=1)
    sas.run(f"sg_format --format --quick {SG}")
    sas.run(f"sg_turs {SG}")
    assert sas.read(0, len(PIECE)) == bytes(len(PIECE))
    assert sas.mapped() == 0


def test_format_with_a_size_that_it_does_not_have(sas: Client) -> None:
    size = capacity(sas)
    sas.run(f"sg_format --format --quick --size=768 {SG}", code=5)
    assert capacity(sas) == size
    sas.run(f"sg_turs {SG}")


# ---- Power, self-tests, modes ----


def test_stop_and_start(sas: Client) -> None:
    sas.write(0, PIECE)
    cycles = number(sas.run(f"sg_logs -p 0xe {SG}").out, "Accumulated start-stop cycles =")
    sas.run(f"sg_start --stop {SG}")
    told = sas.run(f"sg_turs -v {SG}", code=2).err
    assert "initializing command required" in told
    assert sense_of(sas) == (2, 0x04, 0x02)
    sas.run(f"dd if={NODE} of=/dev/null count=1", code=1)
    sas.run(f"sg_inq {SG}")
    sas.run(f"sg_start --start {SG}")
    sas.run(f"sg_turs {SG}")
    assert sas.read(0, len(PIECE)) == PIECE
    assert number(sas.run(f"sg_logs -p 0xe {SG}").out, "Accumulated start-stop cycles =") == cycles + 1


@pytest.mark.parametrize(("option", "told"), [("--pc=2", "Idle condition"), ("--pc=3", "Standby condition")])
def test_power_conditions(sas: Client, option: str, told: str) -> None:
    sas.run(f"sg_start {option} {SG}")
    assert f"{told} activated by command" in sas.run(f"sg_requests {SG}").err
    assert sense_of(sas)[:2] == (0, 0x5E)
    sas.run(f"sg_turs {SG}")  # it is ready nevertheless
    sas.read(0, 512)  # and wakes up
    assert sense_of(sas) == (0, 0, 0)


def test_self_test_to_its_end(sas: Client) -> None:
    with sas.drive() as drive:
        assert drive.health().self_test_result == "never"
    sas.run(f"sg_senddiag -s 1 {SG}")
    assert "self test in progress" in sas.run(f"sg_logs -p 0x10 {SG}").out
    sas.sleep(30)
    with sas.drive() as drive:
        health = drive.health()
    assert health.self_test_running and 40 <= health.self_test_percent <= 60
    sas.run("sleep 40")  # by the drive's clock
    told = sas.run(f"sg_logs -p 0x10 {SG}").out
    assert "background short" in told and "completed without error" in told
    with sas.drive() as drive:
        assert (drive.health().self_test_running, drive.health().self_test_result) == (False, "passed")


def test_self_test_aborted(sas: Client) -> None:
    sas.run(f"sg_senddiag -s 2 {SG}")
    sas.run(f"sg_senddiag -s 4 {SG}")
    told = sas.run(f"sg_logs -p 0x10 {SG}").out
    assert "background extended" in told and "aborted" in told
    with sas.drive() as drive:
        assert drive.health().self_test_result == "aborted"


def test_self_test_fails(sas: Client) -> None:
    sas.run(f"sg_senddiag -t {SG}")
    sas.fail("operation-fails", count=1)
    sas.run(f"sg_senddiag -s 5 {SG}", code=3)  # in the foreground: hardware error
    assert "fail in first segment" not in sas.run(f"sg_logs -p 0x10 {SG}").out
    with sas.drive() as drive:
        assert drive.health().self_test_result == "failed"
    sas.run(f"sg_senddiag -s 5 {SG}")
    with sas.drive() as drive:
        assert drive.health().self_test_result == "passed"


@pytest.mark.parametrize("saved", [True, False])
def test_write_cache(sas: Client, saved: bool) -> None:
    assert number(sas.run(f"sdparm --get=WCE {SG}").out, "WCE ") == 1
    sas.run(f"sdparm --clear=WCE {'--save' if saved else ''} {SG}")
    told = sas.run(f"sg_modes -p 8 {SG}").out
    assert not bytes.fromhex(re.search(r" 00     (88.*)", told)[1])[2] & 4  # type: ignore[index]
    with sas.drive() as drive:
        data = drive.scsi(scsi.build_mode_sense(8)).data
        assert not scsi.decode_mode_page(data[scsi.decode_mode(data).pages[0].offset :]).wce
    sas.power_cycle()
    attend(sas)
    assert number(sas.run(f"sdparm --get=WCE {SG}").out, "WCE ") == (0 if saved else 1)


# ---- Faults ----


def test_command_fails_with_a_sense(sas: Client) -> None:
    sas.write(0, PIECE)
    sas.fail("fail", opcode=0x28, sense=(3, 0x11, 0), count=1)
    told = sas.run(f"sg_dd if={SG} of=/dev/null bs=512 count=8", code=None)
    assert "Unrecovered read error" in told.err or told.code == 3
    with sas.drive() as drive:
        assert drive.health().media_errors == 1
    assert number(sas.run(f"sg_logs -p 3 {SG}").out, "Total uncorrected errors =") == 1
    assert sas.read(0, len(PIECE)) == PIECE


def test_sanitize_stalls(sas: Client) -> None:
    sas.fail("stall")
    sas.run(f"sg_sanitize --block --quick --early {SG}")
    sas.sleep(100000)
    assert "Progress indication: 0.00%" in sas.run(f"sg_turs --progress {SG}", code=None).all
    sas.heal()
    sas.sleep(1000)
    sas.run(f"sg_turs {SG}")


def test_killed_process_is_a_power_cut(sas: Client) -> None:
    """What it had written to a cache that capacitors hold up is there."""
    sas.killed(f"dd of={NODE} bs={len(PIECE)} iflag=fullblock", PIECE)
    told = sas.run(f"sg_turs -v {SG}", code=6).err
    assert "Power on" in told
    assert sas.read(0, len(PIECE)) == PIECE


# ---- Behind SAT ----


def test_sat_inquiry(sata: Client) -> None:
    with sata.drive() as drive:
        identity = drive.identity
    told = sata.run(f"sg_inq {SG}").out
    assert "Vendor identification: ATA" in told and f"Unit serial number: {identity.serial}" in told
    told = sata.run(f"sg_vpd -a {SG}").out
    assert f"model: {identity.vendor} {identity.model}" in told
    assert f"serial number: {identity.serial}" in told and "ATA information (SAT) [ai]" in told


@pytest.mark.parametrize("length", [12, 16])
def test_sat_identify(sata: Client, sas: Client, length: int) -> None:
    told = sata.run(f"sg_sat_identify --len={length} -HH {SG}").out
    words = [word for line in told.splitlines() for word in re.findall(r"\b[0-9a-f]{4}\b", line[:48])]
    swapped = b"".join(bytes.fromhex(word)[::-1] for word in words)
    with sata.drive() as drive:
        assert swapped == drive.ata(ata.build_identify_device()).data
    assert "Invalid opcode" in sas.run(f"sg_sat_identify --len={length} {SG}", code=9).err  # it is not ATA


def test_sat_identify_behind_a_bridge_that_knows_twelve_bytes_only(sata: Client) -> None:
    sata.fail("twelve-only")
    sata.run(f"sg_sat_identify --len=16 {SG}", code=9)
    sata.run(f"sg_sat_identify --len=12 {SG}")
    with sata.drive() as drive:
        assert drive.identity.serial.encode() in drive.scsi(scsi.build_inquiry(page=0x80)).data


def test_sat_capacity(sata: Client) -> None:
    told = sata.run(f"sg_readcap -l {SG}").out
    with sata.drive() as drive:
        sectors = ata.decode_identify(drive.ata(ata.build_identify_device()).data).capacity.sectors
        assert drive.identity.capacity_bytes == sectors * 512
    assert number(told, "Number of logical blocks=") == sectors
    assert number(told, "physical block length=") == 4096


def test_sat_write_cache(sata: Client) -> None:
    """SAT-5 10.2.3: WCE of the caching mode page is word 85 bit 5 of IDENTIFY DEVICE."""
    for feature, on in ((0x82, False), (0x02, True)):
        sata.run(f"sg_sat_set_features --feature={feature:#x} {SG}")
        # Its code: there are no saved values to be asked for (39h/00h), as behind the kernel's translation.
        assert number(sata.run(f"sdparm --get=WCE {SG}", code=5).out, "WCE ") == on
    sata.run(f"sdparm --clear=WCE {SG}", code=None)
    with sata.drive() as drive:
        word = int.from_bytes(drive.ata(ata.build_identify_device()).data[170:172], "little")
    assert not word & 0x20


@pytest.mark.parametrize(
    "line", ["sg_unmap --lba=16 --num=32", "sg_write_same --16 --unmap --lba=16 --num=32 --xferlen=512"]
)
def test_sat_unmap_is_trim(sata: Client, line: str) -> None:
    sata.write(0, PIECE)
    before = sata.mapped()
    sata.run(f"{line} {SG}")
    assert sata.mapped() == before - 32 * 512 // 4096
    assert sata.read(0, len(PIECE)) == PIECE[: 16 * 512] + bytes(32 * 512) + PIECE[48 * 512 :]


def test_sat_refuses_what_ata_has_otherwise(sata: Client) -> None:
    sata.write(0, PIECE)
    for line in ("sg_sanitize --block --quick", "sg_format --format --quick", "sg_opcodes", "sg_get_lba_status"):
        assert sata.run(f"{line} {SG}", code=None).code in (5, 9), line
    assert sata.read(0, len(PIECE)) == PIECE


def test_sat_logs(sata: Client) -> None:
    told = sata.run(f"sg_sat_read_gplog {SG}").out
    first = re.search(r"^ 00     ([0-9a-f]{4}) ", told, re.M)
    assert first and first[1] == "0001"  # ACS-4 9.2: the version of the directory
    told = sata.run(f"sg_sat_phy_event {SG}").out
    assert number(told, "ICRC error bit set in Error register:") == 0


def test_sat_stop_and_start(sata: Client) -> None:
    """SAT-5 9.11: stopped is STANDBY; ATA drives wake up by themselves, and a TEST UNIT READY only asks their mode."""
    sata.write(0, PIECE)
    sata.run(f"sg_start --stop {SG}")
    with sata.drive() as drive:
        assert drive.ata(ata.build_check_power_mode()).registers.count == 0x00
    assert sata.read(0, len(PIECE)) == PIECE
    with sata.drive() as drive:
        assert drive.ata(ata.build_check_power_mode()).registers.count == 0xFF
