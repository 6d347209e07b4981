"""Loads: start, wait, stop; rows, histograms and totals of what a drive did."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from sated._drive import Drive
from sated._ffi import ffi, lib, text, view
from sated._histogram import Histogram
from sated._workload import Workload
from sated.errors import ParseError, SatedError, StateError, check, last_error
from sated.steady import Minute, Rounds, Settle, Verdict

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Job", "Progress", "Result", "Sink", "Total", "Totals", "load", "start"]

ENGINES = {"auto": lib.SATED_ENGINE_AUTO, "io_uring": lib.SATED_ENGINE_IO_URING, "sync": lib.SATED_ENGINE_SYNC}
_ENGINE_NAMES = {**{value: name for name, value in ENGINES.items()}, lib.SATED_ENGINE_SIMULATED: "simulated"}
_PHASES = ("ramp", "settle", "measured", "after_stop")
_OPS = {"read": lib.SATED_READ, "write": lib.SATED_WRITE, "trim": lib.SATED_TRIM}
_CHUNK = 4096

Until = str | Callable[["pa.Table"], "bool | Verdict"]


class Sink(Protocol):
    """Receives record batches in order, from within Job.wait (schemas: sated._schemas)."""

    def intervals(self, batch: pa.RecordBatch) -> None: ...

    def environment(self, batch: pa.RecordBatch) -> None: ...

    def histograms(self, batch: pa.RecordBatch) -> None: ...


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


@dataclass(frozen=True)
class Total:
    """The measured phase of one drive and class. `duration_s` is the drive's own time."""

    member: int
    op: str
    size: int
    duration_s: float
    ios: int
    bytes: int
    errors: int
    lat_min_ns: float | None
    lat_mean_ns: float | None
    lat_max_ns: float | None
    lat_stddev_ns: float | None
    queue_mean: float
    batch_mean: float | None
    batch_max: int
    engine: str

    @property
    def iops(self) -> float:
        return self.ios / self.duration_s if self.duration_s else 0.0

    @property
    def bytes_per_s(self) -> float:
        return self.bytes / self.duration_s if self.duration_s else 0.0


@dataclass(frozen=True)
class Totals:
    """The measured phase, pooled over `members` (one Total per drive and class); means are weighted by I/O."""

    members: tuple[Total, ...]
    duration_s: float

    @property
    def ios(self) -> int:
        return sum(t.ios for t in self.members)

    @property
    def bytes(self) -> int:
        return sum(t.bytes for t in self.members)

    @property
    def errors(self) -> int:
        return sum(t.errors for t in self.members)

    @property
    def iops(self) -> float:
        return self.ios / self.duration_s if self.duration_s else 0.0

    @property
    def bytes_per_s(self) -> float:
        return self.bytes / self.duration_s if self.duration_s else 0.0

    @property
    def queue_mean(self) -> float:
        return sum(t.queue_mean for t in self.members)

    @property
    def lat_mean_ns(self) -> float | None:
        return sum(t.ios * (t.lat_mean_ns or 0.0) for t in self.members) / self.ios if self.ios else None

    @property
    def lat_stddev_ns(self) -> float | None:
        mean = self.lat_mean_ns
        if mean is None:
            return None
        parts = (t.ios * ((t.lat_stddev_ns or 0.0) ** 2 + (t.lat_mean_ns or 0.0) ** 2) for t in self.members)
        return math.sqrt(max(0.0, sum(parts) / self.ios - mean * mean))

    @property
    def lat_min_ns(self) -> float | None:
        return min((t.lat_min_ns for t in self.members if t.lat_min_ns is not None), default=None)

    @property
    def lat_max_ns(self) -> float | None:
        return max((t.lat_max_ns for t in self.members if t.lat_max_ns is not None), default=None)

    @property
    def engine(self) -> str:
        return self.members[0].engine if self.members else "none"

    @property
    def batch_mean(self) -> float | None:
        known = [t.batch_mean for t in self.members if t.batch_mean is not None]
        return known[0] if known else None

    @property
    def batch_max(self) -> int:
        return max((t.batch_max for t in self.members), default=0)

    def __iter__(self) -> Iterator[Total]:
        return iter(self.members)


