"""The way to steady state: every second of preconditioning, and a running mean."""

from __future__ import annotations

import altair as alt
import numpy as np

from sated import _text
from sated.charts import marks, theme
from sated.charts.marks import Figure
from sated.charts.study import Study, distinct, running_mean
from sated.errors import UnsupportedError

WINDOW_S = 60.0


def precondition_iops(study: Study) -> Figure:
    """IOPS of every second of preconditioning, all settings on one axis, with the running mean of a minute."""
    cells = study.of_purpose("precondition")
    if not cells:
        raise UnsupportedError("the run has no preconditioning step with rows, so there is no chart of it")
    labels = distinct([[_text.setting(cell.setting), cell.workload, cell.step] for cell in cells])
    longest = max(float(cell.seconds.t_s[-1]) for cell in cells)
    # A load that was cut short after a moment has its first and its last row.
    first_s, last_s = (min(most, max(1.0, float(round(longest / part)))) for most, part in ((60.0, 10), (300.0, 4)))
    window = WINDOW_S if longest >= 10 * WINDOW_S else max(1.0, round(longest / 20))
    x, unit = marks.time_axis(longest)
    top = max(float(cell.seconds.iops.max()) for cell in cells)
    y = alt.Y("iops:Q", axis=alt.Axis(title="IOPS (one point a second)", format=",~r"))
    y = y.scale(domain=[0, marks.rounded(top * 1.02)], nice=True)
    clouds, lines, table, total = [], [], [], 0
    for cell, label in zip(cells, labels, strict=True):
        rows = cell.seconds
        data = marks.points({"t": rows.t_s / unit, "iops": rows.iops}, {"t": 6, "iops": 5})
        colour = alt.value(theme.colour(labels, label))
        clouds.append(marks.cloud(alt.Chart(data), len(rows.t_s) * len(cells)).encode(x=x, y=y, color=colour))
        t_s, mean = running_mean(rows, window, max(window / 2, longest / 800))
        if not len(t_s):
            t_s, mean = rows.t_s, rows.iops
        line = [
            {"t": marks.rounded(t / unit), "iops": marks.rounded(m), "series": label}
            for t, m in zip(t_s, mean, strict=True)
        ]
        drawn = (
            alt.Chart(marks.rows(line))
            .mark_line(strokeWidth=marks.MEAN_STROKE, clip=True)
            .encode(
                x=x,
                y=y,
                color=alt.Color("series:N", scale=theme.colours(labels), legend=marks.line_legend(labels)),
                strokeDash=alt.StrokeDash("series:N", scale=theme.dashes(labels), legend=marks.line_legend(labels)),
            )
        )
        lines += [marks.halo(drawn), drawn]
        first, last = rows.first(first_s), rows.last(last_s)
        total += len(rows.t_s)
        table.append(
            (
                label,
                _text.number(len(rows.t_s)),
                _text.number(first.mean_iops),
                _text.number(last.mean_iops),
                f"{_text.number(float(last.iops.min()))} to {_text.number(float(last.iops.max()))}",
                _text.number(float(np.std(last.iops))),
            )
        )
    summary = "; ".join(
        f"{row[0]}: {row[2]} IOPS in the first {first_s:g} s, {row[3]} in the last {last_s:g} s" for row in table
    )
    caption = (
        f"{cells[0].workload}, {cells[0].outstanding} outstanding. {_text.number(total)} points, one for each "
        f"reported second, none left out; line: running mean of the last {_text.span(window)}. {study.row_note(cells)} "
        f"{study.notes(cells)}"
    )
    return Figure(
        name="precondition-iops",
        title="Preconditioning, second by second",
        chart=alt.layer(*clouds, *lines).properties(width=theme.WIDTH, height=380),
        summary=summary + ".",
        caption=caption.strip(),
        columns=(
            "load",
            "seconds",
            f"IOPS, first {first_s:g} s",
            f"IOPS, last {last_s:g} s",
            f"range, last {last_s:g} s",
            f"standard deviation, last {last_s:g} s",
        ),
        rows=tuple(table),
        canvas=True,
    )
