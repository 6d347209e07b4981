"""Our ATA commands against the bytes that hdparm, smartctl and sg3_utils issue, caught between the tool and the kernel.

Not compared, because a tool may choose it and the drive does the same:
* CK_COND: hdparm and smartctl ask for the registers where they print them, we with every command without data and
  where only the registers tell that what was sent has been accepted.
* T_DIR, BYT_BLOK and T_TYPE of a command without data: smartctl sets them; without T_LENGTH they mean nothing
  (SAT-5 12.2.2).
* DEVICE 7 and 5: obsolete (ACS-4 6.4), set by hdparm where it gives an LBA. DEVICE 6, which hdparm always sets and
  smartctl never: only commands with an address look at it, for which hdparm is compared.
* The timeout: the tools have their own, ours is the transport's, from the drive's estimates.
"""

from __future__ import annotations

import pytest
from issued import Issued
from sated import ata
from sated.ata import Command, SelfTest

pytestmark = pytest.mark.tools

DEVICE = "/dev/sgcapture"
HDPARM = "hdparm --yes-i-know-what-i-am-doing"
SMARTCTL = "smartctl -T permissive -d sat"
SECTORS = 976773000
SELECTIVE = bytearray(512)  # log 09h: spans 1 to 100 of one, smartctl's own
SELECTIVE[0], SELECTIVE[2], SELECTIVE[10] = 1, 1, 100
SELECTIVE[511] = -sum(SELECTIVE) & 0xFF
DCO = bytearray(512)  # what capture.c answers
DCO[0:10] = bytes.fromhex("0200 0700 0700 af6d 383a")
DCO[14] = 0xDF
DCO[510] = 0xA5
DCO[511] = -sum(DCO) & 0xFF

