"""How much of a drive can be addressed, and by what it is limited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sated._drive import finite
from sated._ffi import ffi, lib, text
from sated.errors import ParseError, StateError, check

if TYPE_CHECKING:
    from sated._drive import Drive
    from sated._power_control import PowerControl

METHODS = {
    "lba": lib.SATED_PROVISION_LBA,
    "hpa": lib.SATED_PROVISION_HPA,
    "amac": lib.SATED_PROVISION_AMAC,
    "dco": lib.SATED_PROVISION_DCO,
    "mode-select": lib.SATED_PROVISION_MODE_SELECT,
    "namespace": lib.SATED_PROVISION_NAMESPACE,
}
_NAMES = {value: name for name, value in METHODS.items()}
_ALL = 2**64 - 1
_POLL_NS = 1_000_000_000


@dataclass(frozen=True)
class Provisioning:
    """Native, accessible and raw bytes, and over-provisioning in its three definitions, as fractions; None = unknown.

    `purged_beyond`: nothing beyond the limit holds data. Otherwise the limit is an address range only, not
    over-provisioning.
    """

    native_bytes: int
    """Without any of the limits; at least so many, where `native_known` is False."""
    accessible_bytes: int
    raw_bytes: int | None
    purged_beyond: bool
    lba_removed: float | None
    op_of_user: float | None
    op_of_raw: float | None
    device_bytes: int
    """What the device lets address: more than `accessible_bytes`, where an LBA limit holds."""
    native_known: bool
    hidden_bytes: int | None
    """What the device hides; None where that is not known, which is not the same as nothing."""
    hidden_at_least_bytes: int
    limits: tuple[str, ...]
    """The methods that limit it now, as far as is known."""
    interrupted: str | None
    """A change that was begun and has not come to its end: `resume_capacity` goes on with it."""
    needs_power_cycle: bool
    """It cannot go on before the drive's power was off and on again."""

    @property
    def label(self) -> str:
        """What the limit may be called."""
        if not self.lba_removed:
            return "all LBAs"
        name = f"{100 * (1 - self.lba_removed):g} % of the LBAs"
        return name if self.purged_beyond else f"{name}, address range only, not over-provisioning"


@dataclass(frozen=True)
class CapacityMethod:
    """One way to set the capacity of a drive."""

    method: str
    supported: bool
    why_not: str | None
    destroys: str | None
    """What is lost by it."""
    then: str | None
    """What to do afterwards."""
    whole_drive: bool
    """It takes consent to changing all that the device has, not one namespace."""
    once: bool
    """It works once between two power-ons."""


def get(drive: Drive) -> Provisioning:
    c = ffi.new("struct sated_provision *")
    check(lib.sated_provision_get(drive._handle, c))
    known = bool(c.flags & lib.SATED_PROVISION_HIDDEN_KNOWN)
    begun = bool(c.flags & lib.SATED_PROVISION_INTERRUPTED)
    return Provisioning(
        native_bytes=int(c.native_bytes),
        accessible_bytes=int(c.accessible_bytes),
        raw_bytes=int(c.raw_bytes) or None,
        purged_beyond=bool(c.purged_beyond),
        lba_removed=finite(c.lba_removed),
        op_of_user=finite(c.op_of_user),
        op_of_raw=finite(c.op_of_raw),
        device_bytes=int(c.device_bytes),
        native_known=bool(c.flags & lib.SATED_PROVISION_NATIVE_KNOWN),
        hidden_bytes=int(c.hidden_bytes) if known else None,
        hidden_at_least_bytes=int(c.hidden_at_least_bytes),
        limits=tuple(name for name, method in METHODS.items() if c.limits >> method & 1),
        interrupted=_NAMES.get(c.interrupted, "another one") if begun else None,
        needs_power_cycle=bool(c.flags & lib.SATED_PROVISION_NEEDS_POWER_CYCLE),
    )


