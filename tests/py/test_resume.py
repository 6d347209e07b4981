"""Runs that are killed at any moment and gone on with: the tables are those of a run that nothing disturbed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sated
from sated import _purge, errors
from sated.methods import runner
from sated.results import _files, journal, store

URI = "sim:generic,blocks=256,pages_per_block=32,seed=5"
PLAN: dict[str, Any] = {
    "name": "small",
    "interval": 0.01,
    "histogram_every": 0.05,
    "settle": False,
    "step": [
        {"kind": "purge"},
        {"kind": "capacity", "fraction": 0.9},
        {"kind": "fill", "times": 1.0},
        {"kind": "precondition", "op": "randwrite", "size": "4k", "depth": 8, "seconds": 0.2},
        {"kind": "idle", "seconds": 5.0},
        {"kind": "measure", "op": "randread", "size": "4k", "depth": 4, "seconds": 0.1},
        {"kind": "measure", "read": 0.5, "access": "random", "size": "4k", "depth": 4, "seconds": 0.1},
    ],
}
LOADS = ["0003-90-fill", "0004-90-precondition", "0006-90-write50-qd4", "0007-90-read-qd4"]

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["sated.methods.runner", "pyarrow.parquet", "sated.results.query"])

Filter = Callable[..., bool]


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def strike(owner: Any, name: str, *, when: Filter, count: int = 1, after: bool = False) -> None:
    """Kills this process at the count-th call of owner.name for which `when` holds, before or after it."""
    real = getattr(owner, name)
    seen = 0

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        nonlocal seen
        seen += bool(when(*args, **kwargs))
        if seen == count and not after:
            die()
        result = real(*args, **kwargs)
        if seen == count and after:
            die()
        return result

    setattr(owner, name, wrapped)


def line(event: str, count: int = 1, *, after: bool = False) -> Callable[[], None]:
    """At a line of the journal."""
    return lambda: strike(
        journal.Journal, "append", when=lambda self, kind, **fields: kind == event, count=count, after=after
    )


def rename(name: str, count: int = 1, folder: str = "") -> Callable[[], None]:
    """When a finished file is about to be put in its place."""
    return lambda: strike(
        _files, "rename", when=lambda source, target: target.name == name and folder in str(target), count=count
    )


def in_step(method: str, step: str, *, after: bool = False) -> Callable[[], None]:
    return lambda: strike(store.StepWriter, method, when=lambda self, *args: self.directory.name == step, after=after)


def torn_line() -> None:
    """Half of the third step's last line reaches the file."""
    real = os.write

    def half(fd: int, data: bytes) -> int:
        if b'"finished"' in data and LOADS[0].encode() in data:
            real(fd, data[: len(data) // 2])
            die()
        return real(fd, data)

    os.write = half


POINTS: dict[str, Callable[[], None]] = {
    "before the manifest is in its place": rename("run.json"),
    "before the first line": line("begun"),
    "before a step": line("started", 4),
    "after a step was begun": line("started", 4, after=True),
    "in the first second of a step": in_step("intervals", LOADS[1], after=True),
    "in the last second of a step": in_step("finish", LOADS[1]),
    "during a Parquet rename": rename("environment.parquet", 2),
    "between the tables and the end of the stream": in_step("_close", LOADS[2]),
    "while the state takes its place": rename("drive.sim", 5),
    "between state file and journal line": line("finished", 4),
    "in the middle of a journal line": torn_line,
    "while tables are merged": rename("histograms.parquet", 1, "tables"),
    "before the last line": line("complete"),
}
# In a process that goes on.
AGAIN: dict[str, Callable[[], None]] = {
    "while the state that counts is put back": rename("drive.sim"),
    "at the next state": rename("drive.sim", 2),
    "at the next line": line("finished"),
}


def victim(install: str, out: str, again: bool, uri: str) -> None:
    (AGAIN if again else POINTS)[install]()
    if again:
        runner.resume(out)
    else:
        sated.review(uri, plan=PLAN, out=out, seed=11)


def kill(install: str, out: Path, *, again: bool = False, uri: str = URI) -> None:
    """Runs in another process until that kills itself."""
    process = processes.Process(target=victim, args=(install, str(out), again, uri))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL, f"{install}: the process was not killed there ({process.exitcode})"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> sated.Run:
    return sated.review(URI, plan=PLAN, out=tmp_path_factory.mktemp("undisturbed") / "run", seed=11)


def assert_same(run: sated.Run, other: sated.Run) -> None:
    assert run.finished
    for name in store.NAMES:
        assert run.table(name).num_rows > 0
        assert run.table(name).equals(other.table(name))
        # Equal versions and an equal name of the run: the bytes are equal too.
        paths = [each.path / "tables" / f"{name}.parquet" for each in (run, other)]
        assert paths[0].read_bytes() == paths[1].read_bytes()
    assert [step.result for step in run.steps] == [step.result for step in other.steps]
    states = [journal.last_state(journal.read(each.path / journal.NAME)) for each in (run, other)]
    assert states[0] is not None
    assert states[0] == states[1]


@pytest.mark.parametrize("point", POINTS)
def test_killed_and_gone_on_with(tmp_path: Path, undisturbed: sated.Run, point: str) -> None:
    out = tmp_path / "run"
    kill(point, out)
    assert_same(sated.review(URI, plan=PLAN, out=out, seed=11), undisturbed)
    assert not list(out.rglob("*.new"))
    assert not list(out.rglob("live.arrows"))


def test_killed_again_and_again(tmp_path: Path, undisturbed: sated.Run) -> None:
    """The state that counts must not be pushed out by one whose line was never written."""
    out = tmp_path / "run"
    kill("between state file and journal line", out)
    for point in AGAIN:
        kill(point, out, again=True)
    kill("at the next line", out, again=True)
    assert_same(runner.resume(out), undisturbed)


def test_partial_step_can_be_read(tmp_path: Path) -> None:
    out = tmp_path / "run"
    kill("in the last second of a step", out)
    run = sated.Run(out)
    assert not run.finished
    assert run.exit_code == 8
    states = {step.id: step.state for step in run.steps}
    assert states[LOADS[0]] == "finished"
    assert states[LOADS[1]] == "partial"
    assert states[LOADS[2]] == "waiting"
    assert run.table("intervals", step=LOADS[0]).num_rows > 0
    assert [cell["step"] for cell in run.summary()["cells"]] == LOADS[:1]


def test_state_file_is_put_back(tmp_path: Path, undisturbed: sated.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `state=FILE` what the interrupted step did to that file is undone, and the run says so."""
    uri = f"{URI},state={tmp_path / 'mine.sim'}"
    out = tmp_path / "run"
    real = store.StepWriter.intervals

    def stop(writer: store.StepWriter, batch: Any) -> None:
        real(writer, batch)
        if writer.directory.name == LOADS[1]:
            monkeypatch.undo()
            raise KeyboardInterrupt

    monkeypatch.setattr(store.StepWriter, "intervals", stop)
    with pytest.raises(KeyboardInterrupt):
        sated.review(uri, plan=PLAN, out=out, seed=11)
    assert [entry["event"] for entry in journal.read(out / journal.NAME)][-1] == "interrupted"
    notes: list[str] = []
    run = runner.resume(out, progress=lambda now: notes.append(now.note))
    assert any("state file" in note and "undone" in note for note in notes)
    for name in store.NAMES:
        assert run.table(name).equals(undisturbed.table(name))


def contents(path: Path) -> tuple[int, int]:
    """What a state file says has been written to its drive, and what can be addressed of it."""
    with sated.open(f"sim:{path}") as drive:
        return drive.sim.counters.host_write_units, drive.identity.capacity_bytes


def test_a_state_file_is_that_of_the_last_finished_step(tmp_path: Path, undisturbed: sated.Run) -> None:
    """A killed process never closes its drive: the file follows the run step by step, and back when it is resumed."""
    mine, out = tmp_path / "mine.sim", tmp_path / "run"
    kill("in the last second of a step", out, uri=f"{URI},state={mine}")
    assert contents(mine) == contents(out / "drive.sim")
    assert contents(mine)[0] > 0
    # A kill between the restored state and the next finished step does not leave it old either.
    mine.write_bytes((out / "drive.sim.1").read_bytes())
    assert contents(mine) != contents(out / "drive.sim")
    kill("at the next line", out, again=True)
    assert contents(mine) == contents(out / "drive.sim.1")
    run = runner.resume(out)
    for name in store.NAMES:
        assert run.table(name).equals(undisturbed.table(name))
    # The limit that the plan has set is lifted at its end, in the file too.
    assert contents(mine)[1] == run.manifest["drive"]["native_capacity_bytes"]


PURGES: dict[str, Any] = {
    "name": "purges",
    "settle": False,
    "step": [
        {"kind": "purge"},
        {"kind": "measure", "op": "randwrite", "size": "4k", "depth": 4, "seconds": 0.64},
    ],
}


def killed_in_a_purge(uri: str, out: str) -> None:
    strike(_purge, "_wait", when=lambda *_: True)
    sated.review(uri, plan=PURGES, out=out, seed=11)


def test_killed_in_a_purge_and_gone_on_with(tmp_path: Path) -> None:
    """The journal of the purge lies beside the state file, which is put back: it tells of nothing any more."""
    runs = []
    for name in ("disturbed", "undisturbed"):
        file, out = tmp_path / f"{name}.sim", tmp_path / name / "run"
        out.parent.mkdir()
        sated.sim.create("x210,scale=1/64,seed=3", file)
        if name == "disturbed":
            process = processes.Process(target=killed_in_a_purge, args=(f"sim:{file}", str(out)))
            process.start()
            process.join(60)
            assert process.exitcode == -signal.SIGKILL
            assert Path(f"{file}.purge.json").exists()
        runs.append(sated.review(f"sim:{file}", plan=PURGES, out=out, seed=11))
        assert not Path(f"{file}.purge.json").exists()
    assert_same(*runs)


@pytest.mark.parametrize("form", ["sim:./my.sim", "sim:my.sim", f"{URI},state=my.sim"])
def test_resumed_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """What was named relative to one folder is found from any other, and one of the same name there is left alone."""
    plan = {**PLAN, "step": [*PLAN["step"][:1], PLAN["step"][3], PLAN["step"][5]]}
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        sated.sim.create(URI.removeprefix("sim:"), tmp_path / folder / "my.sim")
    before = (tmp_path / "there/my.sim").read_bytes()

    def stop(now: runner.Progress) -> None:
        if now.index == 3:
            raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(KeyboardInterrupt):
        sated.review(form, plan=plan, out="../run", seed=11, progress=stop)
    monkeypatch.chdir(tmp_path / "there")
    with pytest.raises(errors.ParseError, match="holds a run on"):
        sated.review(form, plan=plan, out="../run", seed=11)
    # The same drive by its other name is the same drive.
    whole = form.replace("./my.sim", "my.sim").replace("my.sim", str(tmp_path / "here/my.sim"))
    assert sated.review(whole, plan=plan, out="../run", seed=11).finished
    assert (tmp_path / "there/my.sim").read_bytes() == before
    assert contents(tmp_path / "here/my.sim")[0] > 0


def test_a_file_is_resumed_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "target"
    target.write_bytes(bytes(1 << 20) + b"x" * (1 << 20))
    plan = {**PLAN, "step": [{"kind": "measure", "op": "randwrite", "size": "4k", "seconds": 0.05}]}

    def stop(now: runner.Progress) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        sated.review("target", plan=plan, out="run", confirm=str(target), progress=stop)
    monkeypatch.chdir("/")
    assert runner.resume(tmp_path / "run", confirm=str(target)).finished


def judged(out: Path, *, disturbed: bool) -> sated.Run:
    """A plan with a settle phase and a load until steady, with or without a thread that never lets go of the
    interpreter and a caller that looks in at odd moments."""
    loads = [
        {"kind": "precondition", "op": "randwrite", "size": "16k", "depth": 2, "until": "pts", "round_every": 60.0},
        {"kind": "measure", "op": "randread", "size": "4k", "depth": 2, "seconds": 30.0},
    ]
    plan = {"name": "judged", "interval": 10.0, "settle": {"at_most": 240.0}, "step": [{"kind": "purge"}, *loads]}
    stop = threading.Event()

    def burn() -> None:
        while not stop.is_set():
            pass

    if disturbed:
        threading.Thread(target=burn, daemon=True).start()
    try:
        return sated.review(
            "sim:generic,pages_per_block=32,scale=1/8,seed=5",
            plan=plan,
            out=out / "run",
            seed=3,
            progress=lambda now: time.sleep(0.03 if disturbed else 0.0),
        )
    finally:
        stop.set()


def test_a_judged_plan_is_the_same_on_a_busy_machine(tmp_path: Path) -> None:
    quiet, busy = judged(tmp_path / "quiet", disturbed=False), judged(tmp_path / "busy", disturbed=True)
    assert_same(busy, quiet)
    verdict = quiet.steps[1].verdict
    assert verdict is not None and len(verdict["rounds"]) >= 5
    assert quiet.steps[2].result["settled"] is not None


def test_lost_state_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "run"
    kill("in the last second of a step", out)
    for name in ("drive.sim", "drive.sim.1"):
        (out / name).write_bytes(b"else")
    with pytest.raises(errors.ParseError, match=r"neither drive\.sim nor drive\.sim\.1"):
        runner.resume(out)
