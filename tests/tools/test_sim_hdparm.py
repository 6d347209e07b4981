"""hdparm 9.65 and dd, unmodified, on simulated SATA drives.

Where a state is volatile and where it stays is from ACS-4 (security 4.18, sanitize 4.17), ATA8-ACS 4.10 (Host Protected
Area) and ACS-2 4.8 (Device Configuration Overlay). Each state is asked for twice, of hdparm and of `sated`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
import sated
from clients import BLOCK, Client, copy, make
from sated import ata

pytestmark = pytest.mark.tools

HDPARM = "hdparm --yes-i-know-what-i-am-doing"
USER, MASTER = "--user-master u", "--user-master m"
PIECE = os.urandom(64 * 1024)
REFUSED = 5  # the errno that hdparm ends with: EIO
SCALE = 64

ABORTED = 0x04


@pytest.fixture(scope="module", params=["x210", "710"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Client:
    return make(tmp_path_factory.mktemp(request.param), f"{request.param},scale=1/{SCALE}")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return make(tmp_path_factory.mktemp("x210"), f"x210,scale=1/{SCALE}")


@pytest.fixture
def both(made: Client, tmp_path: Path) -> Client:
    """Either model, where they could differ: by their sizes, and 710 has capacitors."""
    return copy(made, tmp_path)


@pytest.fixture
def x210(first: Client, tmp_path: Path) -> Client:
    return copy(first, tmp_path)


# ---- What both say ----


def hdparm(client: Client, options: str, code: int = 0) -> str:
    return client.run(f"{HDPARM} {options} /dev/sim0", code=code).all


def send(client: Client, command: ata.Command) -> sated.Reply:
    with client.drive() as drive:
        return drive.ata(command)


def identify(client: Client) -> Any:
    return ata.decode_identify(send(client, ata.build_identify_device()).data)


def security(client: Client) -> set[str]:
    """What of it is so: enabled, locked, frozen, expired, high, maximum."""
    section = hdparm(client, "-I").split("\nSecurity:")[1]
    names = ("enabled", "locked", "frozen", "expired", "high", "maximum")
    told = {name for name in names if re.search(rf"^\t(\t|Security level ){name}", section, re.MULTILINE)}
    s = identify(client).security
    known = {"enabled": s.enabled, "locked": s.locked, "frozen": s.frozen, "expired": s.count_expired}
    known |= {"high": s.enabled and not s.level, "maximum": s.enabled and s.level}
    assert told == {name for name, so in known.items() if so}
    return told


def sectors(client: Client) -> tuple[int, int]:
    """Those that can be addressed, and all there are."""
    found = re.search(r"max sectors += (\d+)/(\d+), HPA is (enabled|disabled)", hdparm(client, "-N"))
    assert found is not None
    now, native = int(found[1]), int(found[2])
    assert (found[3] == "enabled") == (now < native)
    with client.drive() as drive:
        told = ata.decode_native_max(drive.ata(ata.build_read_native_max()).sense)
        assert (drive.identity.capacity_bytes, told.sectors) == (now * BLOCK, native)
    assert identify(client).capacity.sectors == now
    assert int(client.run("blockdev --getsize64 /dev/sim0").out) == now * BLOCK
    return now, native


def sanitizing(client: Client) -> tuple[str, set[str]]:
    """The state by its name in ACS-4 figure 11, and what else is so: completed, antifreeze."""
    text = hdparm(client, "--sanitize-status")
    state = re.search(r"State: +(SD\d)", text)
    assert state is not None
    flags = {"completed"} if "Completed Without Error" in text else set()
    flags |= {"antifreeze"} if "Antifreeze bit set" in text else set()
    s = ata.decode_sanitize_status(send(client, ata.build_sanitize_status()).sense)
    assert (state[1] == "SD2", state[1] == "SD1") == (bool(s.in_progress), bool(s.frozen))
    assert flags == {name for name in ("completed", "antifreeze") if getattr(s, name)}
    return state[1], flags


def write(client: Client, at: int, data: bytes, *, flush: bool = True) -> None:
    client.write(at, data, flush=flush)


def read(client: Client, at: int, size: int) -> bytes:
    return client.read(at, size)


def is_empty(client: Client) -> bool:
    return client.mapped() == 0 and read(client, 0, len(PIECE)) == bytes(len(PIECE))


# ---- Looking ----


def test_identify(both: Client) -> None:
    text = hdparm(both, "-I")
    with both.drive() as drive:
        known = drive.identity
    told = {name: re.search(rf"{name}: +(\S.*?) *$", text, re.MULTILINE) for name in ("Model Number", "Serial Number")}
    assert [found[1] for found in told.values() if found] == [f"{known.vendor} {known.model}", known.serial]
    i = identify(both)
    assert f"LBA48  user addressable sectors:{i.capacity.sectors:12}" in text
    assert f"Firmware Revision:  {known.firmware}" in text and f"Identifier: {i.wwn:016x}" in text
    assert "Physical Sector size:                  4096 bytes" in text and known.physical_block_bytes == 4096
    assert "Solid State Device" in text and known.rotation_rpm == 0
    assert f"TRIM supported (limit {i.trim.max_blocks} blocks)" in text
    for name in ("BLOCK_ERASE_EXT", "CRYPTO_SCRAMBLE_EXT", "OVERWRITE_EXT", "SANITIZE_ANTIFREEZE_LOCK_EXT"):
        assert f"   *\t{name} command" in text
    assert f"{i.security.erase_minutes}min for SECURITY ERASE UNIT" in text and "supported: enhanced erase" in text
    assert "Checksum: correct" in text
    assert security(both) == set() and sanitizing(both) == ("SD0", set())


def test_dco_identify(both: Client) -> None:
    text = hdparm(both, "--dco-identify")
    now, native = sectors(both)
    assert now == native and f"Real max sectors: {native}" in text and "DCO Checksum verified" in text
    told = ata.decode_dco(send(both, ata.build_dco_identify()).data)
    assert (told.sectors, told.revision, told.checksum) == (native, 2, 1)


# ---- Reading and writing ----


def test_sectors(both: Client) -> None:
    """hdparm's sectors are dd's; what it writes is a sector of zeros, which leaves the rest of its 4 KiB alone."""
    write(both, 0, PIECE)
    words = re.findall(r"\b[0-9a-f]{4}\b", hdparm(both, "--read-sector 9").split("succeeded")[1])
    assert bytes.fromhex("".join(words)) == PIECE[9 * BLOCK : 10 * BLOCK]
    assert both.mapped() == len(PIECE) // 4096
    assert "succeeded" in hdparm(both, "--write-sector 9")
    assert read(both, 0, len(PIECE)) == PIECE[: 9 * BLOCK] + bytes(BLOCK) + PIECE[10 * BLOCK :]
    _, native = sectors(both)
    assert "FAILED" in hdparm(both, f"--read-sector {native}", REFUSED)
    assert "FAILED" in hdparm(both, f"--write-sector {native}", REFUSED)
    assert "succeeded" in hdparm(both, f"--write-sector {native - 1}")


def test_dd(x210: Client) -> None:
    """Pieces that begin and end within a sector, as the page cache would take them, and the end of the drive."""
    write(x210, 0, PIECE)
    write(x210, 700, b"x" * 1000)
    assert read(x210, 0, 4096) == PIECE[:700] + b"x" * 1000 + PIECE[1700:4096]
    size = sectors(x210)[0] * BLOCK
    write(x210, size - 4096, PIECE[:4096])
    assert read(x210, size - 1000, 4096) == PIECE[3096:4096]
    assert read(x210, size, 4096) == b""
    told = x210.run(f"dd of=/dev/sim0 oflag=seek_bytes seek={size} bs=512 count=1", data=bytes(512), code=1)
    assert "No space left on device" in told.err


def test_trim(both: Client) -> None:
    write(both, 0, PIECE)
    before = both.mapped()
    told = hdparm(both, "--please-destroy-my-drive --trim-sector-ranges 8:16 64:8")
    assert "trimming 24 sectors from 2 ranges" in told
    assert both.mapped() == before - 3
    units = [PIECE[at : at + 4096] for at in range(0, len(PIECE), 4096)]
    units[1] = units[2] = units[8] = bytes(4096)
    assert read(both, 0, len(PIECE)) == b"".join(units)
    both.power_cycle()
    assert read(both, 0, len(PIECE)) == b"".join(units)


def test_write_cache(x210: Client) -> None:
    """Without capacitors, what was not flushed goes with the power unless the write cache is off."""
    assert "write-caching =  1 (on)" in hdparm(x210, "-W")
    write(x210, 0, PIECE, flush=False)
    x210.power_cycle()
    assert is_empty(x210)
    assert "write-caching =  0 (off)" in hdparm(x210, "-W0")
    assert not identify(x210).settings.write_cache_enabled
    write(x210, 0, PIECE, flush=False)
    x210.power_cycle()
    assert read(x210, 0, len(PIECE)) == PIECE
    assert "write-caching =  1 (on)" in hdparm(x210, "-W") and identify(x210).settings.write_cache_enabled
    hdparm(x210, "-W0")
    assert "write-caching =  1 (on)" in hdparm(x210, "-W1")
    write(x210, len(PIECE), PIECE, flush=False)
    hdparm(x210, "-F")
    x210.power_cycle()
    assert read(x210, len(PIECE), len(PIECE)) == PIECE


def test_killed_writer(both: Client) -> None:
    """A process that is killed cuts the drive's power: flushed data is there, other data only with capacitors."""
    with both.drive() as drive:
        before = drive.health()
        kept = drive.identity.vendor == "INTEL"
    both.killed("dd of=/dev/sim0 bs=4096 iflag=fullblock oflag=dsync", PIECE[:8192])
    both.killed("dd of=/dev/sim0 bs=4096 iflag=fullblock seek=2", PIECE[8192:16384])
    assert read(both, 0, 8192) == PIECE[:8192]
    assert read(both, 8192, 8192) == (PIECE[8192:16384] if kept else bytes(8192))
    with both.drive() as drive:
        after = drive.health()
    assert (before.power_cycles, before.unsafe_shutdowns) == (1, 0)
    assert (after.power_cycles, after.unsafe_shutdowns) == (3, 2)


