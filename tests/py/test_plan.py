"""Plans: what is refused and where it says so, and what the built-in ones expand to."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from sated import errors
from sated.methods import plan as plans
from sated.methods._positions import positions

GOOD = """\
name = "mine"
interval = 1.0
capacity = [1.0, 0.8]

[settle]
within = 0.1
at_most = 300.0

[[step]]
kind = "purge"

[[step]]
kind = "capacity"

[[step]]   # the load that sates it
kind = "precondition"
op = "randwrite"
size = "4k"
threads = 4
depth = 8
seconds = 9000.0
judge = "pts"

[[step]]
kind = "sweep"
over = "depth"
op = "randwrite"
size = "4k"
outstanding = [
  1,
  2, 4,
]
seconds = 60.0
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_good(tmp_path: Path) -> None:
    plan = plans.load(write(tmp_path, GOOD))
    assert [step["id"] for step in plan.steps] == [
        "0001-100-purge",
        "0002-100-capacity",
        "0003-100-precondition",
        "0004-100-write-qd4",
        "0005-100-write-qd2",
        "0006-100-write-qd1",
        "0007-80-purge",
        "0008-80-capacity",
        "0009-80-precondition",
        "0010-80-write-qd4",
        "0011-80-write-qd2",
        "0012-80-write-qd1",
    ]
    assert plan.judged
    assert plan.steps[2]["judge"] == "pts"
    assert plan.steps[2]["round_every"] == 1800.0
    assert plan.steps[3]["settle"] == {"within": 0.1, "at_most": 300.0}
    assert plan.steps[9]["setting"] == 0.8


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("interval = 1.0", "§intervall = 1.0", "unknown key 'intervall'; the nearest known is 'interval'"),
        ("depth = 8", "§dept = 8", "step 3: unknown key 'dept'; the nearest known is 'depth'"),
        ("at_most = 300.0", "§atmost = 300.0", "unknown key 'atmost'; the nearest known is 'at_most'"),
        ("at_most = 300.0", "§at_most = 60.0", "at_most = 60.0: has to be greater than or equal to 120"),
        ("at_most = 300.0", "§at_most = 130.0", "at_most = 130.0: has to be a multiple of 60"),
        ("within = 0.1", "§within = inf", "within = Infinity: has to be"),
        ("seconds = 9000.0", "§seconds = inf", "step 3: seconds = Infinity: has to be"),
        ("seconds = 9000.0", "§seconds = 1e10", "step 3: seconds = 10000000000.0: has to be less than"),
        ('kind = "purge"', 'kind = "purge"\n§method = "foo"', "step 1: method = \"foo\": has to be 'auto'"),
        ("interval = 1.0", "interval = 0.7\n§histogram_every = 60.0", "give a multiple of interval = 0.7"),
        ('judge = "pts"\n', "", "the settle phase needs full minutes, so 60 has to be a multiple"),
        ('kind = "purge"', '§kind = "purgee"', 'kind = "purgee" is unknown; the nearest known is "purge"'),
        ('over = "depth"', '§over = "dept"', 'over = "dept" is unknown; the nearest known is "depth"'),
        ('[[step]]\nkind = "sweep"\nover = "depth"\n', '§[[step]]\nkind = "sweep"\n', "over is missing"),
        ("seconds = 9000.0", '§seconds = "5h"', 'seconds = "5h": has to be a number'),
        ("seconds = 9000.0", "§seconds = -1", "seconds = -1: has to be greater than 0"),
        ("seconds = 9000.0", "seconds = 9000.0\n§runtime = 2", "unknown key 'runtime'; the nearest known is 'seconds'"),
        ('capacity"\n\n[[step]]', 'capacity"\n\n§[[step]]', "needs an end"),
        ('judge = "pts"', '§judge = "ptz"', 'judge = "ptz"'),
        ('size = "4k"\nthreads', '§size = "4x"\nthreads', "4x"),
        ('op = "randwrite"\nsize = "4k"\nthreads', '§op = "randwrote"\nsize = "4k"\nthreads', "randwrote"),
        ("  2, 4,", '  §2, "four",', 'outstanding = "four": has to be a whole number'),
        ("capacity = [1.0, 0.8]", "§capacity = [1.0, 1.8]", "1.8: has to be less than or equal to 1"),
        ('kind = "purge"', '§kind = "idle"\nseconds = 1.0', "begins with a purge"),
        ('[[step]]\nkind = "capacity"\n', "", 'no step of kind "capacity"'),
        ('[[step]]\nkind = "capacity"\n', '[[step]]\nkind = "capacity"\n§fraction = 0.5\n', "has no place here"),
        ("interval = 1.0", "§interval = 7.0", "60 has to be a multiple"),
        ("interval = 1.0", "§round_every = 90.0", "multiple of 60 s"),
        ("depth = 8", "§depth = ", "not TOML"),
        ("depth = 8", "depth = 8\n§depth = 9", "not TOML"),
        ('over = "depth"', 'over = "depth"\n§depth = 2', "unknown key 'depth'; the nearest known is 'outstanding'"),
    ],
)
def test_refused_with_its_line(tmp_path: Path, old: str, new: str, says: str) -> None:
    """The sign § marks the line that has to be named; without one it is that of `capacity`."""
    marked = GOOD.replace(old, new, 1)
    if says == "needs an end":
        marked = marked.replace("seconds = 9000.0\n", "")
    if "settle phase" in says:
        marked = marked.replace("interval = 1.0", "§interval = 7.0")
    if "interval = 0.7" in says:
        marked = marked.replace('judge = "pts"\n', "").replace(
            "[settle]\nwithin = 0.1\nat_most = 300.0", "settle = false"
        )
    assert marked != GOOD
    line = marked[: marked.index("§" if "§" in marked else "capacity")].count("\n") + 1
    with pytest.raises(errors.ParseError) as caught:
        plans.load(write(tmp_path, marked.replace("§", "")))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path}/mine.toml:{line}: ")
    assert says in message
    assert "\n" not in message
    assert caught.value.exit_code == 2


