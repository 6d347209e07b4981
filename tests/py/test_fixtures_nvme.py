"""Recorded NVMe answers against what nvme-cli 2.3 (libnvme 1.3) printed of them, field by field.

Every line of an `.expected.txt` must be known to the table of its kind: a line that nothing compares fails. Where we
say None and nvme-cli prints a number, `NOT_REPORTED` has the reason.
"""

from __future__ import annotations

import dataclasses
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fixtures
import pytest
from sated import nvme
from sated._ffi import ffi


def find(name: str) -> tuple[bytes, str]:
    """The bytes of a recording and what the reference tool printed, without its first line."""
    for folder in (fixtures.CORPUS, fixtures.public_folder()):
        if folder is None:
            pytest.skip(f"{name} is among the published recordings, which are not beside this checkout")
        for path in (folder / f"{name}.hex", folder / f"{name}.bin"):
            if path.is_file():
                found = fixtures.read(path)
                first, _, printed = found.expected.partition("\n")
                assert first.startswith("## nvme "), "an .expected.txt begins with the command that made it"
                return found.data, printed
    raise AssertionError(f"{name} is nowhere")


def number(text: str) -> int:
    """The first number of a printed value, such as 0x2020 (1.0), 64%, 12 (6.66 MB)."""
    found = re.match(r"0x[0-9a-f]+|\d+", text)
    assert found, text
    return int(found.group(), 0)


def kelvin(text: str) -> int:
    found = re.search(r"\((\d+) Kelvin\)", text)
    assert found, text
    return int(found.group(1))


def pairs(text: str) -> Iterator[tuple[str, str]]:
    """(key, value) of lines such as `Data Units Read  : 13 (6.66 MB)`."""
    for line in text.splitlines():
        if line.strip():
            key, colon, value = line.partition(":")
            assert colon, f"not a line of the kind this test knows: {line!r}"
            yield " ".join(key.split()), value.strip()


# ---- SMART and endurance group --------------------------------------------------------------------------------------

SMART: dict[str, tuple[str, Callable[[str], int]]] = {
    "critical_warning": ("critical_warning", number),
    "temperature": ("temperature", kelvin),
    "available_spare": ("avail_spare", number),
    "available_spare_threshold": ("spare_thresh", number),
    "percentage_used": ("percent_used", number),
    "endurance group critical warning summary": ("endu_grp_crit_warn_sumry", number),
    "Data Units Read": ("data_units_read", number),
    "Data Units Written": ("data_units_written", number),
    "host_read_commands": ("host_reads", number),
    "host_write_commands": ("host_writes", number),
    "controller_busy_time": ("ctrl_busy_time", number),
    "power_cycles": ("power_cycles", number),
    "power_on_hours": ("power_on_hours", number),
    "unsafe_shutdowns": ("unsafe_shutdowns", number),
    "media_errors": ("media_errors", number),
    "num_err_log_entries": ("num_err_log_entries", number),
    "Warning Temperature Time": ("warning_temp_time", number),
    "Critical Composite Temperature Time": ("critical_comp_time", number),
    "Thermal Management T1 Trans Count": ("thm_temp1_trans_count", number),
    "Thermal Management T2 Trans Count": ("thm_temp2_trans_count", number),
    "Thermal Management T1 Total Time": ("thm_temp1_total_time", number),
    "Thermal Management T2 Total Time": ("thm_temp2_total_time", number),
}

# (fixture, printed key): what is printed there and why it is not known to us.
NOT_A_VALUE = {
    ("nvme_smart_synth_overflow", "available_spare_threshold"): (255, "a threshold above 100 % (5.16.1.3) is junk"),
    ("nvme_smart_synth_overflow", "Temperature Sensor 8"): (65535, "65,262 degrees: FFFFh is no temperature"),
}


