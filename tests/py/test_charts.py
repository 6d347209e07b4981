"""Charts: what is drawn equals what numpy and the library's own histogram find in the same tables."""

from __future__ import annotations

import csv
import doctest
import functools
import importlib
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import sated
import synthetic_run as synthetic
from sated import _text, charts
from sated.charts import study as reading
from sated.charts import theme
from sated.results.run import Run

if TYPE_CHECKING:
    from sated.charts.marks import Figure

pytest.importorskip("altair", reason="altair is not installed: pip install 'sated[report]'")

SECONDS, ROWS = 1200, 60
DEPTHS, PERCENTS = (1, 32, 256), (0, 50, 100)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("runs") / "small"
    return synthetic.op_study(path, seconds=SECONDS, rows=ROWS, depths=DEPTHS, percents=PERCENTS)


@pytest.fixture(scope="module")
def file_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return synthetic.quick(tmp_path_factory.mktemp("runs") / "quick")


@functools.cache
def figure(run: Run, name: str) -> Figure:
    return charts.figure(run, name)


@functools.cache
def spec(run: Run, name: str) -> dict[str, Any]:
    """A chart as data; Altair validates it against the schema of Vega-Lite."""
    found: dict[str, Any] = figure(run, name).finished().to_dict()
    return found


def units(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All single views of a chart."""
    parts = [part for key in ("layer", "hconcat", "vconcat") for part in node.get(key, ())]
    if not parts:
        yield node
    for part in parts:
        yield from units({**{key: node[key] for key in ("data", "title") if key in node}, **part})


def mark(unit: dict[str, Any]) -> str:
    found = unit["mark"]
    return str(found if isinstance(found, str) else found["type"])


def values(unit: dict[str, Any], whole: dict[str, Any]) -> list[dict[str, Any]]:
    """A view's inline data as rows, numbers as numbers."""
    data = unit["data"]
    rows = data["values"] if "values" in data else whole["datasets"][data["name"]]
    kinds = data["format"]["parse"]
    return [
        {key: float(value) if kinds[key] == "number" else value for key, value in row.items()}
        for row in csv.DictReader(io.StringIO(rows))
    ]


def clouds(whole: dict[str, Any]) -> list[list[dict[str, Any]]]:
    return [values(unit, whole) for unit in units(whole) if mark(unit) == "circle"]


def step(run: Run, name: str, setting: float | None = 1.0) -> str:
    found = [each.id for each in run.steps if each.id.endswith(name) and each.cell["setting"] == setting]
    assert len(found) == 1
    return found[0]


def column(table: pa.Table, name: str) -> np.ndarray[Any, Any]:
    return np.asarray(table[name].to_numpy(zero_copy_only=False), dtype=float)


def test_every_name_gives_a_valid_chart_with_words(run: Run) -> None:
    for name in charts.NAMES:
        found, whole = figure(run, name), spec(run, name)
        assert found.name == name
        assert found.summary.endswith(".") and found.caption.endswith(".")
        assert whole["description"].startswith(found.title)
        assert all(len(row) == len(found.columns) for row in found.rows) and found.rows
        titles = [
            axis["title"]
            for unit in units(whole)
            for channel in ("x", "y")
            if (axis := unit["encoding"].get(channel, {}).get("axis"))
        ]
        assert titles and all(titles)


def test_precondition_has_a_point_for_each_second(run: Run) -> None:
    drawn = clouds(spec(run, "precondition-iops"))
    assert [len(points) for points in drawn] == [SECONDS, SECONDS]
    for points, setting in zip(drawn, (1.0, 0.8), strict=True):
        table = run.table("intervals", step=step(run, "precondition", setting))
        rates = column(table, "ios") / column(table, "duration_s")
        assert [row["iops"] for row in points] == pytest.approx(rates, rel=1e-4)
        assert [row["t"] * 60 for row in points] == pytest.approx(column(table, "t_s"), rel=1e-4)


def test_precondition_line_is_the_running_mean(run: Run) -> None:
    whole = spec(run, "precondition-iops")
    drawn = [unit for unit in units(whole) if mark(unit) == "line" and "legend" in unit["encoding"]["color"]]
    lines = [values(unit, whole) for unit in drawn]
    assert len(lines) == 2
    for line, setting in zip(lines, (1.0, 0.8), strict=True):
        table = run.table("intervals", step=step(run, "precondition", setting))
        t, ios, seconds = (column(table, name) for name in ("t_s", "ios", "duration_s"))
        assert len(line) > 30
        for row in line:
            end = row["t"] * 60
            inside = (t > end - 60 + 1e-3) & (t <= end + 1e-3)
            assert inside.sum() == 60
            assert row["iops"] == pytest.approx(ios[inside].sum() / seconds[inside].sum(), rel=1e-5)


def test_a_second_without_ios_is_a_point_at_zero(tmp_path: Path) -> None:
    writer = synthetic.Writer(tmp_path / "gap")
    rates = np.full(30, 4000.0)
    rates[10:15] = 0
    about = {"kind": "precondition", "purpose": "precondition", "setting": None}
    writer.load("precondition", read=0.0, depth=8, rates=rates, **about)
    gap = writer.close(drive={"model": "gap", "scale": 64, "simulated": True})
    (points,) = clouds(spec(gap, "precondition-iops"))
    assert [row["iops"] == 0 for row in points] == [10 <= i < 15 for i in range(30)]
    for name in ("latency-over-time", "latency-ccdf", "power", "iops-per-watt"):
        assert spec(gap, name)


def test_depth_sweep_shows_all_rows_and_their_mean(run: Run) -> None:
    whole = spec(run, "iops-by-depth")
    assert sum(map(len, clouds(whole))) == 2 * 2 * len(DEPTHS) * ROWS
    means = [row for unit in units(whole) if mark(unit) == "point" for row in values(unit, whole) if "n" in row]
    assert len(means) == 2 * 2 * len(DEPTHS)
    expected = {}
    for each in run.steps:
        if each.cell.get("purpose") == "depth-sweep":
            table = run.table("intervals", step=each.id)
            rate = column(table, "ios") / column(table, "duration_s")
            expected[each.cell["read"], each.cell["depth"], _text.setting(each.cell["setting"])] = rate.mean()
    panels = whole["hconcat"]
    assert [panel["title"]["text"] for panel in panels] == ["4 KiB random read", "4 KiB random write"]
    for panel, read in zip(panels, (1.0, 0.0), strict=True):
        for unit in units(panel):
            for row in values(unit, whole) if mark(unit) == "point" else ():
                if "n" in row:
                    assert row["n"] == ROWS
                    assert row["y"] == pytest.approx(expected[read, row["at"], row["series"]], rel=1e-5)
        x = next(unit["encoding"]["x"] for unit in units(panel))
        assert x["scale"]["type"] == "log" and x["scale"]["base"] == 2 and x["axis"]["values"] == list(DEPTHS)


def test_depth_sweep_shows_the_published_figures(run: Run) -> None:
    whole = spec(run, "iops-by-depth")
    points = [row for unit in units(whole) if mark(unit) == "point" for row in values(unit, whole)]
    drawn = {row["y"] for row in points if "n" not in row}
    # 4K random read and write of the X210 review, at 100 % and 80 % of the LBAs.
    assert sorted(drawn) == [3871, 15908, 41826, 68903]


def test_write_percentage_shows_all_rows_and_their_mean(run: Run) -> None:
    whole = spec(run, "write-percentage")
    assert sum(map(len, clouds(whole))) == 2 * len(PERCENTS) * ROWS
    means = {
        (row["at"], row["series"]): row["y"]
        for unit in units(whole)
        if mark(unit) == "point"
        for row in values(unit, whole)
    }
    for percent in PERCENTS:
        table = run.table("intervals", step=step(run, f"write{percent}-qd256", 0.8))
        ios, seconds = column(table, "ios"), column(table, "duration_s")
        classes = 2 if percent == 50 else 1
        assert means[percent, "80 % LBA"] == pytest.approx(ios.sum() / (seconds.sum() / classes), rel=1e-5)


def histogram(table: pa.Table) -> sated.Histogram:
    """The library's own histogram of all rows of a histogram table."""
    whole = sated.Histogram()
    for low, count in zip(table["bucket_low_ns"].to_pylist(), table["count"].to_pylist(), strict=True):
        whole.merge(sated.Histogram.from_buckets(low, count))
    return whole


def test_a_steps_histogram_is_that_of_all_its_ios(run: Run) -> None:
    """The rows of a step merged: every I/O counted, bounds exact, percentiles within a bucket of those of one value."""
    for op in ("read", "write"):
        name = step(run, "write50-qd256")
        rows = run.table("intervals", step=name)
        rows = rows.filter(pc.equal(rows["op"], op))
        whole = run.histogram(name, op)
        assert whole.count == pc.sum(rows["ios"]).as_py()
        assert (whole.min, whole.max) == (
            int(pc.min(rows["lat_min_ns"]).as_py()),
            int(pc.max(rows["lat_max_ns"]).as_py()),
        )
        stored = run.table("histograms", step=name)
        assert whole.buckets()[1].sum() == whole.count
        assert whole == histogram(stored.filter(pc.equal(stored["op"], op)))
    both = run.histogram(name)
    assert both.count == sum(run.histogram(name, op).count for op in ("read", "write"))
    assert run.histogram(run.steps[0]).count == 0


def test_latency_histogram_counts_every_io(run: Run) -> None:
    whole = spec(run, "latency-histogram")
    series = 0
    for panel, op in zip(whole["hconcat"], ("read", "write"), strict=True):
        line = next(unit for unit in units(panel) if mark(unit) == "line")
        for label, setting in (("100 % LBA", 1.0), ("80 % LBA", 0.8)):
            rows = [row for row in values(line, whole) if row["series"] == label]
            bins = round(1 / np.log10(rows[2]["x"] / rows[1]["x"]))  # to a decade
            assert f"{bins} bins to a decade ({op})" in figure(run, "latency-histogram").caption
            assert sum(row["share"] for row in rows) == pytest.approx(100, abs=1e-3)
            table = run.table("histograms", step=step(run, f"{op}-qd256", setting))
            low = np.concatenate(table["bucket_low_ns"].to_pylist())
            count = np.concatenate(table["count"].to_pylist())
            for row in rows[1:]:
                edge = round(bins * np.log10(row["x"] * 1e6))
                inside = (low >= 10.0 ** (edge / bins)) & (low < 10.0 ** ((edge + 1) / bins))
                assert row["share"] == pytest.approx(100 * count[inside].sum() / count.sum(), abs=1e-3)
            series += 1
    assert series == 4
    table = run.table("intervals", step=step(run, "read-qd256"))
    n = int(column(table, "ios").sum())
    row = figure(run, "latency-histogram").rows[0]
    assert row[0] == "read, 100 % LBA" and row[1] == f"{n:,}"
    assert row[-1] == f"{_text.latency(column(table, 'lat_max_ns').max())} of {n:,}"
    ios, mean, deviation = (column(table, name) for name in ("ios", "lat_mean_ns", "lat_stddev_ns"))
    overall = (ios * mean).sum() / n
    assert row[3] == _text.latency(overall)
    assert row[4] == _text.latency(np.sqrt((ios * (deviation**2 + (mean - overall) ** 2)).sum() / n))


def test_ccdf_falls_from_one_to_one_of_n(run: Run) -> None:
    whole = spec(run, "latency-ccdf")
    rows = values(whole, whole)
    assert {row["series"] for row in rows} == {f"{op}, {s} % LBA" for op in ("read", "write") for s in (100, 80)}
    for op in ("read", "write"):
        for setting in (1.0, 0.8):
            own = [row for row in rows if row["series"] == f"{op}, {_text.setting(setting)}"]
            x, share = (np.array([row[key] for row in own]) for key in ("x", "share"))
            name = step(run, f"{op}-qd256", setting)
            table = run.table("histograms", step=name)
            intervals = run.table("intervals", step=name)
            low = np.concatenate(table["bucket_low_ns"].to_pylist())
            count = np.concatenate(table["count"].to_pylist())
            n = count.sum()
            assert share[0] == 1 and (np.diff(share) <= 0).all() and (np.diff(x) >= 0).all()
            assert share[-1] == pytest.approx(1 / n, rel=1e-5)
            assert x[-1] * 1e6 == pytest.approx(column(intervals, "lat_max_ns").max(), rel=1e-5)
            for a, b in zip(x[1:-1], share[1:-1], strict=True):
                assert b == pytest.approx(count[low >= a * 1e6 * (1 - 1e-5)].sum() / n, rel=1e-5)


def test_latency_over_time_is_exact_over_each_minute(run: Run) -> None:
    whole = spec(run, "latency-over-time")
    assert [panel["title"]["text"] for panel in whole["hconcat"]] == ["100 % LBA", "80 % LBA"]
    compared = 0
    for panel, setting in zip(whole["hconcat"], (1.0, 0.8), strict=True):
        rows = values(next(units(panel)), whole)
        name = step(run, "precondition", setting)
        histograms, intervals = run.table("histograms", step=name), run.table("intervals", step=name)
        for minute in range(1, SECONDS // 60 + 1):
            at = {row["what"]: row["y"] * 1e6 for row in rows if abs(row["t"] - minute) < 1e-6}
            own = histogram(histograms.filter(pc.equal(histograms["t_s"], 60.0 * minute)))
            assert at["p50"] == pytest.approx(own.percentile(50), rel=1e-5)
            assert at["p99"] == pytest.approx(own.percentile(99), rel=1e-5)
            if own.count >= 1000:
                assert at["p99.9"] == pytest.approx(own.percentile(99.9), rel=1e-5)
                compared += 1
            inside = (column(intervals, "t_s") > 60 * minute - 60) & (column(intervals, "t_s") <= 60 * minute)
            assert at["maximum"] == pytest.approx(column(intervals, "lat_max_ns")[inside].max(), rel=1e-5)
    assert compared > 20


def test_a_percentile_is_left_out_where_there_are_too_few_ios(file_run: Run, tmp_path: Path) -> None:
    slow = synthetic.op_study(tmp_path / "slow", seconds=120, rows=10, depths=(), percents=(), settings=(1.0,))
    whole = spec(slow, "latency-over-time")
    rows = values(next(units(whole)), whole)
    # 3,871 IOPS at 1/64 are some 60 I/Os in a second: a p99.9 of them would be made up, their median is none.
    assert sum(row["what"] == "maximum" for row in rows) == 120
    assert sum(row["what"] == "p50" for row in rows) == 120
    assert not any(row["what"] == "p99.9" for row in rows)


def test_power_and_iops_per_watt_are_ratios_of_sums(run: Run) -> None:
    for name, top, bottom in (("power", "energy_j", "duration_s"), ("iops-per-watt", "ios", "energy_j")):
        whole = spec(run, name)
        line = next(unit for unit in units(whole) if mark(unit) == "line")
        rows = [row for row in values(line, whole) if row["series"] == "80 % LBA"]
        assert len(rows) == SECONDS // 60
        prepared = step(run, "precondition", 0.8)
        environment, intervals = run.table("environment", step=prepared), run.table("intervals", step=prepared)
        own = {"energy_j": column(environment, "energy_j"), "ios": column(intervals, "ios")}
        own["duration_s"] = column(environment, "duration_s")
        for number, row in enumerate(rows):
            part = slice(60 * number, 60 * number + 60)
            assert row["middle"] == pytest.approx(own[top][part].sum() / own[bottom][part].sum(), rel=1e-5)
            each = own[top][part] / own[bottom][part]
            assert (row["low"], row["high"]) == pytest.approx((each.min(), each.max()), rel=1e-5)
        last = own[top][-300:].sum() / own[bottom][-300:].sum()
        assert figure(run, name).rows[1][-1] == _text.number(last)


def test_energy_that_is_missing_is_not_taken_for_zero() -> None:
    times = {"phase": ["measured"] * 3, "t_s": [1.0, 2.0, 3.0], "duration_s": [1.0] * 3}
    intervals = pa.table({**times, "ios": [10, 20, 30]})
    environment = pa.table({**times, "energy_j": [2.0, None, 4.0]})
    rows = reading.pool(intervals, environment).with_energy()
    assert rows.t_s.tolist() == [1, 3]
    assert rows.ios.sum() / rows.energy_j.sum() == 40 / 6


def test_members_and_classes_are_pooled() -> None:
    rows = [(1.0, 0, "read", 5), (1.0, 0, "write", 7), (1.0, 1, "read", 11), (2.0, 0, "read", 1), (0.5, 0, "read", 99)]
    table = pa.table(
        {
            "phase": ["measured"] * 4 + ["settle"],
            "t_s": [row[0] for row in rows],
            "duration_s": [0.5] * 5,
            "ios": [row[3] for row in rows],
        }
    )
    pooled = reading.pool(table)
    assert pooled.t_s.tolist() == [1, 2]
    assert pooled.iops.tolist() == [46, 2]


def test_captions_say_what_is_shown(run: Run) -> None:
    scatter = figure(run, "precondition-iops")
    assert "A row is 1/64 s of I/O of the simulated drive (about " in scatter.caption
    assert "running mean of the last 60 s" in scatter.caption
    assert f"{2 * SECONDS:,} points" in scatter.caption and "none left out" in scatter.caption
    tail = figure(run, "latency-ccdf")
    assert "host-observed" in tail.caption and "256 outstanding" in tail.caption
    assert tail.rows[0][-1].endswith(f" of {tail.rows[0][1]}")  # a maximum stands with its n


def test_the_queue_of_the_drive_is_named_where_it_is_known(tmp_path: Path) -> None:
    about = {"seconds": 60, "rows": 10, "depths": (32, 256), "percents": (), "settings": (1.0,)}
    known = synthetic.op_study(tmp_path / "known", drive={"queue_depth": 32}, **about)
    assert "takes 32 of the 256 outstanding" in charts.figure(known, "latency-ccdf").caption


def test_an_address_range_is_not_called_over_provisioning(tmp_path: Path) -> None:
    writer = synthetic.Writer(tmp_path / "range")
    text = "80 % of the LBAs, address range only, not over-provisioning"
    limit = {"accessible_bytes": 1, "lba_removed": 0.2, "purged_beyond": False, "label": text}
    writer.other("capacity", 0.8, result=limit, fraction=0.8)
    rates = np.full(20, 4000.0)
    writer.load("write-qd8", kind="measure", purpose="depth-sweep", setting=0.8, read=0.0, depth=8, rates=rates)
    limited = writer.close(drive={"model": "range", "scale": 1, "simulated": False})
    for name in ("iops-by-depth", "latency-ccdf", "power"):
        assert f"{text}." in charts.figure(limited, name).caption


def test_a_run_of_single_loads_shows_their_latencies_and_no_power(file_run: Run) -> None:
    found, missing = charts.figures(file_run)
    assert list(found) == ["precondition-iops", "latency-histogram", "latency-ccdf", "latency-over-time"]
    assert set(found) | set(missing) == set(charts.NAMES)
    assert "no power was measured" in missing["power"]
    whole = found["latency-ccdf"].finished().to_dict()
    assert len({row["series"] for row in values(whole, whole)}) == 6
    with pytest.raises(sated.UnsupportedError, match="no power was measured"):
        charts.chart(file_run, "power")


def test_a_partial_step_is_shown_and_named(tmp_path: Path) -> None:
    about = {"seconds": 120, "rows": 40, "depths": DEPTHS, "percents": PERCENTS}
    cut = synthetic.op_study(tmp_path / "cut", fail_at="write-qd32", **about)
    found = charts.figure(cut, "iops-by-depth")
    assert "write-qd32 did not come to an end" in found.caption
    assert any(row[1] == "80 % LBA" and row[2] == "20" for row in found.rows)


def test_a_chart_that_cannot_be_drawn_does_not_cost_the_others(file_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from sated.charts import latency

    def broken(study: reading.Study) -> Figure:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(latency, "latency_ccdf", broken)
    found, missing = charts.figures(file_run)
    assert list(found) == ["precondition-iops", "latency-histogram", "latency-over-time"]
    assert "ZeroDivisionError: by nothing" in missing["latency-ccdf"]


def test_an_unknown_name_is_refused(run: Run) -> None:
    with pytest.raises(sated.ParseError, match="precondition-iops"):
        charts.chart(run, "nonsense")


def test_five_hours_of_two_settings_stay_small(tmp_path: Path) -> None:
    long = synthetic.op_study(tmp_path / "long", seconds=18_000, depths=(), percents=())
    whole = spec(long, "precondition-iops")
    assert sum(map(len, clouds(whole))) == 36_000
    assert len(json.dumps(whole)) < 1_000_000


def test_svg_needs_no_browser(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    path = charts.svg(run, "write-percentage", tmp_path / "w.svg")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<svg") and "share of writes (%)" in text and "IOPS by the share of writes" in text
    # Each row is still a dot: all settings, shares and rows of the sweep, and none elsewhere.
    strokes = re.findall(r'stroke-linecap="round"[^>]* d="([^"]*)"', text)
    assert sum(path.count("h0") for path in strokes) == 2 * len(PERCENTS) * ROWS
    assert charts.png(run, "power", tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_dots_of_an_svg_keep_their_places_when_written_compactly() -> None:
    from sated.charts import pictures

    style = 'fill="#0072B2" stroke-width="2" opacity="0.3"'
    dot = '<path transform="translate({},{})" d="M1.5,0A1.5,1.5,0,1,1,-1.5,0" ' + style + "/>"
    places = [(i / 7, 100 - i / 3) for i in range(150)]
    text = "<g>" + "".join(dot.format(*place) for place in places) + "</g>"
    small = pictures.compact(text)
    found = {(float(x), float(y)) for x, y in re.findall(r"M([-\d.]+),([-\d.]+)h0", small)}
    assert found == {(round(x, 1), round(y, 1)) for x, y in places}
    assert small.startswith("<g><path") and small.endswith("</g>") and 'stroke-width="3"' in small
    few = "<g>" + dot.format(1, 2) * 3 + "</g>"
    assert pictures.compact(few) == few


def test_without_the_extra_the_sentence_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("sated.charts.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(sated.UnsupportedError, match=r"pip install 'sated\[report\]'"):
        charts.chart(run, "power")


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = """
import sys, sated.charts, sated.report
print([name for name in ('altair', 'jinja2', 'vl_convert', 'pyarrow', 'numpy') if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("module", [_text, theme, reading, charts, "sated.charts.pictures"])
def test_examples_in_the_documentation(module: Any) -> None:
    result = doctest.testmod(importlib.import_module(module) if isinstance(module, str) else module)
    assert result.attempted and not result.failed
