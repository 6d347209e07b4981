"""NVMe commands byte by byte, and what decoders make of answers that no recording shows.

Expected numbers are the layouts of the NVM Express Base Specification 2.0c, of the NVM Command Set Specification 1.0c
("NVM") and of the OCP Datacenter NVMe SSD Specification ("OCP"); the clause stands beside each. Reports from the field
are told in the docstrings.
"""

from __future__ import annotations

import dataclasses
import random
import struct
from collections.abc import Callable
from typing import Any

import pytest
import sated
from sated import nvme

NONE, IN, OUT = 0, 1, 2
ALL = 0xFFFFFFFF

# (build, opcode, NSID, dwords 10 to 15, direction, bytes, clause)
Row = tuple[Callable[[], nvme.Command], int, int, tuple[int, ...], int, int, str]
ADMIN: list[Row] = [
    (lambda: nvme.build_identify(0x00, nsid=1), 0x06, 1, (0x00,), IN, 4096, "5.17: CNS 7:0"),
    (lambda: nvme.build_identify(0x00, nsid=ALL), 0x06, ALL, (0x00,), IN, 4096, "NVM 4.1.5.1: what all have in common"),
    (lambda: nvme.build_identify(0x01), 0x06, 0, (0x01,), IN, 4096, "5.17.2.1: no NSID"),
    (lambda: nvme.build_identify(0x02, nsid=7), 0x06, 7, (0x02,), IN, 4096, "5.17.2.2: above NSID"),
    (lambda: nvme.build_identify(0x03, nsid=3), 0x06, 3, (0x03,), IN, 4096, "5.17.2.3"),
    (
        lambda: nvme.build_identify(0x04, cns_specific=9),
        0x06,
        0,
        (0x04, 9),
        IN,
        4096,
        "5.17.1, CNS values: NVMSETID 15:0",
    ),
    (
        lambda: nvme.build_identify(0x05, nsid=1, csi=2),
        0x06,
        1,
        (0x05, 0x02000000),
        IN,
        4096,
        "5.17.1, CNS values: CSI 31:24",
    ),
    (lambda: nvme.build_identify(0x06, csi=2), 0x06, 0, (0x06, 0x02000000), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_identify(0x07, csi=2), 0x06, 0, (0x07, 0x02000000), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_identify(0x08, nsid=1), 0x06, 1, (0x08,), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_identify(0x10), 0x06, 0, (0x10,), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_identify(0x11, nsid=2), 0x06, 2, (0x11,), IN, 4096, "5.17.1, CNS values"),
    (
        lambda: nvme.build_identify(0x12, nsid=2, cntid=5),
        0x06,
        2,
        (0x00050012,),
        IN,
        4096,
        "5.17.1, CNS values: CNTID 31:16",
    ),
    (lambda: nvme.build_identify(0x13, cntid=1), 0x06, 0, (0x00010013,), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_identify(0x14), 0x06, 0, (0x14,), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_identify(0x15), 0x06, 0, (0x15,), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_identify(0x16), 0x06, 0, (0x16,), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_identify(0x17), 0x06, 0, (0x17,), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_identify(0x18), 0x06, 0, (0x18,), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_identify(0x19, cns_specific=1), 0x06, 0, (0x19, 1), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_identify(0x1A, csi=2), 0x06, 0, (0x1A, 0x02000000), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_identify(0x1B, nsid=1, csi=2), 0x06, 1, (0x1B, 0x02000000), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_identify(0x1C, cntid=0xFFFF), 0x06, 0, (0xFFFF001C,), IN, 4096, "5.17.1, CNS values"),
    (lambda: nvme.build_get_log(0x02, length=512), 0x02, ALL, (0x007F0002,), IN, 512, "5.16: NUMDL 31:16, 0-based"),
    (lambda: nvme.build_get_log(0x01, length=64), 0x02, ALL, (0x000F0001,), IN, 64, "5.16: one entry of 64 bytes"),
    (lambda: nvme.build_get_log(0x02, length=4), 0x02, ALL, (0x00000002,), IN, 4, "5.16: one dword is 0"),
    (
        lambda: nvme.build_get_log(0x02, length=512, rae=True, nsid=0),
        0x02,
        0,
        (0x007F8002,),
        IN,
        512,
        "5.16: RAE is bit 15",
    ),
    (
        lambda: nvme.build_get_log(0x07, length=512, lsp=1, nsid=0),
        0x02,
        0,
        (0x007F0107,),
        IN,
        512,
        "5.16.1.8: LSP 14:8, bit 0 creates the data",
    ),
    (
        lambda: nvme.build_get_log(0x09, length=512, lsi=3, nsid=0),
        0x02,
        0,
        (0x007F0009, 0x00030000),
        IN,
        512,
        "5.16.1.10: LSI 31:16 of dword 11 is the endurance group",
    ),
    (
        lambda: nvme.build_get_log(0x0D, length=0x100000, offset=0x1_2345_6780, lsp=2, nsid=0),
        0x02,
        0,
        (0xFFFF020D, 0x0003, 0x23456780, 0x1),
        IN,
        0x100000,
        "5.16: 262,144 dwords less one are NUMDL FFFFh and NUMDU 3; the offset is bytes in dwords 12 and 13",
    ),
    (
        lambda: nvme.build_get_log(0x05, length=4096, csi=2, nsid=0),
        0x02,
        0,
        (0x03FF0005, 0, 0, 0, 0x02000000),
        IN,
        4096,
        "5.16.1.6: CSI 31:24 of dword 14",
    ),
    (
        lambda: nvme.build_get_log(0xC0, length=512, uuid_index=5),
        0x02,
        ALL,
        (0x007F00C0, 0, 0, 0, 5),
        IN,
        512,
        "5.16: UUID Index 6:0 of dword 14",
    ),
    (lambda: nvme.build_get_features(0x02), 0x0A, 0, (0x02,), NONE, 0, "5.15: FID 7:0"),
    (lambda: nvme.build_get_features(0x06, sel="saved"), 0x0A, 0, (0x206,), NONE, 0, "5.15: SEL 10:8"),
    (lambda: nvme.build_get_features(0x06, sel="default"), 0x0A, 0, (0x106,), NONE, 0, "5.15: SEL 10:8"),
    (
        lambda: nvme.build_get_features(0x0C, sel="supported", length=256),
        0x0A,
        0,
        (0x30C,),
        NONE,
        0,
        "5.15: capabilities come in dword 0, without data",
    ),
    (lambda: nvme.build_get_features(0x0C, length=256), 0x0A, 0, (0x0C,), IN, 256, "5.27.1: APST has 256 bytes"),
    (lambda: nvme.build_get_features(0x17), 0x0A, 0, (0x17,), NONE, 0, "5.27.1: sanitize config"),
    (
        lambda: nvme.build_get_temperature_threshold(sensor=3, under=True),
        0x0A,
        0,
        (0x04, 0x00130000),
        NONE,
        0,
        "5.27.1: TMPSEL 19:16, THSEL 21:20",
    ),
    (lambda: nvme.build_set_power_state(4), 0x09, 0, (0x02, 4), NONE, 0, "5.27.1: PS 4:0"),
    (
        lambda: nvme.build_set_power_state(1, workload_hint=2, save=True),
        0x09,
        0,
        (0x80000002, 0x41),
        NONE,
        0,
        "5.27: SV is bit 31; WH 7:5",
    ),
    (lambda: nvme.build_set_write_cache(True), 0x09, 0, (0x06, 1), NONE, 0, "5.27.1: WCE is bit 0"),
    (lambda: nvme.build_set_write_cache(False, save=True), 0x09, 0, (0x80000006, 0), NONE, 0, "5.27: SV is bit 31"),
    (lambda: nvme.build_set_apst(True), 0x09, 0, (0x0C, 1), OUT, 256, "5.27.1: APSTE is bit 0"),
    (lambda: nvme.build_set_sanitize_config(nodrm=True), 0x09, 0, (0x17, 1), NONE, 0, "5.27.1: NODRM is bit 0"),
    (
        lambda: nvme.build_set_features(0x84, nsid=2, cdw11=5, cdw12=6, length=4096),
        0x09,
        2,
        (0x84, 5, 6),
        OUT,
        4096,
        "5.27",
    ),
    (lambda: nvme.build_format(nsid=1, lbaf=0), 0x80, 1, (0,), NONE, 0, "5.14"),
    (
        lambda: nvme.build_format(nsid=ALL, lbaf=21, ses="crypto", mset=True, pi=3, pil=True),
        0x80,
        ALL,
        (0x1575,),
        NONE,
        0,
        "5.14: LBAFU 13:12 = 1, SES 11:9 = 2, PIL 8, PI 7:5 = 3, MSET 4, LBAFL 3:0 = 5",
    ),
    (lambda: nvme.build_format(nsid=1, lbaf=1, ses="user-data"), 0x80, 1, (0x201,), NONE, 0, "5.14: SES 11:9"),
    (lambda: nvme.build_sanitize("block"), 0x84, 0, (2,), NONE, 0, "5.24: SANACT 2:0, and NSID 0"),
    (lambda: nvme.build_sanitize("crypto", no_deallocate=True), 0x84, 0, (0x204,), NONE, 0, "5.24: NDAS is bit 9"),
    (lambda: nvme.build_sanitize("block", unrestricted_exit=True), 0x84, 0, (0xA,), NONE, 0, "5.24: AUSE is bit 3"),
    (lambda: nvme.build_sanitize("crypto", verification=True), 0x84, 0, (0x404,), NONE, 0, "2.1 5.1.22: EMVS bit 10"),
    (lambda: nvme.build_sanitize("exit-failure"), 0x84, 0, (1,), NONE, 0, "5.24"),
    (lambda: nvme.build_sanitize("exit-verification"), 0x84, 0, (5,), NONE, 0, "2.1 5.1.22"),
    (
        lambda: nvme.build_sanitize("overwrite", passes=2, pattern=0xDEADBEEF),
        0x84,
        0,
        (0x23, 0xDEADBEEF),
        NONE,
        0,
        "5.24: OWPASS 7:4, OVRPAT in dword 11",
    ),
    (lambda: nvme.build_ns_create(csi=2), 0x0D, 0, (0, 0x02000000), OUT, 4096, "5.23: SEL 3:0 = 0, CSI 31:24"),
    (lambda: nvme.build_ns_delete(5), 0x0D, 5, (1,), NONE, 0, "5.23: SEL 3:0 = 1"),
    (lambda: nvme.build_ns_delete(ALL), 0x0D, ALL, (1,), NONE, 0, "5.23"),
    (lambda: nvme.build_ns_attach(5), 0x15, 5, (0,), OUT, 4096, "5.22: SEL 3:0 = 0"),
    (lambda: nvme.build_ns_detach(5), 0x15, 5, (1,), OUT, 4096, "5.22: SEL 3:0 = 1"),
    (lambda: nvme.build_self_test("short"), 0x14, ALL, (1,), NONE, 0, "5.9: STC 3:0"),
    (lambda: nvme.build_self_test("extended", nsid=0), 0x14, 0, (2,), NONE, 0, "5.9"),
    (lambda: nvme.build_self_test("vendor", nsid=1), 0x14, 1, (14,), NONE, 0, "5.9"),
    (lambda: nvme.build_self_test("abort"), 0x14, ALL, (15,), NONE, 0, "5.9"),
    (
        lambda: nvme.build_security_send(secp=1, spsp=0x07FE, length=2048),
        0x81,
        0,
        (0x0107FE00, 2048),
        OUT,
        2048,
        "5.26: SECP 31:24, SPSP 23:8, NSSF 7:0; TL in bytes",
    ),
    (
        lambda: nvme.build_security_receive(secp=0xEF, spsp=1, nssf=3, length=512, nsid=1),
        0x82,
        1,
        (0xEF000103, 512),
        IN,
        512,
        "5.25",
    ),
    (lambda: nvme.build_firmware_commit(slot=2, action=3), 0x10, 0, (0x1A,), NONE, 0, "5.12: FS 2:0, CA 5:3"),
    (
        lambda: nvme.build_firmware_commit(slot=0, action=7, boot_partition=1),
        0x10,
        0,
        (0x80000038,),
        NONE,
        0,
        "5.12: BPID is bit 31",
    ),
    (
        lambda: nvme.build_directive_receive(nsid=1, dtype=1, doper=2, dspec=4, length=4096),
        0x1A,
        1,
        (1023, 0x00040102),
        IN,
        4096,
        "5.10: NUMD 0-based; DSPEC 31:16, DTYPE 15:8, DOPER 7:0",
    ),
    (
        lambda: nvme.build_raw(0xC2, admin=True, nsid=1, cdw=(1, 2, 3, 4, 5, 6), length=8),
        0xC2,
        1,
        (1, 2, 3, 4, 5, 6),
        IN,
        8,
        "the opcode's bits 1:0 are 10b: from the drive",
    ),
]
IO: list[Row] = [
    (lambda: nvme.build_flush(nsid=1), 0x00, 1, (), NONE, 0, "7.1"),
    (lambda: nvme.build_flush(nsid=ALL), 0x00, ALL, (), NONE, 0, "7.1"),
    (
        lambda: nvme.build_read(nsid=1, slba=0x1_0000_0002, blocks=8, block_bytes=512),
        0x02,
        1,
        (2, 1, 7),
        IN,
        4096,
        "NVM 3.2.4: SLBA in dwords 10 and 11, NLB 15:0 0-based",
    ),
    (
        lambda: nvme.build_write(nsid=1, slba=0, blocks=1, block_bytes=4096, flags=16),
        0x01,
        1,
        (0, 0, 0x40000000),
        OUT,
        4096,
        "NVM 3.2.6: FUA is bit 30",
    ),
    (
        lambda: nvme.build_read(nsid=1, slba=0, blocks=1, block_bytes=520, flags=63),
        0x02,
        1,
        (0, 0, 0xFC000000),
        IN,
        520,
        "NVM 3.2.4: LR 31, FUA 30, PRINFO 29:26",
    ),
    (
        lambda: nvme.build_write(nsid=1, slba=0, blocks=65536, block_bytes=512),
        0x01,
        1,
        (0, 0, 0xFFFF),
        OUT,
        65536 * 512,
        "NVM 3.2.6",
    ),
    (
        lambda: nvme.build_compare(nsid=2, slba=5, blocks=1, block_bytes=512),
        0x05,
        2,
        (5, 0, 0),
        OUT,
        512,
        "NVM 3.2.1",
    ),
    (lambda: nvme.build_verify(nsid=2, slba=5, blocks=16), 0x0C, 2, (5, 0, 15), NONE, 0, "NVM 3.2.5"),
    (lambda: nvme.build_write_zeroes(nsid=1, slba=8, blocks=8), 0x08, 1, (8, 0, 7), NONE, 0, "NVM 3.2.8"),
    (
        lambda: nvme.build_write_zeroes(nsid=1, slba=8, blocks=65536, deac=True),
        0x08,
        1,
        (8, 0, 0x0200FFFF),
        NONE,
        0,
        "NVM 3.2.8: DEAC is bit 25",
    ),
    (lambda: nvme.build_dsm(nsid=1, ranges=1), 0x09, 1, (0, 4), OUT, 16, "NVM 3.2.3: NR 7:0 0-based, AD is bit 2"),
    (lambda: nvme.build_dsm(nsid=1, ranges=256), 0x09, 1, (255, 4), OUT, 4096, "NVM 3.2.3"),
    (lambda: nvme.build_dsm(nsid=1, ranges=2, attributes=1), 0x09, 1, (1, 1), OUT, 32, "NVM 3.2.3: IDR is bit 0"),
    (
        lambda: nvme.build_raw(0x81, admin=False, nsid=1, cdw=(9,), length=512),
        0x81,
        1,
        (9,),
        OUT,
        512,
        "the opcode's bits 1:0 are 01b: to the drive",
    ),
]


