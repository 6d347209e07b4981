"""Purges in Python and on the command line. What is done to drives is tested in C (test_purge.c, test_purge_walk.c)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sated
from sated import ata
from sated._purge import PurgeProgress
from sated.cli import main

X210 = "sim:x210,capacity=128GB,scale=1/64"
NVME = "sim:generic-tlc-nvme,capacity=960GB,scale=1/1024"


def test_what_comes_of_it_is_told() -> None:
    seen: list[PurgeProgress] = []
    with sated.open(X210) as drive:
        way = drive.purge(dry_run=True)
        assert (way.method, way.level, way.whole, way.why_not) == ("sanitize-block", "purge", True, None)
        result = drive.purge(progress=seen.append)
        assert drive.purge_pending() is None
    assert (result.method, result.level, result.done, result.verified) == ("sanitize-block", "purge", True, True)
    assert (result.canaries, result.still_there, result.unreadable, result.hidden_bytes) == (64, 0, 0, 0)
    assert result.seconds == pytest.approx(8, rel=0.5)  # the model's time, and what polling adds
    assert "spare area" in result.log[0] and result.device_says in result.log[0]
    assert seen[-1].phase == "end" and seen[-1].elapsed_s == result.seconds


def test_the_same_purge_leaves_the_same_drive(tmp_path: Path) -> None:
    states = []
    for name in ("a.sim", "b.sim"):
        with sated.open(NVME) as drive:
            sated.load(drive, sated.Workload(op="randwrite", depth=4), ios=1000)
            drive.purge()
            drive.sim.save(tmp_path / name)
        states.append((tmp_path / name).read_bytes())
    assert states[0] == states[1]


def test_trim_reaches_every_unit() -> None:
    """An entry of 65535 sectors would end within a unit of 4 KiB, which stays mapped until all of it is trimmed."""
    with sated.open(X210) as drive:
        drive.purge(method="sanitize-overwrite")
        full = drive.sim.counters.mapped_units
        drive.purge(method="deallocate")
        assert (full * 4096, drive.sim.counters.mapped_units) == (drive.identity.capacity_bytes, 0)


def test_security_says_how_to_unlock() -> None:
    seen: list[PurgeProgress] = []
    with sated.open(X210) as drive:
        assert drive.purge(method="security", progress=seen.append).hidden_bytes == 0
    assert "hdparm --user-master u --security-unlock sated-erase" in str(seen[-1].notice)


def test_what_an_interrupted_one_left() -> None:
    with sated.open(X210) as drive:
        drive.sim.fail("power-cut", opcode=0xF4, count=1, outcome="half")
        with pytest.raises(sated.DriveError):
            drive.purge(method="security-enhanced")
        drive.sim.power_cycle()
        left = drive.purge_pending()
        assert left is not None and (left.state, left.journaled, left.method) == ("locked", True, "security-enhanced")
        assert left.step is not None and "SECURITY ERASE UNIT" in left.step and "|" not in left.step
        with pytest.raises(sated.DriveError, match="--resume"):
            drive.purge()
        result = drive.purge(resume=True)
        assert result.resumed and result.verified and result.method == "security-enhanced"
        assert not ata.decode_identify(drive.ata(ata.build_identify_device()).data).security.enabled


def test_progress_may_stop_it() -> None:
    """As Ctrl-C does: what the drive has begun goes on, and is finished by `resume`."""

    def stop(now: PurgeProgress) -> None:
        raise KeyboardInterrupt

    with sated.open(NVME) as drive:
        drive.sim.fail("stall")
        with pytest.raises(KeyboardInterrupt):
            drive.purge(stall_s=1e9, progress=stop)
        left = drive.purge_pending()
        assert left is not None and left.journaled
        drive.sim.heal()
        assert drive.purge(resume=True).verified


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"method": "burn"}, "unknown: use auto"),
        ({"method": "external"}, "--external NOTE"),
        ({"password": ""}, "1 to 32"),
        ({"password": "x" * 33}, "1 to 32"),
        ({"stall_s": -1.0}, "stall_s"),
    ],
)
def test_what_has_no_meaning(wrong: dict[str, object], match: str) -> None:
    with sated.open(NVME) as drive, pytest.raises(sated.ParseError, match=match):
        drive.purge(**wrong)  # type: ignore[call-overload]


def test_a_plan_names_any_method(tmp_path: Path) -> None:
    plan = {"name": "erase", "step": [{"kind": "purge", "method": "format"}]}
    run = sated.review(NVME, plan=plan, out=tmp_path / "run")
    assert run.steps[0].result["method"] == "format" and run.steps[0].result["verified"] is True


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.sim"
    sated.sim.create(X210.removeprefix("sim:"), path)
    uri = f"sim:{path}"
    assert main(["purge", uri, "--list"]) == 0
    told = capsys.readouterr().out
    assert "security-enhanced   purge     2:00      yes" in told and "its protocol does not have it" in told
    assert main(["purge", uri, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "sanitize-block"
    assert main(["purge", uri, "--method", "security"]) == 0
    told = capsys.readouterr()
    assert "Of 64 blocks marked before, none holds its mark" in told.out and "sated-erase" in told.err
    assert main(["purge", uri, "--external", "ToolBox 2.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verified"] is None
    assert main(["purge", uri, "--method", "format"]) == 7
    assert "--list" in capsys.readouterr().err
    assert main(["purge", uri, "--method", "security", "--external", "x"]) == 2
    assert main(["purge", uri, "--password", "hex:zz"]) == 2
    for words in (
        *(["--list", "--dry-run"], ["--list", "--method", "format"], ["--list", "--confirm", "x"], ["--master"]),
        *(
            ["--external", "x", "--resume"],
            ["--external", "x", "--stall", "9"],
            ["--method", "security", "--stall", "9"],
        ),
        ["--list", "--wipe-signatures"],
        *(["--external", "x", "--password", "y"], ["--method", "sanitize-block", "--allow-usb-security"]),
    ):
        assert main(["purge", uri, *words]) == 2, words
    capsys.readouterr()


def test_without_consent_nothing_is_purged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "drive"
    path.write_bytes(b"x" * (1 << 20))
    assert main(["purge", str(path)]) == 3
    assert str(path) in capsys.readouterr().err and path.read_bytes() == b"x" * (1 << 20)
    with sated.open(path) as drive, pytest.raises(sated.UnsafeError, match="do not read it from the drive"):
        drive.purge(confirm=drive.identity.token)
    assert main(["purge", str(path), "--confirm", str(path)]) == 0
    assert not any(path.read_bytes())
