"""Records the trees in tests/corpus/trees: boots each machine, copies out of it what a list of drives is made from, and
writes down what is to be found in it, by the reference tools and by how the machine was put together."""

from __future__ import annotations

import json
import sys
from typing import Any

import image
import oracle
from guest import PYTHON, REPOSITORY, Guest, GuestFailed
from machines import RECORDED, Machine

TREES = REPOSITORY / "tests/corpus/trees"


def expectations(machine: Machine, said: dict[str, Any]) -> list[str]:
    lines = []
    by_lsblk, by_nvme = oracle.of_lsblk(said), oracle.of_nvme(said)
    nodes = oracle.nodes(said)
    for title, found in (("lsblk", by_lsblk), ("nvme list", by_nvme)):
        lines += [f"# {title}:"] * bool(found)
        for node in sorted(found):
            lines += [
                f"{node} ? {member} {text}" for member, text in found[node].items() if member not in oracle.NOT_MEMBERS
            ]
    return [*lines, "# how it was put together:", *(line.format_map(nodes) for line in machine.expected)]


def record(machine: Machine) -> None:
    with Guest(machine) as guest:
        result = guest.run([PYTHON, REPOSITORY / "tests/vm/snapshot.py", "/vm"], limit_s=300)
        if result.status:
            raise SystemExit(f"{machine.name}: exit {result.status}: {result.output}")
        said = json.loads((guest.out / "oracle.json").read_text())
        kernel = (guest.out / "kernel").read_text().strip()
        head = [f"# recorded by tests/vm/record.py: {kernel}; QEMU {guest.image.qemu_version()}", f"# {machine.about}"]
        lines = [*head, *(guest.out / "tree").read_text().splitlines(), *expectations(machine, said)]
        (TREES / f"{machine.name}.tree").write_text("\n".join(lines) + "\n")
        tools = [line for name, rows in said.items() for line in (f"# {name}", *map(json.dumps, rows))]
        (TREES / f"{machine.name}.said.txt").write_text("\n".join(tools) + "\n")
    print(f"sated: recorded {machine.name}: {len(lines)} lines, {result.seconds:.0f} s", file=sys.stderr, flush=True)


def main() -> None:
    wanted, known = sys.argv[1:], {machine.name: machine for machine in RECORDED}
    if unknown := set(wanted) - set(known):
        sys.exit(f"sated: {', '.join(sorted(unknown))}: not one of {', '.join(known)}")
    try:
        for name in wanted or known:
            record(known[name])
    except (GuestFailed, image.Missing) as error:
        sys.exit(f"sated: {error}")


if __name__ == "__main__":
    main()
