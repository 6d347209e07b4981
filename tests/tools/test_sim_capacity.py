"""After each `sated capacity` hdparm, nvme-cli and sg3_utils see the drive that sated says there is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from clients import Client, make
from sated.cli import main

pytestmark = pytest.mark.tools

SG = "/dev/sgsim0"


def capacity(client: Client, capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    """What the command tells, as it was told to."""
    capsys.readouterr()
    assert main(["capacity", f"sim:{client.path}", *words, "--json"]) == code
    told: dict[str, Any] = json.loads(capsys.readouterr().out) if code == 0 else {}
    return told


def hdparm_max(client: Client) -> tuple[int, int, str]:
    """`hdparm -N`: sectors that can be addressed, all there are, and what it calls that."""
    found = re.search(r"max sectors += (\d+)/(\d+), (.*)", client.run("hdparm -N /dev/sim0").out)
    assert found is not None
    return int(found[1]), int(found[2]), found[3]


def overlay(client: Client) -> int:
    found = re.search(r"Real max sectors: (\d+)", client.run("hdparm --dco-identify /dev/sim0").out)
    assert found is not None
    return int(found[1])


def check_ata(client: Client, told: dict[str, Any]) -> None:
    now, native, _ = hdparm_max(client)
    assert now * 512 == told["device_bytes"]
    assert int(client.run("blockdev --getsize64 /dev/sim0").out) == told["accessible_bytes"]
    if "dco" not in told["limits"]:
        assert native * 512 == told["native_bytes"]


def test_hpa(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drive = make(tmp_path, "x210,scale=1/64")
    new = capacity(drive, capsys)
    check_ata(drive, new)
    told = capacity(drive, capsys, "80%", "--method", "hpa")
    assert told["limits"] == ["hpa"]
    check_ata(drive, told)
    assert hdparm_max(drive)[2] == "HPA is enabled"
    drive.power_cycle()  # VV: it outlasts that
    check_ata(drive, told)
    back = capacity(drive, capsys, "--restore")
    check_ata(drive, back)
    assert hdparm_max(drive)[2] == "HPA is disabled" and back == new
    # What hdparm hides sated sees, and restores.
    drive.power_cycle()
    few = new["native_bytes"] // 1024
    drive.run(f"hdparm --yes-i-know-what-i-am-doing -N p{few} /dev/sim0")
    told = capacity(drive, capsys)
    assert told["device_bytes"] == few * 512 and told["limits"] == ["hpa"]
    drive.power_cycle()
    assert capacity(drive, capsys, "--restore") == new


def test_amac(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drive = make(tmp_path, "x210,scale=1/64,max_address=amac")
    told = capacity(drive, capsys, "80%", "--method", "amac")
    assert told["limits"] == ["amac"]
    check_ata(drive, told)
    assert hdparm_max(drive)[2] == "ACCESSIBLE MAX ADDRESS enabled"
    back = capacity(drive, capsys, "--restore", "--method", "amac")
    check_ata(drive, back)
    assert back["limits"] == []


def test_dco(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drive = make(tmp_path, "x210,scale=1/64")
    new = capacity(drive, capsys)
    assert overlay(drive) * 512 == new["native_bytes"]
    told = capacity(drive, capsys, "80%", "--method", "dco")
    assert told["limits"] == ["dco"]
    check_ata(drive, told)
    now, native, says = hdparm_max(drive)
    assert now == native and says == "HPA is disabled"  # no HPA, and sectors are hidden all the same
    assert overlay(drive) * 512 == told["native_bytes"] == new["native_bytes"]
    told = capacity(drive, capsys, "60%", "--method", "dco")  # in place of the one before
    check_ata(drive, told)
    assert capacity(drive, capsys, "--restore") == new
    assert hdparm_max(drive)[:2] == (new["native_bytes"] // 512,) * 2
    drive.run("hdparm --dco-freeze /dev/sim0")
    capacity(drive, capsys, "80%", "--method", "dco", code=7)


def readcap(client: Client) -> tuple[int, int]:
    text = client.run(f"sg_readcap -l {SG}").out
    blocks = re.search(r"Number of logical blocks=(\d+)", text)
    length = re.search(r"Logical block length=(\d+) bytes", text)
    assert blocks and length, text
    return int(blocks[1]), int(length[1])


def test_mode_select(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drive = make(tmp_path, "s840,scale=1/64")
    new = capacity(drive, capsys)
    assert readcap(drive) == (new["device_bytes"] // 512, 512)
    told = capacity(drive, capsys, "80%", "--method", "mode-select")
    assert told["limits"] == ["mode-select"]
    assert readcap(drive) == (told["device_bytes"] // 512, 512)
    drive.power_cycle()
    drive.run(f"sg_turs {SG}", code=None)  # takes the unit attention of the power-on
    assert readcap(drive) == (told["device_bytes"] // 512, 512)
    back = capacity(drive, capsys, "--restore")
    assert back == new and readcap(drive) == (new["device_bytes"] // 512, 512)


def test_settings_as_sdparm_sees_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drive = make(tmp_path, "s840,scale=1/64")
    uri = f"sim:{drive.path}"

    def sdparm(field: str) -> str:
        found = re.search(rf"{field}\s+(\d)", drive.run(f"sdparm --get={field} {SG}").out)
        assert found is not None
        return found[1]

    assert (sdparm("WCE"), sdparm("DRA")) == ("1", "0")
    assert main(["settings", uri, "write_cache=off", "look_ahead=off"]) == 0
    assert (sdparm("WCE"), sdparm("DRA")) == ("0", "1")
    assert main(["settings", uri, "logical_block_bytes=4096"]) == 0
    assert readcap(drive)[1] == 4096
    capsys.readouterr()


def test_settings_as_hdparm_sees_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drive = make(tmp_path, "x210,scale=1/64")
    uri = f"sim:{drive.path}"
    assert "write-caching =  1 (on)" in drive.run("hdparm -W /dev/sim0").out
    assert main(["settings", uri, "write_cache=off", "look_ahead=off", "apm=128"]) == 0
    assert "write-caching =  0 (off)" in drive.run("hdparm -W /dev/sim0").out
    assert "look-ahead    =  0 (off)" in drive.run("hdparm -A /dev/sim0").out
    assert re.search(r"APM_level\s+= 128", drive.run("hdparm -B /dev/sim0").out)
    capsys.readouterr()


def id_ns(client: Client, nsid: int) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(client.run(f"nvme id-ns /dev/nvmesim0n{nsid} -o json").out)
    return told


def test_namespace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drive = make(tmp_path, "generic-tlc-nvme,capacity=960GB,scale=1/1024")
    new = capacity(drive, capsys)
    assert id_ns(drive, 1)["nsze"] * 512 == new["device_bytes"]
    told = capacity(drive, capsys, "80%", "--method", "namespace")
    assert told["limits"] == ["namespace"]
    for node in ("/dev/nvmesim0", "/dev/nvmesim1"):  # attached to both controllers, as before
        listed = drive.run(f"nvme list-ns {node}").out
        assert re.findall(r":(0x[0-9a-f]+)", listed) == ["0x1"]
    now = id_ns(drive, 1)
    assert now["nsze"] * 512 == now["ncap"] * 512 == told["device_bytes"]
    assert now["nmic"] & 1  # and shared, as before
    unallocated = json.loads(drive.run("nvme id-ctrl /dev/nvmesim0 -o json").out)["unvmcap"]
    assert 0 <= told["hidden_bytes"] - int(unallocated) < 1 << 20
    back = capacity(drive, capsys, "--restore", "--method", "namespace")
    assert back == new and id_ns(drive, 1)["nsze"] * 512 == new["device_bytes"]


def test_nvme_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drive = make(tmp_path, "generic-tlc-nvme,capacity=960GB,scale=1/1024,capacitors=off")
    uri = f"sim:{drive.path}"
    assert main(["settings", uri, "write_cache=off", "power_state=1"]) == 0
    capsys.readouterr()
    # A process that ends is no cut of power: what the next one sees is what the controller was set to.
    assert re.search(r"Current value:\s*(0x)?0+$", drive.run("nvme get-feature /dev/nvmesim0 -f 6").out.strip())
    assert re.search(r"Current value:\s*(0x)?0*1$", drive.run("nvme get-feature /dev/nvmesim0 -f 2").out.strip())
    assert main(["settings", uri, "logical_block_bytes=4096"]) == 0
    assert id_ns(drive, 1)["flbas"] & 15 == 1
    capsys.readouterr()
