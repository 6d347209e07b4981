"""Loads: start, wait, stop."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from sated._addresses import Feed
from sated._drive import Drive, nanoseconds
from sated._ffi import ffi, lib
from sated._log import LogWriter
from sated._pump import ENGINES, Pump, Sink, Until
from sated._result import Result, Total, Totals
from sated._workload import Workload
from sated.errors import ParseError, StateError, check
from sated.steady import Rounds, Settle

__all__ = ["Job", "LoadOptions", "Progress", "Result", "Sink", "Total", "Totals", "load", "start"]

MODES = {"normal": 0, "max-iops": lib.SATED_LOAD_MAX_IOPS}
_LOG_BYTES = 64 << 20  # of a log that may wait to be written
_LOG_BYTES_SIMULATED = 4 << 20  # where the load waits too
_PHASES = ("ramp", "settle", "measured", "after_stop")


@dataclass(frozen=True)
class Progress:
    """How far a load is. `t_s` in reported seconds; `iops` and `lat_p99_ns` of the last interval."""

    phase: str
    t_s: float
    ios: int
    bytes: int
    errors: int
    iops: float
    lat_p99_ns: float | None
    running: bool


class Job:
    """A running load. Its rows are taken by a thread of its own; dropping the job, or closing a drive, ends it."""

    def __init__(self, pump: Pump) -> None:
        self._pump = pump

    @property
    def progress(self) -> Progress:
        p = self._pump.progress()
        return Progress(
            phase=_PHASES[p.phase],
            t_s=p.t_ns / 1e9,
            ios=int(p.ios),
            bytes=int(p.bytes),
            errors=int(p.errors),
            iops=float(p.iops),
            lat_p99_ns=None if p.lat_p99_ns < 0 else float(p.lat_p99_ns),
            running=not self._pump.ended.is_set(),
        )

    def stop(self) -> None:
        """Ends the load: nothing more is submitted, what is outstanding is waited for."""
        self._pump.stop()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits up to `timeout` seconds (None = to the end). True when the load has ended.

        Raises the load's own error, or that of a sink or a callable; what was measured until then is in `result()` and
        in the error's `result`.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        # In turns, so that a signal is seen by the main thread at once.
        while not self._pump.ended.wait(0.2 if deadline is None else max(0.0, min(0.2, deadline - time.monotonic()))):
            if deadline is not None and time.monotonic() >= deadline:
                return False
        error, self._pump.error = self._pump.error, None
        if error is not None:
            raise error
        return True

    def result(self) -> Result:
        """What the load did. Raises StateError while it runs."""
        if not self._pump.ended.is_set():
            raise StateError("the load is still running: wait for its end, or stop it first")
        if self._pump.result is None:
            raise StateError("the load left no result: its error says why")
        return self._pump.result

    def __del__(self) -> None:
        self._pump.stop()


class LoadOptions(TypedDict, total=False):
    """What `load` and `start` take beside drives and workload."""

    seconds: float | None
    bytes: int | str | None
    ios: int | None
    interval: float
    ramp: float
    settle: Settle | None
    seed: int
    until: Until | None
    check_every: float
    round_every: float
    histogram_every: float
    engine: str
    mode: str
    accurate: bool
    batch: int | None
    cpus: Sequence[int] | None
    sqpoll: bool
    iopoll: bool
    on_error: str | int
    log: str | os.PathLike[str] | None
    confirm: str | Sequence[str] | None
    sink: Sink | None


def _options(
    drives: Sequence[Drive],
    *,
    seconds: float | None,
    bytes: int | str | None,
    ios: int | None,
    interval: float,
    ramp: float,
    settle: Settle | None,
    seed: int,
    until: Until | None,
    check_every: float,
    histogram_every: float,
    engine: str,
    mode: str,
    accurate: bool,
    batch: int | None,
    cpus: Sequence[int] | None,
    sqpoll: bool,
    iopoll: bool,
    on_error: str | int,
    log: bool,
    workload: Workload,
) -> Any:
    if engine not in ENGINES:
        raise ParseError(f'engine "{engine}" is unknown: use {", ".join(ENGINES)}')
    for name, value in (("seconds", seconds), ("ios", ios)):
        if value is not None and not 0 < value < 1 << 63:
            raise ParseError(f"{name}={value}: give a number above 0 and below 2^63")
    if not check_every > 0 and (until is not None or settle is not None):
        raise ParseError(f"check_every={check_every:g}: give seconds above 0 between two checks")
    endless = workload.addresses is None or workload.repeat
    if endless and seconds is None and bytes is None and ios is None and until is None:
        raise ParseError("the load has no end: give seconds=, bytes=, ios= or until=")
    if not 0 <= seed < 1 << 64:
        raise ParseError(f"seed={seed}: give a whole number from 0 to 2^64 - 1")
    o = ffi.new("struct sated_load_options *")
    lib.sated_load_options_init(o)
    o.engine = ENGINES[engine]
    o.duration_ns = -1 if seconds is None else nanoseconds("seconds", seconds)
    if bytes is not None:
        size = ffi.new("uint64_t *")
        check(lib.sated_workload_capacity(str(bytes).encode(), drives[0].identity.capacity_bytes or 0, size))
        if not size[0]:
            raise ParseError("bytes=0: give a number above 0")
        o.bytes = size[0]
    o.ios = ios or 0
    o.interval_ns = nanoseconds("interval", interval)
    # Whole intervals: the next multiple above.
    o.histogram_ns = -(-nanoseconds("histogram_every", histogram_every) // max(1, o.interval_ns)) * o.interval_ns
    o.ramp_ns = nanoseconds("ramp", ramp)
    o.seed = seed
    if mode not in MODES:
        raise ParseError(f'mode "{mode}" is unknown: use {" or ".join(MODES)}')
    o.flags = (
        (lib.SATED_LOAD_ACCURATE if accurate else 0)
        | (lib.SATED_LOAD_SQPOLL if sqpoll else 0)
        | (lib.SATED_LOAD_IOPOLL if iopoll else 0)
        | (lib.SATED_LOAD_ADDRESSES if workload.addresses is not None else 0)
        | MODES[mode]
    )
    if batch is not None and not 1 <= batch <= 4096:
        raise ParseError(f"batch={batch}: give a number from 1 to 4096")
    o.batch = batch or 0
    for cpu in cpus or ():
        if not 0 <= cpu < 64 * len(o.cpus):
            raise ParseError(f"cpus={cpu}: give numbers of processors, below {64 * len(o.cpus)}")
        o.cpus[cpu // 64] |= 1 << cpu % 64
    o.max_errors = _most_errors(on_error)
    if log:
        o.log_bytes = _LOG_BYTES_SIMULATED if drives[0].identity.simulated else _LOG_BYTES
    o.settle = settle is not None
    if settle is not None or until is not None:
        o.check_every_ns = nanoseconds("check_every", check_every)
    return o


def _most_errors(on_error: str | int) -> int:
    if on_error == "stop":
        return 1
    if on_error == "continue":
        return int(lib.SATED_ERRORS_ANY)
    if isinstance(on_error, int) and 1 <= on_error < lib.SATED_ERRORS_ANY:
        return on_error
    raise ParseError(f"on_error={on_error!r}: give stop, continue, or the number of failed I/Os that end the load")


def start(
    drive: Drive | Sequence[Drive],
    workload: Workload,
    *,
    seconds: float | None = None,
    bytes: int | str | None = None,
    ios: int | None = None,
    interval: float = 1.0,
    ramp: float = 0.0,
    settle: Settle | None = None,
    seed: int = 0,
    until: Until | None = None,
    check_every: float = 60.0,
    round_every: float = 1800.0,
    histogram_every: float = 60.0,
    engine: str = "auto",
    mode: str = "normal",
    accurate: bool = False,
    batch: int | None = None,
    cpus: Sequence[int] | None = None,
    sqpoll: bool = False,
    iopoll: bool = False,
    on_error: str | int = 100,
    log: str | os.PathLike[str] | None = None,
    confirm: str | Sequence[str] | None = None,
    sink: Sink | None = None,
) -> Job:
    """Starts a load on one or several drives and returns its Job.

    `seconds` (reported), `bytes`, `ios`: of the measured phase, each drive; the first reached ends it. `interval`: a
    row each. `ramp`: seconds before the measured phase; `settle`: a phase before it that lasts until the drive is even.
    `until`: "pts", "range-20", or a callable that gets the table so far and returns a bool or a Verdict, in a thread of
    the load; asked every `check_every` reported seconds at ticks of the drive's clock. `confirm`: the token (or one for
    each drive) where the workload changes a drive. `engine`: auto, io_uring, libaio or threads; a simulated drive has
    its own, sim.

    `batch`: I/Os submitted at once at most, by default a quarter of the depth, 16 at most. `accurate`: one I/O per
    submission, with a stamp of its own. `mode`: "max-iops" for nothing but throughput, with batches as floors and
    latencies that are those of batches. `cpus`: processors for the threads, round and round. `sqpoll`, `iopoll`:
    polling by io_uring; what is refused is in the result's note. `on_error`: "stop" at the first failed I/O,
    "continue", or after so many. `log`: a Parquet file of every I/O, written while the load runs: member, op, offset,
    size, intended_ns, submit_ns, complete_ns, error; a real load that is faster than its log ends with StateError, and
    the file has all that was done.

    Raises ParseError, UnsafeError, StateError, DriveOSError.
    """
    drives = [drive] if isinstance(drive, Drive) else [*drive]
    if not drives:
        raise ParseError("a load needs at least one drive")
    if settle is not None or isinstance(until, str):
        if interval > 60 or abs(60 / interval - round(60 / interval)) > 1e-9:
            raise ParseError(f"interval={interval:g}: a minute must be a whole number of intervals")
        if settle is not None:
            check_every = 60.0
    rounds = None
    if isinstance(until, str):
        capacity = float(sum(one.identity.capacity_bytes or 0 for one in drives))
        rounds = Rounds(until, capacity, "write" in workload.shares, round_every)
    options = _options(
        drives,
        seconds=seconds,
        bytes=bytes,
        ios=ios,
        interval=interval,
        ramp=ramp,
        settle=settle,
        seed=seed,
        until=until,
        check_every=check_every,
        histogram_every=histogram_every,
        engine=engine,
        mode=mode,
        accurate=accurate,
        batch=batch,
        cpus=cpus,
        sqpoll=sqpoll,
        iopoll=iopoll,
        on_error=on_error,
        log=log is not None,
        workload=workload,
    )
    if workload.writes:
        tokens = [confirm] * len(drives) if confirm is None or isinstance(confirm, str) else list(confirm)
        if len(tokens) != len(drives):
            raise ParseError(f"confirm= has {len(tokens)} tokens for {len(drives)} drives: give one for each")
        for one, token in zip(drives, tokens, strict=True):
            one._consent(token)
    writer = None if log is None else LogWriter(log)
    out, running, feed = ffi.new("struct sated_load **"), None, None
    handles = [d._handle for d in drives]
    try:
        check(lib.sated_load_start(out, handles, len(handles), workload._c(), options))
        running = ffi.gc(out[0], lib.sated_load_free)
        if workload.addresses is not None:
            feed = Feed(running, workload.addresses, repeat=workload.repeat)
    except BaseException:
        if writer is not None:
            writer.discard()
        if running is not None:
            ffi.release(running)
        raise
    pump = Pump(
        running,
        drives,
        workload,
        sink=sink,
        log=writer,
        feed=feed,
        ramp=ramp,
        limited=ios is not None or bytes is not None or workload.addresses is not None,
        settle=settle,
        until=until if callable(until) else rounds,
        check_every=check_every,
    )
    for one in drives:
        one._pumps.add(pump)
    pump.start()
    return Job(pump)


def load(drive: Drive | Sequence[Drive], workload: Workload, **options: Unpack[LoadOptions]) -> Result:
    """Runs a load to its end; takes what `start` takes. Ctrl-C returns what there is (`interrupted`), a second raises.

    >>> import sated
    >>> with sated.open("sim:generic") as drive:
    ...     load(drive, Workload(op="randread", size="4k", depth=8), ios=1000).totals.ios
    1000
    """
    job = start(drive, workload, **options)
    try:
        job.wait()
    except KeyboardInterrupt:
        job.stop()
        job.wait()
    return job.result()
