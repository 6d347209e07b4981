"""The one look of all charts: colours, fonts, widths and ticks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair as alt

    from sated.charts.marks import AnyChart

WIDTH = 800
"""Width of a chart's plotting area in px; two panels side by side have PANEL each."""
PANEL = 352
HEIGHT = 340

# Okabe and Ito's palette, which stays distinct for all common kinds of colour blindness, without its yellow (too light
# for a line on white) and ordered so that the first two are as far apart as possible.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
DASHES = ([1, 0], [8, 3], [2, 2], [9, 3, 2, 3], [12, 4], [4, 2, 1, 2], [1, 3])

INK = "#1a1a1a"
MUTED = "#555555"
GRID = "#e3e3e3"
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"


def configure(chart: AnyChart) -> AnyChart:
    """The chart with the look of this module."""
    import altair as alt

    configured: AnyChart = chart.configure(
        font=FONT,
        background="#ffffff",
        padding=12,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            labelFontSize=12,
            titleFontSize=13,
            titleFontWeight="normal",
            titlePadding=10,
            labelColor=INK,
            titleColor=INK,
            gridColor=GRID,
            domainColor=MUTED,
            tickColor=MUTED,
            labelFlush=False,
            labelOverlap="greedy",
        ),
        legend=alt.LegendConfig(
            orient="top",
            labelFontSize=13,
            titleFontSize=13,
            titleFontWeight="normal",
            symbolSize=110,
            symbolStrokeWidth=2.5,
            labelColor=INK,
            titleColor=INK,
            labelLimit=420,
            columnPadding=24,
            offset=10,
        ),
        title=alt.TitleConfig(
            anchor="start",
            fontSize=17,
            fontWeight="bold",
            subtitleFontSize=12,
            subtitleColor=MUTED,
            subtitleLineHeight=16,
            subtitlePadding=6,
            color=INK,
            offset=14,
        ),
    )
    return configured


def colour(labels: Sequence[str], label: str) -> str:
    """The colour of one of the labels."""
    return PALETTE[labels.index(label) % len(PALETTE)]


def colours(labels: Sequence[str]) -> alt.Scale:
    """A colour scale with a fixed colour for each label."""
    import altair as alt

    return alt.Scale(domain=list(labels), range=[colour(labels, label) for label in labels])


def shapes(labels: Sequence[str]) -> alt.Scale:
    """A scale of marker shapes, so that colour never stands alone."""
    import altair as alt

    return alt.Scale(domain=list(labels), range=[SHAPES[i % len(SHAPES)] for i in range(len(labels))])


def dashes(labels: Sequence[str]) -> alt.Scale:
    """A scale of line dashes, so that colour never stands alone."""
    import altair as alt

    return alt.Scale(domain=list(labels), range=[list(DASHES[i % len(DASHES)]) for i in range(len(labels))])


_TICKS = (
    (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9),
    (1, 1.5, 2, 3, 4, 5, 6, 7, 8),
    (1, 1.5, 2, 3, 5, 7),
    (1, 2, 5),
    (1,),
)


def log_ticks(low: float, high: float, width: int) -> list[float]:
    """Ticks of a logarithmic axis so many px wide: round steps of each decade, as many as do not crowd.

    >>> log_ticks(0.9, 1200, 350)
    [1.0, 10.0, 100.0, 1000.0]
    >>> log_ticks(3, 8, 350)
    [3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for steps in _TICKS:
        ticks = [float(f"{step}e{power}") for power in powers for step in steps]
        ticks = [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]
        gaps = [math.log10(after / tick) for tick, after in itertools.pairwise(ticks)]
        if not gaps or min(gaps) / math.log10(high / low) * width >= 34:
            break
    return ticks


def wrap(text: str, columns: int) -> list[str]:
    """The text as lines of at most so many characters."""
    import textwrap

    return textwrap.wrap(text, columns)
