"""Plans: data that is validated once and expanded to a flat list of steps with stable ids."""

from __future__ import annotations

import difflib
import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sated import errors, steady
from sated._ffi import ffi, lib
from sated._workload import Workload
from sated.methods._positions import Path as Keys
from sated.methods._positions import line_of, positions

_HERE = Path(__file__).parent / "plans"
_WORKLOAD = ("op", "read", "write", "trim", "size", "sizes", "access", "threads", "depth", "offset", "length", "data")
_ROUND_S = 60.0

# What other tools call a key, where its spelling does not lead there.
_MEANT = {"depth": "outstanding", "iodepth": "depth", "bs": "size", "duration": "seconds", "runtime": "seconds"}

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Rule = Literal["pts", "range-20"]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SettleTable(_Table):
    """The settle phase: until a minute is `within` of the one before, at most so many reported seconds."""

    within: Positive = 0.10
    at_most: Annotated[float, Field(ge=120)] = 600.0


class _Mix(_Table):
    """The keys of a workload, but for how many I/Os are outstanding."""

    op: str | None = None
    read: float | str | None = None
    write: float | str | None = None
    trim: float | str | None = None
    size: int | str | None = None
    sizes: dict[str, float] | None = None
    access: str | None = None
    offset: int | str | None = None
    length: int | str | None = None
    data: str | None = None


class _Workload(_Mix):
    threads: Count | None = None
    depth: Count | None = None


class PurgeStep(_Table):
    kind: Literal["purge"]
    method: str = "auto"
    optional: bool = False
    """Go on with a note where the target cannot be purged."""


class CapacityStep(_Table):
    kind: Literal["capacity"]
    fraction: Annotated[float, Field(gt=0, le=1)] | None = None
    """Of the native LBAs; that of the setting by default."""


class FillStep(_Table):
    kind: Literal["fill"]
    times: Positive = 2.0
    """The accessible capacity, written so often."""
    size: int | str = "128k"
    threads: Count = 1
    depth: Count = 32


class _Load(_Workload):
    seconds: Positive | None = None
    bytes: Count | str | None = None
    until: Rule | None = None
    judge: Rule | None = None
    round_every: Positive | None = None


class PreconditionStep(_Load):
    kind: Literal["precondition"]
    times: Positive | None = None
    """The accessible capacity, written so often."""


class MeasureStep(_Load):
    kind: Literal["measure"]
    settle: bool | SettleTable | None = None


class _Sweep(_Mix):
    kind: Literal["sweep"]
    seconds: Positive
    settle: bool | SettleTable | None = None


class DepthSweep(_Sweep):
    over: Literal["depth"]
    outstanding: Annotated[list[Count], Field(min_length=1)]
    """Threads x depth of each cell."""
    threads: Count | None = None


class GridSweep(_Sweep):
    over: Literal["threads x depth"]
    threads: Annotated[list[Count], Field(min_length=1)]
    depth: Annotated[list[Count], Field(min_length=1)]


class WriteSweep(_Table):
    kind: Literal["sweep"]
    over: Literal["write_percent"]
    write_percent: Annotated[list[Annotated[float, Field(ge=0, le=100)]], Field(min_length=1)]
    size: int | str | None = None
    sizes: dict[str, float] | None = None
    access: str = "random"
    threads: Count = 1
    depth: Count = 1
    offset: int | str | None = None
    length: int | str | None = None
    data: str | None = None
    seconds: Positive
    settle: bool | SettleTable | None = None


class IdleStep(_Table):
    kind: Literal["idle"]
    seconds: Positive


_KINDS: dict[str, type[_Table]] = {
    "purge": PurgeStep,
    "capacity": CapacityStep,
    "fill": FillStep,
    "precondition": PreconditionStep,
    "measure": MeasureStep,
    "idle": IdleStep,
}
_SWEEPS: dict[str, type[_Table]] = {"depth": DepthSweep, "threads x depth": GridSweep, "write_percent": WriteSweep}
_ALL_KINDS = (*_KINDS, "sweep")