@dataclass
class Result:
    """What a load did. The tables hold every phase; `totals` and `histogram` the measured one."""

    workload: Workload
    table: pa.Table
    environment: pa.Table
    histograms: pa.Table
    totals: Totals
    outstanding: int
    note: str = ""
    interrupted: bool = False
    verdict: Verdict | None = None
    rounds: list[Minute] = field(default_factory=list)
    settled: bool | None = None
    failed_ios: list[tuple[int, int]] = field(default_factory=list)
    _pooled: dict[str | None, Histogram] = field(default_factory=dict)

    def histogram(self, op: str | None = None, kind: str = "service") -> Histogram:
        """The latencies of the measured phase, over all drives: of one operation, or of all."""
        if op is not None and op not in _OPS:
            raise ParseError(f'operation "{op}" is unknown: use read, write or trim')
        if kind != "service":
            raise ParseError(f'histogram kind "{kind}" is unknown: this version measures service time, from submission')
        return self._pooled[op]

    def percentiles(
        self, percents: Sequence[float] = (50.0, 99.0, 99.9, 99.99), op: str | None = None
    ) -> dict[float, tuple[int | None, tuple[int, int] | None]]:
        """Each percentile in ns with its 95 % interval; (value, None) where there are too few I/Os for an interval."""
        h = self.histogram(op)
        out: dict[float, tuple[int | None, tuple[int, int] | None]] = {}
        for p in percents:
            try:
                out[p] = (h.percentile(p), h.percentile_interval(p))
            except StateError:
                out[p] = (h.percentile(p), None)
        return out

    @property
    def host_bound(self) -> bool:
        """Whether the host could not keep the drive's queue filled: less than 0.95 x threads x depth outstanding."""
        return self.totals.engine != "simulated" and self.totals.queue_mean < 0.95 * self.outstanding

    def __repr__(self) -> str:
        t = self.totals
        mean = f", mean {t.lat_mean_ns / 1e3:.1f} us" if t.lat_mean_ns is not None else ""
        return f"<Result: {t.ios} I/Os in {t.duration_s:.3f} s, {t.iops:.1f} IOPS{mean}, {t.engine}>"

    def _repr_html_(self) -> str:
        head = "<tr><th>op</th><th>size</th><th>IOPS</th><th>MB/s</th><th>mean &micro;s</th><th>max &micro;s</th></tr>"

        def micro(value: float | None) -> str:
            return "" if value is None else f"{value / 1e3:.1f}"

        rows = "".join(
            f"<tr><td>{t.op}</td><td>{t.size}</td><td>{t.iops:.1f}</td><td>{t.bytes_per_s / 1e6:.1f}</td>"
            f"<td>{micro(t.lat_mean_ns)}</td><td>{micro(t.lat_max_ns)}</td></tr>"
            for t in self.totals
        )
        return f"<table>{head}{rows}</table>"


