"""A run directory, read: its steps, tables and summary. Nothing in here talks to a drive."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sated import errors
from sated._histogram import Histogram
from sated.results import journal, store

if TYPE_CHECKING:
    from os import PathLike

MANIFEST = "run.json"
SCHEMA = 1
# What a published figure is compared with, by its table's name: where it stands and what it is.
_AT_OUTSTANDING = 256
_SIZE = 4096
_PUBLISHED: dict[str, tuple[str, float, str]] = {
    "write_4k_iops": ("depth-sweep", 100.0, "iops"),
    "read_4k_iops": ("depth-sweep", 0.0, "iops"),
    "write_4k_power_w": ("precondition", 100.0, "power_w"),
    "write_4k_iops_per_w": ("precondition", 100.0, "iops_per_w"),
}
_CELL = (
    "iops",
    "iops_read",
    "iops_write",
    "bytes_per_s",
    "lat_mean_ns",
    "lat_p99_ns",
    "lat_max_ns",
    "queue_mean",
    "power_w",
    "iops_per_w",
    "write_amplification",
)


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of a run: what the plan says of it and what the journal has recorded.

    `state` is finished, failed, partial (begun, but cut short or still running) or waiting; `verdict` is that of the
    rule the plan asks for, None where it asks for none or the step has not ended.
    """

    id: str
    index: int
    kind: str
    cell: dict[str, Any]
    state: str
    verdict: dict[str, Any] | None
    result: dict[str, Any]

    @property
    def range_only(self) -> str:
        """What the LBA limit that it set may be called where that is no over-provisioning; else nothing."""
        limited = self.kind == "capacity" and self.result.get("lba_removed") and not self.result["purged_beyond"]
        return str(self.result["label"]) if limited else ""


def read_manifest(path: Path) -> dict[str, Any]:
    """run.json. @raises FileOSError where there is none, ParseError for a newer or damaged one."""
    file = path / MANIFEST
    try:
        manifest: Any = json.loads(file.read_bytes())
    except OSError as error:
        raise errors.file_error(
            error, f"{file}: {error.strerror}: name the directory of a run, such as runs/x210"
        ) from None
    except ValueError:
        manifest = None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("plan"), dict):
        raise errors.ParseError(f"{file}: not a manifest of a run: restore the file or begin a new run")
    if manifest.get("schema", 0) > SCHEMA:
        raise errors.ParseError(
            f"{file}: run schema {manifest['schema']} is newer than {SCHEMA}: use the sated that wrote it "
            f"({manifest.get('versions', {}).get('sated', 'unknown')}) or a later one"
        )
    return manifest


class Run:
    """A run directory: what was planned, what has been measured, and how it compares."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """@param path of the directory. @raises FileOSError or ParseError where it holds no run."""
        self.path = Path(path)
        self.manifest = read_manifest(self.path)
        self._entries = journal.read(self.path / journal.NAME)

    @property
    def name(self) -> str:
        """The name in the column `run`."""
        return str(self.manifest["run"])

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end."""
        return any(entry["event"] == "complete" for entry in self._entries)

    @property
    def exit_code(self) -> int:
        """0; 5 where a verdict that the plan asks for is not steady; 8 where the run has not come to its end."""
        if not self.finished:
            return 8
        return 5 if self.summary()["steady"] is False else 0

    @property
    def steps(self) -> list[Step]:
        """All steps of the plan in their order, run or not."""
        last: dict[str, dict[str, Any]] = {}
        for entry in self._entries:
            if "step" in entry:
                last[entry["step"]] = entry
        states = {"finished": "finished", "failed": "failed", "started": "partial", "interrupted": "partial"}
        found = []
        for cell in self.manifest["plan"]["steps"]:
            entry = last.get(cell["id"], {})
            result = entry.get("result", {})
            if entry.get("error"):
                result = {**result, "error": entry["error"]}
            found.append(
                Step(
                    id=cell["id"],
                    index=cell["index"],
                    kind=cell["kind"],
                    cell=cell,
                    state=states.get(entry.get("event", ""), "waiting"),
                    verdict=result.get("verdict"),
                    result=result,
                )
            )
        return found

    def table(self, name: str, step: str | Step | None = None) -> pa.Table:
        """`intervals`, `environment` or `histograms`, with the columns run and step in front.

        @param step only its rows, a Step or its id. Without it a finished run gives the merged table; an unfinished
        one gives the steps that are, and what has come of the one that is not. @raises ParseError for another name.
        """
        if name not in store.NAMES:
            raise errors.ParseError(f"no table {name!r}: there are {', '.join(store.NAMES)}")
        if step is not None:
            wanted = step.id if isinstance(step, Step) else step
            known = [cell["id"] for cell in self.manifest["plan"]["steps"]]
            if wanted not in known:
                raise errors.ParseError(f"{self.path}: no step {wanted!r}: there are {', '.join(known)}")
            return store.read_step(self.path / "steps" / wanted, name)
        merged = self.path / "tables" / f"{name}.parquet"
        if self.finished and merged.exists():
            return store.read_table(merged)
        parts = [store.read_step(self.path / "steps" / each.id, name) for each in self.steps if each.state != "waiting"]
        return pa.concat_tables([store.schema(name).empty_table(), *parts])

    def histogram(self, step: str | Step, op: str | None = None) -> Histogram:
        """The latencies of a step's measured phase, over all drives, sizes and times: of one operation, or of all."""
        rows = _of_op(self.table("histograms", step), op)
        return merged(rows, _of_op(self.table("intervals", step), op))

    def summary(self) -> dict[str, Any]:
        """Verdicts, cells and the comparison with published figures, as plain data; reads the journal only.

        Rates and latencies are of the measured phase; power and IOPS per watt of a precondition cell are of its last
        300 reported seconds. What is unknown is None.
        """
        steps = self.steps
        verdicts = [
            {
                "step": step.id,
                "setting": step.cell.get("setting"),
                "steady": step.verdict["steady"],
                "rule": step.verdict["rule"],
                "text": step.verdict["text"],
            }
            for step in steps
            if step.verdict is not None and step.state == "finished"
        ]
        asked = [step for step in steps if step.cell.get("judge") is not None]
        steady: bool | None = None
        if asked and len(verdicts) == len(asked):
            steady = all(verdict["steady"] for verdict in verdicts)
        elif any(not verdict["steady"] for verdict in verdicts):
            steady = False
        labels = self._labels(steps)
        cells = [
            _cell(step, labels.get(step.cell.get("setting")))
            for step in steps
            if "workload" in step.cell and step.state == "finished"
        ]
        summary: dict[str, Any] = {
            "run": self.name,
            "plan": self.manifest["plan"]["name"],
            "drive": self.manifest["drive"],
            "judged": bool(asked),
            "steady": steady,
            "verdicts": verdicts,
            "cells": cells,
        }
        if self.manifest.get("published"):
            summary["published"] = _compare(self.manifest["published"], cells)
        return summary

    @staticmethod
    def _labels(steps: list[Step]) -> dict[Any, str]:
        """The settings whose limit is no over-provisioning, with what it is."""
        return {step.cell.get("setting"): step.range_only for step in steps if step.range_only}

    def chart(self, name: str) -> Any:
        """A chart of this run, by name. @raises UnsupportedError without the extra `report`."""
        from sated import charts

        return charts.chart(self, name)

    def report(self, path: str | PathLike[str] | None = None) -> Path:
        """Writes the report. @param path by default report.html in the directory. Return: where it is."""
        from sated import report

        written: Path = report.write(self, path)
        return written

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        rows = "".join(
            f"<tr><td>{escape(step.id)}</td><td>{escape(step.state)}</td>"
            f"<td>{_short(step.result.get('iops'))}</td>"
            f"<td>{'' if step.verdict is None else escape(str(step.verdict['text']))}</td></tr>"
            for step in self.steps
        )
        title = f"<p><b>{escape(self.name)}</b>: {escape(str(self.manifest['plan']['name']))}</p>"
        head = "<tr><th>step</th><th>state</th><th>IOPS</th><th>verdict</th></tr>"
        return f"{title}<table>{head}{rows}</table>"


