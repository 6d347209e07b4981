"""Latency: of every I/O as a histogram and as a complementary distribution, and over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pyarrow.compute as pc

from sated import _text
from sated.charts import marks, theme
from sated.charts.marks import AnyChart, Figure
from sated.charts.study import Array, Cell, Latencies, Study, array, distinct, window_width
from sated.errors import UnsupportedError
from sated.results.run import merged

BINS = (25, 50, 100, 200)
AT_MOST_BINS = 130
AT_MOST_SERIES = 7
PERCENTILES = (50.0, 99.0, 99.9)


@dataclass(frozen=True)
class _Series:
    cell: Cell
    op: str
    label: str
    latencies: Latencies


def _series(study: Study) -> list[_Series]:
    """The latencies to show: of the cells with most outstanding, one for each setting, workload and operation."""
    for purpose in ("depth-sweep", "measure", "grid", "write-percentage", "precondition"):
        deepest: dict[tuple[float | None, str], Cell] = {}
        for cell in study.of_purpose(purpose):
            key = (cell.setting, cell.workload)
            if key not in deepest or cell.outstanding > deepest[key].outstanding:
                deepest[key] = cell
        found = [(cell, op, cell.latencies(op)) for cell in deepest.values() for op in cell.ops()]
        known = [(cell, op, latencies) for cell, op, latencies in found if latencies is not None]
        if known:
            break
    else:
        raise UnsupportedError("the run has no latency histograms, so there is no chart of them")
    known = sorted(known, key=lambda entry: -entry[2].n)[:AT_MOST_SERIES]
    known.sort(key=lambda entry: (entry[1], -2.0 if entry[0].setting is None else -entry[0].setting, entry[0].step))
    result = []
    for op in dict.fromkeys(op for _, op, _ in known):
        own = [(cell, latencies) for cell, own_op, latencies in known if own_op == op]
        labels = distinct(
            [[_text.setting(c.setting), c.workload, f"{c.outstanding} outstanding", c.step] for c, _ in own]
        )
        result += [_Series(cell, op, label, found) for (cell, found), label in zip(own, labels, strict=True)]
    return result


def _describe(study: Study, series: Sequence[_Series]) -> tuple[str, str, tuple[tuple[str, ...], ...]]:
    """Summary, caption and table that histogram and complementary distribution share."""
    cells = list(dict.fromkeys(entry.cell for entry in series))
    rows = tuple(
        (
            f"{entry.op}, {entry.label}",
            f"{entry.latencies.n:,}",
            _text.latency(entry.latencies.min_ns),
            _text.latency(entry.latencies.mean_ns),
            _text.latency(entry.latencies.stddev_ns),
            _text.latency(entry.latencies.percentile(50)),
            _text.latency(entry.latencies.percentile(99)),
            _text.latency(entry.latencies.percentile(99.9)) if entry.latencies.n >= 1000 else "–",
            f"{_text.latency(entry.latencies.max_ns)} of {entry.latencies.n:,}",
        )
        for entry in series
    )
    if len(rows) <= 4:
        summary = "; ".join(f"{row[0]}: mean {row[3]}, p99 {row[6]}, maximum {row[8]} I/Os" for row in rows) + "."
    else:
        p99 = [entry.latencies.percentile(99) for entry in series]
        low, high = rows[p99.index(min(p99))], rows[p99.index(max(p99))]
        longest = rows[max(range(len(rows)), key=lambda i: series[i].latencies.max_ns)]
        summary = (
            f"p99 from {low[6]} ({low[0]}) to {high[6]} ({high[0]}); the slowest I/O took {longest[8]} ({longest[0]})."
        )
    outstanding = max(cell.outstanding for cell in cells)
    workloads = _text.listed(dict.fromkeys(cell.workload for cell in cells))
    same = len({cell.outstanding for cell in cells}) == 1
    depth = f"{outstanding} outstanding" if same else "the most outstanding of each"
    caption = (
        f"Every I/O of the measured phase: {workloads}, {depth}. {study.latency_note(outstanding)} {study.notes(cells)}"
    )
    return summary, caption.strip(), rows


_COLUMNS = ("I/Os", "n", "minimum", "mean", "standard deviation", "p50", "p99", "p99.9", "maximum of n")


def _axis(low_ns: float, high_ns: float, typical_ns: float, width: int) -> tuple[alt.Axis, alt.Scale, float]:
    """A logarithmic latency axis in the unit that fits, and that unit's nanoseconds."""
    unit, ns = _text.latency_unit(typical_ns)
    low, high = low_ns / ns, high_ns / ns
    axis = alt.Axis(title=f"latency ({unit}, logarithmic)", values=theme.log_ticks(low, high, width), format=",~f")
    return axis, alt.Scale(type="log", domain=[marks.rounded(low), marks.rounded(high)], nice=False), ns


