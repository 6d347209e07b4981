"""Criteria for cells: the rounds of a load, taken from its rows, and the verdict of the rule a plan asks for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sated import steady

_MINUTE_S = 60.0
_EPSILON_S = 1e-6


def minutes(intervals: pa.Table) -> list[steady.Minute]:
    """The full minutes of the measured phase: reported seconds since it began, mean IOPS by the drive's own time, and
    what the load had written by then, the settle phase included."""
    live = intervals.filter(pc.not_equal(intervals["phase"], "after_stop"))
    measured = np.asarray(pc.equal(live["phase"], "measured"))
    if not measured.any():
        return []
    t_s = live["t_s"].to_numpy()
    written = np.where(np.asarray(pc.equal(live["op"], "read")), 0, live["bytes"].to_numpy())
    begin = t_s[~measured].max(initial=0.0)
    before = int(written[~measured].sum())
    t_s, written = t_s[measured] - begin, written[measured]
    minute = (np.ceil((t_s - _EPSILON_S) / _MINUTE_S) - 1).astype(np.int64).clip(0)
    full = int((t_s.max() + _EPSILON_S) // _MINUTE_S)
    ios = np.bincount(minute, live["ios"].to_numpy()[measured], full)[:full]
    # Every class has a row of the same length in each interval: the length counts once.
    classes = np.bincount(np.unique(t_s, return_inverse=True)[1]).max()
    duration = np.bincount(minute, live["duration_s"].to_numpy()[measured], full)[:full] / classes
    volume = before + np.cumsum(np.bincount(minute, written, full)[:full])
    return [
        steady.Minute(_MINUTE_S * (number + 1), float(ios[number] / duration[number]), float(volume[number]))
        for number in range(full)
        if duration[number] > 0
    ]


def judge(intervals: pa.Table, *, rule: str, capacity_bytes: float, writes: bool, round_every: float) -> dict[str, Any]:
    """The verdict over a load's own rounds, as plain data: steady, rule, text, reason, range, slope, mean, window, and
    the rounds themselves as [t_s, iops, bytes_written]."""
    rounds = steady.Rounds(rule, capacity_bytes, writes, round_every)
    for minute in minutes(intervals):
        rounds.add(minute)
    verdict = asdict(rounds.verdict()) if rounds.rounds else _none(rule, round_every)
    listed = [[minute.t_s, minute.iops, minute.bytes_written] for minute in rounds.rounds]
    return {**verdict, "rule": rule, "rounds": listed}


def _none(rule: str, round_every: float) -> dict[str, Any]:
    text = f"not judged by {rule}: the load ended before its first round, {round_every:g} s after its start"
    return asdict(steady.Verdict(False, text, "too-few"))


def not_reached(verdict: dict[str, Any]) -> dict[str, Any]:
    """The verdict of a load that was to run until steady and came to the last round allowed."""
    count = len(verdict["rounds"])
    return {**verdict, "text": f"not reached after {count} rounds: {verdict['text']}"}
