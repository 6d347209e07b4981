"""Health over every protocol, from composed answers whose meaning the standards and the field cases give."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import sated
from fixtures import named
from sated import ata, nvme, scsi

ILLEGAL = bytes.fromhex("70000500000000 0a 00000000 2400 00000000")


def replay(path: Path, exchanges: list[dict[str, Any]], **top: Any) -> sated.Drive:
    path.write_text(json.dumps({"sated_replay": 1, **top, "exchanges": exchanges}))
    return sated.open(f"replay:{path}")


# ---- NVMe -----------------------------------------------------------------------------------------------------------


def admin(command: Any, **answer: Any) -> dict[str, Any]:
    told = {"command": "nvme-admin", "opcode": command.opcode, **answer}
    words = {name: getattr(command, name) for name in ("nsid", "cdw10", "cdw11") if getattr(command, name)}
    if "data" in answer:
        told["data_len"] = command.data_len
    return told | {name: hex(value) for name, value in words.items()}


def smart(**members: int) -> bytes:
    """NVMe Base 2.0, figure 207."""
    page = bytearray(512)
    places = {"critical": (0, 1), "temperature": (1, 2), "spare": (3, 1), "threshold": (4, 1), "used": (5, 1)}
    wide = ("read", "written", "reads", "writes", "busy", "cycles", "hours", "unsafe", "media", "errors")
    places |= {name: (32 + 16 * i, 16) for i, name in enumerate(wide)}
    places |= {f"sensor{i}": (200 + 2 * (i - 1), 2) for i in range(1, 9)}
    for name, value in members.items():
        at, length = places[name]
        page[at : at + length] = value.to_bytes(length, "little")
    return bytes(page)


def controller(*, wctemp: int = 0, cctemp: int = 0, oacs: int = 0x10, elpe: int = 63, ctratt: int = 0) -> bytes:
    page = bytearray(4096)
    page[4:24], page[24:64] = b"SERIAL".ljust(20), b"Model".ljust(40)
    struct.pack_into("<I", page, 96, ctratt)
    struct.pack_into("<H", page, 256, oacs)
    page[262] = elpe
    struct.pack_into("<HH", page, 266, wctemp, cctemp)
    return bytes(page)


IDENTIFY = nvme.build_identify(nvme.Cns["CTRL"])
SMART = nvme.build_get_log(0x02, length=512)
ERRORS_FEW = nvme.build_get_log(0x01, length=1024)
ERRORS_MANY = nvme.build_get_log(0x01, length=4096)
SELF_TESTS = nvme.build_get_log(0x06, length=564)
OCP = nvme.build_get_log(0xC0, length=512)
NO_FIELD = "0x4002"


def nvme_drive(path: Path, page: bytes, *more: dict[str, Any], **of: int) -> sated.Drive:
    exchanges = [admin(IDENTIFY, data=controller(**of).hex()), admin(SMART, data=page.hex()), *more]
    return replay(path / "nvme.json", exchanges, protocol="nvme")


def test_nvme(tmp_path: Path) -> None:
    self_tests = bytearray(564)
    self_tests[0:2] = bytes((1, 30))  # short, 30 % done
    self_tests[4:32] = bytes((0x10, 0, 0, 0)) + struct.pack("<Q", 777) + bytes(16)
    for i in range(1, 20):
        self_tests[4 + 28 * i] = 0x0F
    ocp = bytearray(512)
    struct.pack_into("<Q", ocp, 0, 3 * 512000 * 1000)
    ocp[496:512] = ocp_guid()
    page = smart(
        critical=0x05,
        temperature=313,
        spare=90,
        threshold=10,
        used=104,
        read=2000,
        written=1000,
        cycles=7,
        hours=1234,
        unsafe=3,
        media=1,
        errors=12,
        sensor1=310,
        sensor3=320,
    )
    with nvme_drive(
        tmp_path,
        page,
        admin(OCP, data=ocp.hex()),
        admin(SELF_TESTS, data=self_tests.hex()),
        admin(ERRORS_FEW, data="07"),
        wctemp=343,
        cctemp=358,
    ) as drive:
        told = drive.health()
    assert told.critical_warnings == ("spare", "reliability")
    assert told.temperature_c == pytest.approx(39.85) and told.temperature_warning_c == pytest.approx(69.85)
    assert told.temperature_critical_c == pytest.approx(84.85)
    assert told.sensors_c == pytest.approx((36.85, 46.85))
    assert (told.available_spare, told.spare_threshold, told.percentage_used) == (90, 10, 104)
    assert (told.host_bytes_read, told.host_bytes_written) == (2000 * 512000, 1000 * 512000)
    assert told.media_bytes_written == 3 * 512000 * 1000 and told.lifetime_write_amplification == 3
    assert (told.power_cycles, told.power_on_hours, told.unsafe_shutdowns) == (7, 1234, 3)
    assert (told.media_errors, told.error_log_entries) == (1, 12)
    assert (told.self_test_running, told.self_test_percent) == (True, 30)
    assert (told.self_test_result, told.self_test_hours) == ("passed", 777)
    assert told.warnings == () and told.doubts == ()
    assert told.raw["log-02h"] == page and told.raw["log-06h"] == bytes(self_tests)
    assert sorted(told.raw) == ["identify-controller", "log-01h", "log-02h", "log-06h", "log-C0h"]


def ocp_guid() -> bytes:
    """OCP Datacenter NVMe SSD 2.0, 4.8.6: AFD514C97C6F4F9CA4F2BFEA2810AFC5, its low byte first, in bytes 496 to 511."""
    return bytes.fromhex("AFD514C97C6F4F9CA4F2BFEA2810AFC5")[::-1]


@pytest.mark.parametrize(("kelvin", "celsius"), [(0, None), (0x0104, -13.15), (0x0139, 39.85), (0xFFFF, None)])
def test_nvme_temperatures(tmp_path: Path, kelvin: int, celsius: float | None) -> None:
    """Case C24 of the field cases: kelvin, and 0 for "not reported"; no sensors, no thresholds."""
    with nvme_drive(tmp_path, smart(temperature=kelvin)) as drive:
        told = drive.health()
    assert told.temperature_c == (None if celsius is None else pytest.approx(celsius))
    assert told.sensors_c == () and told.temperature_warning_c is None and told.temperature_critical_c is None


@pytest.mark.parametrize(("units", "written"), [(903441207, 462561897984000), (1, 512000), (0, None), (1 << 64, None)])
def test_data_units(tmp_path: Path, units: int, written: int | None) -> None:
    """Case C28: 512,000 bytes, rounded up; 0 is none or not reported, and no drive has written 2^64 of them."""
    with nvme_drive(tmp_path, smart(written=units, read=5)) as drive:
        told = drive.health()
    assert told.host_bytes_written == written
    doubts = " ".join(told.doubts)
    assert {1: "at most 512,000", 0: "none or not reported", 1 << 64: "2^64"}.get(units, "") in doubts
    assert bool(told.doubts) == (units != 903441207)


def test_junk_is_unknown_and_said(tmp_path: Path) -> None:
    with nvme_drive(tmp_path, smart(spare=100, threshold=255, used=255, temperature=300)) as drive:
        told = drive.health()
    assert told.spare_threshold is None and told.available_spare == 100 and told.host_bytes_written is None
    assert any(line.startswith("spare threshold: 255 %") for line in told.doubts)
    assert any("that or more" in line for line in told.doubts)
    assert any(line.startswith("data units: 0") for line in told.doubts)
    assert told.lifetime_write_amplification is None


@pytest.mark.parametrize("always", [False, True])
def test_one_log_refuses(tmp_path: Path, always: bool) -> None:
    """Case C48: 16 entries of the error log are refused with 13h, 64 are not; or all are. The rest goes on."""
    many = {"nvme_status": "0x4013"} if always else {"data": "07"}
    few = admin(ERRORS_FEW, nvme_status="0x4013")
    with nvme_drive(tmp_path, smart(hours=9), few, admin(ERRORS_MANY, **many), oacs=0) as drive:
        told = drive.health()
    assert told.power_on_hours == 9
    assert ("log-01h" in told.raw) != always
    assert len(told.warnings) == always
    if always:
        assert told.warnings[0].startswith("log-01h: ")
    else:
        assert len(told.raw["log-01h"]) == 4096


def test_nothing_told_is_an_error(tmp_path: Path) -> None:
    dead = replay(tmp_path / "dead.json", [admin(IDENTIFY, nvme_status=NO_FIELD)], protocol="nvme")
    with dead as drive, pytest.raises(sated.SatedError):
        drive.health()


# ---- SCSI -----------------------------------------------------------------------------------------------------------


def log(page: int, data: bytes) -> dict[str, Any]:
    return {"command": "scsi", "cdb": scsi.build_log_sense(page).cdb.hex(" "), "data": data.hex()}


def scsi_drive(path: Path, *logs: dict[str, Any]) -> sated.Drive:
    inquiry = bytes.fromhex("000006025b000002") + b"ACME    " + b"Disk            " + b"0001"
    first = {"command": "scsi", "cdb": scsi.build_inquiry(alloc=96).cdb.hex(" "), "data": inquiry.hex()}
    return replay(path / "scsi.json", [first, *logs], protocol="scsi")


def test_scsi(tmp_path: Path) -> None:
    """The expected numbers are those that sg_logs prints for these answers, beside them in tests/corpus."""
    with scsi_drive(
        tmp_path,
        log(0x00, bytes.fromhex("0000000600030d10112f")),
        log(0x03, named("scsi_log03_kpm5x_reenc").data),
        log(0x0D, named("scsi_log0d_kpm5x_reenc").data),
        log(0x10, bytes.fromhex("10000014 0001 0310 2f 00 01c8 ffffffffffffffff 00000000".replace(" ", ""))),
        log(0x11, named("scsi_log11_kpm5x_reenc").data),
        log(0x2F, named("scsi_log2f_ok_reenc").data),
    ) as drive:
        told = drive.health()
    assert (told.temperature_c, told.temperature_warning_c) == (30, 70)
    assert (told.host_bytes_read, told.host_bytes_written) == (2295821000000, None)
    assert (told.media_errors, told.critical_warnings, told.percentage_used) == (0, (), 0)
    assert (told.self_test_running, told.self_test_percent) == (True, None)
    assert told.warnings == ()
    assert sorted(told.raw) == ["log-00h", "log-03h", "log-0Dh", "log-10h", "log-11h", "log-2Fh"]


@pytest.mark.parametrize(
    ("answer", "used"),
    [("110000080001030400000014", 20), ("11000008000103040000001400000063", 20), ("11000000", None)],
)
def test_wear_of_a_sas_ssd(tmp_path: Path, answer: str, used: int | None) -> None:
    """Case C37: 20 %; what is stale behind the page is not read; an empty page tells nothing."""
    with scsi_drive(tmp_path, log(0x11, bytes.fromhex(answer))) as drive:
        assert drive.health().percentage_used == used


def test_one_scsi_page_refuses(tmp_path: Path) -> None:
    """A page that the drive lists and refuses is a warning; one that it does not list is not asked for."""
    refused = {"command": "scsi", "cdb": scsi.build_log_sense(0x0D).cdb.hex(" "), "status": 2, "sense": ILLEGAL.hex()}
    exceptions = log(0x2F, bytes.fromhex("2f00000800000304 0b012800"))
    with scsi_drive(tmp_path, log(0x00, bytes.fromhex("00000003000d2f")), refused, exceptions) as drive:
        told = drive.health()
    assert told.critical_warnings == ("temperature",) and told.temperature_c == 40  # SPC-5: 0Bh/01h
    assert len(told.warnings) == 1 and told.warnings[0].startswith("log-0Dh: ")


def test_foreseen_failure(tmp_path: Path) -> None:
    """SPC-5, log page 2Fh: 5Dh/10h is a foreseen failure."""
    with scsi_drive(tmp_path, log(0x2F, bytes.fromhex("2f000008000003045d102800"))) as drive:
        told = drive.health()
    assert told.critical_warnings == ("failing",) and told.temperature_c == 40


# ---- ATA ------------------------------------------------------------------------------------------------------------


def identify(*, smart_on: bool = True, logs: bool = True) -> bytes:
    words = [0] * 256
    words[82] = 1
    words[83] = 0x4000
    words[84] = 0x4000 | 0x2 | (0x20 if logs else 0)
    words[85] = 1 if smart_on else 0
    words[87] = words[84]
    words[217] = 1
    model = b"Nobody knows it".ljust(40)
    data = bytearray(struct.pack("<256H", *words))
    data[54:94] = b"".join(model[i + 1 : i + 2] + model[i : i + 1] for i in range(0, 40, 2))
    return bytes(data)


def sealed(page: bytearray) -> bytes:
    page[511] = -sum(page[:511]) & 0xFF
    return bytes(page)


def attributes(*rows: tuple[int, int, str], self_test: int = 0) -> bytes:
    page = bytearray(512)
    page[0] = 0x10
    for i, (number, value, raw) in enumerate(rows):
        page[2 + 12 * i : 14 + 12 * i] = bytes((number, 0x32, 0, value, value)) + bytes.fromhex(raw) + b"\0"
    page[363] = self_test
    return sealed(page)


def statistics(page: int, **quads: int) -> bytes:
    data = bytearray(512)
    struct.pack_into("<HB", data, 0, 1, page)
    for name, value in quads.items():
        struct.pack_into("<Q", data, int(name[1:]), value | 0xC0 << 56)
    return bytes(data)


def by_ata(command: Any, **answer: Any) -> dict[str, Any]:
    return {"command": "scsi", "cdb": command.cdb.hex(" "), **answer}


def registers(lba: str, status: str = "50") -> dict[str, Any]:
    return {"status": 2, "sense": f"72 01 00 1d 00 00 00 0e 09 0c 01 00 00 00 {lba} {status}"}


def ata_drive(path: Path, *more: dict[str, Any], **of: bool) -> sated.Drive:
    first = by_ata(ata.build_identify_device(), data=identify(**of).hex())
    return replay(path / "ata.json", [first, *more], protocol="ata")


GOOD = by_ata(ata.build_smart_return_status(), **registers("00 00 00 4f 00 c2 00"))


def test_ata_attributes(tmp_path: Path) -> None:
    """Cases C30 (41 C, whatever is packed above it) and C33 (without a known unit, no bytes)."""
    page = attributes(
        (9, 99, "d20400000000"), (12, 99, "070000000000"), (194, 93, "290011003f00"), (241, 99, "bcc300000000")
    )
    with ata_drive(tmp_path, GOOD, by_ata(ata.build_smart_read_data(), data=page.hex()), logs=False) as drive:
        told = drive.health()
    assert told.temperature_c == 41 and told.critical_warnings == ()
    assert (told.power_on_hours, told.power_cycles) == (1234, 7)
    assert told.host_bytes_written is None
    assert [line for line in told.doubts if line.startswith("attribute 241") and "50108" in line]
    assert told.self_test_running is False and told.raw["smart-data"] == page


def test_ata_statistics_go_before_attributes(tmp_path: Path) -> None:
    listed = bytearray(512)
    struct.pack_into("<HBBBBBB", listed, 0, 1, 0, 0, 0, 0, 0, 0)
    listed[8:14] = bytes((5, 0, 1, 4, 5, 7))
    read = ata.build_read_log
    exceeded = by_ata(ata.build_smart_return_status(), **registers("00 00 00 f4 00 2c 00"))
    with ata_drive(
        tmp_path,
        exceeded,
        by_ata(ata.build_smart_read_data(), data=attributes((9, 99, "010000000000"), self_test=0xF4).hex()),
        by_ata(read(4, page=0), data=bytes(listed).hex()),
        by_ata(read(4, page=1), data=statistics(1, q8=11, q16=2222, q24=1000, q40=2000).hex()),
        by_ata(read(4, page=4), data=statistics(4, q8=3).hex()),
        by_ata(read(4, page=5), data=statistics(5, q8=0xF6, q88=70).hex()),
        by_ata(read(4, page=7), data=statistics(7, q8=12).hex()),
    ) as drive:
        told = drive.health()
    assert told.critical_warnings == ("failing",)
    assert (told.power_on_hours, told.power_cycles, told.media_errors) == (2222, 11, 3)
    assert (told.host_bytes_written, told.host_bytes_read) == (512000, 1024000)
    assert (told.temperature_c, told.temperature_warning_c, told.percentage_used) == (-10, 70, 12)
    assert (told.self_test_running, told.self_test_percent) == (True, 60)  # 4 x 10 % remain (ACS-4, byte 363)
    assert told.doubts == ()


def test_ata_checksum_and_switched_off(tmp_path: Path) -> None:
    bad = bytearray(attributes((9, 99, "d20400000000")))
    bad[511] ^= 1
    with ata_drive(tmp_path, GOOD, by_ata(ata.build_smart_read_data(), data=bad.hex()), logs=False) as drive:
        told = drive.health()
    assert told.power_on_hours is None and any("checksum" in line for line in told.doubts)
    with ata_drive(tmp_path, smart_on=False, logs=False) as drive:
        told = drive.health()
    assert told.critical_warnings is None and any("switched off" in line for line in told.warnings)


# ---- simulated drives, files, the command line ----------------------------------------------------------------------


def test_simulated(tmp_path: Path) -> None:
    with sated.open("sim:generic,scale=1/8") as drive:
        fresh = drive.health()
        assert (fresh.host_bytes_written, fresh.lifetime_write_amplification) == (0, None)
        sated.load(drive, sated.Workload(op="write", size="64k", depth=4), bytes="16MiB")
        told = drive.health()
        counters = drive.sim.counters
        assert told.host_bytes_written == counters.host_write_units * counters.unit_bytes * 8
        assert told.media_bytes_written == counters.nand_write_units * counters.unit_bytes * 8
        assert told.host_bytes_written and told.media_bytes_written
        ratio = told.media_bytes_written / told.host_bytes_written
        assert told.lifetime_write_amplification == pytest.approx(ratio)
        assert told.temperature_c is None and any("1/8" in line for line in told.doubts)
    (tmp_path / "file").write_bytes(bytes(4096))
    with sated.open(str(tmp_path / "file")) as drive, pytest.raises(sated.UnsupportedError, match="regular file"):
        drive.health()


def test_simulated_ata() -> None:
    """A simulated drive with a command set is asked by it, and says what its counters say."""
    with sated.open("sim:x210,scale=1/64") as drive:
        sated.load(drive, sated.Workload(op="write", size="128k", depth=4), bytes="64MiB")
        counters = drive.sim.counters
        told = drive.health()
        assert told.host_bytes_written == counters.written_bytes * 64 == 2**32
        # Attribute 233 of this family counts whole GiB.
        assert told.media_bytes_written == counters.nand_write_units * 4096 * 64 // 2**30 * 2**30
        assert (told.power_cycles, told.unsafe_shutdowns, told.media_errors) == (1, 0, 0)
        assert (told.percentage_used, told.available_spare, told.self_test_result) == (0, 100, "never")
        assert told.critical_warnings == () and told.warnings == ()
        assert any("1/64" in line for line in told.doubts)
        assert ata.decode_smart(told.raw["smart-data"]).checksum == ata.Checksum.OK
        for test in ata.SelfTest.SHORT, ata.SelfTest.EXTENDED:
            drive.ata(ata.build_smart_offline(test))
            assert drive.health().self_test_running is True
            drive.sleep(ata.decode_smart(told.raw["smart-data"]).extended_minutes * 60)
            after = drive.health()
            assert (after.self_test_running, after.self_test_result) == (False, "passed")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from sated.cli import main

    def out(*arguments: str) -> str:
        assert main(["health", *arguments]) == 0
        return capsys.readouterr().out

    nvme_drive(tmp_path, smart(temperature=313, written=10, threshold=255)).close()
    uri = f"replay:{tmp_path / 'nvme.json'}"
    told = json.loads(out(uri, "--json"))
    assert told["temperature_c"] == pytest.approx(39.85) and told["spare_threshold"] is None and told["raw"] is None
    told = json.loads(out(uri, "--json", "--raw"))
    assert len(bytes.fromhex(told["raw"]["log-02h"])) == 512
    lines = out(uri, "--raw").splitlines()
    assert any(line.split() == ["spare", "threshold", "–"] for line in lines)
    assert any(line.startswith("doubt") and "255 %" in line for line in lines)
    assert "log-02h" in lines
