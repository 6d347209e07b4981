"""The report: complete, in order, escaped, and without anything to fetch."""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import sated
import synthetic_run as synthetic
from sated import charts, report
from sated.results.run import Run

for needed in ("altair", "jinja2", "vl_convert"):
    pytest.importorskip(needed, reason=f"{needed} is not installed: pip install 'sated[report]'")

NASTY = """a <b>bold</b> & "quoted" 'name' </script><script>alert(1)</script>"""


class Page(HTMLParser):
    """The page as a browser sees it: elements with attributes, text by the heading above it, and scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.sections: dict[str, str] = {}
        self.headings: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self._inside: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("td", "th", "dt", "dd", "li", "p", "caption"):
            self.handle_data(" ")
        if tag == "h2":
            self.headings.append("")
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag in ("h1", "h2", "script", "style"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        inside = self._inside[-1] if self._inside else ""
        if inside == "script":
            attrs, text = self.scripts[-1]
            self.scripts[-1] = (attrs, text + data)
        elif inside == "h2":
            self.headings[-1] += data
        elif inside != "style":
            place = self.headings[-1] if self.headings else "top"
            self.sections[place] = self.sections.get(place, "") + data

    def text(self, heading: str) -> str:
        return " ".join(self.sections[heading].split())


def words(run: Run, monkeypatch: pytest.MonkeyPatch) -> Page:
    """The report without its charts, which take a second or two."""
    monkeypatch.setattr(charts, "figures", lambda run: ({}, {}))
    return Page(report.render(run))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("runs") / "small"
    return synthetic.op_study(path, seconds=600, rows=30, depths=(1, 256), percents=(0, 50, 100))


@pytest.fixture(scope="module")
def page(run: Run) -> Page:
    path = report.write(run)
    assert path == run.path / "report.html"
    return Page(path.read_text(encoding="utf-8"))


def test_sections_come_in_order(page: Page) -> None:
    assert page.headings == [
        "Is it in steady state?", "Published and simulated", "Charts", "All cells", "Environment", "How to reproduce",
    ]  # fmt: skip


def test_verdict_comes_before_any_table(run: Run) -> None:
    text = (run.path / "report.html").read_text(encoding="utf-8")
    assert text.index('class="headline steady"') < text.index("<table")


def test_verdicts_have_rule_rounds_range_and_slope(page: Page) -> None:
    text = page.text("Is it in steady state?")
    assert text.startswith("Steady")
    assert "100 % LBA ✓ steady range-20 10 3,871 4.1 % −0.7 %" in text
    assert "range over 4.1 % of their mean (20 % allowed)" in text
    assert "Rule range-20: five rounds" in text


def test_a_run_that_is_not_steady_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loose = synthetic.op_study(tmp_path / "loose", seconds=120, rows=5, depths=(), percents=(), steady=False)
    text = words(loose, monkeypatch).text("Is it in steady state?")
    assert text.startswith("Not steady") and "✗ not steady" in text and "✓" not in text


def test_published_figures_stand_beside_the_simulated(run: Run, page: Page) -> None:
    text = page.text("Published and simulated")
    rows = run.summary()["published"]
    assert f"{sum(row['within'] for row in rows)} of {len(rows)} figures" in text
    read = next(row for row in rows if row["quantity"] == "read_4k_iops" and row["setting"] == 0.8)
    assert f"4 KiB random read at 256 outstanding 80 % LBA 68,903 {read['measured']:,.0f} IOPS" in text
    assert "± 5 % ✓ within [1]" in text and "± 0.15 W" in text
    assert "[1] SanDisk X210 review, TweakTown" in text


def test_a_figure_outside_its_tolerance_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {**synthetic.PUBLISHED["read_4k_iops"], "lba_100": 30_000.0}
    monkeypatch.setitem(synthetic.PUBLISHED, "read_4k_iops", wrong)
    off = synthetic.op_study(tmp_path / "off", seconds=0, rows=20, depths=(256,), percents=())
    text = words(off, monkeypatch).text("Published and simulated")
    assert "100 % LBA 30,000" in text and "✗ outside" in text and "3 of 4 figures" in text


def test_charts_are_inside_in_their_order_with_words(run: Run, page: Page) -> None:
    found = [attrs["data-chart"] for tag, attrs in page.tags if "data-chart" in attrs]
    assert found == list(charts.NAMES)
    labels = [attrs["aria-label"] for _, attrs in page.tags if "data-chart" in attrs]
    assert all(labels) and all(attrs["role"] == "img" for _, attrs in page.tags if "data-chart" in attrs)
    specs = {attrs["id"]: json.loads(text) for attrs, text in page.scripts if attrs.get("type") == "application/json"}
    assert list(specs) == [f"spec-{name}" for name in charts.NAMES]
    whole = charts.figure(run, "power").finished(titled=False).to_dict()
    assert specs["spec-power"] == {key: value for key, value in whole.items() if key != "$schema"}


def test_nothing_is_fetched(page: Page) -> None:
    assert not [tag for tag, _ in page.tags if tag in ("link", "img", "iframe", "object", "embed", "base", "video")]
    assert all("src" not in attrs for tag, attrs in page.tags)
    assert all((attrs["href"] or "").startswith("#") for _, attrs in page.tags if "href" in attrs)
    policy = [attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert len(policy) == 1 and (policy[0] or "").startswith("default-src 'none'")
    specs = [text for attrs, text in page.scripts if attrs.get("type") == "application/json"]
    assert specs and not any("http:" in text or "https:" in text or '"url"' in text for text in specs)


def test_tables_have_captions_and_headings_their_order(page: Page) -> None:
    names = [tag for tag, _ in page.tags]
    assert names.count("table") == names.count("caption") > 8
    assert names.count("h1") == 1
    assert ("html", {"lang": "en"}) in page.tags
    targets = {attrs["id"] for _, attrs in page.tags if "id" in attrs}
    for _, attrs in page.tags:
        for key in ("href", "aria-labelledby"):
            if attrs.get(key):
                assert (attrs[key] or "").removeprefix("#") in targets


def test_over_provisioning_in_three_definitions(page: Page) -> None:
    text = page.text("Environment")
    # X210 256GB: raw 274,877,906,944 bytes, user 256,060,514,304 of them, and four fifths of that.
    assert "100 % LBA 4.00 GB 7.3 % 6.8 % 0.0 %" in text
    assert "80 % LBA 3.20 GB 34.2 % 25.5 % 20.0 %" in text
    assert "stands for 256.06 GB" in text and "SIM-0001" in text


def test_how_to_reproduce(page: Page) -> None:
    command = "sated review sim:x210,scale=1/64 --plan op-study --seed 1 --out runs/small-again"
    assert command in page.text("How to reproduce")


def test_cells_have_their_figures(run: Run, page: Page) -> None:
    text = page.text("All cells")
    cell = next(cell for cell in run.summary()["cells"] if cell["step"].endswith("read-qd256"))
    assert f"4 KiB random read 1 × 256 {cell['iops']:,.0f} {cell['iops']:,.0f} 0" in text
    result = next(step.result for step in run.steps if step.id == cell["step"])
    assert f"of {result['ios']:,}" in text
    assert "Sweep of the share of writes, 80 % LBA" in text


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """A quick look at a file with a name that looks like HTML."""
    path = tmp_path_factory.mktemp("runs") / "nasty"
    return Page(report.render(synthetic.quick(path, name=NASTY, note=NASTY)))


def test_names_are_escaped(seen: Page) -> None:
    assert "b" not in [tag for tag, _ in seen.tags]
    assert len(seen.scripts) == len([attrs for _, attrs in seen.tags if "data-chart" in attrs]) + 2
    assert not any(script.strip() == "alert(1)" for _, script in seen.scripts)
    assert NASTY in seen.sections["Environment"] and NASTY in seen.sections["All cells"]
    for attrs, script in seen.scripts:
        if attrs.get("type") == "application/json":
            json.loads(script)


def test_a_chart_cannot_end_its_script_element(run: Run) -> None:
    from dataclasses import replace

    figure = replace(charts.figure(run, "power"), summary=NASTY)
    text = report.embedded(figure)
    assert "<" not in text and NASTY in json.loads(text)["description"]


def test_a_quick_look_is_not_judged_and_leaves_charts_out(seen: Page) -> None:
    assert seen.text("Is it in steady state?").startswith("Not judged")
    assert "Published and simulated" not in seen.headings and "Published and measured" not in seen.headings
    assert "power: no power was measured" in seen.text("Charts")
    environment = seen.text("Environment")
    assert "purge skipped: this file system gives no blocks back" in environment
    assert "--confirm TOKEN" in seen.text("How to reproduce")


def test_a_failed_step_makes_a_partial_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    about = {"seconds": 120, "rows": 20, "depths": (1, 256), "percents": (0, 100)}
    cut = synthetic.op_study(tmp_path / "cut", fail_at="write-qd1", **about)
    seen = words(cut, monkeypatch)
    top = seen.text("top")
    finished = sum(step.state == "finished" for step in cut.steps)
    assert f"Partial run: {finished} of {len(cut.steps)} steps are finished" in top
    assert "write-qd1: sim:x210: the drive was removed" in top and f"sated resume {cut.path}" in top
    assert seen.text("Is it in steady state?").startswith("Steady")


def test_a_precondition_that_did_not_end_has_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    about = {"seconds": 120, "rows": 20, "depths": (1, 256), "percents": ()}
    cut = synthetic.op_study(tmp_path / "cut", fail_at="precondition", **about)
    text = words(cut, monkeypatch).text("Is it in steady state?")
    assert text.startswith("Steady at 100 % LBA; no verdict on the rest")
    assert "80 % LBA – no verdict" in text and "the step failed before it could be judged" in text


def test_a_run_without_any_finished_step(tmp_path: Path) -> None:
    writer = synthetic.Writer(tmp_path / "empty")
    writer.other("purge", None, result={"error": "the drive is frozen", "exit_code": 4}, event="failed", method="auto")
    empty = writer.close(complete=False, drive={"model": "x", "scale": 1, "simulated": False, "path": "/dev/sg0"})
    seen = Page(report.render(empty))
    assert "0 of 1 steps are finished" in seen.text("top") and "the drive is frozen" in seen.text("top")
    assert "No load has come to its end yet." in seen.text("All cells")
    assert not [attrs for _, attrs in seen.tags if "data-chart" in attrs]


def test_written_beside_and_renamed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "figures", lambda run: ({}, {}))
    target = tmp_path / "out.html"
    target.write_text("old")
    assert report.write(run, target) == target
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]


def test_a_place_that_cannot_be_written_is_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "figures", lambda run: ({}, {}))
    with pytest.raises(sated.SatedError, match=r"nowhere/out\.html.*--out") as caught:
        report.write(run, tmp_path / "nowhere" / "out.html")
    assert caught.value.exit_code == 7 and isinstance(caught.value, FileNotFoundError)


def test_without_the_extra_the_sentence_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(sated.UnsupportedError, match=r"needs jinja2.*pip install 'sated\[report\]'"):
        report.write(run)
