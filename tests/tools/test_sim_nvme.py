"""nvme-cli and dd, unmodified, on a simulated NVMe subsystem: two controllers, and namespaces that come and go.

A scaled drive is used, as it is small; what takes time is told to the tools as on the whole one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from clients import Client, copy, make
from sated import nvme
from sated.cli import main

pytestmark = pytest.mark.tools

ADMIN = "/dev/nvmesim0"
OTHER = "/dev/nvmesim1"  # the second controller
NODE = "/dev/nvmesim0n1"
PIECE = bytes(range(1, 256)) * 257 + b"!"  # 64 KiB without a zero
UNIT = 4096


@pytest.fixture(scope="module")
def nvme_drive(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return make(tmp_path_factory.mktemp("nvme"), "generic-tlc-nvme,scale=1/1024")


@pytest.fixture(scope="module")
def cached_drive(tmp_path_factory: pytest.TempPathFactory) -> Client:
    """Without capacitors: it has a volatile write cache."""
    return make(tmp_path_factory.mktemp("cached"), "generic-tlc-nvme,scale=1/1024,capacitors=off")


@pytest.fixture
def drive(nvme_drive: Client, tmp_path: Path) -> Client:
    return copy(nvme_drive, tmp_path)


def told_json(client: Client, line: str) -> dict[str, Any]:
    """What the tool tells as JSON, where it has numbers of 128 bits in quotes."""
    found: dict[str, Any] = json.loads(client.run(f"{line} -o json").out)
    return {
        name: int(value) if isinstance(value, str) and value.strip().isdecimal() else value
        for name, value in found.items()
    }


def refused(client: Client, line: str, status: str) -> None:
    """That a command is refused, with this status, as nvme-cli names it."""
    told = client.run(line, code=1)
    assert f"NVMe status: {status}:" in told.all, told.all


def namespaces(client: Client, node: str = ADMIN, *, options: str = "") -> list[int]:
    """That list-ns tells, on which sated agrees."""
    told = client.run(f"nvme list-ns {node} {options}").out
    found = [int(n, 16) for n in re.findall(r"^\[ *\d+\]:(0x[0-9a-f]+)", told, re.M)]
    with client.drive() as drive:
        drive.sim.use_controller(int(node[-1]))
        cns = 0x10 if "-a" in options else 0x02
        listed = nvme.decode_ns_list(drive.nvme_admin(nvme.build_identify(cns, nsid=0)).data)
    assert found == list(listed.nsid)
    return found


def used(client: Client, nsid: int = 1) -> int:
    """NUSE, in bytes."""
    with client.drive() as drive:
        return int(nvme.decode_id_ns(drive.nvme_admin(nvme.build_identify(0, nsid=nsid)).data).used_bytes)


def sanitize_log(client: Client) -> tuple[int, int, int]:
    """Progress, status and passes, by the tool, on which sated agrees."""
    told = client.run(f"nvme sanitize-log {ADMIN} -H").out
    progress, status, passes = (
        int(re.search(pattern, told)[1], 0)  # type: ignore[index]
        for pattern in (r"\(SPROG\) :\s+(\S+)", r"\(SSTAT\) :\s+(\S+)", r"was overwrite:\s+(\S+)")
    )
    assert status < 8  # which is all that the tool shows of it there
    with client.drive() as drive:
        log = nvme.decode_sanitize_log(drive.nvme_admin(nvme.build_get_log(0x81, length=512)).data)
    assert (log.state, log.passes) == (status, passes)
    assert progress <= log.sprog <= progress + 2000  # asking takes time too
    return progress, status, passes


def self_tests(client: Client) -> tuple[int, int, list[int]]:
    """What goes on, how far it is, and the results, newest first."""
    told = client.run(f"nvme self-test-log {ADMIN}").out
    current = int(re.search(r"Current operation\s+: (\S+)", told)[1], 0)  # type: ignore[index]
    percent = int(re.search(r"Current Completion : (\d+)%", told)[1])  # type: ignore[index]
    results = [int(n, 16) for n in re.findall(r"Operation Result\s+: (\S+)", told)]
    return current, percent, [n for n in results if n != 15]


# ---- What the drive tells ----


def test_id_ctrl(drive: Client) -> None:
    told = told_json(drive, f"nvme id-ctrl {ADMIN}")
    with drive.drive() as d:
        identity = d.identity
        decoded = nvme.decode_id_ctrl(d.nvme_admin(nvme.build_identify(1)).data)
    assert told["sn"].strip() == identity.serial
    assert told["mn"].strip() == identity.model
    assert told["fr"].strip() == identity.firmware
    assert told["tnvmcap"] == identity.native_capacity_bytes
    for field in ("cntlid", "oacs", "oncs", "fna", "sanicap", "nn", "vwc", "mdts", "wctemp"):
        assert told[field] == getattr(decoded, field), field
    assert (told["cntlid"], told_json(drive, f"nvme id-ctrl {OTHER}")["cntlid"]) == (1, 2)


def test_id_ns(drive: Client) -> None:
    drive.write(0, PIECE, node=NODE)
    told = told_json(drive, f"nvme id-ns {NODE}")
    with drive.drive() as d:
        identity = d.identity
        assert d.sim.counters.mapped_units == len(PIECE) // UNIT
    assert told["nsze"] == told["ncap"] == identity.capacity_bytes // 512
    assert told["nuse"] == len(PIECE) // 512 == used(drive) // 512
    assert [f["ds"] for f in told["lbafs"]] == [9, 12]
    assert told["eui64"] in drive.run(f"nvme ns-descs {NODE}").out


def test_list_ns_and_ctrl(drive: Client) -> None:
    assert namespaces(drive) == namespaces(drive, OTHER) == namespaces(drive, options="-a") == [1]
    told = drive.run(f"nvme list-ctrl {ADMIN}").out
    assert re.findall(r"\]:(0x\d)", told) == ["0x1", "0x2"]
    assert drive.run(f"nvme list-ctrl {ADMIN} -n 1").out == told
    assert drive.run(f"nvme get-ns-id {NODE}").out.strip().endswith("namespace-id:1")


def test_ns_descs(drive: Client) -> None:
    told = drive.run(f"nvme ns-descs {NODE}").out
    with drive.drive() as d:
        descs = nvme.decode_ns_descs(d.nvme_admin(nvme.build_identify(3, nsid=1)).data)
    for kind, value in (("eui64", descs.eui64), ("nguid", descs.nguid)):
        assert f"{kind:<8}: {value.hex()}" in told
    assert descs.uuid.hex() == re.search(r"uuid +: (\S+)", told)[1].replace("-", "")  # type: ignore[index]


def test_smart_log(drive: Client) -> None:
    drive.write(0, PIECE * 16, node=NODE)
    drive.read(0, len(PIECE), node=NODE)
    drive.power_cycle()
    told = told_json(drive, f"nvme smart-log {ADMIN}")
    with drive.drive() as d:
        health = d.health()
    # 5.16.1.3: thousands of 512 bytes, rounded up; of a whole drive, thus the scale times as much.
    assert told["data_units_written"] == -(-len(PIECE) * 16 * 1024 // 512000)
    assert health.host_bytes_written == told["data_units_written"] * 512000
    assert health.host_bytes_read == told["data_units_read"] * 512000
    assert told["temperature"] == 31 + 273 and round(health.temperature_c) == 31
    assert told["percent_used"] == health.percentage_used
    assert told["avail_spare"] == health.available_spare == 100
    assert told["power_cycles"] == health.power_cycles == 2
    assert told["unsafe_shutdowns"] == health.unsafe_shutdowns == 0
    assert told["media_errors"] == health.media_errors == 0


def test_error_log(drive: Client) -> None:
    refused(drive, f"nvme get-feature {ADMIN} -f 0x7e", "Invalid Field in Command")
    told = drive.run(f"nvme error-log {ADMIN} -e 2").out
    assert re.search(r"error_count\s+: 1\n", told)
    assert "Invalid Field in Command" in told and re.search(r"parm_err_loc\s+: 0x28\n", told)  # byte 40: dword 10
    with drive.drive() as d:
        assert d.health().error_log_entries == 1
    drive.power_cycle()  # 5.16.1.2: entries may be lost then, their number is not
    assert told_json(drive, f"nvme smart-log {ADMIN}")["num_err_log_entries"] == 1


def test_fw_log(drive: Client) -> None:
    told = drive.run(f"nvme fw-log {ADMIN}").out
    with drive.drive() as d:
        assert f"({d.identity.firmware}" in told
    assert re.search(r"afi\s+: 0x1\n", told)


def test_endurance_log(drive: Client) -> None:
    drive.write(0, PIECE * 16, node=NODE)
    told = drive.run(f"nvme endurance-log {ADMIN} -g 1").out
    with drive.drive() as d:
        health = d.health()
    assert re.search(rf"percent_used\s+: {health.percentage_used:.0f}%", told)
    assert re.search(rf"avl_spare\s+: {health.available_spare:.0f}\n", told)
    # 5.16.1.10: in units of 10^9 bytes, rounded up.
    media = int(re.search(r"media_units_written\s+: (\d+)", told)[1])  # type: ignore[index]
    assert media == -(-health.media_bytes_written // 10**9) >= 1
    refused(drive, f"nvme endurance-log {ADMIN} -g 2", "Invalid Field in Command")


def test_effects_log(drive: Client) -> None:
    """With a command set, as nvme-cli 2.3 else wants to find a controller called nvme0 in sysfs."""
    told = drive.run(f"nvme effects-log {ADMIN} -c 0").out
    with drive.drive() as d:
        log = nvme.decode_effects_log(d.nvme_admin(nvme.build_get_log(5, length=4096)).data)
    admin, io = told.split("I/O Commands")
    for words, letters, text in ((log.acs, "ACS", admin), (log.iocs, "IOCS", io)):
        shown = {int(n): int(word, 16) for n, word in re.findall(rf"^{letters}(\d+) .*\] (\w+)", text, re.M)}
        assert shown == {i: word for i, word in enumerate(words) if word & 1}


def test_supported_logs_can_be_read(drive: Client) -> None:
    told = drive.run(f"nvme supported-log-pages {ADMIN}").out
    listed = [int(n, 16) for n in re.findall(r"LID (0x[0-9a-f]+)", told)]
    assert {1, 2, 3, 5, 6, 9, 0x81} <= set(listed)
    for lid in listed:
        group = " --lsi=1" if lid == 9 else ""
        drive.run(f"nvme get-log {ADMIN} --log-id={lid} --log-len=512{group}")
    refused(drive, f"nvme get-log {ADMIN} --log-id=0xd0 --log-len=512", "Invalid Log Page")


def test_sated_tells_the_same(drive: Client, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands info and health, after a tool has changed what they tell."""
    drive.run(f"nvme format {NODE} -l 1 --force")
    drive.run(f"nvme device-self-test {ADMIN} -s 1")
    uri = f"sim:{drive.path}"
    assert main(["info", "--json", uri]) == 0
    identity = json.loads(capsys.readouterr().out)["identity"]
    assert main(["health", "--json", uri]) == 0
    health = json.loads(capsys.readouterr().out)
    assert identity["capacity_bytes"] == told_json(drive, f"nvme id-ns {NODE}")["nsze"] * 4096
    assert identity["logical_block_bytes"] == 4096
    assert (health["self_test_running"], health["self_test_result"]) == (True, "never")
    assert health["power_cycles"] == told_json(drive, f"nvme smart-log {ADMIN}")["power_cycles"]


