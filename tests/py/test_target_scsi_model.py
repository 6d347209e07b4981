"""The simulated SAS drive against a second opinion: SPC-5 and SBC-4 once more, in few words of Python.

Random sequences of commands go to both. The model knows nothing of the simulator but the capacity, the mapping unit of
8 KiB and how long its operations take; status, sense data, bytes and the number of mapped units have to agree.
"""

from __future__ import annotations

from typing import Any

import pytest
import sated
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from sated._ffi import ffi, lib

BYTES = 64 << 20
UNIT = 8192
WINDOW = 16 * UNIT  # what is read and written; the rest only by commands for the whole drive
PURGE_S = 40.0

GOOD = (0, 0, 0)
NOT_READY_STOPPED = (2, 0x04, 0x02)
FORMATTING = (2, 0x04, 0x04)
SELF_TESTING = (2, 0x04, 0x09)
SANITIZING = (2, 0x04, 0x1B)
NO_DATA = (0xB, 0x4B, 0x00)
MISCOMPARE = (0xE, 0x1D, 0x00)
OUT_OF_RANGE = (5, 0x21, 0x00)
BAD_CDB = (5, 0x24, 0x00)
BAD_LIST = (5, 0x26, 0x00)
PROTECTED = (7, 0x27, 0x02)
POWER_ON = (6, 0x29, 0x00)
CAPACITY_CHANGED = (6, 0x2A, 0x09)
CORRUPT = (3, 0x31, 0x00)
FORMAT_FAILED = (3, 0x31, 0x01)
SANITIZE_FAILED = (3, 0x31, 0x03)
SELF_TEST_FAILED = (4, 0x3E, 0x03)
LOW_POWER = {"idle_a": 3, "idle_b": 6, "idle_c": 8, "standby_z": 4, "standby_y": 10}

Code = tuple[int, int, int]


