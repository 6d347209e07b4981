"""What the builders and decoders of all three protocols have in common."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sated
from fixtures import named
from sated import _commands, _decode, _drive, ata, errors, nvme, pages, scsi
from sated._ffi import ffi
from sated.errors import ParseError

ROOT = Path(__file__).resolve().parents[2]
HEADERS = [ROOT / "include/sated" / name for name in ("scsi.h", "ata.h", "nvme.h")]


# What they decode is no bytes, or not only.
NUMBERS = (nvme.decode_status, nvme.decode_flbas, nvme.decode_temperature_threshold, ata.decode_results_log)


def functions(prefix: str) -> list[Any]:
    return [
        pytest.param(getattr(module, name), id=f"{module.__name__.removeprefix('sated.')}.{name}")
        for module in (scsi, ata, nvme)
        for name in module.__all__
        if name.startswith(prefix) and getattr(module, name) not in NUMBERS
    ]


# Bytes that say which page they are, for the decoders that go by that.
WHOLE = {scsi.decode_vpd: bytes((0, 0xB0, 0, 60)), scsi.decode_mode_page: bytes((8, 18)), scsi.decode_log_page: b"\r"}


@pytest.mark.parametrize("decode", functions("decode_"))
def test_bytes_may_come_in_anything_that_holds_them(decode: Callable[..., Any]) -> None:
    """A cut-out of a bytearray and a numpy array (also of words, as memory maps have) are the bytes that they hold."""
    data = (WHOLE.get(decode, b"") + bytes(range(256)) * 20)[:4096]
    spread = bytearray(2 * len(data))
    spread[::2] = data
    others = (
        bytearray(data),
        memoryview(spread)[::2],
        np.frombuffer(data, np.uint8),
        np.frombuffer(data, np.uint16).reshape(2, -1),
    )

    def told(held: Any) -> Any:
        try:
            return decode(held)
        except ParseError as error:
            return str(error)

    assert all(told(held) == told(data) for held in others)


@pytest.mark.parametrize("decode", functions("decode_"))
def test_what_holds_no_bytes_is_refused(decode: Callable[..., Any]) -> None:
    """A number is no answer: as many zeros would be taken for one."""
    for wrong in (4096, "00 00", None, [0] * 512):
        with pytest.raises(TypeError, match=f"buffer expected, got {type(wrong).__name__}"):
            decode(wrong)


@pytest.mark.parametrize("build", functions("build_"))
def test_numbers_that_no_field_holds_are_parse_errors(build: Callable[..., Any]) -> None:
    """Each number of each builder, one at a time, far beyond 64 bits and below zero."""
    fitting = {"bytes": b"", "Buffer": b"", "str": "", "bool": False}
    texts = {"build_sanitize": "overwrite", "build_self_test": "short"}
    parameters = inspect.signature(build).parameters
    needed = {
        name: texts.get(build.__name__, "current") if p.annotation == "str" else fitting.get(p.annotation, 1)
        for name, p in parameters.items()
        if p.default is p.empty
    }
    needed |= {name: [] for name, p in parameters.items() if p.annotation.startswith(("Iterable", "Sequence"))}
    for name, p in parameters.items():
        wrong: tuple[Any, ...] = ()
        if p.annotation in ("int", "int | None"):
            wrong = (1 << 70, -(1 << 70))
        elif p.annotation.endswith("[tuple[int, int]]"):
            wrong = ([(1 << 70, 1)], [(1, 1 << 70)])
        for value in wrong:
            with pytest.raises(ParseError):
                build(**{**needed, name: value})


@pytest.mark.parametrize(
    ("says", "call"),
    [
        ("get log: 4294967296 is out of range; give 0 to 4294967295", lambda: nvme.build_get_log(2, length=1 << 32)),
        ("sanitize overwrite: 4294967296 is out", lambda: ata.build_sanitize_overwrite(1 << 32)),
        ("trim: lba=-1 is out of range; give 0 to 18446744073709551615", lambda: ata.build_trim([(-1, 1)])),
        ("max_blocks is 4294967296: give a number from 0 to 65535", lambda: ata.build_trim([], max_blocks=1 << 32)),
        ("erase timeout: word is 65536: give", lambda: ata.erase_timeout_ms(65536)),
        ("controller identifier is 65536: give", lambda: nvme.build_ctrl_list([1, 65536])),
        ("NVMe status is 32768: give", lambda: nvme.decode_status(1 << 15)),
        ("FLBAS is -1: give", lambda: nvme.decode_flbas(-1, formats=1)),
        ("dword 0 is 4294967296: give", lambda: nvme.decode_temperature_threshold(1 << 32)),
        ("sense key is 16: give", lambda: scsi.key_text(16)),
        ("ASCQ is 256: give", lambda: scsi.asc_text(0, 256)),
        ("opcode is -1: give", lambda: scsi.opcode_text(-1)),
        ("VPD page: 1 bytes, .*; give the whole answer", lambda: scsi.decode_vpd(b"a")),
        ("log page: 0 bytes, .*; give the whole answer", lambda: scsi.decode_log_page(b"")),
    ],
)
def test_what_is_wrong_is_named_with_what_is_right(says: str, call: Callable[[], Any]) -> None:
    with pytest.raises(ParseError, match=says):
        call()


class Echo(sated.Transport):
    """Keeps what was sent."""

    simulated = True

    def __init__(self) -> None:
        self.sent: list[bytes | None] = []

    def scsi(self, cdb: bytes, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> Any:
        self.sent.append(data_out)
        return np.zeros(data_in_len, np.uint8)  # a transport may answer with anything that holds bytes, too


def test_raw_commands_take_anything_that_holds_bytes() -> None:
    echo = Echo()
    with sated.open(echo) as drive:
        assert len(drive.scsi(np.array([0x12, 0, 0, 0, 36, 0], np.uint8), 36).data) == 36
        drive.scsi(bytearray(6), data_out=memoryview(b"abcd"))
        drive.ata(0x3F, lba=1, count=1, data_out=np.arange(128, dtype=np.uint32))
        with pytest.raises(TypeError, match="buffer expected, got int"):
            drive.scsi(6)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"cdw9: an NVMe command takes nsid, cdw2"):
            drive.nvme_admin(6, cdw9=1)  # type: ignore[call-arg]
    assert echo.sent[-2:] == [b"abcd", np.arange(128, dtype="<u4").tobytes()]


def test_known_is_made_from_the_headers() -> None:
    """csrc/protocol/known_*.h says of each member the place that cffi finds it at too."""
    made = subprocess.run(
        [sys.executable, str(ROOT / "csrc/protocol/known.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout
    sys.path.insert(0, str(ROOT / "csrc/protocol"))
    try:
        import known
    finally:
        sys.path.pop(0)
    for name, members in known.structs("scsi.h").items():
        assert members == [field for field, _ in ffi.typeof(f"struct sated_{name}").fields]


def test_dataclass() -> None:
    page = scsi.decode_luns(bytes.fromhex("00 00 00 08 00 00 00 00") + bytes(8))
    assert dataclasses.asdict(page) == {"luns": (0,), "truncated": False}
    assert page == scsi.decode_luns(bytes.fromhex("00 00 00 08 00 00 00 00") + bytes(8))
    with pytest.raises(dataclasses.FrozenInstanceError):
        page.truncated = True
    assert "<th>luns</th>" in page._repr_html_()
    assert type(page).__name__ == "ScsiLuns"


def test_what_comes_from_a_drive_is_shown_as_text() -> None:
    """A model is whatever its maker, or an emulator's user, has put there; a page is not shown byte by byte."""

    class Odd(sated.Transport):
        def scsi(self, cdb: bytes, data_out: bytes | None, data_in_len: int, timeout_ms: int) -> bytes:
            return bytes.fromhex("000006025b000002") + b"ACME    " + b"<script>".ljust(16) + b"0001"

    with sated.open(Odd()) as drive:
        assert "&lt;script&gt;" in drive._repr_html_() and "<script>" not in drive._repr_html_()
        assert "<th>protocol</th><td>scsi</td>" in drive.identity._repr_html_()
        health = drive.health()
    assert "raw=" not in repr(health) and "warnings" in health._repr_html_()


