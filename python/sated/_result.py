"""What a load did: totals, percentiles, tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sated._histogram import Histogram
from sated._workload import OPS, Workload
from sated.errors import ParseError, StateError
from sated.steady import Minute, Verdict

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Percentiles", "Result", "Total", "Totals"]

Percentiles = dict[float, "tuple[int | None, tuple[int, int] | None]"]
"""Each percentile in ns with its 95 % interval; None for an interval where there are too few I/Os for one."""

PERCENTS = (50.0, 99.0, 99.9, 99.99)


def percentiles(h: Histogram, percents: Sequence[float]) -> Percentiles:
    """Of a histogram, with their intervals."""
    out: Percentiles = {}
    for p in percents:
        try:
            out[p] = (h.percentile(p), h.percentile_interval(p))
        except StateError:
            out[p] = (h.percentile(p), None)
    return out


class _Rates:
    if TYPE_CHECKING:

        @property
        def ios(self) -> int: ...

        @property
        def bytes(self) -> int: ...

        @property
        def duration_s(self) -> float: ...

    @property
    def iops(self) -> float:
        return self.ios / self.duration_s if self.duration_s else 0.0

    @property
    def bytes_per_s(self) -> float:
        return self.bytes / self.duration_s if self.duration_s else 0.0


@dataclass(frozen=True)
class Total(_Rates):
    """The measured phase of one drive and class. `duration_s` is the drive's own time.

    At a rate: `late_mean_ns`, `late_max_ns`: how late its I/Os were submitted (None without one); of the drive and all
    its classes: `backlog_max`, most I/Os that one thread had due without a free slot, and `unsent`, due by the end but
    never submitted. Likewise of the drive: `starved`, how often a thread had free slots and addresses= had none for it,
    and `starved_s`, how long in all. `histogram` has service times, `response` response times.
    """

    member: int
    op: str
    size: int
    duration_s: float
    ios: int
    bytes: int
    errors: int
    lat_min_ns: float | None
    lat_mean_ns: float | None
    lat_max_ns: float | None
    lat_stddev_ns: float | None
    queue_mean: float
    batch_mean: float | None
    batch_max: int
    late_mean_ns: float | None
    late_max_ns: float | None
    backlog_max: int
    unsent: int
    starved: int
    starved_s: float
    engine: str
    histogram: Histogram = field(repr=False, compare=False)
    response: Histogram = field(repr=False, compare=False)

    def percentiles(self, percents: Sequence[float] = PERCENTS) -> Percentiles:
        return percentiles(self.histogram, percents)


@dataclass(frozen=True)
class Totals(_Rates):
    """The measured phase, pooled over `members` (one Total per drive and class); means are weighted by I/O."""

    members: tuple[Total, ...]
    duration_s: float

    @property
    def ios(self) -> int:
        return sum(t.ios for t in self.members)

    @property
    def bytes(self) -> int:
        return sum(t.bytes for t in self.members)

    @property
    def errors(self) -> int:
        return sum(t.errors for t in self.members)

    @property
    def queue_mean(self) -> float:
        return sum(t.queue_mean for t in self.members)

    @property
    def lat_mean_ns(self) -> float | None:
        return sum(t.ios * (t.lat_mean_ns or 0.0) for t in self.members) / self.ios if self.ios else None

    @property
    def lat_stddev_ns(self) -> float | None:
        mean = self.lat_mean_ns
        if mean is None:
            return None
        parts = (t.ios * ((t.lat_stddev_ns or 0.0) ** 2 + (t.lat_mean_ns or 0.0) ** 2) for t in self.members)
        return math.sqrt(max(0.0, sum(parts) / self.ios - mean * mean))

    @property
    def lat_min_ns(self) -> float | None:
        return min((t.lat_min_ns for t in self.members if t.lat_min_ns is not None), default=None)

    @property
    def lat_max_ns(self) -> float | None:
        return max((t.lat_max_ns for t in self.members if t.lat_max_ns is not None), default=None)

    @property
    def late_mean_ns(self) -> float | None:
        rated = [(t.response.count, t.late_mean_ns) for t in self.members if t.late_mean_ns is not None]
        return sum(n * late for n, late in rated) / sum(n for n, _ in rated) if rated else None

    @property
    def late_max_ns(self) -> float | None:
        return max((t.late_max_ns for t in self.members if t.late_max_ns is not None), default=None)

    @property
    def backlog_max(self) -> int:
        return max((t.backlog_max for t in self.members), default=0)

    @property
    def unsent(self) -> int:
        return sum({t.member: t.unsent for t in self.members}.values())

    @property
    def starved(self) -> int:
        return sum({t.member: t.starved for t in self.members}.values())

    @property
    def starved_s(self) -> float:
        return sum({t.member: t.starved_s for t in self.members}.values())

    @property
    def engine(self) -> str:
        return self.members[0].engine if self.members else "none"

    @property
    def batch_mean(self) -> float | None:
        known = [t.batch_mean for t in self.members if t.batch_mean is not None]
        return known[0] if known else None

    @property
    def batch_max(self) -> int:
        return max((t.batch_max for t in self.members), default=0)

    def histogram(self, op: str | None = None, kind: str = "service") -> Histogram:
        """The latencies of one operation, or of all, over all drives and sizes; a new one at each call."""
        pooled = Histogram()
        for total in self.members:
            if op in (None, total.op):
                pooled.merge(total.response if kind == "response" else total.histogram)
        return pooled

    def percentiles(self, percents: Sequence[float] = PERCENTS, op: str | None = None) -> Percentiles:
        return percentiles(self.histogram(op), percents)

    def __iter__(self) -> Iterator[Total]:
        return iter(self.members)


@dataclass
class Result:
    """What a load did. The tables hold every phase; `totals`, `histogram` and `minutes` the measured one. Tables of
    more than 1 MiB are mapped from an unnamed file in TMPDIR.

    `failed_ios`: offset and negated errno of the first 16 that failed. `note`: what has to be said, such as an engine
    that stood in for another. `limited`: whether `ios` or `bytes` could end it, or its addresses are the caller's.
    """

    workload: Workload
    table: pa.Table
    environment: pa.Table
    histograms: pa.Table
    totals: Totals
    outstanding: int
    note: str = ""
    interrupted: bool = False
    verdict: Verdict | None = None
    minutes: list[Minute] = field(default_factory=list)
    rounds: list[Minute] = field(default_factory=list)
    settled: bool | None = None
    limited: bool = False
    failed_ios: list[tuple[int, int]] = field(default_factory=list)

    def histogram(self, op: str | None = None, kind: str = "service") -> Histogram:
        """The latencies of the measured phase, over all drives: of one operation, or of all.

        `kind`: "service", from submission, or "response", from the moment at which an I/O was to begin, of a load with
        a rate: a drive that stalls is late for everything that is due meanwhile, not just for what it was asked.
        """
        if op not in (None, *OPS):
            raise ParseError(f'operation "{op}" is unknown: use one of {", ".join(OPS)}')
        if kind not in ("service", "response"):
            raise ParseError(f'histogram kind "{kind}" is unknown: use service or response')
        if kind == "response" and not self.workload.rated:
            raise ParseError("there are no response times without a rate: give the workload rate=")
        return self.totals.histogram(op, kind)

    @property
    def host_bound(self) -> bool:
        """Whether the host could not keep the drive's queue filled: less than 0.95 x threads x depth outstanding. Not
        said of a load that is `limited`, whose queue runs empty, nor of one at a rate, nor of a simulated
        drive."""
        return (
            not self.limited
            and not self.workload.paced
            and self.totals.engine not in ("sim", "none")
            and self.totals.queue_mean < 0.95 * self.outstanding
        )

    def __repr__(self) -> str:
        t = self.totals
        mean = f", mean {t.lat_mean_ns / 1e3:.1f} us" if t.lat_mean_ns is not None else ""
        return f"<Result: {t.ios} I/Os in {t.duration_s:.3f} s, {t.iops:.1f} IOPS{mean}, {t.engine}>"

    def _repr_html_(self) -> str:
        head = "<tr><th>op</th><th>size</th><th>IOPS</th><th>MB/s</th><th>mean &micro;s</th><th>max &micro;s</th></tr>"

        def micro(value: float | None) -> str:
            return "" if value is None else f"{value / 1e3:.1f}"

        rows = "".join(
            f"<tr><td>{t.op}</td><td>{t.size}</td><td>{t.iops:.1f}</td><td>{t.bytes_per_s / 1e6:.1f}</td>"
            f"<td>{micro(t.lat_mean_ns)}</td><td>{micro(t.lat_max_ns)}</td></tr>"
            for t in self.totals
        )
        return f"<table>{head}{rows}</table>"
