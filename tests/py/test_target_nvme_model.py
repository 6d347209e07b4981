"""The simulated NVMe drive against a small model of the standard, by random commands.

The model is written from NVM Express Base 2.0c and the NVM Command Set 1.0c, not from the drive: what a command may be
refused for is a set, as the standards leave open which of several errors is told, and it does what it says exactly if
that set is empty. Blocks are compared byte by byte, and what holds data by the drive's own count of mapping units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import sated
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from sated._ffi import ffi, lib

ALL = 0xFFFFFFFF
UNIT = 4096
SECTOR = 512
IN, OUT = 1, 2

INVALID_FIELD, INTERNAL, INVALID_NAMESPACE = 0x02, 0x06, 0x0B
SANITIZE_FAILED, SANITIZING = 0x1C, 0x1D
LBA_RANGE, NOT_READY, UNRECOVERED, COMPARE_FAILURE = 0x80, 0x82, 0x281, 0x285
INVALID_FORMAT, NOT_SAVEABLE, NO_CAPACITY, NO_IDENTIFIER = 0x10A, 0x10D, 0x115, 0x116
ALREADY_ATTACHED, PRIVATE, NOT_ATTACHED, THIN, BAD_LIST, SELF_TESTING = 0x118, 0x119, 0x11A, 0x11B, 0x11C, 0x11D


def add_model() -> str:
    """A model as small as they can be, so that thousands of drives cost nothing."""
    if "tiny-nvme" not in sated.sim.models():
        sated.sim.add_model("tiny-nvme", sated.sim.model_text("generic").replace('"none"', '"nvme"', 1))
    return "tiny-nvme"


class Wire:
    """Commands as the library takes them, without the errors that Python would raise."""

    def __init__(self, uri: str) -> None:
        self.drive = sated.open(uri)
        self.command = ffi.new("struct sated_nvme_command *")
        self.reply = ffi.new("struct sated_reply *")
        self.buffer = ffi.new("uint8_t[]", 1 << 16)
        self.result = 0

    def send(
        self,
        opcode: int,
        *,
        controller: int,
        io: bool = False,
        nsid: int = 0,
        cdw: tuple[int, ...] = (),
        read: int = 0,
        data: bytes = b"",
    ) -> int:
        """Type and code of the status; -1 without an answer."""
        assert lib.sated_sim_set_controller(self.drive._handle, controller) == 0
        c = self.command
        ffi.memmove(c, bytes(ffi.sizeof("struct sated_nvme_command")), ffi.sizeof("struct sated_nvme_command"))
        c.opcode, c.nsid, c.admin = opcode, nsid, not io
        for at, value in enumerate(cdw):
            setattr(c, f"cdw{10 + at}", value)
        c.data_len, c.direction = (read, IN) if read else (len(data), OUT if data else 0)
        if data:
            ffi.memmove(self.buffer, data, len(data))
        send = lib.sated_nvme_io_raw if io else lib.sated_nvme_admin_raw
        rc = send(self.drive._handle, c, self.buffer if c.data_len else ffi.NULL, self.reply)
        self.result = self.reply.result
        return -1 if rc and not self.reply.nvme_status else self.reply.nvme_status & 0x7FF

    def bytes(self, n: int) -> bytes:
        return bytes(ffi.buffer(self.buffer, n))

    def fault(self, kind: int, *, opcode: int = -1, outcome: int = 0) -> None:
        f = ffi.new("struct sated_sim_fault *")
        lib.sated_sim_fault_init(f)
        f.kind, f.opcode, f.outcome, f.count = kind, opcode, outcome, 1
        assert lib.sated_sim_fail(self.drive._handle, f) == 0


def le(data: bytes, at: int, n: int) -> int:
    return int.from_bytes(data[at : at + n], "little")


@dataclass
class Namespace:
    base: int  # sectors, on the medium
    held: int
    size: int
    format: int
    shared: bool
    attached: set[int] = field(default_factory=set)
    broken: bool = False

    @property
    def sectors(self) -> int:
        """Of a logical block."""
        return 8 if self.format else 1

    @property
    def blocks(self) -> int:
        return self.size // self.sectors


@dataclass
class Controller:
    power: dict[str, int] = field(default_factory=lambda: {"now": 0, "saved": 0, "operational": 0})
    thermal: dict[str, int] = field(default_factory=lambda: {"now": 0, "saved": 0})
    marker: int = 0
    errors: int = 0
    changed: set[int] = field(default_factory=set)


@dataclass
class SelfTest:
    code: int
    nsid: int


class Medium:
    """One value for each sector, whether each unit of 4 KiB holds data, and what is uncorrectable."""

    def __init__(self, sectors: int) -> None:
        self.values = bytearray(sectors)
        self.bad = bytearray(sectors)
        self.mapped = bytearray(sectors // 8)

    def write(self, at: int, n: int, value: int) -> None:
        self.values[at : at + n] = bytes([value]) * n
        self.bad[at : at + n] = bytes(n)
        for unit in range(at // 8, (at + n - 1) // 8 + 1):
            self.mapped[unit] = 1

    def deallocate(self, at: int, n: int) -> None:
        self.values[at : at + n] = bytes(n)
        self.bad[at : at + n] = bytes(n)
        first, end = -(-at // 8), (at + n) // 8
        if end > first:
            self.mapped[first:end] = bytes(end - first)

    def fill(self, value: int, mapped: int) -> None:
        self.values[:] = bytes([value]) * len(self.values)
        self.bad[:] = bytes(len(self.bad))
        self.mapped[:] = bytes([mapped]) * len(self.mapped)


class Subsystem(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.wire: Wire | None = None

    @initialize(
        fna=st.integers(0, 15),
        inhibited=st.booleans(),
        several=st.lists(st.tuples(st.integers(1, 60), st.booleans(), st.booleans(), st.integers(0, 3)), max_size=5),
    )
    def open(self, fna: int, inhibited: bool, several: list[tuple[int, bool, bool, int]]) -> None:
        keys = "channels=2,dies=1,pages_per_block=16,blocks=320,op=50%,capacitors=on,sanitize=7"
        inhibit = "on" if inhibited else "off"
        self.wire = Wire(f"sim:{add_model()},{keys},fna={fna},no_deallocate_inhibited={inhibit}")
        self.fna, self.inhibited = fna, inhibited
        self.total = self.wire.drive.identity.capacity_bytes // SECTOR
        assert self.wire.send(0x06, controller=0, cdw=(0x16,), read=4096) == 0
        self.chunk = le(self.wire.bytes(4096), 32, 8) // SECTOR
        self.medium = Medium(self.total)
        self.ns = {1: Namespace(0, self.total, self.total, 0, True, {0, 1})}
        self.controllers = [Controller(), Controller()]
        self.sanitizing: dict[str, Any] | None = None
        self.sanitized: dict[str, Any] = {"status": 0, "cdw10": 0, "passes": 0}
        self.failed = False
        self.erased = True
        self.test: SelfTest | None = None
        self.tests: list[tuple[int, int, int]] = []
        self.spans = 0
        if several:
            self.delete_namespace(0, ALL)
        for nsid, (size, form, shared, to) in enumerate(several, 1):
            self.create(0, size, 0, int(form), shared)
            self.attach_namespace(0, nsid, [[1], [2], [1, 2], [1, 2]][to if shared else to % 2], True)

    def teardown(self) -> None:
        if self.wire:
            self.wire.drive.close()

    # ---- The rules that hold for all commands ----

    def send(self, controller: int, opcode: int, errors: set[int], **command: Any) -> bool:
        """Sends, and holds what comes to what may come. Whether it was done."""
        assert self.wire
        status = self.wire.send(opcode, controller=controller, **command)
        if errors:
            assert status in errors, f"opcode {opcode:#x}: {status:#x} is none of {[hex(e) for e in errors]}"
            self.controllers[controller].errors += 1
            return False
        assert status == 0, f"opcode {opcode:#x}: {status:#x}, and it should succeed"
        return True

    def restricted(self) -> set[int]:
        """8.21: while a sanitize goes on, or after it failed, most commands are refused for that."""
        return {SANITIZING} if self.sanitizing else {SANITIZE_FAILED} if self.failed else set()

    def active(self, controller: int, nsid: int) -> set[int]:
        """3.2.1."""
        if not 1 <= nsid <= 16:
            return {INVALID_NAMESPACE}
        return set() if nsid in self.ns and controller in self.ns[nsid].attached else {INVALID_FIELD}

    def allocated(self, nsid: int) -> set[int]:
        if not 1 <= nsid <= 16:
            return {INVALID_NAMESPACE}
        return set() if nsid in self.ns else {INVALID_FIELD}

    def change(self, controllers: set[int], nsid: int) -> None:
        for each in controllers:
            self.controllers[each].changed.add(nsid)

    def end_test(self, result: int) -> None:
        assert self.test
        self.tests.insert(0, (self.test.code, result, self.test.nsid))
        self.test = None

    # ---- Namespaces ----

    def gaps(self) -> Iterator[tuple[int, int]]:
        at = 0
        for ns in sorted(self.ns.values(), key=lambda ns: ns.base):
            if ns.base > at:
                yield at, ns.base - at
            at = ns.base + ns.held
        if at < self.total:
            yield at, self.total - at

    controllers_ = st.integers(0, 1)
    picks = st.integers(0, 39)

    def pick(self, controller: int, pick: int) -> int:
        """Mostly a namespace that the controller has, at times one that it has not, and seldom one that cannot be."""
        attached = [each for each, ns in sorted(self.ns.items()) if controller in ns.attached]
        of = attached if pick < 30 else sorted(self.ns)
        return of[pick % len(of)] if of and pick < 34 else [0, 1, 2, 16, 17, ALL][pick % 6]

    @rule(
        controller=controllers_,
        size=st.one_of(st.integers(0, 60), st.integers(0, 30000), st.just(2**60)),
        less=st.sampled_from([0, 0, 0, 0, 1, -1]),
        form=st.sampled_from([0, 0, 1, 1, 2]),
        shared=st.booleans(),
    )
    def create(self, controller: int, size: int, less: int, form: int, shared: bool) -> None:
        assert self.wire
        errors, sectors, place = self.restricted(), size * (8 if form == 1 else 1), None
        ncap = max(size - less, 0)
        if not errors:
            if form > 1:
                errors.add(INVALID_FORMAT)
            if size == 0 or ncap > size:
                errors.add(INVALID_FIELD)
            if ncap < size:
                errors.add(THIN)
            free = [nsid for nsid in range(1, 17) if nsid not in self.ns]
            if not free:
                errors.add(NO_IDENTIFIER)
            place = next(((at, room) for at, room in self.gaps() if room >= sectors), None)
            if place is None:
                errors.add(NO_CAPACITY)
        data = bytearray(4096)
        data[0:8], data[8:16] = size.to_bytes(8, "little"), ncap.to_bytes(8, "little")
        data[26], data[30] = form, shared
        if self.send(controller, 0x0D, errors, cdw=(0,), data=bytes(data)):
            assert place
            nsid = free[0]
            assert self.wire.result == nsid
            held = min(-(-sectors // self.chunk) * self.chunk, place[1])
            self.ns[nsid] = Namespace(place[0], held, sectors, form, shared)

    @rule(controller=controllers_, pick=picks)
    def delete(self, controller: int, pick: int) -> None:
        self.delete_namespace(controller, self.pick(controller, pick))

    def delete_namespace(self, controller: int, nsid: int) -> None:
        errors = self.restricted() or (set() if nsid == ALL else self.allocated(nsid))
        if self.send(controller, 0x0D, errors, nsid=nsid, cdw=(1,)):
            for each in list(self.ns) if nsid == ALL else [nsid]:
                if self.test and self.test.nsid in (each, ALL):
                    self.end_test(3)
                ns = self.ns.pop(each)
                self.medium.deallocate(ns.base, ns.held)
                self.change(ns.attached, each)

    @rule(
        controller=controllers_,
        pick=picks,
        ids=st.sampled_from([[1], [2], [1, 2], [], [3], [2, 1], [1, 1], [1], [2], [1, 2]]),
        attaches=st.sampled_from([True, True, False]),
    )
    def attach(self, controller: int, pick: int, ids: list[int], attaches: bool) -> None:
        self.attach_namespace(controller, self.pick(controller, (pick + 30) % 40), ids, attaches)

    def attach_namespace(self, controller: int, nsid: int, ids: list[int], attaches: bool) -> None:
        errors = self.restricted()
        if not errors:
            errors = self.allocated(nsid)
            if not ids or ids != sorted(set(ids)) or max(ids) > 2:
                errors.add(BAD_LIST)
        meant = {each - 1 for each in ids}
        if not errors:
            ns = self.ns[nsid]
            if attaches and meant & ns.attached:
                errors.add(ALREADY_ATTACHED)
            if attaches and not ns.shared and len(meant | ns.attached) > 1:
                errors.add(PRIVATE)
            if not attaches and meant - ns.attached:
                errors.add(NOT_ATTACHED)
        data = b"".join(n.to_bytes(2, "little") for n in [len(ids), *ids]).ljust(4096, b"\0")
        if self.send(controller, 0x15, errors, nsid=nsid, cdw=(0 if attaches else 1,), data=data):
            ns.attached = ns.attached | meant if attaches else ns.attached - meant
            self.change(meant, nsid)

    # ---- Blocks ----

    def blocks(self, controller: int, nsid: int, slba: int, n: int, end: bool) -> tuple[set[int], int, int, int]:
        """Why they cannot be reached, or where they are; and the first block."""
        errors = self.restricted() or self.active(controller, nsid)
        if errors:
            return errors, 0, 0, slba
        ns = self.ns[nsid]
        if ns.broken:
            return {NOT_READY}, 0, 0, slba
        slba = max(ns.blocks - 4, 0) + slba % 6 if end else slba
        if slba + n > ns.blocks:
            return {LBA_RANGE}, 0, 0, slba
        return set(), ns.base + slba * ns.sectors, n * ns.sectors, slba

    def io(self, controller: int) -> None:
        """8.15.1: no I/O in a state that does none."""
        power = self.controllers[controller].power
        power["now"] = power["operational"]

    def length(self, nsid: int, n: int) -> int:
        return n * SECTOR * (self.ns[nsid].sectors if nsid in self.ns else 1)

    slbas = st.integers(0, 24)
    counts = st.integers(1, 8)

    @rule(controller=controllers_, pick=picks, slba=slbas, n=counts, end=st.booleans(), value=st.integers(1, 255))
    def write(self, controller: int, pick: int, slba: int, n: int, end: bool, value: int) -> None:
        self.write_blocks(controller, self.pick(controller, pick), slba, n, end, value)

    def write_blocks(self, controller: int, nsid: int, slba: int, n: int, end: bool, value: int) -> None:
        errors, at, sectors, slba = self.blocks(controller, nsid, slba, n, end)
        data = bytes([value]) * self.length(nsid, n)
        if self.send(controller, 0x01, errors, io=True, nsid=nsid, cdw=(slba, 0, n - 1), data=data):
            self.medium.write(at, sectors, value)
            self.erased = False
        if not self.restricted():
            self.io(controller)

    @rule(controller=controllers_, slba=slbas, n=counts, value=st.integers(1, 255))
    def write_and_read(self, controller: int, slba: int, n: int, value: int) -> None:
        """Through one controller, and what the other sees of it."""
        self.write_blocks(controller, self.pick(controller, value % 30), slba, n, False, value)
        self.look_at(1 - controller, self.pick(controller, value % 30), slba, n, False, 0x02)

    @rule(
        controller=controllers_,
        pick=picks,
        slba=slbas,
        n=counts,
        end=st.booleans(),
        opcode=st.sampled_from([0x02, 0x02, 0x05, 0x0C]),
    )
    def look(self, controller: int, pick: int, slba: int, n: int, end: bool, opcode: int) -> None:
        """Read, Compare (with what ought to be there, or one bit off) and Verify."""
        self.look_at(controller, self.pick(controller, pick), slba, n, end, opcode)

    def look_at(self, controller: int, nsid: int, slba: int, n: int, end: bool, opcode: int) -> None:
        assert self.wire
        errors, at, sectors, slba = self.blocks(controller, nsid, slba, n, end)
        wanted = b"".join(bytes([v]) * SECTOR for v in self.medium.values[at : at + sectors])
        if not errors and any(self.medium.bad[at : at + sectors]):
            errors = {UNRECOVERED}
        command: dict[str, Any] = {"io": True, "nsid": nsid, "cdw": (slba, 0, n - 1)}
        if opcode == 0x02:
            command["read"] = self.length(nsid, n)
        elif opcode == 0x05:
            data = wanted or bytes(self.length(nsid, n))
            if slba % 2 and not errors:
                data, errors = data[:-1] + bytes([data[-1] ^ 1]), {COMPARE_FAILURE}
            command["data"] = data
        done = self.send(controller, opcode, errors, **command)
        if not self.restricted():
            self.io(controller)
        if done and opcode == 0x02:
            assert self.wire.bytes(len(wanted)) == wanted

    @rule(
        controller=controllers_,
        pick=picks,
        slba=slbas,
        n=st.integers(1, 40),
        end=st.booleans(),
        way=st.sampled_from(["zeroes", "deac", "dsm", "hint"]),
    )
    def clear(self, controller: int, pick: int, slba: int, n: int, end: bool, way: str) -> None:
        nsid = self.pick(controller, pick)
        errors, at, sectors, slba = self.blocks(controller, nsid, slba, n, end)
        command: dict[str, Any] = {"opcode": 0x08, "cdw": (slba, 0, n - 1 | (way == "deac") << 25)}
        if way in ("dsm", "hint"):
            ranges = bytes(4) + n.to_bytes(4, "little") + slba.to_bytes(8, "little")
            command = {"opcode": 0x09, "cdw": (0, 4 if way == "dsm" else 1), "data": ranges}
        if self.send(controller, command.pop("opcode"), errors, io=True, nsid=nsid, **command):
            if way == "zeroes":
                self.medium.write(at, sectors, 0)
                self.erased = False
            elif way != "hint":
                self.medium.deallocate(at, sectors)
        if not self.restricted():
            self.io(controller)

    @rule(controller=controllers_, pick=picks, slba=slbas, n=counts)
    def spoil(self, controller: int, pick: int, slba: int, n: int) -> None:
        """Write Uncorrectable, less often than the drive has room for."""
        nsid = self.pick(controller, pick)
        if self.spans >= 7:
            return
        errors, at, sectors, slba = self.blocks(controller, nsid, slba, n, False)
        if self.send(controller, 0x04, errors, io=True, nsid=nsid, cdw=(slba, 0, n - 1)):
            self.medium.bad[at : at + sectors] = bytes([1]) * sectors
            self.spans += 1
        if not self.restricted():
            self.io(controller)

    # ---- Format, sanitize, self-test, power ----

    def scope(self, controller: int, nsid: int, ses: int) -> set[int]:
        """5.14: FNA bit 1 is about formats that erase, bit 0 about others."""
        if self.fna & (2 if ses else 1):
            return set(self.ns)
        return {each for each, ns in self.ns.items() if controller in ns.attached} if nsid == ALL else {nsid}

    @rule(
        controller=controllers_,
        pick=picks,
        form=st.sampled_from([0, 0, 1, 1, 2]),
        ses=st.sampled_from([0, 1, 2, 2, 3]),
        pi=st.sampled_from([0, 0, 0, 1]),
        trouble=st.sampled_from(["none"] * 6 + ["fails", "before", "after", "half"]),
    )
    def format(self, controller: int, pick: int, form: int, ses: int, pi: int, trouble: str) -> None:
        nsid = self.pick(controller, pick)
        assert self.wire
        errors, meant = self.restricted(), set()
        if not errors:
            if ses > 2 or (ses == 2 and not self.fna & 4):
                errors.add(INVALID_FIELD)
            if form > 1 or pi:
                errors.add(INVALID_FORMAT)
            if nsid == ALL and self.fna & 8:
                errors.add(INVALID_FIELD)
            elif nsid != ALL:
                errors |= self.active(controller, nsid)
        if not errors:
            meant = self.scope(controller, nsid, ses)
            if form == 1 and any(self.ns[each].size < 8 for each in meant):
                errors.add(INVALID_FORMAT)
        if not errors and meant and self.test:
            if self.test.nsid == ALL or self.test.nsid in meant:
                if trouble != "before":
                    self.end_test(4)
            else:
                errors.add(SELF_TESTING)
        cdw = (form | pi << 5 | ses << 9,)
        cuts = trouble in ("before", "after", "half")
        if cuts:
            self.wire.fault(2, opcode=0x80, outcome=["before", "after", "half"].index(trouble))
            assert self.wire.send(0x80, controller=controller, nsid=nsid, cdw=cdw) == -1
            if errors and trouble != "before":
                self.controllers[controller].errors += 1
        elif trouble == "fails" and meant and not errors:
            self.wire.fault(3)
            self.send(controller, 0x80, {INTERNAL}, nsid=nsid, cdw=cdw)
        else:
            trouble = "none"
            self.send(controller, 0x80, errors, nsid=nsid, cdw=cdw)
        done = set() if errors or trouble == "before" else meant
        if done and done == set(self.ns) and trouble not in ("fails", "half"):
            self.medium.fill(0, 0)  # with every namespace erased, what lay beside them is, too
        for each in done:
            ns = self.ns[each]
            ns.broken = trouble in ("fails", "half")
            if ns.broken:
                continue
            if ns.format != form:
                self.change(ns.attached, each)
            ns.format = form
            self.medium.deallocate(ns.base, ns.held)
        if cuts:
            self.power_cycle()

    @rule(
        controller=controllers_,
        action=st.sampled_from([0, 1, 1, 2, 3, 4, 5]),
        ause=st.booleans(),
        passes=st.integers(0, 15),
        inverts=st.booleans(),
        ndas=st.booleans(),
        pattern=st.integers(1, 255),
        nsid=st.sampled_from([0, 0, 0, 0, 1]),
        fails=st.sampled_from([False, False, False, True]),
        waits=st.booleans(),
    )
    def sanitize(
        self,
        controller: int,
        action: int,
        ause: bool,
        passes: int,
        inverts: bool,
        ndas: bool,
        pattern: int,
        nsid: int,
        fails: bool,
        waits: bool,
    ) -> None:
        assert self.wire
        errors: set[int] = set()
        if nsid:
            errors.add(INVALID_FIELD)
        restricted = self.failed and not self.sanitized["cdw10"] & 8
        if self.sanitizing:
            errors.add(SANITIZING)
        elif action == 1:
            if restricted:
                errors.add(SANITIZE_FAILED)
        else:
            if action not in (2, 3, 4) or (ndas and self.inhibited):
                errors.add(INVALID_FIELD)
            if restricted and ause:
                errors.add(SANITIZE_FAILED)
        cdw10 = action | ause << 3 | passes << 4 | inverts << 8 | ndas << 9
        if fails and not errors and action != 1:
            self.wire.fault(3)
        if not self.send(controller, 0x84, errors, nsid=nsid, cdw=(cdw10, pattern * 0x01010101)):
            return
        self.failed = False
        if action == 1:
            return
        if self.test:
            self.end_test(9)
        last = pattern ^ 0xFF if inverts and (passes or 16) % 2 == 0 else pattern
        keeps = action == 3 and ndas
        self.sanitizing = {"fails": fails, "fill": last if keeps else 0, "mapped": int(keeps)}
        self.sanitized = {"status": 2, "cdw10": cdw10, "passes": (passes or 16) if action == 3 else 0}
        if waits:
            self.long_time()

    @rule()
    def long_time(self) -> None:
        assert self.wire
        self.wire.drive.sleep(36000)
        assert self.wire.send(0x0A, controller=0, cdw=(2,)) == 0  # what has come to its end is seen at the next command
        if self.test:
            self.end_test(0)
        if not self.sanitizing:
            return
        self.failed = self.sanitizing["fails"]
        self.sanitized["status"] = 3 if self.failed else 1
        self.erased = not self.failed
        if not self.failed:
            self.medium.fill(self.sanitizing["fill"], self.sanitizing["mapped"])
        self.sanitizing = None

    @rule(controller=controllers_, code=st.sampled_from([1, 2, 1, 2, 15, 0, 14]), pick=picks)
    def self_test(self, controller: int, code: int, pick: int) -> None:
        nsid = self.pick(controller, pick)
        errors = self.restricted()
        if not errors:
            errors = set() if nsid in (0, ALL) else self.active(controller, nsid)
            if code not in (1, 2, 15):
                errors.add(INVALID_FIELD)
            if self.test and code in (1, 2):
                errors.add(SELF_TESTING)
        if self.send(controller, 0x14, errors, nsid=nsid, cdw=(code,)):
            if code != 15:
                self.test = SelfTest(code, nsid)
            elif self.test:
                self.end_test(1)

    @rule()
    def power_cycle(self) -> None:
        assert self.wire
        self.wire.drive.sim.power_cycle()
        if self.test and self.test.code == 1:
            self.end_test(2)
        for each in self.controllers:
            each.power["now"] = each.power["saved"]
            each.power["operational"] = each.power["now"] if each.power["now"] < 3 else 0
            each.thermal["now"] = each.thermal["saved"]
            each.changed.clear()

    # ---- Features ----

    @rule(controller=controllers_, state=st.integers(0, 5), saves=st.booleans())
    def set_power(self, controller: int, state: int, saves: bool) -> None:
        power = self.controllers[controller].power
        errors = {INVALID_FIELD} if state > 3 else set()
        if self.send(controller, 0x09, errors, cdw=(2 | saves << 31, state)):
            power["now"] = state
            power["operational"] = state if state < 3 else power["operational"]
            power["saved"] = state if saves else power["saved"]

    @rule(controller=controllers_, first=st.integers(310, 356), second=st.integers(310, 356), saves=st.booleans())
    def set_thermal(self, controller: int, first: int, second: int, saves: bool) -> None:
        """5.27.1.16: within MNTMT and MXTMT, the first one lower."""
        good = 313 <= first < second <= 353
        value, thermal = first << 16 | second, self.controllers[controller].thermal
        if self.send(controller, 0x09, set() if good else {INVALID_FIELD}, cdw=(0x10 | saves << 31, value)):
            thermal["now"] = value
            thermal["saved"] = value if saves else thermal["saved"]

    @rule(controller=controllers_, value=st.integers(0, 255), fid=st.sampled_from([0x80, 0x06, 0x0D, 0x01]))
    def set_other(self, controller: int, value: int, fid: int) -> None:
        """The marker is always saved; there is no volatile cache, nor a host memory buffer; arbitration is not kept."""
        saves = fid == 0x01
        errors = {0x80: set(), 0x01: {NOT_SAVEABLE}}.get(fid, {INVALID_FIELD})
        if self.send(controller, 0x09, errors, cdw=(fid | saves << 31, value)):
            self.controllers[controller].marker = value

    @rule(controller=controllers_, select=st.integers(0, 3))
    def get_features(self, controller: int, select: int) -> None:
        assert self.wire
        c = self.controllers[controller]
        for fid, values in (
            (0x02, [c.power["now"], 0, c.power["saved"], 5]),
            (0x10, [c.thermal["now"], 0, c.thermal["saved"], 5]),
            (0x80, [c.marker, 0, c.marker, 5]),
        ):
            assert self.send(controller, 0x0A, set(), cdw=(fid | select << 8,))
            assert self.wire.result == values[select]

    # ---- What it tells ----

    def identify(self, controller: int, cns: int, nsid: int = 0) -> bytes:
        assert self.wire
        assert self.send(controller, 0x06, set(), nsid=nsid, cdw=(cns,), read=4096)
        return self.wire.bytes(4096)

    def log(self, controller: int, lid: int, n: int) -> bytes:
        assert self.wire
        assert self.send(controller, 0x02, set(), nsid=ALL, cdw=(lid | (n // 4 - 1) << 16,), read=n)
        return self.wire.bytes(n)

    @rule(controller=controllers_, nsid=st.integers(1, 16))
    def identities(self, controller: int, nsid: int) -> None:
        attached = [each for each, ns in sorted(self.ns.items()) if controller in ns.attached]
        for cns, wanted in ((0x02, attached), (0x10, sorted(self.ns))):
            assert list(sated.nvme.decode_ns_list(self.identify(controller, cns)).nsid) == wanted
        told = sated.nvme.decode_id_ctrl(self.identify(controller, 0x01))
        assert told.cntlid == controller + 1
        assert told.tnvmcap == self.total * SECTOR
        assert told.unvmcap == (self.total - sum(ns.held for ns in self.ns.values())) * SECTOR
        data, ns = self.identify(controller, 0x11, nsid), self.ns.get(nsid)
        if ns is None:
            assert not any(data)
            return
        assert any(self.identify(controller, 0x00, nsid)) == (nsid in attached)
        unit = sum(self.medium.mapped[ns.base // 8 : (ns.base + ns.held) // 8])
        id_ns = sated.nvme.decode_id_ns(data)
        assert (id_ns.nsze, id_ns.ncap, id_ns.flbas) == (ns.blocks, ns.blocks, ns.format)
        assert id_ns.nuse == min(unit * 8 // ns.sectors, ns.blocks)
        assert (id_ns.nmic, id_ns.nvmcap) == (int(ns.shared), ns.held * SECTOR)
        listed = self.identify(controller, 0x12, nsid)
        assert [le(listed, 2 + 2 * i, 2) - 1 for i in range(le(listed, 0, 2))] == sorted(ns.attached)

    @rule(controller=controllers_)
    def logs(self, controller: int) -> None:
        c = self.controllers[controller]
        smart = sated.nvme.decode_smart_log(self.log(controller, 0x02, 512))
        assert smart.num_err_log_entries == c.errors
        assert list(sated.nvme.decode_ns_list(self.log(controller, 0x04, 4096)).nsid) == sorted(c.changed)
        c.changed.clear()
        data = self.log(controller, 0x81, 512)
        status = le(data, 2, 2)
        assert status & 7 == self.sanitized["status"]
        assert le(data, 4, 4) == self.sanitized["cdw10"]
        assert (le(data, 0, 2) == 0xFFFF) == (self.sanitizing is None)
        if self.sanitized["status"] != 2:
            assert status >> 8 & 1 == self.erased
        if self.sanitized["status"] == 1:
            assert status >> 3 & 31 == self.sanitized["passes"]
        if self.restricted():
            self.send(controller, 0x02, self.restricted(), nsid=ALL, cdw=(0x06 | 140 << 16,), read=564)
            return
        tests = sated.nvme.decode_self_test_log(self.log(controller, 0x06, 564))
        assert tests.operation == (self.test.code if self.test else 0)
        assert [(t.code, t.result, t.nsid or 0) for t in tests.results] == self.tests[:20]

    @invariant()
    def what_holds_data(self) -> None:
        if self.wire:
            assert self.wire.drive.sim.counters.mapped_units == sum(self.medium.mapped)


def run(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        Subsystem,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_commands() -> None:
    run(60, 50)


@pytest.mark.long
def test_a_hundred_thousand_commands() -> None:
    run(1000, 100)
