"""Layers that several charts share, and how their data are written into a chart.

They go in as CSV text: a point is some 12 bytes, so that 36,000 of them stay half a megabyte, and no limit on rows is
in the way.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import altair as alt
import numpy as np

from sated import _text
from sated.charts import theme
from sated.charts.study import Array, Windows

AnyChart: TypeAlias = "alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart | alt.VConcatChart"

MEAN_STROKE = 2.5


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A chart with the words that belong to it."""

    name: str
    title: str
    chart: AnyChart
    """Without title and look, see `finished`."""
    summary: str
    """What it shows of this run, in a sentence or two: the text for those who do not see it."""
    caption: str
    """How to read it: units, n, windows, what a row is."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Its main figures as a table."""
    canvas: bool = False
    """Too many marks for SVG in a page."""

    def finished(self, *, titled: bool = True) -> AnyChart:
        """The chart with its look, and with title and caption above it unless the page around it has them."""
        chart = theme.configure(self.chart).properties(description=f"{self.title}. {self.summary}")
        if titled:
            lines = [*theme.wrap(self.summary, 136), *theme.wrap(self.caption, 136)]
            chart = chart.properties(title=alt.TitleParams(self.title, subtitle=lines))
        return chart


def points(columns: Mapping[str, Array], digits: Mapping[str, int]) -> alt.InlineData:
    """Columns of equal length as CSV data, each with so many significant digits."""
    texts = [
        np.char.mod(f"%.{digits[name]}g", values).tolist() if len(values) else [] for name, values in columns.items()
    ]
    lines = [",".join(columns), *map(",".join, zip(*texts, strict=True))]
    parse = dict.fromkeys(columns, "number")
    return alt.InlineData(values="\n".join(lines), format=alt.CsvDataFormat(type="csv", parse=parse))