class PlanTable(_Table):
    """The top of a plan; its steps are validated one by one, each by its kind."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: str = ""
    description: str = ""
    interval: Annotated[float, Field(ge=0.001)] = 1.0
    histogram_every: Positive = 60.0
    round_every: Positive = 1800.0
    settle: bool | SettleTable = True
    capacity: Annotated[list[Annotated[float, Field(gt=0, le=1)]], Field(min_length=1)] | None = None
    step: Annotated[list[dict[str, Any]], Field(min_length=1)]


_Cells = MeasureStep | DepthSweep | GridSweep | WriteSweep


def _workload(step: _Table) -> dict[str, Any]:
    """The keys of a step that are its workload's."""
    return {key: value for key in _WORKLOAD if (value := getattr(step, key, None)) is not None}


@dataclass(frozen=True)
class Plan:
    """A validated plan and the steps it expands to. Each step is plain data, the `cell` of its results."""

    name: str
    title: str
    text: str
    source: str
    steps: list[dict[str, Any]]

    @property
    def checksum(self) -> str:
        """Of the expanded steps: what has to agree for a run to be gone on with."""
        return checksum(self.steps)

    @property
    def judged(self) -> bool:
        """Whether a verdict is asked for."""
        return any("judge" in step for step in self.steps)


def checksum(steps: list[dict[str, Any]]) -> str:
    """The SHA-256 of expanded steps, whatever the order of their keys."""
    return hashlib.sha256(json.dumps(steps, sort_keys=True, allow_nan=False).encode()).hexdigest()


