"""A plan from end to end: what a run holds, how it is judged, what is refused."""

from __future__ import annotations

import errno
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
import sated
from sated import _text, errors, steady
from sated.methods import runner
from sated.report import content
from sated.results import _files, store

URI = "sim:generic,pages_per_block=32,scale=1/8,seed=5"
LOAD = {"op": "randwrite", "size": "4k", "depth": 8, "seconds": 0.1}
SMALL: dict[str, Any] = {
    "name": "small",
    "interval": 0.01,
    "histogram_every": 0.05,
    "settle": False,
    "step": [{"kind": "purge"}, {"kind": "precondition", **LOAD}, {"kind": "measure", **LOAD}],
}


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[sated.Run, list[runner.Progress]]:
    """The built-in plan on a small simulated drive, with all of its progress."""
    told: list[runner.Progress] = []
    run = sated.review(URI, plan="quick", out=tmp_path_factory.mktemp("runs") / "q", seed=3, progress=told.append)
    return run, told


def test_quick_from_end_to_end(quick: tuple[sated.Run, list[runner.Progress]]) -> None:
    run, _ = quick
    assert run.finished
    assert run.exit_code == 0
    assert [step.state for step in run.steps] == ["finished"] * 10
    summary = run.summary()
    assert (summary["run"], summary["plan"], summary["judged"], summary["steady"]) == ("q", "quick", False, None)
    assert summary["verdicts"] == []
    assert summary["drive"]["simulated"]
    assert [cell["purpose"] for cell in summary["cells"]] == ["fill", "precondition", *["measure"] * 7]
    by_step = {cell["step"]: cell for cell in summary["cells"]}
    mixed = by_step["0005-write30-qd32"]
    assert (mixed["read"], mixed["write_percent"], mixed["size"]) == (0.7, 30.0, 4096)
    assert mixed["iops_read"] + mixed["iops_write"] == pytest.approx(mixed["iops"])
    assert mixed["iops_read"] / mixed["iops"] == pytest.approx(0.7, abs=0.02)
    assert by_step["0010-seq-read-qd8"]["size"] == 128 << 10
    fill = next(step for step in run.steps if step.kind == "fill")
    assert fill.result["bytes"] >= run.manifest["drive"]["capacity_bytes"] * 0.99
    json.dumps(summary, allow_nan=False)


def test_summary_is_that_of_the_tables(quick: tuple[sated.Run, list[runner.Progress]]) -> None:
    """Every figure of a cell from the rows of its measured phase, by the formulas of the reference, not by the code."""
    run, _ = quick
    for cell in run.summary()["cells"]:
        rows = run.table("intervals", step=cell["step"])
        rows = rows.filter(pc.equal(rows["phase"], "measured"))
        around = run.table("environment", step=cell["step"])
        around = around.filter(pc.equal(around["phase"], "measured"))
        duration = np.sum(around["duration_s"].to_numpy())
        ios = rows["ios"].to_numpy()
        assert cell["iops"] == pytest.approx(ios.sum() / duration, rel=1e-6)
        assert cell["bytes_per_s"] == pytest.approx(rows["bytes"].to_numpy().sum() / duration, rel=1e-6)
        some = ios > 0
        mean = np.sum(ios[some] * rows["lat_mean_ns"].to_numpy()[some]) / ios.sum()
        assert cell["lat_mean_ns"] == pytest.approx(mean, rel=1e-6)
        assert cell["lat_max_ns"] == pc.max(rows["lat_max_ns"]).as_py()
        assert cell["power_w"] == pytest.approx(np.sum(around["energy_j"].to_numpy()) / duration, rel=1e-6)
        assert cell["iops_per_w"] == pytest.approx(cell["iops"] / cell["power_w"], rel=1e-6)
        # A closed loop on a simulated drive keeps threads x depth outstanding; one that ends by bytes runs empty.
        if cell["purpose"] != "fill":
            assert cell["queue_mean"] == pytest.approx(cell["threads"] * cell["depth"], rel=1e-3)
        counts = run.table("histograms", step=cell["step"])
        counts = counts.filter(pc.equal(counts["phase"], "measured"))
        assert sum(sum(count) for count in counts["count"].to_pylist()) == ios.sum()
        if cell["write_percent"] and cell["purpose"] != "fill":
            assert cell["write_amplification"] >= 0.99
        if not cell["write_percent"]:
            assert cell["write_amplification"] is None