@pytest.mark.parametrize("row", [(True, *row) for row in ADMIN] + [(False, *row) for row in IO])
def test_command(row: tuple[Any, ...]) -> None:
    admin, build, opcode, nsid, dwords, direction, length, clause = row
    command = build()
    dwords += (0,) * (6 - len(dwords))
    # 3.3.3.1: opcode and flags, identifier, NSID, dwords 2 and 3, three pointers of 8 bytes, dwords 10 to 15.
    entry = struct.pack("<BBHI II QQQ 6I", opcode, 0, 0, nsid, 0, 0, 0, 0, 0, *dwords)
    assert command.bytes.hex(" ", 4) == entry.hex(" ", 4), clause
    assert (command.admin, command.direction, command.data_len) == (admin, direction, length), clause
    shown = (command.cdw10, command.cdw11, command.cdw12, command.cdw13, command.cdw14, command.cdw15)
    assert (command.opcode, command.nsid, shown) == (opcode, nsid, dwords)


def test_timeouts_where_the_default_kills() -> None:
    """The kernel aborts after its own minute and resets the controller: a format takes longer, creating may."""
    assert nvme.build_format(nsid=1, lbaf=0).timeout_ms >= 600_000
    assert nvme.build_ns_create().timeout_ms == nvme.build_ns_delete(1).timeout_ms == 120_000


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: nvme.build_identify(0x01, nsid=1), "expected 0"),
        (lambda: nvme.build_identify(0x00), "expected one namespace"),
        (lambda: nvme.build_identify(0x03, nsid=ALL), "expected one namespace"),
        (lambda: nvme.build_identify(0x02, nsid=0xFFFFFFFE), "FFFFFFFD"),
        (lambda: nvme.build_identify(0x0B, nsid=1), "CNS 0Bh"),
        (lambda: nvme.build_identify(0x20), "CNS 20h"),
        (lambda: nvme.build_identify(0x13, cntid=65536), "CNTID is 65536"),
        (lambda: nvme.build_get_log(2, length=510), "multiple of 4"),
        (lambda: nvme.build_get_log(2, length=0), "at least 4"),
        (lambda: nvme.build_get_log(2, length=3), "multiple of 4"),
        (lambda: nvme.build_get_log(2, length=512, offset=2), "offset is 2"),
        (lambda: nvme.build_get_log(2, length=1 << 32), "out of range"),
        (lambda: nvme.build_get_log(2, length=512, lsp=128), "LSP"),
        (lambda: nvme.build_get_log(2, length=512, lsi=65536), "LSI"),
        (lambda: nvme.build_get_log(256, length=512), "LID"),
        (lambda: nvme.build_get_log(2, length=512, nsid=-1), "out of range"),
        (lambda: nvme.build_get_features(0x06, sel="now"), "expected one of current"),
        (lambda: nvme.build_get_features(0x0C, length=255), "multiple of 4"),
        (lambda: nvme.build_get_temperature_threshold(sensor=9), "sensor 9"),
        (lambda: nvme.build_set_power_state(32), "power state is 32"),
        (lambda: nvme.build_set_features(300), "FID"),
        (lambda: nvme.build_format(nsid=0, lbaf=0), "NSID is 0h"),
        (lambda: nvme.build_format(nsid=1, lbaf=64), "LBA format is 64"),
        (lambda: nvme.build_format(nsid=1, lbaf=0, pi=4), "type 4"),
        (lambda: nvme.build_format(nsid=1, lbaf=0, ses="secure"), "expected one of none"),
        (lambda: nvme.build_sanitize("overwrite"), "0 overwrite passes"),
        (lambda: nvme.build_sanitize("overwrite", passes=17), "17 overwrite passes"),
        (lambda: nvme.build_sanitize("block", passes=1), "belong to an overwrite"),
        (lambda: nvme.build_sanitize("crypto", pattern=1), "belong to an overwrite"),
        (lambda: nvme.build_sanitize("exit-failure", unrestricted_exit=True), "no meaning"),
        (lambda: nvme.build_sanitize("erase"), "expected one of exit-failure"),
        (lambda: nvme.build_ns_delete(0), "NSID is 0h"),
        (lambda: nvme.build_ns_attach(ALL), "NSID is FFFFFFFFh"),
        (lambda: nvme.build_ns_data(nsze=0), "expected a size"),
        (lambda: nvme.build_ns_data(nsze=1, ncap=2), "within it"),
        (lambda: nvme.build_ns_data(nsze=1, lbaf=64), "LBA format is 64"),
        (lambda: nvme.build_ns_data(nsze=1, nvmsetid=65536), "out of range"),
        (lambda: nvme.build_ctrl_list([]), "1 to 2047"),
        (lambda: nvme.build_ctrl_list([3, 2]), "increasing"),
        (lambda: nvme.build_ctrl_list([3, 3]), "increasing"),
        (lambda: nvme.build_ctrl_list(range(2048)), "1 to 2047"),
        (lambda: nvme.build_ctrl_list([65536]), "out of range"),
        (lambda: nvme.build_dsm(nsid=1, ranges=0), "0 ranges"),
        (lambda: nvme.build_dsm(nsid=1, ranges=257), "257 ranges"),
        (lambda: nvme.build_dsm(nsid=ALL, ranges=1), "expected one namespace"),
        (lambda: nvme.build_dsm_ranges([]), "1 to 256"),
        (lambda: nvme.build_dsm_ranges([(0, 0)]), "at least one"),
        (lambda: nvme.build_dsm_ranges([((1 << 64) - 1, 2)]), "below block"),
        (lambda: nvme.build_flush(nsid=0), "NSID is 0h"),
        (lambda: nvme.build_read(nsid=1, slba=0, blocks=0, block_bytes=512), "0 blocks"),
        (lambda: nvme.build_read(nsid=1, slba=0, blocks=65537, block_bytes=512), "65537 blocks"),
        (lambda: nvme.build_read(nsid=1, slba=0, blocks=1, block_bytes=0), "block of 0"),
        (lambda: nvme.build_read(nsid=1, slba=0, blocks=65536, block_bytes=65536), "more than one command"),
        (lambda: nvme.build_write(nsid=ALL, slba=0, blocks=1, block_bytes=512), "expected one namespace"),
        (lambda: nvme.build_write(nsid=1, slba=0, blocks=1, block_bytes=512, flags=64), "flags"),
        (lambda: nvme.build_write_zeroes(nsid=1, slba=(1 << 64) - 1, blocks=2), "below block"),
        (lambda: nvme.build_self_test("quick"), "expected one of short"),
        (lambda: nvme.build_security_send(secp=256, spsp=0, length=512), "SECP"),
        (lambda: nvme.build_firmware_commit(slot=8, action=0), "slot is 8"),
        (lambda: nvme.build_firmware_commit(slot=1, action=4), "action 4"),
        (lambda: nvme.build_directive_receive(nsid=1, dtype=0, doper=1, length=6), "multiple of 4"),
        (lambda: nvme.build_raw(0x80, admin=True, length=512), "none"),
        (lambda: nvme.build_raw(0x83, admin=True, length=512), "both ways"),
        (lambda: nvme.build_raw(0x100, admin=True), "opcode is 256"),
        (lambda: nvme.build_raw(0x02, admin=True, cdw=[0] * 7), "at most six"),
        (lambda: nvme.build_raw(0x02, admin=True, cdw=[1 << 32]), "32 bits"),
        (lambda: nvme.build_apst_table([(1, 0)] * 33), "33 transitions"),
        (lambda: nvme.build_apst_table([(1 << 24, 0)]), "16777216 ms"),
    ],
)
def test_refused(build: Callable[[], object], says: str) -> None:
    with pytest.raises(sated.ParseError) as refused:
        build()
    assert says in str(refused.value)


