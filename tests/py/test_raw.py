"""Single commands from Python: recorded answers, transports, consent, recording."""

from __future__ import annotations

import contextlib
import errno
import gc
import json
from pathlib import Path
from typing import Any

import pytest
import sated
from sated._drive import DriveSerial
from sated._record import questions, record

INQUIRY = bytes.fromhex("120000006000")
STANDARD = bytes.fromhex("000006025b000002") + b"ACME    " + b"Disk            " + b"0001"
ILLEGAL = bytes.fromhex("70000500000000 0a 00000000 2400 00000000")


def replay(path: Path, exchanges: list[dict[str, Any]], **top: Any) -> sated.Drive:
    path.write_text(json.dumps({"sated_replay": 1, **top, "exchanges": exchanges}))
    return sated.open(f"replay:{path}")


def scsi(cdb: bytes, **answer: Any) -> dict[str, Any]:
    return {"command": "scsi", "cdb": cdb.hex(" "), **answer}


def test_scsi(tmp_path: Path) -> None:
    exchanges = [
        scsi(INQUIRY, data=STANDARD.hex(), duration_ns=1500),
        scsi(sated.scsi.build_inquiry().cdb, data=STANDARD.hex()),
        scsi(bytes.fromhex("12018000ff00"), status=2, sense=ILLEGAL.hex()),
    ]
    with replay(tmp_path / "r.json", exchanges) as drive:
        identity = drive.identity
        assert (identity.protocol, identity.vendor, identity.model) == ("scsi", "ACME", "Disk")
        assert "replayed" in identity.features and not identity.simulated
        assert identity.rotation_rpm is None
        told = drive.scsi(INQUIRY, data_in=96)
        assert told.data == STANDARD and told.residual == 60 and told.status == 0 and told.duration_ns == 1500
        assert sated.scsi.decode_inquiry(told.data).product == "Disk"
        assert drive.scsi(sated.scsi.build_inquiry()).data == STANDARD
        with pytest.raises(sated.DriveError, match="5/24/00") as refused:
            drive.scsi(bytes.fromhex("12018000ff00"), 255)
        detail, reply = refused.value.detail, refused.value.reply
        assert (detail.sense_key, detail.asc, detail.ascq) == (5, 0x24, 0)
        assert refused.value.exit_code == 4 and reply.sense == ILLEGAL and reply.status == 2
        assert sated.scsi.decode_sense(reply.sense).key == 5
        with pytest.raises(sated.StateError, match="expected scsi 12 00 00 00 60 00") as other:
            drive.scsi(bytes.fromhex("120000006100"), 97)
        assert "got scsi 12 00 00 00 61 00" in str(other.value)
        with pytest.raises(sated.UnsupportedError, match="not NVMe"):
            drive.nvme_admin(6, cdw10=1, data_in=4096)


@pytest.mark.parametrize(
    ("cdb", "arguments"),
    [
        (b"", {}),
        (bytes(33), {}),
        (INQUIRY, {"data_in": -1}),
        (INQUIRY, {"timeout": 0}),
        (INQUIRY, {"timeout": 5e6}),
        (INQUIRY, {"data_in": 1 << 30}),
        (bytes(7), {"data_in": 0}),
    ],
)
def test_what_makes_no_sense_is_not_sent(tmp_path: Path, cdb: bytes, arguments: dict[str, Any]) -> None:
    with replay(tmp_path / "r.json", [scsi(INQUIRY)]) as drive, pytest.raises(sated.ParseError):
        drive.scsi(cdb, **arguments)


def test_ata(tmp_path: Path) -> None:
    identify = bytearray(512)
    identify[54:62] = b"oMed l X"
    active = "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 ff 00 00 00 00 00 00 00 50"
    aborted = "72 0b 00 00 00 00 00 0e 09 0c 00 04" + " 00" * 9 + " 51"
    exchanges = [
        scsi(sated.ata.build_identify_device().cdb, data=identify.hex()),
        scsi(sated.ata.build_check_power_mode().cdb, status=2, sense=active),
        scsi(bytes.fromhex("85072000000000000000000000402700"), status=0),
        scsi(sated.ata.build_read_log(4, page=1).cdb, status=2, sense=aborted),
    ]
    with replay(tmp_path / "r.json", exchanges) as drive:
        assert drive.identity.protocol == "ata" and drive.identity.model == "Model X"
        assert drive.ata(0xEC, data_in=512).data == identify
        told = drive.ata(sated.ata.build_identify_device())
        assert told.data == identify and told.registers.source == 0 and told.registers.status is None
        told = drive.ata(sated.ata.build_check_power_mode())
        assert told.registers.count_low == 0xFF and told.registers.status == 0x50
        assert drive.ata(0xE5, ck_cond=True).registers == told.registers
        # No registers where they are the answer: not a success.
        with pytest.raises(sated.UnsupportedError, match="registers"):
            drive.ata(0x27, ext=True, ck_cond=True)
        with pytest.raises(sated.DriveError, match="aborted") as failed:
            drive.ata(sated.ata.build_read_log(4, page=1))
        assert (failed.value.detail.ata_status, failed.value.detail.ata_error) == (0x51, 4)
        with pytest.raises(sated.ParseError, match="protocol"):
            drive.ata(0xEC, protocol="pio")
        with pytest.raises(sated.ParseError, match="features"):
            drive.ata(0xEC, features=1 << 16)


