"""Vendor pages and attribute names as tables that other packages bring, and the units of counters that nobody tells."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import sated
from sated import _plugins, ata, nvme, scsi
from sated.errors import ParseError
from sated.pages import Field, Page, register
from test_health import (
    GOOD,
    OCP,
    admin,
    ata_drive,
    attributes,
    by_ata,
    log,
    nvme_drive,
    ocp_guid,
    scsi_drive,
    smart,
)


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(_plugins, "pages", [])
    monkeypatch.setattr(_plugins, "attribute_rules", [])
    _plugins.load.cache_clear()
    yield
    _plugins.load.cache_clear()


def plugin(monkeypatch: pytest.MonkeyPatch, **registers: Any) -> None:
    """Entry points of the group, one for each: what it is called and what stands in its module."""
    points = []
    for name, what in registers.items():
        module = type(sys)(f"sated_{name}")
        module.register = what  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, f"sated_{name}", module)
        points.append(EntryPoint(name=name, value=f"sated_{name}:register", group="sated.decoders"))
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: points if group == "sated.decoders" else [])


WEAR = Page(
    protocol="nvme",
    log=0xCA,
    title="ACME wear",
    match="Mod*",
    length=64,
    fields=[
        Field("flash_written", 0, 8, scale=1 << 25, unit="bytes"),
        Field("wear", 8, 2, unknown=[0xFFFF]),
        Field("offset", 10, 1, kind="int", unit="C"),
        Field("build", 16, 8, kind="text"),
        Field("mark", 24, 2, kind="bytes"),
        Field("wide", 32, 16),
        Field("swapped", 48, 4, order="big"),
    ],
)
WEAR_BYTES = (
    struct.pack("<QHb", 3, 77, -5).ljust(16, b"\0")
    + b"B12     "
    + b"\xab\xcd".ljust(8, b"\0")
    + (1 << 100).to_bytes(16, "little")
    + b"\x00\x00\x01\x02".ljust(16, b"\0")
)
WEAR_ANSWER = admin(nvme.build_get_log(0xCA, length=64), data=WEAR_BYTES.hex())


# ---- tables ---------------------------------------------------------------------------------------------------------


def test_every_kind_of_field() -> None:
    told = WEAR.decode(memoryview(WEAR_BYTES))
    assert told.page == "log-CAh" and told.title == "ACME wear"
    assert told.values == {
        "flash_written": 3 << 25,
        "wear": 77,
        "offset": -5,
        "build": "B12",
        "mark": b"\xab\xcd",
        "wide": 1 << 100,
        "swapped": 0x102,
    }
    assert told.units == {"flash_written": "bytes", "offset": "C"}
    assert dict(told.lines())["flash_written"] == "100,663,296 bytes" and dict(told.lines())["mark"] == "ab cd"
    assert "<th>offset</th><td>-5 C</td>" in told._repr_html_()


def test_what_is_not_there_is_unknown() -> None:
    """A page that ends within a field, and the count that stands for "not reported"."""
    cut = WEAR.decode(WEAR_BYTES[:9])
    assert cut.values["flash_written"] == 3 << 25
    assert [name for name, value in cut.values.items() if value is None] == [
        f for f in cut.values if f != "flash_written"
    ]
    assert WEAR.decode(bytes(8) + b"\xff\xff").values["wear"] is None
    assert WEAR.decode(bytes(64)).values["build"] is None


def test_scsi_parameters() -> None:
    """A page of log parameters (SPC-5 7.3.2): numbers are big-endian and found by their parameter's code."""
    page = Page(
        protocol="scsi",
        log=0x37,
        title="Cache",
        fields=[Field("sent", 0, 4, parameter=0x0001), Field("gone", 0, 4, parameter=0x0009), Field("code", 0, 1)],
    )
    data = bytes.fromhex("3700 0010 0000 0304 00000007 0001 0304 00010000")
    assert page.decode(data).values == {"sent": 65536, "gone": None, "code": 0x37}
    with pytest.raises(ParseError, match="log-37h: is not the page Cache: it says that it is 38h"):
        page.decode(b"\x38" + data[1:])
    sub = Page(protocol="scsi", log=0x37, page=2, title="Sub", fields=[])
    assert sub.name == "log-37h-subpage-02h" and sub.command == scsi.build_log_sense(0x37, subpage=2, alloc=512)
    assert sub.decode(bytes.fromhex("77020000")).values == {}