def seed_of(seed: int, step: str) -> int:
    """The seed of a step's load: from the plan's seed and the step's id, the same on every machine and in every run."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{step}".encode()).digest()[:8], "little") >> 1


def names() -> list[str]:
    """The built-in plans.

    >>> names()
    ['op-study', 'quick']
    """
    return sorted(path.stem for path in _HERE.glob("*.toml"))


def load(plan: str | PathLike[str] | Mapping[str, Any] | Plan) -> Plan:
    """Reads, validates and expands a plan. @param plan the name of a built-in one, the path of a TOML file, or a dict.

    @raises ParseError with file, line, key and what to write instead; FileOSError for a file that cannot be read.
    """
    if isinstance(plan, Plan):
        return plan
    if isinstance(plan, Mapping):
        return _Loader("plan", json.dumps(plan, indent=2, default=str), dict(plan), None).load()
    text_form = str(plan)
    path = Path(text_form)
    if isinstance(plan, str) and "/" not in text_form and not text_form.endswith(".toml"):
        path = _HERE / f"{text_form}.toml"
        if not path.exists():
            raise errors.ParseError(
                f"no plan {text_form!r}: the nearest known is {_nearest(text_form, names())!r} (there are "
                f"{', '.join(names())}); a file is named with its folder or its ending .toml"
            )
        source = f"{text_form}.toml"
    else:
        source = text_form
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise errors.ParseError(f"{source}: byte {error.start} is not UTF-8: save the plan as UTF-8") from None
    except OSError as error:
        from sated.results import _files

        raise _files.file_error(error.errno or 0, f"{source}: {error.strerror}: name a plan or its TOML file") from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise errors.ParseError(_toml_error(source, text, str(error))) from None
    return _Loader(source, text, data, positions(text)).load()


def _toml_error(source: str, text: str, message: str) -> str:
    what, _, where = message.partition(" (at ")
    line = text.count("\n") + 1
    if where.startswith("line "):
        line = int(where.removeprefix("line ").split(",")[0])
    return f"{source}:{line}: not TOML: {what[:1].lower()}{what[1:]}"


def _nearest(key: str, known: list[str] | tuple[str, ...]) -> str:
    meant = _MEANT.get(key, "")
    return meant if meant in known else difflib.get_close_matches(key, known, n=1, cutoff=0.0)[0]


_T = TypeVar("_T", bound=_Table)


class _Loader:
    """Validates one plan; knows where its keys stand, for the sentences."""

    _words: ClassVar[dict[str, str]] = {
        "missing": "is missing",
        "string_type": "has to be a text",
        "float_type": "has to be a number",
        "int_type": "has to be a whole number",
        "bool_type": "has to be true or false",
        "list_type": "has to be a list",
    }

    def __init__(self, source: str, text: str, data: dict[str, Any], lines: dict[Keys, int] | None) -> None:
        self.source = source
        self.text = text
        self.data = data
        self.lines = lines

    def error(self, keys: Keys, message: str) -> errors.ParseError:
        """A sentence with its place: file and line, or the path in a dict."""
        if self.lines is not None:
            return errors.ParseError(f"{self.source}:{line_of(self.lines, keys)}: {message}")
        return errors.ParseError(f"{self.source}{''.join(f'[{key!r}]' for key in keys)}: {message}")

    def load(self) -> Plan:
        top = self.validate(PlanTable, self.data, ())
        steps = [self.step(index, table) for index, table in enumerate(top.step)]
        expanded = list(_Expander(self, top, steps).all())
        return Plan(name=top.name, title=top.title, text=self.text, source=self.source, steps=expanded)

    def step(self, index: int, table: dict[str, Any]) -> _Table:
        keys: Keys = ("step", index)
        model = self.choose(table, "kind", _KINDS | {"sweep": _Table}, keys)
        if table["kind"] == "sweep":
            model = self.choose(table, "over", _SWEEPS, keys)
        return self.validate(model, table, keys)

    def choose(self, table: dict[str, Any], key: str, known: dict[str, type[_Table]], keys: Keys) -> type[_Table]:
        listed = ", ".join(f'"{name}"' for name in known)
        if key not in table:
            raise self.error(keys, f"{self.where(keys)}{key} is missing: one of {listed}")
        value = table[key]
        if not isinstance(value, str) or value not in known:
            near = f'; the nearest known is "{_nearest(value, list(known))}"' if isinstance(value, str) else ""
            head = f"{self.where(keys)}{key} = {_shown(value)}"
            raise self.error((*keys, key), f"{head} is unknown{near}: one of {listed}")
        return known[value]

    @staticmethod
    def where(keys: Keys) -> str:
        return f"step {int(keys[1]) + 1}: " if keys[:1] == ("step",) else ""

    def validate(self, model: type[_T], table: dict[str, Any], keys: Keys) -> _T:
        try:
            return model.model_validate(table)
        except ValidationError as error:
            raise self.first(model, error, keys) from None

    def first(self, model: type[_Table], error: ValidationError, keys: Keys) -> errors.ParseError:
        """The problem that stands first in the text, as a sentence."""
        problems = error.errors(include_url=False)
        # A union reports each of its branches under its name; the path into the plan is what precedes it.
        places = [(*keys, *self.inside(table=self.data, keys=keys, loc=problem["loc"])) for problem in problems]
        lines = self.lines or {(): 0}
        at = min(range(len(problems)), key=lambda number: line_of(lines, places[number]))
        # Of the branches of a union, the one that looked deepest into the value is the one that was meant.
        same = [number for number, problem in enumerate(problems) if problem["loc"][0] == problems[at]["loc"][0]]
        at = max(same, key=lambda number: len(places[number]))
        problem, place = problems[at], places[at]
        missing = problem["type"] == "missing"
        key = problem["loc"][-1] if missing else next(part for part in reversed(place) if isinstance(part, str))
        head = self.where(keys)
        if problem["type"] == "extra_forbidden":
            unknown = str(place[-1])
            known = list(SettleTable.model_fields) if len(place) > len(keys) + 1 else list(model.model_fields)
            return self.error(
                place, f"{head}unknown key {unknown!r}; the nearest known is {_nearest(unknown, known)!r}"
            )
        shown = str(key) if missing else f"{key} = {_shown(problem['input'])}"
        words = self._words.get(problem["type"])
        if words is None:
            words = problem["msg"].replace("Input should be", "has to be").replace("List should have", "has to have")
            words = words[:1].lower() + words[1:]
        return self.error(place, f"{head}{shown}{'' if missing else ':'} {words}")

    @staticmethod
    def inside(*, table: Any, keys: Keys, loc: tuple[str | int, ...]) -> Keys:
        """The part of an error's location that leads through the plan itself."""
        for key in keys:
            table = table[key]
        path: list[str | int] = []
        for key in loc:
            held = range(len(table)) if isinstance(table, list) else table if isinstance(table, dict) else ()
            if key in held:
                table = table[key]
                path.append(key)
        return tuple(path)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