@pytest.mark.parametrize("name", ["nvme_smart_qemu", "nvme_smart_synth_overflow", "nvme_smart_samsung_pm981a"])
def test_smart(name: str) -> None:
    data, text = find(name)
    log = nvme.decode_smart_log(data)
    title, *lines = text.splitlines()
    assert title.startswith("Smart Log for NVME device")
    sensors = {f"Temperature Sensor {s.sensor}": s.kelvin for s in log.sensors}
    seen = set()
    for key, value in pairs("\n".join(lines)):
        seen.add(key)
        if key in sensors:
            ours, theirs = sensors.pop(key), kelvin(value)
        else:
            member, read = SMART[key]
            ours, theirs = getattr(log, member), read(value)
        if (name, key) in NOT_A_VALUE:
            printed, _why = NOT_A_VALUE[name, key]
            assert (ours, theirs) == (None, printed), key
        else:
            assert ours == theirs, key
    assert not sensors, "sensors that nvme-cli does not print"
    assert seen >= set(SMART), "lines that were expected and are not there"


def test_smart_doubts_are_said() -> None:
    data, _ = find("nvme_smart_synth_overflow")
    said = nvme.doubts(nvme.decode_smart_log(data))
    assert [text.split(":")[0] for text in said] == [
        "available spare threshold above 100 %",
        "percentage used 255",
        "a temperature of FFFFh",
    ]
    assert nvme.doubts(nvme.decode_smart_log(find("nvme_smart_qemu")[0])) == ()


def test_smart_counters_above_64_bits() -> None:
    """The printed digits, which no float can hold."""
    log = nvme.decode_smart_log(find("nvme_smart_synth_overflow")[0])
    assert log.data_units_read == 18446744073709563961 > 1 << 64
    assert log.data_units_written == 1208925819614629174706175 == (1 << 80) - 1


ENDURANCE = {
    "critical warning": "critical_warning",
    "avl_spare": "avl_spare",
    "avl_spare_threshold": "avl_spare_threshold",
    "percent_used": "percent_used",
    "endurance_estimate": "endurance_estimate",
    "data_units_read": "data_units_read",
    "data_units_written": "data_units_written",
    "media_units_written": "media_units_written",
    "host_read_cmds": "host_read_cmds",
    "host_write_cmds": "host_write_cmds",
    "media_data_integrity_err": "media_data_integrity_err",
    "num_err_info_log_entries": "num_err_info_log_entries",
}


def test_endurance_group() -> None:
    data, text = find("nvme_endgrp_synth")
    log = nvme.decode_endurance_group_log(data)
    title, *lines = text.splitlines()
    assert title == "Endurance Group Log for NVME device:nvme0 Group ID:1"
    compared = [(key, getattr(log, ENDURANCE[key]), number(value)) for key, value in pairs("\n".join(lines))]
    assert [key for key, _, _ in compared] == list(ENDURANCE)
    assert [(key, ours) for key, ours, _ in compared] == [(key, theirs) for key, _, theirs in compared]
    # The page has the layout of 1.4, which had no capacities yet: zeros, and not capacities of nothing.
    assert (log.tegcap, log.uegcap, log.doubts) == (None, None, 0)


# ---- error log, firmware slots, lists -------------------------------------------------------------------------------

ERROR = {
    "error_count": "error_count",
    "sqid": "sqid",
    "cmdid": "cmdid",
    "status_field": "status_field",
    "phase_tag": "phase_tag",
    "parm_err_loc": "parm_err_loc",
    "lba": "lba",
    "nsid": "nsid",
    "vs": "vs",
    "trtype": "trtype",
    "cs": "cs",
    "trtype_spec_info": "trtype_spec_info",
}
TRTYPE = {"The transport type is not indicated or the error is not transport related.": 0}


def test_error_log() -> None:
    """nvme-cli prints Status Field >> 1, which is what `status_field` is: bit 0 of the word is the phase tag."""
    data, text = find("nvme_errorlog_reenc_208")
    log = nvme.decode_error_log(data)
    title, *blocks = re.split(r"\.{3,}\n? ?(?:Entry\[ ?\d+\] *)?\n?", text)
    assert title.strip() == "Error Log Entries for device:nvme0 entries:4"
    printed = [dict(pairs(block)) for block in blocks if block.strip()]
    assert len(printed) == len(log.entries) == 4 and not log.truncated
    for fields, entry in zip(printed, log.entries, strict=True):
        assert list(fields) == list(ERROR)
        for key, value in fields.items():
            ours = getattr(entry, ERROR[key])
            theirs = TRTYPE[value] if key == "trtype" else number(value)
            if entry.error_count == 0 and key != "error_count":
                # "A value of 0h indicates an invalid entry" (5.16.1.2): its zeros are not values.
                assert (ours, theirs) == (None, 0), key
            else:
                assert ours == theirs, key
        if entry.error_count:
            status = nvme.decode_status(entry.status_field)
            found = re.search(r"\((.*?):", fields["status_field"])
            assert found and status.name == found.group(1)
            assert (status.sct, status.sc, status.more, status.dnr) == (0, 2, True, True)