# ---- Host Protected Area, Device Configuration Overlay ----


@pytest.mark.parametrize("kept", [False, True], ids=["volatile", "permanent"])
def test_clipped(both: Client, kept: bool) -> None:
    _, native = sectors(both)
    end = native * BLOCK - 4096
    write(both, end, PIECE[:4096])
    half = native // 16 * 8
    told = hdparm(both, f"-N {'p' if kept else ''}{half}")
    assert f"({'permanent' if kept else 'temporary'})" in told
    assert sectors(both) == (half, native)
    assert read(both, half * BLOCK, 4096) == b"" and read(both, half * BLOCK - 4096, 8192) == bytes(4096)
    assert "FAILED" in hdparm(both, f"--read-sector {half}", REFUSED)
    assert "FAILED" in hdparm(both, f"--write-sector {native - 1}", REFUSED)
    assert "Input/output error" in hdparm(both, "--dco-restore", REFUSED)  # ACS-2 7.7.5: not over a protected area
    both.power_cycle()
    assert sectors(both) == (half if kept else native, native)
    assert sectors(both) == (half if kept else native, native)  # and so for the next process
    hdparm(both, f"-N p{native}")
    both.power_cycle()
    assert sectors(both) == (native, native) and read(both, end, 4096) == PIECE[:4096]


