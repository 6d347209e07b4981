"""Capacity, settings and power from Python and from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import sated
from sated.cli import main
from sated.results import journal

X210 = "sim:x210,scale=1/64"
TARGETS = {
    "hpa": X210,
    "amac": f"{X210},max_address=amac",
    "dco": X210,
    "mode-select": "sim:s840,scale=1/64",
    "namespace": "sim:generic-tlc-nvme,capacity=960GB,scale=1/1024",
}


def said(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    told = capsys.readouterr()
    return told.out, told.err


# ---- Hidden sectors: eight of them, three ways ----

SECTORS = 7_814_037_160
NATIVE = SECTORS + 8
HIDDEN_SENSE = bytes.fromhex("72 01 00 1d 00 00 00 0e 09 0c 01 00 00 00 d1 af 01 be 00 c0 40 50")
PLAIN_SENSE = bytes.fromhex("72 01 00 1d 00 00 00 0e 09 0c 01 00 00 00 d1 a7 01 be 00 c0 40 50")
ABORTED = bytes.fromhex("72 0b 00 00 00 00 00 0e 09 0c 00 04 00 00 00 00 00 00 00 00 00 51")


def identify_page(dco: bool) -> bytes:
    words = [0] * 256
    words[49] = 1 << 9
    words[80], words[82] = 0x01F0, 1 << 14 | 1 << 10  # HPA
    words[83] = 1 << 14 | 1 << 10 | dco << 11
    words[84] = words[87] = 1 << 14
    words[85], words[86] = 1 << 14 | 1 << 10, 1 << 10 | dco << 11
    words[60], words[61] = 0xFFFF, 0x0FFF
    words[100:104] = [SECTORS >> 16 * i & 0xFFFF for i in range(4)]
    words[106] = 1 << 14
    page = bytearray(b"".join(word.to_bytes(2, "little") for word in words))
    page[510] = 0xA5
    page[511] = -sum(page[:511]) & 0xFF
    return bytes(page)


def overlay_page(last: int, *, good: bool) -> bytes:
    page = bytearray(512)
    page[0], page[510] = 2, 0xA5
    page[6:14] = last.to_bytes(8, "little")
    page[511] = (-sum(page[:511]) + (not good)) & 0xFF
    return bytes(page)


class Bridge(sated.Transport):
    """A USB bridge that shows blocks of 4096 bytes, with an ATA drive behind it."""

    simulated = True
    protocol = "ata"

    def __init__(self, sense: bytes, overlay: bytes | None, *, dco: bool = True) -> None:
        self.sense, self.overlay, self.dco = sense, overlay, dco

    def scsi(self, cdb: bytes, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> Any:
        if cdb[0] == 0x9E:
            return (SECTORS // 8 - 1).to_bytes(8, "big") + (4096).to_bytes(4, "big") + bytes(20)
        command = cdb[14] if cdb[0] == 0x85 else 0
        if command == 0xEC:
            return identify_page(self.dco)
        if command == 0x27:
            return sated.Reply(status=2, sense=self.sense)
        if command == 0xB1 and self.overlay is not None:
            return self.overlay
        if command == 0xB1:
            return sated.Reply(status=2, sense=ABORTED)
        return bytes(data_in_len)


def test_eight_hidden_sectors() -> None:
    """The numbers decide, whatever a text says: 8 sectors of 512 bytes, one block of the bridge."""
    with sated.open(Bridge(HIDDEN_SENSE, overlay_page(NATIVE - 1, good=True))) as drive:
        now = drive.provisioning()
    assert SECTORS // 8 == 976_754_645
    assert now.native_bytes == 7_814_037_168 * 512 and now.native_known
    assert now.hidden_bytes == 8 * 512 == 4096
    assert now.limits == ("hpa",)
    with sated.open(Bridge(PLAIN_SENSE, overlay_page(NATIVE - 1, good=True))) as drive:
        now = drive.provisioning()
    assert now.limits == ("dco",) and now.hidden_bytes == 4096


@pytest.mark.parametrize("overlay", [None, overlay_page(NATIVE - 1, good=False)])
def test_an_overlay_that_is_not_told_is_unknown_and_not_zero(overlay: bytes | None) -> None:
    with sated.open(Bridge(PLAIN_SENSE, overlay)) as drive:
        now = drive.provisioning()
    assert now.hidden_bytes is None and not now.native_known
    assert now.hidden_at_least_bytes == 0 and now.native_bytes == SECTORS * 512
    assert now.lba_removed is None
    with sated.open(Bridge(HIDDEN_SENSE, overlay)) as drive:
        now = drive.provisioning()
    assert now.hidden_bytes is None and now.hidden_at_least_bytes == 4096 and now.limits == ("hpa",)
    with sated.open(Bridge(PLAIN_SENSE, None, dco=False)) as drive:  # IDENTIFY says that there is none
        assert drive.provisioning().hidden_bytes == 0


# ---- Each method ----


@pytest.mark.parametrize("method", TARGETS)
def test_each_method_sets_and_restores(method: str) -> None:
    with sated.open(TARGETS[method]) as drive:
        new = drive.provisioning()
        assert new.limits == () and new.hidden_bytes == 0
        found = {each.method: each for each in drive.capacity_methods()}
        assert found[method].supported and found[method].destroys and found["lba"].supported
        assert all(each.supported or each.why_not for each in found.values())
        now = drive.set_capacity(fraction=0.75, method=method)
        assert now.limits == (method,) and now.purged_beyond
        assert now.accessible_bytes == now.device_bytes == int(0.75 * new.native_bytes) // 4096 * 4096
        assert drive.identity.capacity_bytes == now.accessible_bytes
        assert now.lba_removed == pytest.approx(0.25, abs=1e-6)
        raw = now.raw_bytes or 0
        assert now.op_of_user == pytest.approx((raw - now.accessible_bytes) / now.accessible_bytes)
        assert now.op_of_raw == pytest.approx((raw - now.accessible_bytes) / raw)
        sated.load(drive, sated.Workload(op="write", size="128k", depth=4), ios=20)
        # The second change of HPA and AMAC takes a power cycle, which a simulated drive needs nobody for.
        assert drive.restore_capacity(method=method) == new


def test_restoring_everything_leaves_namespaces(tmp_path: Path) -> None:
    with sated.open(TARGETS["namespace"]) as drive:
        now = drive.set_capacity(fraction=0.5, method="namespace")
        drive.set_capacity(bytes=now.device_bytes // 2 // 4096 * 4096)
        assert drive.provisioning().limits == ("lba", "namespace")
        assert drive.restore_capacity() == now
    with sated.open(X210) as drive:
        native = drive.provisioning().native_bytes
        drive.set_capacity(fraction=0.9, method="dco")
        drive.sim.power_cycle()
        drive.set_capacity(fraction=0.8, method="hpa")
        assert drive.provisioning().limits == ("hpa", "dco")
        with pytest.raises(sated.StateError, match="an HPA hides"):
            drive.set_capacity(fraction=0.7, method="dco")
        assert drive.restore_capacity().device_bytes == native


def test_a_method_of_another_protocol_is_refused() -> None:
    with sated.open(X210) as drive:
        with pytest.raises(sated.UnsupportedError, match="is a method of NVMe drives"):
            drive.set_capacity(fraction=0.5, method="namespace")
        with pytest.raises(sated.UnsupportedError, match="take the method hpa"):
            drive.set_capacity(fraction=0.5, method="amac")
        with pytest.raises(sated.ParseError, match="is unknown"):
            drive.set_capacity(fraction=0.5, method="hap")
        with pytest.raises(sated.ParseError, match="multiple of 4096"):
            drive.set_capacity(bytes=1_000_000_007, method="hpa")
        drive.set_capacity(fraction=0.5, method="hpa")
        with pytest.raises(sated.ParseError, match="cannot be set by the method hpa"):
            drive.set_capacity(bytes="300GB", method="hpa")
    with sated.open("sim:generic") as drive, pytest.raises(sated.UnsupportedError, match="takes no commands"):
        drive.set_capacity(fraction=0.5, method="hpa")


# ---- Power ----


def test_a_decimal_size_is_rounded_down() -> None:
    """As sizes of drives are told: 1 GB is no multiple of 4096 bytes."""
    with sated.open("sim:x210,scale=1/64") as drive:
        assert drive.set_capacity(bytes="1GB", method="hpa").accessible_bytes == 10**9 // 4096 * 4096
        with pytest.raises(sated.ParseError, match="multiple of 4096"):
            drive.set_capacity(bytes=10**9)


def test_power_by_commands(tmp_path: Path) -> None:
    log = tmp_path / "log"
    tool = tmp_path / "power"
    tool.write_text(f'#!/bin/sh\necho "$1 $2" >> {log}\n[ $1 != broken ] || {{ echo no such port >&2; exit 3; }}\n')
    tool.chmod(0o755)
    file = tmp_path / "file"
    with sated.open(file, create="1MiB") as drive:  # real, as far as power is concerned
        sated.PowerControl(off=f"{tool} off 'port 1'", on=[str(tool), "on", "port 1"], off_s=0).cycle(drive)
        assert log.read_text() == "off port 1\non port 1\n"
        sated.PowerControl(cycle_command=f"{tool} cycle; rm -rf /").cycle(drive)  # no shell: they are words
        assert log.read_text().endswith("cycle; rm\n")
        with pytest.raises(sated.UnsupportedError, match=r"ended with 3 \(no such port\)"):
            sated.PowerControl(cycle_command=f"{tool} broken").cycle(drive)
        with pytest.raises(sated.UnsupportedError, match="name a program there is"):
            sated.PowerControl(cycle_command="/no/such/program").cycle(drive)
        asked: list[str] = []
        sated.PowerControl(ask=asked.append).cycle(drive)
        assert "switch its power off" in asked[0]
        with pytest.raises(sated.StateError, match="there is no command for it"):
            sated.PowerControl().cycle(drive)
    with pytest.raises(sated.ParseError, match="go together"):
        sated.PowerControl(off="true")
    with pytest.raises(sated.ParseError, match="close each quote"):
        sated.PowerControl(cycle_command="'true")


# ---- The command line ----


def test_capacity_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "my.sim"
    sated.sim.create(X210.removeprefix("sim:"), file)
    uri = f"sim:{file}"
    assert main(["capacity", uri, "--json"]) == 0
    before = json.loads(said(capsys)[0])
    assert main(["capacity", uri, "80%", "--method", "hpa"]) == 0
    out, err = said(capsys)
    assert "limited by          hpa" in out and "80 % of the LBAs" in out
    assert "hpa destroys: what lies beyond" in err and "switch the drive's power off and on" in err
    assert main(["capacity", uri, "--json"]) == 0
    now = json.loads(said(capsys)[0])
    assert now["limits"] == ["hpa"] and now["hidden_bytes"] == before["native_bytes"] - now["device_bytes"]
    assert main(["capacity", uri, "--restore", "--method", "hpa"]) == 0
    assert "destroys" not in said(capsys)[1], "lifting a limit destroys nothing"
    assert main(["capacity", uri, "--restore", "--json"]) == 0
    assert json.loads(said(capsys)[0])["device_bytes"] == before["native_bytes"]
    assert main(["capacity", uri, "--methods", "--json"]) == 0
    assert [each["method"] for each in json.loads(said(capsys)[0])] == [
        *("lba", "hpa", "amac", "dco", "mode-select", "namespace")
    ]
    for wrong in ("1..5%", ".%", "%", "0%", "nan%"):
        assert main(["capacity", uri, wrong]) == 2
    assert main(["capacity", uri, "0.5", "--restore"]) == 2
    assert main(["capacity", uri, "--undo"]) == 2
    assert main(["capacity", uri, "50%", "--method", "amac"]) == 7
    assert main(["capacity", uri, "--power-off", "true"]) == 2
    said(capsys)
    for words in (["abc"], ["0"], ["150%"], ["1.2.3%"], ["900TB"]):  # refused before a word of what it would destroy
        assert main(["capacity", uri, *words, "--method", "hpa"]) == 2
        assert "destroys" not in said(capsys)[1]


@pytest.mark.parametrize(
    "words",
    [
        ["--confirm", "x"],
        ["--method", "hpa"],
        ["--methods", "--method", "hpa"],
        ["--methods", "--confirm", "x"],
        ["--power-cycle", "true"],
        ["--resume", "--method", "hpa"],
        ["50%", "--power-cycle", "true"],
        ["50%", "--method", "namespace", "--power-cycle", "true"],
    ],
    ids=" ".join,
)
def test_capacity_options_without_a_meaning(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capacity", X210, *words]) == 2
    err = said(capsys)[1]
    assert "has no meaning" in err or "takes no power cycle" in err


def test_an_interrupted_change_is_told_and_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "my.sim"
    sated.sim.create(TARGETS["namespace"].removeprefix("sim:"), file)
    uri = f"sim:{file}"
    with sated.open(uri) as drive:
        native = drive.provisioning().native_bytes
        drive.sim.fail("power-cut", opcode=0x0D, after=1, count=1, outcome="before")  # deleted, and nothing created
    assert main(["capacity", uri, "50%", "--method", "namespace"]) == 4
    assert "--resume" in said(capsys)[1]
    assert main(["sim", "power", uri]) == 0
    assert main(["capacity", uri]) == 0
    assert "a change by namespace: --resume goes on" in said(capsys)[0]
    assert main(["capacity", uri, "25%", "--method", "namespace"]) == 4  # one thing after the other
    said(capsys)
    assert main(["capacity", uri, "--resume", "--json"]) == 0
    now = json.loads(said(capsys)[0])
    assert now["device_bytes"] == native // 2 // 4096 * 4096 and now["interrupted"] is None
    with sated.open(uri) as drive:
        drive.sim.fail("power-cut", opcode=0x0D, after=1, count=1, outcome="after")
    assert main(["capacity", uri, "25%", "--method", "namespace"]) == 4
    assert main(["sim", "power", uri]) == 0
    said(capsys)
    assert main(["capacity", uri, "--resume", "--undo", "--json"]) == 0
    assert json.loads(said(capsys)[0])["device_bytes"] == native // 2 // 4096 * 4096


def test_an_interrupted_change_is_not_taken_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that waits for a power cycle, which a simulated drive has at any time."""
    with sated.open(TARGETS["hpa"]) as drive:
        native = drive.provisioning().native_bytes
        drive.set_capacity(fraction=0.8, method="hpa")
        with monkeypatch.context() as nobody, pytest.raises(sated.StateError, match="one such change between two"):
            nobody.setattr(sated.PowerControl, "can", lambda *_: False)
            drive.set_capacity(fraction=0.6, method="hpa")
        with pytest.raises(sated.StateError, match=r"a change of its capacity, begun .* was interrupted"):
            drive.set_capacity(fraction=0.5, method="hpa")
        assert drive.provisioning().interrupted == "hpa"
        assert drive.resume_capacity().device_bytes == int(0.6 * native) // 4096 * 4096


