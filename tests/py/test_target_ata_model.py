"""The simulated ATA drive's state machines against a small model of them, written from ACS-4 (Security 4.18, Sanitize
4.17, AMAC 7.2), ATA8-ACS (HPA 4.10) and ACS-2 (DCO 4.8), by random sequences of commands."""

from __future__ import annotations

import struct
from typing import Any

import pytest
import sated
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sated import ata

UNIT = 4096
PASSWORDS = st.sampled_from([bytes(32), b"alpha", b"beta"])
MOSTLY = st.sampled_from([True, True, True, False])
MAKER = bytes(32)  # the master password that it comes with: 32 bytes of zero
OK, ABRT, IDNF = "ok", 0x04, 0x10

sated.sim.add_model(
    "model-ata", sated.sim.model_text("generic").replace('protocol = { value = "none"', 'protocol = { value = "ata"')
)
URI = "sim:model-ata,blocks=64,pages_per_block=8,channels=2,dies=1,op=0.6,capacitors=on,buffer_stripes=1"


class Machine(RuleBasedStateMachine):
    """Each rule sends one command, and says by the model how it must end."""

    drive: Any
    commands = 0
    amac = False

    @initialize()
    def begin(self) -> None:
        self.drive = sated.open(f"{URI},max_address={'amac' if self.amac else 'hpa'}")
        self.all = self.drive.identity.capacity_bytes // UNIT
        # Contents: what each unit is filled with, None for one without a page.
        self.unit: list[bytes | None] = [None] * self.all
        # Security
        self.user: bytes | None = None
        self.master, self.revision, self.maximum = MAKER, 0xFFFE, False
        # Sanitize
        self.busy: str | None = None
        self.failed = self.may_end = self.done = False
        # Capacity, in units: now, after power-on, and what the overlay leaves
        self.now = self.kept = self.overlay = self.all
        self.overlaid = False
        self.kept_ext = False  # the form of the command that made the area there is after power-on
        self.on()

    def on(self) -> None:
        """What power-on sets back."""
        self.locked, self.frozen, self.tries = self.user is not None, False, 5
        self.sanitize_frozen = self.antifreeze = False
        self.now, self.kept_once, self.amac_frozen, self.overlay_frozen = self.kept, False, False, False
        self.ext_area = self.kept_ext
        self.max_state, self.max_password, self.max_tries = "inactive", bytes(32), 0
        self.before = ""

    def teardown(self) -> None:
        if not hasattr(self, "drive"):
            return
        if self.allowed():
            told = self.send("read", ata.build_read(0, self.now * 8), OK).data
            assert told == b"".join((unit or bytes(4)) * (UNIT // 4) for unit in self.unit[: self.now])
        self.drive.close()

    # ---- sending ----

    def send(self, name: str, command: ata.Command, expected: object) -> Any:
        Machine.commands += 1
        error: object = OK
        try:
            reply = self.drive.ata(command)
        except sated.DriveError as refused:
            reply, error = refused.reply, refused.reply.registers.error
        assert error == expected, f"{name}: {error}, and {expected} by the model"
        self.before = name if error == OK else ""
        return reply

    def allowed(self, *, locked: bool = False, sanitizing: bool = False) -> bool:
        """Whether a command that is good while locked, or while a sanitize goes on or has failed, gets through."""
        return (locked or not self.locked) and (sanitizing or not (self.busy or self.failed))

    # ---- media ----

    @rule(data=st.data(), byte=st.binary(min_size=1, max_size=1))
    def write(self, data: st.DataObject, byte: bytes) -> None:
        at = data.draw(st.integers(0, self.all - 1))
        expected = ABRT if not self.allowed() else OK if at < self.now else IDNF
        self.send("write", ata.build_write(at * 8, byte * UNIT), expected)
        if expected == OK:
            self.unit[at] = byte * 4

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, self.all - 1))
        expected = ABRT if not self.allowed() else OK if at < self.now else IDNF
        reply = self.send("read", ata.build_read(at * 8, 8), expected)
        if expected == OK:
            assert reply.data == (self.unit[at] or bytes(4)) * (UNIT // 4), f"unit {at}"

    @rule(data=st.data(), n=st.integers(1, 20))
    def trim(self, data: st.DataObject, n: int) -> None:
        at = data.draw(st.integers(0, self.all - n))
        expected = ABRT if not self.allowed() else OK if at + n <= self.now else IDNF
        self.send("trim", ata.build_trim([(at * 8, n * 8)]), expected)
        if expected == OK:
            self.unit[at : at + n] = [None] * n

    @rule()
    def flush(self) -> None:
        self.send("flush", ata.build_flush_cache(), OK if self.allowed() else ABRT)

    # ---- security ----

    def guess(self, right: bool, master: bool) -> bytes:
        known = self.master if master else self.user
        return known if right and known is not None else b"gamma"

    def fits(self, password: bytes, master: bool, *, opens: bool) -> bool:
        if not master:
            return self.user == password
        return self.master == password and not (opens and self.user is not None and self.maximum)

    @rule(password=PASSWORDS, maximum=st.booleans())
    def set_user(self, password: bytes, maximum: bool) -> None:
        good = self.allowed() and not self.frozen
        self.send("set", ata.build_security_set_password(password, maximum=maximum), OK if good else ABRT)
        if good:
            self.user, self.maximum = password, maximum

    @rule(password=PASSWORDS, revision=st.sampled_from([0, 1, 0xFFFE]))
    def set_master(self, password: bytes, revision: int) -> None:
        good = self.allowed() and not self.frozen
        command = ata.build_security_set_password(password, master=True, revision=revision)
        self.send("set", command, OK if good else ABRT)
        if good:
            self.master, self.revision = password, revision or self.revision

    @rule(right=MOSTLY, master=st.booleans())
    def unlock(self, right: bool, master: bool) -> None:
        password = self.guess(right, master)
        through = self.allowed(locked=True) and not self.frozen
        good = through and self.tries > 0 and self.fits(password, master, opens=True)
        self.send("unlock", ata.build_security_unlock(password, master=master), OK if good else ABRT)
        if good:
            self.locked = False
        elif through and self.locked and self.tries:
            self.tries -= 1

    @rule(right=MOSTLY, master=st.booleans())
    def disable(self, right: bool, master: bool) -> None:
        password = self.guess(right, master)
        good = self.allowed() and not self.frozen and self.fits(password, master, opens=True)
        self.send("disable", ata.build_security_disable_password(password, master=master), OK if good else ABRT)
        if good:
            self.user, self.maximum = None, False

    @rule()
    def freeze(self) -> None:
        good = self.allowed()
        self.send("freeze", ata.build_security_freeze_lock(), OK if good else ABRT)
        self.frozen = self.frozen or good

    @rule()
    def prepare(self) -> None:
        good = self.allowed(locked=True) and not self.frozen
        self.send("prepare", ata.build_security_erase_prepare(), OK if good else ABRT)

    @rule(right=MOSTLY, master=st.booleans(), enhanced=st.booleans(), prepares=MOSTLY)
    def erase(self, right: bool, master: bool, enhanced: bool, prepares: bool) -> None:
        password = self.guess(right, master)
        if prepares:
            self.prepare()
        good = (
            self.allowed(locked=True)
            and not self.frozen
            and self.before == "prepare"
            and self.tries > 0
            and self.fits(password, master, opens=False)
        )
        command = ata.build_security_erase_unit(password, master=master, enhanced=enhanced, timeout_ms=60000)
        self.send("erase", command, OK if good else ABRT)
        if good:
            end = self.all if enhanced else self.now
            self.unit[:end] = [None] * end
            self.user, self.maximum, self.locked = None, False, False

    # ---- sanitize ----

    def sanitize(self, command: ata.Command, *, freezes: bool = False) -> bool:
        good = not self.locked and not self.busy
        good = good and not (self.failed if freezes else self.sanitize_frozen)
        reply = self.send("sanitize", command, OK if good else ABRT)
        if not good and self.sanitize_frozen and not self.locked and not self.busy and not freezes:
            assert ata.decode_sanitize_status(reply.sense).reason == ata.SanitizeReason.FROZEN
        return good

    @rule(kind=st.sampled_from(["block", "crypto"]), may_end=st.booleans(), fails=st.booleans())
    def sanitize_start(self, kind: str, may_end: bool, fails: bool) -> None:
        build = ata.build_sanitize_block_erase if kind == "block" else ata.build_sanitize_crypto_scramble
        if fails and not self.locked and not self.busy and not self.sanitize_frozen:
            fail_next(self.drive)
        else:
            fails = False
        if self.sanitize(build(failure_mode=may_end)):
            self.busy, self.failed, self.done, self.may_end = "fails" if fails else kind, False, False, may_end

    @rule(pattern=st.integers(0, 2**32 - 1), passes=st.integers(1, 4), invert=st.booleans(), definitive=st.booleans())
    def overwrite(self, pattern: int, passes: int, invert: bool, definitive: bool) -> None:
        command = ata.build_sanitize_overwrite(pattern, passes=passes, invert=invert, definitive_ending=definitive)
        if self.sanitize(command):
            self.drive.sleep(3600)
            if invert and not definitive and passes % 2 == 0:
                pattern ^= 0xFFFFFFFF
            self.unit = [struct.pack("<I", pattern)] * self.all
            self.failed, self.done, self.may_end = False, True, False
            self.status(clear=False)

    @rule(lock=st.sampled_from(["freeze", "antifreeze"]))
    def sanitize_lock(self, lock: str) -> None:
        other = self.antifreeze if lock == "freeze" else self.sanitize_frozen
        good = not (self.locked or self.busy or self.failed or other)
        build = ata.build_sanitize_freeze_lock if lock == "freeze" else ata.build_sanitize_antifreeze_lock
        self.send("sanitize", build(), OK if good else ABRT)
        if good and lock == "freeze":
            self.sanitize_frozen = True
        elif good:
            self.antifreeze = True

    @rule()
    def wait(self) -> None:
        self.drive.sleep(3600)
        if self.busy == "fails":
            self.failed = True
        elif self.busy:
            self.unit, self.done = [None] * self.all, True
        self.busy = None
        self.status(clear=False)

    @rule(clear=MOSTLY)
    def status(self, clear: bool) -> None:
        if self.failed and clear and self.may_end:
            self.failed = False
        reply = self.send("status", ata.build_sanitize_status(clear=clear), ABRT if self.failed else OK)
        told = ata.decode_sanitize_status(reply.sense)
        if self.failed:
            assert told.reason == ata.SanitizeReason.UNSUCCESSFUL
        else:
            assert (told.in_progress, told.completed) == (self.busy is not None, self.done)
            assert (told.frozen, told.antifreeze) == (self.sanitize_frozen, self.antifreeze)

    # ---- Host Protected Area ----

    @rule(ext=st.booleans())
    def native(self, ext: bool) -> None:
        good = self.allowed(locked=True) and not self.amac
        reply = self.send(f"native {ext}", ata.build_read_native_max(ext=ext), OK if good else ABRT)
        if good:
            assert ata.decode_native_max(reply.sense).sectors == self.overlay * 8

    @rule(data=st.data(), keep=st.booleans(), ext=st.booleans(), asks=MOSTLY)
    def set_max(self, data: st.DataObject, keep: bool, ext: bool, asks: bool) -> None:
        size = data.draw(st.integers(1, self.all + 1) | st.just(self.all))
        if asks:
            self.native(ext)
        expected: object = OK
        if (
            not self.allowed()
            or self.amac
            or self.max_state in ("locked", "frozen")
            or self.before != f"native {ext}"
            or (self.now != self.overlay and self.ext_area != ext)
            or size > self.overlay
        ):
            expected = ABRT
        elif keep and self.kept_once:
            expected = IDNF
        self.send("set max", ata.build_set_max(size * 8 - 1, keep=keep, ext=ext), expected)
        if expected == OK:
            self.now, self.ext_area = size, ext
            if keep:
                self.kept, self.kept_ext, self.kept_once = size, ext, True

    def max_lock(self, name: str, command: ata.Command, good: bool) -> bool:
        # Right after READ NATIVE MAX ADDRESS it would be taken as SET MAX ADDRESS (ATA8-ACS 7.52.1).
        if self.before == "native False":
            self.identify()
        good = good and self.allowed() and not self.amac
        self.send(name, command, OK if good else ABRT)
        return good

    @rule(password=PASSWORDS)
    def max_set_password(self, password: bytes) -> None:
        good = self.max_state in ("inactive", "unlocked")
        if self.max_lock("max", ata.build_set_max_password(password), good):
            self.max_state, self.max_password = "unlocked", password

    @rule()
    def max_set_lock(self) -> None:
        if self.max_lock("max", ata.build_set_max_lock(), self.max_state in ("unlocked", "locked")):
            if self.max_state == "unlocked":
                self.max_tries = 5
            self.max_state = "locked"

    @rule(right=MOSTLY)
    def max_unlock(self, right: bool) -> None:
        password = self.max_password if right else b"gamma"
        through = self.max_state == "locked" and self.max_tries > 0
        if self.max_lock("max", ata.build_set_max_unlock(password), through and password == self.max_password):
            self.max_state = "unlocked"
        elif through and self.allowed() and not self.amac:
            self.max_tries -= 1

    @rule()
    def max_freeze(self) -> None:
        if self.max_lock("max", ata.build_set_max_freeze_lock(), self.max_state in ("unlocked", "locked")):
            self.max_state = "frozen"

    # ---- AMAC ----

    @precondition(lambda self: self.amac)
    @rule(data=st.data())
    def accessible(self, data: st.DataObject) -> None:
        size = data.draw(st.integers(1, self.all + 1) | st.just(self.all))
        good = self.allowed() and not self.amac_frozen and not self.kept_once and size <= self.all
        self.send("amac", ata.build_set_accessible_max(size * 8 - 1), OK if good else ABRT)
        if good:
            self.now = self.kept = size
            self.kept_once = True

    @rule(freezes=st.booleans())
    def accessible_others(self, freezes: bool) -> None:
        good = self.amac and self.allowed(locked=not freezes)
        build = ata.build_freeze_accessible_max if freezes else ata.build_get_native_max
        reply = self.send("amac", build(), OK if good else ABRT)
        if good and freezes:
            self.amac_frozen = True
        elif good:
            assert ata.decode_native_max(reply.sense).sectors == self.all * 8

    # ---- DCO ----

    def dco(self, command: ata.Command, good: bool) -> Any:
        good = good and self.allowed() and not self.amac and not self.overlay_frozen
        return self.send("dco", command, OK if good else ABRT), good

    @rule()
    def dco_identify(self) -> None:
        reply, good = self.dco(ata.build_dco_identify(), True)
        if good:
            assert ata.decode_dco(reply.data).sectors == self.all * 8

    @rule(data=st.data())
    def dco_set(self, data: st.DataObject) -> None:
        size = data.draw(st.integers(1, self.all))
        answer = bytearray(512)
        struct.pack_into("<HHHQHH", answer, 0, 2, 7, 0x7F, self.all * 8 - 1, 0x088F, 1)
        answer[510] = 0xA5
        answer[511] = -sum(answer) & 0xFF
        hidden = self.now != self.overlay or self.kept != self.overlay
        _, good = self.dco(ata.build_dco_set(bytes(answer), max_lba=size * 8 - 1), not hidden and not self.overlaid)
        if good:
            self.overlay = self.kept = self.now = size
            self.overlaid = True

    @rule()
    def dco_restore(self) -> None:
        hidden = self.now != self.overlay or self.kept != self.overlay
        _, good = self.dco(ata.build_dco_restore(), not hidden)
        if good:
            self.overlay = self.kept = self.now = self.all
            self.overlaid = False

    @rule()
    def dco_freeze(self) -> None:
        _, good = self.dco(ata.build_dco_freeze_lock(), True)
        self.overlay_frozen = self.overlay_frozen or good

    # ---- everything ----

    @rule(unlocks=MOSTLY)
    def cycle(self, unlocks: bool) -> None:
        self.drive.sim.power_cycle()
        self.on()
        if unlocks and self.user is not None and not (self.busy or self.failed):
            self.send("unlock", ata.build_security_unlock(self.user), OK)
            self.locked = False

    @rule()
    def identify(self) -> None:
        told = ata.decode_identify(self.send("identify", ata.build_identify_device(), OK).data)
        assert told.capacity.bytes == self.now * UNIT
        s = told.security
        assert (s.enabled, s.locked, s.frozen, s.count_expired, s.level, s.master_revision) == (
            self.user is not None,
            self.locked,
            self.frozen,
            self.tries == 0,
            self.maximum,
            self.revision,
        )
        assert bool(told.areas.set_max_locked) == (self.max_state != "inactive" and not self.amac)

    @invariant()
    def pages(self) -> None:
        if hasattr(self, "drive"):
            assert self.drive.sim.counters.mapped_units == sum(unit is not None for unit in self.unit)
            assert self.drive.identity.capacity_bytes == self.now * UNIT


class AmacMachine(Machine):
    amac = True


def fail_next(drive: Any) -> None:
    from sated._ffi import ffi, lib
    from sated.errors import check

    fault = ffi.new("struct sated_sim_fault *")
    lib.sated_sim_fault_init(fault)
    fault.kind, fault.count = lib.SATED_FAULT_OPERATION_FAILS, 1
    check(lib.sated_sim_fail(drive._handle, fault))


def run(examples: int) -> None:
    Machine.commands = 0
    for machine, share in (Machine, 3), (AmacMachine, 1):
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=examples * share // 4,
                stateful_step_count=60,
                deadline=None,
                database=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            ),
        )


def test_some_thousand_commands() -> None:
    run(48)
    assert Machine.commands > 2000


@pytest.mark.long
def test_a_hundred_thousand_commands() -> None:
    run(2000)
    assert Machine.commands > 100_000