def test_clipped_once_in_a_power_cycle(x210: Client) -> None:
    """ATA8-ACS 7.52.2: a second SET MAX ADDRESS that is to stay is answered with IDNF; a volatile one is not."""
    hdparm(x210, "-N p3000000")
    assert "Input/output error" in hdparm(x210, "-N p2000000", REFUSED)
    assert sectors(x210)[0] == 3000000
    hdparm(x210, "-N 1000000")
    assert sectors(x210)[0] == 1000000
    x210.power_cycle()
    assert sectors(x210)[0] == 3000000
    hdparm(x210, "-N p2000000")
    assert sectors(x210)[0] == 2000000


def test_overlay(x210: Client) -> None:
    """hdparm 9.65 sends --dco-setmax with COUNT 0, which is no data (SAT-5 12.2.2): sated sets it, hdparm restores."""
    _, native = sectors(x210)
    found = send(x210, ata.build_dco_identify()).data
    send(x210, ata.build_dco_set(found, max_lba=2999999))
    assert sectors(x210) == (3000000, 3000000)
    assert f"Real max sectors: {native}" in hdparm(x210, "--dco-identify")
    x210.power_cycle()
    assert sectors(x210) == (3000000, 3000000)
    hdparm(x210, "--dco-freeze")
    assert "Input/output error" in hdparm(x210, "--dco-restore", REFUSED)
    x210.power_cycle()
    hdparm(x210, "-N 2000000")
    hdparm(x210, "--dco-restore", REFUSED)
    assert sectors(x210) == (2000000, 3000000)
    hdparm(x210, "-N 3000000")
    hdparm(x210, "--dco-restore")
    assert sectors(x210) == (native, native)


