"""Writes `known_scsi.h`, `known_ata.h` and `known_nvme.h` from the public headers: the bit of each member in `known`.

`python3 csrc/protocol/known.py` writes what changed; with `--check` it says so and fails. Needs nothing installed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include" / "sated"


def structs(header: str) -> dict[str, list[str]]:
    """The members of each struct that begins with `known`, in their order."""
    text = re.sub(r"/\*.*?\*/", "", (INCLUDE / header).read_text(), flags=re.DOTALL)
    found = {}
    for name, body in re.findall(r"struct sated_(\w+) \{(.*?)\n\};", text, flags=re.DOTALL):
        members: list[str] = []
        for declaration in body.split(";"):
            words = declaration.strip()
            if words:
                first, *more = words.split(",")
                members += [re.findall(r"(\w+)\s*(?:\[\w+\]\s*)*$", part)[0] for part in (first, *more)]
        if members and members[0] == "known":
            found[name] = members
    return found


def known(header: str) -> str:
    """The text of the private header that goes with a public one."""
    stem = header.removesuffix(".h")
    lines = [
        "/* SPDX-License-Identifier: MIT */",
        f"/* Made by known.py from <sated/{header}>: the place of each member, which is its bit in `known`. */",
        f"#ifndef SATED_PROTOCOL_KNOWN_{stem.upper()}_H",
        f"#define SATED_PROTOCOL_KNOWN_{stem.upper()}_H",
        "",
        '#include "protocol/known.h"',
        "",
        "/* clang-format off */",
    ]
    for name, members in structs(header).items():
        if len(members) > 64:
            raise SystemExit(f"struct sated_{name} has {len(members) - 1} members: `known` has room for 63")
        lines += ["enum {"]
        lines += [f"    known_{name}_{member} = {i}," for i, member in enumerate(members) if i]
        lines += ["};", ""]
    lines += ["/* clang-format on */", "", "#endif", ""]
    return "\n".join(lines)


def main() -> int:
    stale = 0
    for header in ("scsi.h", "ata.h", "nvme.h", "health.h"):
        path = HERE / f"known_{header}"
        if not (INCLUDE / header).exists():
            continue
        text = known(header)
        if not path.exists() or path.read_text() != text:
            stale += 1
            if "--check" in sys.argv:
                print(f"{path}: not as <sated/{header}> has it: run python3 csrc/protocol/known.py")
            else:
                path.write_text(text)
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
