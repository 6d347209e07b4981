"""Measures the table of docs/explanation/write-amplification.md by the C test that also holds it to its limits.

`make amplification` runs it, for some minutes; the long tests measure the same and compare.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/explanation/write-amplification.md"
MARK = "<!-- Measured by `make amplification`; nothing below is written by hand. -->\n"


def main() -> None:
    out = ROOT / "build" / "csrc"
    program = out / "tests" / "test_sim_wa"
    make = ["make", "-s", "-C", str(ROOT / "tests" / "c"), f"OUT={out}", f"TESTS={program}"]
    subprocess.run(make, check=True)
    told = subprocess.run([program, "table"], capture_output=True, text=True, check=False)
    if told.returncode:
        raise SystemExit(told.stdout)
    text = PAGE.read_text()
    PAGE.write_text(text[: text.index(MARK) + len(MARK)] + told.stdout[: told.stdout.rindex("|") + 1] + "\n")


if __name__ == "__main__":
    main()