# ---- Contents ----


def test_contents(drive: Client, tmp_path: Path) -> None:
    data, back = tmp_path / "data", tmp_path / "back"
    data.write_bytes(PIECE[:4096])
    drive.run(f"nvme write {NODE} -s 100 -c 7 -z 4096 -d {data}")
    drive.run(f"nvme flush {NODE}")
    drive.power_cycle()
    drive.run(f"nvme read {NODE} -s 100 -c 7 -z 4096 -d {back}")
    assert back.read_bytes() == PIECE[:4096] == drive.read(100 * 512, 4096, node=NODE)
    with drive.drive() as d:
        assert d.nvme_io(nvme.build_read(nsid=1, slba=100, blocks=8, block_bytes=512)).data == PIECE[:4096]
    drive.run(f"nvme compare {NODE} -s 100 -c 7 -z 4096 -d {data}")
    refused(drive, f"nvme compare {NODE} -s 101 -c 7 -z 4096 -d {data}", "Compare Failure")
    drive.run(f"nvme verify {NODE} -s 100 -c 7")
    blocks = told_json(drive, f"nvme id-ns {NODE}")["nsze"]
    refused(drive, f"nvme read {NODE} -s {blocks} -c 0 -z 512 -d {back}", "LBA Out of Range")
    refused(drive, f"nvme verify {NODE} -s {blocks} -c 0", "LBA Out of Range")