# ---- data that goes with commands -----------------------------------------------------------------------------------


def test_ns_data() -> None:
    """NVM 4.1.6: the bytes of the host's data."""
    data = nvme.build_ns_data(
        nsze=0x1000,
        ncap=0x800,
        lbaf=21,
        extended=True,
        dps=9,
        shared=True,
        anagrpid=0x01020304,
        nvmsetid=5,
        endgid=6,
    )
    expected = bytearray(4096)
    struct.pack_into("<QQ", expected, 0, 0x1000, 0x800)
    expected[26], expected[29], expected[30] = 0x35, 9, 1
    struct.pack_into("<I", expected, 92, 0x01020304)
    struct.pack_into("<HH", expected, 100, 5, 6)
    assert data == expected
    assert nvme.build_ns_data(nsze=7)[:16] == struct.pack("<QQ", 7, 7)


def test_ctrl_list_there_and_back() -> None:
    """4.4.1: the count, then 16 bits each."""
    data = nvme.build_ctrl_list([0, 4, 0x1234])
    assert data[:8] == bytes.fromhex("0300 0000 0400 3412") and len(data) == 4096 and not any(data[8:])
    assert nvme.decode_ctrl_list(data).cntlid == (0, 4, 0x1234)
    full = nvme.build_ctrl_list(range(2047))
    assert nvme.decode_ctrl_list(full).cntlid == tuple(range(2047))


