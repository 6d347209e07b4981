"""What a model is expected to do: the published figures in its text, measured again on the simulated drive."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sated._workload import Workload
from sated.errors import ParseError

if TYPE_CHECKING:
    from sated._drive import Drive
    from sated._result import Result

__all__ = ["MISSES_MAX", "Figure", "validate"]

MISSES_MAX = 3
"""So many figures of one model may be allowed to miss."""

_FILL = Workload(op="write", size="128k", depth=32)
_HOURS = 5.0
_SETTLE_S = 60.0
_MEASURE_S = 300.0
_STEADY_MINUTES, _STEADY_WITHIN = 5, 0.02


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A published figure beside the simulated one.

    `setting`: keys of the drive, such as "lba=80%". `ios`: how many stand behind it. `tolerance`: None where the figure
    is only shown; in `unit` if `absolute`, else relative. `outcome`: "ok", "MISS", "allowed" (a miss for which the
    model gives `reason`) or "shown".
    """

    model: str
    name: str
    setting: str
    unit: str
    published: float
    measured: float
    tolerance: float | None
    absolute: bool
    outcome: str
    reason: str
    source: str
    ios: int

    @property
    def difference(self) -> float:
        """Relative to the published one."""
        return self.measured / self.published - 1


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    """A published value: of one table of a model, at one setting."""

    name: str
    key: str
    value: float
    table: Mapping[str, Any]

    @property
    def setting(self) -> str:
        return _setting(self.key)

    @property
    def start(self) -> tuple[str, str, str, float]:
        """What is measured from the same start is measured on one drive, in turn."""
        t = self.table
        return self.setting, t.get("state", "filled"), t.get("after", t["workload"]), t.get("hours", _HOURS)


def _watts(result: Result) -> float:
    measured = [row for row in result.environment.to_pylist() if row["phase"] == "measured"]
    return float(sum(row["energy_j"] for row in measured) / sum(row["duration_s"] for row in measured))


_MEASURES: dict[str, Callable[[Result], float]] = {
    "iops": lambda r: r.totals.iops,
    "mb_s": lambda r: r.totals.bytes_per_s / 1e6,
    "latency_ms": lambda r: (r.totals.lat_mean_ns or math.nan) / 1e6,
    "latency_max_ms": lambda r: (r.totals.lat_max_ns or math.nan) / 1e6,
    "power_w": _watts,
    "iops_per_w": lambda r: r.totals.iops / _watts(r),
    "mb_s_per_w": lambda r: r.totals.bytes_per_s / 1e6 / _watts(r),
}
_OTHERS = {"steady_min", "rest_w", "ratio"}  # of the preconditioning; of no load; of two other figures
_KEYS = {
    *("unit", "source", "note", "measure", "workload", "after", "state", "hours", "of", "value", "rest_s"),
    *("tolerance", "tolerance_abs", "miss"),
}


def _check(model: str, told: Mapping[str, Any]) -> None:
    """Holds the tables to what is read of them, so that a wrong word does not go unnoticed."""
    for name, table in told.get("expected", {}).items():
        where = f"{model}: expected.{name}"
        values = [key for key in table if key == "value" or _share(key) is not None]
        for key in table:
            if key not in _KEYS and key not in values and _share(key.removeprefix("miss_")) is None:
                raise ParseError(f"{where}.{key} is not known: use {', '.join(sorted(_KEYS))} or lba_N")
        measure = table.get("measure")
        if measure not in _MEASURES and measure not in _OTHERS:
            raise ParseError(f"{where}: measure = {measure!r} is none of {', '.join([*_MEASURES, *sorted(_OTHERS)])}")
        if "source" not in table or "unit" not in table:
            raise ParseError(f"{where}: needs a unit and a source")
        if measure == "ratio":
            of = table.get("of", [])
            if len(of) != 2 or any(part.partition(" ")[0] not in told["expected"] for part in of):
                raise ParseError(f'{where}: a ratio is of two figures, such as of = ["write lba_80", "write lba_100"]')
            continue
        for key in ("workload", "after"):
            if (key in table or key == "workload") and table.get(key) not in told.get("workload", {}):
                raise ParseError(f"{where}: {key} = {table.get(key)!r} is no [workload.NAME] of the model")
    misses = sum(key.startswith("miss") for table in told.get("expected", {}).values() for key in table)
    if misses > MISSES_MAX:
        raise ParseError(f"{model}: {misses} figures are allowed to miss, and {MISSES_MAX} may be")


def _share(key: str) -> int | None:
    """80 of "lba_80"."""
    percent = key.removeprefix("lba_")
    return int(percent) if key.startswith("lba_") and percent.isdecimal() else None


def _setting(key: str) -> str:
    """The keys of a drive for "lba_80"."""
    percent = _share(key)
    return "" if percent in (None, 100) else f"lba={percent}%"


def _wanted(told: Mapping[str, Any]) -> Iterator[_Wanted]:
    for name, table in told.get("expected", {}).items():
        for key, value in table.items():
            if key == "value" or _share(key) is not None:
                yield _Wanted(name=name, key=key, value=float(value), table=table)


def _parts(told: Mapping[str, Any], wanted: list[_Wanted]) -> list[_Wanted]:
    """What ratios are of, and nothing was published of by itself."""
    known = {(each.name, each.setting) for each in wanted}
    found = {}
    for each in wanted:
        for part in each.table.get("of", ()):
            name, _, key = part.partition(" ")
            if (name, _setting(key)) not in known:
                found[name, key] = _Wanted(name=name, key=key, value=math.nan, table=told["expected"][name])
    return list(found.values())


