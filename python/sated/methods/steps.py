"""What each kind of step does to a drive, and what is recorded of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import sated
from sated import errors, steady
from sated._drive import Drive
from sated._load import Job, Result, Total
from sated._power_control import PowerControl
from sated._purge import PurgeProgress
from sated.methods.plan import seed_of
from sated.results.store import StepWriter

_POLL_S = 0.12
_LAST_S = 300.0
_PERCENTILES = {"lat_p50_ns": 50.0, "lat_p99_ns": 99.0, "lat_p999_ns": 99.9, "lat_p9999_ns": 99.99}


@dataclass(frozen=True, kw_only=True)
class Now:
    """Where a step is: `t_s` of `of_s` reported seconds (None = not known); `iops`, p99, write amplification and power
    of its last interval, None where they are not known."""

    phase: str
    t_s: float = 0.0
    of_s: float | None = None
    iops: float | None = None
    lat_p99_ns: float | None = None
    write_amplification: float | None = None
    watts: float | None = None


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a step needs: the drive, where results go, and whom to tell."""

    drive: Drive
    run: str
    directory: Path
    seed: int
    confirm: str | None
    power: PowerControl | None
    tell: Callable[[Now], None]


class _Sink:
    """Hands batches on to the writer and keeps what the progress line shows of them."""

    def __init__(self, writer: StepWriter) -> None:
        self._writer = writer
        self._last: tuple[float, float] | None = None
        self.broken = False
        self.write_amplification: float | None = None
        self.watts: float | None = None

    def _hand(self, name: str, batch: pa.RecordBatch) -> None:
        if self.broken:
            return
        try:
            getattr(self._writer, name)(batch)
        except OSError:
            # The load still has to be stopped and drained; what comes then has nowhere to go.
            self.broken = True
            raise

    def intervals(self, batch: pa.RecordBatch) -> None:
        self._hand("intervals", batch)

    def histograms(self, batch: pa.RecordBatch) -> None:
        self._hand("histograms", batch)

    def environment(self, batch: pa.RecordBatch) -> None:
        self._hand("environment", batch)
        if not batch.num_rows:
            return
        last = batch.slice(batch.num_rows - 1).to_pylist()[0]
        if last["energy_j"] is not None and last["duration_s"]:
            self.watts = last["energy_j"] / last["duration_s"]
        if last["host_bytes"] is not None and last["media_bytes"] is not None:
            counted = (last["host_bytes"], last["media_bytes"])
            if self._last is not None and counted[0] > self._last[0]:
                self.write_amplification = (counted[1] - self._last[1]) / (counted[0] - self._last[0])
            self._last = counted


def _check_has(drive: Drive, step: dict[str, Any]) -> None:
    """Whether the drive has what a step asks of it, before hours were spent on those before it."""
    if step["kind"] == "purge" and not step["optional"]:
        drive.purge(method=step["method"], resume=True, dry_run=True)
    elif step["kind"] == "capacity":
        way = next(way for way in drive.capacity_methods() if way.method == step.get("method", "lba"))
        if not way.supported:
            raise errors.UnsupportedError(str(way.why_not))
    elif step["kind"] == "settings":
        missing = [name for name in step["wanted"] if name not in drive.settings().changeable]
        if missing:
            raise errors.UnsupportedError(
                f"{drive.uri}: {', '.join(missing)} cannot be set; `sated settings {drive.uri}` shows what it has"
            )


def check(drive: Drive, steps: Iterable[dict[str, Any]]) -> None:
    """Whether the drive has what a plan asks of it, and each load fits it with the LBA limit that it will have by then.
    @raises ParseError, UnsupportedError."""
    steps = list(steps)
    for step in steps:
        try:
            _check_has(drive, step)
        except errors.UnsupportedError as error:
            raise errors.UnsupportedError(f"step {step['id']}: {error}") from None
    identity = drive.identity
    accessible, block = identity.capacity_bytes or 0, identity.logical_block_bytes or 512
    native = identity.native_capacity_bytes or accessible
    for step in steps:
        if step["kind"] == "capacity":
            accessible = int(step["fraction"] * native)
        if "workload" not in step:
            continue
        workload = sated.Workload(**step["workload"])
        asked = workload._c()
        offset, length = int(asked.offset_bytes), int(asked.length_bytes)
        end = offset + length if length else accessible
        for name, value in (*(("size", size) for size in workload.size_bytes), ("offset", offset), ("length", length)):
            if value % block:
                raise errors.ParseError(
                    f"step {step['id']}: {name} = {value} is not a multiple of the drive's logical block of {block} "
                    f"bytes"
                )
        if end > accessible or offset + max(workload.size_bytes) > end:
            raise errors.ParseError(
                f"step {step['id']}: bytes {offset} to {max(end, offset + max(workload.size_bytes))} do not fit the "
                f"{accessible} bytes that can be addressed then: choose a smaller offset, length or size"
            )