def test_settings_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "my.sim"
    sated.sim.create("s840,scale=1/64", file)
    uri = f"sim:{file}"
    assert main(["settings", uri, "write_cache=off", "look-ahead=off", "--json"]) == 0
    told = json.loads(said(capsys)[0])
    assert told["before"]["write_cache"] is True and told["after"]["write_cache"] is False
    assert told["before"]["look_ahead"] is True and told["after"]["look_ahead"] is False
    assert main(["settings", uri, "logical_block_bytes=4096"]) == 0
    assert "logical_block_bytes 4096 (before: 512)" in said(capsys)[0]
    assert main(["settings", uri, "logical_block_bytes=0"]) == 2
    assert "such as 512 or 4096" in said(capsys)[1]
    for words, code in (("write_cache", 2), ("write_cache=maybe", 2), ("colour=red", 2), ("apst=on", 7)):
        assert main(["settings", uri, words]) == code
    said(capsys)
    assert main(["settings", uri, "--confirm", "x"]) == 2
    assert "--confirm has no meaning where nothing is set" in said(capsys)[1]
    assert main(["settings", uri, "--restore"]) == 0
    assert "nothing was to be set back" in said(capsys)[0]


# ---- Settings ----

SETTINGS = {
    X210: {"write_cache": False, "look_ahead": False, "apm": 128},
    "sim:s840,scale=1/64": {"write_cache": False, "look_ahead": False},
    "sim:generic-tlc-nvme,capacity=960GB,scale=1/1024,capacitors=off": {
        "write_cache": False,
        "power_state": 1,
        "apst": True,
    },
}