def test_write_uncorrectable(drive: Client) -> None:
    drive.write(0, PIECE, node=NODE)
    drive.run(f"nvme write-uncor {NODE} -s 8 -c 7")
    for line in (f"nvme read {NODE} -s 8 -c 7 -z 4096 -d /dev/null", f"nvme verify {NODE} -s 8 -c 0"):
        refused(drive, line, "Unrecovered Read Error")
    drive.power_cycle()
    assert "Input/output error" in drive.run(f"dd if={NODE} of=/dev/null bs=4096 skip=1 count=1", code=1).err
    drive.write(4096, PIECE[4096:8192], node=NODE)
    assert drive.read(0, len(PIECE), node=NODE) == PIECE


@pytest.mark.parametrize(
    ("line", "maps"),
    [("write-zeroes -s 16 -c 31", True), ("write-zeroes -s 16 -c 31 -d", False), ("dsm -d -s 16 -b 32", False)],
)
def test_zeroes(drive: Client, line: str, maps: bool) -> None:
    drive.write(0, PIECE, node=NODE)
    name, options = line.split(maxsplit=1)
    before = drive.mapped()
    drive.run(f"nvme {name} {NODE} {options}")
    expected = PIECE[: 16 * 512] + bytes(32 * 512) + PIECE[48 * 512 :]
    assert drive.read(0, len(PIECE), node=NODE) == expected
    drive.power_cycle()
    assert drive.read(0, len(PIECE), node=NODE) == expected
    # NVM 3.2.8: without DEAC it may deallocate too, as what it says about deallocated blocks is zeros.
    assert maps or drive.mapped() == before - 32 * 512 // UNIT
    assert used(drive) == drive.mapped() * UNIT


def test_dsm_with_several_ranges(drive: Client) -> None:
    drive.write(0, PIECE, node=NODE)
    drive.run(f"nvme dsm {NODE} --ad --slbs=0,64 --blocks=8,16")
    assert drive.mapped() == (len(PIECE) - 24 * 512) // UNIT
    assert (
        drive.read(0, len(PIECE), node=NODE) == bytes(4096) + PIECE[4096 : 64 * 512] + bytes(8192) + PIECE[80 * 512 :]
    )


