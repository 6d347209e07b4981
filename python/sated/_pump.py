"""The thread that takes what a running load has finished, and answers its checks.

It is a thread of its own so that nothing is lost or counted twice whatever happens to the caller's: a KeyboardInterrupt
is raised in the main thread only, and rows are taken whether or not somebody waits.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sated._addresses import Feed
from sated._drive import Drive
from sated._ffi import ffi, lib, text, view
from sated._histogram import Histogram
from sated._log import LogWriter
from sated._result import Result, Total, Totals
from sated._workload import OPS, Workload
from sated.errors import ParseError, check, last_error
from sated.steady import Minute, Rounds, Settle, Verdict

if TYPE_CHECKING:
    import pyarrow as pa

    from sated._spool import Spool

ENGINES = {
    "auto": lib.SATED_ENGINE_AUTO,
    "io_uring": lib.SATED_ENGINE_IO_URING,
    "libaio": lib.SATED_ENGINE_LIBAIO,
    "threads": lib.SATED_ENGINE_THREADS,
}
_ENGINE_NAMES = {**{value: name for name, value in ENGINES.items()}, lib.SATED_ENGINE_SIMULATED: "sim"}
_CHUNK = 4096

Until = str | Callable[["pa.Table"], "bool | Verdict"]


_running: weakref.WeakSet[Pump] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """An interpreter that ends with a load's thread in it would tear that thread down inside of C++ code."""
    for pump in list(_running):
        pump.stop()
        pump.ended.wait()


class Sink(Protocol):
    """Receives record batches in order, in the load's thread (schemas: sated._schemas)."""

    def intervals(self, batch: pa.RecordBatch) -> None: ...

    def environment(self, batch: pa.RecordBatch) -> None: ...

    def histograms(self, batch: pa.RecordBatch) -> None: ...


