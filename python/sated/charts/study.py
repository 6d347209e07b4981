"""What charts need of a run: its cells with their tables as numpy arrays, pooled, windowed and merged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sated import _text

if TYPE_CHECKING:
    from sated import Histogram
    from sated.results.run import Run

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

AT_MOST_WINDOWS = 300
"""How many points a line over time has at most: about one in three pixels of its axis."""


def array(table: pa.Table, name: str) -> Array:
    """A column as float64, NaN where it is null."""
    return np.asarray(table[name].to_numpy(zero_copy_only=False), dtype=np.float64)


def measured(table: pa.Table) -> pa.Table:
    """The rows of the measured phase."""
    return table.filter(pc.equal(table["phase"], "measured")) if table.num_rows else table


@dataclass(frozen=True)
class Seconds:
    """Rows pooled over members and classes, one for each time t_s (reported, the end of the interval)."""

    t_s: Array
    duration_s: Array
    ios: Array
    energy_j: Array
    """NaN where it was not measured."""

    @property
    def span_s(self) -> float:
        """From the start of the first row to the end of the last, in reported seconds."""
        if len(self.t_s) < 2:
            return float(self.t_s[-1]) if len(self.t_s) else 0.0
        return float(self.t_s[-1] - self.t_s[0] + (self.t_s[1] - self.t_s[0]))

    @property
    def iops(self) -> Array:
        """I/Os per second of each row."""
        return np.asarray(self.ios / self.duration_s)

    def last(self, seconds: float) -> Seconds:
        """The rows of the last so many reported seconds, at least one."""
        keep = self.t_s > self.t_s[-1] - seconds + 1e-9
        keep[-1] = True
        return Seconds(self.t_s[keep], self.duration_s[keep], self.ios[keep], self.energy_j[keep])

    def first(self, seconds: float) -> Seconds:
        """The rows of the first so many reported seconds."""
        keep = self.t_s <= self.t_s[-1] - self.span_s + seconds + 1e-9
        return Seconds(self.t_s[keep], self.duration_s[keep], self.ios[keep], self.energy_j[keep])

    @property
    def mean_iops(self) -> float:
        """I/Os over seconds of all rows together."""
        return float(self.ios.sum() / self.duration_s.sum()) if len(self.t_s) else math.nan

    def with_energy(self) -> Seconds:
        """The rows whose energy is known."""
        keep = np.isfinite(self.energy_j)
        return Seconds(self.t_s[keep], self.duration_s[keep], self.ios[keep], self.energy_j[keep])


def pool(intervals: pa.Table, environment: pa.Table | None = None) -> Seconds:
    """Intervals (and the energy of the same seconds) of the measured phase, one row for each time.

    Energy counts only where every member of that time has it: a sum without one member would be too low.
    """
    rows = measured(intervals)
    t_ns = np.round(array(rows, "t_s") * 1e9).astype(np.int64)
    times, index = np.unique(t_ns, return_inverse=True)
    n = len(times)
    per_row = np.bincount(index, minlength=n)
    duration = np.bincount(index, array(rows, "duration_s"), n) / np.maximum(per_row, 1)
    ios = np.bincount(index, array(rows, "ios"), n).astype(np.float64)
    energy = np.full(n, np.nan)
    if environment is not None and environment.num_rows and n:
        meter = measured(environment)
        at = np.round(array(meter, "t_s") * 1e9).astype(np.int64)
        place = np.minimum(np.searchsorted(times, at), n - 1)
        hit = times[place] == at
        energy = np.bincount(place[hit], array(meter, "energy_j")[hit], n)
        energy[np.bincount(place[hit], minlength=n) == 0] = np.nan
    return Seconds(times / 1e9, duration, ios, energy)


@dataclass(frozen=True)
class Windows:
    """Seconds gathered into windows of equal length, so that a line over hours stays a line; nothing is left out: the
    middle is the ratio of sums, low and high are the lowest and highest row of the window."""

    width_s: float
    t_s: Array
    low: Array
    middle: Array
    high: Array
    rows: Counts


def window_width(span_s: float) -> float:
    """The shortest of some round lengths that needs at most AT_MOST_WINDOWS windows; whole minutes beyond 10 min, so
    that the histograms of each minute fit."""
    for width in (1, 2, 60, 120, 300, 600, 1800, 3600):
        if span_s / width <= AT_MOST_WINDOWS + 1e-9:
            return float(width)
    return float(math.ceil(span_s / AT_MOST_WINDOWS / 3600) * 3600)


def windows(t_s: Array, numerator: Array, denominator: Array, width_s: float) -> Windows:
    """The ratio of two columns in windows of `width_s` reported seconds."""
    index = np.ceil(t_s / width_s - 1e-9).astype(np.int64)
    ends, first = np.unique(index, return_index=True)
    ratio = numerator / denominator
    if len(ends) == 0:
        empty = np.empty(0)
        return Windows(width_s, empty, empty, empty, empty, np.empty(0, np.int64))
    middle = np.add.reduceat(numerator, first) / np.add.reduceat(denominator, first)
    rows = np.diff(np.append(first, len(index)))
    low, high = np.minimum.reduceat(ratio, first), np.maximum.reduceat(ratio, first)
    return Windows(width_s, np.minimum(ends * width_s, t_s[-1]), low, middle, high, rows)


def running_mean(rows: Seconds, width_s: float, every_s: float) -> tuple[Array, Array]:
    """The mean rate of the last `width_s` reported seconds, at every `every_s` from the first full window on."""
    if len(rows.t_s) == 0:
        return np.empty(0), np.empty(0)
    ios = np.concatenate([[0.0], np.cumsum(rows.ios)])
    seconds = np.concatenate([[0.0], np.cumsum(rows.duration_s)])
    start = rows.t_s[-1] - rows.span_s
    ends = np.arange(start + width_s, rows.t_s[-1] + 1e-6, every_s)
    upper = np.searchsorted(rows.t_s, ends + 1e-6, side="right")
    lower = np.searchsorted(rows.t_s, ends - width_s + 1e-6, side="right")
    keep = upper > lower
    upper, lower = upper[keep], lower[keep]
    return ends[keep], np.asarray((ios[upper] - ios[lower]) / (seconds[upper] - seconds[lower]))


@dataclass(frozen=True)
class Latencies:
    """A merged histogram of latencies with what the rows know exactly beside it."""

    histogram: Histogram
    mean_ns: float
    stddev_ns: float

    @cached_property
    def buckets(self) -> tuple[Counts, Counts]:
        """The lowest values of its buckets, ascending, and their counts."""
        return self.histogram.buckets()

    @property
    def n(self) -> int:
        """How many I/Os."""
        return self.histogram.count

    @property
    def min_ns(self) -> float:
        """The shortest latency, exact."""
        return float(self.histogram.min)

    @property
    def max_ns(self) -> float:
        """The longest latency, exact."""
        return float(self.histogram.max)

    def percentile(self, percent: float) -> float:
        """By nearest rank (sated/histogram.h)."""
        return float(self.histogram.percentile(percent) or 0)

    def exceeding(self) -> tuple[Array, Array]:
        """The complementary distribution: for each value the share of I/Os that took at least so long. It begins with
        1 at the minimum and ends with 1/n at the maximum."""
        n = self.n
        low_ns, count = self.buckets
        share = 1.0 - np.concatenate([[0], np.cumsum(count)[:-1]]) / n
        x = np.maximum(low_ns.astype(np.float64), self.min_ns)
        return np.append(x, max(self.max_ns, x[-1])), np.append(share, 1.0 / n)

    def binned(self, per_decade: int) -> tuple[Array, Array]:
        """The share of I/Os in bins of equal width on a logarithmic axis, as (lower edges and the last upper edge,
        shares and a closing 0)."""
        low_ns, count = self.buckets
        place = np.floor(np.log10(np.maximum(low_ns, 1)) * per_decade + 1e-9).astype(np.int64)
        first = int(place[0])
        share = np.bincount(place - first, count) / self.n
        edges = 10.0 ** (np.arange(first, first + len(share) + 1) / per_decade)
        return edges, np.append(share, 0.0)


@dataclass(frozen=True, eq=False)
class Cell:
    """One load of a run: what was asked for, and its tables."""

    run: Run = field(repr=False)
    step: str
    purpose: str
    setting: float | None
    read: float
    size: int | None
    trim: float
    write_zeroes: float
    flush: float
    sequential: bool
    outstanding: int
    whole: bool
    """False where the step was cut short."""

    @cached_property
    def seconds(self) -> Seconds:
        """Its rows, one a second, with the energy where it was measured."""
        return pool(self.run.table("intervals", step=self.step), self.run.table("environment", step=self.step))

    @cached_property
    def intervals(self) -> pa.Table:
        """Its interval rows of the measured phase."""
        return measured(self.run.table("intervals", step=self.step))

    @cached_property
    def histograms(self) -> pa.Table:
        """Its histogram rows of the measured phase, from submission to completion."""
        table = measured(self.run.table("histograms", step=self.step))
        return table.filter(pc.equal(table["kind"], "service")) if table.num_rows else table

    @property
    def workload(self) -> str:
        """Its workload in words, such as "4 KiB random write"."""
        return _text.workload(
            self.size,
            sequential=self.sequential,
            read=self.read,
            trim=self.trim,
            write_zeroes=self.write_zeroes,
            flush=self.flush,
        )

    @property
    def access(self) -> str:
        """How it addresses: "sequential" or "random"."""
        return "sequential" if self.sequential else "random"

    def ops(self) -> list[str]:
        """The operations of which it has I/Os."""
        return [str(op) for op in sorted(pc.unique(self.intervals["op"]).to_pylist())]

    def latencies(self, op: str) -> Latencies | None:
        """The latencies of all its I/Os of one operation, None if it has no histogram of them."""
        table = self.histograms
        table = table.filter(pc.equal(table["op"], op)) if table.num_rows else table
        if table.num_rows == 0:
            return None
        rows = self.intervals.filter(pc.equal(self.intervals["op"], op))
        n = array(rows, "ios")
        rows, n = rows.filter(pa.array(n > 0)), n[n > 0]
        if not n.sum():
            return None
        mean, deviation = array(rows, "lat_mean_ns"), array(rows, "lat_stddev_ns")
        overall = float((n * mean).sum() / n.sum())
        variance = float((n * (deviation**2 + mean**2)).sum() / n.sum()) - overall**2
        return Latencies(self.run.histogram(self.step, op), overall, math.sqrt(max(variance, 0.0)))


@dataclass(frozen=True)
class Study:
    """A run, as charts see it."""

    cells: tuple[Cell, ...]
    drive: Mapping[str, Any]
    published: tuple[Mapping[str, Any], ...]
    queue_depth: int | None
    """How many commands the drive itself takes at a time, None where nobody says."""
    range_only: Mapping[float | None, str]
    """Settings whose LBA limit is an address range only, with what it may be called."""

    @classmethod
    def of(cls, run: Run) -> Study:
        """Reads what a run says of its steps; tables are read when a chart asks for them."""
        summary = run.summary()
        cells, range_only = [], {}
        for step in run.steps:
            cell = step.cell
            if step.range_only:
                range_only[cell.get("setting")] = step.range_only
            if "workload" not in cell or cell["purpose"] == "fill" or step.state == "waiting":
                continue
            cells.append(
                Cell(
                    run,
                    step=step.id,
                    purpose=cell["purpose"],
                    setting=cell.get("setting"),
                    read=float(cell["read"]),
                    size=cell.get("size"),
                    trim=float(cell.get("trim", 0.0)),
                    write_zeroes=float(cell.get("write_zeroes", 0.0)),
                    flush=float(cell.get("flush", 0.0)),
                    sequential=bool(cell.get("sequential")),
                    outstanding=int(cell["threads"]) * int(cell["depth"]),
                    whole=step.state == "finished",
                )
            )
        return cls(
            tuple(cells),
            summary["drive"],
            tuple(summary.get("published", ())),
            summary["drive"].get("queue_depth"),
            range_only,
        )

    def of_purpose(self, purpose: str) -> list[Cell]:
        """The cells of one purpose that have rows, the greatest accessible capacity first."""
        found = [cell for cell in self.cells if cell.purpose == purpose and len(cell.seconds.t_s)]
        return sorted(found, key=lambda cell: -2.0 if cell.setting is None else -cell.setting)

    def published_figures(self, quantity: str) -> dict[float | None, float]:
        """What was published of a quantity, by setting."""
        return {row["setting"]: float(row["published"]) for row in self.published if row["quantity"] == quantity}

    @property
    def scale(self) -> int:
        """N of a drive simulated at 1/N of its size; 1 otherwise."""
        return int(self.drive.get("scale") or 1)

    def longest(self) -> list[Cell]:
        """For each setting the load with the longest measured phase: what a chart over time shows of a run without
        preconditioning."""
        found: dict[float | None, Cell] = {}
        for cell in self.cells:
            known = found.get(cell.setting)
            if len(cell.seconds.t_s) and (known is None or cell.seconds.span_s > known.seconds.span_s):
                found[cell.setting] = cell
        return list(found.values())

    def notes(self, cells: Iterable[Cell]) -> str:
        """What has to stand beside any chart of these cells."""
        shown = list(cells)
        parts = []
        cut = [cell.step for cell in shown if not cell.whole]
        if cut:
            parts.append(f"Partial: {_text.listed(cut)} did not come to an end.")
        settings = dict.fromkeys(cell.setting for cell in shown)
        parts += [f"{self.range_only[value]}." for value in settings if value in self.range_only]
        return " ".join(parts)

    def row_note(self, cells: Iterable[Cell]) -> str:
        """What a row is where it is not a whole second of I/O: needed to judge how far rows scatter."""
        if self.scale == 1:
            return ""
        typical = [float(np.median(cell.seconds.last(300).ios)) for cell in cells]
        low, high = min(typical), max(typical)
        many = _text.number(low, 2) if high < 1.15 * low else f"{_text.number(low, 2)} to {_text.number(high, 2)}"
        return f"A row is 1/{self.scale} s of I/O of the simulated drive (about {many} I/Os)."

    def latency_note(self, outstanding: int) -> str:
        """Where latencies were taken, and how many commands the drive itself takes, where that is known."""
        text = "Latencies are host-observed, from submission to completion"
        if self.queue_depth and outstanding > self.queue_depth:
            text += f"; the drive takes {self.queue_depth} of the {outstanding} outstanding at a time, the others wait"
        return text + "."


def distinct(parts: Sequence[Sequence[str]]) -> list[str]:
    """A label for each series: of its parts, the first ones that differ between the series, as many as it takes to tell
    all of them apart; the first part if none differs.

    >>> distinct([["100 % LBA", "read", "0003"], ["80 % LBA", "read", "0009"]])
    ['100 % LBA', '80 % LBA']
    >>> distinct([["as found", "read", "0003"], ["as found", "write", "0009"]])
    ['read', 'write']
    """
    chosen: list[int] = []
    for i in range(len(parts[0]) if parts else 0):
        if len({tuple(row[k] for k in chosen) for row in parts}) == len(parts):
            break
        if len({row[i] for row in parts}) > 1:
            chosen.append(i)
    return [", ".join(row[i] for i in chosen or [0]) for row in parts]
