"""smartctl 7.3, unmodified, on simulated drives of all three protocols, against `sated info` and `sated health`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sated
from clients import BLOCK, Client, copy, make
from sated import ata

pytestmark = pytest.mark.tools

PIECE = os.urandom(256 * 1024)


@dataclass(frozen=True)
class Node:
    """A drive as smartctl is told to find it."""

    model: str
    scale: int
    device: str


NODES = {
    "x210": Node("x210", 64, "/dev/sim0"),
    "710": Node("710", 64, "/dev/sgsim0"),
    "s840": Node("s840", 64, "-d scsi /dev/sim0"),
    "nvme": Node("generic-tlc-nvme", 1024, "-d nvme /dev/nvmesim0"),
}


@dataclass(frozen=True)
class Drive:
    node: Node
    client: Client

    def smartctl(self, options: str, code: int = 0) -> str:
        """As text."""
        return self.client.run(f"smartctl {options} {self.node.device}", code=code).out

    def told(self, options: str, code: int = 0) -> Any:
        """As JSON."""
        return json.loads(self.smartctl(f"-j {options}", code))

    def health(self) -> sated.Health:
        with self.client.drive() as drive:
            return drive.health()

    def block(self) -> str:
        return "/dev/nvmesim0n1" if self.node.model == "generic-tlc-nvme" else "/dev/sim0"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Client]:
    """One of each, made when it is first asked for."""
    return {}


def drive_of(name: str, made: dict[str, Client], tmp_path: Path, folder: Path) -> Drive:
    node = NODES[name]
    if name not in made:
        made[name] = make(folder, f"{node.model},scale=1/{node.scale}")
    return Drive(node, copy(made[name], tmp_path))


@pytest.fixture(params=NODES)
def drive(
    request: pytest.FixtureRequest, made: dict[str, Client], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Drive:
    return drive_of(request.param, made, tmp_path, tmp_path_factory.mktemp("made"))


sata = pytest.mark.parametrize("drive", ["x210", "710"], indirect=True)
self_tests = pytest.mark.parametrize("drive", ["x210", "710", "s840"], indirect=True)
"""smartctl 7.3 starts no self-tests over NVMe."""
one = pytest.mark.parametrize("drive", ["x210"], indirect=True)
sas = pytest.mark.parametrize("drive", ["s840"], indirect=True)
nvme = pytest.mark.parametrize("drive", ["nvme"], indirect=True)


# ---- What it is, and how it is ----


def test_information(drive: Drive) -> None:
    told = drive.told("-i")
    with drive.client.drive() as opened:
        known = opened.identity
    name = told.get("model_name") or told.get("scsi_model_name")
    assert name.endswith(known.model)
    assert told["serial_number"] == known.serial
    assert told.get("firmware_version", told.get("scsi_revision")) == known.firmware
    assert told["device"]["protocol"] == {"ata": "ATA", "scsi": "SCSI", "nvme": "NVMe"}[str(known.protocol)]
    if known.protocol == "nvme":
        assert told["nvme_total_capacity"] == known.native_capacity_bytes
    else:
        assert told["user_capacity"]["bytes"] == known.capacity_bytes
        assert told["logical_block_size"] == known.logical_block_bytes
        assert told["physical_block_size"] == known.physical_block_bytes
        assert told["rotation_rate"] == known.rotation_rpm == 0


def test_everything(drive: Drive) -> None:
    """smartctl -x finds nothing to warn of in any page: no message, exit code 0."""
    told = drive.told("-x")
    assert told["smartctl"].get("messages", []) == [] and told["smartctl"]["exit_status"] == 0
    assert told["smart_status"]["passed"]
    pages = {
        "ATA": {"ata_smart_attributes", "ata_log_directory", "ata_smart_self_test_log", "ata_device_statistics"}
        | {"ata_smart_error_log", "sata_phy_event_counters"},
        "SCSI": {"scsi_error_counter_log", "scsi_grown_defect_list", "scsi_percentage_used_endurance_indicator"},
        "NVMe": {"nvme_smart_health_information_log", "nvme_version", "nvme_number_of_namespaces"},
    }[told["device"]["protocol"]]
    assert pages <= told.keys(), told.keys()


def counters(drive: Drive, told: Any) -> dict[str, int]:
    """What smartctl makes of the host's writes and reads, in bytes, and of power."""
    if "nvme_smart_health_information_log" in told:
        log = told["nvme_smart_health_information_log"]
        return {
            "written": log["data_units_written"] * 512000,
            "read": log["data_units_read"] * 512000,
            "cycles": log["power_cycles"],
            "unsafe": log["unsafe_shutdowns"],
        }
    if "scsi_error_counter_log" in told:
        log = told["scsi_error_counter_log"]
        return {
            name: round(float(log[way]["gigabytes_processed"]) * 1e9)
            for name, way in (("written", "write"), ("read", "read"))
        }
    pages = {
        page["number"]: {row["name"]: row["value"] for row in page["table"]}
        for page in told["ata_device_statistics"]["pages"]
    }
    raw = {row["id"]: row["raw"]["value"] for row in told["ata_smart_attributes"]["table"]}
    return {
        "written": pages[1]["Logical Sectors Written"] * BLOCK,
        "read": pages[1]["Logical Sectors Read"] * BLOCK,
        "cycles": raw[12],
        "unsafe": raw[174 if 174 in raw else 192],
    }