def perform(context: Context, step: dict[str, Any]) -> dict[str, Any]:
    """Does a step and returns what the journal records of it. @raises whatever the drive or our own files do."""
    return _DOERS[step["kind"]](context, step)


def _purge(context: Context, step: dict[str, Any]) -> dict[str, Any]:
    context.tell(Now(phase="purge"))

    def tell(now: PurgeProgress) -> None:
        of_s = None if now.eta_s is None else now.elapsed_s + now.eta_s
        context.tell(Now(phase="purge", t_s=now.elapsed_s, of_s=of_s))

    left = context.drive.purge_pending()  # of a run that was killed in it; what nobody's journal tells of is not ours
    resume = left is not None and left.journaled
    try:
        result = context.drive.purge(method=step["method"], resume=resume, confirm=context.confirm, progress=tell)
    except errors.UnsupportedError as error:
        if not step["optional"]:
            raise
        return {"skipped": True, "note": f"purge skipped: {error}"}
    return {**asdict(result), "log": list(result.log)}


def _capacity(context: Context, step: dict[str, Any]) -> dict[str, Any]:
    context.tell(Now(phase="capacity"))
    return set_capacity(context.drive, step, context.confirm, context.power)


def set_capacity(drive: Drive, step: dict[str, Any], confirm: str | None, power: PowerControl | None) -> dict[str, Any]:
    """Sets the limit; `label` is what it may be called."""
    method = step.get("method", "lba")
    now = drive.set_capacity(fraction=step["fraction"], method=method, power=power, confirm=confirm)
    return {**asdict(now), "label": now.label, "method": method}


def _settings(context: Context, step: dict[str, Any]) -> dict[str, Any]:
    """What is set here is set back at the end of the run, whatever that end is."""
    context.tell(Now(phase="settings"))
    changed = context.drive.set(**step["wanted"], passing=True, confirm=context.confirm)
    was = {name: getattr(changed.before, name) for name in step["wanted"]}
    note = ", ".join(f"{name} {was[name]} -> {value}" for name, value in step["wanted"].items())
    return {"was": was, "set": step["wanted"], "note": note}


def _idle(context: Context, step: dict[str, Any]) -> dict[str, Any]:
    whole = step["seconds"]
    if context.drive.identity.simulated:
        context.tell(Now(phase="idle", of_s=whole))
        context.drive.sleep(whole)
        return {"seconds": whole}
    begin = context.drive.now_s()
    while (done := context.drive.now_s() - begin) < whole:
        context.tell(Now(phase="idle", t_s=done, of_s=whole))
        context.drive.sleep(min(_POLL_S, whole - done))
    return {"seconds": done}


