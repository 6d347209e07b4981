"""The one look of all charts: colours, fonts, widths, and how numbers and units are written."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

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


def number(value: float | None, digits: int = 3) -> str:
    """A measured number for people: thousands apart, and `digits` significant digits below 1000.

    >>> number(41826.4), number(2.3), number(0.00012), number(300), number(None)
    ('41,826', '2.30', '0.000120', '300', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"


_TIME_UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))


def latency_unit(typical_ns: float) -> tuple[str, float]:
    """The unit in which a latency has a number from 1 to 1000, and its nanoseconds."""
    for unit, ns in _TIME_UNITS:
        if typical_ns >= ns:
            return unit, ns
    return _TIME_UNITS[-1]


def latency(value_ns: float | None) -> str:
    """A latency in the unit that fits it.

    >>> latency(66_100_000), latency(850), latency(None)
    ('66.1 ms', '850 ns', '–')
    """
    if value_ns is None or not math.isfinite(value_ns):
        return "–"
    unit, ns = latency_unit(value_ns)
    return f"{number(value_ns / ns)} {unit}"


def span_unit(seconds: float) -> tuple[str, float]:
    """The unit of a time axis this long, as its name and its seconds."""
    if seconds >= 2 * 3600:
        return "h", 3600.0
    if seconds >= 600:
        return "min", 60.0
    return "s", 1.0


def span(seconds: float) -> str:
    """A length of time for people.

    >>> span(18000), span(90), span(60)
    ('5 h', '90 s', '60 s')
    """
    unit, size = span_unit(seconds)
    return f"{seconds / size:g} {unit}"


def capacity(size: float | None) -> str:
    """A capacity in decimal units.

    >>> capacity(256_060_514_304)
    '256.06 GB'
    """
    if size is None:
        return "–"
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.2f} {unit}"
    return f"{size:.0f} bytes"


def io_size(size: Any) -> str:
    """An I/O size in binary units; text is left as it is, None is several sizes.

    >>> io_size(4096), io_size(512), io_size(None)
    ('4 KiB', '512 bytes', 'mixed sizes')
    """
    if size is None:
        return "mixed sizes"
    if isinstance(size, str):
        return size
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale and size % scale == 0:
            return f"{size // scale} {unit}"
    return f"{size} bytes"


def setting(fraction: float | None) -> str:
    """The name of a setting of the accessible capacity.

    >>> setting(0.8), setting(None)
    ('80 % LBA', 'as found')
    """
    return "as found" if fraction is None else f"{100 * fraction:g} % LBA"


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


def listed(parts: Iterable[str]) -> str:
    """Parts of a sentence with commas and an "and".

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    items = list(parts)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""