def test_counters(drive: Drive) -> None:
    """Of a drive that was written and read, and lost its power twice, once in the midst of a command."""
    line = f"dd of={drive.block()} bs={len(PIECE)} count=1 iflag=fullblock conv=fsync"
    drive.client.run(line, data=PIECE)
    drive.client.run(f"dd if={drive.block()} of=/dev/null bs={len(PIECE)} count=1")
    drive.client.power_cycle()
    drive.client.fail("power-cut", count=1)
    drive.client.run(f"dd if={drive.block()} of=/dev/null bs=4096 count=1", code=1)
    drive.client.power_cycle()
    told, known = drive.told("-x"), drive.health()
    found = counters(drive, told)
    factor = drive.node.scale
    exact = {"written": len(PIECE) * factor, "read": len(PIECE) * factor}
    unit = 512000 if "nvme" in drive.node.device else 1000000 if "scsi" in drive.node.device else 1
    for name, value in exact.items():
        assert abs(found[name] - value) <= unit, name
    assert known.host_bytes_written is not None and abs(known.host_bytes_written - found["written"]) <= unit
    assert known.host_bytes_read is not None and abs(known.host_bytes_read - found["read"]) <= unit
    if "cycles" in found:
        assert (found["cycles"], found["unsafe"]) == (3, 1) == (known.power_cycles, known.unsafe_shutdowns)
    assert told["temperature"]["current"] == round(known.temperature_c or 0)
    assert told["smart_status"]["passed"] and known.critical_warnings == ()


def test_hours(drive: Drive) -> None:
    drive.client.run("sleep 36000")
    told, known = drive.told("-x"), drive.health()
    assert told["power_on_time"]["hours"] == known.power_on_hours == 10
    drive.client.power_cycle()
    assert drive.told("-x")["power_on_time"]["hours"] == drive.health().power_on_hours == 10


@nvme
def test_nvme_failing(drive: Drive) -> None:
    """A temperature threshold below the temperature sets the critical warning, and smartctl ends with bit 3."""
    assert "PASSED" in drive.smartctl("-H")
    drive.client.run("nvme set-feature /dev/nvmesim0 -f 4 -v 0x100")
    assert "FAILED!\n- temperature is above or below threshold" in drive.smartctl("-H", 8)
    assert drive.health().critical_warnings == ("temperature",)
    drive.client.power_cycle()
    assert "PASSED" in drive.smartctl("-H") and drive.health().critical_warnings == ()