def test_dsm_ranges() -> None:
    """NVM 3.2.3: context attributes, length, first block."""
    data = nvme.build_dsm_ranges([(0x1_0000_0000, 8), (5, 0xFFFFFFFF)])
    assert data == struct.pack("<IIQ", 0, 8, 1 << 32) + struct.pack("<IIQ", 0, 0xFFFFFFFF, 5)


def test_apst_table() -> None:
    """5.27.1 (autonomous power state transition): ITPT 31:8 in milliseconds, ITPS 7:3, 64 bits a state."""
    data = nvme.build_apst_table([(0, 0), (100, 3), (2000, 4)])
    assert struct.unpack("<32Q", data)[:4] == (0, 100 << 8 | 3 << 3, 2000 << 8 | 4 << 3, 0)
    assert len(data) == 256


# ---- cases from the field -------------------------------------------------------------------------------------------


def smart(**at: bytes) -> bytes:
    page = bytearray(512)
    page[4] = 10
    for place, content in at.items():
        page[int(place[1:]) : int(place[1:]) + len(content)] = content
    return bytes(page)


@pytest.mark.parametrize(
    ("composite", "kelvin", "celsius"), [("0000", None, None), ("0401", 260, -13), ("3901", 313, 40)]
)
def test_composite_temperature(composite: str, kelvin: int | None, celsius: int | None) -> None:
    """Drives that do not report one were shown at -273 degrees; below zero was shown as a huge number."""
    log = nvme.decode_smart_log(smart(b1=bytes.fromhex(composite)))
    assert log.temperature == kelvin
    assert nvme.celsius(log.temperature) == celsius


def test_temperatures_that_are_not_reported() -> None:
    assert nvme.decode_smart_log(smart()).sensors == ()
    ctrl = nvme.decode_id_ctrl(bytes(4096))
    assert (ctrl.wctemp, ctrl.cctemp, ctrl.mntmt, ctrl.mxtmt) == (None, None, None, None)
    assert nvme.decode_temperature_threshold(0xFFFF) is None
    assert nvme.decode_temperature_threshold(0) is None
    assert nvme.decode_temperature_threshold(0x157) == 343


def namespace(head: str, at_24: str, formats: str = "00 00 09 00 00 00 0c 00") -> bytes:
    page = bytearray(4096)
    for at, text in ((0, head), (24, at_24), (128, formats)):
        content = bytes.fromhex(text)
        page[at : at + len(content)] = content
    return bytes(page)


@pytest.mark.parametrize(
    ("head", "at_24", "block"),
    [
        ("b0 92 3e 7e 03 00 00 00 b0 92 3e 7e 03 00 00 00", "18 01 00", 512),
        ("56 d2 c7 6f 00 00 00 00 56 d2 c7 6f 00 00 00 00", "18 01 01", 4096),
    ],
)
def test_capacity_of_a_namespace(head: str, at_24: str, block: int) -> None:
    """7.68 TB either way; taken with the physical block or the wrong format it was 61.45 or 0.96 TB elsewhere."""
    ns = nvme.decode_id_ns(namespace(head, at_24))
    assert ns.capacity_bytes == 7_681_501_126_656
    assert ns.block_bytes == block
    assert [f.block_bytes for f in ns.lbaf] == [512, 4096]
    assert ns.used_bytes == 0
    assert ns.nvmcap is None
    told = bytearray(namespace(head, at_24))
    told[48:64] = (7_681_501_126_656 + 4096).to_bytes(16, "little")
    assert nvme.decode_id_ns(told).nvmcap == 7_681_501_130_752
    assert nvme.decode_id_ns(told).capacity_bytes == 7_681_501_126_656


