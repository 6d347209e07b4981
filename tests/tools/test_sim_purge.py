"""After each `sated purge` of a simulated drive, the tool of its protocol is asked for the same state: hdparm 9.65 for
ATA, nvme-cli 2.3 for NVMe, sg3_utils 1.46 for SCSI, and dd for what can be read."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest
import sated
from clients import Client, copy, make
from sated import ata
from sated.cli import main

pytestmark = pytest.mark.tools

PIECE = bytes(range(1, 256)) * 257 + b"!"  # 64 KiB without a zero
MODELS = {"ata": "x210,scale=1/64", "nvme": "generic-tlc-nvme,scale=1/1024", "scsi": "s840,scale=1/64"}
NODES = {"ata": "/dev/sim0", "nvme": "/dev/nvmesim0n1", "scsi": "/dev/sim0"}
METHODS = [
    *[("ata", name) for name in ("sanitize-block", "sanitize-crypto", "sanitize-overwrite")],
    *[("ata", name) for name in ("security-enhanced", "security", "deallocate", "auto")],
    *[("nvme", name) for name in ("sanitize-block", "sanitize-crypto", "sanitize-overwrite")],
    *[("nvme", name) for name in ("format", "format-crypto", "deallocate", "write-same", "auto")],
    *[("scsi", name) for name in ("sanitize-block", "sanitize-crypto", "sanitize-overwrite")],
    *[("scsi", name) for name in ("format", "deallocate", "write-same", "auto")],
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Client]:
    return {protocol: make(tmp_path_factory.mktemp(protocol), model) for protocol, model in MODELS.items()}


def purge(client: Client, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["purge", f"sim:{client.path}", "--json", *options]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def agrees_ata(client: Client, method: str) -> None:
    told = client.run("hdparm -I /dev/sim0").out
    for state in ("enabled", "locked", "frozen", "expired: security count"):
        assert re.search(rf"^\tnot\t{state}$", told, re.MULTILINE), told
    status = client.run("hdparm --sanitize-status /dev/sim0").all
    assert "SD0 Sanitize Idle" in status, status
    last_good = "Last Sanitize Operation Completed Without Error" in status
    assert last_good == method.startswith(("sanitize", "auto")), status


def agrees_nvme(client: Client, method: str) -> None:
    log = json.loads(client.run("nvme sanitize-log /dev/nvmesim0 -o json").out)["nvmesim0"]
    state = {"sanitize-block": 2, "sanitize-overwrite": 3, "sanitize-crypto": 4, "auto": 2}.get(method, 0)
    # NVMe Base 2.0c figure 309: SANACT in bits 2:0 of dword 10, AUSE bit 3, NDAS bit 9.
    assert log["cdw10_info"] & 0x20F == (state | 8 if state else 0), log
    assert log["sstat"]["status"].startswith("(1) Most Recent Sanitize Command Completed" if state else "(0)"), log
    client.run("nvme id-ns /dev/nvmesim0n1")


def agrees_scsi(client: Client) -> None:
    client.run("sg_turs /dev/sgsim0")
    sense = client.run("sg_requests --hex /dev/sgsim0").out
    assert re.match(r"\s*(00\s+)?7[02] 00 00", sense), sense


@pytest.mark.parametrize(("protocol", "method"), METHODS)
def test_the_tool_agrees(
    made: dict[str, Client], protocol: str, method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    client = copy(made[protocol], tmp_path)
    node = NODES[protocol]
    client.write(1 << 20, PIECE, node=node)
    assert client.read(1 << 20, len(PIECE), node=node) == PIECE
    result = purge(client, capsys, "--method", method)
    assert result["done"] and result["verified"] is True and result["canaries"] == 64
    assert client.read(1 << 20, len(PIECE), node=node) == bytes(len(PIECE))
    match protocol:
        case "ata":
            agrees_ata(client, method)
        case "nvme":
            agrees_nvme(client, method)
        case _:
            agrees_scsi(client)
    with client.drive() as drive:
        assert drive.purge_pending() is None
        assert drive.identity.capacity_bytes == result["capacity_bytes"]


def test_hdparm_opens_what_a_purge_locked(made: dict[str, Client], tmp_path: Path) -> None:
    """The line that is shown works: SECURITY SET PASSWORD was sent, and the power went."""
    client = copy(made["ata"], tmp_path)
    with client.drive() as drive:
        drive.sim.fail("power-cut", opcode=0xF1, count=1, outcome="after")
        with pytest.raises(sated.SatedError):
            drive.purge(method="security")
        drive.sim.power_cycle()
        left = drive.purge_pending()
        assert left is not None and left.state == "locked" and left.journaled and left.method == "security"
    assert re.search(r"^\t\tlocked$|^\t\s*locked$", client.run("hdparm -I /dev/sim0").out, re.MULTILINE)
    hdparm = "hdparm --yes-i-know-what-i-am-doing --user-master u"
    client.run(f"{hdparm} --security-unlock sated-erase /dev/sim0")
    client.run(f"{hdparm} --security-disable sated-erase /dev/sim0")
    assert re.search(r"^\tnot\tenabled$", client.run("hdparm -I /dev/sim0").out, re.MULTILINE)


def test_a_purge_opens_what_hdparm_locked(
    made: dict[str, Client], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its password only; sated never sets another one on such a drive."""
    client = copy(made["ata"], tmp_path)
    client.run("hdparm --yes-i-know-what-i-am-doing --user-master u --security-set-pass theirs /dev/sim0")
    client.power_cycle()
    assert main(["purge", f"sim:{client.path}"]) == 4
    assert "it is locked by a user password, level high" in capsys.readouterr().err
    assert main(["purge", f"sim:{client.path}", "--password", "other"]) == 4
    assert "does not fit" in capsys.readouterr().err
    result = purge(client, capsys, "--password", "theirs")
    assert result["method"] == "security-enhanced" and result["verified"] is True
    agrees_ata(client, "security-enhanced")