@pytest.mark.parametrize("uri", SETTINGS)
def test_settings_before_and_after(uri: str) -> None:
    wanted: dict[str, Any] = SETTINGS[uri]
    with sated.open(uri) as drive:
        before = drive.settings()
        changed = drive.set(**wanted)
        assert changed.before == before and changed.after == drive.settings()
        for name, value in wanted.items():
            assert getattr(before, name) != value and getattr(changed.after, name) == value
        assert drive.restore_settings() is None  # a wish that was not for a time
        back = {name: getattr(before, name) for name in wanted}
        drive.set(**back)
        name, value = next(iter(wanted.items()))
        drive.set(**{name: value}, passing=True)
        drive.set(**wanted, passing=True)
        restored = drive.restore_settings()
        assert restored is not None and {name: getattr(restored, name) for name in wanted} == back
        assert drive.settings() == before
    with sated.open("sim:generic") as drive, pytest.raises(sated.UnsupportedError, match="takes no commands"):
        drive.settings()


@pytest.mark.parametrize("damage", ['"x"', "null", "1.5", "-1", "999", ""])
def test_a_damaged_journal_is_told_with_what_to_do(tmp_path: Path, damage: str) -> None:
    """Nothing is set back by halves."""
    file = tmp_path / "my.sim"
    sated.sim.create(X210.removeprefix("sim:"), file)
    own = Path(f"{file}.settings.json")
    with sated.open(f"sim:{file}") as drive:
        drive.set(write_cache=False, apm=1, passing=True)
        text = own.read_text()
        assert '"apm": 254' in text
        own.write_text(text.replace('"apm": 254', f'"apm": {damage}'))
        with pytest.raises(sated.StateError, match="move it away, and set by `sated settings`"):
            drive.restore_settings()
        assert drive.settings().write_cache is False and own.exists()
        own.write_text(text)
        assert drive.restore_settings() is not None
        assert drive.settings().write_cache is True and drive.settings().apm == 254
        Path(f"{file}.capacity.json").write_text("garbage")
        assert drive.provisioning().interrupted == "another one"
        with pytest.raises(sated.StateError, match="move it away"):
            drive.resume_capacity()