@pytest.mark.parametrize(
    ("flbas", "index", "extended"),
    [(0x00, 0, False), (0x10, 0, True), (0x21, 17, False), (0x35, 21, True), (0x6F, 63, False)],
)
def test_format_in_use(flbas: int, index: int, extended: bool) -> None:
    """The index lies around the bit for extended LBAs (NVM 4.1.5.1), in FLBAS and in a new namespace's data."""
    assert nvme.decode_flbas(flbas, formats=64) == (index, extended)
    assert nvme.build_ns_data(nsze=1, lbaf=index, extended=extended)[26] == flbas
    page = bytearray(namespace("01", "00 3f"))
    page[26] = flbas
    page[128 + 4 * index + 2] = 12
    ns = nvme.decode_id_ns(page)
    assert (ns.format, bool(ns.extended), ns.block_bytes, ns.capacity_bytes) == (index, extended, 4096, 4096)
    command = nvme.build_format(nsid=1, lbaf=index)
    assert (command.cdw10 & 15, command.cdw10 >> 12 & 3) == (index & 15, index >> 4)


def test_format_in_use_is_not_listed() -> None:
    with pytest.raises(sated.ParseError, match="selects LBA format 17, but the namespace lists 17"):
        nvme.decode_flbas(0x21, formats=17)
    with pytest.raises(sated.ParseError, match="selects LBA format 2, but the namespace lists 2"):
        nvme.decode_id_ns(namespace("01", "00 01 02"))
    # Formats with attributes of their own are counted apart (NULBAF, byte 82).
    page = bytearray(namespace("01", "00 01 02", "00 00 09 00 00 00 0c 00 00 00 0d 00"))
    page[82] = 1
    assert nvme.decode_id_ns(page).block_bytes == 8192


def test_block_size_that_cannot_be() -> None:
    """LBADS below 9: the format is not available; 64 and more would not fit in any number."""
    for lbads in (0, 8, 64, 255):
        ns = nvme.decode_id_ns(namespace("01", "00 00 00", f"00 00 {lbads:02x} 00"))
        assert (ns.block_bytes, ns.capacity_bytes, ns.used_bytes) == (None, None, None)
    ns = nvme.decode_id_ns(namespace("ff" * 8, "00 00 00"))
    assert (ns.nsze, ns.capacity_bytes) == ((1 << 64) - 1, None)


def test_a_namespace_that_is_not_active() -> None:
    """Identify answers zeros for it (5.17.2): no size, not a size of zero."""
    ns = nvme.decode_id_ns(bytes(4096))
    assert (ns.capacity_bytes, ns.block_bytes, ns.eui64) == (None, None, None)


@pytest.mark.parametrize(
    ("units", "count", "said"),
    [(903_441_207, 462_561_897_984_000, "462.56 TB"), (1, 512_000, "at most 512 kB"), (0, None, "0 or not reported")],
)
def test_data_units(units: int, count: int | None, said: str) -> None:
    """1000 x 512 bytes, rounded up (5.16.1.3); tools multiplied by 500, by 512 x 1024, and printed TiB."""
    log = nvme.decode_smart_log(smart(b48=units.to_bytes(16, "little"), b32=b"\1"))
    assert nvme.data_units_bytes(log.data_units_written) == count
    assert nvme.data_units_text(log.data_units_written) == said
    assert bool(nvme.doubts(log)) == (units == 0)


@pytest.mark.parametrize(
    ("passes", "invert", "cdw10"), [(16, False, 0x00000003), (3, True, 0x00000133), (1, False, 0x00000013)]
)
def test_overwrite_passes(passes: int, invert: bool, cdw10: int) -> None:
    """16 passes are a field of 0 (5.24); shifted as they are they became the bit that inverts."""
    assert nvme.build_sanitize("overwrite", passes=passes, invert=invert).cdw10 == cdw10


def test_sanitize_status() -> None:
    """SSTAT 1Bh: three passes done, then failed; the other bits of SSTAT are told too."""
    log = nvme.decode_sanitize_log(bytes.fromhex("ffff 1b00") + bytes(508))
    assert (log.passes, log.state, log.progress) == (3, nvme.SanitizeState["FAILED"], None)
    log = nvme.decode_sanitize_log(bytes.fromhex("0080 0401") + bytes(508))
    assert (log.state, log.passes, log.global_data_erased) == (nvme.SanitizeState["OK_NO_DEALLOCATE"], 0, 1)
    log = nvme.decode_sanitize_log(bytes.fromhex("0080 1200") + bytes(508))
    assert (log.state, log.passes, log.progress) == (nvme.SanitizeState["RUNNING"], 2, 0x8000)
    assert nvme.decode_sanitize_log(b"\xff\xff").state is None


# ---- other answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "sct", "sc", "more", "dnr", "name"),
    [
        (0x0000, 0, 0x00, False, False, "Successful Completion"),
        (0x001D, 0, 0x1D, False, False, "Sanitize In Progress"),
        (0x401C, 0, 0x1C, False, True, "Sanitize Failed"),
        (0x6002, 0, 0x02, True, True, "Invalid Field in Command"),
        (0x0083, 0, 0x83, False, False, "Reservation Conflict"),
        (0x4109, 1, 0x09, False, True, "Invalid Log Page"),
        (0x010A, 1, 0x0A, False, False, "Invalid Format"),
        (0x0115, 1, 0x15, False, False, "Namespace Insufficient Capacity"),
        (0x4281, 2, 0x81, False, True, "Unrecovered Read Error"),
        (0x0287, 2, 0x87, False, False, "Deallocated or Unwritten Logical Block"),
        (0x0302, 3, 0x02, False, False, "Asymmetric Access Inaccessible"),
        (0x0371, 3, 0x71, False, False, "Command Aborted By Host"),
        (0x0017, 0, 0x17, False, False, "unknown status code"),
        (0x02C5, 2, 0xC5, False, False, "vendor specific status code"),
        (0x0700, 7, 0x00, False, False, "vendor specific status code"),
    ],
)
def test_status(status: int, sct: int, sc: int, more: bool, dnr: bool, name: str) -> None:
    """3.3.3.2.1: SC 7:0, SCT 10:8, CRD 12:11, M 13, DNR 14, above the phase bit; libnvme has these names."""
    told = nvme.decode_status(status)
    assert (told.sct, told.sc, told.crd, told.more, told.dnr, told.name) == (sct, sc, 0, more, dnr, name)
    assert nvme.decode_status(status | 3 << 11).crd == 3


def test_status_types() -> None:
    types = [nvme.decode_status(sct << 8).type for sct in range(8)]
    assert types[:4] == [
        "Generic Command Status",
        "Command Specific Status",
        "Media and Data Integrity Errors",
        "Path Related Status",
    ]
    assert types[4:] == ["unknown status code type"] * 3 + ["Vendor Specific"]
    for bad in (0x8000, 1 << 33, -1):
        with pytest.raises(sated.ParseError, match="15 bits"):
            nvme.decode_status(bad)