def test_tables_of_a_run(quick: tuple[sated.Run, list[runner.Progress]]) -> None:
    run, _ = quick
    for name in store.NAMES:
        table = run.table(name)
        assert table.schema.equals(store.schema(name))
        parts = [run.table(name, step=step) for step in run.steps]
        assert table.num_rows == sum(part.num_rows for part in parts)
    assert set(run.table("intervals")["run"].to_pylist()) == {"q"}
    with pytest.raises(errors.ParseError, match="no table 'interval'"):
        run.table("interval")
    with pytest.raises(errors.ParseError, match="no step '0099-x'"):
        run.table("intervals", step="0099-x")


def test_progress(quick: tuple[sated.Run, list[runner.Progress]]) -> None:
    run, told = quick
    assert {now.step for now in told} == {step.id for step in run.steps}
    assert [now.index for now in told] == sorted(now.index for now in told)
    assert all(now.count == 10 for now in told)


def test_query_pools_and_joins(quick: tuple[sated.Run, list[runner.Progress]]) -> None:
    pytest.importorskip("duckdb")
    run, _ = quick
    step = "0005-write30-qd32"
    found = sated.query(
        f"select * from seconds where step = '{step}' and phase = 'measured' order by t_s", runs=[run.path]
    )
    rows = run.table("intervals", step=step)
    rows = rows.filter(pc.equal(rows["phase"], "measured"))
    assert found.num_rows == pc.count_distinct(rows["t_s"]).as_py() == rows.num_rows / 2
    first = found.slice(0, 1).to_pylist()[0]
    parts = rows.filter(pc.equal(rows["t_s"], first["t_s"])).to_pylist()
    assert first["ios"] == sum(part["ios"] for part in parts)
    assert first["iops"] == pytest.approx(first["ios"] / parts[0]["duration_s"])
    assert first["queue_mean"] == pytest.approx(sum(part["queue_mean"] for part in parts))
    weighted = sum(part["ios"] * part["lat_mean_ns"] for part in parts) / first["ios"]
    assert first["lat_mean_ns"] == pytest.approx(weighted)
    assert first["lat_max_ns"] == max(part["lat_max_ns"] for part in parts)
    assert first["power_w"] == pytest.approx(first["energy_j"] / parts[0]["duration_s"])
    counted = sated.query("select count(*) as n from intervals", runs=str(run.path.parent / "*"))
    assert counted["n"].to_pylist() == [run.table("intervals").num_rows]
    with pytest.raises(errors.ParseError, match="query refused"):
        sated.query("select nothing from nowhere", runs=[run.path])
    with pytest.raises(errors.ParseError, match="gives no rows back"):
        sated.query("-- nothing", runs=[run.path])
    with pytest.raises(errors.ParseError, match="no run directory there"):
        sated.query("select 1", runs=str(run.path / "none*"))


def test_not_steady_is_exit_code_5_and_everything_is_kept(tmp_path: Path) -> None:
    """Too few rounds are never steady; the run still goes on to its end."""
    plan = {**SMALL, "interval": 1.0, "histogram_every": 60.0}
    judged = {"kind": "measure", "op": "randread", "size": "4k", "depth": 1, "seconds": 61.0, "judge": "range-20"}
    plan["step"] = [judged, {"kind": "idle", "seconds": 1.0}]
    run = sated.review(URI, plan={**plan, "round_every": 60.0}, out=tmp_path / "r")
    assert run.finished
    assert run.exit_code == 5
    summary = run.summary()
    assert summary["judged"]
    assert summary["steady"] is False
    (verdict,) = summary["verdicts"]
    assert (verdict["step"], verdict["rule"], verdict["steady"]) == ("0001-read-qd1", "range-20", False)
    assert [step.state for step in run.steps] == ["finished", "finished"]
    assert run.steps[0].verdict is not None
    assert len(run.steps[0].verdict["rounds"]) == 1


def test_until_steady_stops_when_it_is(tmp_path: Path) -> None:
    """Reads of a drive that nothing else uses do not change: five rounds, a minute apart, and not one more."""
    steps = [{"kind": "measure", "op": "randread", "size": "4k", "depth": 1, "until": "pts", "round_every": 60.0}]
    plan = {"name": "until", "settle": False, "step": steps}
    run = sated.review(URI, plan=plan, out=tmp_path / "r")
    assert run.exit_code == 0
    summary = run.summary()
    assert summary["steady"] is True
    verdict = run.steps[0].verdict
    assert verdict is not None
    assert len(verdict["rounds"]) == 5
    assert verdict["range"] <= 0.20
    rows = run.table("intervals")
    assert rows.filter(pc.equal(rows["phase"], "measured")).num_rows == 300
    minutes = rows["ios"].to_numpy()[:300].reshape(5, 60).sum(axis=1)
    lengths = rows["duration_s"].to_numpy()[:300].reshape(5, 60).sum(axis=1)
    assert [each[1] for each in verdict["rounds"]] == pytest.approx((minutes / lengths).tolist())


