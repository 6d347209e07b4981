"""Expands a validated plan to a flat list of steps with stable ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from sated import errors
from sated._ffi import ffi, lib
from sated._workload import OPS, Workload
from sated.methods._loader import Loader, shown
from sated.methods._positions import Path as Keys
from sated.methods._tables import (
    SETTINGS,
    CapacityStep,
    Cells,
    DepthSweep,
    FillStep,
    GridSweep,
    IdleStep,
    Load,
    MeasureStep,
    PlanTable,
    PreconditionStep,
    PurgeStep,
    SettingsStep,
    SettleTable,
    Table,
    WriteSweep,
)

_WORKLOAD = tuple(key.name for key in fields(Workload))
_ROUND_S = 60.0
_EPSILON = 1e-6


def _workload(step: Table) -> dict[str, Any]:
    """The keys of a step that are its workload's."""
    return {key: value for key in _WORKLOAD if (value := getattr(step, key, None)) is not None}


@dataclass
class Expander:
    loader: Loader
    top: PlanTable
    steps: list[Table]
    index: int = field(default=0, init=False)

    def all(self) -> Iterator[dict[str, Any]]:
        settings: list[float | None] = [None]
        if self.top.capacity is not None:
            settings = list(self.top.capacity)
            self.check_settings()
        for setting in settings:
            yield from self.setting(setting)
        self.check_histograms()

    def check_settings(self) -> None:
        kinds = [step.kind for step in self.steps]  # type: ignore[attr-defined]
        if "capacity" not in kinds:
            raise self.loader.error(("capacity",), 'capacity lists settings, but no step of kind "capacity" sets them')
        if kinds[0] != "purge":
            raise self.loader.error(
                ("step", 0, "kind"),
                'each setting of capacity begins with a purge: let the first step be of kind "purge"',
            )

    def check_histograms(self) -> None:
        """One that is shorter than an interval is as long as it."""
        every, interval = round(1e9 * self.top.histogram_every), round(1e9 * self.top.interval)
        if every > interval and every % interval:
            place = "histogram_every" if "histogram_every" in self.top.model_fields_set else "interval"
            raise self.loader.error(
                (place,),
                f"histogram_every = {self.top.histogram_every:g}: give a multiple of interval = {self.top.interval:g}",
            )

    def setting(self, setting: float | None) -> Iterator[dict[str, Any]]:
        """All steps for one setting; cells between two other steps are put in the order that disturbs least."""
        current = setting
        group: list[dict[str, Any]] = []
        for position, step in enumerate(self.steps):
            keys: Keys = ("step", position)
            if isinstance(step, CapacityStep):
                current = self.fraction(step, setting, keys)
            if isinstance(step, Cells):
                group.extend(self.cells(step, current, keys, position))
                continue
            yield from self.ordered(group)
            group = []
            yield self.identified(self.other(step, current, keys))
        yield from self.ordered(group)

    def fraction(self, step: CapacityStep, setting: float | None, keys: Keys) -> float:
        if step.fraction is not None and setting is not None:
            raise self.loader.error(
                (*keys, "fraction"), "fraction has no place here: the plan's capacity lists the settings"
            )
        fraction = step.fraction if step.fraction is not None else setting
        if fraction is None:
            raise self.loader.error(keys, "fraction is missing: give it here, or list the settings as capacity = [...]")
        return fraction

    def ordered(self, group: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Cells that write first, then read-only ones; random before sequential ones, which undo what random writes
        did; from many outstanding I/Os to few; then as the plan has them, from much writing to little."""
        group.sort(
            key=lambda cell: (
                cell["write_percent"] == 0,
                cell["sequential"],
                -cell["threads"] * cell["depth"],
                cell["position"],
                -cell["write_percent"],
            )
        )
        for cell in group:
            yield self.identified(cell)

    def identified(self, cell: dict[str, Any]) -> dict[str, Any]:
        self.index += 1
        cell.pop("position", None)
        setting = cell.get("setting")
        parts = [f"{self.index:04d}", *([] if setting is None else [f"{100 * setting:g}"]), cell.pop("what")]
        return {"id": "-".join(parts), "index": self.index, **cell}

    def base(self, kind: str, setting: float | None, what: str) -> dict[str, Any]:
        return {"kind": kind, "setting": setting, "what": what}

    def other(self, step: Table, setting: float | None, keys: Keys) -> dict[str, Any]:
        if isinstance(step, PurgeStep):
            return {**self.base("purge", setting, "purge"), "method": step.method, "optional": step.optional}
        if isinstance(step, CapacityStep):
            by = {} if step.method == "lba" else {"method": step.method}
            return {**self.base("capacity", setting, "capacity"), "fraction": setting, **by}
        if isinstance(step, SettingsStep):
            wanted = {name: value for name in SETTINGS if (value := getattr(step, name)) is not None}
            if not wanted:
                raise self.loader.error(keys, f"nothing is to be set: give one of {', '.join(SETTINGS)}")
            return {**self.base("settings", setting, "settings"), "wanted": wanted}
        if isinstance(step, IdleStep):
            return {**self.base("idle", setting, "idle"), "seconds": step.seconds}
        if isinstance(step, FillStep):
            workload = {"op": "write", "size": step.size, "threads": step.threads, "depth": step.depth}
            cell = self.load("fill", "fill", workload, setting, keys, "fill")
            if step.seconds is not None:
                cell["seconds"] = step.seconds
            return {**cell, "times": step.times}
        assert isinstance(step, PreconditionStep)
        if step.seconds is None and step.bytes is None and step.times is None and step.until is None:
            raise self.loader.error(keys, "a precondition needs an end: seconds, bytes, times (the capacity) or until")
        cell = self.load("precondition", "precondition", _workload(step), setting, keys, "precondition")
        if step.times is not None:
            cell["times"] = step.times
        return {**cell, **self.ends(step, keys)}

    def ends(self, step: Load, keys: Keys) -> dict[str, Any]:
        """What ends a load and what judges it."""
        cell: dict[str, Any] = {}
        if step.seconds is not None:
            cell["seconds"] = step.seconds
        if step.bytes is not None:
            cell["bytes"] = self.bytes(step.bytes, keys)
        if step.until is not None:
            cell["until"] = step.until
        rule = step.until if step.judge is None else step.judge
        if rule is not None:
            cell["judge"] = rule
            cell["round_every"] = self.top.round_every if step.round_every is None else step.round_every
            self.check_rounds(step, cell["round_every"], keys)
        return cell

    def check_rounds(self, step: Load, round_every: float, keys: Keys) -> None:
        if round_every < _ROUND_S or round_every % _ROUND_S:
            place = (*keys, "round_every") if step.round_every is not None else ("round_every",)
            raise self.loader.error(
                place, f"round_every = {round_every:g}: give a multiple of 60 s, a round is the mean of one full minute"
            )
        self.check_minutes("a verdict")

    def check_minutes(self, what: str) -> None:
        count = _ROUND_S / self.top.interval
        if count < 1 - 1e-9 or abs(count - round(count)) > 1e-9:
            raise self.loader.error(
                ("interval",),
                f"interval = {self.top.interval:g}: {what} needs full minutes, so 60 has to be a multiple of it",
            )

    def bytes(self, value: int | str, keys: Keys) -> int:
        if isinstance(value, int):
            return value
        out = ffi.new("uint64_t *")
        try:
            errors.check(lib.sated_workload_capacity(value.encode(), 0, out))
        except errors.ParseError as error:
            raise self.loader.error((*keys, "bytes"), f"bytes = {shown(value)}: {error}") from None
        return int(out[0])

    def load(
        self, kind: str, purpose: str, workload: dict[str, Any], setting: float | None, keys: Keys, what: str
    ) -> dict[str, Any]:
        """The cell of a load; its workload is checked by making it."""
        try:
            made = Workload(**workload)
        except errors.ParseError as error:
            words = str(error)
            place = next((key for key in workload if words.startswith(key) or f"{key}=" in words), None)
            where = keys if place is None else (*keys, place)
            raise self.loader.error(where, f"{Loader.where(keys)}{words}") from None
        shares = made.shares
        sizes = list(made.size_bytes)
        others = {op: round(shares[op], 9) for op in OPS[2:] if op in shares}
        return {
            **self.base(kind, setting, what),
            **others,
            "purpose": purpose,
            "workload": {**made.as_dict(), "access": made.order},
            "read": round(shares.get("read", 0.0), 9),
            "write_percent": round(100 * (1 - shares.get("read", 0.0)), 6),
            "size": sizes[0] if len(sizes) == 1 else None,
            "sequential": made.sequential,
            "threads": made.threads,
            "depth": made.depth,
            "interval": self.top.interval,
            "histogram_every": self.top.histogram_every,
        }

    def settled(self, cell: dict[str, Any], settle: bool | SettleTable | None) -> dict[str, Any]:
        chosen = self.top.settle if settle is None else settle
        if chosen is True:
            chosen = self.top.settle if isinstance(self.top.settle, SettleTable) else SettleTable()
        if isinstance(chosen, SettleTable):
            self.check_minutes("the settle phase")
            cell["settle"] = {"within": chosen.within, "at_most": chosen.at_most}
        return cell

    def cells(self, step: Cells, setting: float | None, keys: Keys, position: int) -> Iterator[dict[str, Any]]:
        if isinstance(step, MeasureStep):
            if step.seconds is None and step.bytes is None and step.until is None:
                raise self.loader.error(keys, "a measure step needs an end: seconds, bytes or until")
            cell = self.load("measure", "measure", _workload(step), setting, keys, "")
            cell["what"] = f"{_mix(cell)}-qd{cell['threads'] * cell['depth']}"
            yield {**self.settled(cell, step.settle), **self.ends(step, keys), "position": position}
            return
        for purpose, workload, name in self.grid(step, keys):
            cell = self.load("measure", purpose, workload, setting, keys, "")
            cell["what"] = f"{_mix(cell)}-{name}"
            yield {**self.settled(cell, step.settle), "seconds": step.seconds, "position": position}

    def grid(self, step: DepthSweep | GridSweep | WriteSweep, keys: Keys) -> Iterator[tuple[str, dict[str, Any], str]]:
        """Purpose, workload and the end of the name of each cell of a sweep."""
        workload = _workload(step)
        if isinstance(step, DepthSweep):
            for outstanding in step.outstanding:
                threads, depth = self.split(outstanding, step.threads, keys)
                yield "depth-sweep", {**workload, "threads": threads, "depth": depth}, f"qd{outstanding}"
        elif isinstance(step, GridSweep):
            for threads in step.threads:
                for depth in step.depth:
                    yield "grid", {**workload, "threads": threads, "depth": depth}, f"t{threads}-qd{depth}"
        else:
            for percent in step.write_percent:
                mixed = {**workload, "read": (100 - percent) / 100, "write": percent / 100}
                yield "write-percentage", mixed, f"qd{step.threads * step.depth}"

    def split(self, outstanding: int, threads: int | None, keys: Keys) -> tuple[int, int]:
        """Threads and depth for so many outstanding I/Os: as told, or as near to a square as divides, up to 16 threads
        (the reviewers' grid has 16 x 16 at its end)."""
        if threads is None:
            threads = max(n for n in range(1, 17) if outstanding % n == 0 and n * n <= outstanding)
        threads = min(threads, outstanding)
        if outstanding % threads:
            raise self.loader.error(
                (*keys, "outstanding"),
                f"outstanding = {outstanding} cannot be shared by {threads} threads: give a multiple, or no threads",
            )
        return threads, outstanding // threads


def _mix(cell: dict[str, Any]) -> str:
    """What a cell does, for its id: write30 has 30 % of writes, trim only trims."""
    others = {op: cell.get(op, 0.0) for op in OPS[2:]}
    shares = {"write": cell["write_percent"] / 100 - sum(others.values()), **others}
    kind = "-".join(f"{op.replace('_', '-')}{_whole(share)}" for op, share in shares.items() if share > _EPSILON)
    kind = kind or "read"
    return f"seq-{kind}" if cell["sequential"] else kind


def _whole(share: float) -> str:
    """A share as a whole percentage, nothing for all; what is there is never called 0 or 100."""
    return "" if share > 1 - _EPSILON else str(min(99, max(1, round(100 * share))))
