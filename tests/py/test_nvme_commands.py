"""NVMe commands byte by byte.

Expected numbers are the layouts of the NVM Express Base Specification 2.0c, of the NVM Command Set Specification 1.0c
("NVM") and of the OCP Datacenter NVMe SSD Specification ("OCP"); the clause stands beside each.
"""

from __future__ import annotations

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
        (lambda: nvme.build_ctrl_list([65536]), "controller identifier is 65536"),
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