def _workload(told: Mapping[str, Any], name: str) -> Workload:
    keys: dict[str, Any] = told["workload"][name]
    return Workload(**keys)


def validate(model: str, *, scale: str = "1/64", seed: int = 1, **keys: Any) -> list[Figure]:
    """Measures each published figure of a model on the simulated drive.

    `keys`: further keys of its URI, for a try with other parameters. Raises ParseError for an unknown model, one that
    tells no figures, or tables that say what nobody reads.
    """
    import sated.sim

    told = sated.sim.model(model)
    _check(model, told)
    wanted = list(_wanted(told))
    if not wanted:
        raise ParseError(f"{model}: has no published figures to be compared with")
    measured: dict[tuple[str, str], tuple[float, int]] = {}
    starts: dict[tuple[str, str, str, float], list[_Wanted]] = {}
    for each in [*wanted, *_parts(told, wanted)]:
        if each.table["measure"] != "ratio":
            starts.setdefault(each.start, []).append(each)
    for (setting, state, after, hours), some in starts.items():
        more = dict(part.split("=", 1) for part in setting.split(",") if part)
        uri = sated.sim.uri(model, scale=scale, **keys, **more)
        with sated.open(uri) as drive:
            for each, value in _measure(drive, told, state, after, hours, some, seed):
                measured[each.name, setting] = value
    return [_compare(model, each, _value(each, measured)) for each in wanted]


def _measure(
    drive: Drive,
    told: Mapping[str, Any],
    state: str,
    after: str,
    hours: float,
    some: list[_Wanted],
    seed: int,
) -> Iterator[tuple[_Wanted, tuple[float, int]]]:
    from sated._load import load

    if state == "filled":
        load(drive, _FILL, bytes=2 * (drive.identity.capacity_bytes or 0), interval=60.0, seed=seed)
    before = None
    if state != "fresh":
        before = load(drive, _workload(told, after), seconds=3600 * hours, interval=60.0, seed=seed)
    results: dict[str, Result] = {}
    for each in some:
        if each.table["measure"] == "steady_min":
            assert before is not None
            yield each, (_minutes_to_steady(before), before.totals.ios)
            continue
        if each.table["measure"] == "rest_w":
            yield each, (_watts_at_rest(drive, each.table["rest_s"]), 0)
            continue
        name = each.table["workload"]
        if name not in results:
            ramp = 0.0 if state == "fresh" or name == after else _SETTLE_S
            results[name] = load(
                drive, _workload(told, name), ramp=ramp, seconds=_MEASURE_S, interval=_SETTLE_S, seed=seed + 1
            )
        yield each, (_MEASURES[each.table["measure"]](results[name]), results[name].totals.ios)


def _watts_at_rest(drive: Drive, after_s: float) -> float:
    """Over a second, when nothing was asked of the drive for so long."""
    simulation = drive.sim
    assert simulation is not None
    drive.sleep(after_s)
    before = simulation.counters.energy_j
    drive.sleep(1.0)
    watts: float = (simulation.counters.energy_j - before) * simulation.scale
    return watts


def _minutes_to_steady(result: Result) -> float:
    """The minute from which on every five minutes are within 2 % of the mean of the last fifth."""
    served: dict[float, list[float]] = {}
    for row in result.table.select(["phase", "t_s", "ios", "duration_s"]).to_pylist():
        if row["phase"] != "measured":
            continue
        at = served.setdefault(row["t_s"], [0.0, 0.0])
        at[0] += row["ios"]
        at[1] = row["duration_s"]
    rates = [ios / seconds for _, (ios, seconds) in sorted(served.items())]
    last = rates[-max(1, len(rates) // 5) :]
    level = sum(last) / len(last)
    for minute in range(len(rates) - _STEADY_MINUTES, -1, -1):
        if abs(sum(rates[minute : minute + _STEADY_MINUTES]) / _STEADY_MINUTES - level) > _STEADY_WITHIN * level:
            return float(minute + 1)
    return 0.0


def _value(each: _Wanted, measured: Mapping[tuple[str, str], tuple[float, int]]) -> tuple[float, int]:
    if each.table["measure"] != "ratio":
        return measured[each.name, each.setting]
    parts = []
    for part in each.table["of"]:
        name, _, key = part.partition(" ")
        parts.append(measured[name, _setting(key)])
    return parts[0][0] / parts[1][0], min(parts[0][1], parts[1][1])


def _compare(model: str, each: _Wanted, found: tuple[float, int]) -> Figure:
    table, (value, ios) = each.table, found
    absolute = "tolerance_abs" in table
    tolerance = table.get("tolerance_abs", table.get("tolerance"))
    reason = str(table.get(f"miss_{each.key}", table.get("miss", "")))
    difference = value - each.value if absolute else value / each.value - 1
    if tolerance is None:
        outcome = "shown"
    elif abs(difference) <= tolerance:
        outcome = "ok"
    else:
        outcome = "allowed" if reason else "MISS"
    return Figure(
        model=model,
        name=each.name,
        setting=each.setting,
        unit=table["unit"],
        published=each.value,
        measured=value,
        tolerance=tolerance,
        absolute=absolute,
        outcome=outcome,
        reason=reason if outcome == "allowed" else "",
        source=table["source"],
        ios=ios,
    )
