"""Whether the tests in guests can fail: breaks the code under test in one place at a time, in a copy of the checkout
outside of it, and runs there the tests that should notice. Usage: mutate.py [--list] [NAME...]

Without names all are tried. First the tests have to pass in a copy that nothing was broken in. The last line says how
many were caught; the exit status is 1 if one survived or could not be tried."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
LIMIT_S = 900  # of one step, on a machine that does other things too


@dataclass(frozen=True)
class Mutation:
    """@param guest of machines.py; @param catch for pytest's -k: the tests that should notice; @param old what stands
    once in the file, for which `new` is put"""

    name: str
    guest: str
    catch: str
    file: str
    old: str
    new: str


MUTATIONS = (
    Mutation(
        "opcode-of-scsi-read",  # VERIFY(10)
        "scsi",
        "inquiry_and_blocks",
        "csrc/protocol/scsi.c",
        'move(c, "READ(10)", 0x28,',
        'move(c, "READ(10)", 0x2f,',
    ),
    Mutation(
        "controller-of-another",
        "nvme",
        "identify_controller or own_number",
        "csrc/transport/nvme_ioctl.c",
        "node_device_path(path, sizeof path, name);",
        'node_device_path(path, sizeof path, "nvme0");',
    ),
    Mutation(
        "namespace-always-1",
        "nvme",
        "own_number",
        "csrc/transport/nvme_ioctl.c",
        "        .opcode = from->opcode,\n        .flags = from->flags,\n        .nsid = from->nsid,",
        "        .opcode = from->opcode,\n        .flags = from->flags,\n        .nsid = from->nsid ? 1 : 0,",
    ),
    Mutation(
        "nvme-status-ignored",
        "nvme",
        "refusal",
        "csrc/transport/nvme_ioctl.c",
        "(uint16_t)(rc & 0x7fff)",
        "(uint16_t)(rc & 0)",
    ),
    Mutation(
        "host-status-ignored",
        "faults",
        "lost_times_out",
        "csrc/transport/status.c",
        "if (r->host_status)",
        "if (r->host_status == 0xff)",
    ),
    Mutation(
        "check-condition-ignored",
        "faults",
        "sense",
        "csrc/transport/status.c",
        "case STATUS_CHECK_CONDITION: rc = check_condition(d, c, r, text, registers); break;",
        "case STATUS_CHECK_CONDITION: break;",
    ),
    Mutation(
        "sense-of-bsg-lost",
        "scsi",
        "not_supported",
        "csrc/transport/sg.c",
        "h.response_len <= SENSE_ROOM ? h.response_len : SENSE_ROOM",
        "0",
    ),
    Mutation(
        "residual-ignored",
        "scsi",
        "inquiry_and_blocks",
        "csrc/transport/sg.c",
        "reply->residual = h.resid;",
        "reply->residual = 0;",
    ),
    Mutation(
        "short-read-is-whole",
        "stacks",
        "shrinks",
        "csrc/load/inflight.h",
        "if (__builtin_expect(result == kind->wanted, 1))",
        "if (__builtin_expect(result >= 0, 1))",
    ),
    Mutation(
        "short-read-is-whole-to-threads",
        "stacks",
        "shrinks",
        "csrc/load/engine_threads.c",
        "if (n == (ssize_t)bytes)",
        "if (n >= 0)",
    ),
    Mutation(
        "offset-of-a-load-ignored",
        "faults",
        "bad_blocks",
        "csrc/load/engine_uring.c",
        "__atomic_store_n(&sqe->off, slot->offset, __ATOMIC_RELAXED);",
        "sqe->off = 0;",
    ),
    Mutation(
        "half-of-a-log",
        "nvme",
        "log",
        "csrc/protocol/nvme.c",
        "uint32_t numd = data_len / 4 - 1;",
        "uint32_t numd = data_len / 8;",
    ),
    Mutation(
        "result-of-a-completion-lost",
        "nvme",
        "completion_brings",
        "csrc/transport/nvme_ioctl.c",
        "reply->result = result;",
        "reply->result = 0 * result;",
    ),
    Mutation(
        "one-outstanding-for-all",
        "faults",
        "slow or delay or null_blk",
        "csrc/load/engine_real.c",
        "worker->depth = w->depth;",
        "worker->depth = 1;",
    ),
    Mutation(
        "latencies-too-long",
        "faults",
        "slow or delay or null_blk",
        "csrc/load/inflight.h",
        "(uint64_t)(now_ns - *slot->stamp)",
        "3 * (uint64_t)(now_ns - *slot->stamp)",
    ),
    Mutation(
        "latencies-a-little-too-long",
        "timing",
        "fio_finds",
        "csrc/load/inflight.h",
        "(uint64_t)(now_ns - *slot->stamp)",
        "(uint64_t)(now_ns - *slot->stamp) * 11 / 10",
    ),
    Mutation(
        "responses-from-submission",
        "timing",
        "delays",
        "csrc/load/recorder.h",
        "(uint64_t)(now_ns - intended_ns)",
        "(uint64_t)(now_ns - submitted_ns)",
    ),
    Mutation(
        "errors-counted-as-ios",
        "faults",
        "bad_blocks",
        "csrc/load/recorder.h",
        "    r->sheet->tally[class].errors++;",
        "    r->sheet->tally[class].errors++;\n    histogram_record(r->sheet->tally[class].latency, 1, 10);",
    ),
    Mutation(
        "errors-never-end-a-load",
        "faults",
        "load_ends or pulled",
        "csrc/load/phase.c",
        "n != (l->options.max_errors ? l->options.max_errors : 1)",
        "n != UINT64_MAX",
    ),
    Mutation(
        "one-error-ends-a-load",
        "faults",
        "comes_and_goes",
        "csrc/load/phase.c",
        "n != (l->options.max_errors ? l->options.max_errors : 1)",
        "n != 1",
    ),
    Mutation(
        "failed-write-called-a-read",
        "faults",
        "takes_nothing",
        "csrc/load/phase.c",
        "workload_op_names[l->mix.op[class]]",
        "workload_op_names[0]",
    ),
    Mutation(
        "holders-ignored",
        "stacks",
        "reasons",
        "csrc/transport/use.c",
        "    node_each(path, visit_holder, &l);\n",
        "    (void)visit_holder;\n",
    ),
    Mutation(
        "mounts-ignored",
        "stacks",
        "list_agrees",
        "csrc/transport/use.c",
        "        r->mounted = true;\n        if (m->pid)",
        "        if (m->pid)",
    ),
    Mutation(
        "swap-ignored",
        "stacks",
        "SWAP0001",
        "csrc/transport/use.c",
        "if (any_swap(is_device, name))",
        'if (any_swap(is_device, "nothing"))',
    ),
    Mutation(
        "smart-log-big-endian",
        "nvme",
        "health",
        "csrc/protocol/nvme_logs.c",
        "fields_decode_le(smart, FIELDS(smart), data, n, out);",
        "fields_decode_be(smart, FIELDS(smart), data, n, out);",
    ),
    Mutation(
        "capacity-in-logical-blocks",
        "nvme",
        "list_agrees",
        "csrc/transport/block.c",
        "out->logical_block_bytes = out->physical_block_bytes = (uint32_t)number;",
        "out->capacity_bytes *= (out->logical_block_bytes = out->physical_block_bytes = (uint32_t)number) / 512;",
    ),
    Mutation(
        "journal-not-flushed",
        "resume",
        "survived",
        "python/sated/results/journal.py",
        "            os.fsync(self._fd)\n",
        "",
    ),
)


class Failed(Exception):
    """It could not be tried: did not compile, or the guest did not come to its tests."""


def run(command: list[str | Path], folder: Path) -> str:
    try:
        ran = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{command[0]}: no end after {LIMIT_S} s") from None
    if ran.returncode:
        raise Failed(f"{' '.join(map(str, command))}: exit {ran.returncode}\n{ran.stdout[-3000:]}")
    return ran.stdout


class Copy:
    """A checkout of its own, with the packages of this one. @param folder an empty folder"""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in filter(None, run([*listed], REPOSITORY).split("\0")):
            if (REPOSITORY / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(REPOSITORY / name, folder / name)
        for path in (REPOSITORY / "python/sated").glob("*.so"):
            shutil.copy2(path, folder / "python/sated")
        (folder / ".venv").symlink_to(REPOSITORY / ".venv")

    def build(self) -> None:
        """The extension alone, by the library's own Makefile: setup.py would compile all of it for each mutation."""
        build = self.folder / "build/mutate"
        archive, source, made = build / "libsated.a", build / "_sated.c", build / "_sated.o"
        options = ["-std=gnu11", "-O1", "-fPIC", "-fvisibility=hidden", "-pthread", f"-I{self.folder}/include"]
        # A warning is no reason not to try it.
        run(
            ["make", "-s", "-C", "csrc", f"OUT={build}", "OPT=-O1", "CFLAGS=-DSATED_STATIC -Wno-error", archive],
            self.folder,
        )
        if not made.exists():
            emit = f"from ffi_build import ffibuilder; ffibuilder.emit_c_code({str(source)!r})"
            python = [self.folder / ".venv/bin/python", "-c", emit]
            run(["env", f"PYTHONPATH={self.folder}/csrc/python", *python], self.folder)
            include = run([python[0], "-c", "import sysconfig; print(sysconfig.get_path('include'))"], self.folder)
            defined = ["-DSATED_STATIC=1", "-DPy_LIMITED_API=0x030b0000", f"-I{include.strip()}"]
            run(["gcc", *options, *defined, "-c", source, "-o", made], self.folder)
        module = next((self.folder / "python/sated").glob("_sated.*.so"))
        run(["gcc", "-shared", "-pthread", made, archive, "-lm", "-ldl", "-o", module], self.folder)

    @contextmanager
    def mutated(self, mutation: Mutation) -> Iterator[None]:
        path = self.folder / mutation.file
        was = path.read_text()
        path.write_text(was.replace(mutation.old, mutation.new))
        try:
            yield
        finally:
            path.write_text(was)

    def failures(self, guest: str, catch: str) -> list[str]:
        """The tests that failed in a guest."""
        report = self.folder / "build/vm" / guest / "out/report.xml"
        report.unlink(missing_ok=True)
        command = [self.folder / ".venv/bin/python", "tests/vm/run.py", guest, "--", "-k", catch]
        said = ""
        try:
            run([*command], self.folder)
        except Failed as failed:
            said = str(failed)
        if not report.exists():
            raise Failed(said or "the guest left no report")
        cases = list(ElementTree.parse(report).iter("testcase"))
        if not cases:
            raise Failed(f"no test in the guest {guest} is selected by -k {catch!r}")
        return [case.get("name", "") for case in cases if any(part.tag in ("failure", "error") for part in case)]