def test_nvme_one_log_refuses(tmp_path: Path) -> None:
    """One command at a time: the error log is refused in one length, the rest is fine."""
    everywhere = {"command": "nvme-admin", "opcode": 2, "nsid": "0xffffffff"}
    short = sated.nvme.build_get_log(0x01, length=1024)
    long = sated.nvme.build_get_log(0x01, length=4096)
    smart = sated.nvme.build_get_log(0x02, length=512)
    exchanges = [
        {**everywhere, "cdw10": short.cdw10, "nvme_status": "0x4013"},
        {**everywhere, "cdw10": long.cdw10, "data_len": 4096, "data": "07"},
        {**everywhere, "cdw10": smart.cdw10, "data_len": 512, "data": "00 2c 01 64 0a"},
    ]
    with replay(tmp_path / "r.json", exchanges, protocol="nvme") as drive:
        with pytest.raises(sated.DriveError) as refused:
            drive.nvme_admin(short)
        assert (refused.value.detail.nvme_sct, refused.value.detail.nvme_sc) == (0, 0x13)
        assert refused.value.reply.nvme_status == 0x4013
        assert drive.nvme_admin(long).data[:1] == b"\x07"
        told = drive.nvme_admin(2, nsid=0xFFFFFFFF, cdw10=smart.cdw10, data_in=512)
        assert sated.nvme.decode_smart_log(told.data).avail_spare == 100
        with pytest.raises(sated.ParseError, match="multiple of 4"):
            drive.nvme_admin(2, data_in=510)
        with pytest.raises(sated.ParseError, match="other method"):
            drive.nvme_io(smart)
        with pytest.raises(sated.ParseError, match="cdw10"):
            drive.nvme_admin(2, cdw10=1 << 32)


