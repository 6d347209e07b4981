"""What hdparm and sg3_utils read out of the simulated ATA drive's pages, without a device."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import sated
from sated import ata, scsi

pytestmark = pytest.mark.tools
X210 = "sim:x210,scale=1/64"


def hdparm(drive: Any) -> str:
    """What `hdparm -I` says of IDENTIFY DEVICE data."""
    if shutil.which("hdparm") is None:
        pytest.skip("hdparm is not installed")
    data = drive.ata(ata.build_identify_device()).data
    words = [f"{data[i] | data[i + 1] << 8:04x}" for i in range(0, 512, 2)]
    lines = "\n".join(" ".join(words[i : i + 8]) for i in range(0, 256, 8))
    ran = subprocess.run(["hdparm", "--Istdin"], input=lines, capture_output=True, text=True, check=True, timeout=20)
    return ran.stdout


def words(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_hdparm_of_a_new_drive() -> None:
    with sated.open(X210) as drive:
        told = hdparm(drive)
        serial = str(drive.identity.serial)
        sectors = drive.identity.capacity_bytes // 512
    assert "Checksum: correct" in told and f"Serial Number:      {serial}" in told
    lines = words(told)
    for line in (
        f"LBA48 user addressable sectors: {sectors}",
        "Physical Sector size: 4096 bytes",
        "Nominal Media Rotation Rate: Solid State Device",
        "Queue depth: 32",
        "* SMART feature set",
        "Security Mode feature set",
        "* Write cache",
        "* Host Protected Area feature set",
        "* Device Configuration Overlay feature set",
        "* BLOCK_ERASE_EXT command",
        "* CRYPTO_SCRAMBLE_EXT command",
        "* OVERWRITE_EXT command",
        "* SANITIZE_ANTIFREEZE_LOCK_EXT command",
        "* Data Set Management TRIM supported (limit 8 blocks)",
        "* Deterministic read ZEROs after TRIM",
        "* Native Command Queueing (NCQ)",
        "* Gen3 signaling speed (6.0Gb/s)",
        "Master password revision code = 65534",
        "not enabled",
        "not frozen",
        "2min for SECURITY ERASE UNIT. 2min for ENHANCED SECURITY ERASE UNIT.",
    ):
        assert line in lines, line


def test_hdparm_follows_the_state() -> None:
    with sated.open(X210) as drive:
        drive.ata(ata.build_security_set_password(b"p", maximum=True))
        drive.ata(ata.build_set_write_cache(False))
        lines = words(hdparm(drive))
        assert "enabled" in lines and "not locked" in lines and "Security level maximum" in lines
        assert "Write cache" in lines and "* Security Mode feature set" in lines
        drive.sim.power_cycle()
        assert "locked" in words(hdparm(drive)) and "* Write cache" in words(hdparm(drive))
        for _ in range(5):
            with pytest.raises(sated.DriveError):
                drive.ata(ata.build_security_unlock(b"wrong"))
        assert "expired: security count" in words(hdparm(drive))
    with sated.open(X210 + ",max_address=amac") as drive:
        lines = words(hdparm(drive))
        assert not any("Host Protected Area" in line or "Device Configuration Overlay" in line for line in lines)


VPD = {
    0x83: ["NAA", "ATA"],
    0x89: ["libata", "model: SanDisk X210 256GB (simulated)", "Device signature indicates SATA transport"],
    0xB0: ["Maximum unmap LBA count: 33553920", "Optimal transfer length granularity: 8 blocks"],
    0xB1: ["Non-rotating medium", "Nominal form factor: 2.5 inch"],
    0xB2: ["Unmap command supported (LBPU): 1", "Write same (16) with unmap bit supported (LBPWS): 1"],
}


@pytest.mark.parametrize("page", VPD)
def test_sg_vpd(page: int, tmp_path: Path) -> None:
    if shutil.which("sg_vpd") is None:
        pytest.skip("sg_vpd (sg3-utils) is not installed")
    with sated.open(X210) as drive:
        data = drive.scsi(scsi.build_inquiry(page=page, alloc=600)).data
    (tmp_path / "page").write_text(data.hex(" "))
    ran = subprocess.run(
        ["sg_vpd", f"--inhex={tmp_path / 'page'}"], capture_output=True, text=True, check=True, timeout=20
    )
    for part in VPD[page]:
        assert part in ran.stdout
