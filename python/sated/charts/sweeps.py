"""Sweeps: IOPS by what is outstanding, and by the share of writes, each mean with the seconds it was made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import numpy as np

from sated import _text
from sated.charts import marks, theme
from sated.charts.marks import AnyChart, Figure
from sated.charts.study import Cell, Study
from sated.errors import UnsupportedError


def iops_by_depth(study: Study) -> Figure:
    """IOPS by outstanding I/Os on a binary logarithmic axis, a panel for each workload."""
    cells = study.of_purpose("depth-sweep")
    if not cells:
        raise UnsupportedError("the run has no depth sweep with rows, so there is no chart of it")
    depths = sorted({cell.outstanding for cell in cells})
    x = alt.X("x:Q", axis=alt.Axis(title="outstanding I/Os (threads × depth)", values=depths, format="d", grid=False))
    x = x.scale(type="log", base=2, domain=[depths[0] / 2**0.6, depths[-1] * 2**0.6], nice=False)
    workloads = list(dict.fromkeys(cell.workload for cell in sorted(cells, key=lambda cell: -cell.read)))
    labels = _labels(cells)
    panels = [
        _strips(
            [cell for cell in cells if cell.workload == workload],
            labels,
            x,
            position=lambda cell: float(cell.outstanding),
            aside=lambda at, octaves: at * np.exp2(octaves),
            step=0.62,
            title=workload,
            width=theme.PANEL if len(workloads) > 1 else theme.WIDTH,
            published=_published(study, workload, depths[-1], labels),
        )
        for workload in workloads
    ]
    deepest = [cell for cell in cells if cell.outstanding == depths[-1]]
    summary = f"At {depths[-1]} outstanding: " + "; ".join(
        f"{workload} "
        + _text.listed(
            f"{_text.number(_mean(cell))} IOPS ({_text.setting(cell.setting)})"
            for cell in deepest
            if cell.workload == workload
        )
        for workload in workloads
    )
    marker = " Hollow diamonds: the figures published for the real drive." if study.published else ""
    return Figure(
        name="iops-by-depth",
        title="IOPS by outstanding I/Os",
        chart=marks.beside(panels),
        summary=summary + ".",
        caption=f"{_points_note(cells)} x is logarithmic (base 2), y begins at 0.{marker} "
        f"{study.row_note(cells)} {study.notes(cells)}".strip(),
        columns=_COLUMNS,
        rows=tuple(_row(cell, f"{cell.workload}, {cell.outstanding} outstanding") for cell in cells),
        canvas=True,
    )


def write_percentage(study: Study) -> Figure:
    """IOPS (reads and writes together) by the share of writes."""
    cells = study.of_purpose("write-percentage")
    if not cells:
        raise UnsupportedError("the run has no write-percentage sweep with rows, so there is no chart of it")
    cells.sort(key=lambda cell: (-2.0 if cell.setting is None else -cell.setting, -cell.read))
    percents = sorted({round(100 * (1 - cell.read), 6) for cell in cells})
    gap = min(np.diff(percents)) if len(percents) > 1 else 10.0
    x = alt.X("x:Q", axis=alt.Axis(title="share of writes (%)", values=percents, format="~f", grid=False))
    x = x.scale(domain=[percents[0] - 0.6 * gap, percents[-1] + 0.6 * gap], nice=False)
    labels = _labels(cells)
    chart = _strips(
        cells,
        labels,
        x,
        position=lambda cell: 100 * (1 - cell.read),
        aside=lambda at, share: at + gap * share,
        step=0.6,
        title=None,
        width=theme.WIDTH,
        published=[],
    )
    by_setting = dict.fromkeys(cell.setting for cell in cells)
    ends = []
    for setting in by_setting:
        own = [cell for cell in cells if cell.setting == setting]
        ends.append(
            f"{_text.setting(setting)}: "
            + _text.listed(
                f"{_text.number(_mean(cell))} IOPS at {_percent(cell)} % writes"
                for cell in dict.fromkeys((own[0], own[len(own) // 2], own[-1]))
            )
        )
    what = " ".join(part for part in (_text.io_size(cells[0].size), cells[0].access) if part)
    return Figure(
        name="write-percentage",
        title="IOPS by the share of writes",
        chart=chart,
        summary="; ".join(ends) + ".",
        caption=(
            f"{what}, {cells[0].outstanding} outstanding, reads and writes together. {_points_note(cells)} "
            f"y begins at 0. {study.row_note(cells)} {study.notes(cells)}"
        ).strip(),
        columns=_COLUMNS,
        rows=tuple(_row(cell, f"{_percent(cell)} % writes") for cell in cells),
        canvas=True,
    )


_COLUMNS = ("cell", "setting", "n", "mean IOPS", "standard deviation", "range")


def _mean(cell: Cell) -> float:
    return cell.seconds.mean_iops


def _percent(cell: Cell) -> str:
    return f"{100 * (1 - cell.read):.4g}"


def _row(cell: Cell, name: str) -> tuple[str, ...]:
    rates = cell.seconds.iops
    return (
        name,
        _text.setting(cell.setting),
        _text.number(len(rates)),
        _text.number(_mean(cell)),
        _text.number(float(np.std(rates))),
        f"{_text.number(float(rates.min()))} to {_text.number(float(rates.max()))}",
    )


def _labels(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(_text.setting(cell.setting) for cell in cells))


def _points_note(cells: Sequence[Cell]) -> str:
    counts = sorted({len(cell.seconds.t_s) for cell in cells})
    n = _text.number(counts[0]) if len(counts) == 1 else f"{_text.number(counts[0])} to {_text.number(counts[-1])}"
    return (
        f"Line and large markers: mean; small points: each of its {n} rows, spread sideways so that they can be seen."
    )


def _published(study: Study, workload: str, depth: int, labels: Sequence[str]) -> list[dict[str, Any]]:
    quantity = {"4 KiB random write": "write_4k_iops", "4 KiB random read": "read_4k_iops"}.get(workload)
    if quantity is None or depth != 256:
        return []
    figures = study.published_figures(quantity)
    return [
        {"at": float(depth), "y": value, "series": _text.setting(setting)}
        for setting, value in figures.items()
        if _text.setting(setting) in labels
    ]


def _strips(
    cells: Sequence[Cell],
    labels: Sequence[str],
    x: alt.X,
    *,
    position: Callable[[Cell], float],
    aside: Callable[[Any, Any], Any],
    step: float,
    title: str | None,
    width: int,
    published: Sequence[dict[str, Any]],
) -> AnyChart:
    """Each cell's rows as a strip of points, the settings side by side within `step` of the distance of two cells, and
    lines through the means."""
    top = max(float(cell.seconds.iops.max()) for cell in cells)
    top = max([top, *(row["y"] for row in published)])
    axis, scale = alt.Axis(title="IOPS", format=",~r"), alt.Scale(domain=[0, top * 1.03], nice=True)
    y = alt.Y("y:Q", axis=axis, scale=scale)
    share = step / len(labels)
    centres = {label: (index - (len(labels) - 1) / 2) * share for index, label in enumerate(labels)}
    layers: list[Any] = []
    means: list[dict[str, Any]] = []
    for label, centre in centres.items():
        own = [cell for cell in cells if _text.setting(cell.setting) == label]
        if not own:
            continue
        xs = [aside(position(cell), centre + 0.8 * share * marks.spread(len(cell.seconds.t_s))) for cell in own]
        data = marks.points(
            {"x": np.concatenate(xs), "y": np.concatenate([cell.seconds.iops for cell in own])}, {"x": 5, "y": 5}
        )
        layers.append(
            marks.cloud(alt.Chart(data), max(len(cell.seconds.t_s) for cell in own)).encode(
                x=x, y=y, color=alt.value(theme.colour(labels, label))
            )
        )
        for cell in own:
            means.append(
                {
                    "x": marks.rounded(aside(position(cell), centre)),
                    "at": position(cell),
                    "y": marks.rounded(_mean(cell)),
                    "n": len(cell.seconds.t_s),
                    "series": label,
                }
            )
    legend = alt.Legend(title=None, symbolStrokeWidth=0)
    base = alt.Chart(marks.rows(means)).encode(x=x, y=y)
    for label in dict.fromkeys(row["series"] for row in means):
        line = (
            base.transform_filter(alt.datum.series == label)
            .mark_line(strokeWidth=marks.MEAN_STROKE)
            .encode(
                color=alt.value(theme.colour(labels, label)),
                strokeDash=alt.value(theme.DASHES[labels.index(label) % len(theme.DASHES)]),
            )
        )
        layers += [marks.halo(line), line]
    marker = base.mark_point(size=70, filled=True, opacity=1, stroke="white", strokeWidth=1).encode(
        color=alt.Color("series:N", scale=theme.colours(labels), legend=legend),
        shape=alt.Shape("series:N", scale=theme.shapes(labels), legend=legend),
        tooltip=[
            alt.Tooltip("series:N", title="setting"),
            alt.Tooltip("at:Q", title="at", format="~f"),
            alt.Tooltip("y:Q", title="mean IOPS", format=",.0f"),
            alt.Tooltip("n:Q", title="rows", format=",d"),
        ],
    )
    layers.append(marker)
    if published:
        aligned = [{**row, "x": marks.rounded(aside(row["at"], centres[row["series"]]))} for row in published]
        layers.append(marks.diamonds(aligned, labels, x, axis, scale))
    chart = alt.layer(*layers).properties(width=width, height=theme.HEIGHT)
    return chart.properties(title=marks.panel_title(title)) if title else chart