def test_settle_phase_is_kept_out(tmp_path: Path) -> None:
    step = {"kind": "measure", "op": "randread", "size": "4k", "depth": 1, "seconds": 5.0}
    plan = {"name": "settled", "settle": {"at_most": 180.0}, "step": [step]}
    run = sated.review(URI, plan=plan, out=tmp_path / "r")
    rows = run.table("intervals")
    phases = rows["phase"].to_pylist()
    assert phases.count("settle") == 120
    assert phases.count("measured") == 5
    measured = rows.filter(pc.equal(rows["phase"], "measured"))
    assert run.steps[0].result["ios"] == pc.sum(measured["ios"]).as_py()
    assert run.steps[0].result["settled"] is True


def test_published_figures_are_compared(tmp_path: Path) -> None:
    """A model with expected tables gives rows for the settings it has figures of, and for no others."""
    text = sated.sim.model_text("generic")
    text += """
[expected.read_4k_iops]
unit = "IOPS"
source = "a review"
lba_100 = 1000.0
tolerance = 0.05
"""
    sated.sim.add_model("published-test", text)
    sweep = {"kind": "sweep", "over": "depth", "op": "randread", "size": "4k", "outstanding": [256, 1], "seconds": 0.1}
    plan = {**SMALL, "capacity": [1.0, 0.8], "step": [{"kind": "purge"}, {"kind": "capacity"}, sweep]}
    run = sated.review(URI.replace("generic", "published-test"), plan=plan, out=tmp_path / "r")
    (row,) = run.summary()["published"]
    at_256 = next(cell for cell in run.summary()["cells"] if cell["step"] == "0003-100-read-qd256")
    assert row["measured"] == at_256["iops"]
    assert row["difference"] == pytest.approx(at_256["iops"] / 1000 - 1)
    assert row["within"] == (abs(row["difference"]) <= 0.05)
    assert (row["setting"], row["published"], row["unit"], row["source"]) == (1.0, 1000.0, "IOPS", "a review")


def test_limit_on_what_was_not_purged_is_no_over_provisioning(tmp_path: Path) -> None:
    fill = {"kind": "fill", "times": 1.0}
    limit = {"kind": "capacity", "fraction": 0.8}
    plan = {**SMALL, "step": [fill, limit, {"kind": "measure", **LOAD}]}
    run = sated.review(URI, plan=plan, out=tmp_path / "unpurged")
    last = run.summary()["cells"][-1]
    assert last["setting"] == 0.8
    assert "address range only, not over-provisioning" in last["note"]
    plan = {**SMALL, "step": [fill, {"kind": "purge"}, limit, {"kind": "measure", **LOAD}]}
    run = sated.review(URI, plan=plan, out=tmp_path / "purged")
    assert run.summary()["cells"][-1]["note"] == ""


def test_capacity_is_set_back_at_the_end(tmp_path: Path) -> None:
    plan = {**SMALL, "step": [{"kind": "purge"}, {"kind": "capacity", "fraction": 0.5}, {"kind": "measure", **LOAD}]}
    with sated.open(URI) as drive:
        before = drive.identity.capacity_bytes
        run = sated.review(drive, plan=plan, out=tmp_path / "r")
        assert drive.identity.capacity_bytes == before
    limited = run.steps[1].result["accessible_bytes"]
    assert limited == pytest.approx(before / 2, abs=4096)
    assert run.manifest["settings"] == {"accessible_bytes": {"was": before, "set": limited, "restored": before}}


def test_a_setting_of_a_run_that_was_stopped_is_on_record(tmp_path: Path) -> None:
    def stop(now: runner.Progress) -> None:
        if now.index == 2:
            raise KeyboardInterrupt

    plan = {**SMALL, "step": [{"kind": "capacity", "fraction": 0.5}, {"kind": "measure", **LOAD}]}
    with sated.open(URI) as drive:
        before = drive.identity.capacity_bytes
        with pytest.raises(KeyboardInterrupt):
            sated.review(drive, plan=plan, out=tmp_path / "r", progress=stop)
        now = drive.identity.capacity_bytes
        assert now < before
        assert sated.Run(tmp_path / "r").manifest["settings"] == {"accessible_bytes": {"was": before, "set": now}}


