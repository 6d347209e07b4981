"""How much of a drive can be addressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sated._drive import finite
from sated._ffi import ffi, lib
from sated.errors import ParseError, UnsupportedError, check

if TYPE_CHECKING:
    from sated._drive import Drive

_LATER = ("hpa", "amac", "dco", "mode-select", "namespace")


@dataclass(frozen=True)
class Provisioning:
    """Native, accessible and raw bytes, and over-provisioning in its three definitions, as fractions; None = unknown.

    `purged_beyond`: nothing beyond the limit holds data. Otherwise the limit is an address range only, not
    over-provisioning.
    """

    native_bytes: int
    accessible_bytes: int
    raw_bytes: int | None
    purged_beyond: bool
    lba_removed: float | None
    op_of_user: float | None
    op_of_raw: float | None

    @property
    def label(self) -> str:
        """What the limit may be called."""
        if not self.lba_removed:
            return "all LBAs"
        name = f"{100 * (1 - self.lba_removed):g} % of the LBAs"
        return name if self.purged_beyond else f"{name}, address range only, not over-provisioning"


def get(drive: Drive) -> Provisioning:
    c = ffi.new("struct sated_provision *")
    check(lib.sated_provision_get(drive._handle, c))
    return Provisioning(
        native_bytes=int(c.native_bytes),
        accessible_bytes=int(c.accessible_bytes),
        raw_bytes=int(c.raw_bytes) or None,
        purged_beyond=bool(c.purged_beyond),
        lba_removed=finite(c.lba_removed),
        op_of_user=finite(c.op_of_user),
        op_of_raw=finite(c.op_of_raw),
    )


def restore_capacity(drive: Drive) -> Provisioning:
    check(lib.sated_provision_set(drive._handle, 2**64 - 1))
    return get(drive)


def set_capacity(
    drive: Drive, fraction: float | None, capacity: int | str | None, lba: int | None, method: str
) -> Provisioning:
    if method in _LATER:
        raise UnsupportedError(f'capacity method "{method}" is not in this version: use "lba"')
    if method not in ("auto", "lba"):
        raise ParseError(f'capacity method "{method}" is unknown: use auto or lba')
    if sum(given is not None for given in (fraction, capacity, lba)) != 1:
        raise ParseError("set_capacity: give one of fraction=, bytes= and lba=")
    identity = drive.identity
    native = identity.native_capacity_bytes or identity.capacity_bytes or 0
    if fraction is not None:
        if not 0 < fraction <= 1:
            raise ParseError(f"fraction={fraction:g}: give a share above 0 and up to 1 of the native LBAs")
        wanted = native if fraction == 1 else int(fraction * native) // 4096 * 4096
    elif lba is not None:
        wanted = lba * (identity.logical_block_bytes or 0)
    else:
        out = ffi.new("uint64_t *")
        check(lib.sated_workload_capacity(str(capacity).encode(), native, out))
        wanted = int(out[0])
    check(lib.sated_provision_set(drive._handle, wanted))
    return get(drive)