@dataclass
class _Expander:
    loader: _Loader
    top: PlanTable
    steps: list[_Table]
    index: int = field(default=0, init=False)

    def all(self) -> Iterator[dict[str, Any]]:
        settings: list[float | None] = [None]
        if self.top.capacity is not None:
            settings = list(self.top.capacity)
            self.check_settings()
        for setting in settings:
            yield from self.setting(setting)

    def check_settings(self) -> None:
        kinds = [step.kind for step in self.steps]  # type: ignore[attr-defined]
        if "capacity" not in kinds:
            raise self.loader.error(("capacity",), 'capacity lists settings, but no step of kind "capacity" sets them')
        if kinds[0] != "purge":
            raise self.loader.error(
                ("step", 0, "kind"),
                'each setting of capacity begins with a purge: let the first step be of kind "purge"',
            )

    def setting(self, setting: float | None) -> Iterator[dict[str, Any]]:
        """All steps for one setting; cells between two other steps are put in the order that disturbs least."""
        current = setting
        group: list[dict[str, Any]] = []
        for position, step in enumerate(self.steps):
            keys: Keys = ("step", position)
            if isinstance(step, CapacityStep):
                current = self.fraction(step, setting, keys)
            if isinstance(step, _Cells):
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

    def other(self, step: _Table, setting: float | None, keys: Keys) -> dict[str, Any]:
        if isinstance(step, PurgeStep):
            return {**self.base("purge", setting, "purge"), "method": step.method, "optional": step.optional}
        if isinstance(step, CapacityStep):
            return {**self.base("capacity", setting, "capacity"), "fraction": setting}
        if isinstance(step, IdleStep):
            return {**self.base("idle", setting, "idle"), "seconds": step.seconds}
        if isinstance(step, FillStep):
            workload = {"op": "write", "size": step.size, "threads": step.threads, "depth": step.depth}
            cell = self.load("fill", "fill", workload, setting, keys, "fill")
            return {**cell, "times": step.times}
        assert isinstance(step, PreconditionStep)
        if step.seconds is None and step.bytes is None and step.times is None and step.until is None:
            raise self.loader.error(keys, "a precondition needs an end: seconds, bytes, times (the capacity) or until")
        cell = self.load("precondition", "precondition", _workload(step), setting, keys, "precondition")
        if step.times is not None:
            cell["times"] = step.times
        return {**cell, **self.ends(step, keys)}

    def ends(self, step: _Load, keys: Keys) -> dict[str, Any]:
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

    def check_rounds(self, step: _Load, round_every: float, keys: Keys) -> None:
        if round_every < _ROUND_S or round_every % _ROUND_S:
            place = (*keys, "round_every") if step.round_every is not None else ("round_every",)
            raise self.loader.error(
                place, f"round_every = {round_every:g}: give a multiple of 60 s, a round is the mean of one full minute"
            )
        count = _ROUND_S / self.top.interval
        if abs(count - round(count)) > 1e-9:
            raise self.loader.error(
                ("interval",),
                f"interval = {self.top.interval:g}: a verdict needs full minutes, so 60 has to be a multiple of it",
            )

    def bytes(self, value: int | str, keys: Keys) -> int:
        if isinstance(value, int):
            return value
        out = ffi.new("uint64_t *")
        try:
            errors.check(lib.sated_workload_capacity(value.encode(), 0, out))
        except errors.ParseError as error:
            raise self.loader.error((*keys, "bytes"), f"bytes = {_shown(value)}: {error}") from None
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
            raise self.loader.error(where, f"{_Loader.where(keys)}{words}") from None
        shares = made.shares
        sizes = list(made.size_bytes)
        return {
            **self.base(kind, setting, what),
            "purpose": purpose,
            "workload": {**made.as_dict(), "access": "sequential" if made.sequential else "random"},
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
            cell["settle"] = {"within": chosen.within, "at_most": chosen.at_most}
        return cell

    def cells(self, step: _Cells, setting: float | None, keys: Keys, position: int) -> Iterator[dict[str, Any]]:
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
    """What a cell does, for its id."""
    kind = {0: "read", 100: "write"}.get(cell["write_percent"], f"write{cell['write_percent']:g}")
    return f"seq-{kind}" if cell["sequential"] else kind


# The rules that a plan may name are those that can judge.
assert set(steady.RULES) == {"pts", "range-20"}