@pytest.mark.parametrize(
    ("load", "says"),
    [
        ({"size": "1000"}, "size"),
        ({"offset": "1TB"}, "do not fit"),
        ({"offset": 0, "length": "1TB"}, "do not fit"),
        ({"offset": 100, "length": 8192}, "offset = 100 is not a multiple"),
        ({"offset": 0, "length": 4096, "size": "8k"}, "do not fit"),
        ({"offset": "60%"}, "do not fit"),
    ],
    ids=str,
)
def test_a_plan_that_does_not_fit_is_refused_before_its_first_step(
    tmp_path: Path, load: dict[str, Any], says: str
) -> None:
    """Its last step, after an LBA limit; nothing has been done to the drive and nothing been made by then."""
    last = {"kind": "measure", **LOAD, **load}
    if load.get("offset") == "60%":
        with sated.open(URI) as drive:
            last["offset"] = int(0.6 * drive.identity.native_capacity_bytes) // 4096 * 4096
    steps = [{"kind": "purge"}, {"kind": "capacity", "fraction": 0.5}, last]
    with pytest.raises(errors.ParseError, match=says):
        sated.review(URI, plan={**SMALL, "step": steps}, out=tmp_path / "r")
    assert not (tmp_path / "r/run.json").exists()


def test_a_fill_ends_in_time_and_says_so(tmp_path: Path) -> None:
    plan = {**SMALL, "step": [{"kind": "fill", "times": 5.0, "seconds": 0.1}]}
    run = sated.review(URI, plan=plan, out=tmp_path / "r")
    (cell,) = run.summary()["cells"]
    share = 100 * run.steps[0].result["bytes"] / (5 * run.manifest["drive"]["capacity_bytes"])
    assert 0 < share < 100
    assert cell["note"] == f"ended after 0.1 s with {share:.3g} % of what was to be written"


def test_figures_of_the_last_300_seconds(tmp_path: Path) -> None:
    """Random writes on a purged drive fall; the summary's power is that of the last 300 rows, by the formula of the
    reference, and not that of the whole."""
    load = {"kind": "precondition", "op": "randwrite", "size": "128k", "depth": 8, "seconds": 1200.0}
    plan = {"name": "fall", "settle": False, "step": [{"kind": "purge"}, load]}
    run = sated.review("sim:x210,scale=1/64", plan=plan, out=tmp_path / "r")
    rows, around = (run.table(name, step=run.steps[1]) for name in ("intervals", "environment"))
    rows, around = (table.filter(pc.equal(table["phase"], "measured")) for table in (rows, around))
    ios, seconds, joules = (
        table[name].to_numpy() for table, name in ((rows, "ios"), (around, "duration_s"), (around, "energy_j"))
    )
    assert len(ios) == len(joules) == 1200
    last = slice(-300, None)
    power = joules[last].sum() / seconds[last].sum()
    (cell,) = run.summary()["cells"]
    assert cell["power_w"] == pytest.approx(power, rel=1e-9)
    assert cell["iops_per_w"] == pytest.approx(ios[last].sum() / joules[last].sum(), rel=1e-9)
    assert cell["iops"] == pytest.approx(ios.sum() / seconds.sum(), rel=1e-9)
    told = run.steps[1].result["last_300_s"]
    assert told["iops"] == pytest.approx(ios[last].sum() / seconds[last].sum(), rel=1e-9)
    counted = {name: around[name].to_numpy() for name in ("host_bytes", "media_bytes")}
    written, programmed = (counted[name][-1] - counted[name][-301] for name in ("host_bytes", "media_bytes"))
    assert told["write_amplification"] == pytest.approx(programmed / written, rel=1e-9)
    # The report keeps figures of the same seconds in the same row.
    ((whole, end),) = (group["rows"] for group in content._cell_groups(run.summary()["cells"], run.steps))
    assert (whole["iops"], whole["power"], whole["iops_per_w"]) == (_text.number(cell["iops"]), "", "")
    assert end["workload"] == "its last 300 s"
    shown = {"iops": told["iops"], "power": power, "iops_per_w": cell["iops_per_w"]}
    assert {name: end[name] for name in shown} == {name: _text.number(value) for name, value in shown.items()}
    # It has fallen: the whole and the end are not the same.
    assert cell["iops"] > 1.1 * told["iops"]
    assert abs(joules.sum() / seconds.sum() / power - 1) > 1e-4