# ---- Security ----


def lock(client: Client, options: str = "") -> None:
    hdparm(client, f"{USER} {options} --security-set-pass secret")
    client.power_cycle()
    assert {"enabled", "locked"} <= security(client)


def test_password(both: Client) -> None:
    write(both, 0, PIECE)
    hdparm(both, f"{USER} --security-set-pass secret")
    assert security(both) == {"enabled", "high"}
    assert read(both, 0, len(PIECE)) == PIECE
    both.power_cycle()
    assert security(both) == {"enabled", "high", "locked"} and both.unreadable()
    assert "FAILED" in hdparm(both, "--read-sector 0", REFUSED)
    assert "FAILED" in hdparm(both, "--write-sector 0", REFUSED)
    hdparm(both, "--please-destroy-my-drive --trim-sector-ranges 0:8", REFUSED)
    with both.drive() as drive, pytest.raises(sated.DriveError):
        drive.ata(ata.build_security_disable_password(b"secret"))  # a locked drive refuses it; hdparm unlocks first
    hdparm(both, "-N 1000", REFUSED)
    hdparm(both, f"{USER} --security-unlock wrong", REFUSED)
    assert both.unreadable()
    hdparm(both, f"{USER} --security-unlock secret")
    assert security(both) == {"enabled", "high"} and read(both, 0, len(PIECE)) == PIECE
    both.power_cycle()
    assert both.unreadable()
    hdparm(both, f"{USER} --security-disable wrong", REFUSED)
    assert security(both) == {"enabled", "high", "locked"}
    hdparm(both, f"{USER} --security-disable secret")
    both.power_cycle()
    assert security(both) == set() and read(both, 0, len(PIECE)) == PIECE


def test_five_tries(x210: Client) -> None:
    """ACS-4 4.18.9: then UNLOCK and ERASE UNIT are aborted until the next power cycle."""
    write(x210, 0, PIECE)
    lock(x210)
    for _ in range(4):
        hdparm(x210, f"{USER} --security-unlock wrong", REFUSED)
    assert "expired" not in security(x210)
    hdparm(x210, f"{USER} --security-unlock wrong", REFUSED)
    assert "expired" in security(x210)
    hdparm(x210, f"{USER} --security-unlock secret", REFUSED)
    hdparm(x210, f"{USER} --security-erase secret", REFUSED)
    assert x210.unreadable() and x210.mapped() == len(PIECE) // 4096
    x210.power_cycle()
    assert security(x210) == {"enabled", "locked", "high"}
    hdparm(x210, f"{USER} --security-unlock secret")
    assert read(x210, 0, len(PIECE)) == PIECE