def test_firmware_log() -> None:
    data, text = find("nvme_fwslot_qemu")
    log = nvme.decode_firmware_log(data)
    title, *lines = text.splitlines()
    assert title == "Firmware Log for device:nvme0"
    printed = dict(pairs("\n".join(lines)))
    assert log.afi == number(printed.pop("afi")) == 1
    assert (log.active, log.next) == (1, None)
    slots = {f"frs{slot.slot}": slot.revision for slot in log.slots}
    # nvme-cli prints the eight characters as a little-endian number.
    theirs = {key: number(value).to_bytes(8, "little").decode().strip() for key, value in printed.items()}
    assert slots == theirs == {"frs1": "1.0"}


def test_ns_list() -> None:
    data, text = find("nvme_nslist_active_qemu")
    printed = {int(key.strip("[ ]")): number(value) for key, value in pairs(text)}
    assert nvme.decode_ns_list(data).nsid == tuple(printed.values()) == (1, 2)
    assert list(printed) == [0, 1]


def test_ns_descs() -> None:
    data, text = find("nvme_nsdescs_qemu")
    descs = nvme.decode_ns_descs(data)
    title, *lines = text.splitlines()
    assert title == "NVME Namespace Identification Descriptors NS 1:"
    printed = dict(pairs("\n".join(lines)))
    assert str(uuid.UUID(bytes=descs.uuid)) == printed.pop("uuid")
    assert descs.eui64.hex() == printed.pop("eui64")
    assert descs.csi == number(printed.pop("csi"))
    assert not printed
    assert (descs.nguid, descs.truncated) == (None, 0)


def test_effects_log() -> None:
    """nvme-cli decoded nothing here: it looked for the namespaces of `nvme0` in sysfs and gave up. What QEMU 7.2 fills
    in is its table in hw/nvme/ctrl.c (nvme_cse_acs and nvme_cse_iocs_nvm)."""
    data, text = find("nvme_effects_qemu")
    assert text.strip() == "Unable to find nvme0"
    log = nvme.decode_effects_log(data)
    supported, content, inventory = (
        nvme.Effect["SUPPORTED"],
        nvme.Effect["LBA_CONTENT"],
        nvme.Effect["NS_INVENTORY"],
    )
    admin = dict.fromkeys((0, 1, 2, 4, 5, 6, 8, 9, 0xA, 0xC, 0x1C, 0x7C), supported)
    admin |= {0x15: supported | inventory, 0x80: supported | content}
    io = dict.fromkeys((0, 1, 8, 9, 0x19), supported | content) | dict.fromkeys((2, 5, 0xC), supported)
    assert {i: effect for i, effect in enumerate(log.acs) if effect} == admin
    assert {i: effect for i, effect in enumerate(log.iocs) if effect} == io


# ---- sanitize -------------------------------------------------------------------------------------------------------

ESTIMATES = {
    "Estimated Time For Overwrite": "eto",
    "Estimated Time For Block Erase": "etbe",
    "Estimated Time For Crypto Erase": "etce",
    "Estimated Time For Overwrite (No-Deallocate)": "etond",
    "Estimated Time For Block Erase (No-Deallocate)": "etbend",
    "Estimated Time For Crypto Erase (No-Deallocate)": "etcend",
}
STATES = {"Sanitize in Progress.": "RUNNING", "Most Recent Sanitize Command Failed.": "FAILED"}