def test_signature() -> None:
    page = Page(protocol="ata", log=0xDF, page=3, title="Signed", fields=[Field("n", 0, 4)], signature=(4, b"ACME"))
    assert page.name == "log-DFh-page-03h" and page.command == ata.build_read_log(0xDF, page=3)
    assert page.decode(b"\x07\0\0\0ACME").values == {"n": 7}
    for other in (b"\x07\0\0\0ACM", bytes(512)):
        with pytest.raises(ParseError, match="its signature is not at byte 4"):
            page.decode(other)


@pytest.mark.parametrize(
    ("of", "says"),
    [
        ({"protocol": "sata"}, r'X: protocol "sata" is unknown: use nvme, ata, scsi'),
        ({"log": 256}, r"X: log 0x100: nvme has 0 to 0xff"),
        ({"page": 1}, r"X: page 0x1: nvme has 0 to 0x0"),
        ({"length": 510}, r"X: length 510: give 0 to 4096 bytes, a multiple of 4"),
        ({"protocol": "ata", "length": 4}, r"X: length 4: .* a multiple of 512"),
        ({"protocol": "scsi", "log": 0x40}, r"X: log 0x40: scsi has 0 to 0x3f"),
        ({"fields": [Field("a", 0, 4), Field("a", 4, 4)]}, r"X: two fields are called a"),
        ({"fields": [Field("a", 510, 4)]}, r"X, field a: ends at byte 514, the page has 512"),
        ({"fields": [Field("a", 0, 17)]}, r"X, field a: 17 bytes from byte 0 on: a number has 1 to 16"),
        ({"fields": [Field("a", -1, 1)]}, r"X, field a: 1 bytes from byte -1 on"),
        (
            {"fields": [Field("a", 0, 1, kind="float")]},
            r'X, field a: kind "float" is unknown: use uint, int, text, bytes',
        ),
        ({"fields": [Field("a", 0, 1, order="native")]}, r'X, field a: order "native" is unknown'),
        ({"fields": [Field("a", 0, 1, parameter=1)]}, r"X, field a: parameter 0001h: only SCSI pages"),
    ],
)
def test_tables_that_cannot_be(of: dict[str, Any], says: str) -> None:
    with pytest.raises(ParseError, match=says):
        Page(**{"protocol": "nvme", "log": 0xCA, "title": "X", "fields": [], **of})


def test_text_of_a_page_goes_to_terminals() -> None:
    """Escape sequences and bytes beyond ASCII are shown as marks, as C's decoders show them."""
    page = Page(protocol="nvme", log=0xCA, title="T", fields=[Field("who", 0, 12, kind="text")])
    assert page.decode(b"\x1b[31mred\n\xff  ").values == {"who": "?[31mred??"}


# ---- plugins --------------------------------------------------------------------------------------------------------