def test_junk_in_the_smart_log() -> None:
    log = nvme.decode_smart_log(smart(b3=b"\xff\xff\xff", b1=b"\xff\xff", b32=b"\1", b48=b"\1", b202=b"\x40\x01"))
    assert (log.avail_spare, log.spare_thresh, log.percent_used, log.temperature) == (None, None, 255, None)
    assert [(s.sensor, s.kelvin) for s in log.sensors] == [(2, 320)]
    doubt = nvme.Doubt
    names = ("SPARE", "SPARE_THRESHOLD", "USED_SATURATED", "TEMPERATURE")
    assert log.doubts == sum(doubt[name] for name in names)
    assert len(nvme.doubts(log)) == 4
    log = nvme.decode_smart_log(smart(b3=b"\x64\x64\xfe", b32=b"\1", b48=b"\1"))
    assert (log.avail_spare, log.spare_thresh, log.percent_used, log.doubts) == (100, 100, 254, 0)


def test_critical_warnings() -> None:
    """5.16.1.3: bits 0 to 5."""
    log = nvme.decode_smart_log(smart(b0=b"\x3f"))
    assert nvme.CriticalWarning(log.critical_warning) == sum(nvme.CriticalWarning) == 0x3F
    assert nvme.CriticalWarning["READ_ONLY"] == 8 and nvme.CriticalWarning["PMR"] == 32


def test_self_test_log() -> None:
    """5.16.1.7: 4 bytes, then twenty results of 28 bytes; what "valid diagnostic information" does not name is None."""
    passed = struct.pack("<BBBBQIQBBH", 0x10, 0, 0, 0, 1234, 0, 0, 0, 0, 0)
    failed = struct.pack("<BBBBQIQBBH", 0x27, 3, 0x0F, 0, 99, 1, 0x1122334455, 2, 0x81, 0)
    unused = b"\x0f" + bytes(27)
    page = b"\x01\x2a\0\0" + failed + passed + unused * 18
    assert len(page) == 564
    log = nvme.decode_self_test_log(page)
    assert (log.operation, log.completion, log.truncated, len(log.results)) == (1, 42, 0, 2)
    first, second = log.results
    assert (first.code, first.result, first.segment, first.poh) == (2, 7, 3, 99)
    assert (first.nsid, first.flba, first.sct, first.sc) == (1, 0x1122334455, 2, 0x81)
    assert (second.code, second.result, second.segment, second.poh) == (1, 0, None, 1234)
    assert (second.nsid, second.flba, second.sct, second.sc) == (None, None, None, None)
    idle = nvme.decode_self_test_log(bytes(564))
    assert (idle.operation, idle.completion, idle.results) == (0, None, ())
    cut = nvme.decode_self_test_log(page[:40])
    assert (len(cut.results), cut.truncated) == (1, 1)


def test_telemetry_header() -> None:
    """5.16.1.8: last blocks of areas 1 to 3 at 8, 10, 12, of area 4 at 16; generation numbers at 381 and 383."""
    page = bytearray(512)
    page[0], page[5:8] = 7, bytes.fromhex("382500")
    struct.pack_into("<HHHxxI", page, 8, 1, 20, 300, 70000)
    page[381:384] = bytes((9, 1, 4))
    page[384:390] = b"reason"
    head = nvme.decode_telemetry_header(page)
    assert (head.lid, head.ieee) == (7, 0x002538)
    assert (head.area1_last, head.area2_last, head.area3_last, head.area4_last) == (1, 20, 300, 70000)
    assert (head.host_generation, head.ctrl_available, head.ctrl_generation) == (9, 1, 4)
    assert head.reason == b"reason" + bytes(122)
    page[0] = 8
    assert nvme.decode_telemetry_header(page).host_generation is None
    with pytest.raises(sated.ParseError, match="byte 0 is 02h"):
        nvme.decode_telemetry_header(b"\x02" + bytes(511))


def test_persistent_event_header() -> None:
    """5.16.1.14: the offsets of the header's 512 bytes."""
    page = bytearray(512)
    page[0], page[16] = 0x0D, 2
    struct.pack_into("<IQ", page, 4, 77, 1 << 33)
    struct.pack_into("<HQ", page, 18, 460, 1_700_000_000_000)
    page[28:44] = ((1 << 64) + 5).to_bytes(16, "little")
    struct.pack_into("<QHH", page, 44, 321, 0x144D, 0x144E)
    page[56:76], page[76:116] = b"SERIAL".ljust(20), b"MODEL".ljust(40)
    page[116:120] = b"nqn."
    struct.pack_into("<HI", page, 372, 6, 0x10001)
    page[480] = 0x7E
    head = nvme.decode_persistent_event_header(page)
    assert (head.tnev, head.tll, head.revision, head.lhl) == (77, 1 << 33, 2, 460)
    assert (head.timestamp, head.poh, head.pcc) == (1_700_000_000_000, (1 << 64) + 5, 321)
    assert (head.vid, head.ssvid, head.sn, head.mn, head.subnqn) == (0x144D, 0x144E, "SERIAL", "MODEL", "nqn.")
    assert (head.generation, head.rci, head.supported) == (6, 0x10001, b"\x7e" + bytes(31))
    with pytest.raises(sated.ParseError, match="0Dh"):
        nvme.decode_persistent_event_header(bytes(512))


def test_ns_list() -> None:
    """4.4.2: increasing identifiers up to the first zero."""
    assert nvme.decode_ns_list(bytes(4096)).nsid == ()
    full = nvme.decode_ns_list(struct.pack("<1024I", *range(1, 1025)))
    assert (len(full.nsid), full.nsid[-1], full.truncated) == (1024, 1024, 0)
    cut = nvme.decode_ns_list(struct.pack("<2I", 1, 9))
    assert (cut.nsid, cut.truncated) == ((1, 9), 1)
    with pytest.raises(sated.ParseError, match="entry 1 is 2h after 5h"):
        nvme.decode_ns_list(struct.pack("<1024I", 5, 2, *[0] * 1022))
    # The log of changed namespaces says so where there are more than 1024 (5.16.1.5).
    changed = nvme.decode_ns_list(b"\xff\xff\xff\xff" + bytes(4092))
    assert (changed.nsid, changed.truncated) == ((), 1)


def test_ctrl_list_that_lies() -> None:
    cut = nvme.decode_ctrl_list(struct.pack("<HHH", 3, 1, 2))
    assert (cut.cntlid, cut.truncated) == ((1, 2), 1)
    with pytest.raises(sated.ParseError, match="say 2048"):
        nvme.decode_ctrl_list(struct.pack("<H", 2048) + bytes(4094))


def test_ns_descs_that_lie() -> None:
    """5.17.2.3: each type has its length; the list ends with a length of 0."""
    nguid = bytes(range(16))
    descs = nvme.decode_ns_descs(b"\x02\x10\0\0" + nguid + b"\x09\x02\0\0ab" + b"\x04\x01\0\0\x02" + bytes(64))
    assert (descs.nguid, descs.csi, descs.uuid, descs.truncated) == (nguid, 2, None, 0)
    with pytest.raises(sated.ParseError, match="type 1 at byte 0 has length 16, expected 8"):
        nvme.decode_ns_descs(b"\x01\x10\0\0" + bytes(60))
    cut = nvme.decode_ns_descs(b"\x02\x10\0\0" + nguid[:9])
    assert (cut.nguid, cut.truncated) == (None, 1)