@sas
def test_scsi_failing(drive: Drive) -> None:
    """The TEST bit of the informational exceptions page asks for a false prediction (SPC-5 table 434)."""
    assert "Health Status: OK" in drive.smartctl("-H")
    drive.client.run("sdparm --set EWASC=1,TEST=1 /dev/sgsim0")
    assert "FAILURE PREDICTION THRESHOLD EXCEEDED (FALSE) [asc=5d, ascq=ff]" in drive.smartctl("-H", 8)
    assert drive.health().critical_warnings == ("failing",)
    drive.client.run("sdparm --set EWASC=1,TEST=0 /dev/sgsim0")
    assert "Health Status: OK" in drive.smartctl("-H") and drive.health().critical_warnings == ()


# ---- Self-tests ----


def newest(drive: Drive) -> dict[str, Any] | None:
    """Of the log of self-tests: what ran and how it ended."""
    text = drive.client.run(f"smartctl -l selftest {drive.node.device}", code=None).out
    row = re.search(r"^# 1  (?P<what>\S+ \S+) +(?P<how>\S.*?)  +(?P<rest>.*)$", text, re.MULTILINE)
    return row.groupdict() if row else None


@self_tests
def test_short(drive: Drive) -> None:
    assert newest(drive) is None and drive.health().self_test_result == "never"
    drive.smartctl("-t short")
    assert drive.health().self_test_running
    assert (
        "Can't start self-test without aborting current test"
        in drive.client.run(f"smartctl -t short {drive.node.device}", code=None).out
    )
    drive.client.run("sleep 30")
    known = drive.health()
    assert known.self_test_running and known.self_test_percent == pytest.approx(50, abs=10)
    drive.client.run("sleep 31")
    ended = newest(drive)
    assert ended is not None and "hort" in ended["what"] and ended["how"].startswith("Completed")
    assert (drive.health().self_test_running, drive.health().self_test_result) == (False, "passed")
    drive.client.power_cycle()
    assert newest(drive) == ended and drive.health().self_test_result == "passed"


@self_tests
def test_long_is_aborted(drive: Drive) -> None:
    drive.smartctl("-t long")
    drive.client.run("sleep 61")
    assert drive.health().self_test_running  # a short one would have ended
    drive.smartctl("-X")
    ended = newest(drive)
    assert ended is not None and ended["how"].startswith("Aborted")
    assert (drive.health().self_test_running, drive.health().self_test_result) == (False, "aborted")
    drive.client.run("sleep 100000")
    assert newest(drive) == ended


@self_tests
def test_short_that_fails(drive: Drive) -> None:
    drive.client.fail("operation-fails", count=1)
    drive.smartctl("-t short")
    drive.client.run("sleep 61")
    ended = newest(drive)
    assert ended is not None and re.match(r"Completed: read failure|Failed in segment", ended["how"])
    assert drive.health().self_test_result == "failed"
    drive.smartctl("-t short")
    drive.client.run("sleep 61")
    assert drive.health().self_test_result == "passed"


@one
def test_power_goes_in_a_test(drive: Drive) -> None:
    drive.smartctl("-t long")
    drive.client.run("sleep 60")
    drive.client.power_cycle()
    ended = newest(drive)
    assert ended is not None and ended["how"].startswith("Interrupted (host reset)")
    assert drive.health().self_test_result == "aborted"
    assert "Interrupted (host reset)" in drive.smartctl("-l xselftest")


@one
def test_captive(drive: Drive) -> None:
    """It holds the command until it has ended, on the drive's clock."""
    with drive.client.drive() as opened:
        before = opened.now_s()
    drive.smartctl("-C -t short")
    with drive.client.drive() as opened:
        assert opened.now_s() - before == pytest.approx(60, abs=10)
    ended = newest(drive)
    assert ended is not None and ended["what"] == "Short captive" and drive.health().self_test_result == "passed"


@nvme
def test_nvme_has_none_by_smartctl(drive: Drive) -> None:
    """It is nvme-cli's to start them; smartctl 7.3 says nothing, starts nothing."""
    drive.smartctl("-t short")
    assert not drive.health().self_test_running


# ---- Settings, faults ----


def settings(drive: Drive) -> Any:
    with drive.client.drive() as opened:
        return ata.decode_identify(opened.ata(ata.build_identify_device()).data)