def test_power_states_are_those_of_the_drive() -> None:
    """NVMe Base 2.0, figure 275, NPSS: the states are 0 to that. Nothing else is set either."""
    with sated.open("sim:generic-tlc-nvme,capacity=960GB,scale=1/1024,capacitors=off") as drive:
        before, page = drive.settings(), drive.nvme_admin(sated.nvme.build_identify(1)).data
        with pytest.raises(sated.ParseError, match=f"power_state 9: the drive has the states 0 to {page[263]};"):
            drive.set(write_cache=False, power_state=9)
        assert drive.settings() == before


PLAN: dict[str, Any] = {
    "name": "with-settings",
    "settle": False,
    "step": [
        {"kind": "settings", "write_cache": False, "apm": 1},
        {"kind": "measure", "op": "randwrite", "size": "4k", "depth": 4, "seconds": 64.0},
    ],
}


def test_a_run_sets_back_what_it_set(tmp_path: Path) -> None:
    file = tmp_path / "my.sim"
    sated.sim.create(X210.removeprefix("sim:"), file)
    with sated.open(f"sim:{file}") as drive:
        before = drive.settings()
        run = sated.review(drive, plan=PLAN, out=tmp_path / "run")
        assert drive.settings() == before
    noted = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert noted["write_cache"] == {"was": True, "set": False, "restored": True}
    assert noted["apm"] == {"was": 254, "set": 1, "restored": 254}
    assert run.finished