class Job:
    """A running load. Rows are taken while one waits, so wait (or poll) often enough on real drives."""

    def __init__(
        self,
        drives: Sequence[Drive],
        workload: Workload,
        options: Any,
        *,
        sink: Sink | None,
        settle: Settle | None,
        until: Until | None,
        round_every: float,
        check_every: float,
    ) -> None:
        self._drives = list(drives)
        self._workload = workload
        self._sink = sink
        self._settle = settle
        self._check_every = check_every
        self._until = until if callable(until) else None
        self._rounds: Rounds | None = None
        if until is not None and not callable(until):
            capacity = float(sum(d.identity.capacity_bytes for d in drives))
            self._rounds = Rounds(until, capacity, workload.writes, round_every)
        self._batches: dict[str, list[pa.RecordBatch]] = {"intervals": [], "environment": [], "histograms": []}
        self._minutes = _Minutes()
        self._settling: list[Minute] = []
        self._settled: bool | None = None if settle is None else False
        self._measured_from: float | None = None if settle else 0.0
        self._verdict: Verdict | None = None
        self._error: BaseException | None = None
        self._ended = False
        self._interrupted = False
        self._rows = ffi.new("struct sated_row[]", _CHUNK)
        self._envs = ffi.new("struct sated_environment[]", _CHUNK)
        self._progress = ffi.new("struct sated_progress *")
        handles = [d._handle for d in drives]
        out = ffi.new("struct sated_load **")
        check(lib.sated_load_start(out, handles, len(handles), workload._c(), options))
        self._l = ffi.gc(out[0], lib.sated_load_free)

    @property
    def progress(self) -> Progress:
        p = self._progress
        lib.sated_load_get_progress(self._l, p)
        return Progress(
            phase=_PHASES[p.phase],
            t_s=p.t_ns / 1e9,
            ios=int(p.ios),
            bytes=int(p.bytes),
            errors=int(p.errors),
            iops=float(p.iops),
            lat_p99_ns=None if p.lat_p99_ns < 0 else float(p.lat_p99_ns),
            running=bool(p.running),
        )

    def stop(self) -> None:
        """Ends the load: nothing more is submitted, what is outstanding is waited for."""
        self._interrupted = True
        lib.sated_load_stop(self._l)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits up to `timeout` seconds (None = to the end), passing rows on. True when the load has ended.

        Raises the load's own error; what was measured until then is in `result()` and in the error's `result`.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._ended:
            left = 0.2 if deadline is None else max(0.0, min(0.2, deadline - time.monotonic()))
            rc = lib.sated_load_wait(self._l, int(left * 1e9))
            failure = last_error(rc) if rc < 0 else None
            self._drain()
            if rc <= 0:
                self._ended = True
                self._error = self._error or failure
                break
            lib.sated_load_get_progress(self._l, self._progress)
            if self._progress.tick:
                self._drain()
                self._answer(int(self._progress.tick))
            if deadline is not None and time.monotonic() >= deadline:
                return False
        if self._error is not None:
            error, self._error = self._error, None
            if isinstance(error, SatedError):
                error.result = self.result()  # type: ignore[attr-defined]
            raise error
        return True

    def _drain(self) -> None:
        from sated import _tables

        while n := check(lib.sated_load_take_rows(self._l, self._rows, _CHUNK)):
            rows = view(self._rows, n, "sated_row", self._rows)
            self._minutes.add(rows)
            self._emit("intervals", _tables.intervals(rows))
        while n := check(lib.sated_load_take_environment(self._l, self._envs, _CHUNK)):
            envs = view(self._envs, n, "sated_environment", self._envs)
            self._emit("environment", _tables.environment(envs))
        row, h, found = ffi.new("struct sated_histogram_row *"), Histogram(), []
        while check(lib.sated_load_take_histogram(self._l, row, h._h)):
            low, counts = h.buckets()
            found.append((row.phase, row.member, row.t_ns, row.op, row.size_bytes, low, counts))
        if found:
            self._emit("histograms", _tables.histograms(found))

    def _emit(self, name: str, batch: pa.RecordBatch) -> None:
        self._batches[name].append(batch)
        if self._sink is not None:
            getattr(self._sink, name)(batch)

    def _answer(self, tick: int) -> None:
        try:
            answer = self._decide(tick * self._check_every)
        except BaseException as error:
            self._error = error
            answer = lib.SATED_END
        check(lib.sated_load_answer(self._l, tick, answer))

    def _decide(self, t_s: float) -> int:
        """What to answer at the tick of reported time t_s."""
        fresh = self._minutes.take(t_s)
        if self._measured_from is None:
            assert self._settle is not None
            self._settling += fresh
            self._settled = self._settle.done(self._settling)
            if not self._settled and t_s < self._settle.at_most:
                return int(lib.SATED_GO_ON)
            self._measured_from = t_s
            return int(lib.SATED_MEASURE)
        if self._rounds is not None:
            new = [self._rounds.add(Minute(m.t_s - self._measured_from, m.iops, m.bytes_written)) for m in fresh]
            if any(new):
                self._verdict = self._rounds.verdict()
                if self._verdict.steady or self._rounds.exhausted:
                    return int(lib.SATED_END)
        elif self._until is not None:
            answer = self._until(self._table("intervals"))
            if isinstance(answer, Verdict):
                self._verdict = answer
            if answer:
                return int(lib.SATED_END)
        return int(lib.SATED_GO_ON)

    def _table(self, name: str) -> pa.Table:
        import pyarrow as pa

        from sated import _schemas

        return pa.Table.from_batches(self._batches[name], getattr(_schemas, name.upper()))

    def result(self) -> Result:
        """What the load did. Raises StateError while it runs."""
        if not self._ended:
            raise StateError("the load is still running: wait for its end, or stop it first")
        n = check(lib.sated_load_get_totals(self._l, ffi.NULL, 0))
        c = ffi.new("struct sated_totals[]", max(1, n))
        check(lib.sated_load_get_totals(self._l, c, n))
        members = tuple(_total(c[i]) for i in range(n))
        pooled: dict[str | None, Histogram] = {}
        for op, code in (*_OPS.items(), (None, -1)):
            pooled[op] = Histogram()
            check(lib.sated_load_get_histogram(self._l, code, pooled[op]._h))
        offsets, codes = ffi.new("uint64_t[16]"), ffi.new("int32_t[16]")
        failed = check(lib.sated_load_get_errors(self._l, offsets, codes, 16))
        return Result(
            workload=self._workload,
            table=self._table("intervals"),
            environment=self._table("environment"),
            histograms=self._table("histograms"),
            totals=Totals(members, max((t.duration_s for t in members), default=0.0)),
            outstanding=self._workload.outstanding * len(self._drives),
            note=text(lib.sated_load_note(self._l)),
            interrupted=self._interrupted,
            verdict=self._verdict,
            rounds=list(self._rounds.rounds) if self._rounds else [],
            settled=self._settled,
            failed_ios=[(int(offsets[i]), int(codes[i])) for i in range(failed)],
            _pooled=pooled,
        )