def test_a_page_from_an_entry_point_is_part_of_health(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin(monkeypatch, acme=lambda: register(WEAR))
    with nvme_drive(tmp_path, smart(), WEAR_ANSWER) as drive:
        told = drive.health()
    assert [page.page for page in told.vendor] == ["log-CAh"] and told.vendor[0].values["wear"] == 77
    assert told.raw["log-CAh"] == WEAR_BYTES and not any("log-CAh" in line for line in told.warnings)
    assert told.counters["log-CAh/wear"] == 77 and "log-CAh/flash_written" not in told.counters


def test_ata_and_scsi_pages_are_part_of_health(tmp_path: Path) -> None:
    register(Page(protocol="ata", log=0xDF, title="A", match="Nobody*", fields=[Field("n", 0, 2)]))
    register(Page(protocol="scsi", log=0x37, title="S", match="Disk", fields=[Field("n", 0, 4, parameter=0)]))
    with ata_drive(tmp_path, GOOD, by_ata(ata.build_read_log(0xDF), data="0102"), logs=False) as drive:
        (page,) = drive.health().vendor
    assert (page.page, page.values) == ("log-DFh-page-00h", {"n": 0x201})
    vendor = {
        "command": "scsi",
        "cdb": scsi.build_log_sense(0x37, alloc=512).cdb.hex(" "),
        "data": "3700 0008 0000 0304 00000007",
    }
    with scsi_drive(tmp_path, log(0x2F, bytes.fromhex("2f000008000003045d102800")), vendor) as drive:
        (page,) = drive.health().vendor
    assert (page.page, page.values) == ("log-37h", {"n": 7})


def test_pages_are_for_the_drives_they_are_for(tmp_path: Path) -> None:
    """By protocol and model; of two at one address the latest that matches counts."""
    register(Page(protocol="nvme", log=0xCA, title="Old", fields=[Field("n", 0, 1)], length=64))
    register(WEAR)
    register(Page(protocol="nvme", log=0xCA, title="Other", match="Elsewhere*", fields=[]))
    register(Page(protocol="ata", log=0xCA, title="ATA", fields=[]))
    with nvme_drive(tmp_path, smart(), WEAR_ANSWER) as drive:
        assert [page.title for page in drive.health().vendor] == ["ACME wear"]


def test_ocp_is_a_vendor_page(tmp_path: Path) -> None:
    """Decoded where it carries its GUID (OCP 2.0, 4.8.6, bytes 496 to 511); a maker's own page C0h is left alone."""
    page = bytearray(512)
    struct.pack_into("<Q", page, 0, 12345)
    with nvme_drive(tmp_path, smart(), admin(OCP, data=page.hex())) as drive:
        told = drive.health()
    assert told.vendor == () and not any("C0h" in line for line in told.doubts)
    page[496:512] = ocp_guid()
    with nvme_drive(tmp_path, smart(), admin(OCP, data=page.hex())) as drive:
        told = drive.health()
    assert told.vendor[0].page == "log-C0h" and told.vendor[0].values["physical_media_units_written"] == 12345


def test_a_page_that_is_refused_is_a_warning(tmp_path: Path) -> None:
    register(WEAR)
    refused = {**WEAR_ANSWER, "nvme_status": "0x4109"}
    del refused["data"], refused["data_len"]
    with nvme_drive(tmp_path, smart(temperature=313), refused) as drive:
        told = drive.health()
    assert told.vendor == () and told.temperature_c is not None
    assert [line for line in told.warnings if line.startswith("log-CAh (ACME wear): ")]
    _plugins.pages[0] = Page(protocol="nvme", log=0xCA, title="T", length=64, fields=[], optional=True)
    with nvme_drive(tmp_path, smart(), refused) as drive:
        assert not any("log-CAh" in line for line in drive.health().warnings)


def test_a_page_that_is_another_is_a_doubt(tmp_path: Path) -> None:
    register(Page(protocol="nvme", log=0xCA, title="T", length=64, fields=[], signature=(0, b"ACME")))
    with nvme_drive(tmp_path, smart(), WEAR_ANSWER) as drive:
        told = drive.health()
    assert told.vendor == () and "log-CAh: is not the page T: its signature is not at byte 0" in told.doubts
    assert told.raw["log-CAh"] == WEAR_BYTES


def broken() -> None:
    register(WEAR)
    ata.register_attributes("*", {9: "Nine"})
    raise KeyError("no such table")


def test_broken_plugins_are_told_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sated.cli import main

    plugin(monkeypatch, good=lambda: ata.register_attributes("*", {250: "Mine"}), bad=broken, odd=12)
    monkeypatch.delitem(sys.modules, "sated_odd")
    errors = sorted(plugin.error for plugin in _plugins.load() if plugin.error)
    assert len(errors) == 2
    assert errors[0].startswith("decoders bad (sated_bad:register): KeyError: 'no such table'; mend or remove")
    assert errors[1].startswith("decoders odd (sated_odd:register): ModuleNotFoundError: No module named 'sated_odd'")
    assert _plugins.pages == [] and ata.attribute_rule(9, model="X").name == "Power_On_Hours"
    assert ata.attribute_rule(250, model="X").name == "Mine"
    with nvme_drive(tmp_path, smart()) as drive:
        assert set(errors) <= set(drive.health().warnings)
    assert main(["doctor", "--json", str(tmp_path)]) in (0, 7)
    findings = {one["found"]: one["state"] for one in json.loads(capsys.readouterr().out) if one["what"] == "decoders"}
    assert {errors[0]: "limited", errors[1]: "limited"}.items() <= findings.items()
    assert findings["good (sated_good:register)"] == "ok"


def test_a_plugin_that_is_no_callable(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin(monkeypatch, odd={9: "Nine"})
    (only,) = _plugins.load()
    assert only.error.startswith("decoders odd (sated_odd:register): is dict, not a callable without arguments")


def explode(_: Any) -> Any:
    raise ZeroDivisionError("oh")


def test_plugins_that_fail_later_do_not_hide_what_the_drive_tells(tmp_path: Path) -> None:
    register(Page(protocol="nvme", log=0xCA, title="T", length=64, fields=explode))
    with nvme_drive(tmp_path, smart(temperature=313), WEAR_ANSWER) as drive:
        told = drive.health()
    assert any(line.startswith("log-CAh (T): its function raised ZeroDivisionError: oh") for line in told.doubts)
    register(Page(protocol="nvme", log=0xCB, title="U", match=explode, fields=[]))
    with nvme_drive(tmp_path, smart(temperature=313), WEAR_ANSWER) as drive:
        told = drive.health()
    assert told.temperature_c is not None and any("explode, which says which models" in line for line in told.warnings)
    with pytest.raises(TypeError, match=r"sated\.pages\.Page expected, got dict"):
        register({})  # type: ignore[arg-type]


# ---- attributes -----------------------------------------------------------------------------------------------------


def test_registered_names_come_first() -> None:
    ata.register_attributes("ACME *", {241: ata.AttributeRule(name="Pages", meaning=5, unit_bytes=8192)})
    assert ata.attribute_rule(241, model="ACME ONE").unit_bytes == 8192
    ata.register_attributes(lambda model: model.endswith("ONE"), {241: "Sheets"})
    assert ata.attribute_rule(241, model="ACME ONE").name == "Sheets"
    assert ata.attribute_rule(241, model="ACME TWO").name == "Pages"
    assert ata.attribute_rule(9, model="ACME ONE").name == "Power_On_Hours"
    with pytest.raises(ParseError, match="attribute 0"):
        ata.register_attributes("*", {0: "x"})


def test_names_from_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin(monkeypatch, acme=lambda: ata.register_attributes("ACME *", {250: "From_Elsewhere"}))
    assert ata.attribute_rule(250, model="ACME ONE").name == "From_Elsewhere"


WRITES = "bcc300000000"  # 50,108
HOST = ata.Meaning["HOST_WRITES"]


def by_attribute(path: Path, raw: str) -> sated.Drive:
    page = attributes((241, 99, raw))
    return ata_drive(path, GOOD, by_ata(ata.build_smart_read_data(), data=page.hex()), logs=False)


def test_a_registered_unit_is_taken_into_health(tmp_path: Path) -> None:
    with by_attribute(tmp_path, WRITES) as drive:
        told = drive.health()
    assert told.host_bytes_written is None and any(line.startswith("attribute 241 (") for line in told.doubts)
    assert [(a.id, a.raw_value, a.total_bytes) for a in told.attributes] == [(241, 50_108, None)]
    ata.register_attributes("Nobody*", {241: ata.AttributeRule(name="W", meaning=HOST, unit_bytes=32 << 20)})
    with by_attribute(tmp_path, WRITES) as drive:
        told = drive.health()
    assert told.host_bytes_written == 50_108 * (32 << 20)
    assert not any(line.startswith("attribute 241 (") for line in told.doubts)
    ata.register_attributes(explode, {241: "X"})
    with by_attribute(tmp_path, WRITES) as drive:
        assert any("explode" in line for line in drive.health().warnings)


# ---- units by experiment --------------------------------------------------------------------------------------------


@pytest.fixture
def health(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    from sated.cli import main

    def run(raw: str, *words: object) -> tuple[int, str, str]:
        by_attribute(tmp_path, raw).close()
        capsys.readouterr()
        code = main(["health", f"replay:{tmp_path / 'ata.json'}", *map(str, words)])
        return code, *capsys.readouterr()

    return run


UNIT = "32 MiB (0.2 % off), so 1.70 TB in its life"


def test_calibrate_by_two_looks(tmp_path: Path, health: Callable[..., tuple[int, str, str]]) -> None:
    """Attribute 241 at 50,108 and 50,749, 20 GiB exactly in between: 32 MiB each, 1.703 TB in its life."""
    before = tmp_path / "before.json"
    before.write_text(health(WRITES, "--json")[1])
    code, out, _ = health("3dc600000000", "--calibrate", before, "--written", "20GiB")
    assert code == 0
    (line,) = out.splitlines()[1:]
    assert line.split() == ["attribute-241", "Total_LBAs_Written", *UNIT.split(), "50,108", "50,749"]
    code, out, _ = health("3dc600000000", "--calibrate", before, "--written", "20GiB", "--json")
    (one,) = json.loads(out)
    assert one["unit_bytes"] == 32 << 20 and one["lifetime_bytes"] == 50_749 * (32 << 20)
    assert one["error"] == pytest.approx((20 << 30) / 641 / (32 << 20) - 1)


def test_calibrate_that_does_not_decide(tmp_path: Path, health: Callable[..., tuple[int, str, str]]) -> None:
    before = tmp_path / "before.json"
    before.write_text(health(WRITES, "--json")[1])
    code, out, _ = health("bdc300000000", "--calibrate", before, "--written", "1GiB")  # one count: 1 GiB or 1 GB
    assert code == 1 and "undecided: 1 GiB or 1.00 GB; write more" in out
    code, out, _ = health("bdc300000000", "--calibrate", before, "--written", "777GiB")
    assert code == 1 and "in no known unit" in out
    code, out, _ = health(WRITES, "--calibrate", before, "--written", "1GiB")
    assert code == 1 and out == "no counter of the drive went up\n"


def test_calibrate_refuses(tmp_path: Path, health: Callable[..., tuple[int, str, str]]) -> None:
    before = tmp_path / "before.json"
    told = json.loads(health(WRITES, "--json")[1])

    def refused(*words: object) -> str:
        code, _, err = health(WRITES, *words)
        assert code == 2 and err.count("\n") == 1
        return err

    with_before = ("--calibrate", before, "--written", "1GiB")
    assert "go together" in refused("--written", "1GiB")
    assert "No such file or directory; make it with: sated health URI --json" in refused(*with_before)
    for text, says in (
        ("{", "is no JSON"),
        ("[]", "has no counters"),
        ('{"drive": 1, "counters": {}}', "has no counters"),
    ):
        before.write_text(text)
        assert says in refused(*with_before)
    before.write_text(json.dumps({**told, "drive": {"model": "Other", "serial": "1"}}))
    assert "is not of this drive" in refused(*with_before)
    before.write_text(json.dumps(told))
    for amount in ("0", "many", "20g"):
        refused("--calibrate", before, "--written", amount)
    with pytest.raises(ParseError, match="bytes_written=0"):
        sated.calibrate({}, {}, bytes_written=0)


# ---- what the terminal shows ----------------------------------------------------------------------------------------


def test_raw_shows_attributes_and_vendor_pages(
    tmp_path: Path, health: Callable[..., tuple[int, str, str]], capsys: Any
) -> None:
    from sated.cli import main

    lines = [line.split() for line in health(WRITES, "--raw")[1].splitlines()]
    assert ["241", "Total_LBAs_Written", "99", "99", "–", "50,108"] in lines
    register(WEAR)
    nvme_drive(tmp_path, smart(), WEAR_ANSWER).close()
    assert main(["health", f"replay:{tmp_path / 'nvme.json'}", "--raw"]) == 0
    out = capsys.readouterr().out
    assert "log-CAh: ACME wear\nflash_written  100,663,296 bytes\nwear           77\n" in out
    assert main(["health", f"replay:{tmp_path / 'nvme.json'}", "--json"]) == 0
    vendor = json.loads(capsys.readouterr().out)["vendor"]["log-CAh"]
    assert vendor["values"]["mark"] == "abcd" and vendor["units"]["offset"] == "C"
