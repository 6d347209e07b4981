"""What a load does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from sated._addresses import OPS, check_source
from sated._ffi import ffi, lib
from sated.errors import ParseError, check

if TYPE_CHECKING:
    import numpy as np

__all__ = ["OPS", "Workload"]

_NOT_GIVEN = ["access", "streams", "theta", "h", "stddev", "zones", "read_zones", "write_zones", "active", "segments"]
"""What says where I/Os go, as do addresses."""
_ACCESSES = ("random", "sequential", "permutation", "zipf", "pareto", "normal", "zones")


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What a load does; the same keys and texts as in TOML, in C and on the command line, checked when it is made.

    `op`: read, write, trim, write_zeroes or flush, the first four also with `rand` in front. `read`, `write`, `trim`,
    `write_zeroes`, `flush`: shares of the operations (0.7, "70%", "2/3"), summing to 1 or 100. `size`: one I/O size
    ("4k"), or `sizes`: {"4k": 60, "64k": 40} by share of I/Os, up to 64. `depth` is per thread: threads x depth are
    outstanding at most. `offset`, `length`: the range, in bytes or as text.

    `access`: random (uniform with replacement); sequential (thread i of n starts at i/n of the range), with `streams`
    of them in each thread; zipf by `theta`; pareto by `h` (1 - h of the I/Os go to h of the addresses); normal around
    the middle by `stddev` (a share of the range); permutation (each block once in a pass, as no application does);
    zones. `zones`: "50:5,30:15,20:80" sends 50 % of the I/Os to the first 5 % of the range, 30 % to the next 15 %, 20 %
    to the rest; a zone may have bytes with a unit, or nothing, which is the rest ("50:4k,50:"). `read_zones`,
    `write_zones`: of reads, and of all else. `active`: only so much of the range ("16GiB", "10%"), spread over it in
    `segments`.

    `addresses`: where I/Os go, by the caller (in Python and C; no plan or command line has it): a numpy array of
    offsets in bytes, or an iterable of such arrays, such as a generator, that is asked for the next one while I/Os run,
    in a thread of the load; a simulated drive stands still until it has answered. An array with the fields `offset`
    and, as wanted, `bytes` and `op` (a name, or a number by enum sated_op) also says what each I/O does, of the sizes
    and operations that the workload has; their shares then mean nothing. All drives do all of them, in this order; the
    load ends with them, or, with `repeat`, begins them anew. What is out of range or not aligned is refused before an
    I/O of its chunk is sent, an array as a whole before the load begins.

    `data`: random (different for every write) or zeros. `compress`: this share of random data is zeros. `dedupe`: this
    share of the writes has contents that was written before.

    `rate`: I/Os per second of each drive, of all threads together (drive time), or {"read": 5000, "write": 200} for
    operations of their own; one that has no rate fills the slots that are left. Nothing that is due is skipped.
    `arrival`: fixed or poisson. `think`: seconds, or "250us", between an I/O of a slot and its next.

    >>> Workload(op="randwrite", size="4k", threads=16, depth=16).outstanding
    256
    """

    op: str | None = None
    read: float | str | None = None
    write: float | str | None = None
    trim: float | str | None = None
    write_zeroes: float | str | None = None
    flush: float | str | None = None
    size: int | str | None = None
    sizes: dict[str, float] | None = None
    access: str | None = None
    threads: int = 1
    depth: int = 1
    offset: int | str | None = None
    length: int | str | None = None
    data: str = "random"
    streams: int | None = None
    theta: float | None = None
    h: float | str | None = None
    stddev: float | str | None = None
    zones: str | None = None
    read_zones: str | None = None
    write_zones: str | None = None
    active: int | str | None = None
    segments: int | None = None
    compress: float | str | None = None
    dedupe: float | str | None = None
    rate: float | str | dict[str, float] | None = None
    arrival: str | None = None
    think: float | str | None = None
    addresses: np.ndarray[Any, Any] | Iterable[Any] | None = field(default=None, compare=False, repr=False)
    repeat: bool = False

    def __post_init__(self) -> None:
        if self.addresses is not None:
            for key in _NOT_GIVEN:
                if getattr(self, key) is not None:
                    raise ParseError(f"addresses= says where I/Os go, and so does {key}=: leave one out")
            check_source(self.addresses, repeat=self.repeat)
        elif self.repeat:
            raise ParseError("repeat=True repeats addresses=, and there are none")
        self._c()

    def as_dict(self) -> dict[str, Any]:
        """The keys that were set, as plain values (as in TOML, which has no addresses)."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("addresses", "repeat")}
        return {key: value for key, value in values.items() if value is not None}

    def _c(self) -> Any:
        """The C struct, checked."""
        w = ffi.new("struct sated_workload *")
        lib.sated_workload_init(w)
        for key, value in self.as_dict().items():
            if isinstance(value, dict):
                value = ",".join(f"{size}:{_plain(share)}" for size, share in value.items())
            check(lib.sated_workload_set(w, key.encode(), _plain(value).encode()))
        check(lib.sated_workload_check(w))
        return w

    @property
    def outstanding(self) -> int:
        """threads x depth."""
        return self.threads * self.depth

    @property
    def shares(self) -> dict[str, float]:
        """Of each operation, summing to 1."""
        c = self._c()
        whole = sum(c.share)
        return {name: c.share[i] / whole for i, name in enumerate(OPS) if c.share[i] > 0}

    @property
    def size_bytes(self) -> dict[int, float]:
        """Each I/O size in bytes and its share of the I/Os."""
        c = self._c()
        whole = sum(c.size_share[0 : c.n_sizes])
        return {int(c.size_bytes[i]): c.size_share[i] / whole for i in range(c.n_sizes)}

    @property
    def rated(self) -> bool:
        """Whether any I/O has a rate, so that there are response times."""
        c = self._c()
        return bool(c.rate_total > 0 or any(rate > 0 for rate in c.rate))

    @property
    def paced(self) -> bool:
        """Whether I/Os wait for their time, by a rate or to think: the queue is not meant to be full."""
        return self.rated or bool(self._c().think_ns)

    @property
    def sequential(self) -> bool:
        return self.addresses is None and bool(self._c().access == lib.SATED_SEQUENTIAL)

    @property
    def order(self) -> str:
        """The access that comes of `access`, `op` and `zones`; "given" by addresses."""
        return "given" if self.addresses is not None else _ACCESSES[self._c().access]

    @property
    def writes(self) -> bool:
        """Whether it changes the drive (all but reads and, to be on the safe side, flushes too)."""
        return any(name != "read" for name in self.shares)


def _plain(value: Any) -> str:
    """A value as the text that C parses: repr of a float has all its digits."""
    return repr(value) if isinstance(value, float) else str(value)