def _total(c: Any) -> Total:
    def known(value: float) -> float | None:
        return None if math.isnan(value) or value < 0 else float(value)

    return Total(
        member=int(c.member),
        op=next(name for name, code in _OPS.items() if code == c.op),
        size=int(c.size_bytes),
        duration_s=c.duration_ns / 1e9,
        ios=int(c.ios),
        bytes=int(c.bytes),
        errors=int(c.errors),
        lat_min_ns=known(float(c.lat_min_ns)),
        lat_mean_ns=known(c.lat_mean_ns),
        lat_max_ns=known(float(c.lat_max_ns)),
        lat_stddev_ns=known(c.lat_stddev_ns),
        queue_mean=float(c.queue_mean),
        batch_mean=known(c.batch_mean),
        batch_max=int(c.batch_max),
        engine=_ENGINE_NAMES[c.engine],
    )


class _Minutes:
    """Full minutes of a load, out of its rows, pooled over drives and classes."""

    def __init__(self) -> None:
        self._open: dict[int, list[int]] = {}  # minute -> [ios, drive time in ns, bytes written]
        self._written = 0
        self._class: tuple[int, int, int] | None = None  # whose rows tell the time; all have the same intervals

    def add(self, rows: Any) -> None:
        import numpy as np

        live = rows[rows["phase"] != lib.SATED_AFTER_STOP]
        if self._class is None and len(live):
            self._class = tuple(live[["member", "op", "size_bytes"]][0].tolist())
        minutes = (live["t_ns"] - 1) // 60_000_000_000
        for minute in np.unique(minutes):
            part = live[minutes == minute]
            member, op, size = self._class or (0, 0, 0)
            one = part[(part["member"] == member) & (part["op"] == op) & (part["size_bytes"] == size)]
            slot = self._open.setdefault(int(minute), [0, 0, 0])
            slot[0] += int(part["ios"].sum())
            slot[1] += int(one["duration_ns"].sum())
            slot[2] += int(part["bytes"][part["op"] != lib.SATED_READ].sum())

    def take(self, t_s: float) -> list[Minute]:
        """The minutes that are full by the reported time t_s, each once."""
        out = []
        for minute in sorted(self._open):
            if (minute + 1) * 60 > t_s + 1e-9:
                break
            ios, ns, written = self._open.pop(minute)
            self._written += written
            out.append(Minute((minute + 1) * 60.0, ios * 1e9 / ns if ns else 0.0, float(self._written)))
        return out


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
) -> Any:
    if engine not in ENGINES:
        raise ParseError(f'engine "{engine}" is unknown: use {", ".join(ENGINES)}')
    for name, value in (("seconds", seconds), ("ios", ios)):
        if value is not None and not value > 0:
            raise ParseError(f"{name}={value}: give a number above 0")
    if seconds is None and bytes is None and ios is None and until is None:
        raise ParseError("the load has no end: give seconds=, bytes=, ios= or until=")
    if not 0 <= seed < 1 << 64:
        raise ParseError(f"seed={seed}: give a whole number from 0 to 2^64 - 1")
    o = ffi.new("struct sated_load_options *")
    lib.sated_load_options_init(o)
    o.engine = ENGINES[engine]
    o.duration_ns = -1 if seconds is None else _ns("seconds", seconds)
    if bytes is not None:
        size = ffi.new("uint64_t *")
        check(lib.sated_workload_capacity(str(bytes).encode(), drives[0].identity.capacity_bytes, size))
        if not size[0]:
            raise ParseError("bytes=0: give a number above 0")
        o.bytes = size[0]
    o.ios = ios or 0
    o.interval_ns = _ns("interval", interval)
    o.histogram_ns = _ns("histogram_every", max(histogram_every, interval))
    o.ramp_ns = _ns("ramp", ramp)
    o.seed = seed
    o.settle = settle is not None
    if settle is not None or until is not None:
        o.check_every_ns = _ns("check_every", check_every)
    return o