def test_first_problem_is_the_one_told(tmp_path: Path) -> None:
    text = GOOD.replace("interval = 1.0", 'interval = "a"').replace("capacity = [1.0, 0.8]", "capcity = []")
    with pytest.raises(errors.ParseError, match=r"mine\.toml:2: interval"):
        plans.load(write(tmp_path, text))


def test_dict_is_refused_with_its_path() -> None:
    data = tomllib.loads(GOOD)
    data["step"][2]["seconds"] = True
    with pytest.raises(errors.ParseError, match=r"plan\['step'\]\[2\]\['seconds'\]: step 3: seconds = true"):
        plans.load(data)


def test_dict_expands_as_its_file(tmp_path: Path) -> None:
    assert plans.load(tomllib.loads(GOOD)).checksum == plans.load(write(tmp_path, GOOD)).checksum


def test_unknown_name_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(errors.ParseError, match="nearest known is 'op-study'"):
        plans.load("op-stduy")
    with pytest.raises(FileNotFoundError) as caught:
        plans.load(tmp_path / "none.toml")
    assert errors.exit_code(caught.value) == 7


def test_positions_in_awkward_toml() -> None:
    text = '''\
# a = 0
"quoted # key" = "x # no comment" # a comment
dotted.one.two = 1
long = """
step = 3
[[step]]
quote \\""" still in it"""
raw = \'\'\'
b = 1\'\'\'
inline = { x = 1, "y" = [1, { z = 2 }] }
many = [
  "a", # b = 1
  [2,
   3],
]

[[step]]
kind = 1
[step.more]
deep = 2
[[step]]
kind = 3
[[step.cell]]
size = 4
[other."a.b"]
last = 1979-05-27T07:32:00Z
'''
    tomllib.loads(text)
    lines = positions(text)
    expected: dict[Any, int] = {
        ("quoted # key",): 2,
        ("dotted", "one", "two"): 3,
        ("long",): 4,
        ("raw",): 8,
        ("inline", "x"): 10,
        ("inline", "y", 1, "z"): 10,
        ("many", 1): 13,
        ("many", 1, 1): 14,
        ("step", 0, "kind"): 18,
        ("step", 0, "more", "deep"): 20,
        ("step", 1, "kind"): 22,
        ("step", 1, "cell", 0, "size"): 24,
        ("other", "a.b", "last"): 26,
    }
    assert {key: lines.get(key) for key in expected} == expected
    assert ("step", 2) not in lines
    assert ("b",) not in lines


def test_order_of_cells() -> None:
    """Writing before read-only, random before sequential, many outstanding before few; other steps part the groups."""

    def cell(**keys: Any) -> dict[str, Any]:
        return {"kind": "measure", "size": "4k", "seconds": 1.0, **keys}

    steps = [
        cell(op="randread", depth=32),
        cell(op="randwrite", depth=1),
        cell(op="write", depth=64),
        cell(read=0.7, access="random", depth=16),
        cell(op="randwrite", depth=16),
        {"kind": "idle", "seconds": 1.0},
        cell(op="randread", depth=1),
        cell(op="randwrite", depth=1),
    ]
    plan = plans.load({"name": "order", "step": steps})
    assert [step["id"][5:] for step in plan.steps] == [
        "write30-qd16",
        "write-qd16",
        "write-qd1",
        "seq-write-qd64",
        "read-qd32",
        "idle",
        "write-qd1",
        "read-qd1",
    ]


