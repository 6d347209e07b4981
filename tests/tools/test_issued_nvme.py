"""Our NVMe commands against the bytes that nvme-cli issues, caught between the tool and the kernel.

The whole submission queue entry is compared, but for the identifier and the pointers, which the kernel fills in, and
the data that is sent. The timeout is not: nvme-cli leaves it to the kernel but for namespace management, ours is the
transport's. And Get and Set Features: where a feature is the controller's, ours has NSID 0, nvme-cli names the
namespace of the node, also where it is told 0; the rest of the command is compared.
"""

from __future__ import annotations

import pytest
from issued import PATTERN, Issued
from sated import nvme
from sated.nvme import ALL, Cns, Command, Dsm, Fid, IoFlag, Lid

pytestmark = pytest.mark.tools

DEVICE = "/dev/ng0n1"
FLAGS = IoFlag.FUA | IoFlag.LIMITED_RETRY
IO = {"nsid": 1, "slba": 0x123456789, "blocks": 8}
DATA = {**IO, "block_bytes": 512}
RANGE = " {} -n 1 -s 0x123456789 -c 7"

# The tool's words, our command, and our data where there is some.
ISSUED: list[tuple[str, Command, bytes]] = [
    ("id-ctrl {}", nvme.build_identify(Cns.CTRL), b""),
    ("id-ns {} -n 1", nvme.build_identify(Cns.NS, nsid=1), b""),
    ("id-ns {} -n 1 --force", nvme.build_identify(Cns.ALLOCATED_NS, nsid=1), b""),
    ("ns-descs {} -n 1", nvme.build_identify(Cns.NS_DESCS, nsid=1), b""),
    ("list-ns {}", nvme.build_identify(Cns.NS_LIST), b""),
    ("list-ns {} -n 4", nvme.build_identify(Cns.NS_LIST, nsid=3), b""),
    ("list-ns {} -a", nvme.build_identify(Cns.ALLOCATED_LIST), b""),
    ("list-ns {} -y 0", nvme.build_identify(Cns.CSI_NS_LIST), b""),
    ("list-ns {} -a -y 0", nvme.build_identify(Cns.CSI_ALLOCATED_LIST), b""),
    ("id-domain {} -d 1", nvme.build_identify(Cns.DOMAIN_LIST, cns_specific=1), b""),
    ("list-ctrl {} -c 2", nvme.build_identify(Cns.CTRL_LIST, cntid=2), b""),
    ("list-ctrl {} -n 1 -c 2", nvme.build_identify(Cns.NS_CTRL_LIST, nsid=1, cntid=2), b""),
    ("nvm-id-ctrl {}", nvme.build_identify(Cns.CSI_CTRL), b""),
    ("nvm-id-ns {} -n 1", nvme.build_identify(Cns.CSI_NS, nsid=1), b""),
    ("cmdset-ind-id-ns {} -n 1", nvme.build_identify(Cns.INDEPENDENT_NS, nsid=1), b""),
    ("id-ns-granularity {}", nvme.build_identify(Cns.NS_GRANULARITY), b""),
    ("id-nvmset {} -i 1", nvme.build_identify(Cns.NVM_SET_LIST, cns_specific=1), b""),
    ("id-uuid {}", nvme.build_identify(Cns.UUID_LIST), b""),
    ("id-iocs {}", nvme.build_identify(Cns.IO_COMMAND_SETS, cntid=0xFFFF), b""),
    ("list-endgrp {} -i 1", nvme.build_identify(Cns.ENDURANCE_GROUP_LIST, cns_specific=1), b""),
    ("primary-ctrl-caps {} -c 1", nvme.build_identify(Cns.PRIMARY_CAPS, cntid=1), b""),
    ("list-secondary {} -c 1", nvme.build_identify(Cns.SECONDARY_LIST, cntid=1), b""),
    ("smart-log {}", nvme.build_get_log(Lid.SMART, length=512), b""),
    ("smart-log {} -n 1", nvme.build_get_log(Lid.SMART, length=512, nsid=1), b""),
    ("error-log {}", nvme.build_get_log(Lid.ERROR, length=64), b""),
    ("fw-log {}", nvme.build_get_log(Lid.FIRMWARE, length=512), b""),
    ("changed-ns-list-log {}", nvme.build_get_log(Lid.CHANGED_NS, length=4096, rae=True), b""),
    ("self-test-log {}", nvme.build_get_log(Lid.SELF_TEST, length=564), b""),
    ("sanitize-log {}", nvme.build_get_log(Lid.SANITIZE, length=512), b""),
    ("supported-log-pages {}", nvme.build_get_log(Lid.SUPPORTED, length=1024), b""),
    # What is of the whole controller nvme-cli asks for with NSID 0 in some logs and FFFFFFFFh in others.
    ("telemetry-log {} -o {out} -g 1", nvme.build_get_log(Lid.TELEMETRY_HOST, length=512, nsid=0, lsp=1), b""),
    ("telemetry-log {} -o {out} -c", nvme.build_get_log(Lid.TELEMETRY_CTRL, length=512, nsid=0, rae=True), b""),
    ("endurance-log {} -g 1", nvme.build_get_log(Lid.ENDURANCE_GROUP, length=512, nsid=0, lsi=1), b""),
    ("predictable-lat-log {} -i 1", nvme.build_get_log(0x0A, length=512, nsid=0, lsi=1), b""),
    ("fid-support-effects-log {}", nvme.build_get_log(0x12, length=1024, nsid=0), b""),
    ("mi-cmd-support-effects-log {}", nvme.build_get_log(0x13, length=4096, nsid=0), b""),
    ("resv-notif-log {}", nvme.build_get_log(0x80, length=64), b""),
    ("persistent-event-log {} -a 0", nvme.build_get_log(Lid.PERSISTENT_EVENT, length=512), b""),
    ("persistent-event-log {} -a 2 -l 512", nvme.build_get_log(Lid.PERSISTENT_EVENT, length=512, lsp=2), b""),
    ("ocp smart-add-log {}", nvme.build_get_log(Lid.OCP_SMART, length=512), b""),
    ("get-log {} --log-id=2 --log-len=512", nvme.build_get_log(2, length=512), b""),
    (
        "get-log {} -i 0xc1 -l 512 -n 1 -o 4096 -s 3 -r -U 1 -S 5",
        nvme.build_get_log(0xC1, length=512, nsid=1, offset=4096, lsp=3, rae=True, uuid_index=1, lsi=5),
        b"",
    ),
    # `nvme effects-log` looks for its controller in sysfs first, and there is none.
    ("get-log {} -i 5 -l 4096", nvme.build_get_log(Lid.EFFECTS, length=4096), b""),
    ("get-log {} -i 0x0d -l 512 -o 0x1234567800", nvme.build_get_log(13, length=512, offset=0x1234567800), b""),
    ("get-feature {} -f 6", nvme.build_get_features(Fid.WRITE_CACHE), b""),
    ("get-feature {} -f 2 -s 1", nvme.build_get_features(Fid.POWER, sel="default"), b""),
    ("get-feature {} -n 1 -f 5 -s 2", nvme.build_get_features(5, nsid=1, sel="saved"), b""),
    ("get-feature {} -f 0x17 -s 3", nvme.build_get_features(Fid.SANITIZE_CONFIG, sel="supported"), b""),
    ("get-feature {} -f 0xc", nvme.build_get_features(Fid.APST, length=256), b""),
    (
        "get-feature {} -f 4 --cdw11 0x110000",
        nvme.build_get_temperature_threshold(sensor=1, under=True),
        b"",
    ),
    ("set-feature {} -f 6 -v 1", nvme.build_set_write_cache(True), b""),
    ("set-feature {} -f 6 -v 0 -s", nvme.build_set_write_cache(False, save=True), b""),
    ("set-feature {} -f 2 -v 0x22", nvme.build_set_power_state(2, workload_hint=1), b""),
    ("set-feature {} -f 0x17 -v 1 -s", nvme.build_set_sanitize_config(nodrm=True, save=True), b""),
    ("set-feature {} -f 0xc -v 1 -l 256 -d {file}", nvme.build_set_apst(True), PATTERN[:256]),
    ("set-feature {} -n 1 -f 5 -v 0x10003", nvme.build_set_features(5, nsid=1, cdw11=0x10003), b""),
    ("set-feature {} -f 0x10 -v 7 -c 9", nvme.build_set_features(16, cdw11=7, cdw12=9), b""),
    ("format {} -n 1 -l 0 -s 1 --force", nvme.build_format(nsid=1, lbaf=0, ses="user-data"), b""),
    (
        "format {} -n 0xffffffff -l 3 -s 2 -i 1 -p 1 -m 1 --force",
        nvme.build_format(nsid=ALL, lbaf=3, ses="crypto", pi=1, pil=True, mset=True),
        b"",
    ),
    ("sanitize {} -a 1", nvme.build_sanitize("exit-failure"), b""),
    ("sanitize {} -a 2", nvme.build_sanitize("block"), b""),
    (
        "sanitize {} -a 3 -n 4 -p 0xa5a5a5a5 -i",
        nvme.build_sanitize("overwrite", passes=4, pattern=0xA5A5A5A5, invert=True),
        b"",
    ),
    ("sanitize {} -a 4 -d -u", nvme.build_sanitize("crypto", no_deallocate=True, unrestricted_exit=True), b""),
    ("device-self-test {} -s 1", nvme.build_self_test("short"), b""),
    ("device-self-test {} -n 1 -s 2", nvme.build_self_test("extended", nsid=1), b""),
    ("device-self-test {} -s 0xe", nvme.build_self_test("vendor"), b""),
    ("device-self-test {} -n 0 -s 0xf", nvme.build_self_test("abort", nsid=0), b""),
    (
        "create-ns {} -s 4096 -c 2048 -f 0 -d 1 -m 1 -a 3 -i 2",
        nvme.build_ns_create(),
        nvme.build_ns_data(nsze=4096, ncap=2048, dps=1, shared=True, anagrpid=3, nvmsetid=2),
    ),
    ("delete-ns {} -n 1", nvme.build_ns_delete(1), b""),
    ("delete-ns {} -n 0xffffffff", nvme.build_ns_delete(ALL), b""),
    ("attach-ns {} -n 1 -c 1,2", nvme.build_ns_attach(1), nvme.build_ctrl_list([1, 2])),
    ("detach-ns {} -n 1 -c 7", nvme.build_ns_detach(1), nvme.build_ctrl_list([7])),
    ("fw-commit {} -s 2 -a 1", nvme.build_firmware_commit(slot=2, action=1), b""),
    ("fw-commit {} -s 0 -a 6 -b 1", nvme.build_firmware_commit(slot=0, action=6, boot_partition=1), b""),
    (
        "security-send {} -n 0 -f {file} -p 0xef -s 0x1234 -N 2 -t 4096",
        nvme.build_security_send(secp=0xEF, spsp=0x1234, nssf=2, length=4096),
        PATTERN,
    ),
    ("security-recv {} -p 0 -s 0 -x 512 -t 512", nvme.build_security_receive(secp=0, spsp=0, length=512), b""),
    (
        "security-recv {} -n 1 -p 0xef -s 0x1234 -N 2 -x 256 -t 256",
        nvme.build_security_receive(secp=0xEF, spsp=0x1234, nssf=2, length=256, nsid=1),
        b"",
    ),
    ("dir-receive {} -n 1 -D 0 -O 1 -l 4096", nvme.build_directive_receive(nsid=1, dtype=0, doper=1, length=4096), b""),
    ("dir-receive {} -n 1 -D 1 -O 1 -l 32", nvme.build_directive_receive(nsid=1, dtype=1, doper=1, length=32), b""),
    ("dir-receive {} -n 1 -D 1 -O 2 -l 64", nvme.build_directive_receive(nsid=1, dtype=1, doper=2, length=64), b""),
    ("flush {} -n 1", nvme.build_flush(nsid=1), b""),
    (
        "dsm {} -n 1 -s 4096,0x123456789 -b 8,16 -d",
        nvme.build_dsm(nsid=1, ranges=2),
        nvme.build_dsm_ranges([(4096, 8), (0x123456789, 16)]),
    ),
    (
        "dsm {} -n 1 -s 1 -b 8 -r -w",
        nvme.build_dsm(nsid=1, ranges=1, attributes=Dsm.READ_HINT | Dsm.WRITE_HINT),
        nvme.build_dsm_ranges([(1, 8)]),
    ),
    ("read" + RANGE + " -z 4096 -d {out}", nvme.build_read(**DATA), b""),
    ("read" + RANGE + " -z 4096 -d {out} -f -l", nvme.build_read(**DATA, flags=FLAGS), b""),
    ("write" + RANGE + " -z 4096 -d {file}", nvme.build_write(**DATA), PATTERN),
    ("write" + RANGE + " -z 4096 -d {file} -f -l", nvme.build_write(**DATA, flags=FLAGS), PATTERN),
    ("compare" + RANGE + " -z 4096 -d {file}", nvme.build_compare(**DATA), PATTERN),
    ("write-zeroes" + RANGE, nvme.build_write_zeroes(**IO), b""),
    ("write-zeroes" + RANGE + " -d -f -l", nvme.build_write_zeroes(**IO, deac=True, flags=FLAGS), b""),
    ("verify" + RANGE, nvme.build_verify(**IO), b""),
    ("verify" + RANGE + " -f -l", nvme.build_verify(**IO, flags=FLAGS), b""),
    (
        "admin-passthru {} --opcode=0xc1 -n 1 --cdw10=1 --cdw11=2 --cdw15=6 -l 512 -w -i {file}",
        nvme.build_raw(0xC1, admin=True, nsid=1, cdw=[1, 2, 0, 0, 0, 6], length=512),
        PATTERN[:512],
    ),
    (
        "admin-passthru {} --opcode=0xc2 --cdw12=9 -l 512 -r",
        nvme.build_raw(0xC2, admin=True, cdw=[0, 0, 9], length=512),
        b"",
    ),
    ("io-passthru {} --opcode=0x80 -n 1 --cdw10=1", nvme.build_raw(0x80, admin=False, nsid=1, cdw=[1]), b""),
]


@pytest.mark.parametrize(("words", "command", "sent"), ISSUED, ids=[words for words, _, _ in ISSUED])
def test_issued(issued: Issued, words: str, command: Command, sent: bytes) -> None:
    calls = issued("nvme " + words, DEVICE)
    ours = command.bytes
    if "-feature" in words and command.nsid == 0:
        ours = ours[:4] + (1).to_bytes(4, "little") + ours[8:]
    same = [call for call in calls if call.command == ours]
    assert same, f"ours {ours.hex(' ')}, theirs {[call.command.hex(' ') for call in calls]}"
    assert (same[0].kind == "admin") == command.admin
    assert (same[0].direction, same[0].length) == (command.direction, command.data_len)
    assert same[0].data == sent