ISSUED: list[tuple[str, Command]] = [
    ("hdparm -I {}", ata.build_identify_device()),
    ("hdparm --prefer-ata12 -I {}", ata.build_identify_device()),
    ("hdparm -I {}", ata.build_read_log(0, dma=False)),
    ("hdparm -C {}", ata.build_check_power_mode()),
    ("hdparm --prefer-ata12 -C {}", ata.build_check_power_mode()),
    ("hdparm -W1 {}", ata.build_set_write_cache(True)),
    ("hdparm -W0 {}", ata.build_set_write_cache(False)),
    ("hdparm -A1 {}", ata.build_set_look_ahead(True)),
    ("hdparm -A0 {}", ata.build_set_look_ahead(False)),
    ("hdparm -B128 {}", ata.build_set_apm(128)),
    ("hdparm -B255 {}", ata.build_set_apm(0)),
    (HDPARM + " -s1 {}", ata.build_set_features(0x06)),
    ("hdparm -M128 {}", ata.build_set_features(0x42, count=128)),
    ("hdparm -F {}", ata.build_flush_cache()),
    ("hdparm -S120 {}", ata.build_idle(120)),
    ("hdparm -S0 {}", ata.build_idle(0)),
    ("hdparm --idle-immediate {}", ata.build_idle_immediate()),
    ("hdparm -y {}", ata.build_standby_immediate()),
    (HDPARM + " -Y {}", ata.build_sleep()),
    ("hdparm -N {}", ata.build_get_native_max()),
    (HDPARM + f" -N {SECTORS} {{}}", ata.build_set_accessible_max(SECTORS - 1)),
    (HDPARM + " --dco-freeze {}", ata.build_dco_freeze_lock()),
    ("hdparm --dco-identify {}", ata.build_dco_identify()),
    (HDPARM + " --dco-restore {}", ata.build_dco_restore()),
    (HDPARM + " --dco-setmax 976000000 {}", ata.build_dco_set(bytes(DCO), max_lba=976000000 - 1)),
    ("hdparm --read-sector 4660 {}", ata.build_read(4660, 1, dma=False, ext=False)),
    ("hdparm --read-sector 4886718345 {}", ata.build_read(4886718345, 1, dma=False)),
    (HDPARM + " --write-sector 4660 {}", ata.build_write(4660, bytes(512), dma=False, ext=False)),
    (HDPARM + " --write-sector 4886718345 {}", ata.build_write(4886718345, bytes(512), dma=False)),
    ("hdparm --sanitize-status {}", ata.build_sanitize_status()),
    (HDPARM + " --sanitize-block-erase {}", ata.build_sanitize_block_erase()),
    (HDPARM + " --sanitize-crypto-scramble {}", ata.build_sanitize_crypto_scramble()),
    (HDPARM + " --sanitize-freeze-lock {}", ata.build_sanitize_freeze_lock()),
    (HDPARM + " --sanitize-antifreeze-lock {}", ata.build_sanitize_antifreeze_lock()),
    (
        HDPARM + " --sanitize-overwrite-passes 2 --sanitize-overwrite hex:a5a55a5a {}",
        ata.build_sanitize_overwrite(0xA5A55A5A, passes=2),
    ),
    (
        "hdparm --please-destroy-my-drive --trim-sector-ranges 4096:8 8192:16 {}",
        ata.build_trim([(4096, 8), (8192, 16)]),
    ),
    ("hdparm --security-freeze {}", ata.build_security_freeze_lock()),
    ("hdparm --user-master u --security-set-pass secret {}", ata.build_security_set_password(b"secret")),
    (
        "hdparm --user-master u --security-mode m --security-set-pass secret {}",
        ata.build_security_set_password(b"secret", maximum=True),
    ),
    # It counts the drive's revision up; after FFFEh, which capture.c says, comes 1.
    (
        "hdparm --user-master m --security-set-pass secret {}",
        ata.build_security_set_password(b"secret", master=True, revision=1),
    ),
    ("hdparm --user-master u --security-unlock secret {}", ata.build_security_unlock(b"secret")),
    ("hdparm --user-master m --security-unlock secret {}", ata.build_security_unlock(b"secret", master=True)),
    ("hdparm --user-master u --security-disable secret {}", ata.build_security_disable_password(b"secret")),
    ("hdparm --user-master u --security-erase secret {}", ata.build_security_erase_prepare()),
    (
        "hdparm --user-master u --security-erase secret {}",
        ata.build_security_erase_unit(b"secret", timeout_ms=ata.erase_timeout_ms(10)),
    ),
    (
        "hdparm --user-master m --security-erase-enhanced secret {}",
        ata.build_security_erase_unit(b"secret", master=True, enhanced=True, timeout_ms=ata.erase_timeout_ms(10)),
    ),
    (SMARTCTL + " -A {}", ata.build_smart_read_data()),
    (SMARTCTL + " -A {}", ata.build_smart_read_thresholds()),
    (SMARTCTL + " -H {}", ata.build_smart_return_status()),
    (SMARTCTL + " -s on {}", ata.build_smart_enable()),
    (SMARTCTL + " -s off {}", ata.build_smart_disable()),
    (SMARTCTL + " -l selftest {}", ata.build_smart_read_log(6)),
    (SMARTCTL + " -l error {}", ata.build_smart_read_log(1)),
    (SMARTCTL + " -t select,1-100 {}", ata.build_smart_write_log(9, bytes(SELECTIVE))),
    (SMARTCTL + " -t offline {}", ata.build_smart_offline(0)),
    (SMARTCTL + " -t short {}", ata.build_smart_offline(SelfTest.SHORT)),
    (SMARTCTL + " -t long {}", ata.build_smart_offline(SelfTest.EXTENDED)),
    (SMARTCTL + " -t conveyance {}", ata.build_smart_offline(SelfTest.CONVEYANCE)),
    (SMARTCTL + " -t select,1-100 {}", ata.build_smart_offline(SelfTest.SELECTIVE)),
    (SMARTCTL + " -C -t short {}", ata.build_smart_offline(SelfTest.SHORT | SelfTest.CAPTIVE)),
    (SMARTCTL + " -X {}", ata.build_smart_offline(SelfTest.ABORT)),
    (SMARTCTL + " -l xselftest {}", ata.build_read_log(0)),
    (SMARTCTL + " -s apm,128 {}", ata.build_set_apm(128)),
    (SMARTCTL + " -s lookahead,on {}", ata.build_set_look_ahead(True)),
    (SMARTCTL + " -s wcache,off {}", ata.build_set_write_cache(False)),
    (SMARTCTL + " -s standby,now {}", ata.build_standby_immediate()),
    (SMARTCTL + " -s standby,12 {}", ata.build_idle(12)),
    (SMARTCTL + " -s security-freeze {}", ata.build_security_freeze_lock()),
    ("sg_sat_read_gplog --log=0x30 --page=3 {}", ata.build_read_log(0x30, page=3)),
    ("sg_sat_read_gplog --log=0x10 --page=0 --count=2 {}", ata.build_read_log(0x10, pages=2)),
    ("sg_sat_read_gplog --log=4 --page=7 --dma {}", ata.build_read_log(4, page=7, dma=True)),
    ("sg_sat_set_features --feature=0x10 --count=3 {}", ata.build_set_sata_feature(3, True)),
    ("sg_sat_set_features --feature=0x90 --count=9 {}", ata.build_set_sata_feature(9, False)),
    (
        "sg_sat_set_features --feature=0x4a --count=0x81 --lba=0x12 {}",
        ata.build_set_features(0x4A, count=0x81, lba=0x12),
    ),
]