def latency_histogram(study: Study) -> Figure:
    """The share of I/Os by latency, a panel for each operation."""
    series = _series(study)
    summary, caption, table = _describe(study, series)
    ops = list(dict.fromkeys(entry.op for entry in series))
    labels = list(dict.fromkeys(entry.label for entry in series))
    panels: list[AnyChart] = []
    bins: list[str] = []
    width = theme.PANEL if len(ops) > 1 else theme.WIDTH
    for op in ops:
        own = [entry for entry in series if entry.op == op]
        low = min(entry.latencies.percentile(0.001) for entry in own) / 1.1
        high = max(entry.latencies.max_ns for entry in own) * 1.1
        axis, scale, ns = _axis(low, high, own[0].latencies.percentile(50), width)
        # Of fewer bits, as many of the wider buckets to a bin.
        most = BINS[-1] >> (10 - min(entry.latencies.histogram.bits for entry in own))
        fine = [number for number in BINS if number <= most and number * np.log10(high / low) <= AT_MOST_BINS]
        per_decade = max(fine, default=BINS[0])
        bins.append(f"{per_decade} bins to a decade" + (f" ({op})" if len(ops) > 1 else ""))
        rows = []
        for entry in own:
            edges, share = entry.latencies.binned(per_decade)
            edges, share = np.insert(edges, 0, edges[0]), np.insert(share, 0, 0.0)
            rows += [
                {"x": marks.rounded(x / ns), "share": marks.rounded(100 * y), "series": entry.label}
                for x, y in zip(edges, share, strict=True)
            ]
        legend = marks.line_legend(labels)
        base = alt.Chart(marks.rows(rows)).encode(
            x=alt.X("x:Q", axis=axis, scale=scale),
            y=alt.Y("share:Q", axis=alt.Axis(title="share of I/Os in a bin (%)", format="~f"), stack=None),
            color=alt.Color("series:N", scale=theme.colours(labels), legend=legend),
        )
        area = base.mark_area(interpolate="step-after", opacity=0.22, aria=False, clip=True)
        line = base.mark_line(interpolate="step-after", strokeWidth=1.8, clip=True).encode(
            strokeDash=alt.StrokeDash("series:N", scale=theme.dashes(labels), legend=legend)
        )
        chart = alt.layer(area, line).properties(width=width, height=theme.HEIGHT, title=marks.panel_title(op))
        panels.append(chart)
    return Figure(
        name="latency-histogram",
        title="Latency of every I/O",
        chart=marks.beside(panels),
        summary=summary,
        caption=f"{caption} {_text.listed(bins)}.",
        columns=_COLUMNS,
        rows=table,
    )


