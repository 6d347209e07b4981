"""Plans: data that is validated once and expanded to a flat list of steps with stable ids."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sated import errors, steady
from sated.methods._expander import Expander
from sated.methods._loader import Loader, nearest
from sated.methods._positions import Path as Keys
from sated.methods._positions import positions

_HERE = Path(__file__).parent / "plans"


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
        return _loaded("plan", json.dumps(plan, indent=2, default=str), dict(plan), None)
    text_form = str(plan)
    path = Path(text_form)
    if isinstance(plan, str) and "/" not in text_form and not text_form.endswith(".toml"):
        path = _HERE / f"{text_form}.toml"
        if not path.exists():
            raise errors.ParseError(
                f"no plan {text_form!r}: the nearest known is {nearest(text_form, names())!r} (there are "
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
        raise errors.file_error(error, f"{source}: {error.strerror}: name a plan or its TOML file") from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise errors.ParseError(_toml_error(source, text, str(error))) from None
    return _loaded(source, text, data, positions(text))


def _loaded(source: str, text: str, data: dict[str, Any], lines: dict[Keys, int] | None) -> Plan:
    loader = Loader(source, data, lines)
    top, steps = loader.tables()
    expanded = list(Expander(loader, top, steps).all())
    return Plan(name=top.name, title=top.title, text=text, source=source, steps=expanded)


def _toml_error(source: str, text: str, message: str) -> str:
    what, _, where = message.partition(" (at ")
    line = text.count("\n") + 1
    if where.startswith("line "):
        line = int(where.removeprefix("line ").split(",")[0])
    return f"{source}:{line}: not TOML: {what[:1].lower()}{what[1:]}"


# The rules that a plan may name are those that can judge.
assert set(steady.RULES) == {"pts", "range-20"}
