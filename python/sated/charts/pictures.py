"""Charts as files, drawn by vl_convert: without a browser and without a network."""

from __future__ import annotations

import re

import altair as alt
import vl_convert

from sated.charts.marks import AnyChart

_DOTS = re.compile(
    r'<path transform="translate\([^)]*\)" (d="M([\d.]+),0A[^"]*" fill="([^"]*)" stroke-width="2" opacity="([^"]*)"/>)'
    r'(?:<path transform="translate\([^)]*\)" \1){99,}'
)
_PLACE = re.compile(r"translate\(([^,)]*),([^)]*)\)")
# So many dots may lie over one another and still make each other darker.
_DEPTH = 16


def vega_lite_version(schema: str) -> str:
    """The version of Vega-Lite, as vl_convert names it, for the one of a schema: both draw the same charts then.

    >>> vega_lite_version("v6.4.1")
    '6.4'
    """
    return ".".join(schema.removeprefix("v").split(".")[:2])


def svg(chart: AnyChart) -> str:
    """A chart as SVG, with clouds of points written compactly."""
    version = vega_lite_version(alt.SCHEMA_VERSION)
    return compact(str(vl_convert.vegalite_to_svg(chart.to_dict(), vl_version=version)))


def png(chart: AnyChart, scale: float) -> bytes:
    """A chart as PNG, each px of the chart so many wide."""
    version = vega_lite_version(alt.SCHEMA_VERSION)
    return bytes(vl_convert.vegalite_to_png(chart.to_dict(), vl_version=version, scale=scale))


def bundle() -> str:
    """Vega, Vega-Lite and vega-embed as one script that sets window.vegaEmbed; nothing of it is downloaded."""
    version = vega_lite_version(alt.SCHEMA_VERSION)
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version))


def compact(text: str) -> str:
    """Runs of equal dots in an SVG as a few strokes of no length with round ends: a tenth of the size, and the same
    picture to a tenth of a px."""

    def strokes(run: re.Match[str]) -> str:
        radius, fill, opacity = run[2], run[3], run[4]
        places = [f"M{float(x):.1f},{float(y):.1f}h0" for x, y in _PLACE.findall(run[0])]
        style = f'fill="none" stroke="{fill}" stroke-linecap="round" stroke-width="{2 * float(radius):g}"'
        return "".join(
            f'<path {style} opacity="{opacity}" d="{"".join(places[part::_DEPTH])}"/>' for part in range(_DEPTH)
        )

    return _DOTS.sub(strokes, text)
