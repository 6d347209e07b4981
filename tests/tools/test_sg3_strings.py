"""The strings for additional sense codes against those of sg3_utils (sg_decode_sense), code by code."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from sated import scsi

pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(shutil.which("sg_decode_sense") is None, reason="sg_decode_sense (sg3-utils) is not installed"),
]

# Retired codes, for which sg3_utils keeps the words that they had.
OBSOLETE = {(0x20, 0x05), (0x24, 0x02), (0x24, 0x03)}


def theirs(asc: int, ascq: int) -> str:
    sense = ["72", "03", f"{asc:02x}", f"{ascq:02x}", "00", "00", "00", "00"]
    ran = subprocess.run(["sg_decode_sense", *sense], capture_output=True, text=True, check=True)
    line = next(line for line in ran.stdout.splitlines() if "ense: " in line or line.startswith(("ASC=", "vendor")))
    return line.removeprefix("Additional sense: ")


def ours(asc: int) -> list[int]:
    """The qualifiers that the table names."""
    texts = {q: scsi.asc_text(asc, q) for q in range(0x80)}
    return [q for q, text in texts.items() if "(ASC " not in text]


@pytest.mark.parametrize("asc", [a for a in range(0x80) if a not in (0x4D, 0x70)])
def test_additional_sense(asc: int) -> None:
    named = ours(asc)
    for ascq in named:
        if (asc, ascq) not in OBSOLETE:
            assert scsi.asc_text(asc, ascq).casefold() == theirs(asc, ascq).casefold(), f"{asc:02x}/{ascq:02x}"


def test_none_is_missing() -> None:
    """Every code below 80h that sg3_utils names has a name here (40h to 42h and 70h count components and tags)."""
    missing = []
    for asc in range(0x80):
        if asc in (0x40, 0x41, 0x42, 0x4D, 0x70):
            continue
        named = set(ours(asc))
        for ascq in range(0x80):
            if (
                ascq not in named
                and (asc == 0x5D or ascq < 0x28)
                and not theirs(asc, ascq).startswith(("ASC=", "vendor"))
            ):
                missing.append((asc, ascq))
    assert not missing