def latency_ccdf(study: Study) -> Figure:
    """The share of I/Os that took at least so long, both axes logarithmic."""
    series = _series(study)
    summary, caption, table = _describe(study, series)
    colours = list(dict.fromkeys(entry.label for entry in series))
    ops = list(dict.fromkeys(entry.op for entry in series))
    names = [f"{entry.op}, {entry.label}" for entry in series]
    dash = [theme.DASHES[ops.index(entry.op)] for entry in series]
    low = min(entry.latencies.min_ns for entry in series) / 1.1
    high = max(entry.latencies.max_ns for entry in series) * 1.1
    typical = min(entry.latencies.percentile(50) for entry in series)
    axis, scale, ns = _axis(low, high, typical, theme.WIDTH)
    rows = []
    for entry, name in zip(series, names, strict=True):
        x, share = thinned(*entry.latencies.exceeding())
        rows += [
            {"x": marks.rounded(a / ns), "share": marks.rounded(b), "series": name}
            for a, b in zip(x, share, strict=True)
        ]
    least = min(1 / entry.latencies.n for entry in series) / 1.4
    ticks = [10.0**-k for k in range(int(-np.log10(least)) + 1)]
    chart = (
        alt.Chart(marks.rows(rows))
        .mark_line(interpolate="step-before", strokeWidth=2, clip=False)
        .encode(
            x=alt.X("x:Q", axis=axis, scale=scale),
            y=alt.Y(
                "share:Q",
                axis=alt.Axis(title="share of I/Os that took at least so long", values=ticks, labelExpr=_NINES),
                scale=alt.Scale(type="log", domain=[least, 1], nice=False),
            ),
            color=alt.Color(
                "series:N",
                scale=alt.Scale(domain=names, range=[theme.colour(colours, entry.label) for entry in series]),
                legend=marks.line_legend(names),
            ),
            strokeDash=alt.StrokeDash(
                "series:N",
                scale=alt.Scale(domain=names, range=[list(d) for d in dash]),
                legend=marks.line_legend(names),
            ),
        )
        .properties(width=theme.WIDTH, height=400)
    )
    return Figure(
        name="latency-ccdf",
        title="The tail of latency",
        chart=chart,
        summary=summary,
        caption=f"{caption} Each line ends at its slowest I/O, at a height of 1/n.",
        columns=_COLUMNS,
        rows=table,
    )


# All, 10 % (p90), 1 % (p99), 0.1 % (p99.9): whichever way one is used to.
_NINES = (
    "datum.value > 0.5 ? 'all' : "
    "format(100 * datum.value, '~f') + ' % (p' + format(100 - 100 * datum.value, '~f') + ')'"
)


def thinned(x: Array, share: Array) -> tuple[Array, Array]:
    """The corners of a step line that can be told apart when drawn: a point stays when it is 0.2 % to the right or
    0.5 % below the last one kept; the first and the last always stay."""
    keep = [0]
    for i in range(1, len(x) - 1):
        if x[i] > 1.002 * x[keep[-1]] or share[i] < 0.995 * share[keep[-1]]:
            keep.append(i)
    if len(x) > 1:
        keep.append(len(x) - 1)
    return x[keep], share[keep]


def latency_over_time(study: Study) -> Figure:
    """Percentiles and maximum over the time of preconditioning, or of the longest load of each setting without it."""
    cells = study.of_purpose("precondition")
    cells = cells or study.longest()
    if not cells:
        raise UnsupportedError("the run has no rows, so there is no chart of latency over time")
    last = max(float(cell.seconds.t_s[-1]) for cell in cells)
    width = window_width(max(cell.seconds.span_s for cell in cells))
    x, unit = marks.time_axis(last)
    labels = ["maximum", *(f"p{p:g}" for p in reversed(PERCENTILES))]
    lines = [(cell, _over_time(cell, width)) for cell in cells]
    values = np.concatenate([y for _, found in lines for _, y in found.values()])
    values = values[np.isfinite(values) & (values > 0)]
    if not len(values):
        raise UnsupportedError("no I/O of the run has a latency, so there is no chart of latency over time")
    axis, scale, ns = _axis(
        float(values.min()) / 1.15, float(values.max()) * 1.15, float(np.median(values)), theme.HEIGHT
    )
    titles = distinct([[_text.setting(c.setting), c.workload, c.step] for c in cells])
    legend = alt.Legend(title=None, symbolSize=150, symbolStrokeWidth=2, symbolOpacity=1)
    panels: list[AnyChart] = []
    table = []
    for (cell, found), title in zip(lines, titles, strict=True):
        rows = [
            {"t": marks.rounded(t / unit), "y": marks.rounded(y / ns), "what": what}
            for what, (ts, ys) in found.items()
            for t, y in zip(ts, ys, strict=True)
            if np.isfinite(y) and y > 0
        ]
        base = alt.Chart(marks.rows(rows)).encode(
            x=x,
            y=alt.Y("y:Q", axis=axis, scale=scale),
            color=alt.Color("what:N", scale=alt.Scale(domain=labels, range=list(_COLOURS)), legend=legend),
        )
        shape = alt.Shape("what:N", scale=alt.Scale(domain=labels, range=list(_SHAPES)), legend=legend)
        dots = base.transform_filter(alt.datum.what == labels[0]).mark_point(
            filled=True, size=9, opacity=0.8, aria=False
        )
        line = base.transform_filter(alt.datum.what != labels[0]).mark_line(strokeWidth=1.8, clip=True)
        dash = alt.StrokeDash("what:N", scale=alt.Scale(domain=labels, range=list(_LINE_DASHES)), legend=legend)
        chart = alt.layer(dots.encode(shape=shape), line.encode(strokeDash=dash)).properties(
            width=theme.PANEL if len(cells) > 1 else theme.WIDTH,
            height=theme.HEIGHT,
        )
        panels.append(chart.properties(title=marks.panel_title(title)) if len(cells) > 1 else chart)
        n = int(cell.seconds.ios.sum())
        end = {what: (ys[np.isfinite(ys)][-1] if np.isfinite(ys).any() else None) for what, (_, ys) in found.items()}
        worst = float(np.nanmax(found["maximum"][1]))
        table.append(
            (title, *(_text.latency(end[label]) for label in labels[::-1]), f"{_text.latency(worst)} of {n:,}")
        )
    summary = "; ".join(f"{row[0]}: p50 {row[1]} and p99 {row[2]} at the end, maximum {row[5]} I/Os" for row in table)
    merged = all(cell.histograms.num_rows for cell in cells) and width % 60 == 0
    if width == 1:
        how = "One value a second; a percentile is left out where a second has too few I/Os for it."
    elif merged:
        how = (
            f"Percentiles are exact over all I/Os of {_text.span(width)} (from merged histograms, not means of "
            "percentiles); the maximum is the slowest I/O of the same time."
        )
    else:
        how = (
            f"Each value is the median of the seconds' percentiles in {_text.span(width)}, and the maximum the slowest "
            "I/O of the same time."
        )
    outstanding = max(cell.outstanding for cell in cells)
    return Figure(
        name="latency-over-time",
        title="Latency over time",
        chart=marks.beside(panels),
        summary=summary + ".",
        caption=(
            f"{cells[0].workload}, {cells[0].outstanding} outstanding. {how} {study.latency_note(outstanding)} "
            f"{study.row_note(cells) if width == 1 else ''} {study.notes(cells)}"
        ).strip(),
        columns=("load", "p50 at the end", "p99 at the end", "p99.9 at the end", "maximum at the end", "maximum of n"),
        rows=tuple(table),
    )