def say(text: str) -> None:
    print(text, flush=True)


def check(mutations: list[Mutation]) -> None:
    """Each still has its place in the code."""
    for each in mutations:
        found = (REPOSITORY / each.file).read_text().count(each.old)
        if found != 1:
            sys.exit(f"{each.name}: its line stands {found} times in {each.file}; adapt tests/vm/mutate.py")


def control(copy: Copy, mutations: list[Mutation]) -> None:
    """Tests that fail anyhow would catch everything."""
    for guest in sorted({each.guest for each in mutations}):
        catch = " or ".join(sorted({f"({each.catch})" for each in mutations if each.guest == guest}))
        try:
            failures = copy.failures(guest, catch)
        except Failed as failed:
            sys.exit(f"{guest}: {failed}")
        if failures:
            sys.exit(f"{guest}: fails although nothing was broken: {', '.join(failures)}")
        say(f"passes   {guest}, nothing broken")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="say what there is, and run nothing")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if unknown := set(options.names) - {each.name for each in MUTATIONS}:
        parser.error(f"{', '.join(sorted(unknown))}: no mutation; --list shows them")
    wanted = [each for each in MUTATIONS if not options.names or each.name in options.names]
    check(wanted)
    if options.list:
        for each in wanted:
            say(f"{each.name}: {each.file}; {each.guest} -k {each.catch!r}")
        return 0
    caught = 0
    with tempfile.TemporaryDirectory(prefix="sated-mutate-", ignore_cleanup_errors=True) as folder:
        copy = Copy(Path(folder))
        copy.build()
        control(copy, wanted)
        for each in wanted:
            began = time.monotonic()
            try:
                with copy.mutated(each):
                    copy.build()
                    failures = copy.failures(each.guest, each.catch)
            except Failed as failed:
                say(f"untried  {each.name}: {failed}")
                continue
            caught += bool(failures)
            verdict = f"caught   {each.name}: {len(failures)} failed, {failures[0]}" if failures else ""
            say(f"{verdict or f'SURVIVED {each.name}'} ({time.monotonic() - began:.0f} s)")
    say(f"{caught} of {len(wanted)} mutations caught")
    return 0 if caught == len(wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
