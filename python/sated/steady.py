"""Steady state: the rules, as pure functions over rounds, and what gathers rounds from a load.

A *round* is the mean of one full minute. Rounds lie 30 reported minutes apart (or one per pass of a cell loop), because
a drive can hold one level for minutes and then fall off a cliff; consecutive seconds are never a window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sated._ffi import ffi, lib, text
from sated.errors import ParseError
from sated.errors import check as _check

__all__ = ["MAX_ROUNDS", "RULES", "Minute", "Rounds", "Settle", "Verdict", "check"]

RULES = {"pts": lib.SATED_STEADY_PTS, "range-20": lib.SATED_STEADY_RANGE_20}
MAX_ROUNDS = 25
"""A load that runs until steady stops after so many rounds as "not reached" (SNIA SSS PTS)."""

_REASONS = {
    value: key.removeprefix("SATED_STEADY_").lower().replace("_", "-")
    for key, value in ffi.typeof("enum sated_steady_reason").relements.items()
}


@dataclass(frozen=True)
class Verdict:
    """A rule's answer. `range` and `slope` are fractions of the window's mean; None before there is a window."""

    steady: bool
    text: str
    reason: str = "yes"
    range: float | None = None
    slope: float | None = None
    mean: float | None = None
    window: int = 5
    rounds: int = 0

    def __bool__(self) -> bool:
        return self.steady


def _rule(rule: str) -> int:
    try:
        return int(RULES[rule])
    except KeyError:
        raise ParseError(f'steady-state rule "{rule}" is unknown: use {" or ".join(RULES)}') from None


def check(
    values: Sequence[float],
    t_s: Sequence[float] | None = None,
    bytes_written: Sequence[float] | None = None,
    rule: str = "pts",
    *,
    capacity_bytes: float | None = None,
    first_minute: float | None = None,
    round_every: float = 1800.0,
) -> Verdict:
    """Judges the last five round means.

    `values`: one mean per round. `t_s`: the reported second at which each round ended, switches on the spacing gate.
    `bytes_written`: what the load had written by then, switches on the volume gates (with `capacity_bytes`; and
    `first_minute`, the load's own first minute in the unit of the values). Without them each value counts as a round,
    and the text says that the gates were not applied.

    Rules: "pts": range <= 20 % of the mean and |slope| over the window <= 10 % (SNIA SSS PTS); "range-20": range only.

    >>> check([24681, 24736, 24695, 24708, 24640]).steady
    True
    """
    if t_s is not None and len(t_s) != len(values):
        raise ParseError(f"{len(values)} values but {len(t_s)} times: give one t_s for each round")
    if bytes_written is not None and not capacity_bytes:
        raise ParseError("bytes_written without capacity_bytes: give the accessible capacity to measure it against")
    if bytes_written is not None and len(bytes_written) != len(values):
        raise ParseError(f"{len(values)} values but {len(bytes_written)} volumes: give bytes_written for each round")
    options = ffi.new("struct sated_steady_options *")
    lib.sated_steady_options_init(options)
    options.rule = _rule(rule)
    options.capacity_bytes = capacity_bytes or 0
    options.first_minute = first_minute or 0
    options.round_s = round_every
    out = ffi.new("struct sated_verdict *")
    _check(
        lib.sated_steady_check(
            [float(v) for v in values],
            ffi.NULL if t_s is None else [float(v) for v in t_s],
            ffi.NULL if bytes_written is None else [float(v) for v in bytes_written],
            len(values),
            options,
            out,
        )
    )

    def known(value: float) -> float | None:
        return None if value != value else float(value)

    return Verdict(
        steady=bool(out.steady),
        text=text(out.text),
        reason=_REASONS[out.reason],
        range=known(out.range),
        slope=known(out.slope),
        mean=known(out.mean),
        window=int(out.window),
        rounds=int(out.rounds),
    )


@dataclass(frozen=True)
class Minute:
    """One full minute of a load: when it ended (reported seconds since the measured phase began), its mean IOPS and
    what the load had written by then in all."""

    t_s: float
    iops: float
    bytes_written: float


@dataclass
class Rounds:
    """Gathers rounds from full minutes and judges them."""

    rule: str = "pts"
    capacity_bytes: float | None = None
    writes: bool = True
    round_every: float = 1800.0
    rounds: list[Minute] = field(default_factory=list)
    first_minute: float | None = None

    def __post_init__(self) -> None:
        _rule(self.rule)
        if self.round_every < 60 or self.round_every % 60:
            raise ParseError(f"round_every={self.round_every:g}: give a multiple of 60 s; a round is one full minute")

    def add(self, minute: Minute) -> bool:
        """Takes the next full minute; True if it was a round (the last minute of each round_every)."""
        if self.first_minute is None:
            self.first_minute = minute.iops
        remainder = minute.t_s % self.round_every
        if min(remainder, self.round_every - remainder) > 1e-6:
            return False
        self.rounds.append(minute)
        return True

    @property
    def exhausted(self) -> bool:
        return len(self.rounds) >= MAX_ROUNDS

    def verdict(self) -> Verdict:
        """Of the rounds so far; "not reached" when there will be no more."""
        verdict = check(
            [r.iops for r in self.rounds],
            t_s=[r.t_s for r in self.rounds],
            bytes_written=[r.bytes_written for r in self.rounds] if self.writes and self.capacity_bytes else None,
            rule=self.rule,
            capacity_bytes=self.capacity_bytes,
            first_minute=self.first_minute,
            round_every=self.round_every,
        )
        if self.exhausted and not verdict.steady:
            return replace(verdict, text=f"not reached after {MAX_ROUNDS} rounds: {verdict.text}")
        return verdict


@dataclass(frozen=True)
class Settle:
    """The settle phase before a cell: the same workload until a minute is `within` of the one before, `at_most`
    reported seconds long. Its I/Os are kept apart from the results."""

    within: float = 0.10
    at_most: float = 600.0

    def __post_init__(self) -> None:
        if not self.within > 0 or not self.at_most >= 60 or self.at_most % 60:
            raise ParseError(
                f"settle: within={self.within:g}, at_most={self.at_most:g}: give a share above 0 and whole minutes"
            )

    def done(self, minutes: Sequence[Minute]) -> bool:
        """Whether the last minute is near enough to the one before."""
        if len(minutes) < 2:
            return False
        before, last = minutes[-2].iops, minutes[-1].iops
        return abs(last - before) <= self.within * before