def methods(drive: Drive) -> list[CapacityMethod]:
    n = lib.SATED_PROVISION_METHODS
    c = ffi.new("struct sated_provision_choice[]", n)
    check(lib.sated_provision_list(drive._handle, c, n))
    return [
        CapacityMethod(
            method=text(each.name),
            supported=bool(each.flags & lib.SATED_PROVISION_SUPPORTED),
            why_not=text(each.why_not) or None,
            destroys=text(each.destroys) or None,
            then=text(each.then) or None,
            whole_drive=bool(each.flags & lib.SATED_PROVISION_WHOLE_DRIVE),
            once=bool(each.flags & lib.SATED_PROVISION_ONCE),
        )
        for each in c
    ]


def go_through(
    drive: Drive, begin: Callable[[], int], power: PowerControl | None, *, resumes: bool = False, undo: bool = False
) -> None:
    """Begins a change and stays with it to its end, over a power cycle where it takes one and that can be had.

    `resumes`: it is an interrupted one. Otherwise such a one stays as it is, and is not taken for this one.
    """
    earlier = not resumes and get(drive).interrupted is not None
    try:
        rc = check(begin())
    except StateError:
        if earlier:
            raise
        from sated._power_control import PowerControl

        power = power or PowerControl()
        if not (get(drive).needs_power_cycle and power.can(drive)):
            raise
        power.cycle(drive)
        rc = check(lib.sated_provision_wait(drive._handle, undo, 0))
    while rc:
        rc = check(lib.sated_provision_wait(drive._handle, undo, _POLL_NS))


def _method(name: str) -> int:
    if name != "auto" and name not in METHODS:
        raise ParseError(f'capacity method "{name}" is unknown: use auto, {", ".join(METHODS)}')
    return int(METHODS["lba" if name == "auto" else name])


def _set(drive: Drive, size: int, method: int, power: PowerControl | None) -> Provisioning:
    options = ffi.new("struct sated_provision_options *")
    lib.sated_provision_options_init(options)
    options.method = method
    go_through(drive, lambda: int(lib.sated_provision_set(drive._handle, size, options)), power)
    return get(drive)


def restore_capacity(drive: Drive, method: str, power: PowerControl | None) -> Provisioning:
    which = lib.SATED_PROVISION_EVERY if method == "auto" else _method(method)
    return _set(drive, _ALL, which, power)


def resume_capacity(drive: Drive, undo: bool, power: PowerControl | None) -> Provisioning:
    go_through(drive, lambda: int(lib.sated_provision_wait(drive._handle, undo, 0)), power, resumes=True, undo=undo)
    return get(drive)


def wanted_bytes(drive: Drive, fraction: float | None, capacity: int | str | None, lba: int | None, method: str) -> int:
    """What is to be addressed. Raises ParseError for what no capacity is, or none that this drive can have."""
    which = _method(method)
    if sum(given is not None for given in (fraction, capacity, lba)) != 1:
        raise ParseError("set_capacity: give one of fraction=, bytes= and lba=")
    identity = drive.identity
    native, known = identity.native_capacity_bytes or identity.capacity_bytes or 0, False
    if which != lib.SATED_PROVISION_LBA:
        now = get(drive)
        native, known = now.native_bytes, now.native_known
    if fraction is not None:
        if not 0 < fraction <= 1:
            raise ParseError(f"fraction={fraction:g}: give a share above 0 and up to 1 of the native LBAs")
        wanted = native if fraction == 1 else int(fraction * native) // 4096 * 4096
    elif lba is not None:
        wanted = lba * (identity.logical_block_bytes or 0)
    else:
        out: Any = ffi.new("uint64_t *")
        check(lib.sated_workload_capacity(str(capacity).encode(), native, out))
        wanted = int(out[0])
        if isinstance(capacity, str) and wanted < native:  # "100GB" is no multiple of 4096: the next one below it
            wanted = wanted // 4096 * 4096
    if wanted <= 0 or (known and wanted > native):
        raise ParseError(
            f"{identity.path}: a capacity of {wanted} bytes cannot be set by the method {method}; give one above 0 "
            f"and up to the native {native} bytes"
        )
    return wanted


def set_capacity(
    drive: Drive,
    fraction: float | None,
    capacity: int | str | None,
    lba: int | None,
    method: str,
    power: PowerControl | None,
) -> Provisioning:
    return _set(drive, wanted_bytes(drive, fraction, capacity, lba, method), _method(method), power)