def test_ocp_smart_log() -> None:
    """OCP, log C0h; the offsets as in nvme-cli's struct ocp_smart_extended_log."""
    page = bytearray(512)
    page[0:16] = ((1 << 64) + 7).to_bytes(16, "little")
    page[16:32] = (9).to_bytes(16, "little")
    page[32:40] = (0x112233445566).to_bytes(6, "little") + (100).to_bytes(2, "little")
    page[40:48] = (5).to_bytes(6, "little") + (99).to_bytes(2, "little")
    struct.pack_into("<QQQIIB", page, 48, 1, 2, 3, 4, 5, 6)
    page[81:88] = (0xAABBCCDDEEFF11).to_bytes(7, "little")
    struct.pack_into("<IIBB", page, 88, 1000, 900, 2, 1)
    page[98:104] = bytes((1, 2, 0, 3, 0, 2))
    struct.pack_into("<QI", page, 104, 11, 12)
    page[120] = 55
    struct.pack_into("<H", page, 128, 101)
    struct.pack_into("<QQQ", page, 136, 13, 14, 15)
    page[160:176], page[176:192] = (16).to_bytes(16, "little"), (17).to_bytes(16, "little")
    struct.pack_into("<QQ", page, 192, 18, 19)
    struct.pack_into("<H", page, 494, 3)
    page[496:512] = 0xAFD514C97C6F4F9CA4F2BFEA2810AFC5.to_bytes(16, "little")
    log = nvme.decode_ocp_smart_log(page)
    assert (log.physical_media_units_written, log.physical_media_units_read) == ((1 << 64) + 7, 9)
    assert (log.bad_user_nand_blocks_raw, log.bad_user_nand_blocks_normalized) == (0x112233445566, 100)
    assert (log.bad_system_nand_blocks_raw, log.bad_system_nand_blocks_normalized) == (5, 99)
    assert (log.xor_recovery_count, log.uncorrectable_read_error_count, log.soft_ecc_error_count) == (1, 2, 3)
    assert (log.end_to_end_detected_errors, log.end_to_end_corrected_errors) == (4, 5)
    assert (log.system_data_percent_used, log.refresh_counts) == (6, 0xAABBCCDDEEFF11)
    assert (log.max_user_data_erase_count, log.min_user_data_erase_count) == (1000, 900)
    assert (log.thermal_throttling_events, log.thermal_throttling_status) == (2, 1)
    assert (log.dssd_major_version, log.dssd_minor_version) == (2, 3)
    assert (log.dssd_point_version, log.dssd_errata_version) == (2, 1)
    assert (log.pcie_correctable_error_count, log.incomplete_shutdowns) == (11, 12)
    assert (log.percent_free_blocks, log.capacitor_health) == (55, 101)
    assert (log.unaligned_io, log.security_version_number, log.total_nuse) == (13, 14, 15)
    assert (log.plp_start_count, log.endurance_estimate) == (16, 17)
    assert (log.pcie_link_retraining_count, log.power_state_change_count, log.log_page_version) == (18, 19, 3)
    page[494] = 1
    assert nvme.decode_ocp_smart_log(page).power_state_change_count is None
    page[500] ^= 1
    with pytest.raises(sated.ParseError, match="vendor's own page"):
        nvme.decode_ocp_smart_log(page)


def test_power_states() -> None:
    """5.17.2.1: scales of 0.01 W and 0.0001 W; idle and active power say whether they are reported."""
    page = bytearray(4096)
    page[263] = 1
    struct.pack_into("<HxBIIBBBBHBxHB", page, 2048, 900, 0, 0, 0, 0, 0, 0, 0, 15, 0x80, 800, 0x82)
    struct.pack_into("<HxBIIBBBBHBxHB", page, 2080, 50, 3, 5000, 9000, 1, 2, 3, 4, 20, 0x40, 0, 0)
    first, second = nvme.decode_id_ctrl(page).psd
    assert (first.mp_uw, first.idlp_uw, first.actp_uw, first.apw, first.nops) == (9_000_000, 150_000, 8_000_000, 2, 0)
    assert (first.enlat_us, first.exlat_us) == (None, None)
    assert (second.mp_uw, second.idlp_uw, second.actp_uw, second.apw, second.nops) == (5000, 2000, None, None, 1)
    assert (second.enlat_us, second.exlat_us, second.rrt, second.rrl, second.rwt, second.rwl) == (
        5000,
        9000,
        1,
        2,
        3,
        4,
    )


def test_bits_have_names() -> None:
    assert nvme.Oacs(0x17) == sum(nvme.Oacs[name] for name in ("SECURITY", "FORMAT", "FIRMWARE", "SELF_TEST"))
    assert nvme.Sanicap["NDI"] == 1 << 29 and nvme.Oncs["DSM"] == 4 and nvme.Fna["CRYPTO"] == 4
    assert nvme.Vwc["PRESENT"] == 1 and nvme.Lpa["EXTENDED"] == 4 and nvme.Oaes["NS_CHANGE"] == 1 << 8


@pytest.mark.parametrize(
    ("decode", "least"),
    [
        (nvme.decode_id_ctrl, 1),
        (nvme.decode_id_ns, 1),
        (nvme.decode_ns_list, 4),
        (nvme.decode_ctrl_list, 2),
        (nvme.decode_ns_descs, 1),
        (nvme.decode_error_log, 64),
        (nvme.decode_smart_log, 1),
        (nvme.decode_firmware_log, 1),
        (nvme.decode_effects_log, 1024),
        (nvme.decode_self_test_log, 4),
        (nvme.decode_telemetry_header, 1),
        (nvme.decode_endurance_group_log, 1),
        (nvme.decode_persistent_event_header, 1),
        (nvme.decode_sanitize_log, 1),
        (nvme.decode_ocp_smart_log, 512),
    ],
)
def test_too_short_to_say_anything(decode: Callable[[bytes], Any], least: int) -> None:
    with pytest.raises(sated.ParseError, match=f"{least - 1} bytes came, expected {least} at least"):
        decode(bytes(least - 1))


def test_what_lies_past_the_end_is_not_known() -> None:
    whole = smart(b0=b"\4\x39\1\x64", b32=b"\7", b48=b"\7")
    log = nvme.decode_smart_log(whole[:48])
    assert (log.temperature, log.data_units_read, log.data_units_written) == (313, 7, None)
    assert (log.power_cycles, log.sensors, log.thm_temp2_total_time) == (None, None, None)
    assert nvme.decode_smart_log(whole[:47]).data_units_read is None


DECODERS: list[tuple[Callable[[bytes], Any], int, bytes]] = [
    (nvme.decode_id_ctrl, 4096, b""),
    (nvme.decode_smart_log, 512, b""),
    (nvme.decode_firmware_log, 512, b""),
    (nvme.decode_effects_log, 4096, b""),
    (nvme.decode_telemetry_header, 512, b"\x07"),
    (nvme.decode_endurance_group_log, 512, b""),
    (nvme.decode_persistent_event_header, 512, b"\x0d"),
    (nvme.decode_sanitize_log, 512, b""),
    (nvme.decode_error_log, 1024, b""),
    (nvme.decode_self_test_log, 564, b""),
]