def _ns(name: str, seconds: float) -> int:
    if not (math.isfinite(seconds) and 0 <= seconds < 9e9):
        raise ParseError(f"{name}={seconds}: give seconds from 0 up")
    return round(seconds * 1e9)


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
    confirm: str | Sequence[str] | None = None,
    sink: Sink | None = None,
) -> Job:
    """Starts a load on one or several drives and returns its Job.

    `seconds` (reported), `bytes`, `ios`: of the measured phase, each drive; the first reached ends it. `interval`: a
    row each. `ramp`: seconds before the measured phase; `settle`: a phase before it that lasts until the drive is even.
    `until`: "pts", "range-20", or a callable that gets the table so far and returns a bool or a Verdict; asked every
    `check_every` reported seconds at ticks of the drive's clock. `confirm`: the token (or one for each drive) where the
    workload changes a drive. `engine`: auto, io_uring or sync; a simulated drive has its own.

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
    )
    if workload.writes:
        tokens = [confirm] * len(drives) if confirm is None or isinstance(confirm, str) else list(confirm)
        if len(tokens) != len(drives):
            raise ParseError(f"confirm= has {len(tokens)} tokens for {len(drives)} drives: give one for each")
        for one, token in zip(drives, tokens, strict=True):
            one._consent(token)
    return Job(
        drives,
        workload,
        options,
        sink=sink,
        settle=settle,
        until=until,
        round_every=round_every,
        check_every=check_every,
    )


def load(drive: Drive | Sequence[Drive], workload: Workload, **options: Any) -> Result:
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