def rows(table: Sequence[Mapping[str, Any]]) -> alt.InlineData:
    """Rows of numbers and texts, all with the keys of the first, as CSV data."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = list(table[0])
    writer.writerow(names)
    writer.writerows([row[name] for name in names] for row in table)
    parse = {name: "string" if isinstance(table[0][name], str) else "number" for name in names}
    return alt.InlineData(values=text.getvalue().rstrip("\n"), format=alt.CsvDataFormat(type="csv", parse=parse))


def rounded(value: float, digits: int = 6) -> float:
    """A float of so many significant digits, for data that are drawn."""
    return float(f"{value:.{digits}g}")


def time_axis(last_s: float) -> tuple[alt.X, float]:
    """The x axis of a chart over reported time, with field t, and the seconds of its unit."""
    unit, size = _text.span_unit(last_s)
    step = _nice_step(last_s / size)
    axis = alt.Axis(title=f"reported time ({unit})", values=list(np.arange(0, last_s / size + 1e-9, step)), format="~f")
    x = alt.X("t:Q", axis=axis, scale=alt.Scale(domain=[0, rounded(last_s / size)], nice=False))
    return x, size


def _nice_step(length: float) -> float:
    for step in (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600):
        if length / step <= 12:
            return step
    return length / 10


def halo(line: alt.Chart) -> alt.Chart:
    """The same line in white and wider, to lie under it where points are dense."""
    wide: alt.Chart = line.encode(color=alt.value("white"), strokeDash=alt.value([1, 0]), detail="series:N").mark_line(
        strokeWidth=MEAN_STROKE + 3, opacity=0.9, aria=False, clip=True
    )
    return wide


def line_legend(labels: Sequence[str]) -> alt.Legend:
    """A legend whose symbols are pieces of line, long enough to show their dashes, in as many columns as fit above the
    chart."""
    columns = max(1, int(theme.WIDTH / (75 + 7 * max(map(len, labels)))))
    return alt.Legend(
        title=None,
        symbolType="stroke",
        symbolSize=900,
        symbolStrokeWidth=MEAN_STROKE,
        symbolOpacity=1,
        columns=columns if columns < len(labels) else alt.Undefined,
    )


def bands(
    series: Sequence[tuple[str, Windows]], labels: Sequence[str], y_title: str, published: Mapping[str, float]
) -> AnyChart:
    """A line through the windows of each series, in a band from their lowest to their highest row, and a diamond at the
    end of the time axis for each published figure."""
    last = max(float(window.t_s[-1]) for _, window in series)
    x, unit = time_axis(last)
    table: list[dict[str, Any]] = [
        {
            "t": rounded(window.t_s[i] / unit),
            "low": rounded(window.low[i]),
            "middle": rounded(window.middle[i]),
            "high": rounded(window.high[i]),
            "series": label,
        }
        for label, window in series
        for i in range(len(window.t_s))
    ]
    top = max([*(row["high"] for row in table), *published.values()])
    base = alt.Chart(rows(table)).encode(x=x)
    y_axis = alt.Axis(title=y_title, format=",~r")
    scale = alt.Scale(domain=[0, top * 1.04], nice=True)
    colour = alt.Color("series:N", scale=theme.colours(labels), legend=line_legend(labels))
    dash = alt.StrokeDash("series:N", scale=theme.dashes(labels), legend=line_legend(labels))
    band = base.mark_area(opacity=0.22, aria=False, clip=True).encode(
        y=alt.Y("low:Q", axis=y_axis, scale=scale), y2="high:Q", color=colour
    )
    line = base.mark_line(strokeWidth=MEAN_STROKE, clip=True).encode(
        y=alt.Y("middle:Q", axis=y_axis, scale=scale), color=colour, strokeDash=dash
    )
    layers: list[Any] = [band, line]
    if published:
        ends = [{"t": last / unit, "y": value, "series": label} for label, value in published.items()]
        layers.append(diamonds(ends, labels, x, y_axis, scale))
    return alt.layer(*layers).properties(width=theme.WIDTH, height=theme.HEIGHT)


def diamonds(
    table: Sequence[Mapping[str, Any]], labels: Sequence[str], x: alt.X, y_axis: alt.Axis, scale: alt.Scale
) -> alt.LayerChart | alt.FacetChart:
    """Hollow diamonds at the published figures, in the colour of their series with a dark rim: points do not hide them.
    Fields: y, series and that of x."""
    base = alt.Chart(rows(table)).encode(x=x, y=alt.Y("y:Q", axis=y_axis, scale=scale))
    rim = base.mark_point(size=230, shape="diamond", filled=False, stroke=theme.INK, strokeWidth=3.4, opacity=1)
    tooltip = [alt.Tooltip("series:N", title="setting"), alt.Tooltip("y:Q", title="published", format=",~r")]
    inner = [
        base.transform_filter(alt.datum.series == row["series"])
        .mark_point(
            size=230,
            shape="diamond",
            filled=False,
            stroke=theme.colour(labels, row["series"]),
            strokeWidth=1.8,
            opacity=1,
        )
        .encode(tooltip=tooltip)
        for row in table
    ]
    return alt.layer(rim, *inner)


def cloud(chart: alt.Chart, count: int) -> alt.Chart:
    """Points as small and as faint as their number asks for: few can be seen, and many do not hide each other."""
    size, opacity = (5, 0.28) if count > 5000 else (7, 0.32) if count > 100 else (26, 0.6)
    drawn: alt.Chart = chart.mark_circle(size=size, opacity=opacity, aria=False, clip=True)
    return drawn


def spread(n: int) -> Array:
    """n offsets in (-0.5, 0.5), evenly and reproducibly spread (the golden ratio's sequence)."""
    return np.asarray((np.arange(1, n + 1) * 0.6180339887498949) % 1.0 - 0.5, dtype=np.float64)


def beside(panels: Sequence[AnyChart]) -> AnyChart:
    """Panels two in a row, with one legend and their own axes."""
    if len(panels) == 1:
        return panels[0]
    lines = [alt.hconcat(*panels[i : i + 2], spacing=36) for i in range(0, len(panels), 2)]
    whole: AnyChart = lines[0] if len(lines) == 1 else alt.vconcat(*lines, spacing=30)
    shared: AnyChart = whole.resolve_scale(color="shared", shape="shared", strokeDash="shared")
    return shared


def panel_title(text: str) -> alt.TitleParams:
    """The heading of one panel."""
    return alt.TitleParams(text, fontSize=13, fontWeight="bold", offset=8, anchor="middle")