@pytest.mark.parametrize(("decode", "size", "head"), DECODERS)
def test_a_cut_answer_says_nothing_else(decode: Callable[[bytes], Any], size: int, head: bytes) -> None:
    """What a cut answer tells is what the whole one tells: a list is shorter, a member is None, and nothing differs."""
    rng = random.Random(7)
    for _ in range(10):
        page = head + rng.randbytes(size - len(head))
        whole = decode(page)
        for cut in (rng.randrange(1, size) for _ in range(20)):
            try:
                part = decode(page[:cut])
            except sated.ParseError as error:
                assert "bytes came" in str(error)
                continue
            for field in dataclasses.fields(part):
                ours, theirs = getattr(part, field.name), getattr(whole, field.name)
                if field.name == "doubts":
                    assert ours & ~theirs == 0
                elif field.name == "truncated":
                    assert ours >= theirs
                elif isinstance(ours, tuple):
                    assert ours == theirs[: len(ours)], field.name
                else:
                    assert ours is None or ours == theirs, field.name


# ---- layouts --------------------------------------------------------------------------------------------------------

# Members in the order of their bytes with their sizes, "-" for what is reserved or not decoded: 5.17.2.1, NVM 4.1.5.1,
# 5.16.1.2, 5.16.1.3 and 5.16.1.10. The offsets follow from them, so that they are not those of the decoders.
LAYOUTS: dict[Callable[[bytes], Any], tuple[int, str]] = {
    nvme.decode_id_ctrl: (
        4096,
        "vid:2 ssvid:2 -:20 -:40 -:8 rab:1 ieee:3 cmic:1 mdts:1 cntlid:2 ver:4 rtd3r:4 rtd3e:4 oaes:4 ctratt:4 "
        "rrls:2 -:9 cntrltype:1 -:16 crdt1:2 crdt2:2 crdt3:2 -:119 nvmsr:1 vwci:1 mec:1 oacs:2 acl:1 aerl:1 "
        "frmw:1 lpa:1 elpe:1 npss:1 avscc:1 apsta:1 wctemp:2 cctemp:2 mtfa:2 hmpre:4 hmmin:4 tnvmcap:16 "
        "unvmcap:16 rpmbs:4 edstt:2 dsto:1 fwug:1 kas:2 hctma:2 mntmt:2 mxtmt:2 sanicap:4 hmminds:4 hmmaxd:2 "
        "nsetidmax:2 endgidmax:2 anatt:1 anacap:1 anagrpmax:4 nanagrpid:4 pels:4 domainid:2 -:10 megcap:16 -:128 "
        "sqes:1 cqes:1 maxcmd:2 nn:4 oncs:2 fuses:2 fna:1 vwc:1 awun:2 awupf:2 icsvscc:1 nwpc:1 acwu:2 ocfs:2 "
        "sgls:4 mnan:4 maxdna:16 maxcna:4 -:204 -:256 -:768 ioccsz:4 iorcsz:4 icdoff:2 fcatt:1 msdbd:1 ofcs:2",
    ),
    nvme.decode_id_ns: (
        4096,
        "nsze:8 ncap:8 nuse:8 nsfeat:1 nlbaf:1 flbas:1 mc:1 dpc:1 dps:1 nmic:1 rescap:1 fpi:1 dlfeat:1 nawun:2 "
        "nawupf:2 nacwu:2 nabsn:2 nabo:2 nabspf:2 noiob:2 nvmcap:16 npwg:2 npwa:2 npdg:2 npda:2 nows:2 mssrl:2 "
        "mcl:4 msrc:1 -:1 nulbaf:1 -:9 anagrpid:4 -:3 nsattr:1 nvmsetid:2 endgid:2",
    ),
    nvme.decode_smart_log: (
        512,
        "critical_warning:1 temperature:2 avail_spare:1 spare_thresh:1 percent_used:1 endu_grp_crit_warn_sumry:1 "
        "-:25 data_units_read:16 data_units_written:16 host_reads:16 host_writes:16 ctrl_busy_time:16 "
        "power_cycles:16 power_on_hours:16 unsafe_shutdowns:16 media_errors:16 num_err_log_entries:16 "
        "warning_temp_time:4 critical_comp_time:4 -:16 thm_temp1_trans_count:4 thm_temp2_trans_count:4 "
        "thm_temp1_total_time:4 thm_temp2_total_time:4",
    ),
    nvme.decode_endurance_group_log: (
        512,
        "critical_warning:1 features:1 -:1 avl_spare:1 avl_spare_threshold:1 percent_used:1 domainid:2 -:24 "
        "endurance_estimate:16 data_units_read:16 data_units_written:16 media_units_written:16 host_read_cmds:16 "
        "host_write_cmds:16 media_data_integrity_err:16 num_err_info_log_entries:16 tegcap:16 uegcap:16",
    ),
    lambda page: nvme.decode_error_log(page).entries[0]: (
        64,
        "error_count:8 sqid:2 cmdid:2 -:2 parm_err_loc:2 lba:8 nsid:4 vs:1 trtype:1 -:2 cs:8 trtype_spec_info:2",
    ),
    nvme.decode_sanitize_log: (
        512,
        "sprog:2 sstat:2 scdw10:4 eto:4 etbe:4 etce:4 etond:4 etbend:4 etcend:4",
    ),
}


@pytest.mark.parametrize(("decode", "size", "layout"), [(d, size, text) for d, (size, text) in LAYOUTS.items()])
def test_layout(decode: Callable[[bytes], Any], size: int, layout: str) -> None:
    """Every byte of the page is another one's neighbour and none is 0: a member read at a wrong place shows."""
    page = bytearray(1 + at % 97 for at in range(size))
    page[26:27] = b"\x05" if decode is nvme.decode_id_ns else page[26:27]
    answer, at, compared = decode(bytes(page)), 0, 0
    for word in layout.split():
        name, _, length = word.partition(":")
        if name != "-":
            assert getattr(answer, name) == int.from_bytes(page[at : at + int(length)], "little"), name
            compared += 1
        at += int(length)
    assert compared > 8 and at <= size


def test_texts_and_identifiers() -> None:
    """Blank-padded texts are stripped; what is not printable cannot reach a terminal; empty ones are not known."""
    page = bytearray(4096)
    page[4:24], page[24:64], page[64:72] = b"  S1\x1b[31m".ljust(20), b" " * 40, b"1.0\0\0\0\0\0"
    page[112:128] = bytes(range(16))
    page[768:780] = b"nqn.2014-08."
    ctrl = nvme.decode_id_ctrl(page)
    assert (ctrl.sn, ctrl.mn, ctrl.fr) == ("S1?[31m", None, "1.0")
    assert (ctrl.fguid, ctrl.subnqn) == (bytes(range(16)), "nqn.2014-08.")
    ns = bytearray(4096)
    ns[104:120], ns[120:128] = bytes(range(16)), bytes(range(16, 24))
    assert (nvme.decode_id_ns(ns).nguid, nvme.decode_id_ns(ns).eui64) == (bytes(range(16)), bytes(range(16, 24)))
