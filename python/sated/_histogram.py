"""Latency histograms: log-linear, 1/1024 wide or 1/128, mergeable, without a ceiling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sated._ffi import ffi, lib
from sated.errors import ParseError, check

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Histogram:
    """Counts of values, usually latencies in ns. Values below 2048 are exact, above that each octave has 1024 buckets;
    one with fewer `bits`, of a load of many threads and classes, has 2^bits, and is exact below twice as many.

    >>> h = Histogram()
    >>> for value in range(40, 51):
    ...     h.record(value, 2)
    >>> h.percentile(50), h.percentile(90), h.percentile(0.5), h.mean
    (45, 49, 40, 45.0)
    """

    def __init__(self) -> None:
        out = ffi.new("struct sated_histogram **")
        check(lib.sated_histogram_new(out))
        self._h = ffi.gc(out[0], lib.sated_histogram_free, 65536)

    @classmethod
    def from_buckets(
        cls,
        low: Sequence[int] | NDArray[np.int64],
        counts: Sequence[int] | NDArray[np.int64],
        *,
        bits: int = 10,
        minimum: int | None = None,
        maximum: int | None = None,
    ) -> Histogram:
        """Stored buckets (their lowest values, ascending, and counts) as a histogram again.

        `bits` as it had. `minimum` and `maximum` are those of the values; without them the first and the last bucket's
        lowest value. Mean and deviation are then those of the buckets' lowest values, at most 2^-bits below the true
        ones. Raises ParseError where the values are not those of such buckets.
        """
        values, numbers = [int(v) for v in low], [int(c) for c in counts]
        h = cls()
        if not values:
            return h
        total = sum(v * c for v, c in zip(values, numbers, strict=True))
        squares = sum(v * v * c for v, c in zip(values, numbers, strict=True))
        mask = (1 << 64) - 1
        check(
            lib.sated_histogram_load(
                h._h,
                bits,
                values,
                numbers,
                len(values),
                values[0] if minimum is None else minimum,
                values[-1] if maximum is None else maximum,
                [total & mask, total >> 64],
                [squares & mask, squares >> 64],
            )
        )
        return h

    def record(self, value: int, count: int = 1) -> None:
        """Raises ParseError for a value or count outside 0 to 2^64 - 1."""
        if not (0 <= value < 1 << 64 and 0 <= count < 1 << 64):
            raise ParseError(f"value {value}, count {count}: give whole numbers from 0 to 2^64 - 1")
        lib.sated_histogram_record(self._h, value, count)

    def merge(self, other: Histogram) -> None:
        """Adds another histogram's values to this one; exact."""
        lib.sated_histogram_merge(self._h, other._h)

    @property
    def bits(self) -> int:
        """How fine it is: an octave has 2^bits buckets, which are 2^-bits wide at most; merged, the fewest of all."""
        return int(lib.sated_histogram_bits(self._h))

    @property
    def count(self) -> int:
        return int(lib.sated_histogram_count(self._h))

    @property
    def min(self) -> int:
        return int(lib.sated_histogram_min(self._h))

    @property
    def max(self) -> int:
        return int(lib.sated_histogram_max(self._h))

    @property
    def mean(self) -> float:
        """Exact for recorded values; NaN when empty."""
        return float(lib.sated_histogram_mean(self._h))

    @property
    def stddev(self) -> float:
        """Of the population; exact for recorded values; NaN when empty."""
        return float(lib.sated_histogram_stddev(self._h))

    def percentile(self, percent: float) -> int | None:
        """By nearest rank, clamped to [min, max]; 0.5 is half a percent, not the median. None when empty.

        Raises ParseError outside 0 to 100.
        """
        if not 0 <= percent <= 100:
            raise ParseError(f"percentile {percent}: give a percentage from 0 to 100, such as 99.9")
        value = int(lib.sated_histogram_percentile(self._h, float(percent)))
        return None if value < 0 else value

    def percentile_interval(self, percent: float, confidence: float = 0.95) -> tuple[int, int]:
        """The distribution-free confidence interval of a percentile (binomial order statistics).

        Raises StateError where there are too few values for one.
        """
        bounds = ffi.new("int64_t[2]")
        check(lib.sated_histogram_percentile_interval(self._h, percent, confidence, bounds, bounds + 1))
        return int(bounds[0]), int(bounds[1])

    def buckets(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(lowest values, counts) of the buckets that are not empty, ascending; two int64 arrays of equal length."""
        import numpy as np

        n = lib.sated_histogram_buckets(self._h, ffi.NULL, ffi.NULL, 0)
        low, counts = np.empty(n, np.int64), np.empty(n, np.int64)
        lib.sated_histogram_buckets(
            self._h, ffi.from_buffer("uint64_t[]", low), ffi.from_buffer("uint64_t[]", counts), n
        )
        return low, counts

    @property
    def counts(self) -> NDArray[np.int64]:
        """The counts of `buckets()`."""
        return self.buckets()[1]

    def __len__(self) -> int:
        return self.count

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Histogram):
            return NotImplemented
        mine, theirs = self.buckets(), other.buckets()
        return self.bits == other.bits and all(a.tolist() == b.tolist() for a, b in zip(mine, theirs, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if not self.count:
            return "<Histogram, empty>"
        return f"<Histogram n={self.count} p50={self.percentile(50)} p99={self.percentile(99)} max={self.max}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{name}</th><td style='text-align:right'>{value}</td></tr>"
            for name, value in (
                ("n", self.count),
                *((f"p{p:g}", self.percentile(p)) for p in (50, 99, 99.9, 99.99)),
                ("max", self.max),
            )
        )
        return f"<table>{rows}</table>"