class Pump:
    """Drives a started load to its end and leaves a Result."""

    def __init__(
        self,
        load: Any,
        drives: Sequence[Drive],
        workload: Workload,
        *,
        sink: Sink | None,
        log: LogWriter | None,
        feed: Feed | None,
        ramp: float,
        limited: bool,
        settle: Settle | None,
        until: Rounds | Callable[[pa.Table], bool | Verdict] | None,
        check_every: float,
    ) -> None:
        self._l = load
        self._drives = list(drives)  # not closed by the collector before the load has ended
        self._workload = workload
        self._sink = sink
        self._log = log
        self._feed = feed
        self._ios = None if log is None else ffi.new("struct sated_io[]", 8 * _CHUNK)
        self._limited = limited
        self._settle = settle
        self._check_every = check_every
        self._rounds = until if isinstance(until, Rounds) else None
        self._until = None if isinstance(until, Rounds) else until
        self._minutes = _Minutes(ramp)
        self._settling: list[Minute] = []
        self._settled: bool | None = None if settle is None else False
        self._measuring = settle is None
        self._measured: list[Minute] = []
        self._verdict: Verdict | None = None
        self._kept: dict[str, Spool] = {}
        self._latency: dict[tuple[int, int, int, int], Histogram] = {}
        self._rows = ffi.new("struct sated_row[]", _CHUNK)
        self._envs = ffi.new("struct sated_environment[]", _CHUNK)
        self._progress = ffi.new("struct sated_progress *")
        self._lock = threading.Lock()  # guards _l, which goes when the load has ended
        self.stopped = False
        self.error: BaseException | None = None
        self.result: Result | None = None
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, name="sated-load", daemon=True)

    def start(self) -> None:
        _running.add(self)
        self.thread.start()
        if self._feed is not None:
            self._feed.start(self.fail)

    def stop(self) -> None:
        """Ends the load: nothing more is submitted, what is outstanding is waited for."""
        with self._lock:
            if self._l is not None:
                self.stopped = True
                lib.sated_load_stop(self._l)

    def fail(self, error: BaseException) -> None:
        """Ends the load, which keeps what it has, by an error of the caller's code."""
        with self._lock:
            if self._l is not None:
                self.error = self.error or error
                lib.sated_load_stop(self._l)

    def progress(self) -> Any:
        """`struct sated_progress`, of the end when it has ended."""
        with self._lock:
            if self._l is not None:
                lib.sated_load_get_progress(self._l, self._progress)
        return self._progress

    def _run(self) -> None:
        try:
            while True:
                rc = lib.sated_load_wait(self._l, 200_000_000)
                failure = last_error(rc) if rc < 0 else None
                try:
                    self._drain()
                    if rc > 0 and (tick := int(self.progress().tick)):
                        self._drain()
                        check(lib.sated_load_answer(self._l, tick, self._decide(tick * self._check_every)))
                except BaseException as error:  # of a sink or a callable: it ends the load, which keeps what it has
                    self.error = self.error or error
                    self._sink = None
                    lib.sated_load_stop(self._l)
                    if rc > 0 and (tick := int(self.progress().tick)):
                        lib.sated_load_answer(self._l, tick, lib.SATED_END)
                if rc <= 0:
                    self.error = self.error or failure
                    break
            self.result = self._result()
            if self._log is not None:
                try:
                    self._log.finish()
                except OSError as error:
                    self.error = self.error or error
            with contextlib.suppress(AttributeError):  # an exception without room for it
                if self.error is not None:
                    self.error.result = self.result  # type: ignore[attr-defined]
        except BaseException as error:
            self.error = self.error or error
        finally:
            self.progress()
            if self._feed is not None:
                self._feed.close()
            with self._lock:
                load, self._l = self._l, None
            ffi.release(load)
            self.ended.set()
            self._drives.clear()  # last: closing a drive that nobody else has waits for the end

    def _drain(self) -> None:
        from sated import _tables

        while n := check(lib.sated_load_take_rows(self._l, self._rows, _CHUNK)):
            rows = view(self._rows, n, "sated_row", self._rows)
            self._minutes.add(rows)
            self._emit("intervals", _tables.intervals(rows))
        while n := check(lib.sated_load_take_environment(self._l, self._envs, _CHUNK)):
            self._emit("environment", _tables.environment(view(self._envs, n, "sated_environment", self._envs)))
        while self._ios is not None and (n := check(lib.sated_load_take_ios(self._l, self._ios, 8 * _CHUNK))):
            if self._log is not None:
                try:
                    self._log.add(view(self._ios, n, "sated_io", self._ios))
                except BaseException:
                    self._log = None
                    raise
        row, h, found = ffi.new("struct sated_histogram_row *"), Histogram(), []
        while check(lib.sated_load_take_histogram(self._l, row, h._h)):
            if row.phase == lib.SATED_MEASURED:
                self._latency.setdefault((row.member, row.op, row.size_bytes, row.kind), Histogram()).merge(h)
            low, counts = h.buckets()
            found.append((row.phase, row.member, row.t_ns, row.op, row.size_bytes, row.kind, row.bits, low, counts))
        if found:
            self._emit("histograms", _tables.histograms(found))

    def _emit(self, name: str, batch: pa.RecordBatch) -> None:
        self._spool(name).add(batch)
        if self._sink is not None:
            getattr(self._sink, name)(batch)

    def _decide(self, t_s: float) -> int:
        """What to answer at the tick of reported time t_s."""
        fresh = self._minutes.take(t_s)
        if not self._measuring:
            assert self._settle is not None
            self._settling += fresh
            self._settled = self._settle.done(self._settling)
            if not self._settled and t_s - self._minutes.origin_s + 60 <= self._settle.at_most:
                return int(lib.SATED_GO_ON)
            self._minutes.begin(t_s)
            self._measuring = True
            return int(lib.SATED_MEASURE)
        if self._judge(fresh):
            return int(lib.SATED_END)
        if self._until is not None:
            answer = self._until(self._table("intervals"))
            if isinstance(answer, Verdict):
                self._verdict = answer
            elif type(answer).__name__ not in ("bool", "bool_"):  # Python's or numpy's
                raise ParseError(f"until= returned {answer!r}: it has to return a bool or a Verdict")
            if answer:
                return int(lib.SATED_END)
        return int(lib.SATED_GO_ON)

    def _judge(self, fresh: list[Minute]) -> bool:
        """Takes the next minutes of the measured phase; whether the rule has its last word."""
        self._measured += fresh
        if self._rounds is None:
            return False
        for minute in fresh:
            if self._verdict is not None and (self._verdict.steady or self._rounds.exhausted):
                break
            if self._rounds.add(minute):
                self._verdict = self._rounds.verdict()
        return self._verdict is not None and (self._verdict.steady or self._rounds.exhausted)

    def _spool(self, name: str) -> Spool:
        if name not in self._kept:
            from sated import _schemas
            from sated._spool import Spool

            self._kept[name] = Spool(getattr(_schemas, name.upper()))
        return self._kept[name]

    def _table(self, name: str) -> pa.Table:
        return self._spool(name).table()

    def _result(self) -> Result:
        n = check(lib.sated_load_get_totals(self._l, ffi.NULL, 0))
        c = ffi.new("struct sated_totals[]", max(1, n))
        check(lib.sated_load_get_totals(self._l, c, n))
        members = tuple(self._total(c[i]) for i in range(n))
        offsets, codes = ffi.new("uint64_t[16]"), ffi.new("int32_t[16]")
        failed = check(lib.sated_load_get_errors(self._l, offsets, codes, 16))
        if self._measuring:
            self._judge(self._minutes.take(math.inf))
        if self._rounds is not None and self._verdict is None:
            self._verdict = self._rounds.verdict()
        return Result(
            workload=self._workload,
            table=self._table("intervals"),
            environment=self._table("environment"),
            histograms=self._table("histograms"),
            totals=Totals(members, max((t.duration_s for t in members), default=0.0)),
            outstanding=self._workload.outstanding * len(self._drives),
            note=text(lib.sated_load_note(self._l)),
            interrupted=self.stopped,
            verdict=self._verdict,
            minutes=self._measured,
            rounds=list(self._rounds.rounds) if self._rounds else [],
            settled=self._settled,
            limited=self._limited,
            failed_ios=[(int(offsets[i]), int(codes[i])) for i in range(failed)],
        )

    def _total(self, c: Any) -> Total:
        def known(value: float) -> float | None:
            return None if math.isnan(value) or value < 0 else float(value)

        return Total(
            member=int(c.member),
            op=OPS[c.op],
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
            late_mean_ns=known(c.late_mean_ns),
            late_max_ns=known(float(c.late_max_ns)),
            backlog_max=int(c.backlog_max),
            unsent=int(c.unsent),
            starved=int(c.starved),
            starved_s=c.starved_ns / 1e9,
            engine=_ENGINE_NAMES[c.engine],
            histogram=self._latency.get((c.member, c.op, c.size_bytes, lib.SATED_SERVICE), Histogram()),
            response=self._latency.get((c.member, c.op, c.size_bytes, lib.SATED_RESPONSE), Histogram()),
        )