def test_ids_tell_trims_and_whole_percentages() -> None:
    loads = [
        {"op": "trim"},
        {"op": "randtrim"},
        {"read": "2/3", "access": "random"},
        {"read": 0.5, "write": 0.3, "trim": 0.2, "access": "random"},
        {"read": 0.998, "access": "random"},
    ]
    steps = [{"kind": "measure", "size": "4k", "seconds": 1.0, **load} for load in loads]
    plan = plans.load({"name": "ids", "step": steps})
    assert [step["id"][5:-4] for step in plan.steps] == ["trim", "write33", "write30-trim20", "write1", "seq-trim"]


def test_sweep_over_threads_and_depth() -> None:
    sweep = {"kind": "sweep", "over": "threads x depth", "op": "randread", "threads": [2, 16], "depth": [4, 8]}
    plan = plans.load({"name": "grid", "step": [{**sweep, "seconds": 1.0}]})
    assert [(step["threads"], step["depth"]) for step in plan.steps] == [(16, 8), (16, 4), (2, 8), (2, 4)]
    assert plan.steps[0]["id"] == "0001-read-t16-qd8"


def test_op_study_is_the_reviews_procedure() -> None:
    """The 4K part of the X210 over-provisioning review: 18,000 s judged by a range of 20 %, outstanding I/Os from 1 to
    256, write percentages in steps of 10, 300 rows of one second for each cell, both settings from purge on."""
    plan = plans.load("op-study")
    assert plan.judged
    depths = [256, 128, 64, 32, 16, 8, 4, 2, 1]
    assert len(plan.steps) == 2 * (4 + len(depths) + 11 + len(depths))
    for setting in (1.0, 0.8):
        steps = [step for step in plan.steps if step["setting"] == setting]
        assert [step["kind"] for step in steps[:4]] == ["purge", "capacity", "fill", "precondition"]
        assert steps[1]["fraction"] == setting
        fill = steps[2]
        assert (fill["times"], fill["size"], fill["sequential"], fill["write_percent"]) == (2.0, 128 << 10, True, 100)
        load = steps[3]
        assert (load["seconds"], load["judge"], load["threads"], load["depth"]) == (18000.0, "range-20", 16, 16)
        assert (load["size"], load["write_percent"], load["sequential"]) == (4096, 100, False)
        assert "settle" not in load
        cells = steps[4:]
        assert all(cell["seconds"] == 300.0 and cell["interval"] == 1.0 and cell["size"] == 4096 for cell in cells)
        assert all(cell["settle"] == {"within": 0.10, "at_most": 600.0} for cell in cells)
        sweep = [cell for cell in cells if cell["purpose"] == "depth-sweep"]
        for write_percent in (100.0, 0.0):
            found = [cell["threads"] * cell["depth"] for cell in sweep if cell["write_percent"] == write_percent]
            assert found == depths
        mixes = [cell for cell in cells if cell["purpose"] == "write-percentage"]
        assert [cell["write_percent"] for cell in mixes] == [100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 0]
        assert all(cell["threads"] * cell["depth"] == 256 for cell in mixes)
        writing = [cell["write_percent"] > 0 for cell in cells]
        assert writing == sorted(writing, reverse=True)
        for part in (True, False):
            order = [cell["threads"] * cell["depth"] for cell in cells if (cell["write_percent"] > 0) == part]
            assert order == sorted(order, reverse=True)


def test_quick_is_short_and_not_judged() -> None:
    plan = plans.load("quick")
    assert not plan.judged
    assert [step["id"] for step in plan.steps] == [
        "0001-purge",
        "0002-fill",
        "0003-precondition",
        "0004-write-qd32",
        "0005-write30-qd32",
        "0006-write-qd1",
        "0007-seq-write-qd8",
        "0008-read-qd32",
        "0009-read-qd1",
        "0010-seq-read-qd8",
    ]
    assert plan.steps[0]["optional"]
    assert plan.steps[1]["times"] == 1.0
    assert all(step["seconds"] == 10.0 and "settle" not in step for step in plan.steps[3:])
    # Every load has an end in time, so that it is minutes on any target.
    assert sum(step["seconds"] for step in plan.steps if "workload" in step) <= 300


def test_seed_of_a_step_is_stable() -> None:
    """The first 8 bytes of a SHA-256, as a positive number: pinned, because a resumed run must draw the same."""
    expected = int(hashlib.sha256(b"7:0003-100-fill").hexdigest()[:16], 16)
    expected = int.from_bytes(expected.to_bytes(8, "big"), "little") >> 1
    assert plans.seed_of(7, "0003-100-fill") == expected
    assert plans.seed_of(7, "0003-100-fill") == 6584021960441129658
    assert plans.seed_of(8, "0003-100-fill") != expected