# The same drive without Accessible Max Address, for which hdparm has the older commands.
HIDDEN: list[tuple[str, Command]] = [
    ("hdparm -N {}", ata.build_read_native_max()),
    (HDPARM + f" -N p{SECTORS} {{}}", ata.build_set_max(SECTORS - 1, keep=True)),
    (HDPARM + f" -N {SECTORS} {{}}", ata.build_set_max(SECTORS - 1, keep=False)),
]

# Bytes of the CDB in which a tool departs from the standard, and we do not.
DEPARTS = {
    # COUNT 0 where T_LENGTH says that COUNT is the length: no data (SAT-5 12.2.2). Ours says 1.
    (HDPARM + " --dco-setmax 976000000 {}", 6),
    # LBA 7:0 is 1, which ATA-3 had nowhere either: N/A in READ THRESHOLDS, ENABLE and DISABLE OPERATIONS.
    (SMARTCTL + " -A {}", 8),
    (SMARTCTL + " -s on {}", 8),
    (SMARTCTL + " -s off {}", 8),
}


def canonical(cdb: bytes, words: str) -> bytes:
    """Without what the top of this file leaves out."""
    c = bytearray(cdb)
    c[2] &= ~0x20
    if not c[2] & 3:
        c[2] = 0
    c[13 if len(c) == 16 else 8] &= 0x5F if words.startswith("hdparm") else 0x1F
    for tool, byte in DEPARTS:
        if words == tool:
            c[byte] = 0
    return bytes(c)


def compare(issued: Issued, node: str, words: str, command: Command) -> None:
    calls = issued(words, node)
    ours = command.pass_through(12 if "ata12" in words else 16)
    same = [call for call in calls if canonical(call.command, words) == canonical(ours, words)]
    assert same, f"ours {ours.hex(' ')}, theirs {[call.command.hex(' ') for call in calls]}"
    assert (same[0].direction, same[0].length) == (command.direction, command.data_len)
    assert same[0].data == command.data


@pytest.mark.parametrize(("words", "command"), ISSUED, ids=[words for words, _ in ISSUED])
def test_issued(issued: Issued, words: str, command: Command) -> None:
    compare(issued, DEVICE, words, command)


@pytest.mark.parametrize(("words", "command"), HIDDEN, ids=[words for words, _ in HIDDEN])
def test_issued_without_amac(issued: Issued, words: str, command: Command) -> None:
    compare(issued, DEVICE + "-without-amac", words, command)