# ---- Features ----


@pytest.mark.parametrize("save", [False, True])
def test_features(drive: Client, save: bool) -> None:
    """Power Management (02h): what is saved stays over a power cycle, what is not does not."""
    drive.run(f"nvme set-feature {ADMIN} -f 2 -v 1 {'-s' if save else ''}")
    assert "value:0x00000001" in drive.run(f"nvme get-feature {ADMIN} -f 2").out
    with drive.drive() as d:
        assert d.nvme_admin(nvme.build_get_features(2)).result == 1
    drive.power_cycle()
    assert int(drive.run(f"nvme get-feature {ADMIN} -f 2").out.split("value:")[1], 16) == save
    refused(drive, f"nvme set-feature {ADMIN} -f 2 -v 9", "Invalid Field in Command")


def test_temperature_threshold_warns(drive: Client) -> None:
    drive.run(f"nvme set-feature {ADMIN} -f 4 -v {20 + 273}")
    told = told_json(drive, f"nvme smart-log {ADMIN}")
    assert told["critical_warning"] == 2
    with drive.drive() as d:
        assert d.health().critical_warnings == ("temperature",)
    drive.run(f"nvme set-feature {ADMIN} -f 4 -v {70 + 273}")
    assert told_json(drive, f"nvme smart-log {ADMIN}")["critical_warning"] == 0


def test_write_cache(cached_drive: Client, tmp_path: Path) -> None:
    """A cut of power loses what stood in the volatile cache, and no more; without it nothing is lost."""
    drive = copy(cached_drive, tmp_path)
    assert told_json(drive, f"nvme id-ctrl {ADMIN}")["vwc"] & 1
    drive.run(f"nvme set-feature {ADMIN} -f 6 -v 1")
    data = tmp_path / "data"
    data.write_bytes(PIECE[:4096])
    drive.run(f"nvme write {NODE} -s 0 -c 7 -z 4096 -d {data}")
    drive.run(f"nvme flush {NODE}")
    drive.run(f"nvme write {NODE} -s 8 -c 7 -z 4096 -d {data}")
    drive.fail("power-cut", opcode=0x00, count=1)
    drive.run(f"nvme flush {NODE}", code=1)
    drive.power_cycle()
    assert drive.read(0, 8192, node=NODE) == PIECE[:4096] + bytes(4096)
    drive.run(f"nvme set-feature {ADMIN} -f 6 -v 0")
    drive.run(f"nvme write {NODE} -s 8 -c 7 -z 4096 -d {data}")
    drive.fail("power-cut", opcode=0x00, count=1)
    drive.run(f"nvme flush {NODE}", code=1)
    drive.power_cycle()
    assert drive.read(0, 8192, node=NODE) == PIECE[:4096] * 2
    assert told_json(drive, f"nvme smart-log {ADMIN}")["unsafe_shutdowns"] == 2


# ---- Format ----


@pytest.mark.parametrize("ses", [0, 1, 2])
@pytest.mark.parametrize("format", [0, 1])
def test_format(drive: Client, format: int, ses: int) -> None:
    drive.write(0, PIECE, node=NODE)
    size = told_json(drive, f"nvme id-ns {NODE}")["nsze"]
    drive.run(f"nvme format {NODE} -l {format} -s {ses} --force")
    assert drive.read(0, len(PIECE), node=NODE) == bytes(len(PIECE))
    assert drive.mapped() == 0 and used(drive) == 0
    told = told_json(drive, f"nvme id-ns {NODE}")
    assert told["nsze"] == size // (8 if format else 1)
    assert told["flbas"] & 15 == format
    with drive.drive() as d:
        assert d.identity.logical_block_bytes == (4096 if format else 512)
    drive.write(0, PIECE, node=NODE)
    drive.power_cycle()
    assert drive.read(0, len(PIECE), node=NODE) == PIECE


@pytest.mark.parametrize(
    ("options", "status"),
    [("-l 5", "Invalid Format"), ("-i 1", "Invalid Format"), ("-s 3", "Invalid Field in Command")],
)
def test_format_refused(drive: Client, options: str, status: str) -> None:
    drive.write(0, PIECE, node=NODE)
    refused(drive, f"nvme format {NODE} {options} --force", status)
    assert drive.read(0, len(PIECE), node=NODE) == PIECE