def test_file_is_measured_and_needs_its_token(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(os.urandom(1 << 20) * 8)
    plan = {**SMALL, "step": [{"kind": "purge", "optional": True}, {"kind": "fill", "times": 1.0, "depth": 4}]}
    with pytest.raises(errors.UnsafeError):
        sated.review(str(target), plan=plan, out=tmp_path / "r")
    assert not (tmp_path / "r").exists()
    run = sated.review(str(target), plan=plan, out=tmp_path / "r", confirm=str(target.resolve()))
    assert run.exit_code == 0
    assert run.summary()["cells"][0]["iops"] > 0
    assert run.summary().get("published") is None


def test_what_a_directory_holds_decides(tmp_path: Path) -> None:
    out = tmp_path / "r"
    run = sated.review(URI, plan=SMALL, out=out, seed=1)
    with pytest.raises(errors.ParseError, match="holds a finished run"):
        sated.review(URI, plan=SMALL, out=out, seed=1)
    with pytest.raises(errors.ParseError, match="with seed 1, not 2"):
        sated.review(URI, plan=SMALL, out=out, seed=2)
    with pytest.raises(errors.ParseError, match="another plan"):
        sated.review(URI, plan="quick", out=out, seed=1)
    with pytest.raises(errors.ParseError, match="holds a run on sim:generic"):
        sated.review(f"{URI},gc=fifo", plan=SMALL, out=out, seed=1)
    with pytest.raises(errors.ParseError, match="holds a finished run"):
        runner.resume(out)
    manifest = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps({**manifest, "schema": 99}))
    with pytest.raises(errors.ParseError, match="run schema 99 is newer than 1"):
        sated.Run(run.path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    with pytest.raises(errors.ParseError, match=r"holds other files \(letter\.txt\)"):
        sated.review(URI, plan=SMALL, out=tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]
    for damaged in ("nonsense", "[]", "null", "{}"):
        (out / "run.json").write_text(damaged)
        with pytest.raises(errors.ParseError, match="not a manifest of a run"):
            sated.Run(run.path)
    with pytest.raises(errors.ParseError, match="is not a directory"):
        sated.review(URI, plan=SMALL, out=tmp_path / "mine/letter.txt")
    with pytest.raises(FileNotFoundError) as caught:
        sated.Run(tmp_path / "none")
    assert errors.exit_code(caught.value) == 7


class Full(io.FileIO):
    """A file on a full medium."""

    def write(self, data: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.name)


def test_full_disk_is_one_sentence_and_the_run_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "r"
    real = _files.open_for_writing

    def full(path: Path) -> Any:
        return Full(path, "wb") if path.name.startswith("environment") and "precondition" in str(path) else real(path)

    monkeypatch.setattr(_files, "open_for_writing", full)
    with pytest.raises(errors.SatedError, match="No space left on device") as caught:
        sated.review(URI, plan=SMALL, out=out)
    monkeypatch.undo()
    assert errors.exit_code(caught.value) == 8
    assert "\n" not in str(caught.value)
    partial = sated.Run(out)
    assert [step.state for step in partial.steps] == ["finished", "failed", "waiting"]
    assert partial.exit_code == 8
    assert partial.table("intervals").num_rows > 0
    run = runner.resume(out)
    undisturbed = sated.review(URI, plan=SMALL, out=tmp_path / "undisturbed" / "r")
    for name in store.NAMES:
        assert run.table(name).equals(undisturbed.table(name))


def test_ctrl_c_leaves_a_run_that_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "r"

    def stop(now: runner.Progress) -> None:
        if now.index == 2:
            raise KeyboardInterrupt

    with sated.open(URI) as drive:
        with pytest.raises(KeyboardInterrupt):
            sated.review(drive, plan=SMALL, out=out, progress=stop)
        assert sated.Run(out).steps[1].state == "partial"
        assert sated.review(drive, plan=SMALL, out=out).finished


def test_until_steady_gives_up_after_the_last_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With three rounds allowed instead of 25 a window of five can never be had."""
    assert steady.MAX_ROUNDS == 25
    monkeypatch.setattr(steady, "MAX_ROUNDS", 3)
    step = {"kind": "measure", "op": "randread", "size": "4k", "depth": 1, "until": "pts", "round_every": 60.0}
    run = sated.review(URI, plan={"name": "until", "settle": False, "step": [step]}, out=tmp_path / "r")
    assert run.exit_code == 5
    (verdict,) = run.summary()["verdicts"]
    assert verdict["text"].startswith("not reached after 3 rounds: ")
    assert run.table("intervals").num_rows == pytest.approx(180, abs=1)
