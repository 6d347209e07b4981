"""Charts of a run: its tables in, an Altair figure out.

>>> from sated import charts
>>> charts.NAMES[0]
'precondition-iops'
"""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

from sated.errors import ParseError, UnsupportedError

if TYPE_CHECKING:
    from sated.charts.marks import AnyChart, Figure
    from sated.charts.study import Study
    from sated.results.run import Run

__all__ = ["NAMES", "chart", "figure", "figures", "png", "svg"]

_WHERE = {
    "precondition-iops": ("preconditioning", "precondition_iops"),
    "iops-by-depth": ("sweeps", "iops_by_depth"),
    "write-percentage": ("sweeps", "write_percentage"),
    "latency-histogram": ("latency", "latency_histogram"),
    "latency-ccdf": ("latency", "latency_ccdf"),
    "latency-over-time": ("latency", "latency_over_time"),
    "power": ("power", "power"),
    "iops-per-watt": ("power", "iops_per_watt"),
}

NAMES: tuple[str, ...] = tuple(_WHERE)
"""The charts there are, in the order of a report."""


def _function(name: str) -> Callable[[Study], Figure]:
    if name not in _WHERE:
        raise ParseError(f"chart {name!r}: there is no such chart; there are {', '.join(NAMES)}")
    module, function = _WHERE[name]
    try:
        found = getattr(importlib.import_module(f"sated.charts.{module}"), function)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("sated"):
            raise
        raise UnsupportedError(
            f"charts need {error.name}, which is not installed: pip install 'sated[report]'"
        ) from error
    return cast("Callable[[Study], Figure]", found)


def figure(run: Run, name: str) -> Figure:
    """One chart of a run, with its title, summary, caption and table.

    Raises ParseError for an unknown name, UnsupportedError where the run has nothing to show in it or where
    `sated[report]` is not installed.
    """
    draw = _function(name)
    from sated.charts.study import Study

    return draw(Study.of(run))


def figures(run: Run) -> tuple[dict[str, Figure], dict[str, str]]:
    """All charts of a run that it has data for, by name, and for the others why not."""
    draw = {name: _function(name) for name in NAMES}
    from sated.charts.study import Study

    study = Study.of(run)
    found, missing = {}, {}
    for name in NAMES:
        try:
            found[name] = draw[name](study)
        except UnsupportedError as error:
            missing[name] = str(error)
        except Exception as error:
            # One chart that cannot be drawn is no reason to withhold the verdict and all others.
            logging.getLogger("sated").warning("chart %s: %s", name, error, exc_info=True)
            missing[name] = f"a bug in sated, please report it: {type(error).__name__}: {error}"
    return found, missing


def chart(run: Run, name: str) -> AnyChart:
    """One chart of a run as an Altair chart, with title and caption. Raises as `figure` does."""
    return figure(run, name).finished()


def svg(run: Run, name: str, path: str | os.PathLike[str]) -> Path:
    """Writes one chart of a run as an SVG file, without a browser and without a network. Raises as `figure` does."""
    target = Path(path)
    picture = chart(run, name)
    target.write_text(_pictures().svg(picture), encoding="utf-8")
    return target


def png(run: Run, name: str, path: str | os.PathLike[str], *, scale: float = 2.0) -> Path:
    """Writes one chart of a run as a PNG file, `scale` pixels to a px of the chart. Raises as `figure` does."""
    target = Path(path)
    picture = chart(run, name)
    target.write_bytes(_pictures().png(picture, scale))
    return target


def _pictures() -> ModuleType:
    try:
        return importlib.import_module("sated.charts.pictures")
    except ModuleNotFoundError as error:
        raise UnsupportedError(
            f"pictures need {error.name}, which is not installed: pip install 'sated[report]'"
        ) from error
