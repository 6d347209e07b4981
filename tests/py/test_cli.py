"""The command line: help, exit codes, one sentence per error, JSON, consent, stopping."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest
import sated
from sated.cli import main

COMMANDS = [
    ["list"],
    ["health"],
    ["info"],
    ["load"],
    ["review"],
    ["resume"],
    ["report"],
    ["doctor"],
    ["sim"],
    ["sim", "models"],
    ["sim", "show"],
    ["sim", "validate"],
    ["sim", "create"],
    ["sim", "counters"],
    ["sim", "exec"],
    ["sim", "fail"],
    ["sim", "heal"],
    ["sim", "power"],
]
SIM = "sim:x210,scale=1/64"
HEAVY = ("numpy", "pyarrow", "duckdb", "pydantic", "altair")

# A plan that is through in well under a second on a simulated drive.
PLAN = """
name = "tiny"
settle = false

[[step]]
kind = "purge"

[[step]]
kind = "precondition"
op = "randwrite"
size = "4k"
depth = 8
seconds = 20.0

[[step]]
kind = "measure"
op = "randread"
size = "4k"
depth = 8
seconds = 10.0
"""


class Told:
    """What a command said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def sentence(self) -> str:
        """The error: exactly one line of the form `sated: ...`, and never a traceback."""
        lines = self.err.strip().splitlines()
        assert len(lines) == 1 and lines[0].startswith("sated: "), self.err
        assert "Traceback" not in self.err
        return lines[0]


@pytest.fixture
def sated_cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs a command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SATED_LOG", raising=False)

    def run(*arguments: str | Path) -> Told:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Told(code, captured.out, captured.err)

    return run


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture
def full_file(tmp_path: Path) -> Path:
    path = tmp_path / "full.bin"
    path.write_bytes(b"precious" * (1 << 17))
    return path


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_has_an_example_and_the_exit_codes(sated_cli: Any, words: list[str]) -> None:
    told = sated_cli(*words, "--help")
    assert told.code == 0
    assert "Example:" in told.out and "sated " + words[0] in told.out.split("Example:")[1]
    codes = told.out.split("Exit codes:")[1]
    assert re.search(r"^ *0  ok$", codes, re.MULTILINE)
    if words not in (["sim"], ["sim", "exec"]):  # one has commands only, the other the output of a program
        assert "--json" in told.out