def _load(context: Context, step: dict[str, Any]) -> dict[str, Any]:
    drive = context.drive
    workload = sated.Workload(**step["workload"])
    capacity = drive.identity.capacity_bytes or 0
    limit = step.get("bytes")
    if limit is None and "times" in step:
        limit = max(1, round(step["times"] * capacity))
    seconds = step.get("seconds")
    if "until" in step:
        longest = steady.MAX_ROUNDS * step["round_every"]
        seconds = longest if seconds is None else min(seconds, longest)
    settle = step.get("settle")
    seed = seed_of(context.seed, step["id"])
    context.tell(Now(phase="start", of_s=seconds))
    writer = StepWriter(context.directory / "steps" / step["id"], run=context.run, step=step["id"])
    sink = _Sink(writer)
    job: Job | None = None
    try:
        job = sated.start(
            drive,
            workload,
            seconds=seconds,
            bytes=limit,
            interval=step["interval"],
            histogram_every=step["histogram_every"],
            settle=None if settle is None else steady.Settle(settle["within"], settle["at_most"]),
            until=step.get("until"),
            round_every=step.get("round_every", 1800.0),
            seed=seed,
            confirm=context.confirm,
            sink=sink,
        )
        while not job.wait(_POLL_S):
            context.tell(_now(job, sink, seconds, limit))
    except BaseException:
        _halt(job)
        _keep(writer, sink)
        raise
    result = job.result()
    summary = _figures(writer, step, result, _note(step, result, limit))
    summary["seed"] = seed
    if "judge" in step:
        verdict = _judged(step, result, float(capacity))
        summary["verdict"] = verdict
        writer.event("verdict", **verdict)
    if settle is not None:
        writer.event("settled", settled=bool(result.settled))
    if summary["note"]:
        writer.event("note", text=summary["note"])
    writer.finish()
    return summary


def _now(job: Job, sink: _Sink, seconds: float | None, limit: int | None) -> Now:
    progress = job.progress
    of_s = seconds
    if limit and progress.bytes:
        of_s = min(seconds or math.inf, progress.t_s * max(1.0, limit / progress.bytes))
    return Now(
        phase=progress.phase,
        t_s=progress.t_s,
        of_s=of_s,
        iops=progress.iops,
        lat_p99_ns=progress.lat_p99_ns,
        write_amplification=sink.write_amplification,
        watts=sink.watts,
    )


def _halt(job: Job | None) -> None:
    """Ends a load that is not wanted any more, so that the drive is free; its error, if any, is already on its way."""
    if job is not None:
        with suppress(errors.SatedError, OSError):
            job.stop()
            job.wait()


def _keep(writer: StepWriter, sink: _Sink) -> None:
    """Keeps what a step that did not end has measured: as tables where they can be written, else as the stream."""
    if not sink.broken:
        with suppress(OSError):
            writer.finish()
            return
    writer.abandon()


def _figures(writer: StepWriter, step: dict[str, Any], result: Result, note: str) -> dict[str, Any]:
    """What summaries show of a load's measured phase, as plain data; None where something is not known."""
    totals = result.totals
    histogram = result.histogram()
    of_op = {op: sum(total.ios for total in totals if total.op == op) for op in ("read", "write")}
    figures: dict[str, Any] = {
        "duration_s": totals.duration_s,
        "ios": totals.ios,
        "bytes": totals.bytes,
        "errors": totals.errors,
        "iops": totals.iops,
        **{f"iops_{op}": ios / totals.duration_s if totals.duration_s else 0.0 for op, ios in of_op.items()},
        "bytes_per_s": totals.bytes_per_s,
        "lat_min_ns": totals.lat_min_ns,
        "lat_mean_ns": totals.lat_mean_ns,
        "lat_max_ns": totals.lat_max_ns,
        "lat_stddev_ns": totals.lat_stddev_ns,
        "queue_mean": totals.queue_mean,
        "engine": totals.engine,
        "batch_mean": totals.batch_mean,
        "batch_max": totals.batch_max,
        "late_mean_ns": totals.late_mean_ns,
        "late_max_ns": totals.late_max_ns,
        "backlog_max": totals.backlog_max,
        "unsent": totals.unsent,
        "classes": [_plain(total) for total in totals],
        "settled": result.settled,
        "host_bound": result.host_bound,
        "note": note,
    }
    for name, percent in _PERCENTILES.items():
        # As in the rows: a percentile needs at least one value beyond it.
        enough = totals.ios * (100 - percent) >= 100
        figures[name] = histogram.percentile(percent) if enough else None
    intervals, environment = writer.table("intervals"), writer.table("environment")
    last = _rates(intervals, environment, _LAST_S)
    whole = last if step["purpose"] == "precondition" else _rates(intervals, environment, math.inf)
    figures["power_w"], figures["iops_per_w"] = whole["power_w"], whole["iops_per_w"]
    figures["write_amplification"] = _amplification(environment, math.inf)
    if step["purpose"] == "precondition":
        figures["last_300_s"] = {**last, "write_amplification": _amplification(environment, _LAST_S)}
    return figures