@sata
def test_settings(drive: Drive) -> None:
    told = drive.smartctl("-g all")
    for line in (
        "APM level is:     254",
        "Rd look-ahead is: Enabled",
        "Write cache is:   Enabled",
        "NOT FROZEN [SEC1]",
    ):
        assert line in told
    drive.smartctl("-s wcache,off -s lookahead,off -s apm,128 -s security-freeze")
    told = drive.smartctl("-g all")
    for line in (
        "APM level is:     128",
        "Rd look-ahead is: Disabled",
        "Write cache is:   Disabled",
        "Disabled, frozen [SEC2]",
    ):
        assert line in told
    s = settings(drive)
    assert (s.settings.apm_level, s.settings.look_ahead_enabled, s.settings.write_cache_enabled) == (128, 0, 0)
    assert s.security.frozen
    drive.client.power_cycle()
    s = settings(drive)
    assert (s.settings.look_ahead_enabled, s.settings.write_cache_enabled, s.security.frozen) == (1, 1, 0)


@one
def test_smart_off(drive: Drive) -> None:
    drive.smartctl("-s off")
    assert "SMART support is: Disabled" in drive.smartctl("-i") and not settings(drive).settings.smart_enabled
    drive.client.power_cycle()  # ATA8-ACS 7.53.4: kept
    assert "SMART support is: Disabled" in drive.smartctl("-i")
    drive.smartctl("-s on")
    assert "SMART support is: Enabled" in drive.smartctl("-i") and settings(drive).settings.smart_enabled


@one
def test_asleep(drive: Drive) -> None:
    drive.smartctl("-s standby,now")
    assert "STANDBY mode, exit(2)" in drive.smartctl("-i -n standby", 2)
    drive.client.run("dd if=/dev/sim0 of=/dev/null bs=4096 count=1")
    assert "ACTIVE or IDLE" in drive.smartctl("-i -n standby")


@one
def test_without_registers(drive: Drive) -> None:
    """RETURN STATUS answers in registers only: both say that it did not."""
    drive.client.fail("no-registers")
    told = drive.smartctl("-H")
    assert "SMART Status not supported: Incomplete response, ATA output registers missing" in told
    assert "PASSED\nWarning: This result is based on an Attribute check." in told
    known = drive.health()
    assert known.critical_warnings is None and any("without the drive's registers" in line for line in known.warnings)
    drive.client.heal()
    assert "Warning" not in drive.smartctl("-H")


@one
def test_twelve_byte_bridge(drive: Drive) -> None:
    drive.client.fail("twelve-only")
    assert "SMART support is: Enabled" in drive.client.run("smartctl -i -d sat,12 /dev/sim0").out
    assert "unsupported scsi opcode" in drive.client.run("smartctl -i -d sat,16 /dev/sim0", code=2).out


@one
def test_locked(drive: Drive) -> None:
    """A locked drive still tells how it is (ACS-4 table 13: SMART is executable)."""
    with drive.client.drive() as opened:
        opened.ata(ata.build_security_set_password(b"secret", maximum=True))
        opened.sim.power_cycle()
    assert "ATA Security is:  ENABLED, PW level MAX, **LOCKED** [SEC4]" in drive.smartctl("-g security")
    assert "PASSED" in drive.smartctl("-H") and drive.health().critical_warnings == ()


def test_command_line_agrees(drive: Drive) -> None:
    """What `sated info` and `sated health` print is what the drive told smartctl."""
    told = drive.told("-x")

    def sated_says(command: str) -> Any:
        line = [sys.executable, "-m", "sated", command, f"sim:{drive.client.path}", "--json"]
        return json.loads(subprocess.run(line, capture_output=True, check=True, timeout=60).stdout)

    info, health = sated_says("info"), sated_says("health")
    assert info["identity"]["serial"] == told["serial_number"]
    assert health["power_on_hours"] == told["power_on_time"]["hours"]
    assert round(health["temperature_c"]) == told["temperature"]["current"]
    assert health["self_test_result"] == "never"