class Disk(sated.Transport):
    """A disk that knows one answer, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[bytes, bytes | None, int, int]] = []
        self.closed = 0
        self.answer: Any = STANDARD

    def scsi(self, cdb: bytes, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> Any:
        self.asked.append((cdb, data_out, data_in_len, timeout_ms))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer if cdb == INQUIRY else sated.Reply(status=2, sense=ILLEGAL)

    def close(self) -> None:
        self.closed += 1


class SimulatedDisk(Disk):
    simulated = True


def test_transport() -> None:
    disk = Disk()
    with sated.open(disk) as drive:
        gc.collect()
        assert drive.uri == "Disk" and drive.identity.vendor == "ACME" and "transport" in drive.identity.features
        told = drive.scsi(INQUIRY, 96, timeout=1.5)
        assert told.data == STANDARD and told.residual == 60
        assert disk.asked[-1] == (INQUIRY, None, 96, 1500)
        with pytest.raises(sated.DriveError, match="5/24/00"):
            drive.scsi(bytes(6), 0)
        disk.answer = sated.Reply(host_status=3)
        with pytest.raises(sated.StalledError, match="DID_TIME_OUT") as stalled:
            drive.scsi(INQUIRY, 96)
        assert isinstance(stalled.value, TimeoutError)
        disk.answer = sated.Reply(data=STANDARD.ljust(96, b"\0"), residual=-7)
        assert drive.scsi(INQUIRY, 96).residual == -7
    assert disk.closed == 1


@pytest.mark.parametrize(
    ("came", "told", "residual"),
    [(10, 0, 86), (10, None, 86), (10, -7, 86), (10, 600, 86), (10, 1 << 40, 86), (10, 90, 90), (96, 50, 50)],
)
def test_no_data_is_made_up_from_a_residual(came: int, told: int | None, residual: int) -> None:
    """What a transport hands over is the most that the drive can have sent, whatever its residual says."""
    disk = Disk()
    with sated.open(disk) as drive:
        disk.answer = sated.Reply(data=b"x" * came, residual=told)
        reply = drive.scsi(INQUIRY, 96)
    assert (reply.data, reply.residual) == (b"x" * (96 - residual), residual)


def test_an_exception_of_a_transport_is_the_error_of_the_call() -> None:
    disk = Disk()
    with sated.open(disk) as drive:
        disk.answer = ValueError("no such thing")
        with pytest.raises(sated.StateError, match=r"Disk: its transport raised ValueError: no such thing") as error:
            drive.scsi(INQUIRY, 96)
        assert error.value.__cause__ is disk.answer
        disk.answer = OSError(errno.ENODEV, "gone")
        with pytest.raises(OSError, match="gone") as gone:
            drive.scsi(INQUIRY, 96)
        assert isinstance(gone.value, sated.DriveError) and gone.value.errno == errno.ENODEV
        for late in (TimeoutError(), TimeoutError("late"), TimeoutError(errno.ETIMEDOUT, "late")):
            disk.answer = late
            with pytest.raises(sated.StalledError, match=r"raised TimeoutError(: .*late)?$"):
                drive.scsi(INQUIRY, 96)
        disk.answer = sated.UnsupportedError("not by this bridge")
        with pytest.raises(sated.UnsupportedError, match="not by this bridge"):
            drive.scsi(INQUIRY, 96)
        disk.answer = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            drive.scsi(INQUIRY, 96)
        for wrong, says in ((None, "NoneType"), (bytes(97), "97 bytes"), (sated.Reply(sense=bytes(300)), "300 bytes")):
            disk.answer = wrong
            with pytest.raises(sated.StateError, match=says):
                drive.scsi(INQUIRY, 96)
        disk.answer = STANDARD
        assert drive.scsi(INQUIRY, 96).data == STANDARD
    disk.answer = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        sated.open(disk)


class Sat(sated.Transport):
    """Keeps the CDBs of ATA PASS-THROUGH."""

    protocol = "ata"
    simulated = True

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def scsi(self, cdb: bytes, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> Any:
        if cdb[0] == 0x85 and cdb[2] & 0x20:
            return sated.Reply(status=2, sense=bytes.fromhex("7201001d0000000e090c00000000000000000000 0050"))
        self.sent.append(cdb)
        return bytes(data_in_len)


def test_commands_of_48_bits_are_known_by_their_opcodes() -> None:
    """SAT-4 12.2.2: EXTEND is bit 0 of byte 1. What `ext=` says goes before what the opcode says."""
    sat = Sat()
    with sated.open(sat) as drive:
        for opcode, arguments, extend in (
            (0x2F, {"lba": 0x30}, 1),  # READ LOG EXT
            (0x25, {"lba": 5, "protocol": "dma"}, 1),  # READ DMA EXT
            (0xEC, {}, 0),  # IDENTIFY DEVICE
            (0xC8, {"lba": 5, "protocol": "dma"}, 0),  # READ DMA
            (0xC8, {"lba": 1 << 28, "protocol": "dma"}, 1),
            (0x2F, {"lba": 0x30, "ext": False}, 0),
            (0xEC, {"ext": True}, 1),
        ):
            drive.ata(opcode, data_in=512, **arguments)  # type: ignore[arg-type]
            assert (sat.sent[-1][14], sat.sent[-1][1] & 1) == (opcode, extend)
        for build in (sated.ata.build_read, sated.ata.build_flush_cache, sated.ata.build_read_native_max):
            for ext in (False, True):
                built = build(*(0, 1) if build is sated.ata.build_read else (), ext=ext)  # type: ignore[operator]
                protocol = {3: "non-data", 6: "dma"}[built.protocol]
                with contextlib.suppress(sated.DriveError):
                    drive.ata(built.command, protocol=protocol, data_in=built.data_len)
                assert (sat.sent[-1][14], sat.sent[-1][1] & 1) == (built.command, ext)


def test_the_drive_says_how_long_a_command_takes() -> None:
    """SPC-5 6.36.4: the timeouts descriptor, with a recommended timeout of 7200 s, behind the CDB usage data."""
    told = bytes.fromhex("00 83 000a") + bytes.fromhex("48ff0000000000ffff00")
    told += bytes.fromhex("000a 00 00") + (3600).to_bytes(4, "big") + (7200).to_bytes(4, "big")

    class Slow(Disk):
        def scsi(self, cdb: bytes, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> Any:
            return told[:data_in_len] if cdb[:4] == bytes.fromhex("a30c8248") else super().scsi(cdb, None, 0, 0)

    command = sated.scsi.build_sanitize(sated.scsi.Sanitize["BLOCK_ERASE"])
    with sated.open(Slow()) as drive:
        assert drive.scsi_timeout(command) >= 7200
    with sated.open(Disk()) as drive, pytest.raises(sated.DriveError, match="5/24/00"):
        drive.scsi_timeout(command)


def test_an_nvme_transport() -> None:
    seen: list[Any] = []

    class Controller(sated.Transport):
        simulated = True
        protocol = "nvme"

        def nvme(self, command: Any, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> sated.Reply:
            seen.append((command, data_out))
            if command.opcode == 6 and command.cdw10 == 1:
                return sated.Reply(data=bytes(4) + b"SERIAL1             " + b"Model Y".ljust(40) + b"FW1     ")
            return sated.Reply(nvme_status=0x4002, result=1 << 40)

    with sated.open(Controller()) as drive:
        assert (drive.identity.model, drive.identity.serial) == ("Model Y", "SERIAL1")
        with pytest.raises(sated.DriveError, match="Invalid Field") as refused:
            drive.nvme_admin(0x09, cdw10=6, cdw11=1)
        assert refused.value.reply.result == 1 << 40
        assert seen[-1][0].admin and seen[-1][0].timeout_ms == 60000
        with pytest.raises(sated.DriveError):
            drive.nvme_io(1, nsid=1, data_out=b"x" * 512)
        assert seen[-1][1] == b"x" * 512 and not seen[-1][0].admin


def test_consent() -> None:
    """Outside the table nothing is sent to a real drive, which a transport is unless it says otherwise."""
    write = sated.scsi.build_write(0, 1, block_bytes=512)
    disk = Disk()
    with sated.open(disk) as drive:
        before = len(disk.asked)
        with pytest.raises(sated.UnsafeError, match=r"WRITE\(16\)") as unsafe:
            drive.scsi(write, data_out=bytes(512))
        assert unsafe.value.exit_code == 3
        with pytest.raises(sated.UnsafeError, match="type the token"):
            drive.scsi(INQUIRY, 96, confirm=DriveSerial("0001"))
        with pytest.raises(sated.UnsafeError, match="is not the one of this transport's drive"):
            drive.scsi(write, data_out=bytes(512), confirm="Disc")
        assert len(disk.asked) == before
        assert drive.scsi(INQUIRY, 96, confirm="whatever").data == STANDARD
        assert drive.guard().needs_token
        with pytest.raises(sated.DriveError, match="5/24/00"):  # it tells no serial number: its name is the token
            drive.scsi(write, data_out=bytes(512), confirm="Disk")
        assert disk.asked[-1][0] == write.cdb
    simulated = SimulatedDisk()
    with sated.open(simulated) as drive, pytest.raises(sated.DriveError, match="5/24/00"):
        drive.scsi(write, data_out=b"y" * 512)
    assert simulated.asked[-1][:2] == (write.cdb, b"y" * 512)
    for uri in ("sim:generic",):
        with sated.open(uri) as drive, pytest.raises(sated.UnsupportedError, match="takes no commands"):
            drive.scsi(INQUIRY, 96)


def test_wrong_transports() -> None:
    with pytest.raises(sated.ParseError, match=r"sated\.Transport"):
        sated.open(object())  # type: ignore[arg-type]
    with pytest.raises(sated.ParseError, match="create"):
        sated.open(Disk(), create="1GiB")

    class Nothing(sated.Transport):
        pass

    with pytest.raises(sated.ParseError, match="without the function"):
        sated.open(Nothing())

    class Odd(Disk):
        protocol = "usb"

    with pytest.raises(sated.ParseError, match="usb"):
        sated.open(Odd())


def test_recording(tmp_path: Path) -> None:
    disk = SimulatedDisk()
    path = tmp_path / "r.json"
    with sated.open(disk) as drive:
        with drive.record(path):
            drive.scsi(INQUIRY, 96)
            with pytest.raises(sated.DriveError):
                drive.scsi(bytes(6), 0)
        with pytest.raises(ZeroDivisionError), drive.record(tmp_path / "none.json"):
            raise ZeroDivisionError
        with pytest.raises(FileNotFoundError), drive.record(tmp_path / "no" / "folder.json"):
            pass
        with pytest.raises(sated.ParseError, match="NUL"), drive.record("r\0.json"):
            pass
        with drive.record(tmp_path / "again.json"):
            pass
    assert not (tmp_path / "none.json").exists()
    file = json.loads(path.read_text())
    assert file["sated_replay"] == 1 and len(file["exchanges"]) == 2
    with sated.open(f"replay:{path}") as drive:
        assert drive.scsi(INQUIRY, 96).data == STANDARD
        with pytest.raises(sated.DriveError, match="5/24/00"):
            drive.scsi(bytes(6), 0)


def test_a_recording_takes_no_file_s_place(tmp_path: Path) -> None:
    """Nor what a link leads to, nor a file that came while it was recorded."""
    kept, link, late = (tmp_path / name for name in ("kept", "link", "late"))
    kept.write_text("precious")
    link.symlink_to(tmp_path / "nowhere")
    with sated.open(Disk()) as drive:
        for path in (kept, link):
            with pytest.raises(sated.UnsafeError, match="is there already"), drive.record(path):
                raise AssertionError("nothing is asked")
        with pytest.raises(sated.UnsafeError, match="is there already"), drive.record(late):
            late.write_text("precious")
        with drive.record(tmp_path / "new.json"):
            pass
    assert kept.read_text() == late.read_text() == "precious"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["kept", "late", "link", "new.json"]


class Answering(sated.Transport):
    """Takes everything, so that all questions are asked; after `limit` of them it is gone."""

    simulated = False

    def __init__(self, protocol: str, limit: int = 1000) -> None:
        self.protocol = protocol
        self.limit = limit

    def _one(self, data_in_len: int) -> bytes:
        self.limit -= 1
        if self.limit < 0:
            raise OSError(errno.ENODEV, "No such device")
        return bytes(data_in_len)

    def scsi(self, cdb: bytes, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> Any:
        if cdb[0] == 0x85 and cdb[2] & 0x20:
            return sated.Reply(status=2, sense=bytes.fromhex("7201001d0000000e090c00000000000000000000 0050"))
        return self._one(data_in_len)

    def nvme(self, command: Any, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> bytes:
        return self._one(data_in_len)


@pytest.mark.parametrize("protocol", ["scsi", "ata", "nvme"])
def test_what_doctor_asks_changes_nothing(protocol: str, tmp_path: Path) -> None:
    """All questions go to a transport that counts as a real drive: one outside the table would be refused as unsafe."""
    with sated.open(Answering(protocol)) as drive:
        done = record(drive, tmp_path / "r.json")
        assert done.asked == done.answered >= 15 and not done.stopped
    with sated.open(f"replay:{tmp_path / 'r.json'}") as drive:
        assert drive.identity.protocol == protocol
        for command in questions(drive):
            method = {sated.ata.Command: drive.ata, sated.scsi.Command: drive.scsi}.get(type(command), drive.nvme_admin)
            method(command)  # type: ignore[operator]
    with sated.open(Answering(protocol, 12)) as drive:
        done = record(drive, tmp_path / "short.json")
    assert "No such device" in done.stopped and (tmp_path / "short.json").exists()


def test_doctor_records(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from sated.cli import app

    def run(*words: object) -> int:
        try:
            app(args=["doctor", *map(str, words)], prog_name="sated", standalone_mode=True)
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    source = tmp_path / "a.json"
    with sated.open(Answering("nvme")) as drive:
        record(drive, source)
    assert run("--record", tmp_path / "b.json", f"replay:{source}") == 0
    assert "commands" in capsys.readouterr().out
    first, second = (json.loads((tmp_path / name).read_text())["exchanges"] for name in ("a.json", "b.json"))
    assert first == second
    assert run("--record", tmp_path / "c.json") == 2
    assert run("--record", tmp_path / "c.json", "sim:generic") == 7
    (tmp_path / "d-b.json").write_text("precious")
    assert run("--record", tmp_path / "d.json", f"replay:{source}", f"replay:{tmp_path / 'b.json'}") == 3
    assert [path.name for path in tmp_path.glob("d*")] == ["d-b.json"]  # the first was not asked either
    assert run("--record", tmp_path / "c.json", f"replay:{source}", f"replay:{tmp_path / 'b.json'}") == 0
    assert sorted(path.name for path in tmp_path.glob("c*")) == ["c-a.json", "c-b.json"]


def test_the_documented_table_is_the_table() -> None:
    page = Path(__file__).resolve().parents[2] / "docs/reference/read-only-commands.md"
    rows = sated.read_only()
    text = page.read_text()
    assert len(rows) > 60
    for row in rows:
        assert f"| `{row.opcode:02X}h` | {row.name} | {row.fields} |" in text
    assert text.count("h` | ") == len(rows)