@pytest.mark.parametrize("level", ["h", "m"])
def test_master_password(x210: Client, level: str) -> None:
    """It opens a drive of level high; of level maximum it only erases it (ACS-4 4.18.4)."""
    write(x210, 0, PIECE)
    hdparm(x210, f"{MASTER} --security-set-pass boss")
    assert security(x210) == set()
    assert "Master password revision code = 1\n" in hdparm(x210, "-I")  # behind FFFEh, the maker's
    assert identify(x210).security.master_revision == 1
    lock(x210, f"--security-mode {level}")
    assert ("maximum" if level == "m" else "high") in security(x210)
    hdparm(x210, f"{MASTER} --security-unlock secret", REFUSED)
    hdparm(x210, f"{MASTER} --security-unlock boss", 0 if level == "h" else REFUSED)
    assert ("locked" in security(x210)) == x210.unreadable() == (level == "m")
    hdparm(x210, f"{MASTER} --security-disable boss", 0 if level == "h" else REFUSED)
    assert x210.mapped() == len(PIECE) // 4096
    if level == "h":
        assert security(x210) == set()
        lock(x210)
    hdparm(x210, f"{MASTER} --security-erase boss")
    assert security(x210) == set() and is_empty(x210)


@pytest.mark.parametrize("locked", [False, True], ids=["open", "locked"])
@pytest.mark.parametrize("kind", ["erase", "erase-enhanced"])
def test_erase(both: Client, kind: str, locked: bool) -> None:
    write(both, 0, PIECE)
    hdparm(both, f"{USER} --security-set-pass secret")
    if locked:
        both.power_cycle()
    hdparm(both, f"{USER} --security-{kind} wrong", REFUSED)
    assert both.mapped() == len(PIECE) // 4096 and "enabled" in security(both)
    before = now(both)
    hdparm(both, f"{USER} --security-{kind} secret")
    assert security(both) == set() and is_empty(both)
    # As long as IDENTIFY says, at most (ACS-4: words 89 and 90, in units of two minutes).
    minutes = identify(both).security
    told = minutes.erase_minutes if kind == "erase" else minutes.enhanced_minutes
    assert 0 < now(both) - before <= told * 60 * SCALE
    both.power_cycle()
    assert security(both) == set() and is_empty(both)
    write(both, 0, PIECE)
    assert read(both, 0, len(PIECE)) == PIECE


def now(client: Client) -> float:
    with client.drive() as drive:
        return drive.now_s()


@pytest.mark.parametrize("kind", ["erase", "erase-enhanced"])
def test_erase_of_a_clipped_drive(x210: Client, kind: str) -> None:
    """The normal erase reaches what can be addressed, the enhanced one all (ACS-4 7.39.2)."""
    _, native = sectors(x210)
    end = native * BLOCK - 4096
    write(x210, 0, PIECE)
    write(x210, end, PIECE[:4096])
    hdparm(x210, "-N p3000000")
    hdparm(x210, f"{USER} --security-set-pass secret")
    hdparm(x210, f"{USER} --security-{kind} secret")
    assert sectors(x210) == (3000000, native)
    assert x210.mapped() == (1 if kind == "erase" else 0)
    x210.power_cycle()
    hdparm(x210, f"-N p{native}")
    assert read(x210, 0, len(PIECE)) == bytes(len(PIECE))
    assert read(x210, end, 4096) == (PIECE[:4096] if kind == "erase" else bytes(4096))


def test_freeze(x210: Client) -> None:
    hdparm(x210, f"{USER} --security-set-pass secret")
    hdparm(x210, "--security-freeze")
    assert security(x210) == {"enabled", "high", "frozen"}
    write(x210, 0, PIECE)
    for what in ("set-pass other", "disable secret", "unlock secret", "erase secret", "erase-enhanced secret"):
        hdparm(x210, f"{USER} --security-{what}", REFUSED)
    assert security(x210) == {"enabled", "high", "frozen"} and read(x210, 0, len(PIECE)) == PIECE
    x210.power_cycle()
    assert security(x210) == {"enabled", "high", "locked"}
    hdparm(x210, "--security-freeze", REFUSED)  # a locked drive is not frozen (ACS-4 table 13)
    hdparm(x210, f"{USER} --security-unlock secret")