def test_a_run_that_fails_sets_back_what_it_set(tmp_path: Path) -> None:
    limits = [{"kind": "capacity", "fraction": 0.5, "method": method} for method in ("hpa", "dco")]
    broken = {**PLAN, "step": [*PLAN["step"][:1], *limits]}
    with sated.open(X210) as drive:
        before = drive.settings()
        with pytest.raises(sated.StateError, match="lift it first"):
            sated.review(drive, plan=broken, out=tmp_path / "run")
        assert drive.settings() == before
    assert json.loads((tmp_path / "run" / "run.json").read_text())["settings"]["apm"]["restored"] == 254


def test_a_run_that_is_killed_sets_back_what_it_set(tmp_path: Path) -> None:
    """By whoever comes next: `sated settings --restore`, or the run that goes on."""
    file, out = tmp_path / "my.sim", tmp_path / "run"
    sated.sim.create(X210.removeprefix("sim:"), file)
    uri = f"sim:{file}"
    with sated.open(uri) as drive:
        before = drive.settings()
    code = f"import json, sated; sated.review({uri!r}, plan=json.loads({json.dumps(PLAN)!r}), out={str(out)!r})"
    child = subprocess.Popen([sys.executable, "-c", code], env=os.environ)
    deadline = time.monotonic() + 60
    while not any(entry.get("step", "").endswith("settings") for entry in _finished(out)):
        assert child.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert (tmp_path / "my.sim.settings.json").exists()
    with sated.open(uri) as drive:  # a process that is killed is a cut of power to it, the journal stays
        restored = drive.restore_settings()
        assert restored is not None and restored.apm == 254
        assert drive.settings() == before
    assert not (tmp_path / "my.sim.settings.json").exists()
    from sated.methods import runner

    run = runner.resume(out)
    assert run.finished
    noted = json.loads((out / "run.json").read_text())["settings"]
    assert noted["apm"] == {"was": 254, "set": 1, "restored": 254}
    with sated.open(uri) as drive:
        assert drive.settings() == before


