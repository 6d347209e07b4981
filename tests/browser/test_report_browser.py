"""The report in a real browser without a network: every chart is drawn, and the console stays silent."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import synthetic_run as synthetic
from sated import charts, report

for needed in ("altair", "jinja2", "vl_convert"):
    pytest.importorskip(needed, reason=f"{needed} is not installed: pip install 'sated[report]'")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt install chromium"),
]

# Counts what is coloured in each chart once all are drawn: marks, as axes and text are grey or black.
PROBE = """
<script>
(function look() {
  if (document.documentElement.dataset.drawn !== "yes") { setTimeout(look, 20); return; }
  for (const place of document.querySelectorAll("[data-chart]")) {
    const canvas = place.querySelector("canvas"), svg = place.querySelector("svg");
    let marks = 0;
    if (canvas) {
      const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      for (let i = 0; i < data.length; i += 4) {
        const most = Math.max(data[i], data[i + 1], data[i + 2]), least = Math.min(data[i], data[i + 1], data[i + 2]);
        if (most - least > 40) marks++;
      }
    } else if (svg) {
      marks = svg.querySelectorAll(".mark-line path, .mark-area path, .mark-symbol path").length;
    }
    place.setAttribute("data-seen", (canvas ? "canvas " : "svg ") + marks);
  }
  for (const entry of performance.getEntriesByType("resource")) console.error("fetched " + entry.name);
})();
</script>
</body>
"""


def browse(page: Path, profile: Path) -> tuple[str, list[str]]:
    """The page's elements after its scripts have run, and what the console said."""
    assert CHROMIUM is not None
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9", f"--user-data-dir={profile}",
        "--window-size=1100,2000", "--virtual-time-budget=60000", "--enable-logging=stderr", "--dump-dom",
        page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def seen(dom: str) -> dict[str, tuple[str, int]]:
    """For each chart how it was drawn and how many marks (SVG) or coloured pixels (canvas) it has."""
    found = {}
    for tag in re.findall(r"<div[^>]*data-chart=[^>]*>", dom):
        name = re.search(r'data-chart="([^"]+)"', tag)
        how = re.search(r'data-seen="(\w+) (\d+)"', tag)
        assert name and how, tag
        found[name[1]] = (how[1], int(how[2]))
    return found


def open_report(text: str, folder: Path) -> tuple[dict[str, tuple[str, int]], list[str]]:
    page = folder / "page.html"
    page.write_text(text.replace("</body>\n", PROBE), encoding="utf-8")
    dom, console = browse(page, folder / "profile")
    return seen(dom), console


def test_every_chart_is_drawn_without_a_network(tmp_path: Path) -> None:
    about = {"seconds": 1200, "rows": 60, "depths": (1, 16, 256), "percents": (0, 50, 100)}
    drawn, console = open_report(report.render(synthetic.op_study(tmp_path / "run", **about)), tmp_path)
    assert console == []
    assert list(drawn) == list(charts.NAMES)
    for name, (how, marks) in drawn.items():
        assert marks >= (2000 if how == "canvas" else 2), name
    assert {how for how, _ in drawn.values()} == {"canvas", "svg"}


def test_a_name_that_looks_like_html_does_no_harm(tmp_path: Path) -> None:
    name = "<img src=x onerror=console.error(1)></script><script>console.error(2)</script> & \"'"
    drawn, console = open_report(report.render(synthetic.quick(tmp_path / "run", name=name, note=name)), tmp_path)
    assert console == []
    assert drawn and all(marks for _, marks in drawn.values())