@pytest.mark.parametrize("name", ["nvme_sanitize_660p_stuck_block", "nvme_sanitize_failed"])
def test_sanitize(name: str) -> None:
    data, text = find(name)
    log = nvme.decode_sanitize_log(data)
    lines = text.splitlines()
    printed = dict(pairs("\n".join(line for line in lines if not line.startswith(("\t", " ")))))
    state, passes, erased = (line.split("]", 1)[1].strip() for line in lines if line.startswith(("\t", " ")))
    assert log.sprog == number(printed.pop("Sanitize Progress (SPROG)"))
    # nvme-cli 2.3 prints SSTAT masked to its three low bits (reverted in 2.5): passes and GDE never show there.
    assert log.sstat & 7 == number(printed.pop("Sanitize Status (SSTAT)"))
    assert log.state == nvme.SanitizeState[STATES[state]]
    assert log.passes == int(passes.rpartition(":")[2])
    assert log.global_data_erased == 0 and erased.startswith("Global Data Erased cleared")
    assert log.scdw10 == number(printed.pop("Sanitize Command Dword 10 Information (SCDW10)")) == 2
    assert list(printed) == list(ESTIMATES)
    for key, value in printed.items():
        if "No time period reported" in value:
            assert (getattr(log, ESTIMATES[key]), number(value)) == (None, 0xFFFFFFFF)
        else:
            assert getattr(log, ESTIMATES[key]) == number(value)
    assert log.progress == (655 if log.state == nvme.SanitizeState["RUNNING"] else None)
    if log.progress is not None:
        assert f"{log.progress / 65536:.6%}" == "0.999451%" and "(0.999451%)" in text


# ---- Identify -------------------------------------------------------------------------------------------------------

# Zeros that are not values, with the words of the standard or its reason (5.17.2.1, NVM 4.1.5.1).
NOT_REPORTED = {
    "ver": "implementations of 1.2 and later report a non-zero value",
    "rtd3r": "0h: not reported",
    "rtd3e": "0h: not reported",
    "cntrltype": "0h: controller type not reported",
    "fguid": "0h: no FRU GUID",
    "wctemp": "0h: no warning threshold is reported",
    "cctemp": "0h: no critical threshold is reported",
    "mntmt": "0h: no minimum temperature is reported; nvme-cli prints -273 degrees",
    "mxtmt": "0h: no maximum temperature is reported; nvme-cli prints -273 degrees",
    "tnvmcap": "zero without namespace management: not a drive of no bytes",
    "unvmcap": "goes with tnvmcap",
    "megcap": "0h: no maximum capacity of an endurance group",
    "subnqn": "empty before 1.2.1",
    "nvmcap": "0 where it is not reported",
    "nguid": "0h: no NGUID",
    "eui64": "0h: no EUI64",
}


def structure(text: str) -> Iterator[tuple[str, str, list[tuple[int, int, str]]]]:
    """(key, value, [(high bit, low bit, printed bits)]) of `nvme id-ctrl -H` and `id-ns -H`."""
    key, value, bits = "", "", []
    for line in text.splitlines():
        found = re.match(r" *\[(\d+):(\d+)\] *: ?(.*)", line)
        if found:
            bits.append((int(found.group(1)), int(found.group(2)), found.group(3)))
        elif line.strip() and not line.startswith(("ps ", "LBA Format", "\t", "    ")):
            if key:
                yield key, value, bits
            key, value, bits = line.partition(":")[0].strip(), line.partition(":")[2].strip(), []
    yield key, value, bits


def compare(key: str, value: str, ours: Any, bits: list[tuple[int, int, str]], readers: dict[str, Any]) -> None:
    theirs = readers.get(key, number)(value)
    if ours is None:
        assert key in NOT_REPORTED, f"{key}: {value!r} is printed, we say that it is not known"
        assert not theirs, f"{key}: {value!r} is printed, and we say {NOT_REPORTED[key]}"
        return
    assert ours == theirs, key
    for high, low, printed in bits:
        part = ours >> low & (1 << (high - low + 1)) - 1
        assert part == (kelvin(printed) if "Kelvin" in printed else number(printed)), f"{key} [{high}:{low}]"