class Model:
    """What the standards say."""

    def __init__(self) -> None:
        self.size = self.next_size = 512
        self.blocks = self.next_blocks = BYTES // 512
        self.data = bytearray(WINDOW)
        self.mapped: set[int] = set()
        self.rest_mapped = False
        self.attentions: list[Code] = []
        self.format: Code | None = None
        self.failed: str | None = None  # a sanitize operation: restricted or unrestricted
        self.power = "active"
        self.mode = {"wce": True, "d_sense": False, "swp": False}
        self.saved = dict(self.mode)
        self.tests: list[tuple[int, int]] = []  # code and result, newest first
        self.operation: dict[str, Any] | None = None
        self.fails = False  # the next operation

    @property
    def mapped_units(self) -> int:
        return len(self.mapped) + (BYTES // UNIT - 16 if self.rest_mapped else 0)

    def erase(self, pattern: bytes | None = None) -> None:
        self.data = bytearray(WINDOW) if pattern is None else bytearray(pattern * (WINDOW // len(pattern)))
        self.mapped = set() if pattern is None else set(range(16))
        self.rest_mapped = pattern is not None

    # Operations. What starts one says how long it takes; time and its end are told from outside.

    def start(self, kind: str, seconds: float, **more: Any) -> None:
        self.abort_test(2)
        self.operation = {"kind": kind, "seconds": seconds, "fails": self.fails, **more}
        self.fails = False

    def abort_test(self, result: int) -> None:
        if self.operation and self.operation["kind"] == "test":
            self.tests.insert(0, (self.operation["code"], result))
            self.operation = None

    def finish(self) -> None:
        o, self.operation = self.operation, None
        assert o
        if o["kind"] == "test":
            self.tests.insert(0, (o["code"], 7 if o["fails"] else 0))
        elif o["kind"] == "format":
            self.format = FORMAT_FAILED if o["fails"] else None
            if not o["fails"]:
                self.erase()
                if (self.size, self.blocks) != (self.next_size, self.next_blocks):
                    self.attend(CAPACITY_CHANGED)
                self.size, self.blocks = self.next_size, self.next_blocks
        elif o["fails"]:
            self.failed = "unrestricted" if o["ause"] else "restricted"
        else:
            self.failed = None
            self.erase(o["pattern"])
            if o["pattern"] is not None:
                self.format = None

    def attend(self, code: Code) -> None:
        if code not in self.attentions:
            self.attentions.append(code)

    def power_cycle(self) -> None:
        self.abort_test(2)
        if self.operation and self.operation["kind"] == "format":
            self.operation = None
            self.format = CORRUPT
        self.mode = dict(self.saved)
        self.power = "active"
        self.attentions = [POWER_ON]

    def condition(self) -> Code:
        """What REQUEST SENSE tells."""
        kind = self.operation and self.operation["kind"]
        if kind in ("format", "sanitize"):
            return FORMATTING if kind == "format" else SANITIZING
        if self.power == "stopped":
            return NOT_READY_STOPPED
        if self.failed:
            return SANITIZE_FAILED
        if self.format or self.size != self.next_size:
            return self.format or CORRUPT
        if kind == "test":
            return SELF_TESTING
        return (0, 0x5E, LOW_POWER[self.power]) if self.power != "active" else GOOD

    def gate(
        self, *, exempt: bool = False, report: bool = False, medium: bool = True, repair: bool = False,
        sanitizes: bool = False, writes: bool = False,
    ) -> Code:  # fmt: skip
        """Whether a command is let through, and what else it is told. exempt: of unit attentions; report: in every
        state; medium: needs a drive that is ready, and with repair not one that is formatted."""
        if self.attentions and not exempt:
            return self.attentions.pop(0)
        now = self.condition()
        busy = now in (FORMATTING, SANITIZING)
        if (
            (busy and not (exempt or report))
            or (now == NOT_READY_STOPPED and medium)
            or (now == SANITIZE_FAILED and not (exempt or report or sanitizes))
            or (now in (CORRUPT, FORMAT_FAILED) and medium and not repair)
        ):
            return now
        return PROTECTED if writes and self.mode["swp"] else GOOD


class Drives(RuleBasedStateMachine):
    commands = 0  # sent by all of them

    def __init__(self) -> None:
        super().__init__()
        self.drive = sated.open("sim:small-sas")
        self.model = Model()
        self.began = 0.0

    def teardown(self) -> None:
        self.drive.close()

    # ---- Sending ----

    def update(self) -> None:
        """Lets the model's operation end when the drive's clock says so; a moment that is too close is let pass."""
        o = self.model.operation
        if not o:
            return
        left = self.began + o["seconds"] - self.drive.now_s()
        if -0.01 < left < 0.02:
            self.drive.sleep(0.1)
            left = -1
        if left < 0:
            self.model.finish()

    def send(self, cdb: bytes, expected: Code, data_in: int = 0, data_out: bytes | None = None) -> bytes:
        Drives.commands += 1
        desc = self.model.mode["d_sense"]
        try:
            told = self.drive.scsi(cdb, data_in, data_out)
        except sated.DriveError as e:
            told = e.reply
        code = GOOD
        if told.status:
            sense = sated.scsi.decode_sense(told.sense)
            code = (sense.key, sense.asc, sense.ascq)
            assert sense.descriptor_format == desc
        assert code == expected, (cdb.hex(" "), code, expected, vars(self.model))
        if not self.model.operation:
            counters = self.drive.sim.counters
            assert counters.mapped_units == self.model.mapped_units
        assert self.drive.identity.capacity_bytes == self.model.blocks * self.model.size
        return bytes(told.data) if told.data and code == GOOD else b""

    def run_operation(self, cdb: bytes, data_out: bytes | None, immed: bool) -> None:
        """What the model has started. One that is waited for ends, well or not."""
        m = self.model
        o = m.operation
        assert o
        expected = GOOD
        self.began = self.drive.now_s()
        if not immed:
            m.finish()
            if o["fails"]:
                expected = {"format": FORMAT_FAILED, "sanitize": SANITIZE_FAILED, "test": SELF_TEST_FAILED}[o["kind"]]
            elif o["kind"] == "format" and m.condition() in (CORRUPT, SANITIZE_FAILED):
                expected = m.condition()
        self.send(cdb, expected, 0, data_out)

    def ready_for(self, length: int, lba: int, **how: Any) -> Code:
        code = self.model.gate(**how)
        if code == GOOD and self.model.power != "active":
            self.model.power = "active"
        return OUT_OF_RANGE if code == GOOD and lba + length > self.model.blocks else code

    # ---- What changes nothing ----

    @rule()
    def test_unit_ready(self) -> None:
        self.update()
        self.send(bytes(6), self.model.gate())

    @rule(desc=st.booleans())
    def request_sense(self, desc: bool) -> None:
        self.update()
        m = self.model
        expected = m.attentions.pop(0) if m.attentions else m.condition()
        now = self.drive.now_s()
        sense = sated.scsi.decode_sense(self.send(bytes([3, desc, 0, 0, 252, 0]), GOOD, 252))
        assert (sense.key, sense.asc, sense.ascq) == expected and sense.descriptor_format == desc
        if expected in (FORMATTING, SANITIZING, SELF_TESTING):
            assert m.operation and sense.progress is not None
            assert abs(sense.progress / 65535 - (now - self.began) / m.operation["seconds"]) < 0.01
        else:
            assert sense.progress is None

    @rule()
    def inquiry(self) -> None:
        self.update()
        assert sated.scsi.decode_inquiry(self.send(bytes([0x12, 0, 0, 0, 96, 0]), GOOD, 96)).vendor == "STEC"

    @rule()
    def read_capacity(self) -> None:
        self.update()
        code = self.ready_for(0, 0)
        data = self.send(bytes([0x9E, 0x10, *bytes(11), 32, 0, 0]), code, 32)
        if code == GOOD:
            told = sated.scsi.decode_capacity_16(data)
            assert (told.blocks, told.block_bytes) == (self.model.blocks, self.model.size)

    @rule()
    def mode_sense(self) -> None:
        self.update()
        m = self.model
        code = m.gate(medium=False)
        data = self.send(bytes([0x5A, 0x10, 0x3F, 0, 0, 0, 0, 2, 0, 0]), code, 512)
        if code != GOOD:
            return
        told = sated.scsi.decode_mode(data)
        assert (told.blocks[0].number_of_blocks, told.blocks[0].block_bytes) == (m.next_blocks, m.next_size)
        assert told.wp == m.mode["swp"]
        at = {p.page: p.offset for p in told.pages}
        assert bool(data[at[8] + 2] & 4) == m.mode["wce"] and bool(data[at[10] + 2] & 4) == m.mode["d_sense"]

    @rule()
    def self_test_log(self) -> None:
        self.update()
        m = self.model
        code = m.gate(medium=False)
        data = self.send(bytes([0x4D, 0, 0x50, 0, 0, 0, 0, 2, 0, 0]), code, 512)
        if code == GOOD:
            tests = [(t.code, t.result) for t in sated.scsi.decode_log_page(data).tests]
            running = [(m.operation["code"], 15)] if m.operation and m.operation["kind"] == "test" else []
            assert tests == (running + m.tests)[:20]

    @rule()
    def temperature(self) -> None:
        self.update()
        self.send(bytes([0x4D, 0, 0x4D, 0, 0, 0, 0, 0, 64, 0]), self.model.gate(report=True, medium=False), 64)

    # ---- Blocks ----

    lbas = st.integers(0, WINDOW // 512 + 2)
    lengths = st.integers(0, 40)

    def span(self, lba: int, blocks: int) -> slice:
        return slice(lba * self.model.size, (lba + blocks) * self.model.size)

    def clip(self, lba: int, blocks: int) -> tuple[int, int]:
        """Within the window, unless the window ends where the drive does."""
        most = WINDOW // self.model.size
        if lba < most:
            return lba, min(blocks, most - lba)
        return self.model.blocks - most + lba if self.model.blocks > most else lba, blocks

    @rule(lba=lbas, blocks=lengths, long=st.booleans())
    def read(self, lba: int, blocks: int, long: bool) -> None:
        self.update()
        m = self.model
        lba, blocks = self.clip(lba, blocks)
        code = self.ready_for(blocks, lba)
        cdb = (
            bytes([0x88, 0, *lba.to_bytes(8, "big"), *blocks.to_bytes(4, "big"), 0, 0])
            if long
            else bytes([0x28, 0, *lba.to_bytes(4, "big"), 0, *blocks.to_bytes(2, "big"), 0])
        )
        data = self.send(cdb, code, blocks * m.size)
        if code == GOOD and (lba + blocks) * m.size <= WINDOW:
            assert data == m.data[self.span(lba, blocks)]

    def put(self, lba: int, data: bytes) -> None:
        m = self.model
        m.data[lba * m.size : lba * m.size + len(data)] = data
        m.mapped.update(range(lba * m.size // UNIT, (lba * m.size + len(data) + UNIT - 1) // UNIT))

    def drop(self, lba: int, blocks: int) -> None:
        m = self.model
        span = self.span(lba, blocks)
        m.data[span] = bytes(blocks * m.size)
        m.mapped -= set(range((span.start + UNIT - 1) // UNIT, span.stop // UNIT))

    @rule(lba=st.integers(0, WINDOW // 512 - 1), blocks=lengths, fill=st.integers(0, 255), fua=st.booleans())
    def write(self, lba: int, blocks: int, fill: int, fua: bool) -> None:
        self.update()
        m = self.model
        lba, blocks = self.clip(lba % (WINDOW // m.size), blocks)
        code = self.ready_for(blocks, lba, writes=True)
        data = bytes((fill + i) & 255 for i in range(blocks)) * m.size
        if code == GOOD and blocks:
            self.put(lba, data)
        self.send(
            bytes([0x2A, 8 * fua, *lba.to_bytes(4, "big"), 0, *blocks.to_bytes(2, "big"), 0]), code, 0, data or None
        )

    @rule(lba=st.integers(0, WINDOW // 512 - 1), blocks=lengths)
    def unmap(self, lba: int, blocks: int) -> None:
        self.update()
        lba, blocks = self.clip(lba % (WINDOW // self.model.size), blocks)
        code = self.ready_for(blocks, lba, writes=True)
        if code == GOOD:
            self.drop(lba, blocks)
        data = bytes([0, 22, 0, 16, 0, 0, 0, 0, *lba.to_bytes(8, "big"), *blocks.to_bytes(4, "big"), 0, 0, 0, 0])
        self.send(bytes([0x42, 0, 0, 0, 0, 0, 0, 0, 24, 0]), code, 0, data)

    @rule(
        lba=st.integers(0, WINDOW // 512 - 1), blocks=st.integers(1, 40), fill=st.integers(0, 2),
        unmap=st.booleans(), ndob=st.booleans(),
    )  # fmt: skip
    def write_same(self, lba: int, blocks: int, fill: int, unmap: bool, ndob: bool) -> None:
        self.update()
        m = self.model
        lba, blocks = self.clip(lba % (WINDOW // m.size), blocks)
        code = self.ready_for(blocks, lba, writes=True)
        block = bytes(m.size) if ndob else bytes([fill]) * m.size
        if code == GOOD and unmap and not any(block):
            self.drop(lba, blocks)
        elif code == GOOD:
            self.put(lba, block * blocks)
        cdb = bytes([0x93, 8 * unmap | ndob, *lba.to_bytes(8, "big"), *blocks.to_bytes(4, "big"), 0, 0])
        self.send(cdb, code, 0, None if ndob else block)

    @rule(lba=st.integers(0, WINDOW // 512 - 1), right=st.booleans())
    def verify(self, lba: int, right: bool) -> None:
        self.update()
        m = self.model
        lba %= WINDOW // m.size
        code = self.ready_for(1, lba)
        data = bytearray(m.data[self.span(lba, 1)])
        data[-1] ^= not right
        if code == GOOD and not right:
            code = MISCOMPARE
        self.send(bytes([0x2F, 2, *lba.to_bytes(4, "big"), 0, 0, 1, 0]), code, 0, bytes(data))

    @rule(lba=st.integers(0, WINDOW // 512 - 1))
    def short_of_data(self, lba: int) -> None:
        self.update()
        lba %= WINDOW // self.model.size
        code = self.ready_for(1, lba, writes=True)
        self.send(
            bytes([0x2A, 0, *lba.to_bytes(4, "big"), 0, 0, 1, 0]), NO_DATA if code == GOOD else code, 0, bytes(256)
        )

    # ---- Modes and size ----

    @rule(name=st.sampled_from(["wce", "d_sense", "swp"]), value=st.booleans(), save=st.booleans())
    def mode_select(self, name: str, value: bool, save: bool) -> None:
        self.update()
        m = self.model
        code = m.gate(medium=False)
        after = {**m.mode, name: value}
        if name == "wce":
            page = bytes([0x08, 0x12, 0x10 | 4 * value, 0, 255, 255, 0, 0, 255, 255, 255, 255, 0x80, 0x20, *bytes(6)])
        else:
            page = bytes([0x0A, 0x0A, 4 * after["d_sense"], 0x10, 8 * after["swp"], 0x40, 0, 0, 255, 255, 2, 0x58])
        self.send(bytes([0x15, 0x10 | save, 0, 0, 4 + len(page), 0]), code, 0, bytes(4) + page)
        if code == GOOD:
            m.mode = after
            if save:
                m.saved = dict(after)

    @rule(
        size=st.sampled_from([512, 512, 4096, 4096, 520]),
        choice=st.sampled_from(["all", "half", "window", "zero", "ones", "more"]),
        long=st.booleans(),
    )
    def resize(self, size: int, choice: str, long: bool) -> None:
        self.update()
        m = self.model
        code = m.gate(medium=False)
        largest, ones = BYTES // size, 2 ** (64 if long else 32) - 1
        number = {
            "all": largest,
            "half": largest // 2,
            "window": WINDOW // size,
            "zero": 0,
            "ones": ones,
            "more": largest + 1,
        }[choice]
        if code == GOOD and (size == 520 or choice == "more"):
            code = BAD_LIST
        if code == GOOD:
            blocks = number
            if number == ones or (not number and size != m.next_size):
                blocks = largest
            elif not number:
                blocks = m.next_blocks
            m.next_size, m.next_blocks = size, blocks
            m.saved = dict(m.mode)  # SP saves all the pages there are, sent or not (SPC-5, MODE SELECT(6))
            if size == m.size:
                m.blocks = blocks
        descriptor = (
            number.to_bytes(8, "big") + bytes(4) + size.to_bytes(4, "big")
            if long
            else number.to_bytes(4, "big") + size.to_bytes(4, "big")
        )
        header = bytes([0, 0, 0, 0, long, 0, 0, len(descriptor)])
        n = len(header + descriptor)
        self.send(bytes([0x55, 0x11, 0, 0, 0, 0, 0, 0, n, 0]), code, 0, header + descriptor)

    # ---- All of it ----

    @rule(immed=st.booleans(), ffmt=st.sampled_from([0, 1, 2, 3]))
    def format_unit(self, immed: bool, ffmt: int) -> None:
        self.update()
        code = self.ready_for(0, 0, repair=True, writes=True)
        if code == GOOD and ffmt == 3:
            code = BAD_CDB
        cdb, data = bytes([4, 0x18, 0, 0, ffmt, 0]), bytes([0, 2 * immed, 0, 0])
        if code != GOOD:
            self.send(cdb, code, 0, data)
            return
        self.model.start("format", PURGE_S / 16 if ffmt else PURGE_S)
        self.run_operation(cdb, data, immed)

    @rule(action=st.sampled_from([1, 2, 3]), immed=st.booleans(), ause=st.booleans(), passes=st.integers(0, 3))
    def sanitize(self, action: int, immed: bool, ause: bool, passes: int) -> None:
        self.update()
        m = self.model
        code = self.ready_for(0, 0, repair=True, sanitizes=True, writes=True)
        data = bytes([passes, 0, 0, 2, 0xC3, 0x3C]) if action == 1 else None
        if code == GOOD and m.failed == "restricted" and ause:
            code = BAD_CDB
        elif code == GOOD and action == 1 and not passes:
            code = BAD_LIST
        cdb = bytes([0x48, 0x80 * immed | 0x20 * ause | action, *bytes(6), len(data or b""), 0])
        if code != GOOD:
            self.send(cdb, code, 0, data)
            return
        seconds = {1: passes * BYTES / 450e6, 2: PURGE_S, 3: PURGE_S / 16}[action]
        m.start("sanitize", seconds, ause=ause, pattern=b"\xc3\x3c" if action == 1 else None)
        self.run_operation(cdb, data, immed)

    @rule()
    def exit_failure(self) -> None:
        self.update()
        m = self.model
        code = self.ready_for(0, 0, repair=True, sanitizes=True, writes=True)
        if code == GOOD and m.failed == "restricted":
            code = BAD_CDB
        if code == GOOD:
            m.failed = None
        self.send(bytes([0x48, 0x1F, *bytes(8)]), code)

    @rule()
    @precondition(lambda self: not self.model.fails)
    def next_one_fails(self) -> None:
        fault = ffi.new("struct sated_sim_fault *")
        lib.sated_sim_fault_init(fault)
        fault.kind, fault.count = lib.SATED_FAULT_OPERATION_FAILS, 1
        assert lib.sated_sim_fail(self.drive._handle, fault) == 0
        self.model.fails = True

    @rule(seconds=st.sampled_from([0.01, 1.0, 3.0, 20.0, 50.0, 700.0]))
    def sleep(self, seconds: float) -> None:
        self.drive.sleep(seconds)

    @rule()
    def power_cycle(self) -> None:
        self.update()
        self.drive.sim.power_cycle()
        self.model.power_cycle()

    # ---- Power and self-tests ----

    @rule(
        power=st.sampled_from(
            [("stopped", 0, 0), ("active", 1, 0), ("active", 0x10, 0), ("idle_a", 0x20, 0), ("idle_b", 0x20, 1),
             ("idle_c", 0x20, 2), ("standby_z", 0x30, 0), ("standby_y", 0x30, 1), ("", 0x20, 3), ("", 0x50, 0)]
        )
    )  # fmt: skip
    def start_stop(self, power: tuple[str, int, int]) -> None:
        self.update()
        m = self.model
        to, condition, modifier = power
        code = m.gate(medium=False)
        if code == GOOD and not to:
            code = BAD_CDB
        if code == GOOD:
            if "stopped" in (to, m.power):
                m.abort_test(2)
            m.power = to
        self.send(bytes([0x1B, 0, 0, modifier, condition, 0]), code)

    @rule(code=st.sampled_from([0, 1, 2, 3, 4, 5, 6]))
    def send_diagnostic(self, code: int) -> None:
        self.update()
        m = self.model
        expected = self.ready_for(0, 0, repair=True)
        testing = m.operation is not None and m.operation["kind"] == "test"
        if expected == GOOD and (code == 3 or (code == 4 and not testing)):
            expected = BAD_CDB
        elif expected == GOOD and testing and code in (1, 2, 5, 6):
            # SPC-5 leaves open what else stands in the way; the drive tells the most important.
            expected = m.condition()
        elif expected == GOOD and code == 4:
            m.abort_test(1)
        elif expected == GOOD and code:
            m.start("test", 600.0 if code in (2, 6) else 60.0, code=code)
            self.run_operation(bytes([0x1D, code << 5, 0, 0, 0, 0]), None, code < 4)
            return
        self.send(bytes([0x1D, code << 5, 0, 0, 0, 0]), expected)


@pytest.fixture(scope="module", autouse=True)
def small_drive() -> None:
    """The model s840 with 64 MiB."""
    text = sated.sim.model_text("s840").replace("[800166076416,", f"[{BYTES},")
    sated.sim.add_model("small-sas", text.replace("[1099511627776,", f"[{2 * BYTES},"))


def run(examples: int, steps: int, commands: int) -> None:
    Drives.commands = 0
    run_state_machine_as_test(
        Drives,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Drives.commands >= commands


def test_some_commands() -> None:
    run(30, 100, 2000)


@pytest.mark.long
def test_many_commands() -> None:
    run(1200, 120, 100_000)
