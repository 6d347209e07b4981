"""Power, and I/Os for each joule, over the time of preconditioning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sated import _text
from sated.charts import marks
from sated.charts.marks import AnyChart, Figure
from sated.charts.study import Array, Cell, Seconds, Study, distinct, window_width, windows
from sated.errors import UnsupportedError

LAST_S = 300.0


def power(study: Study) -> Figure:
    """Electric power over time."""
    cells = _with_power(study)
    published = _published(study, "write_4k_power_w", cells)
    chart, labels, width = _over_time(cells, lambda rows: (rows.energy_j, rows.duration_s), "power (W)", published)
    return _figure(
        study, cells, labels, published, chart, width, "power", "Power over time", "W",
        lambda rows: float(rows.energy_j.sum() / rows.duration_s.sum()), "energy over time",
    )  # fmt: skip


def iops_per_watt(study: Study) -> Figure:
    """IOPS per watt, which is I/Os per joule, over time."""
    cells = _with_power(study)
    published = _published(study, "write_4k_iops_per_w", cells)
    chart, labels, width = _over_time(cells, lambda rows: (rows.ios, rows.energy_j), "IOPS per W", published)
    return _figure(
        study, cells, labels, published, chart, width, "iops-per-watt", "IOPS per watt over time", "IOPS/W",
        lambda rows: float(rows.ios.sum() / rows.energy_j.sum()), "I/Os over joules of the same seconds",
    )  # fmt: skip


def _published(study: Study, quantity: str, cells: Sequence[Cell]) -> dict[float | None, float]:
    """What was published of preconditioning, by setting; nothing beside other loads."""
    if any(cell.purpose != "precondition" for cell in cells):
        return {}
    return study.published_figures(quantity)


def _with_power(study: Study) -> list[Cell]:
    cells = [cell for cell in study.of_purpose("precondition") if len(cell.seconds.with_energy().t_s)]
    cells = cells or [cell for cell in study.longest() if len(cell.seconds.with_energy().t_s)]
    if not cells:
        raise UnsupportedError("no power was measured in this run, so there is no chart of it; attach a meter")
    return cells


def _over_time(
    cells: Sequence[Cell],
    parts: Callable[[Seconds], tuple[Array, Array]],
    title: str,
    published: Mapping[float | None, float],
) -> tuple[AnyChart, list[str], float]:
    rows = [cell.seconds.with_energy() for cell in cells]
    width = window_width(max(row.span_s for row in rows))
    labels = distinct([[_text.setting(cell.setting), cell.workload, cell.step] for cell in cells])
    series = [(label, windows(row.t_s, *parts(row), width)) for label, row in zip(labels, rows, strict=True)]
    known = {
        label: published[cell.setting] for label, cell in zip(labels, cells, strict=True) if cell.setting in published
    }
    return marks.bands(series, labels, title, known), labels, width


def _figure(
    study: Study,
    cells: Sequence[Cell],
    labels: Sequence[str],
    published: Mapping[float | None, float],
    chart: AnyChart,
    width: float,
    name: str,
    title: str,
    unit: str,
    ratio: Callable[[Seconds], float],
    formula: str,
) -> Figure:
    table = []
    last_s = min(LAST_S, max(cell.seconds.span_s for cell in cells))
    for cell, label in zip(cells, labels, strict=True):
        rows = cell.seconds.with_energy()
        last = rows.last(last_s)
        table.append((label, _text.number(len(rows.t_s)), _text.number(ratio(rows)), _text.number(ratio(last))))
    summary = "; ".join(f"{row[0]}: {row[3]} {unit} in the last {last_s:g} s" for row in table) + "."
    line = "each second" if width == 1 else f"means of {_text.span(width)} ({formula})"
    band = "" if width == 1 else "; band: from the lowest to the highest second in them"
    diamond = "Hollow diamonds: the figures published for the real drive. " if published else ""
    caption = (
        f"{cells[0].workload}, {cells[0].outstanding} outstanding. Line: {line}{band}. {diamond}y begins at 0. "
        f"{study.row_note(cells)} {study.notes(cells)}"
    )
    return Figure(
        name=name,
        title=title,
        chart=chart,
        summary=summary,
        caption=caption.strip(),
        columns=("load", "seconds with power", f"{unit}, all", f"{unit}, last {last_s:g} s"),
        rows=tuple(table),
    )
