"""Our SCSI commands against the bytes that sg3_utils and sdparm issue, caught between the tool and the kernel."""

from __future__ import annotations

import shutil

import pytest
from issued import Issued
from sated import scsi
from sated._ffi import ffi, lib
from sated.errors import check
from sated.scsi import Command, Sanitize

DEVICE = "/dev/sgcapture"
CACHING = bytes.fromhex("001a001000000000 88121000ffff0000000000000000801400000000")  # what capture.c answers

pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(shutil.which("sg_turs") is None, reason="sg3-utils is not installed"),
]


def ata(cdb_len: int, **registers: int) -> Command:
    out = ffi.new("struct sated_scsi_command *")
    check(lib.sated_ata_build_cdb(ffi.new("struct sated_ata_command *", registers), cdb_len, out))
    return scsi.command(out)


IDENTIFY = {"command": 0xEC, "protocol": 4, "direction": 1, "count": 1, "data_len": 512}

# The tool's words, our command, and our parameter list where there is one.
ISSUED: list[tuple[str, Command, bytes | None]] = [
    ("sg_turs {}", scsi.build_test_unit_ready(), None),
    ("sg_requests {}", scsi.build_request_sense(), None),
    ("sg_requests --desc {}", scsi.build_request_sense(desc=True), None),
    ("sg_inq --len=96 {}", scsi.build_inquiry(alloc=96), None),
    ("sg_inq --page=0xb0 {}", scsi.build_inquiry(page=0xB0), None),
    ("sg_vpd --page=sv {}", scsi.build_inquiry(page=0), None),
    ("sg_readcap {}", scsi.build_read_capacity(long=False), None),
    ("sg_readcap --16 {}", scsi.build_read_capacity(), None),
    ("sg_logs --page=0x11 --maxlen=64 {}", scsi.build_log_sense(0x11, alloc=64), None),
    ("sg_logs --page=0xd,0xff --control=3 {}", scsi.build_log_sense(0x0D, subpage=0xFF, pc=3, alloc=4), None),
    ("sg_modes --page=8 {}", scsi.build_mode_sense(8), None),
    ("sg_modes --page=0x3f,0xff {}", scsi.build_mode_sense(0x3F, subpage=0xFF), None),
    (
        "sg_modes --page=8 --llbaa --dbd --control=1 {}",
        scsi.build_mode_sense(8, pc=1, dbd=True, llbaa=True),
        None,
    ),
    ("sg_modes -6 --page=8 {}", scsi.build_mode_sense(8, long=False), None),
    ("sdparm --set WCE {}", scsi.build_mode_select(28), scsi.build_wce_list(CACHING, wce=True)),
    ("sdparm --set WCE --save {}", scsi.build_mode_select(28, sp=True), scsi.build_wce_list(CACHING, wce=True)),
    ("sdparm --clear WCE {}", scsi.build_mode_select(28), scsi.build_wce_list(CACHING, wce=False)),
    (
        "sg_sanitize --overwrite --zero --quick --early --count=3 --invert --test=1 {}",
        scsi.build_sanitize(Sanitize.OVERWRITE, list_len=8),
        scsi.build_overwrite_list(3, bytes(4), invert=True, test=1),
    ),
    ("sg_sanitize --block --quick --early {}", scsi.build_sanitize(Sanitize.BLOCK_ERASE), None),
    ("sg_sanitize --crypto --ause --quick --early {}", scsi.build_sanitize(Sanitize.CRYPTO_ERASE, ause=True), None),
    ("sg_sanitize --fail --quick --early {}", scsi.build_sanitize(Sanitize.EXIT_FAILURE), None),
    (
        "sg_format --format --quick --early {}",
        scsi.build_format_unit(cmplst=True, list_len=4),
        scsi.build_format_list(),
    ),
    (
        "sg_format --format --quick --early --fmtpinfo=2 --pfu=1 --pie=3 {}",
        scsi.build_format_unit(fmtpinfo=2, cmplst=True, longlist=True, list_len=8),
        scsi.build_format_list(protection=1, exponent=3, longlist=True),
    ),
    (
        "sg_format --format --quick --early --ffmt=1 --dcrt {}",
        scsi.build_format_unit(ffmt=1, list_len=4),
        scsi.build_format_list(fov=True, dcrt=True),
    ),
    ("sg_format --preset=5 --quick --early {}", scsi.build_format_with_preset(5), None),
    # sg_format sends the error recovery page along; the header and the block descriptor are compared.
    (
        "sg_format --resize --count=0x1000 --quick {}",
        scsi.build_mode_select(28, sp=True),
        scsi.build_resize_list(0x1000, 512, llbaa=False),
    ),
    (
        "sg_unmap --lba=0x1000,0x2000 --num=8,16 --force {}",
        scsi.build_unmap(40),
        scsi.build_unmap_list([(0x1000, 8), (0x2000, 16)]),
    ),
    (
        "sg_unmap --lba=0 --num=1 --anchor --grpnum=5 --force {}",
        scsi.build_unmap(24, anchor=True, group=5),
        scsi.build_unmap_list([(0, 1)]),
    ),
    (
        "sg_write_same --10 --lba=0x1234 --num=7 --unmap {}",
        scsi.build_write_same(0x1234, 7, unmap=True, long=False),
        bytes(512),
    ),
    (
        "sg_write_same --16 --lba=0x123456789 --num=0x100 --unmap --anchor --xferlen=512 {}",
        scsi.build_write_same(0x123456789, 0x100, unmap=True, anchor=True),
        bytes(512),
    ),
    ("sg_write_same --16 --lba=1 --num=8 --unmap --ndob {}", scsi.build_write_same(1, 8, unmap=True, ndob=True), None),
    ("sg_dd if={} of=/dev/null count=2 bs=512 skip=0x1234", scsi.build_read(0x1234, 2, long=False), None),
    (
        "sg_dd if={} of=/dev/null count=2 bs=512 cdbsz=16 iflag=fua,dpo skip=0x1234",
        scsi.build_read(0x1234, 2, fua=True, dpo=True),
        None,
    ),
    (
        "sg_dd if=/dev/zero of={} count=2 bs=512 oflag=fua seek=3",
        scsi.build_write(3, 2, fua=True, long=False),
        bytes(1024),
    ),
    ("sg_dd if=/dev/zero of={} count=2 bs=512 cdbsz=16 seek=3", scsi.build_write(3, 2), bytes(1024)),
    ("sg_verify --lba=0x1234 --count=16 {}", scsi.build_verify(0x1234, 16, long=False), None),
    (
        "sg_verify --16 --lba=0x123456789 --count=16 --dpo --vrprotect=2 {}",
        scsi.build_verify(0x123456789, 16, dpo=True, protect=2),
        None,
    ),
    ("sg_sync {}", scsi.build_synchronize_cache(), None),
    ("sg_sync --lba=0x1234 --count=16 --immed {}", scsi.build_synchronize_cache(0x1234, 16, immed=True), None),
    ("sg_sync --16 --lba=0x123456789 --count=16 {}", scsi.build_synchronize_cache(0x123456789, 16, long=True), None),
    ("sg_get_lba_status --lba=5 --report-type=2 {}", scsi.build_get_lba_status(5, report=2, alloc=24), None),
    ("sg_opcodes --rctd {}", scsi.build_report_opcodes(), None),
    ("sg_opcodes --opcode=4 {}", scsi.build_report_opcodes(4, rctd=False), None),
    ("sg_opcodes --opcode=0x48,2 --rctd {}", scsi.build_report_opcodes(0x48, 2), None),
    ("sg_luns --select=2 {}", scsi.build_report_luns(select=2, alloc=8192), None),
    ("sg_start --stop {}", scsi.build_start_stop_unit(), None),
    ("sg_start --start --immed {}", scsi.build_start_stop_unit(start=True, immed=True), None),
    ("sg_start --eject {}", scsi.build_start_stop_unit(loej=True), None),
    (
        "sg_start --pc=3 --noflush --immed {}",
        scsi.build_start_stop_unit(power_condition=3, no_flush=True, immed=True),
        None,
    ),
    ("sg_start --pc=2 --mod=1 {}", scsi.build_start_stop_unit(power_condition=2, modifier=1), None),
    ("sg_senddiag --test {}", scsi.build_send_diagnostic(self_test=True), None),
    ("sg_senddiag --selftest=2 {}", scsi.build_send_diagnostic(2), None),
    ("sg_senddiag --list {}", scsi.build_send_diagnostic(list_len=4), bytes(4)),
    ("sg_ses --page=2 --maxlen=512 {}", scsi.build_receive_diagnostic(2, alloc=512), None),
    ("sg_sat_identify {}", ata(16, **IDENTIFY), None),
    ("sg_sat_identify --len=12 {}", ata(12, **IDENTIFY), None),
    ("sg_sat_identify --len=32 {}", ata(32, **IDENTIFY), None),
    (
        "sg_sat_read_gplog --log=4 --page=7 {}",
        ata(16, command=0x2F, protocol=4, direction=1, ext=1, lba=0x0704, count=1, data_len=512),
        None,
    ),
]


@pytest.mark.parametrize(("words", "command", "sent"), ISSUED, ids=[words for words, _, _ in ISSUED])
def test_issued(issued: Issued, words: str, command: Command, sent: bytes | None) -> None:
    calls = issued(words, DEVICE)
    same = [call for call in calls if call.command == command.cdb]
    assert same, f"ours {command.cdb.hex(' ')}, theirs {[call.command.hex(' ') for call in calls]}"
    assert same[0].direction == command.direction
    if not words.startswith("sg_requests"):  # it has room for 256 bytes and asks for 252
        assert same[0].length == command.data_len
    if sent is not None:
        assert same[0].data[: len(sent)] == sent