def _finished(out: Path) -> list[dict[str, Any]]:
    file = out / journal.NAME
    return [e for e in journal.read(file) if e["event"] == "finished"] if file.exists() else []


@pytest.mark.parametrize(
    ("step", "match"),
    [
        ({"kind": "settings", "write_cache": False, "apst": True}, "step 0002-settings: .*: apst cannot be set"),
        ({"kind": "capacity", "fraction": 0.5, "method": "namespace"}, "step 0002-50-capacity: .*NVMe"),
        ({"kind": "purge", "method": "format"}, "step 0002-purge: .*--list"),
    ],
)
def test_what_the_drive_has_not_is_told_before_anything_is_done(
    tmp_path: Path, step: dict[str, Any], match: str
) -> None:
    plan = {**PLAN, "step": [PLAN["step"][1], step]}
    with sated.open(X210) as drive:
        with pytest.raises(sated.UnsupportedError, match=match):
            sated.review(drive, plan=plan, out=tmp_path / "run")
        assert drive.sim.counters.host_write_units == 0
    assert not (tmp_path / "run" / "run.json").exists()


class Commands(sated.Transport):
    """A drive without blocks that could be read and written here, of which the limit "lba" would be one."""

    simulated = True

    def scsi(self, cdb: bytes, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> Any:
        return bytes(data_in_len)


def test_a_drive_of_commands_alone_has_no_limit_of_blocks(tmp_path: Path) -> None:
    plan = {"name": "half", "step": [{"kind": "capacity", "fraction": 0.5}]}
    with (
        sated.open(Commands()) as drive,
        pytest.raises(sated.UnsupportedError, match=r"step 0001-50-capacity: .*limiting its capacity is not possible"),
    ):
        sated.review(drive, plan=plan, out=tmp_path / "run")


@pytest.mark.parametrize("methods", [("hpa", "lba"), ("dco", "hpa"), ("lba", "dco")])
def test_limits_by_several_methods_are_all_lifted(tmp_path: Path, methods: tuple[str, str]) -> None:
    """ACS-2 7.7: no overlay is changed beneath a host protected area, so the order matters."""
    steps = [{"kind": "capacity", "fraction": f, "method": m} for f, m in zip((0.8, 0.5), methods, strict=True)]
    with sated.open(X210) as drive:
        before = drive.provisioning()
        sated.review(drive, plan={**PLAN, "step": [*steps, PLAN["step"][1]]}, out=tmp_path / "run")
        after = drive.provisioning()
    assert (after.device_bytes, after.accessible_bytes) == (before.device_bytes, before.accessible_bytes)
    assert after.limits == ()


def test_a_plan_limits_the_drive_by_a_method(tmp_path: Path) -> None:
    plan = {
        "name": "by-hpa",
        "settle": False,
        "capacity": [1.0, 0.8],
        "step": [
            {"kind": "purge"},
            {"kind": "capacity", "method": "hpa"},
            {"kind": "measure", "op": "randwrite", "size": "4k", "depth": 4, "seconds": 64.0},
        ],
    }
    with sated.open(X210) as drive:
        native = drive.provisioning().native_bytes
        run = sated.review(drive, plan=plan, out=tmp_path / "run")
        assert drive.provisioning().device_bytes == native
    steps = [entry["result"] for entry in _finished(tmp_path / "run") if "accessible_bytes" in entry["result"]]
    assert [step["method"] for step in steps] == ["hpa", "hpa"]
    assert steps[1]["limits"] == ["hpa"] and steps[1]["accessible_bytes"] == int(0.8 * native) // 4096 * 4096
    assert run.finished
