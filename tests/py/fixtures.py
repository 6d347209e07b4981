"""Answers of drives and what reference tools make of them: tests/corpus, and the published ones beside the checkout."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "corpus"


@dataclass(frozen=True)
class Fixture:
    name: str
    data: bytes
    expected: str


def public_folder() -> Path | None:
    """SATED_FIXTURES, else shared/fixtures/public in a folder above the checkout."""
    if "SATED_FIXTURES" in os.environ:
        folder = Path(os.environ["SATED_FIXTURES"])
        return folder if folder.is_dir() else None
    for parent in ROOT.parents:
        folder = parent / "shared" / "fixtures" / "public"
        if folder.is_dir():
            return folder
    return None


def read(path: Path) -> Fixture:
    if path.suffix == ".bin":
        data = path.read_bytes()
    else:
        data = bytes.fromhex("".join(line for line in path.read_text().splitlines() if not line.startswith("#")))
    return Fixture(path.stem, data, path.with_name(f"{path.stem}.expected.txt").read_text())


def _in(folder: Path, prefixes: tuple[str, ...]) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.suffix in (".hex", ".bin") and p.name.startswith(prefixes))


def params(*prefixes: str) -> list[object]:
    """The fixtures whose names begin so, for parametrize; one skipped item where the public ones are absent."""
    found: list[object] = [pytest.param(read(path), id=path.stem) for path in _in(CORPUS, prefixes)]
    assert found, f"tests/corpus has nothing that begins with {prefixes}"
    folder = public_folder()
    if folder is None:
        reason = "published fixtures are not beside this checkout (shared/fixtures/public; or set SATED_FIXTURES)"
        return [*found, pytest.param(None, id="public", marks=pytest.mark.skip(reason=reason))]
    return [*found, *(pytest.param(read(path), id=f"public-{path.stem}") for path in _in(folder, prefixes))]


def named(name: str) -> Fixture:
    """One of tests/corpus by its name."""
    (path,) = (p for p in CORPUS.iterdir() if p.stem == name and p.suffix in (".hex", ".bin"))
    return read(path)
