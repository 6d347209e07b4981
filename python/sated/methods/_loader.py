"""Validates a plan and knows where its keys stand, for the sentences that refuse it."""

from __future__ import annotations

import difflib
import json
from typing import Any, ClassVar, TypeVar

from pydantic import ValidationError

from sated import errors
from sated.methods._positions import Path as Keys
from sated.methods._positions import line_of
from sated.methods._tables import KINDS, SWEEPS, PlanTable, SettleTable, Table

# What other tools call a key, where its spelling does not lead there.
_MEANT = {"depth": "outstanding", "iodepth": "depth", "bs": "size", "duration": "seconds", "runtime": "seconds"}


def nearest(key: str, known: list[str] | tuple[str, ...]) -> str:
    meant = _MEANT.get(key, "")
    return meant if meant in known else difflib.get_close_matches(key, known, n=1, cutoff=0.0)[0]


_T = TypeVar("_T", bound=Table)


class Loader:
    """Validates one plan; knows where its keys stand, for the sentences."""

    _words: ClassVar[dict[str, str]] = {
        "missing": "is missing",
        "string_type": "has to be a text",
        "float_type": "has to be a number",
        "int_type": "has to be a whole number",
        "bool_type": "has to be true or false",
        "list_type": "has to be a list",
    }

    def __init__(self, source: str, data: dict[str, Any], lines: dict[Keys, int] | None) -> None:
        """@param source the file's name; @param lines of its keys, None for a dict."""
        self.source = source
        self.data = data
        self.lines = lines

    def error(self, keys: Keys, message: str) -> errors.ParseError:
        """A sentence with its place: file and line, or the path in a dict."""
        if self.lines is not None:
            return errors.ParseError(f"{self.source}:{line_of(self.lines, keys)}: {message}")
        return errors.ParseError(f"{self.source}{''.join(f'[{key!r}]' for key in keys)}: {message}")

    def tables(self) -> tuple[PlanTable, list[Table]]:
        """The top of the plan and its steps, validated. @raises ParseError for the first problem in the text."""
        top = self.validate(PlanTable, self.data, ())
        return top, [self.step(index, table) for index, table in enumerate(top.step)]

    def step(self, index: int, table: dict[str, Any]) -> Table:
        keys: Keys = ("step", index)
        model = self.choose(table, "kind", KINDS | {"sweep": Table}, keys)
        if table["kind"] == "sweep":
            model = self.choose(table, "over", SWEEPS, keys)
        return self.validate(model, table, keys)

    def choose(self, table: dict[str, Any], key: str, known: dict[str, type[Table]], keys: Keys) -> type[Table]:
        listed = ", ".join(f'"{name}"' for name in known)
        if key not in table:
            raise self.error(keys, f"{self.where(keys)}{key} is missing: one of {listed}")
        value = table[key]
        if not isinstance(value, str) or value not in known:
            near = f'; the nearest known is "{nearest(value, list(known))}"' if isinstance(value, str) else ""
            head = f"{self.where(keys)}{key} = {shown(value)}"
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

    def first(self, model: type[Table], error: ValidationError, keys: Keys) -> errors.ParseError:
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
            return self.error(place, f"{head}unknown key {unknown!r}; the nearest known is {nearest(unknown, known)!r}")
        about = str(key) if missing else f"{key} = {shown(problem['input'])}"
        words = self._words.get(problem["type"])
        if words is None:
            words = problem["msg"].replace("Input should be", "has to be").replace("List should have", "has to have")
            words = words[:1].lower() + words[1:]
        return self.error(place, f"{head}{about}{'' if missing else ':'} {words}")

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


def shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