CTRL_READERS: dict[str, Callable[[str], Any]] = {
    "sn": str,
    "mn": str,
    "fr": str,
    "subnqn": str,
    "ieee": lambda text: int(text, 16),
    "fguid": lambda text: uuid.UUID(text).int,
}
PS = re.compile(
    r"ps +(\d+) : mp:([\d.]+)W (non-)?operational enlat:(\d+) exlat:(\d+) rrt:(\d+) rrl:(\d+)\s+"
    r"rwt:(\d+) rwl:(\d+) idle_power:(\S+) active_power:(\S+)\s+active_power_workload:(\S+)"
)


@pytest.mark.parametrize("name", ["nvme_idctrl_toshiba_thnsn5512", "nvme_idctrl512_samsung_pm981a"])
def test_id_ctrl(name: str) -> None:
    data, text = find(name)
    # Only 512 bytes of the PM981a were captured; nvme-cli saw zeros behind them, and printed them as values.
    captured = 512 if "512_" in name else 4096
    ctrl = nvme.decode_id_ctrl(data[:captured])
    missing = {member for member, _ in ffi.typeof("struct sated_nvme_id_ctrl_nvm").fields} if captured == 512 else set()
    keys = []
    for key, value, bits in structure(text.partition("\n")[2]):
        if key in missing:
            assert getattr(ctrl, key) is None, key
            assert not CTRL_READERS.get(key, number)(value), key
        else:
            compare(key, value, getattr(ctrl, key), bits, CTRL_READERS)
        keys.append(key)
    assert sorted(keys) == sorted({f.name for f in dataclasses.fields(ctrl)} - {"psd"})
    printed = PS.findall(text)
    assert len(printed) == ctrl.npss + 1
    if captured == 512:
        assert ctrl.psd is None
        return
    for at, (ps, row) in enumerate(zip(ctrl.psd, printed, strict=True)):
        assert at == int(row[0])
        assert ps.mp_uw == round(float(row[1]) * 1e6)
        assert ps.nops == bool(row[2])
        # 0 is "not reported" for a latency.
        assert [ps.enlat_us or 0, ps.exlat_us or 0] == [int(row[3]), int(row[4])]
        assert ps.enlat_us != 0 and ps.exlat_us != 0
        assert [ps.rrt, ps.rrl, ps.rwt, ps.rwl] == [int(text) for text in row[5:9]]
        assert list(row[9:]) == ["-", "-", "-"] and (ps.idlp_uw, ps.actp_uw, ps.apw) == (None, None, None)


LBAF = re.compile(
    r"LBA Format +(\d+) : Metadata Size: (\d+) +bytes - Data Size: (\d+) bytes - Relative Performance: (\d)"
    r" \w+ *(\(in use\))?"
)


def test_id_ns() -> None:
    data, text = find("nvme_idns_qemu_512")
    ns = nvme.decode_id_ns(data)
    keys = []
    for key, value, bits in structure(text.partition("\n")[2]):
        # `not theirs` of compare: zero bytes are no identifier.
        readers = {"nguid": lambda text: bytes.fromhex(text).strip(b"\0"), "eui64": bytes.fromhex}
        compare(key, value, getattr(ns, key), bits, readers)
        keys.append(key)
    assert len(keys) == 36
    printed = LBAF.findall(text)
    assert len(printed) == len(ns.lbaf) == 8
    for at, (f, row) in enumerate(zip(ns.lbaf, printed, strict=True)):
        assert (at, f.ms, f.block_bytes, f.rp) == tuple(int(text) for text in row[:4])
        assert bool(row[4]) == (at == ns.format)
    assert (ns.extended, ns.block_bytes, ns.metadata_bytes) == (0, 512, 0)
    assert ns.capacity_bytes == ns.used_bytes == 0x20000 * 512


def test_every_recording_is_compared() -> None:
    """A recording that is added to the corpus, or published, and to no test here is found."""
    text = Path(__file__).read_text()
    folders = [folder for folder in (fixtures.CORPUS, fixtures.public_folder()) if folder]
    names = [path.name.removesuffix(".expected.txt") for f in folders for path in f.glob("nvme_*.expected.txt")]
    assert names, f"no recordings in {folders}"
    assert [name for name in names if f'"{name}"' not in text] == []
