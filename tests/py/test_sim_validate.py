"""Models against what was published for the drives: the figures are those of the reviews and data sheets that each
table of a model names."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import sated
from sated._expected import MISSES_MAX, Figure
from sated.cli import main

REVIEWED = ("x210", "710", "s840")
COMPARED = ("p300", "c300")  # with a figure each

# SanDisk X210 over-provisioning review, at 256 outstanding: the eight figures that may not miss.
X210_EIGHT = {
    ("write_4k_iops", ""): 3871.0,
    ("write_4k_iops", "lba=80%"): 15908.0,
    ("read_4k_iops", ""): 41826.0,
    ("read_4k_iops", "lba=80%"): 68903.0,
    ("write_8k_iops", ""): 2224.0,
    ("write_8k_iops", "lba=80%"): 9290.0,
    ("read_8k_iops", ""): 29241.0,
    ("read_8k_iops", "lba=80%"): 41826.0,
}
# The greatest tolerance that a figure may have, by the end of its name; absolute ones are watts.
MOST = {"power_w": 0.15, "steady_min": 0.30}

TINY = """
[workload.write]
op = "randwrite"
size = "4k"
depth = 8

[expected.write_iops]
unit = "IOPS"
source = "made up"
measure = "iops"
workload = "write"
state = "fresh"
value = {value}
tolerance = 0.05
{more}
"""


def _add(name: str, text: str) -> str:
    sated.sim.add_model(name, sated.sim.model_text("generic") + text)
    return name


@functools.cache
def _figures(model: str) -> list[Figure]:
    return sated.sim.validate(model)


@pytest.mark.parametrize(
    "model",
    [*(pytest.param(name, marks=pytest.mark.long if name == "s840" else ()) for name in REVIEWED), *COMPARED],
)
def test_published_figures_are_met(model: str) -> None:
    figures = _figures(model)
    missed = [f"{f.name} {f.setting}: {f.measured:g} for {f.published:g}" for f in figures if f.outcome == "MISS"]
    assert not missed
    assert sum(f.outcome == "allowed" for f in figures) <= MISSES_MAX
    assert all(f.reason for f in figures if f.outcome == "allowed")
    assert all(f.source and (f.ios > 0 or f.name in ("idle_power_w", "devslp_power_w")) for f in figures)
    for figure in figures:
        most = next((value for end, value in MOST.items() if figure.name.endswith(end)), 0.15)
        assert figure.tolerance is None or figure.tolerance <= most
        assert figure.absolute == figure.name.endswith("power_w")
    if model == "x210":
        found = {(f.name, f.setting): f for f in figures if (f.name, f.setting) in X210_EIGHT}
        assert {key: f.published for key, f in found.items()} == X210_EIGHT
        assert {f.outcome for f in found.values()} == {"ok"}


def test_one_seed_gives_one_table() -> None:
    assert sated.sim.validate("710") == _figures("710")
    assert sated.sim.validate("710", seed=2) != _figures("710")


def test_watts_and_rates_come_from_the_same_samples() -> None:
    figures = {(f.name, f.setting): f.measured for f in _figures("x210")}
    for size in ("4k", "8k"):
        for setting in ("", "lba=80%"):
            iops, watts = figures[f"write_{size}_iops", setting], figures[f"write_{size}_power_w", setting]
            assert figures[f"write_{size}_iops_per_w", setting] == pytest.approx(iops / watts)


def test_outcomes_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    """The generic drive writes 250,000 a second at most by its text, and its flash fewer."""
    right = sated.sim.validate(
        _add("validate-shown", TINY.format(value=1, more="").replace("tolerance = 0.05", "")), scale="1/8"
    )
    (figure,) = right
    assert figure.outcome == "shown"
    value = figure.measured
    for name, told, more, outcome, code in (
        ("validate-ok", value * 1.04, "", "ok", 0),
        ("validate-miss", value * 1.06, "", "MISS", 1),
        ("validate-allowed", value * 1.06, 'miss = "because"', "allowed", 0),
    ):
        _add(name, TINY.format(value=round(told, 3), more=more))
        (figure,) = sated.sim.validate(name, scale="1/8")
        assert figure.outcome == outcome
        assert figure.measured == value
        assert figure.difference == pytest.approx(value / told - 1, abs=1e-6)
        assert main(["sim", "validate", name, "--scale", "1/8"]) == code
        out, err = capsys.readouterr()
        assert outcome in out
        assert ("because" in out) == (outcome == "allowed")
        assert ("outside" in err) == (outcome == "MISS")


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ("tolerence = 0.1", "tolerence"),
        ('after = "nothing"', "nothing"),
        ('[expected.other]\nunit = "x"\nsource = "s"\nmeasure = "speed"\nvalue = 1', "speed"),
        ('[expected.other]\nunit = "x"\nsource = "s"\nmeasure = "ratio"\nof = ["write_iops"]\nvalue = 1', "ratio"),
        ('[expected.other]\nunit = "x"\nmeasure = "iops"\nworkload = "write"\nvalue = 1', "source"),
    ],
)
def test_tables_that_nobody_reads_are_refused(more: str, word: str) -> None:
    name = _add("validate-wrong", TINY.format(value=1, more=more))
    with pytest.raises(sated.ParseError, match=word):
        sated.sim.validate(name)


def test_at_most_three_may_miss() -> None:
    one = TINY.format(value=1, more='miss = "because"')
    more = "".join(one[one.index("[expected") :].replace("write_iops", f"other_{i}_iops") for i in range(MISSES_MAX))
    with pytest.raises(sated.ParseError, match="4 figures are allowed to miss, and 3"):
        sated.sim.validate(_add("validate-four", one + more))


def test_a_model_without_figures_says_so() -> None:
    with pytest.raises(sated.ParseError, match="generic: has no published figures"):
        sated.sim.validate("generic")


def test_every_table_of_a_reviewed_model_has_its_source() -> None:
    for model in REVIEWED:
        told: dict[str, Any] = sated.sim.model(model)
        for table in told["expected"].values():
            assert "review" in table["source"] or "sheet" in table["source"] or "specification" in table["source"]


@pytest.mark.parametrize(
    ("model", "sizes"),
    [
        ("x210", ("128GB", "256GB", "512GB")),
        ("710", ("100GB", "200GB", "300GB")),
        ("s840", ("200GB", "400GB", "800GB")),
        ("ssd400s", ("400GB",)),
        ("lightning", ("400GB",)),
        ("optimus", ("400GB",)),
        ("mkx001", ("400GB",)),
        ("generic-enterprise-nvme", ("1600GB", "3200GB")),
    ],
)
def test_sizes_of_the_models(model: str, sizes: tuple[str, ...]) -> None:
    """The LBA counts are IDEMA's: 97,696,368 + 1,953,504 x (GB - 50) sectors."""
    for size in sizes:
        with sated.open(sated.sim.uri(model, capacity=size)) as drive:
            assert drive.identity.native_capacity_bytes == 512 * (97_696_368 + 1_953_504 * (int(size[:-2]) - 50))


def test_what_was_not_published_of_a_drive_is_not_said_to_be() -> None:
    """Of the drives that a review compares nothing but maker, size and kind of link was published."""
    for model in ("p300", "c300", "ssd400s", "lightning", "optimus", "mkx001"):
        told = sated.sim.model(model)
        published = {
            key
            for table, keys in told.items()
            if table not in ("expected", "workload")
            for key, value in keys.items()
            if value["origin"] == "published"
        }
        assert published <= {"vendor", "protocol", "transport", "names", "queue"}