def test_help_lists_every_command_and_loads_nothing_heavy() -> None:
    program = (
        "import sys; from sated.cli import main; code = main(['--help']); "
        f"print(sorted(set(sys.modules) & set({HEAVY!r})), file=sys.stderr); sys.exit(code)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    for words in COMMANDS:
        assert words[0] in ran.stdout
    assert ran.stderr.strip() == "[]"


def test_module_and_version() -> None:
    ran = subprocess.run([sys.executable, "-m", "sated", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout == f"sated {sated.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "missing command"),
        (["frobnicate"], 2, "frobnicate"),
        (["load"], 2, "URI"),
        (["load", SIM, "--frob"], 2, "--frob"),
        (["load", SIM, "--depth", "x"], 2, "--depth"),
        (["load", SIM], 2, "--seconds"),
        (["load", SIM, "--ios", "0"], 2, "ios"),
        (["load", SIM, "--ios", "10", "--op", "scribble"], 2, "scribble"),
        (["load", SIM, "--ios", "10", "--size", "4q"], 2, "4q"),
        (["load", SIM, "--ios", "10", "--size", "1000"], 2, "1000"),
        (["load", SIM, "--ios", "10", "--sizes", "4k"], 2, "--sizes"),
        (["load", SIM, "--ios", "10", "--sizes", "4k:50,8k:20"], 2, "70"),
        (["load", SIM, "--ios", "10", "--op", "write", "--read", "0.5"], 2, "read"),
        (["load", SIM, "--ios", "10", "--threads", "0"], 2, "threads"),
        (["load", SIM, "--ios", "10", "--engine", "warp"], 2, "warp"),
        (["load", SIM, "--until", "never"], 2, "never"),
        (["load", SIM, "--bytes", "1g"], 2, "1GB"),
        (["load", SIM, "--ios", "10", "--out", "rows.csv"], 2, ".parquet"),
        (["load", SIM, "--ios", "10", "--out", "no/rows.parquet"], 2, "no"),
        (["load", "sim:x211", "--ios", "10"], 2, "x210"),
        (["load", "sim:x210,scal=1/64", "--ios", "10"], 2, "scale"),
        (["load", "sim:x210,scale=2", "--ios", "10"], 2, "scale"),
        (["load", "no-such-file", "--ios", "10"], 2, "no-such-file"),
        (["info", "no-such-file"], 2, "no-such-file"),
        (["review", SIM], 2, "--plan"),
        (["review", SIM, "--plan", "op-studdy"], 2, "op-study"),
        (["review", SIM, "--plan", "./no.toml"], 7, "no.toml"),
        (["resume", "no-run"], 7, "no-run"),
        (["report", "no-run"], 7, "no-run"),
        (["sim", "show", "x211"], 2, "x210"),
        (["sim", "create", "x211", "my.sim"], 2, "x210"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_is_one_sentence_and_a_code(sated_cli: Any, arguments: list[str], code: int, words: str) -> None:
    told = sated_cli(*arguments)
    assert told.code == code, told.err + told.out
    assert words in told.sentence
    assert told.out == ""


def test_doctor_names_a_folder_that_is_not_there(sated_cli: Any) -> None:
    told = sated_cli("doctor", "no-folder", "--json")
    assert told.code == 7 and told.err == ""
    (folder,) = [each for each in json.loads(told.out) if each["what"] == "folder no-folder"]
    assert folder["state"] == "missing" and "No such file" in folder["found"] and folder["do"]


# What an example needs before it can be run: files, and drives that it names.
EXAMPLES = {
    "sated load": [],
    "sated info": [],
    "sated list": [],
    "sated sim": [],
    "sated sim models": [],
    "sated sim show": [],
    "sated sim counters": [["sim", "create", "x210,scale=1/64", "my.sim"]],
}


@pytest.mark.parametrize("words", [[], *COMMANDS], ids=" ".join)
def test_the_example_of_each_command_is_right(sated_cli: Any, words: list[str]) -> None:
    """All of them are understood; those that need no hours, no mounted folder and no run are run as they stand."""
    import shlex

    import typer
    from sated.cli import app

    text = (
        sated_cli(*words, "--help")
        .out.split("Example:")[1]
        .strip()
        .splitlines()[0]
        .replace("$(realpath test.bin)", "T")
    )
    program, *arguments = shlex.split(text)
    assert program == "sated" and arguments[: len(words)] == words
    command: Any = typer.main.get_command(app)
    rest = arguments
    while hasattr(command, "commands"):
        command, rest = command.commands[rest[0]], rest[1:]
    command.make_context(command.name, list(rest))
    key = " ".join(["sated", *words])
    if key in EXAMPLES:
        for before in EXAMPLES[key]:
            assert sated_cli(*before).code == 0
        told = sated_cli(*arguments)
        assert told.code == 0, told.err


def test_unknown_plan_key_names_file_line_and_the_nearest_key(sated_cli: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(PLAN.replace("depth = 8\nseconds = 20.0", "dept = 8\nseconds = 20.0"))
    told = sated_cli("review", SIM, "--plan", "./bad.toml")
    assert told.code == 2
    assert "bad.toml:12" in told.sentence and "depth" in told.sentence


def test_load_on_a_simulated_drive(sated_cli: Any) -> None:
    told = sated_cli("load", SIM, "--op", "randread", "--depth", "8", "--ios", "2000", "--json")
    assert told.code == 0
    found = json.loads(told.out)
    assert found["pooled"]["ios"] == 2000
    assert found["pooled"]["engine"] == "sim"
    assert [(each["op"], each["size"]) for each in found["classes"]] == [("read", 4096)]
    # A closed loop keeps threads x depth outstanding, but for the last I/Os, which nothing follows: 3.5 of 2000.
    assert found["pooled"]["queue_mean"] == pytest.approx(8 * (1 - 3.5 / 2000), rel=1e-3)
    # The class's percentiles are merged from the histograms of the load, the pooled ones are the load's own.
    assert found["classes"][0]["lat_p99_ns"] == pytest.approx(found["pooled"]["lat_p99_ns"], rel=1 / 1024)
    told = sated_cli("load", SIM, "--op", "randread", "--depth", "8", "--ios", "2000")
    assert told.code == 0 and "read 4 KiB" in told.out and "2,000" in told.out


def test_rows_that_cannot_be_written_leave_the_result(
    sated_cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    told = sated_cli("load", SIM, "--ios", "100", "--out", "rows.parquet")
    assert told.code == 8 and "No space left on device" in told.sentence and "--out rows.parquet" in told.sentence
    assert "read 4 KiB" in told.out
    assert list(tmp_path.iterdir()) == []


def test_load_mix_of_sizes_and_operations(sated_cli: Any) -> None:
    told = sated_cli("load", SIM, "--read", "2/3", "--sizes", "512:10,4k:90", "--ios", "3000", "--json", "--seed", "7")
    found = json.loads(told.out)
    assert {(each["op"], each["size"]) for each in found["classes"]} == {
        (op, size) for op in ("read", "write") for size in (512, 4096)
    }
    assert sum(each["ios"] for each in found["classes"]) == found["pooled"]["ios"] == 3000


def test_load_writes_its_rows(sated_cli: Any, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    told = sated_cli("load", SIM, "--ios", "1000", "--out", "rows.parquet")
    assert told.code == 0 and told.out.splitlines()[-1] == "rows: rows.parquet"
    assert sum(pq.read_table(tmp_path / "rows.parquet")["ios"].to_pylist()) == 1000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.parquet"]


@pytest.mark.parametrize("confirm", [[], ["--confirm", "yes"], ["--confirm", "full.bin"]], ids=str)
@pytest.mark.parametrize(
    "command", [["load", "--op", "randwrite", "--ios", "10"], ["review", "--plan", "quick"]], ids=lambda c: c[0]
)
def test_writing_to_a_file_that_holds_something_needs_its_path(
    sated_cli: Any, full_file: Path, command: list[str], confirm: list[str]
) -> None:
    before = full_file.read_bytes()
    told = sated_cli(command[0], full_file, *command[1:], *confirm)
    assert told.code == 3
    assert "confirm" in told.sentence or "token" in told.sentence
    assert full_file.read_bytes() == before


def test_reading_a_file_needs_no_token_and_writing_is_done_with_it(sated_cli: Any, full_file: Path) -> None:
    before = full_file.read_bytes()
    assert sated_cli("load", full_file, "--ios", "10").code == 0
    assert full_file.read_bytes() == before
    told = sated_cli("load", full_file, "--op", "randwrite", "--ios", "10", "--confirm", full_file.resolve())
    assert told.code == 0, told.err
    assert full_file.read_bytes() != before


def test_create_makes_a_file_and_refuses_one_that_is_there(sated_cli: Any, full_file: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.bin"
    assert sated_cli("load", new, "--create", "1MiB", "--op", "randwrite", "--ios", "10").code == 0
    assert new.stat().st_size == 1 << 20
    before = full_file.read_bytes()
    told = sated_cli("load", full_file, "--create", "1MiB", "--ios", "10")
    assert told.code != 0 and "full.bin" in told.sentence
    assert full_file.read_bytes() == before


def test_a_file_that_is_too_small_is_refused(sated_cli: Any, tmp_path: Path) -> None:
    small = tmp_path / "small.bin"
    small.write_bytes(bytes(4096))
    told = sated_cli("load", small, "--size", "8k", "--ios", "10")
    assert told.code == 2 and "small.bin" in told.sentence


def test_a_file_without_permission(sated_cli: Any, full_file: Path) -> None:
    assert sated_cli("load", full_file, "--ios", "10").code == 0
    full_file.chmod(0)
    root = os.geteuid() == 0
    if root:  # root may read everything
        os.seteuid(65534)
    try:
        told = sated_cli("load", full_file, "--ios", "10")
    finally:
        if root:
            os.seteuid(0)
    assert told.code == 7 and "full.bin" in told.sentence


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_load_and_prints_what_there_is(
    sated_cli: Any, monkeypatch: pytest.MonkeyPatch, by: signal.Signals
) -> None:
    waited = sated.Job.wait
    calls = 0

    def wait(job: sated.Job, timeout: float | None = None) -> bool:
        nonlocal calls
        calls += 1
        ended = waited(job, timeout)
        if calls == 2:
            os.kill(os.getpid(), by)
        return ended

    monkeypatch.setattr(sated.Job, "wait", wait)
    told = sated_cli("load", SIM, "--seconds", "100000000", "--json")
    assert told.code == 6
    found = json.loads(told.out)
    assert found["interrupted"] and found["pooled"]["ios"] > 0


def test_review_resume_and_report(sated_cli: Any, plan: Path, tmp_path: Path) -> None:
    told = sated_cli("review", SIM, "--plan", plan, "--out", "runs/a")
    assert told.code == 0, told.err
    assert told.out.splitlines()[-1] == "runs/a/report.html"
    assert "not judged" in told.out
    assert (tmp_path / "runs/a/report.html").stat().st_size > 1000
    # Without a terminal there is one line for each step that ended.
    assert [line.split()[0][:4] for line in told.err.splitlines()] == ["0001", "0002", "0003"]

    assert "finished run" in sated_cli("resume", "runs/a").sentence
    assert sated_cli("review", SIM, "--plan", plan, "--out", "runs/a").code == 2
    told = sated_cli("report", "runs/a", "--out", "b.html")
    assert told.code == 0 and told.out == "b.html\n" and (tmp_path / "b.html").exists()


def test_review_on_a_file(sated_cli: Any, tmp_path: Path) -> None:
    """The machinery of quick on a real file: refused without the token, then measured with it, up to the report."""
    (tmp_path / "short.toml").write_text(
        PLAN.replace('name = "tiny"', 'name = "short"\ninterval = 0.1')
        .replace('kind = "purge"', 'kind = "purge"\noptional = true\n\n[[step]]\nkind = "fill"\ntimes = 1.0')
        .replace("20.0", "0.4")
        .replace("10.0", "0.4")
    )
    target = tmp_path / "target.bin"
    target.write_bytes(bytes(range(256)) * (64 << 12))
    told = sated_cli("review", target, "--plan", "./short.toml", "--out", "runs/f")
    assert told.code == 3 and str(target) in told.sentence
    assert not (tmp_path / "runs").exists()
    told = sated_cli("review", target, "--plan", "./short.toml", "--out", "runs/f", "--confirm", target)
    assert told.code == 0, told.err
    assert told.out.splitlines()[-1] == "runs/f/report.html"
    run = sated.Run("runs/f")
    loads = [step for step in run.steps if "workload" in step.cell]
    assert [step.kind for step in loads] == ["fill", "precondition", "measure"]
    assert loads[0].result["bytes"] == 64 << 20
    assert {step.result["engine"] for step in loads} <= {"io_uring", "libaio", "threads"}
    assert all(step.result["errors"] == 0 for step in loads)
    assert run.manifest["uri"] == str(target)
    assert "a file on" in (tmp_path / "runs/f/report.html").read_text() or "target.bin" in told.out


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda out: out.write_text("mine"), "not a directory"),
        (lambda out: (out.mkdir(), (out / "letter.txt").write_text("dear")), "holds other files"),
        (lambda out: (out.mkdir(), (out / "run.json").write_text("[]")), "not a manifest"),
    ],
    ids=["a file", "somebody else's folder", "a damaged run"],
)
def test_what_stands_in_the_way_of_a_run_is_told(
    sated_cli: Any, plan: Path, tmp_path: Path, make: Any, says: str
) -> None:
    make(tmp_path / "out")
    told = sated_cli("review", SIM, "--plan", plan, "--out", "out")
    assert told.code == 2 and says in told.sentence and told.out == ""


def test_ctrl_c_in_the_first_second_of_a_review(sated_cli: Any, plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """0.3 s of preconditioning make fewer rows than any window of a chart; the report is written all the same."""
    from sated.results import store

    real = store.StepWriter.intervals

    def stop(writer: store.StepWriter, batch: Any) -> None:
        real(writer, batch.slice(0, 1))
        raise KeyboardInterrupt

    monkeypatch.setattr(store.StepWriter, "intervals", stop)
    plan.write_text(plan.read_text().replace("settle = false", "settle = false\ninterval = 0.3"))
    told = sated_cli("review", SIM, "--plan", plan, "--out", "runs/a")
    assert told.code == 6, told.err
    assert told.out.splitlines()[-1] == "runs/a/report.html"
    monkeypatch.setattr(store.StepWriter, "intervals", real)
    assert sated_cli("report", "runs/a").code == 0
    text = Path("runs/a/report.html").read_text()
    assert 'data-chart="precondition-iops"' in text and "a bug" not in text


def test_a_stopped_review_is_stopped_whatever_becomes_of_its_report(
    sated_cli: Any, plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sated import report
    from sated.methods import steps

    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setitem(steps._DOERS, "measure", stopped)
    monkeypatch.setattr(report, "render", broken)
    told = sated_cli("review", SIM, "--plan", plan, "--out", "runs/a")
    assert told.code == 6 and "sated resume runs/a" in told.err and "by nothing" in told.err


@pytest.mark.parametrize(
    ("steady", "text", "line"),
    [
        (True, "steady at round 5: mean 10.0", "steady by pts at round 5: mean 10.0"),
        (False, "not steady at round 9: range 30 %", "NOT steady by pts at round 9: range 30 %"),
        (
            False,
            "not reached after 25 rounds: not steady at round 25: range 30 %",
            "NOT steady by pts: not reached after 25 rounds: not steady at round 25: range 30 %",
        ),
        (False, "3 of the 5 rounds that a verdict needs", "NOT steady by pts: 3 of the 5 rounds that a verdict needs"),
    ],
)
def test_a_verdict_in_one_line(steady: bool, text: str, line: str) -> None:
    from sated.cli._run import conclusion

    verdict = {"step": "0001-x", "setting": 0.8, "steady": steady, "rule": "pts", "text": text}
    summary = {"judged": True, "verdicts": [verdict]}
    assert conclusion(summary, finished=True, path=Path("r"))[0] == f"80 % of the LBAs: {line}"


def test_review_prints_json_and_names_the_run_itself(sated_cli: Any, plan: Path, tmp_path: Path) -> None:
    told = sated_cli("review", SIM, "--plan", plan, "--json")
    found = json.loads(told.out)
    assert told.code == 0 and told.err == ""
    assert found["finished"] and found["plan"] == "tiny" and found["judged"] is False
    run = Path(found["path"])
    assert run.parent == Path("runs") and re.search(r"-tiny-\d{8}T\d{6}Z$", run.name)
    assert (tmp_path / found["report"]).exists()


def test_a_review_that_was_stopped_is_resumed(sated_cli: Any, plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sated.methods import steps

    done = steps._DOERS["measure"]

    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setitem(steps._DOERS, "measure", stopped)
    told = sated_cli("review", SIM, "--plan", plan, "--out", "runs/a")
    assert told.code == 6
    assert "not finished" in told.out and told.out.splitlines()[-1] == "runs/a/report.html"
    told = sated_cli("review", SIM, "--plan", "quick", "--out", "runs/a")
    assert told.code == 2 and "another plan" in told.sentence
    monkeypatch.setitem(steps._DOERS, "measure", done)
    told = sated_cli("resume", "runs/a")
    assert told.code == 0, told.err
    assert [line.split()[0] for line in told.err.splitlines() if line.startswith("00")] == ["0003-read-qd8"]


def test_a_verdict_that_is_not_steady_gives_five(sated_cli: Any, tmp_path: Path) -> None:
    # 20 reported seconds hold no round at all, so the verdict asked for cannot be steady.
    (tmp_path / "judged.toml").write_text(PLAN.replace("seconds = 20.0", 'seconds = 20.0\njudge = "pts"'))
    told = sated_cli("review", SIM, "--plan", "./judged.toml", "--out", "runs/j")
    assert told.code == 5, told.err
    assert "NOT steady by pts" in told.out and told.out.splitlines()[-1] == "runs/j/report.html"


def test_sim_commands(sated_cli: Any, tmp_path: Path) -> None:
    assert {"x210", "generic"} <= {each["name"] for each in json.loads(sated_cli("sim", "models", "--json").out)}
    assert sated_cli("sim", "show", "x210").out == sated.sim.model_text("x210")
    told = sated_cli("sim", "create", "x210,scale=1/64", tmp_path / "my.sim")
    uri = told.out.strip()
    assert told.code == 0 and uri == f"sim:{tmp_path / 'my.sim'}"
    assert sated_cli("load", uri, "--op", "randwrite", "--ios", "500").code == 0
    found = json.loads(sated_cli("sim", "counters", uri, "--json").out)
    assert found["served_writes"] == 500 and found["scale"] == 64
    assert sated_cli("sim", "create", "x210", tmp_path / "my.sim").code != 0


def test_sim_create_filled(sated_cli: Any, tmp_path: Path) -> None:
    uri = sated_cli("sim", "create", "generic,blocks=512", tmp_path / "my.sim", "--fill", "random:50%").out.strip()
    found = json.loads(sated_cli("sim", "counters", uri, "--json").out)
    assert found["mapped_units"] == 512 * 128 * 100 // 128 // 2 and found["nand_write_units"] == 0
    told = sated_cli("sim", "create", "generic", tmp_path / "other.sim", "--fill", "half")
    assert told.code == 2 and "fresh, sequential, random or steady" in told.sentence


def test_both_over_provisionings_are_printed_with_their_names(sated_cli: Any) -> None:
    """256 GiB of flash for 256,060,514,304 bytes: (T-U)/U = 7.35 %, (T-U)/T = 6.85 %, cut to a digit by the scale."""
    told = sated_cli("info", "sim:x210,scale=1/64").out
    assert "over-provisioning 7.3 % of the user's, 6.8 % of the flash" in told


def test_counters_of_a_file_are_refused(sated_cli: Any, full_file: Path) -> None:
    told = sated_cli("sim", "counters", full_file)
    assert told.code == 7 and "simulated" in told.sentence


def test_info_list_and_doctor_print_json(sated_cli: Any, tmp_path: Path) -> None:
    found = json.loads(sated_cli("info", "sim:x210,scale=1/64,lba=80%", "--json").out)
    assert found["identity"]["simulated"] and found["guard"]["safe"]
    assert found["provisioning"]["lba_removed"] == pytest.approx(0.2, abs=1e-3)
    assert isinstance(json.loads(sated_cli("list", "--json").out), list)
    told = sated_cli("doctor", "--json")
    states = {each["what"]: each["state"] for each in json.loads(told.out)}
    assert states["threads"] == "ok" and told.code == 0
    assert all(each["do"] or each["state"] == "ok" for each in json.loads(told.out))
    assert list(tmp_path.iterdir()) == []


def test_a_bug_is_said_to_be_one(sated_cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Any:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(sated.sim, "models", broken)
    told = sated_cli("sim", "models")
    assert told.code == 70 and "a bug" in told.sentence and "by nothing" in told.sentence


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m sated sim show x210 | head -n 1; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "0" and ran.stderr == ""


def terminal(columns: int, *words: str) -> list[str]:
    """What a command shows in a terminal so many columns wide."""
    pid, fd = pty.fork()
    if pid == 0:  # pragma: no cover
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        # Not os.execv: readline, where it is loaded, puts a COLUMNS of its own into C's environment.
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        os.execve(sys.executable, [sys.executable, "-m", "sated", *words], environment)
    told = b""
    with contextlib.suppress(OSError):  # EIO: the other end is closed
        while piece := os.read(fd, 4096):
            told += piece
    os.close(fd)
    assert os.WEXITSTATUS(os.waitpid(pid, 0)[1]) == 0
    return told.decode().splitlines()


def test_long_values_go_on_below_their_beginning_in_a_terminal(sated_cli: Any) -> None:
    narrow = terminal(60, "health", "sim:generic,scale=1/8")
    assert max(len(line) for line in narrow) <= 60
    at = next(i for i, line in enumerate(narrow) if line.startswith("doubt "))
    assert narrow[at + 1].startswith(" " * 24) and narrow[at + 1][24] != " "
    told = sated_cli("health", "sim:generic,scale=1/8").out.splitlines()
    assert max(len(line) for line in told) > 90  # a pipe takes lines of any length
    assert " ".join(" ".join(narrow).split()) == " ".join(" ".join(told).split())
    assert not any("\x1b" in line for line in narrow)


def test_list_is_one_below_the_other_where_the_table_does_not_fit(
    sated_cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sated.cli import _common
    from sated.cli import list as list_command

    with sated.open("sim:x210") as drive:
        identity = drive.identity
    monkeypatch.setattr(sated, "list", lambda: [identity, identity])
    wide = sated_cli("list").out.splitlines()
    assert wide[0].startswith("drive  model") and len(wide) == 3
    monkeypatch.setattr(list_command, "width", lambda: 60)
    monkeypatch.setattr(_common, "width", lambda: 60)
    narrow = sated_cli("list").out
    assert max(len(line) for line in narrow.splitlines()) <= 60
    assert narrow.count("\n\n") == 1 and narrow.count("capacity      256.06 GB\n") == 2


def test_nothing_written_is_told_once(sated_cli: Any) -> None:
    """What is below a thousand bytes is exact as it is."""
    assert re.search(r"^host bytes written +0 bytes$", sated_cli("health", "sim:generic").out, re.MULTILINE)


def test_what_nobody_told_is_null_in_json(sated_cli: Any) -> None:
    identity = json.loads(sated_cli("info", "sim:generic", "--json").out)["identity"]
    assert identity["hba"] is None and identity["driver"] is None and identity["model"]
    assert "" not in identity.values()
    path = Path("empty.json")
    inquiry = bytes.fromhex("000006025b000002") + b"ACME    " + b"Disk".ljust(16) + b"0001"
    exchange = {"command": "scsi", "cdb": sated.scsi.build_inquiry(alloc=96).cdb.hex(" "), "data": inquiry.hex()}
    path.write_text(json.dumps({"sated_replay": 1, "protocol": "scsi", "exchanges": [exchange]}))
    told = sated_cli("info", f"replay:{path}").out
    assert re.search(r"^capacity +–$", told, re.MULTILINE) and re.search(r"^blocks +–$", told, re.MULTILINE)
    identity = json.loads(sated_cli("info", f"replay:{path}", "--json").out)["identity"]
    assert identity["capacity_bytes"] is identity["logical_block_bytes"] is None


def test_a_recording_without_the_answer_is_no_bug(sated_cli: Any) -> None:
    path = Path("none.json")
    path.write_text(json.dumps({"sated_replay": 1, "protocol": "nvme", "exchanges": []}))
    told = sated_cli("health", f"replay:{path}")
    assert told.code == 4 and "no exchanges of that kind" in told.err
