"""Recording drives whose names stand wherever the standards and makers put them, and replaying what was recorded."""

from __future__ import annotations

import dataclasses
import json
import struct
import uuid
from pathlib import Path
from typing import Any

import pytest
import sated
from sated import _plugins, ata, nvme, scsi
from sated._record import record
from sated.pages import Field, Page, register
from test_health import ILLEGAL, sealed, smart

SERIAL = b"WD-WX1A2B3C"  # of odd length, so that swapped pairs do not match it by halves
WWN = bytes.fromhex("50014ee2b1c3d5e7")
NGUID = bytes.fromhex("0123456789abcdef0025385b71b0a1c3")
EUI64 = bytes.fromhex("0025385b71b0a1c5")
UUID = uuid.UUID("6f1d2c3b-4a59-4e68-8f70-112233445566")
FGUID = bytes.fromhex("fedcba98765432100025385b71b0a1c7")
NAMES = {
    "serial": SERIAL,
    "WWN": WWN,
    "NGUID": NGUID,
    "EUI64": EUI64,
    "UUID": UUID.bytes,
    "FGUID": FGUID,
}


def swapped(text: bytes) -> bytes:
    return b"".join(text[i + 1 : i + 2] + text[i : i + 1] for i in range(0, len(text), 2))


def identify() -> bytes:
    words = [0] * 256
    words[82], words[83], words[84], words[85], words[87] = 1, 0x4000, 0x4022, 1, 0x4122
    words[217] = 1
    data = bytearray(struct.pack("<256H", *words))
    data[20:40] = swapped(SERIAL.rjust(20))
    data[54:94] = swapped(b"ACME Disk".ljust(40))
    data[168:170] = struct.pack("<H", 0x4122)  # word 84: has a world-wide name
    data[216:224] = swapped(WWN)
    data[510] = 0xA5
    return sealed(data)


def designator(code_set: int, kind: int, name: bytes) -> bytes:
    return bytes((code_set, kind, 0, len(name))) + name


def vpd(page: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0, page, len(body)) + body