@pytest.mark.parametrize("lost", [False, True], ids=["journal", "lost-journal"])
@pytest.mark.parametrize(("protocol", "method"), [("nvme", "format"), ("scsi", "format"), ("ata", "security")])
def test_the_tool_agrees_after_a_resume(
    made: dict[str, Client],
    protocol: str,
    method: str,
    lost: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    client = copy(made[protocol], tmp_path)
    client.write(1 << 20, PIECE, node=NODES[protocol])
    with client.drive() as drive:
        drive.sim.fail("power-cut", opcode={"nvme": 0x80, "scsi": 0x04, "ata": 0xF4}[protocol], count=1, outcome="half")
        with pytest.raises(sated.SatedError):
            drive.purge(method=method)
        drive.sim.power_cycle()
    if lost:
        Path(f"{client.path}.purge.json").unlink()
    assert main(["purge", f"sim:{client.path}"]) == 4
    assert "--resume" in capsys.readouterr().err
    result = purge(client, capsys, "--resume")
    assert result["resumed"] and result["verified"] is not False
    assert client.read(1 << 20, len(PIECE), node=NODES[protocol]) == bytes(len(PIECE))
    match protocol:
        case "ata":
            agrees_ata(client, method)
        case "nvme":
            agrees_nvme(client, method)
        case _:
            agrees_scsi(client)


def test_the_words_of_a_locked_drive(made: dict[str, Client], tmp_path: Path) -> None:
    """IDENTIFY words 59, 82, 85, 89, 90, 92 and 128 of a drive that its user could not erase: hdparm decodes them to
    196 minutes, locked, level high, and so does sated."""
    words = [0] * 256
    given = {0: 0x0040, 59: 0x5000, 82: 0x0002, 85: 0x0002, 89: 0x0062, 90: 0x0062, 92: 0xFFFE, 128: 0x0027}
    for at, word in {
        **given,
        83: 0x4000,
        84: 0x4000,
        87: 0x4000,
        49: 0x0300,
        80: 0x01F0,
        60: 0xFFFF,
        61: 0x0FFF,
    }.items():
        words[at] = word
    told = (
        made["ata"]
        .run(
            "hdparm --Istdin",
            data="\n".join(" ".join(f"{word:04x}" for word in words[at : at + 8]) for at in range(0, 256, 8)).encode(),
        )
        .out
    )
    assert "196min for SECURITY ERASE UNIT. 196min for ENHANCED SECURITY ERASE UNIT." in told
    assert re.search(r"^\t\s*locked$", told, re.MULTILINE) and "Security level high" in told
    security = ata.decode_identify(struct.pack("<256H", *words)).security
    assert security.locked and security.enabled and not security.frozen and security.level == 0
    assert security.erase_minutes == security.enhanced_minutes == 196
