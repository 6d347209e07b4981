"""What other packages teach sated, attribute names and vendor pages: entry points of the group `sated.decoders`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from sated.errors import StateError

if TYPE_CHECKING:
    from sated.ata import AttributeRule
    from sated.pages import Page

__all__ = ["GROUP", "Match", "Plugin", "attribute_rules", "load", "matches", "pages"]

GROUP = "sated.decoders"

Match = str | Callable[[str], bool]
"""Which drives are meant: a pattern with `*` and `?` for the model, or a callable that takes it."""

attribute_rules: list[tuple[Match, dict[int, AttributeRule]]] = []
"""The latest first."""
pages: list[Page] = []
"""Likewise."""


@dataclass(frozen=True)
class Plugin:
    """An entry point of the group: its package, name and value, and what went wrong with it, "" where nothing did."""

    package: str
    name: str
    value: str
    error: str


@functools.cache
def load() -> tuple[Plugin, ...]:
    """Calls every entry point of the group, once in a process.

    One that fails is told by `sated doctor` and in `Health.warnings`; nothing that it has registered until then stays,
    and the others are called all the same.
    """
    from importlib.metadata import entry_points

    return tuple(_load(point) for point in entry_points(group=GROUP))


def _load(point: Any) -> Plugin:
    package = point.dist.name if point.dist is not None else ""
    before = [*attribute_rules], [*pages]
    error = ""
    try:
        register = point.load()
        if callable(register):
            register()
        else:
            error = f"is {type(register).__name__}, not a callable without arguments"
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    if error:
        attribute_rules[:], pages[:] = before
        whose = f"{point.name} of {package}" if package else point.name
        error = f"decoders {whose} ({point.value}): {error}; mend or remove that package"
    return Plugin(package, point.name, point.value, error)


def matches(match: Match, model: str) -> bool:
    """Whether a drive of this model is meant. Raises StateError where a callable fails."""
    if not callable(match):
        return fnmatchcase(model, match)
    try:
        return bool(match(model))
    except Exception as error:
        name = getattr(match, "__qualname__", repr(match))
        raise StateError(
            f"{name}, which says which models a decoder is for: {type(error).__name__}: {error}"
        ) from error