def test_password_of_another_tool(x210: Client) -> None:
    """A password that hdparm set is the same 32 bytes in sated, and the other way round."""
    lock(x210)
    send(x210, ata.build_security_unlock(b"secret"))
    assert security(x210) == {"enabled", "high"}
    send(x210, ata.build_security_disable_password(b"secret"))
    send(x210, ata.build_security_set_password(b"stale", maximum=True))
    x210.power_cycle()
    hdparm(x210, f"{USER} --security-unlock secret", REFUSED)
    hdparm(x210, f"{USER} --security-unlock stale")
    hdparm(x210, f"{USER} --security-erase stale")
    assert security(x210) == set()


def test_power_cut_in_an_erase(both: Client) -> None:
    """Half of it is gone, the password still stands; found locked, it is erased again (ACS-4 4.18.11)."""
    end = sectors(both)[1] * BLOCK - 4096
    write(both, 0, PIECE)
    write(both, end, PIECE[:4096])
    hdparm(both, f"{USER} --security-set-pass secret")
    both.fail("power-cut", opcode=0xF4, outcome="half", count=1)
    # No answer at all: hdparm falls back to an ioctl of before SG_IO, which is what its error is about.
    assert "SECURITY_ERASE: Inappropriate ioctl" in hdparm(both, f"{USER} --security-erase secret", 25)
    assert both.run("dd if=/dev/sim0 of=/dev/null bs=4096 count=1", code=1).err  # without power
    both.power_cycle()
    assert security(both) == {"enabled", "high", "locked"} and both.unreadable()
    assert both.mapped() == 1
    hdparm(both, f"{USER} --security-erase secret")
    assert security(both) == set() and is_empty(both)
    assert read(both, end, 4096) == bytes(4096)
    with both.drive() as drive:
        assert drive.health().unsafe_shutdowns == 1


def test_killed_owner(x210: Client) -> None:
    """What power-on takes back is taken back when a process is killed that had the drive open."""
    write(x210, 0, PIECE)
    native = sectors(x210)[1]
    lock(x210)
    hdparm(x210, f"{USER} --security-unlock secret")
    hdparm(x210, "-N 3000000")
    hdparm(x210, "-W0")
    hdparm(x210, "--sanitize-freeze-lock")
    hdparm(x210, "--security-freeze")
    assert security(x210) == {"enabled", "high", "frozen"} and sanitizing(x210)[0] == "SD1"
    x210.killed("dd of=/dev/sim0 bs=4096 iflag=fullblock oflag=dsync seek=1", bytes(4096))
    assert security(x210) == {"enabled", "high", "locked"} and sanitizing(x210)[0] == "SD0"
    assert "write-caching =  1 (on)" in hdparm(x210, "-W") and sectors(x210) == (native, native)
    hdparm(x210, f"{USER} --security-unlock secret")
    assert read(x210, 0, 12288) == PIECE[:4096] + bytes(4096) + PIECE[8192:12288]


# ---- Sanitize ----

SANITIZE = {
    "block": "--sanitize-block-erase",
    "crypto": "--sanitize-crypto-scramble",
    "overwrite": "--sanitize-overwrite-passes 2 --sanitize-overwrite hex:a5a55a5a",
}
PATTERN = bytes.fromhex("5a5aa5a5")  # the low byte first (ACS-4 7.36.4)
LONG = 100000.0


