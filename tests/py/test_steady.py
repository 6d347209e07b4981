"""Steady state: the published rules and the gates around them."""

from __future__ import annotations

import math

import pytest
import sated
from sated.steady import Minute, Rounds, Settle

# One-minute IOPS of a slow decline (a public thread, rescaled).
DECLINE = [24681, 24736, 24695, 24708, 24640, 24631, 24662, 24596, 24505, 24421, 24189, 24187, 24042, 23940, 23853]


def test_slow_decline_inside_the_window() -> None:
    at5 = sated.steady.check(DECLINE[:5])
    assert at5.steady and at5.rounds == 5
    assert at5.mean == pytest.approx(24692.0)
    assert round(100 * at5.range, 2) == 0.39
    assert round(100 * at5.slope, 2) == -0.18
    assert not sated.steady.check(DECLINE[:4]).steady
    assert all(sated.steady.check(DECLINE[:n]).steady for n in range(5, 16))
    at15 = sated.steady.check(DECLINE)
    assert round(100 * at15.range, 2) == 1.40
    assert round(100 * at15.slope, 2) == -1.53
    assert "not checked" in at15.text


def burst_and_dip(minute: int, dip_end: float, depth: float) -> float:
    """A pre-filled drive: a flat burst of 12 minutes, a cliff, an overshoot downwards, a dip that ends at dip_end."""
    if minute < 12:
        return 22000.0
    if minute >= dip_end:
        return 4000.0
    phase = (minute - 12) / (dip_end - 12)
    return 4000.0 * (1 - depth * math.sin(math.pi * phase) + 0.15 * math.sin(3 * math.pi * phase))


@pytest.mark.parametrize("rule", ["pts", "range-20"])
@pytest.mark.parametrize("depth", [0.35, 0.6])
@pytest.mark.parametrize("dip_end", [40, 90, 150, 240, 400])
@pytest.mark.parametrize("volume", [1e-4, 0.01, 0.05])
def test_no_rule_stops_in_the_burst_or_the_dip(rule: str, depth: float, dip_end: float, volume: float) -> None:
    """`volume`: capacities written a minute at the steady level."""
    rounds = Rounds(rule, capacity_bytes=1.0)
    written, stopped = 0.0, None
    for minute in range(24 * 60):
        iops = burst_and_dip(minute, dip_end, depth)
        written += volume * iops / 4000.0
        if rounds.add(Minute((minute + 1) * 60.0, iops, written)) and rounds.verdict().steady:
            stopped = minute + 1
            break
    assert stopped is not None and stopped >= dip_end


def test_consecutive_seconds_are_never_a_window() -> None:
    verdict = sated.steady.check([100.0] * 300, t_s=[float(i + 1) for i in range(300)])
    assert not verdict.steady and verdict.reason == "too-close"
    with pytest.raises(sated.ParseError, match="multiple of 60"):
        Rounds("pts", round_every=1.0)


def test_25_rounds_are_the_end() -> None:
    rounds = Rounds("pts", capacity_bytes=1.0, round_every=60.0)
    for minute in range(1, 26):
        assert not rounds.exhausted
        rounds.add(Minute(60.0 * minute, 1000.0 * minute, 100.0))
    assert rounds.exhausted and not rounds.verdict().steady


def test_settle() -> None:
    settle = Settle()
    assert not settle.done([Minute(60, 100, 0)])
    assert not settle.done([Minute(60, 100, 0), Minute(120, 111, 0)])
    assert settle.done([Minute(60, 100, 0), Minute(120, 111, 0), Minute(180, 120, 0)])


def test_bad_input() -> None:
    with pytest.raises(sated.ParseError, match="pts or range-20"):
        sated.steady.check([1, 2, 3], rule="pst")
    with pytest.raises(sated.ParseError, match="round 2"):
        sated.steady.check([1, float("nan"), 1, 1, 1])
    with pytest.raises(sated.ParseError, match="one t_s for each"):
        sated.steady.check([1, 2], t_s=[1.0])
