"""The report of a run: one HTML file with everything in it, which needs no network and no other file."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sated import errors
from sated.errors import UnsupportedError

if TYPE_CHECKING:
    from sated.charts.marks import Figure
    from sated.results.run import Run

__all__ = ["render", "write"]

_HERE = Path(__file__).parent


def write(run: Run, path: str | os.PathLike[str] | None = None) -> Path:
    """Writes the report of a run, finished or not, and returns where it is: report.html in its directory by default.

    Written beside and renamed. Raises UnsupportedError without `sated[report]`, FileOSError where it cannot be written.
    """
    from sated.results import _files

    target = run.path / "report.html" if path is None else Path(path)
    data = render(run).encode("utf-8")
    try:
        _files.write_bytes(target, data)
    except OSError as error:
        raise errors.file_error(
            error, f"{target}: {error.strerror}: name another file for the report with --out"
        ) from error
    return target


def render(run: Run) -> str:
    """The report as text. Raises UnsupportedError without `sated[report]`."""
    try:
        import altair  # noqa: F401
        import jinja2
        import vl_convert  # noqa: F401
    except ModuleNotFoundError as error:
        raise UnsupportedError(
            f"a report needs {error.name}, which is not installed: pip install 'sated[report]'"
        ) from error
    from sated import _text, charts
    from sated.report import content

    figures, missing = charts.figures(run)
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(number=_text.number, latency=_text.latency, capacity=_text.capacity)
    template = environment.from_string((_HERE / "report.html.j2").read_text(encoding="utf-8"))
    return template.render(
        **content.of(run, figures, missing),
        css=(_HERE / "report.css").read_text(encoding="utf-8"),
        figures=[(figure, embedded(figure)) for figure in figures.values()],
        bundle=_bundle() if figures else "",
    )


@functools.cache
def _bundle() -> str:
    """The scripts that draw, as they may stand inside a script element."""
    from sated.charts import pictures

    return pictures.bundle().replace("</script", "<\\/script")


def embedded(figure: Figure) -> str:
    """A chart as JSON that may stand inside a script element: nothing in it can end that element."""
    spec: dict[str, Any] = figure.finished(titled=False).to_dict()
    # Named by the page's own bundle; the address would only look like something to fetch.
    spec.pop("$schema", None)
    text = json.dumps(spec, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