def _judged(step: dict[str, Any], result: Result, capacity_bytes: float) -> dict[str, Any]:
    """The verdict over a load's own rounds, as plain data: steady, rule, text, reason, range, slope, mean, window, and
    the rounds themselves as [t_s, iops, bytes_written]."""
    writes = "write" in result.workload.shares
    rounds = steady.Rounds(step["judge"], capacity_bytes, writes, step["round_every"])
    for minute in result.minutes:
        rounds.add(minute)
    own = result.verdict if step.get("until") == step["judge"] else None
    listed = [[minute.t_s, minute.iops, minute.bytes_written] for minute in rounds.rounds]
    return {**asdict(own or rounds.verdict()), "rule": step["judge"], "rounds": listed}


def _plain(total: Total) -> dict[str, Any]:
    """A total as plain data; its histogram is in the tables."""
    return {
        each.name: getattr(total, each.name) for each in fields(total) if each.name not in ("histogram", "response")
    }


def _note(step: dict[str, Any], result: Result, limit: int | None) -> str:
    notes = [result.note] if result.note else []
    if step["kind"] == "fill" and limit and result.totals.bytes < limit:
        share = 100 * result.totals.bytes / limit
        notes.append(f"ended after {step['seconds']:g} s with {share:.3g} % of what was to be written")
    if result.settled is False:
        notes.append(f"not settled within {step['settle']['at_most']:g} s")
    if result.totals.errors:
        offset, code = result.failed_ios[0] if result.failed_ios else (None, None)
        notes.append(f"{result.totals.errors} I/Os failed, the first at byte {offset} with errno {code}")
    return "; ".join(notes)


def _measured(table: pa.Table, last_s: float) -> pa.Table:
    """The rows of the measured phase, of its last so many reported seconds."""
    measured = table.filter(pc.equal(table["phase"], "measured"))
    if not measured.num_rows or math.isinf(last_s):
        return measured
    end = pc.max(measured["t_s"]).as_py()
    return measured.filter(pc.greater(measured["t_s"], end - last_s + 1e-6))


def _rates(intervals: pa.Table, environment: pa.Table, last_s: float) -> dict[str, float | None]:
    """IOPS, power and IOPS per watt, all of the same intervals."""
    rows = _measured(intervals, last_s)
    around = _measured(environment, last_s)
    duration = float(np.sum(around["duration_s"].to_numpy()))
    if not duration:
        return {"iops": None, "power_w": None, "iops_per_w": None}
    members = max(1, pc.count_distinct(around["member"]).as_py())
    iops = float(np.sum(rows["ios"].to_numpy())) / (duration / members)
    energy = around["energy_j"]
    if energy.null_count:
        return {"iops": iops, "power_w": None, "iops_per_w": None}
    power = float(np.sum(energy.to_numpy())) / (duration / members)
    return {"iops": iops, "power_w": power, "iops_per_w": iops / power if power > 0 else None}


def _amplification(environment: pa.Table, last_s: float) -> float | None:
    """What the medium took per byte of the host, by the drive's own counters. The counters of the row before the span
    are its beginning; a span that opens the load begins with its own first row."""
    span = _measured(environment, last_s)
    if not span.num_rows or span["host_bytes"].null_count or span["media_bytes"].null_count:
        return None
    before = environment.filter(pc.less(environment["t_s"], pc.min(span["t_s"])))
    if before.num_rows:
        first = pc.max(before["t_s"])
        span = pa.concat_tables([before.filter(pc.equal(before["t_s"], first)), span])
    host = media = 0.0
    for member in pc.unique(span["member"]).to_pylist():
        rows = span.filter(pc.equal(span["member"], member))
        host += rows["host_bytes"][-1].as_py() - rows["host_bytes"][0].as_py()
        media += rows["media_bytes"][-1].as_py() - rows["media_bytes"][0].as_py()
    return media / host if host > 0 else None


_DOERS: dict[str, Callable[[Context, dict[str, Any]], dict[str, Any]]] = {
    "purge": _purge,
    "capacity": _capacity,
    "settings": _settings,
    "fill": _load,
    "precondition": _load,
    "measure": _load,
    "idle": _idle,
}