class Disk(sated.Transport):
    """SCSI, or ATA behind SAT: its names stand in INQUIRY, VPD 80h 83h 89h, IDENTIFY and in two of its logs."""

    writes = "bcc300000000"
    """Attribute 241."""

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol

    def inquiry(self, cdb: bytes) -> bytes | None:
        if not cdb[1] & 1:
            who = b"ATA     ACME Disk       " if self.protocol == "ata" else b"ACME    Disk            "
            return bytes.fromhex("000006025b000002") + who + b"0001" + SERIAL.ljust(20) + bytes(40)
        return {
            0x00: vpd(0x00, bytes((0x00, 0x80, 0x83, 0x89))),
            0x80: vpd(0x80, SERIAL.rjust(20)),
            0x83: vpd(
                0x83,
                designator(1, 3, WWN)
                + designator(2, 1, b"ATA     " + b"ACME Disk".ljust(40) + SERIAL.rjust(20))
                + designator(3, 8, b"naa." + WWN.hex().upper().encode() + bytes(4))
                + designator(2, 0, SERIAL),
            ),
            0x89: vpd(0x89, bytes(56) + identify()) if self.protocol == "ata" else None,
        }.get(cdb[2])

    def logs(self, cdb: bytes) -> bytes | None:
        return {
            0x00: bytes((0, 0, 0, 4, 0x00, 0x0D, 0x11, 0x37)),
            0x0D: bytes.fromhex("0d00000c 00000302001e 00010302 0046"),
            0x11: bytes.fromhex("110000080001030400000014"),
            0x37: struct.pack(">BBHHBB", 0x37, 0, 4 + len(SERIAL), 1, 3, len(SERIAL)) + SERIAL,
        }.get(cdb[2] & 0x3F)

    def answer(self, cdb: bytes) -> bytes | None:
        if cdb[0] == 0x12:
            return self.inquiry(cdb)
        if cdb[0] == 0x4D and self.protocol == "scsi":
            return self.logs(cdb)
        if cdb[0] == 0x85 and self.protocol == "ata":
            if cdb == ata.build_identify_device().cdb:
                return identify()
            if cdb == ata.build_smart_read_data().cdb:
                page = bytearray(512)
                page[2:14] = bytes((241, 0x32, 0, 99, 99)) + bytes.fromhex(self.writes) + b"\0"
                return sealed(page)
            if cdb == ata.build_read_log(0x30, page=1).cdb:  # IDENTIFY once more
                return identify()
            if cdb == ata.build_read_log(0xDF).cdb:
                return b"serial " + SERIAL + bytes(494)
        return None

    def scsi(self, cdb: bytes, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> Any:
        if cdb[0] == 0x85 and cdb[2] & 0x20:
            good = "7201001d0000000e090c000000000000004f00c20050"
            return sated.Reply(status=2, sense=bytes.fromhex(good))
        told = self.answer(cdb)
        return sated.Reply(status=2, sense=ILLEGAL) if told is None else told[:data_in_len]


class Controller(sated.Transport):
    """NVMe: its names stand in both Identify structures, in the descriptors and in a log."""

    protocol = "nvme"
    subnqn = b"nqn.2014-08.org.nvmexpress:144d144d" + SERIAL + b"     ACME"

    def identify(self, cns: int, nsid: int) -> bytes | None:
        page = bytearray(4096)
        if cns == 1:
            page[4:24], page[24:64], page[64:72] = SERIAL.ljust(20), b"ACME SSD".ljust(40), b"1       "
            page[112:128] = FGUID
            page[96:100], page[256:258], page[262] = b"\x10\0\0\0", b"\x10\0", 63  # endurance groups, self-tests
            page[768 : 768 + len(self.subnqn)] = self.subnqn
        elif cns == 0 and nsid == 1:
            page[0:8] = page[8:16] = struct.pack("<Q", 1 << 20)
            page[102:104], page[104:120], page[120:128], page[130] = b"\1\0", NGUID, EUI64, 9
        elif cns == 2:
            page[0] = 1
        elif cns == 3 and nsid == 1:
            told = b"".join(
                bytes((kind, len(name), 0, 0)) + name for kind, name in ((1, EUI64), (2, NGUID), (3, UUID.bytes))
            )
            page[: len(told)] = told
        else:
            return None
        return bytes(page)

    def log(self, command: Any) -> bytes | None:
        lid = command.cdw10 & 0xFF
        if lid == 0x01:
            return bytes(command.data_len)
        if lid == 0x02:
            return smart(temperature=313, written=1000, hours=5, spare=100, threshold=10)
        if lid == 0x06:
            return bytes(4) + b"\x0f".ljust(28, b"\0") * 20
        if lid == 0x09 and command.cdw11 >> 16 == 1:
            page = bytearray(512)
            page[80] = 3  # 10^9 bytes of media written (NVMe Base 2.0, figure 217)
            return bytes(page)
        if lid == 0xC0:
            return bytes(496) + bytes(16) if command.data_len == 512 else None
        return b"unit " + SERIAL + bytes(48) if lid == 0xCA else None

    def nvme(self, command: Any, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> Any:
        told = None
        if command.opcode == 6:
            told = self.identify(command.cdw10 & 0xFF, command.nsid)
        elif command.opcode == 2:
            told = self.log(command)
        elif command.opcode == 10:
            return sated.Reply(data=bytes(data_in_len), result=3)
        return sated.Reply(nvme_status=0x4002) if told is None else told.ljust(data_in_len, b"\0")[:data_in_len]


def drives() -> dict[str, sated.Transport]:
    return {"scsi": Disk("scsi"), "ata": Disk("ata"), "nvme": Controller()}


@pytest.fixture(autouse=True)
def vendor_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_plugins, "pages", [])
    fields = [Field("first", 0, 1)]
    register(Page(protocol="nvme", log=0xCA, title="T", length=64, fields=fields))
    register(Page(protocol="ata", log=0xDF, title="T", fields=fields))
    register(Page(protocol="scsi", log=0x37, title="T", fields=fields))


def answers(path: Path) -> list[tuple[dict[str, Any], bytes]]:
    told = json.loads(path.read_text())["exchanges"]
    return [(one, bytes.fromhex("".join(one.get("data", []))).ljust(one.get("data_len", 0), b"\0")) for one in told]


@pytest.mark.parametrize("protocol", ["scsi", "ata", "nvme"])
def test_no_name_is_left(protocol: str, tmp_path: Path) -> None:
    """Neither as it is, nor in swapped pairs, nor in hexadecimal, at any byte of any answer."""
    path = tmp_path / "r.json"
    with sated.open(drives()[protocol]) as drive:
        assert drive.identity.serial == SERIAL.decode()
        record(drive, path)
    everything = answers(path)
    assert b"SATED" in b"".join(data for _, data in everything)
    for what, name in NAMES.items():
        for form in (name, swapped(name.rjust(20)).strip(), swapped(name + b" "), swapped(name[:-1])):
            where = [one for one, data in everything if form in data]
            assert not where, f"{what} is left in {where}"
        for form in (name.hex(), name.hex(" "), name.hex().upper()):
            assert not [one for one, data in everything if form.encode() in data], what
            assert form not in path.read_text(), what
    assert str(UUID) not in path.read_text() and SERIAL.decode() not in path.read_text()


@pytest.mark.parametrize("protocol", ["scsi", "ata", "nvme"])
def test_a_replay_is_as_healthy_as_the_drive(protocol: str, tmp_path: Path) -> None:
    """All that health asks a drive is recorded: nothing more is unknown, and nothing more complained of."""
    path = tmp_path / "r.json"
    with sated.open(drives()[protocol]) as drive:
        was, identity = drive.health(), drive.identity
        done = record(drive, path)
    assert not done.stopped and done.answered < done.asked
    assert was.media_bytes_written == (3 * 10**9 if protocol == "nvme" else None)
    with sated.open(f"replay:{path}") as drive:
        told, replayed = drive.health(), drive.identity
    for field in dataclasses.fields(was):
        if field.name not in ("raw", "warnings"):
            assert getattr(told, field.name) == getattr(was, field.name), field.name
    assert told.raw.keys() == was.raw.keys() and len(told.warnings) == len(was.warnings)
    own = {"scsi": "log-37h", "ata": "log-DFh-page-00h", "nvme": "log-CAh"}[protocol]
    assert [page.page for page in told.vendor] == [own]
    assert replayed.model == identity.model and replayed.serial != identity.serial
    assert len(replayed.serial) == len(identity.serial)
    with sated.open(f"replay:{path}") as drive:
        record(drive, tmp_path / "again.json")
    first, again = ([(one, data) for one, data in answers(name)] for name in (path, tmp_path / "again.json"))
    assert [data for _, data in first] == [data for _, data in again]


def test_the_same_name_becomes_the_same(tmp_path: Path) -> None:
    """What stands in IDENTIFY in swapped pairs, in VPD pages and in a log plainly is one serial number afterwards."""
    path = tmp_path / "r.json"
    with sated.open(Disk("ata")) as drive:
        record(drive, path)
    by_cdb = {one.get("cdb"): data for one, data in answers(path)}
    told = by_cdb[ata.build_identify_device().cdb.hex(" ")]
    serial = ata.decode_identify(told).serial
    assert serial.startswith("SATED") and ata.decode_identify(told).checksum == ata.Checksum["OK"]
    assert scsi.decode_vpd(by_cdb[scsi.build_inquiry(page=0x80).cdb.hex(" ")]).serial.strip() == serial
    assert by_cdb[ata.build_read_log(0xDF).cdb.hex(" ")].startswith(b"serial " + serial.encode())
    again = scsi.decode_vpd(by_cdb[scsi.build_inquiry(page=0x89, alloc=1024).cdb.hex(" ")])
    assert again is not None


def test_nvme_names(tmp_path: Path) -> None:
    """The OUI of an EUI-64 (its first three bytes) says who made it, and stays; a qualified name's UUID does not."""

    class Named(Controller):
        subnqn = b"nqn.2014-08.org.nvmexpress:uuid:" + str(UUID).encode()

    path = tmp_path / "r.json"
    with sated.open(Named()) as drive:
        record(drive, path)
    namespace, controller = (
        next(nvme.decode_id_ns(data) if cns == 0 else data for one, data in answers(path) if asks(one, cns))
        for cns in (0, 1)
    )
    assert namespace.eui64[:3] == EUI64[:3] and namespace.eui64 != EUI64
    assert nvme.decode_id_ctrl(controller).subnqn.startswith("nqn.2014-08.org.nvmexpress:uuid:SATED")


def asks(one: dict[str, Any], cns: int) -> bool:
    return one["opcode"] == "0x06" and int(one.get("cdw10", "0x0"), 16) == cns and "data" in one
