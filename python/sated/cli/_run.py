"""What `review` and `resume` share: the progress of a run, and what is printed at its end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _text
from ._common import STOPPED, USAGE, Ends, debugging, emit, say, table
from ._line import Line

if TYPE_CHECKING:
    from sated import Run
    from sated.methods.runner import Progress


def refuse_finished(path: Path, instead: str) -> None:
    """A finished run stays as it is. @param instead what to do."""
    if not (path / "run.json").exists():
        return
    import sated

    if sated.Run(path).finished:
        raise Ends(f"{path} holds a finished run; {instead}", USAGE)


def carry_out(path: Path, work: Callable[[Callable[[Progress], None]], Run], *, json: bool) -> int:
    """Runs or resumes with the progress line, then writes the report and prints what came of it.

    @param path of the run; @param work is called with the progress callback. Return: the exit code.
    """
    import sated
    from sated.errors import StateError

    with Line(quiet=json) as line:
        told = _Told(path, line)
        try:
            run = work(told.progress)
        except KeyboardInterrupt:
            with suppress(sated.SatedError, OSError):
                told.finished()
            line.keep("stopped")
            line.show("writing the report", now=True)
            return _stopped(path, json=json)
        except Exception as error:
            if not told.begun and isinstance(error, StateError):
                # Nothing has been run: what was named does not fit what the directory holds.
                raise Ends(str(error), USAGE) from error
            if not told.begun:
                raise
            with suppress(Exception):
                # The files may be what is wrong: the error is told, whatever else they hold.
                told.finished()
                _say_what_is_kept(path)
            raise
        told.finished()
        line.show("writing the report", now=True)
        report = run.report()
    _conclude(run, report, json=json)
    return run.exit_code


class _Told:
    """What has been said of a run: one line for each finished step, and the live one."""

    def __init__(self, path: Path, line: Line) -> None:
        self._path = path
        self._line = line
        self._step = ""
        self._done: set[str] | None = None

    @property
    def begun(self) -> bool:
        return self._step != ""

    def progress(self, now: Progress) -> None:
        if now.note:
            self._line.keep(now.note)
        if now.step != self._step:
            self._step = now.step
            self.finished()
        self._line.show(_live(now))

    def finished(self) -> None:
        """Keeps a line for each step that has ended since."""
        from sated.results import journal

        entries = [e for e in journal.read(self._path / journal.NAME) if e["event"] == "finished"]
        if self._done is None:
            # What an earlier process has done is told by the note of resuming.
            self._done = {e["step"] for e in entries[: _of_earlier(self._path)]}
        for entry in entries:
            if entry["step"] not in self._done:
                self._done.add(entry["step"])
                self._line.keep(_ended(entry["step"], entry.get("result", {})))


def _of_earlier(path: Path) -> int:
    """How many steps had been finished when this process took the run up."""
    from sated.results import journal

    finished = before = 0
    for entry in journal.read(path / journal.NAME):
        finished += entry["event"] == "finished"
        if entry["event"] in ("begun", "resumed"):
            before = finished
    return before


def _live(now: Progress) -> str:
    where = _text.duration(now.t_s) if now.of_s is None else f"{_text.duration(now.t_s)} of {_text.duration(now.of_s)}"
    parts = [f"{now.index}/{now.count} {now.step}", f"{now.phase} {where}" if now.t_s else now.phase]
    parts += [] if now.iops is None else [f"{_text.number(now.iops)} IOPS"]
    parts += [] if now.lat_p99_ns is None else [f"p99 {_text.latency(now.lat_p99_ns)}"]
    parts += [] if now.write_amplification is None else [f"WA {_text.fixed(now.write_amplification, 2)}"]
    parts += [] if now.watts is None else [f"{_text.fixed(now.watts, 2)} W"]
    if now.eta_s is not None:
        parts.append(f"{_text.duration(now.eta_s)} left")
    return "  ".join(parts)


def _ended(step: str, result: dict[str, Any]) -> str:
    """The line that stays of a step, in columns, as it stands among its like."""
    if "iops" not in result:
        return f"{step:<26} {_without_load(result)}"
    amplification, watts = result.get("write_amplification"), result.get("power_w")
    parts = [
        f"{_text.number(result['iops']):>9} IOPS",
        f"p99 {_text.latency(result.get('lat_p99_ns')):>8}",
        f"{'' if amplification is None else f'WA {_text.fixed(amplification, 2)}':>8}",
        f"{'' if watts is None else f'{_text.fixed(watts, 2)} W':>7}",
        result.get("note") or "",
    ]
    return f"{step:<26} {'  '.join(parts)}".rstrip()


def _without_load(result: dict[str, Any]) -> str:
    if "accessible_bytes" in result:
        return f"{_text.capacity(result['accessible_bytes'])} can be addressed: {result['label']}"
    return str(result.get("note") or result.get("device_says") or "done")


def _stopped(path: Path, *, json: bool) -> int:
    """Says and writes what there is of a run that was stopped; it was stopped, whatever comes of that."""
    import sated

    try:
        run = sated.Run(path)
        _conclude(run, run.report(), json=json)
    except Exception as error:
        if debugging():
            raise
        say(f"stopped; there is no report ({error}); `sated resume {path}` goes on with the run")
    return STOPPED


def _say_what_is_kept(path: Path) -> None:
    if (path / "run.json").exists() and any((path / "steps").glob("*/*.parquet")):
        say(f"what has been measured is kept in {path}; `sated resume {path}` goes on")


def _conclude(run: Run, report: Path, *, json: bool) -> None:
    summary = run.summary()
    if json:
        emit({**summary, "finished": run.finished, "path": str(run.path), "report": str(report)})
        return
    print()
    for text in conclusion(summary, finished=run.finished, path=run.path):
        print(text)
    print(report)


def conclusion(summary: dict[str, Any], *, finished: bool, path: Path) -> list[str]:
    """Verdicts and the comparison with what was published, as lines."""
    lines = []
    if not finished:
        lines.append(f"not finished: `sated resume {path}` goes on with it")
    if not summary["judged"]:
        lines.append("steady state: not judged, as the plan asks for no verdict")
    for verdict in summary["verdicts"]:
        setting = verdict["setting"]
        where = verdict["step"] if setting is None else f"{_text.percent(setting, 0)} of the LBAs"
        found = f"{'steady' if verdict['steady'] else 'NOT steady'} by {verdict['rule']}"
        text = verdict["text"].removeprefix("not steady ").removeprefix("steady ")
        lines.append(f"{where}: {found}{' ' if text.startswith('at round') else ': '}{text}")
    published = summary.get("published")
    if published:
        lines += ["", _published(published)]
        missed = sum(not row["within"] for row in published)
        told = f"{missed} of {len(published)} outside their tolerance" if missed else "all within their tolerance"
        sources = dict.fromkeys(row["source"].partition(":")[0] for row in published)
        lines.append(f"{told}; published by {'; '.join(sources)}")
    return [*lines, ""]


def _published(rows: list[dict[str, Any]]) -> str:
    head = ("", "LBAs", "published", "simulated", "difference", "tolerance", "")
    return table(
        head,
        [
            (
                _text.QUANTITIES.get(row["quantity"], row["quantity"]),
                _text.percent(row["setting"], 0),
                f"{_quantity(row['published'], row['unit'])} {row['unit']}",
                f"{_quantity(row['measured'], row['unit'])} {row['unit']}",
                _text.percent(row["difference"], sign=True),
                _tolerance(row),
                "" if row["within"] else "MISS",
            )
            for row in rows
        ],
    )


def _quantity(value: float, unit: str) -> str:
    return _text.fixed(value, 2) if unit == "W" else _text.number(value)


def _tolerance(row: dict[str, Any]) -> str:
    if row.get("tolerance_absolute"):
        return f"{row['tolerance']:g} {row['unit']}"
    return _text.percent(row["tolerance"], 0)