@pytest.mark.parametrize("kind", SANITIZE)
def test_sanitize(both: Client, kind: str) -> None:
    write(both, 0, PIECE)
    assert "Operation started in background" in hdparm(both, SANITIZE[kind])
    assert sanitizing(both) == ("SD2", set()) and both.unreadable()
    assert "FAILED" in hdparm(both, "--read-sector 0", REFUSED)
    hdparm(both, SANITIZE["block"], REFUSED)  # one at a time
    progress = ata.decode_sanitize_status(send(both, ata.build_sanitize_status()).sense).progress
    both.power_cycle()  # it goes on where it was (ACS-4 4.17.6)
    state, _ = sanitizing(both)
    assert state == "SD2"
    assert ata.decode_sanitize_status(send(both, ata.build_sanitize_status()).sense).progress >= progress
    both.run(f"sleep {LONG:.0f}")
    assert sanitizing(both) == ("SD0", {"completed"})
    if kind == "overwrite":
        assert read(both, 0, len(PIECE)) == PATTERN * (len(PIECE) // 4)
        assert read(both, sectors(both)[1] * BLOCK - 4096, 4096) == PATTERN * 1024
    else:
        assert is_empty(both)
    both.power_cycle()
    assert sanitizing(both) == ("SD0", {"completed"})
    write(both, 0, PIECE)
    assert read(both, 0, len(PIECE)) == PIECE


def test_sanitize_reaches_what_is_hidden(x210: Client) -> None:
    end = sectors(x210)[1] * BLOCK - 4096
    write(x210, end, PIECE[:4096])
    hdparm(x210, "-N p3000000")
    hdparm(x210, SANITIZE["crypto"])
    x210.run(f"sleep {LONG:.0f}")
    assert x210.mapped() == 0 and sectors(x210)[0] == 3000000


def test_overwrite_passes(x210: Client) -> None:
    """Twice as many take twice as long."""
    shares = []
    for passes in (1, 2):
        hdparm(x210, f"--sanitize-overwrite-passes {passes} --sanitize-overwrite hex:00000000")
        x210.sleep(100)
        shares.append(ata.decode_sanitize_status(send(x210, ata.build_sanitize_status()).sense).progress)
        x210.sleep(LONG)
        assert sanitizing(x210) == ("SD0", {"completed"})
    assert shares[0] == pytest.approx(2 * shares[1], rel=0.01) and shares[1] > 0


def test_sanitize_freeze(x210: Client) -> None:
    write(x210, 0, PIECE)
    hdparm(x210, "--sanitize-freeze-lock")
    assert sanitizing(x210) == ("SD1", set())
    for what in (*SANITIZE.values(), "--sanitize-antifreeze-lock"):
        assert "Device in FROZEN state" in hdparm(x210, what, REFUSED)
    assert read(x210, 0, len(PIECE)) == PIECE
    x210.power_cycle()
    assert sanitizing(x210) == ("SD0", set())
    hdparm(x210, "--sanitize-antifreeze-lock")
    assert sanitizing(x210) == ("SD0", {"antifreeze"})
    hdparm(x210, "--sanitize-freeze-lock", REFUSED)
    hdparm(x210, SANITIZE["crypto"])  # which is what the lock is for
    x210.sleep(LONG)
    assert is_empty(x210)
    x210.power_cycle()
    assert sanitizing(x210) == ("SD0", {"completed"})


def test_sanitize_of_a_locked_drive(x210: Client) -> None:
    write(x210, 0, PIECE)
    lock(x210)
    for what in SANITIZE.values():
        hdparm(x210, what, REFUSED)
    assert sanitizing(x210) == ("SD0", set()) and x210.mapped() == len(PIECE) // 4096


def test_sanitize_that_fails(x210: Client) -> None:
    """Its failed state lets nothing be read until another one has gone well (ACS-4 4.17.8)."""
    write(x210, 0, PIECE)
    x210.fail("operation-fails", count=1)
    hdparm(x210, SANITIZE["block"])
    x210.sleep(LONG)
    assert "SD3 Sanitize Operation Failed" in hdparm(x210, "--sanitize-status", REFUSED)
    assert x210.unreadable()
    x210.power_cycle()
    assert "SD3 Sanitize Operation Failed" in hdparm(x210, "--sanitize-status", REFUSED)
    hdparm(x210, SANITIZE["block"])
    x210.sleep(LONG)
    assert sanitizing(x210) == ("SD0", {"completed"}) and is_empty(x210)


def test_sanitize_that_stalls(x210: Client) -> None:
    x210.fail("stall")
    hdparm(x210, SANITIZE["block"])
    x210.sleep(LONG)
    assert sanitizing(x210)[0] == "SD2" and "Progress: 0x0 (0%)" in hdparm(x210, "--sanitize-status")
    x210.heal()
    x210.sleep(LONG)
    assert sanitizing(x210) == ("SD0", {"completed"})


# ---- Faults ----


def test_without_registers(x210: Client) -> None:
    """hdparm then takes a native size of 0 for the truth and says so; what needs no registers works."""
    write(x210, 0, PIECE)
    x210.fail("no-registers")
    assert re.search(r"max sectors += \d+/1\(\d+\?\), HPA setting seems invalid", hdparm(x210, "-N"))
    hdparm(x210, f"{USER} --security-set-pass secret")
    # A refusal has sense data without registers, which hdparm complains of, and takes for success.
    assert "bad/missing sense data, sb[]:  70 00 0b" in hdparm(x210, f"{USER} --security-erase wrong")
    assert x210.mapped() == len(PIECE) // 4096
    hdparm(x210, f"{USER} --security-erase secret")
    assert is_empty(x210) and security(x210) == set()
    with x210.drive() as drive, pytest.raises(sated.UnsupportedError):
        drive.ata(ata.build_read_native_max())
    x210.heal()
    assert sectors(x210)[0] == sectors(x210)[1]


@pytest.mark.parametrize(("kind", "error"), [("legacy-sense", ABORTED), ("fixed-sense", None)])
def test_sense_that_hdparm_cannot_read(x210: Client, kind: str, error: int | None) -> None:
    """Fixed-format sense: hdparm 9.65 looks for descriptors only, complains, and takes a refusal for success. The
    legacy kind is a failing command's as Linux before 6.11 builds it, which sated knows. A failing command's by the
    standard is like any other in fixed format, so that its registers stay unknown; that it failed is not."""
    lock(x210)
    x210.fail(kind)
    told = hdparm(x210, f"{USER} --security-unlock wrong")
    assert "SG_IO: bad/missing sense data" in told
    with x210.drive() as drive, pytest.raises(sated.DriveError) as refused:
        drive.ata(ata.build_security_unlock(b"wrong"))
    assert refused.value.reply is not None and refused.value.reply.registers.error == error
    x210.heal()
    assert "locked" in security(x210)


def test_twelve_byte_bridge(x210: Client) -> None:
    x210.fail("twelve-only")
    assert "Model Number" not in hdparm(x210, "-I")
    assert "Model Number:       SanDisk" in hdparm(x210, "--prefer-ata12 -I")
    hdparm(x210, f"--prefer-ata12 {USER} --security-set-pass secret")
    assert re.search(r"^\t\tenabled", hdparm(x210, "--prefer-ata12 -I"), re.MULTILINE)
    x210.heal()
    assert security(x210) == {"enabled", "high"}


def test_bridge_without_erase(x210: Client) -> None:
    """It takes the password, and not the erase that was to follow. hdparm only complains of sense data (which is of a
    SCSI command, without registers) and ends with 0: the drive is left with a password."""
    write(x210, 0, PIECE)
    x210.fail("no-erase")
    hdparm(x210, f"{USER} --security-set-pass secret")
    assert "SG_IO: bad/missing sense data" in hdparm(x210, f"{USER} --security-erase secret")
    assert security(x210) == {"enabled", "high"} and x210.mapped() == len(PIECE) // 4096
    hdparm(x210, f"{USER} --security-disable secret")
    assert security(x210) == set() and read(x210, 0, len(PIECE)) == PIECE


def test_bridge_with_a_lock(x210: Client) -> None:
    """The drive is open, its bridge is not: IDENTIFY works, and no medium access does."""
    write(x210, 0, PIECE)
    x210.fail("bridge-lock")
    assert x210.unreadable() and security(x210) == set() and sectors(x210)[0] == sectors(x210)[1]
    assert "bad/missing sense data, sb[]:  70 00 07" in hdparm(x210, "--write-sector 0")
    x210.heal()
    assert read(x210, 0, len(PIECE)) == PIECE


def test_a_sector_that_cannot_be_read(x210: Client) -> None:
    write(x210, 0, PIECE)
    x210.fail("fail", opcode=0x20, ata_error=0x40, count=1)  # READ SECTORS, UNC
    assert "FAILED: Input/output error" in hdparm(x210, "--read-sector 5", REFUSED)
    assert "succeeded" in hdparm(x210, "--read-sector 5")