class _Minutes:
    """Full minutes of a load, out of its rows, pooled over drives and classes, counted from `origin_s`."""

    def __init__(self, origin_s: float) -> None:
        self.origin_s = origin_s
        self._open: dict[int, list[int]] = {}  # minute -> [ios, drive time in ns, bytes written]
        self._total_written = 0  # in all phases
        self._class: tuple[int, int, int] | None = None  # whose rows tell the time; all have the same intervals
        self._reached_ns = 0

    def begin(self, origin_s: float) -> None:
        """Counts anew from here on."""
        self.origin_s = origin_s
        self._total_written += sum(slot[2] for slot in self._open.values())
        self._open.clear()

    def add(self, rows: Any) -> None:
        import numpy as np

        live = rows[rows["phase"] != lib.SATED_AFTER_STOP]
        if not len(live):
            return
        if self._class is None:
            self._class = tuple(live[["member", "op", "size_bytes"]][0].tolist())
        member, op, size = self._class
        self._reached_ns = int(live["t_ns"].max())
        origin = round(self.origin_s * 1e9)
        minutes = (live["t_ns"] - origin - 1) // 60_000_000_000
        for minute in np.unique(minutes):
            part = live[minutes == minute]
            written = int(part["bytes"][part["op"] == lib.SATED_WRITE].sum())
            if minute < 0:
                self._total_written += written
                continue
            one = part[(part["member"] == member) & (part["op"] == op) & (part["size_bytes"] == size)]
            slot = self._open.setdefault(int(minute), [0, 0, 0])
            slot[0] += int(part["ios"].sum())
            slot[1] += int(one["duration_ns"].sum())
            slot[2] += written

    def take(self, t_s: float) -> list[Minute]:
        """The minutes that are full by the reported time t_s, each once."""
        out = []
        until = min(t_s - self.origin_s, self._reached_ns / 1e9 - self.origin_s)
        for minute in sorted(self._open):
            if (minute + 1) * 60 > until + 1e-9:
                break
            ios, ns, written = self._open.pop(minute)
            self._total_written += written
            out.append(Minute((minute + 1) * 60.0, ios * 1e9 / ns if ns else 0.0, float(self._total_written)))
        return out