def test_decoded_structs_show_themselves() -> None:
    told = scsi.decode_log_page(named("scsi_log0d_scsi_debug").data)
    assert repr(told).startswith("ScsiLogTemperature(") and "temperature_c=38" in repr(told)
    assert "<th>temperature_c</th><td>38</td>" in told._repr_html_()
    unknown = scsi.decode_log_page(bytes((0x0D, 0, 0, 0)))
    assert "temperature_c=None" in repr(unknown) and "<th>temperature_c</th><td>–</td>" in unknown._repr_html_()


@pytest.mark.parametrize("module", [_commands, _decode, _drive, ata, errors, nvme, pages, scsi])
def test_examples_in_the_documentation(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted and not result.failed


INSIDE = {"attribute_raw"}  # used by a function of another name


def test_every_decoder_of_c_is_there() -> None:
    """Each `sated_<protocol>_decode_<name>` is named in that protocol's module."""
    found = re.findall(r"sated_(scsi|ata|nvme)_decode_(\w+)\(", "".join(path.read_text() for path in HEADERS))
    assert len(found) > 70
    text = {module.__name__.removeprefix("sated."): inspect.getsource(module) for module in (scsi, ata, nvme)}
    missing = [
        f"{protocol}.{name}"
        for protocol, name in found
        if f'"{name}"' not in text[protocol] and f"decode_{name}" not in text[protocol] and name not in INSIDE
    ]
    assert not missing


def test_the_pages_that_other_pages_name() -> None:
    """Log 16h keeps what fixed-format sense data cuts (SAT-4, ATA PASS-THROUGH Results log page)."""
    registers = "09 0c 01 00 00 08 12 34 56 78 9a bc e0 50".replace(" ", "")
    page = bytes.fromhex("16000012" + "0002" + "030e" + registers)
    told = ata.decode_results_log(page, log_index=3)
    assert (told.error, told.count, told.device, told.status) == (0x00, 0x0008, 0xE0, 0x50)
    assert told.lba == 0x9A5612BC7834
    assert ata.decode_results_log(page, log_index=4).status is None