@pytest.mark.parametrize("outcome", ["before", "half", "after"])
def test_power_cut_in_a_format(drive: Client, outcome: str) -> None:
    """The old data, a namespace that is not ready until it is formatted again, or the new one."""
    drive.write(0, PIECE, node=NODE)
    drive.fail("power-cut", opcode=0x80, outcome=outcome, count=1)
    drive.run(f"nvme format {NODE} -l 1 --force", code=1)
    drive.power_cycle()
    assert told_json(drive, f"nvme smart-log {ADMIN}")["unsafe_shutdowns"] == 1
    if outcome == "half":
        refused(drive, f"nvme read {NODE} -s 0 -c 0 -z 4096 -d /dev/null", "Namespace Not Ready")
        drive.run(f"dd if={NODE} of=/dev/null count=1", code=1)
        drive.power_cycle()
        refused(drive, f"nvme verify {NODE} -s 0 -c 0", "Namespace Not Ready")
        drive.run(f"nvme format {NODE} -l 0 --force")
    assert told_json(drive, f"nvme id-ns {NODE}")["flbas"] & 15 == (outcome == "after")
    assert drive.read(0, len(PIECE), node=NODE) == (PIECE if outcome == "before" else bytes(len(PIECE)))
    assert drive.mapped() == (len(PIECE) // UNIT if outcome == "before" else 0)


@pytest.mark.parametrize(
    ("fna", "ses", "both"), [(0, 0, False), (0, 1, False), (1, 0, True), (2, 0, False), (2, 1, True)]
)
def test_format_attributes(tmp_path: Path, fna: int, ses: int, both: int) -> None:
    """FNA (5.17.2.1): bit 0, a format is of all namespaces; bit 1, a secure erase is; bit 2, there is crypto erase."""
    drive = make(tmp_path, f"generic-tlc-nvme,scale=1/1024,fna={fna}")
    assert told_json(drive, f"nvme id-ctrl {ADMIN}")["fna"] == fna
    drive.run(f"nvme delete-ns {ADMIN} -n 1")
    for nsid in (create(drive, blocks=1000), create(drive, blocks=1000)):
        drive.run(f"nvme attach-ns {ADMIN} -n {nsid} -c 1")
        drive.write(0, PIECE, node=f"/dev/nvmesim0n{nsid}")
    refused(drive, f"nvme format {ADMIN} -n 1 -s 2 --force", "Invalid Field in Command")
    drive.run(f"nvme format {ADMIN} -n 1 -s {ses} --force")
    assert drive.read(0, len(PIECE), node="/dev/nvmesim0n1") == bytes(len(PIECE))
    assert drive.read(0, len(PIECE), node="/dev/nvmesim0n2") == (bytes(len(PIECE)) if both else PIECE)
    assert drive.mapped() == (0 if both else len(PIECE) // UNIT)


def test_format_fails(drive: Client) -> None:
    drive.fail("operation-fails", count=1)
    refused(drive, f"nvme format {NODE} --force", "Internal Error")
    refused(drive, f"nvme read {NODE} -s 0 -c 0 -z 512 -d /dev/null", "Namespace Not Ready")
    drive.run(f"nvme format {NODE} --force")
    drive.read(0, 512, node=NODE)


# ---- Sanitize ----

# Options, the seconds that it takes at most, and what is read then.
SANITIZE = {
    "block": ("-a start-block-erase", 20, bytes(4)),
    "crypto": ("-a start-crypto-erase", 4, bytes(4)),
    "overwrite": ("-a start-overwrite -n 2 -p 0x01020304", 410, bytes(4)),
    # 5.24: the pattern is a dword, inverted between passes, and it stays where nothing is deallocated.
    "pattern": ("-a start-overwrite -n 1 -p 0x01020304 -d", 205, bytes([4, 3, 2, 1])),
    "inverted": ("-a start-overwrite -n 2 -p 0x01020304 -i -d", 410, bytes([0xFB, 0xFC, 0xFD, 0xFE])),
}


@pytest.mark.parametrize("kind", SANITIZE)
def test_sanitize(drive: Client, kind: str) -> None:
    options, seconds, word = SANITIZE[kind]
    assert sanitize_log(drive) == (65535, 0, 0)
    drive.write(0, PIECE, node=NODE)
    drive.run(f"nvme sanitize {ADMIN} {options}")
    first, status, _ = sanitize_log(drive)
    assert status == 2
    refused(drive, f"nvme read {NODE} -s 0 -c 0 -z 512 -d /dev/null", "Sanitize In Progress")
    refused(drive, f"nvme format {NODE} --force", "Sanitize In Progress")
    drive.run(f"nvme id-ctrl {ADMIN}")  # allowed
    drive.sleep(seconds / 2)
    second, status, _ = sanitize_log(drive)
    assert status == 2 and first < 32768 <= second + 2000 < 65535
    drive.power_cycle()  # 8.21: it goes on when the power is back
    assert sanitize_log(drive)[1] == 2
    drive.sleep(seconds)
    passes = re.search(r"-n (\d)", options)
    assert sanitize_log(drive) == (65535, 1, int(passes[1]) if passes else 0)
    assert drive.read(0, len(PIECE), node=NODE) == word * (len(PIECE) // 4)
    assert (drive.mapped() == 0) == ("-d" not in options.split())
    assert "Global Data Erased set" in drive.run(f"nvme sanitize-log {ADMIN} -H").out
    drive.write(0, PIECE, node=NODE)
    assert "Global Data Erased cleared" in drive.run(f"nvme sanitize-log {ADMIN} -H").out


@pytest.mark.parametrize("ause", [False, True])
def test_sanitize_fails(drive: Client, ause: bool) -> None:
    drive.write(0, PIECE, node=NODE)
    drive.fail("operation-fails", count=1)
    drive.run(f"nvme sanitize {ADMIN} -a start-block-erase {'-u' if ause else ''}")
    drive.sleep(30)
    assert sanitize_log(drive)[1] == 3
    drive.power_cycle()
    refused(drive, f"nvme read {NODE} -s 0 -c 0 -z 512 -d /dev/null", "Sanitize Failed")
    # 5.24: only a failure in the unrestricted mode can be left without an erase.
    if ause:
        drive.run(f"nvme sanitize {ADMIN} -a exit-failure")
    else:
        refused(drive, f"nvme sanitize {ADMIN} -a exit-failure", "Sanitize Failed")
        refused(drive, f"nvme sanitize {ADMIN} -a start-block-erase -u", "Sanitize Failed")
        drive.run(f"nvme sanitize {ADMIN} -a start-block-erase")
        drive.sleep(30)
        assert sanitize_log(drive)[1] == 1 and drive.mapped() == 0
    drive.read(0, 512, node=NODE)


def test_sanitize_where_no_deallocate_is_inhibited(tmp_path: Path) -> None:
    """5.27.1.19: with NODRM = 0 the command is refused, with 1 it deallocates nevertheless, and says so (status 4)."""
    drive = make(tmp_path, "generic-tlc-nvme,scale=1/1024,sanitize=2,no_deallocate_inhibited=on")
    drive.write(0, PIECE, node=NODE)
    for action in ("start-crypto-erase", "start-overwrite"):  # SANICAP does not have them
        refused(drive, f"nvme sanitize {ADMIN} -a {action}", "Invalid Field in Command")
    refused(drive, f"nvme sanitize {ADMIN} -a start-block-erase -d", "Invalid Field in Command")
    assert drive.read(0, len(PIECE), node=NODE) == PIECE
    drive.run(f"nvme set-feature {ADMIN} -f 0x17 -v 1")
    drive.run(f"nvme sanitize {ADMIN} -a start-block-erase -d")
    drive.sleep(30)
    assert sanitize_log(drive)[:2] == (65535, 4)
    assert drive.mapped() == 0


def test_sanitize_stalls(drive: Client) -> None:
    drive.fail("stall")
    drive.run(f"nvme sanitize {ADMIN} -a start-crypto-erase")
    drive.sleep(100000)
    assert sanitize_log(drive)[:2] == (0, 2)
    drive.heal()
    drive.sleep(5)
    assert sanitize_log(drive)[:2] == (65535, 1)


# ---- Namespaces ----


def create(client: Client, *, blocks: int, format: int = 0, shared: bool = True) -> int:
    told = client.run(f"nvme create-ns {ADMIN} -s {blocks} -c {blocks} -f {format} -m {int(shared)}")
    return int(re.search(r"nsid:(\d+)", told.out)[1])  # type: ignore[index]


def exists(client: Client, nsid: int) -> bool:
    told = client.run(f"nvme id-ns /dev/nvmesim0n{nsid}", code=None)
    assert told.code == 0 or "No such file or directory" in told.err
    return told.code == 0


def test_namespaces_come_and_go(drive: Client) -> None:
    drive.write(0, PIECE, node=NODE)
    drive.run(f"nvme delete-ns {ADMIN} -n 1")
    assert drive.mapped() == 0
    assert not exists(drive, 1) and namespaces(drive) == namespaces(drive, options="-a") == []
    capacity = told_json(drive, f"nvme id-ctrl {ADMIN}")["tnvmcap"]
    assert told_json(drive, f"nvme id-ctrl {ADMIN}")["unvmcap"] == capacity
    assert create(drive, blocks=1000000) == 1
    assert create(drive, blocks=100000, format=1) == 2
    assert (namespaces(drive, options="-a"), namespaces(drive)) == ([1, 2], [])
    assert not exists(drive, 1)
    drive.run(f"nvme attach-ns {ADMIN} -n 1 -c 1")
    assert exists(drive, 1) and namespaces(drive) == [1] and namespaces(drive, OTHER) == []
    refused(drive, f"nvme attach-ns {ADMIN} -n 1 -c 1", "Namespace Already Attached")
    drive.run(f"nvme attach-ns {ADMIN} -n 2 -c 1,2")
    assert namespaces(drive) == [1, 2] and namespaces(drive, OTHER) == [2]
    drive.write(0, PIECE, node="/dev/nvmesim0n1")
    drive.write(0, PIECE[::-1], node="/dev/nvmesim0n2")
    drive.power_cycle()
    assert drive.read(0, len(PIECE), node="/dev/nvmesim0n1") == PIECE
    assert drive.read(0, len(PIECE), node="/dev/nvmesim0n2") == PIECE[::-1]
    assert drive.read(100000 * 4096, 4096, node="/dev/nvmesim0n2") == b""
    drive.run(f"nvme detach-ns {ADMIN} -n 1 -c 1")
    assert not exists(drive, 1) and exists(drive, 2)
    refused(drive, f"nvme detach-ns {ADMIN} -n 1 -c 1", "Namespace Not Attached")
    drive.run(f"nvme attach-ns {ADMIN} -n 1 -c 1")
    assert drive.read(0, len(PIECE), node="/dev/nvmesim0n1") == PIECE  # detaching loses nothing
    drive.run(f"nvme delete-ns {ADMIN} -n 2")
    assert exists(drive, 1) and not exists(drive, 2)
    assert drive.mapped() == len(PIECE) // UNIT
    drive.run(f"nvme delete-ns {ADMIN} -n 0xffffffff")
    assert namespaces(drive, options="-a") == [] and drive.mapped() == 0


def test_namespace_of_the_other_controller(drive: Client) -> None:
    """A node of a namespace leads through whichever controller has it."""
    drive.write(0, PIECE, node=NODE)
    drive.run(f"nvme detach-ns {ADMIN} -n 1 -c 1")
    assert namespaces(drive) == [] and namespaces(drive, OTHER) == [1]
    assert drive.read(0, len(PIECE), node=NODE) == PIECE
    drive.run(f"nvme detach-ns {ADMIN} -n 1 -c 2")
    assert not exists(drive, 1)


def test_private_namespace(drive: Client) -> None:
    drive.run(f"nvme delete-ns {ADMIN} -n 1")
    create(drive, blocks=1000, shared=False)
    drive.run(f"nvme attach-ns {ADMIN} -n 1 -c 2")
    refused(drive, f"nvme attach-ns {ADMIN} -n 1 -c 1", "Namespace Is Private")
    assert namespaces(drive) == [] and namespaces(drive, OTHER) == [1]


def test_namespaces_that_do_not_fit(drive: Client) -> None:
    refused(drive, f"nvme create-ns {ADMIN} -s 8 -c 8 -f 0", "Namespace Insufficient Capacity")
    drive.run(f"nvme delete-ns {ADMIN} -n 1")
    refused(drive, f"nvme create-ns {ADMIN} -s 8 -c 8 -f 7", "Invalid Format")
    refused(drive, f"nvme create-ns {ADMIN} -s 80 -c 8 -f 0", "Thin Provisioning Not Supported")
    refused(drive, f"nvme attach-ns {ADMIN} -n 1 -c 1", "Invalid Field in Command")
    create(drive, blocks=8)
    refused(drive, f"nvme attach-ns {ADMIN} -n 1 -c 3", "Controller List Invalid")
    for _ in range(15):
        create(drive, blocks=8)
    refused(drive, f"nvme create-ns {ADMIN} -s 8 -c 8 -f 0", "Namespace Identifier Unavailable")


def test_changed_namespaces(drive: Client) -> None:
    assert drive.run(f"nvme changed-ns-list-log {ADMIN}").out == ""
    drive.run(f"nvme detach-ns {ADMIN} -n 1 -c 1")
    for _ in range(2):  # the tool keeps the event (RAE)
        assert "[   0]:0x1" in drive.run(f"nvme changed-ns-list-log {ADMIN}").out
    assert drive.run(f"nvme changed-ns-list-log {OTHER}").out == ""


def test_io_commands_on_a_controllers_node(drive: Client) -> None:
    """As the kernel takes them: for the only namespace that the controller has, else not (EINVAL, ENOTTY)."""
    drive.run(f"nvme flush {ADMIN} -n 1")
    assert "Invalid argument" in drive.run(f"nvme flush {ADMIN} -n 2", code=1).all
    drive.run(f"nvme delete-ns {ADMIN} -n 1")
    assert "Inappropriate ioctl" in drive.run(f"nvme flush {ADMIN} -n 1", code=1).all
    for nsid in (create(drive, blocks=1000), create(drive, blocks=1000)):
        drive.run(f"nvme attach-ns {ADMIN} -n {nsid} -c 1")
    assert "Invalid argument" in drive.run(f"nvme flush {ADMIN} -n 1", code=1).all
    drive.run("nvme flush /dev/nvmesim0n2")


def test_format_of_one_namespace(drive: Client) -> None:
    drive.run(f"nvme delete-ns {ADMIN} -n 1")
    for nsid in (create(drive, blocks=100000), create(drive, blocks=100000)):
        drive.run(f"nvme attach-ns {ADMIN} -n {nsid} -c 1,2")
        drive.write(0, PIECE, node=f"/dev/nvmesim0n{nsid}")
    drive.run(f"nvme format {ADMIN} -n 2 -s 1 -l 1 --force")
    assert drive.read(0, len(PIECE), node="/dev/nvmesim0n1") == PIECE
    assert drive.read(0, len(PIECE), node="/dev/nvmesim0n2") == bytes(len(PIECE))
    assert drive.mapped() == len(PIECE) // UNIT
    assert (used(drive, 1), used(drive, 2)) == (len(PIECE), 0)
    # A sanitize is of the whole subsystem.
    drive.run(f"nvme sanitize {OTHER} -a start-block-erase")
    drive.sleep(30)
    assert drive.read(0, len(PIECE), node="/dev/nvmesim0n1") == bytes(len(PIECE)) and drive.mapped() == 0


# ---- Self-tests ----


def test_self_test_to_its_end(drive: Client) -> None:
    assert self_tests(drive) == (0, 0, [])
    drive.run(f"nvme device-self-test {ADMIN} -s 1 -n 1")
    drive.run("sleep 30")  # by the drive's clock
    assert self_tests(drive) == (1, 50, [])
    with drive.drive() as d:
        assert d.health().self_test_running and 49 <= (d.health().self_test_percent or 0) <= 52
    refused(drive, f"nvme device-self-test {ADMIN} -s 1", "Device Self-test In Progress")
    drive.run("sleep 31")
    assert self_tests(drive) == (0, 0, [0])
    with drive.drive() as d:
        assert (d.health().self_test_running, d.health().self_test_result) == (False, "passed")


@pytest.mark.parametrize(
    ("how", "result"), [("abort", 1), ("format", 4), ("delete", 3), ("sanitize", 9), ("reset", 2), ("fail", 7)]
)
def test_self_test_ends_early(drive: Client, how: str, result: int) -> None:
    """The results of figure 100 of Base 2.0c."""
    if how == "fail":
        drive.fail("operation-fails", count=1)
    drive.run(f"nvme device-self-test {ADMIN} -s 1 -n 1")
    if how == "reset":
        drive.power_cycle()
    elif how == "fail":
        drive.sleep(61)
    else:
        lines = {
            "abort": f"nvme device-self-test {ADMIN} -s 0xf",
            "format": f"nvme format {NODE} --force",
            "delete": f"nvme delete-ns {ADMIN} -n 1",
            "sanitize": f"nvme sanitize {ADMIN} -a start-crypto-erase",
        }
        drive.run(lines[how])
        drive.sleep(10)
    assert self_tests(drive) == (0, 0, [result])


def test_extended_self_test_goes_on_after_a_power_cycle(drive: Client) -> None:
    drive.run(f"nvme device-self-test {ADMIN} -s 2")
    minutes = told_json(drive, f"nvme id-ctrl {ADMIN}")["edstt"]
    drive.sleep(minutes * 30)
    drive.power_cycle()
    assert self_tests(drive)[:2] == (2, 50)
    drive.sleep(minutes * 30 + 1)
    assert self_tests(drive) == (0, 0, [0])


# ---- Faults, and what the kernel does ----


def test_reset_and_rescan(drive: Client) -> None:
    drive.write(0, PIECE, node=NODE)
    drive.run(f"nvme reset {ADMIN}")
    drive.run(f"nvme ns-rescan {ADMIN}")
    assert drive.read(0, len(PIECE), node=NODE) == PIECE
    assert told_json(drive, f"nvme smart-log {ADMIN}")["power_cycles"] == 1


def test_command_fails_with_a_status(drive: Client) -> None:
    drive.write(0, PIECE, node=NODE)
    drive.fail("fail", opcode=0x02, nvme_status=0x281, count=1)
    refused(drive, f"nvme read {NODE} -s 0 -c 0 -z 512 -d /dev/null", "Unrecovered Read Error")
    assert drive.read(0, len(PIECE), node=NODE) == PIECE
    drive.fail("fail", opcode=0x06, nvme_status=0x4006, count=1)
    refused(drive, f"nvme id-ctrl {ADMIN}", "Internal Error")
    drive.run(f"nvme id-ctrl {ADMIN}")


def test_drive_that_sends_4_kib(drive: Client) -> None:
    """A drive that ignores NUMD: the tool asks for 512 bytes, 4096 come, and neither it nor sated is overrun."""
    line = f"nvme get-log {ADMIN} --log-id=2 --log-len=512 -b"
    before = drive.run(line).out
    drive.fail("dma-4k")
    assert len(drive.run(line).out) == len(before)
    with drive.drive() as d:
        assert len(d.nvme_admin(nvme.build_get_log(2, length=512)).data) == 512
        assert d.health().temperature_c is not None
    drive.heal()
    assert drive.run(line).out[:10] == before[:10]


def test_killed_process_is_a_power_cut(drive: Client) -> None:
    """What it had written to a cache that capacitors hold up is there."""
    drive.killed(f"dd of={NODE} bs={len(PIECE)} iflag=fullblock", PIECE)
    told = told_json(drive, f"nvme smart-log {ADMIN}")
    assert (told["unsafe_shutdowns"], told["power_cycles"]) == (1, 2)
    with drive.drive() as d:
        assert d.health().unsafe_shutdowns == 1
    assert drive.read(0, len(PIECE), node=NODE) == PIECE


def test_no_such_node(drive: Client) -> None:
    """A drive has the nodes of its own protocol only."""
    for node in ("/dev/nvmesim0n2", "/dev/sim0", "/dev/sgsim0", "/dev/nvmesim1n1"):
        told = drive.run(f"dd if={node} of=/dev/null count=1", code=1)
        assert "No such file or directory" in told.err
