"""`sated doctor`: what this machine can do, and what to do where it cannot."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from .. import _text
from ._common import DRIVE, MISSING, OK, UNSAFE, USAGE, Ends, Json, command, emit, epilog, say, slug

GOOD, LIMITED, BAD = "ok", "limited", "missing"
_OPTIONAL = {
    "charts and reports": (("duckdb", "altair", "vl_convert", "jinja2"), "sated[report]"),
    "notebooks": (("ipykernel", "nbclient", "nbformat"), "sated[notebook]"),
}


@dataclass(frozen=True)
class Finding:
    """One thing looked at: its state, what was found, and what to do about it ("" where nothing is)."""

    what: str
    state: str
    found: str
    do: str = ""


def doctor(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FOLDER | DEVICE...]",
            help="The folder in which files would be tested or results kept; with --record, the drives.",
            show_default=False,
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Ask the drives what they are and how they are, and keep the answers in FILE for replay:FILE, "
            "without serial numbers; an existing FILE is refused. With several drives each gets a file, with its name "
            "before the suffix.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Look at this machine: engines, direct I/O in a folder, clock, processor, packages. Each comes with what to do.

    A file of 1 MiB is made in the folder, read, and removed; no drive is written to.
    """
    if record is not None:
        return _record(names or [], record, json)
    if names and len(names) > 1:
        raise Ends(f"{len(names)} folders: give one, or drives to record with --record FILE", USAGE)
    findings = [*_findings(Path(names[0]) if names else Path())]
    if json:
        emit([asdict(finding) for finding in findings])
    else:
        width = max(len(finding.what) for finding in findings)
        for finding in findings:
            print(f"{finding.state:<8} {finding.what:<{width}}  {finding.found}")
            if finding.do:
                print(f"{'':<8} {'':<{width}}  -> {finding.do}")
    return MISSING if any(finding.state == BAD for finding in findings) else OK


def _record(devices: list[str], path: Path, json: bool) -> int:
    import sated
    from sated._commands import refuse_existing
    from sated._record import record

    if not devices:
        raise Ends(f"--record {path}: no drive to record; give its path, which `sated list` shows", USAGE)
    files = [path if len(devices) == 1 else path.with_stem(f"{path.stem}-{slug(Path(d).stem)}") for d in devices]
    if len(set(files)) < len(files):
        raise Ends("two of the drives would be recorded into the same file; record them one by one", USAGE)
    for file in files:
        refuse_existing(file)
    done = []
    for device, file in zip(devices, files, strict=True):
        with sated.open(device) as drive:
            done.append(record(drive, file))
    if json:
        emit([asdict(one) for one in done])
    for device, one in zip(devices, done, strict=True):
        if not json:
            print(f"{device}: {one.asked} commands, {one.answered} answered with data or success: {one.path}")
        if one.stopped:
            say(f"stopped early: {one.stopped}")
    if not json:
        print("Serial numbers and world-wide names are replaced; look at a file before you give it away.")
    return DRIVE if any(one.stopped for one in done) else OK


def _findings(folder: Path) -> Iterator[Finding]:
    import sated

    yield Finding("sated", GOOD, f"{sated.__version__}, Python {platform.python_version()} ({sys.executable})")
    yield Finding("kernel", GOOD, f"{platform.system()} {platform.release()}, {platform.machine()}")
    yield from _files(folder)
    yield _clock()
    yield _governor()
    yield from _decoders()
    yield _rights()
    for what, (packages, extra) in _OPTIONAL.items():
        absent = [package for package in packages if find_spec(package) is None]
        if absent:
            yield Finding(what, LIMITED, f"not installed: {', '.join(absent)}", f"pip install '{extra}'")
        else:
            yield Finding(what, GOOD, ", ".join(packages))


def _files(folder: Path) -> Iterator[Finding]:
    """Space, direct I/O and the engines, by doing what a load would do."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=".sated-doctor-", dir=folder)
    except OSError as error:
        yield Finding(f"folder {folder}", BAD, f"cannot be written to: {error.strerror}", "name another folder")
        return
    path = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(bytes(1 << 20))
            os.fsync(file.fileno())
        free = shutil.disk_usage(folder).free
        yield Finding("space", GOOD, f"{_text.capacity(free)} free in {folder.resolve()}")
        yield _direct(path)
        yield _engine(path, "io_uring", "libaio or threads stand in for it, which cost more")
        yield _engine(path, "libaio", "threads stand in for it, one for each outstanding I/O")
        yield _engine(path, "threads", "no file or drive can be measured; simulated ones can")
    except OSError as error:
        yield Finding(f"folder {folder}", BAD, error.strerror or str(error), "free some space or name another folder")
    finally:
        path.unlink(missing_ok=True)


def _direct(path: Path) -> Finding:
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC))
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return Finding(
            "direct I/O",
            LIMITED,
            "the file system here has none: loads go through the page cache",
            "test a file on ext4, xfs or btrfs",
        )
    return Finding("direct I/O", GOOD, "O_DIRECT works in the folder")


def _engine(path: Path, engine: str, otherwise: str) -> Finding:
    import sated

    try:
        with sated.open(str(path)) as drive:
            workload = sated.Workload(op="randread", size="4k", depth=4)
            result = sated.load(drive, workload, ios=64, engine=engine)
    except sated.SatedError as error:
        do = "see kernel.io_uring_disabled (sysctl) and the limits of a container" if engine == "io_uring" else ""
        return Finding(engine, BAD if engine == "threads" else LIMITED, f"{error}; {otherwise}", do)
    if result.totals.engine != engine:
        return Finding(engine, LIMITED, f"{result.note}; {otherwise}", "see kernel.io_uring_disabled (sysctl)")
    return Finding(engine, GOOD, f"{result.totals.ios} reads done")


def _clock() -> Finding:
    source = _read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if source == "tsc":
        return Finding("clock", GOOD, "the processor's time stamp counter")
    return Finding(
        "clock",
        LIMITED,
        f"the kernel uses {source or 'an unknown source'}, so each reading costs more",
        "matters above some 500,000 IOPS; on a virtual machine it is the host's choice",
    )


def _governor() -> Finding:
    files = Path("/sys/devices/system/cpu").glob("cpu*/cpufreq/scaling_governor")
    governors = {text for file in files if (text := _read(file))}
    cores = f"{len(os.sched_getaffinity(0))} processors"
    if not governors:
        return Finding("processor", GOOD, f"{cores}; frequency is not ours to see")
    if governors == {"performance"}:
        return Finding("processor", GOOD, f"{cores}, governor performance")
    return Finding(
        "processor",
        LIMITED,
        f"{cores}, governor {', '.join(sorted(governors))}: latencies hold some waking up",
        "sudo cpupower frequency-set -g performance",
    )


def _decoders() -> Iterator[Finding]:
    from sated import _plugins

    for plugin in _plugins.load():
        found = plugin.error or f"{plugin.name} ({plugin.value})"
        yield Finding("decoders", LIMITED if plugin.error else GOOD, found)


def _rights() -> Finding:
    if os.geteuid() == 0:
        return Finding("rights", GOOD, "root: block devices can be read, and written to with their token")
    return Finding(
        "rights",
        GOOD,
        "not root: block devices can be read, and written to with their token, where their file mode allows it",
    )


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def add_to(app: typer.Typer) -> None:
    ends = epilog("sated doctor /mnt/test", UNSAFE, DRIVE)
    app.command("doctor", short_help="Look at what this machine can do.", epilog=ends)(command(doctor))
