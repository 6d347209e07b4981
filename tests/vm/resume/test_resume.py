"""A plan on a file of a persistent disk: the guest was killed in its third step, and boots again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import plan
import pytest

WORK = Path("/run/work")
FIRST = ["0001-fill", "0002-write-qd4"]


@pytest.fixture(scope="module")
def before() -> dict[str, Any]:
    """What the disk holds after the power cut."""
    steps = WORK / "run/steps"
    tables = {str(path): path.read_bytes() for step in FIRST for path in (steps / step).glob("*.parquet")}
    return {"journal": (WORK / "run/journal.jsonl").read_text(), "tables": tables, "drive": (WORK / "drive").stat()}


@pytest.fixture(scope="module")
def run(before: dict[str, Any]) -> Any:
    return plan.go(WORK)


def events(journal: str) -> list[tuple[str, str]]:
    told = [json.loads(line) for line in journal.splitlines() if line]
    return [(each["event"], each.get("step", "")) for each in told]


def test_what_was_finished_survived_the_cut(before: dict[str, Any]) -> None:
    """A line of the journal is on the medium before the next step starts."""
    told = events(before["journal"])
    assert [step for event, step in told if event == "finished"] == FIRST
    assert told[-1] == ("started", "0003-read-qd4")
    assert len(before["tables"]) >= 4


def test_the_run_goes_on_at_the_step_that_was_cut(before: dict[str, Any], run: Any) -> None:
    journal = (WORK / "run/journal.jsonl").read_text()
    assert journal.startswith(before["journal"])
    told = events(journal)
    finished = [step for event, step in told if event == "finished"]
    assert finished == [*FIRST, "0003-read-qd4", "0004-read-qd4"]
    started = [step for event, step in told if event == "started"]
    assert [started.count(step) for step in finished] == [1, 1, 2, 1]
    assert told[-1][0] == "complete"


def test_finished_steps_are_as_they_were(before: dict[str, Any], run: Any) -> None:
    assert {path: Path(path).read_bytes() for path in before["tables"]} == before["tables"]
    assert (WORK / "drive").stat().st_size == before["drive"].st_size == 16 << 20


def test_the_tables_hold_each_step_once(run: Any) -> None:
    table = run.table("intervals")
    rows = table.to_pylist() if hasattr(table, "to_pylist") else list(table)
    measured = [row for row in rows if row["step"] == "0003-read-qd4" and row["phase"] == "measured"]
    assert [row["t_s"] for row in measured] == pytest.approx([0.5 * number for number in range(1, 13)])
    assert sum(row["errors"] for row in rows) == 0
    assert sum(row["bytes"] for row in rows if row["step"] == "0001-fill") == 16 << 20
