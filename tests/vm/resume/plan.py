"""Runs a small plan on a file, or goes on with it where it was cut short. Usage: plan.py FOLDER"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import sated

PLAN: dict[str, Any] = {
    "name": "cut",
    "title": "Cut short",
    "description": "Short steps on a file; the power goes during the third",
    "interval": 0.5,
    "settle": False,
    "step": [
        {"kind": "fill", "times": 1.0, "size": "128k"},
        {"kind": "measure", "op": "randwrite", "size": "4k", "depth": 4, "seconds": 1.0},
        {"kind": "measure", "op": "randread", "size": "4k", "depth": 4, "seconds": 6.0},
        {"kind": "measure", "op": "randread", "size": "16k", "depth": 4, "seconds": 1.0},
    ],
}


def go(folder: Path) -> Any:
    path = folder / "drive"
    create = None if path.exists() else "16MiB"
    with sated.open(str(path), create=create) as drive:
        return sated.review(drive, plan=PLAN, out=folder / "run", confirm=str(path))


if __name__ == "__main__":
    go(Path(sys.argv[1]))
