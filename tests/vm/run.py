"""Runs the tests of this folder in guests: each machine is booted once, and pytest runs in it the files of the folder
that is called like the machine. Usage: run.py [--repeat N] [NAME...] [-- PYTEST ARGUMENTS]"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import image
from guest import PYTHON, Guest, GuestFailed
from machines import TESTED, Machine

HERE = Path(__file__).resolve().parent
LIMIT_S = 400  # far above what any takes: on a loaded machine interpreting is several times slower


def run(machine: Machine, arguments: list[str]) -> tuple[bool, str]:
    folder = HERE / machine.name
    options = [
        *("-m", "vm", "-p", "no:cacheprovider", "--junitxml=/vm/report.xml"),
        *("-o", f"faulthandler_timeout={LIMIT_S // 2}"),  # says where a test hangs
        *("-W", "error::pytest.PytestUnhandledThreadExceptionWarning"),  # what was to happen meanwhile did not
        *arguments,
    ]
    try:
        with Guest(machine) as guest:
            if machine.cut:
                guest.cut_power(LIMIT_S)
            result = guest.run([PYTHON, "-m", "pytest", *options, folder], limit_s=LIMIT_S)
    except GuestFailed as failed:
        return False, f"{machine.name}: {failed}\n1 error in {LIMIT_S}.0s\n"
    return result.status == 0, f"{machine.name}: {machine.about} {result.seconds:.0f} s\n{result.output}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="times in a row")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of machines.py; all without any")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options, arguments = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]
    if unknown := set(options.names) - {machine.name for machine in TESTED}:
        parser.error(f"{', '.join(sorted(unknown))}: not one of {', '.join(machine.name for machine in TESTED)}")
    folders = {path.relative_to(HERE).parts[0] for path in HERE.rglob("test_*.py")}
    if lost := folders - {machine.name for machine in TESTED}:
        parser.error(f"{', '.join(sorted(lost))}: tests of a guest that machines.py does not list as tested")
    try:
        image.build()
    except image.Missing as missing:
        image.say(str(missing))
        return 7
    began = time.monotonic()
    wanted = [machine for machine in TESTED if not options.names or machine.name in options.names]
    passed = 0
    # A guest has one processor, a machine that tests has two.
    with ThreadPoolExecutor(2) as pool:
        for _ in range(options.repeat):  # one after the other: a machine has one folder
            for ok, text in pool.map(lambda machine: run(machine, arguments), wanted):
                print(text, flush=True)
                passed += ok
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = f"{time.monotonic() - began:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processor time"
    print(f"{passed} of {len(wanted) * options.repeat} guests passed in {seconds}", flush=True)
    return 0 if passed == len(wanted) * options.repeat else 1


if __name__ == "__main__":
    sys.exit(main())