def _of_op(table: pa.Table, op: str | None) -> pa.Table:
    """The rows of the measured phase, of one operation or of all."""
    found = table.filter(pc.equal(table["phase"], "measured"))
    return found if op is None else found.filter(pc.equal(found["op"], op))


def merged(histograms: pa.Table, intervals: pa.Table) -> Histogram:
    """Rows of a histogram table as one histogram, with the minimum and maximum that the intervals of the same time and
    operations know exactly. @param intervals must be those of just these I/Os."""
    whole = Histogram()
    for low, count, bits in zip(histograms["bucket_low_ns"], histograms["count"], histograms["bits"], strict=True):
        whole.merge(Histogram.from_buckets(low.values.to_numpy(), count.values.to_numpy(), bits=bits.as_py()))
    bounds = pc.min(intervals["lat_min_ns"]).as_py(), pc.max(intervals["lat_max_ns"]).as_py()
    if not whole.count or None in bounds:
        return whole
    return Histogram.from_buckets(*whole.buckets(), bits=whole.bits, minimum=int(bounds[0]), maximum=int(bounds[1]))


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def _cell(step: Step, label: str | None) -> dict[str, Any]:
    cell, result = step.cell, step.result
    notes = [text for text in (result.get("note"), label) if text]
    return {
        "step": step.id,
        "setting": cell.get("setting"),
        "purpose": cell["purpose"],
        "read": cell["read"],
        "write_percent": cell["write_percent"],
        "size": cell.get("size"),
        "threads": cell["threads"],
        "depth": cell["depth"],
        **{key: result.get(key) for key in _CELL},
        "host_bound": bool(result.get("host_bound")),
        "note": "; ".join(notes),
    }


def _compare(published: dict[str, Any], cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for quantity, figure in published.items():
        if quantity not in _PUBLISHED:
            continue
        purpose, write_percent, measured_key = _PUBLISHED[quantity]
        for cell in cells:
            if cell["purpose"] != purpose or cell["write_percent"] != write_percent or cell["size"] != _SIZE:
                continue
            if cell["threads"] * cell["depth"] != _AT_OUTSTANDING or cell["setting"] is None:
                continue
            value = figure.get(f"lba_{round(100 * cell['setting'])}")
            measured = cell[measured_key]
            if value is None or measured is None:
                continue
            difference = (measured - value) / value
            if "tolerance_abs" in figure:
                tolerance: float = figure["tolerance_abs"]
                within = abs(measured - value) <= tolerance
            else:
                tolerance = figure["tolerance"]
                within = abs(difference) <= tolerance
            rows.append(
                {
                    "quantity": quantity,
                    "unit": figure["unit"],
                    "setting": cell["setting"],
                    "published": value,
                    "measured": measured,
                    "difference": difference,
                    "tolerance": tolerance,
                    "tolerance_absolute": "tolerance_abs" in figure,
                    "within": within,
                    "source": figure["source"],
                }
            )
    return rows
