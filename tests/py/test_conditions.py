"""What stands in the way of using a drive: the conditions that health tells, on simulated drives of each protocol.

Which command leads to which state, and what a loss of power makes of it, is as the standards have it: ACS-4 4.17, 4.18,
ATA8-ACS 4.10 and ACS-2 4.8; SBC-4 4.11, 5.4 and 5.31; NVMe Base 2.0 5.14 and 8.21.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sated
from sated import _health, ata, nvme, scsi

X210 = "sim:x210,scale=1/64"
SAS = "sim:s840,scale=1/64"
NVME = "sim:generic-tlc-nvme,scale=1/128"

ATA_TELLS = {
    "security-enabled",
    "locked",
    "frozen",
    "password-expired",
    "sanitizing",
    "sanitize-failed",
    "sanitize-frozen",
    "standby",
    "hidden-sectors",
}
SAS_TELLS = {"sanitizing", "sanitize-failed", "formatting", "format-corrupt", "stopped", "standby", "not-ready"}
NVME_TELLS = {"sanitizing", "sanitize-failed", "formatting", "not-ready"}


def holds(drive: Any) -> set[str]:
    """What holds; what it is about is always told, and nothing fails."""
    told = drive.health()
    assert told.conditions is not None and set(told.conditions) <= set(told.conditions_told)
    assert len(told.advice) == len(told.conditions)
    running = {"sanitizing", "formatting"} & set(told.conditions)
    assert (told.operation_percent is not None) == bool(running)
    return set(told.conditions)


def tells(drive: Any) -> set[str]:
    return set(drive.health().conditions_told)


def percent(drive: Any) -> int:
    told: int = drive.health().operation_percent
    return told


# ---- ATA ------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=("hpa", "amac"))
def disk(request: pytest.FixtureRequest) -> Iterator[Any]:
    with sated.open(f"{X210},max_address={request.param}") as drive:
        yield drive


def test_a_new_ata_drive(disk: Any) -> None:
    assert holds(disk) == set() and tells(disk) == ATA_TELLS
    assert disk.health().warnings == ()


def test_security(disk: Any) -> None:
    disk.ata(ata.build_security_set_password(b"secret"))
    assert holds(disk) == {"security-enabled"}  # it locks at the next power-on only (ACS-4 4.18.4)
    disk.sim.power_cycle()
    assert holds(disk) == {"security-enabled", "locked"}
    for _ in range(5):
        with pytest.raises(sated.DriveError):
            disk.ata(ata.build_security_unlock(b"wrong"))
    assert holds(disk) == {"security-enabled", "locked", "password-expired"}
    told = disk.health()
    # DEVICE CONFIGURATION IDENTIFY is aborted by a locked drive: whether an overlay hides sectors is not known.
    assert tells(disk) in (ATA_TELLS, ATA_TELLS - {"hidden-sectors"})
    assert told.power_cycles == 2 and told.warnings == ()  # SMART is answered all the same
    disk.sim.power_cycle()
    assert holds(disk) == {"security-enabled", "locked"}
    disk.ata(ata.build_security_unlock(b"secret"))
    disk.ata(ata.build_security_freeze_lock())
    assert holds(disk) == {"security-enabled", "frozen"}
    disk.sim.power_cycle()
    disk.ata(ata.build_security_unlock(b"secret"))
    disk.ata(ata.build_security_disable_password(b"secret"))
    disk.ata(ata.build_security_freeze_lock())
    assert holds(disk) == {"frozen"}
    disk.sim.power_cycle()
    assert holds(disk) == set()


def test_ata_sanitize(disk: Any) -> None:
    disk.ata(ata.build_sanitize_block_erase())
    disk.sleep(2)  # of the model's 8
    assert holds(disk) == {"sanitizing"}
    assert percent(disk) in range(24, 28)
    assert tells(disk) == ATA_TELLS - {"hidden-sectors"}  # which it would abort
    assert disk.health().critical_warnings == ()  # SMART RETURN STATUS is let through, what SMART counts is not
    disk.sim.power_cycle()
    disk.sleep(2)
    assert holds(disk) == {"sanitizing"}
    assert percent(disk) in range(48, 56)
    disk.sleep(5)
    assert holds(disk) == set() and tells(disk) == ATA_TELLS


def test_ata_sanitize_fails(disk: Any) -> None:
    disk.sim.fail("operation-fails", count=1)
    disk.ata(ata.build_sanitize_block_erase(failure_mode=True))
    disk.sleep(10)
    # ACS-4 7.36.8: SANITIZE STATUS EXT is aborted, with the reason and nothing else.
    told = ATA_TELLS - {"sanitizing", "sanitize-frozen", "hidden-sectors"}
    for _ in range(2):
        assert holds(disk) == {"sanitize-failed"}
        assert told <= tells(disk) and "sanitizing" not in tells(disk)
        disk.sim.power_cycle()
    disk.ata(ata.build_sanitize_status(clear=True))
    assert holds(disk) == set()
    disk.ata(ata.build_sanitize_freeze_lock())
    assert holds(disk) == {"sanitize-frozen"}
    disk.sim.power_cycle()
    assert holds(disk) == set()


def test_registers_that_do_not_come(disk: Any) -> None:
    """A bridge that loses the registers leaves what only they tell unknown, and the rest as it is."""
    disk.ata(ata.build_security_set_password(b"secret"))
    disk.sim.fail("no-registers")
    told = disk.health()
    assert told.conditions == ("security-enabled",)
    assert set(told.conditions_told) == {"security-enabled", "locked", "frozen", "password-expired"}


def test_hidden_sectors(disk: Any) -> None:
    identify = ata.decode_identify(disk.ata(ata.build_identify_device()).data)
    sectors = identify.capacity.sectors
    if identify.areas.amac_supported:
        disk.ata(ata.build_set_accessible_max(sectors // 2 - 1))
    else:
        disk.ata(ata.build_read_native_max())
        disk.ata(ata.build_set_max(sectors // 2 - 1, keep=True))
    assert holds(disk) == {"hidden-sectors"}
    disk.sim.power_cycle()
    assert holds(disk) == {"hidden-sectors"}


def test_an_overlay_hides_sectors() -> None:
    with sated.open(X210) as drive:
        overlay = drive.ata(ata.build_dco_identify()).data
        whole = ata.decode_dco(overlay).max_lba
        drive.ata(ata.build_dco_set(overlay, max_lba=whole // 2))
        assert holds(drive) == {"hidden-sectors"}
        drive.ata(ata.build_dco_freeze_lock())  # now nobody knows: DEVICE CONFIGURATION IDENTIFY is aborted
        assert holds(drive) == set() and tells(drive) == ATA_TELLS - {"hidden-sectors"}
        drive.sim.power_cycle()
        assert holds(drive) == {"hidden-sectors"}


def test_ata_standby(disk: Any) -> None:
    disk.ata(ata.build_standby_immediate())
    assert holds(disk) == {"standby"}
    disk.ata(ata.build_read(0, 1))
    assert holds(disk) == set()


# ---- SCSI -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def sas() -> Iterator[Any]:
    with sated.open(SAS) as drive:
        yield drive


def test_a_new_sas_drive(sas: Any) -> None:
    assert holds(sas) == set() and tells(sas) == SAS_TELLS
    assert sas.health().warnings == ()


def test_sas_sanitize(sas: Any) -> None:
    sas.scsi(scsi.build_sanitize(scsi.Sanitize.BLOCK_ERASE))
    sas.sleep(1)
    first = percent(sas)
    assert holds(sas) == {"sanitizing"} == tells(sas)
    assert sas.health().temperature_c is not None  # of the log pages only this one is let through (SBC-4 4.11)
    sas.sim.power_cycle()
    sas.sleep(1)
    assert holds(sas) == {"sanitizing"} and 0 <= first < percent(sas) < 100
    sas.sleep(3600)
    assert holds(sas) == set() and tells(sas) == SAS_TELLS


def test_sas_sanitize_fails(sas: Any) -> None:
    sas.sim.fail("operation-fails", count=1)
    sas.scsi(scsi.build_sanitize(scsi.Sanitize.BLOCK_ERASE, ause=True))
    sas.sleep(3600)
    assert holds(sas) == {"sanitize-failed"} == tells(sas)
    sas.sim.power_cycle()
    assert holds(sas) == {"sanitize-failed"}
    sas.scsi(scsi.build_sanitize(scsi.Sanitize.EXIT_FAILURE, immed=False))
    assert "sanitize-failed" not in holds(sas)


def test_sas_format(sas: Any) -> None:
    sas.scsi(scsi.build_format_unit(list_len=4), data_out=bytes((0, 2, 0, 0)))  # IMMED
    sas.sleep(1)
    assert holds(sas) == {"formatting"} == tells(sas)
    assert 0 <= percent(sas) < 100
    sas.sim.power_cycle()
    assert holds(sas) == {"format-corrupt"}
    assert sas.health().power_cycles is None and sas.health().percentage_used is not None
    sas.sim.power_cycle()
    assert holds(sas) == {"format-corrupt"}
    sas.scsi(scsi.build_format_unit())
    assert holds(sas) == set()
    sas.sim.fail("operation-fails", count=1)
    with pytest.raises(sated.DriveError):
        sas.scsi(scsi.build_format_unit())
    assert holds(sas) == {"format-corrupt"}  # 03/31/01


def test_sas_power(sas: Any) -> None:
    sas.scsi(scsi.build_start_stop_unit())
    assert holds(sas) == {"stopped"} == tells(sas)
    sas.scsi(scsi.build_start_stop_unit(start=True))
    assert holds(sas) == set()
    for modifier in 0, 1:
        sas.scsi(scsi.build_start_stop_unit(power_condition=3, modifier=modifier))
        assert holds(sas) == {"standby"} and tells(sas) == SAS_TELLS
    sas.scsi(scsi.build_start_stop_unit(power_condition=2))
    assert holds(sas) == set()
    sas.scsi(scsi.build_start_stop_unit())
    sas.sim.power_cycle()
    assert holds(sas) == set()


@pytest.mark.parametrize(("ascq", "told"), [(0x01, {"not-ready"}), (0x09, set())])
def test_other_reasons_of_a_sas_drive(sas: Any, ascq: int, told: set[str]) -> None:
    """04h/01h: in process of becoming ready; 04h/09h: a self-test, which is no trouble (SPC-5)."""
    sas.sim.fail("fail", opcode=0x00, sense=(0x2, 0x04, ascq))
    assert holds(sas) == told and tells(sas) == told | {"standby"}


def test_only_a_progress_is_told(tmp_path: Path) -> None:
    """SPC-5, sense key specific data: with NO SENSE a progress indication may come too, here 4000h of 65536."""
    inquiry = "000006025b000002" + (b"ACME    " + b"Disk            " + b"0001").hex()
    sense = "70000000000000 0a 00000000 041b 00 804000"
    exchanges = [
        {"command": "scsi", "cdb": scsi.build_inquiry(alloc=96).cdb.hex(" "), "data": inquiry},
        {"command": "scsi", "cdb": scsi.build_request_sense().cdb.hex(" "), "data": sense.replace(" ", "")},
    ]
    path = tmp_path / "scsi.json"
    path.write_text(json.dumps({"sated_replay": 1, "protocol": "scsi", "exchanges": exchanges}))
    with sated.open(f"replay:{path}") as drive:
        assert holds(drive) == {"sanitizing"} == tells(drive) and percent(drive) == 25


# ---- NVMe -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def ssd() -> Iterator[Any]:
    with sated.open(NVME) as drive:
        yield drive


def test_a_new_nvme_drive(ssd: Any) -> None:
    assert holds(ssd) == set() and tells(ssd) == NVME_TELLS
    assert ssd.health().warnings == ()


def test_nvme_without_sanitize() -> None:
    with sated.open(f"{NVME},sanitize=0") as drive:
        told = drive.health()
        assert "log-81h" not in told.raw and set(told.conditions_told) == NVME_TELLS and told.conditions == ()


def test_nvme_sanitize(ssd: Any) -> None:
    ssd.nvme_admin(nvme.build_sanitize("block"))
    ssd.sleep(1)
    first = percent(ssd)
    assert holds(ssd) == {"sanitizing"}
    assert ssd.health().percentage_used is not None
    ssd.sim.power_cycle()
    ssd.sleep(1)
    assert holds(ssd) == {"sanitizing"} and 0 <= first < percent(ssd) < 100
    ssd.sleep(3600)
    assert holds(ssd) == set()


def test_nvme_sanitize_fails(ssd: Any) -> None:
    ssd.sim.fail("operation-fails", count=1)
    ssd.nvme_admin(nvme.build_sanitize("block", unrestricted_exit=True))
    ssd.sleep(3600)
    assert holds(ssd) == {"sanitize-failed"}
    ssd.sim.power_cycle()
    assert holds(ssd) == {"sanitize-failed"}
    ssd.nvme_admin(nvme.build_sanitize("exit-failure"))
    # Base 2.0, 5.16.1.25: the log keeps the failure; 8.21: the drive no longer refuses what it refused.
    assert holds(ssd) == set() and tells(ssd) == NVME_TELLS
    assert any("last one failed" in line for line in ssd.health().doubts)


def test_nvme_format(ssd: Any) -> None:
    ssd.sim.fail("stall")
    with pytest.raises(sated.SatedError):
        ssd.nvme_admin(nvme.build_format(nsid=1, lbaf=0))  # cancelled by the host, it goes on in the drive
    assert holds(ssd) == {"formatting"}
    assert percent(ssd) == 0
    ssd.sim.power_cycle()
    assert holds(ssd) == {"not-ready"}  # NSTAT; FPI no longer says that it goes on
    ssd.sim.heal()
    ssd.nvme_admin(nvme.build_format(nsid=1, lbaf=0))
    assert holds(ssd) == set()


# ---- How it is shown ------------------------------------------------------------------------------------------------


def test_shown(disk: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from sated.cli import main

    disk.ata(ata.build_security_set_password(b"secret"))
    disk.sim.power_cycle()
    disk.sim.save(tmp_path / "a.sim")
    html = disk.health()._repr_html_()
    assert "<th>conditions</th><td>security-enabled: a password" in html and "; locked: its data" in html
    assert main(["health", f"sim:{tmp_path / 'a.sim'}"]) == 0
    lines = [line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines() if line.startswith("condition")]
    assert [line.split(":")[0] for line in lines] == ["security-enabled", "locked"]
    assert "SECURITY UNLOCK" in lines[1]
    assert main(["health", f"sim:{tmp_path / 'a.sim'}", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["conditions"] == ["security-enabled", "locked"] and told["operation_percent"] is None
    assert "sanitizing" in told["conditions_told"]


def test_shown_of_others(sas: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from sated.cli import main

    sas.scsi(scsi.build_sanitize(scsi.Sanitize.BLOCK_ERASE))
    assert sas.health().advice[0].startswith(f"sanitizing, {percent(sas)} % done: ")
    assert main(["health", NVME]) == 0
    assert any(
        line.startswith("condition") and "none; it told of" in line for line in capsys.readouterr().out.splitlines()
    )
    assert main(["health", "sim:generic,scale=1/8"]) == 0
    assert any(line.split() == ["condition", "–"] for line in capsys.readouterr().out.splitlines())


def test_words() -> None:
    """Each bit has one word, and each word says what to do."""
    words = [word for word, _ in _health._CONDITIONS.values()]
    assert len(set(words)) == len(words) and set(words) >= ATA_TELLS | SAS_TELLS | NVME_TELLS
    assert sorted(_health._CONDITIONS) == [1 << i for i in range(len(words))]