# For the maximum, p99.9, p99 and p50.
_COLOURS = ("#000000", "#D55E00", "#E69F00", "#0072B2")
_LINE_DASHES = ([1, 0], [3, 2], [7, 3], [1, 0])
_SHAPES = ("circle", "stroke", "stroke", "stroke")


def _over_time(cell: Cell, width: float) -> dict[str, tuple[Array, Array]]:
    """For each percentile and the maximum: times (ends of windows, in s) and latencies (ns)."""
    rows = cell.intervals.filter(pc.greater(cell.intervals["ios"], 0))
    t_s = array(rows, "t_s")
    window = np.ceil(t_s / width - 1e-9).astype(np.int64)
    ends, index = np.unique(window, return_inverse=True)
    greatest = np.full(len(ends), -np.inf)
    np.maximum.at(greatest, index, array(rows, "lat_max_ns"))
    at = np.minimum(ends * width, t_s.max(initial=0.0))
    found = {"maximum": (at, greatest)}
    table = cell.histograms
    if width % 60 == 0 and table.num_rows:
        owner = np.ceil(array(table, "t_s") / width - 1e-9).astype(np.int64)
        values = {p: np.full(len(ends), np.nan) for p in PERCENTILES}
        for i, end in enumerate(ends):
            which = np.flatnonzero(owner == end)
            if not len(which):
                continue
            own = merged(table.take(which), rows.take(np.flatnonzero(index == i)))
            for p in PERCENTILES:
                if own.count * (1 - p / 100) >= 1 - 1e-9:
                    values[p][i] = own.percentile(p)
        for p in PERCENTILES:
            found[f"p{p:g}"] = (at, values[p])
        return found
    for p, name in zip(PERCENTILES, ("lat_p50_ns", "lat_p99_ns", "lat_p999_ns"), strict=True):
        column = array(rows, name)
        values_of = np.array([_median(column[index == i]) for i in range(len(ends))])
        found[f"p{p:g}"] = (at, values_of)
    return found


def _median(values: Array) -> float:
    values = values[np.isfinite(values)]
    return float(np.median(values)) if len(values) else float("nan")
