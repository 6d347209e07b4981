"""`sated load`: one load on one drive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import _text
from ._common import (
    DRIVE,
    NOT_STEADY,
    OK,
    PARTIAL,
    STOPPED,
    UNSAFE,
    USAGE,
    Confirm,
    Create,
    Ends,
    Json,
    command,
    emit,
    epilog,
    table,
)
from ._line import Line
from .info import Uri

if TYPE_CHECKING:
    from sated import Drive, Histogram, Job, Result, Workload

PERCENTILES = (50.0, 99.0, 99.9, 99.99)

_Op = Annotated[
    str | None, typer.Option(metavar="OP", help="read, write, trim, write_zeroes (also with rand in front) or flush.")
]
_Access = Annotated[
    str | None,
    typer.Option(
        metavar="ORDER",
        help="random (uniform, with replacement), sequential, zipf, pareto, normal, zones, or permutation.",
    ),
]
_Read = Annotated[str | None, typer.Option(metavar="SHARE", help="Share of reads: 2/3, 0.7 or 70%.")]
_Write = Annotated[str | None, typer.Option(metavar="SHARE", help="Share of writes.")]
_Trim = Annotated[str | None, typer.Option(metavar="SHARE", help="Share of trims.")]
_WriteZeroes = Annotated[str | None, typer.Option(metavar="SHARE", help="Share of write-zeroes.")]
_Flush = Annotated[str | None, typer.Option(metavar="SHARE", help="Share of flushes of the write cache.")]
_Size = Annotated[
    str | None, typer.Option(metavar="SIZE", help="I/O size: 4k, 128k, 1m (powers of 1024). [default: 4k]")
]
_Sizes = Annotated[str | None, typer.Option(metavar="MIX", help="Mix of I/O sizes by share: 512:10,4k:90.")]
_Threads = Annotated[int, typer.Option(help="Threads.")]
_Depth = Annotated[int, typer.Option(help="Outstanding I/Os of each thread.")]
_Offset = Annotated[str | None, typer.Option(metavar="BYTES", help="Where the range begins, such as 1GiB.")]
_Length = Annotated[
    str | None, typer.Option(metavar="BYTES", help="Length of the range, such as 10GB. [default: to the end]")
]
_Data = Annotated[str, typer.Option(metavar="WHAT", help="What is written: random or zeros.")]
_Streams = Annotated[int | None, typer.Option(help="Sequential streams of each thread. [default: 1]")]
_Theta = Annotated[float | None, typer.Option(help="Exponent of --access zipf. [default: 1.1]")]
_H = Annotated[
    str | None,
    typer.Option(
        "--h", metavar="SHARE", help="Of --access pareto: 1-h of the I/Os go to h of the range. [default: 0.2]"
    ),
]
_Stddev = Annotated[
    str | None, typer.Option(metavar="SHARE", help="Of --access normal, as a share of the range. [default: 0.1]")
]
_Zones = Annotated[
    str | None,
    typer.Option(metavar="LIST", help="Shares of the I/Os to parts of the range: 50:5,30:15,20:80, 50:4k,50:"),
]
_ReadZones = Annotated[str | None, typer.Option(metavar="LIST", help="Zones of reads.")]
_WriteZones = Annotated[str | None, typer.Option(metavar="LIST", help="Zones of all that is no read.")]
_Active = Annotated[
    str | None, typer.Option(metavar="BYTES", help="Use only so much of the range, such as 16GiB or 10%.")
]
_Segments = Annotated[int | None, typer.Option(help="Spread --active over the range in so many parts. [default: 1]")]
_Compress = Annotated[str | None, typer.Option(metavar="SHARE", help="Share of the data that is zeros: 50 or 0.5.")]
_Dedupe = Annotated[
    str | None, typer.Option(metavar="SHARE", help="Share of the writes with contents that was written before.")
]
_Rate = Annotated[
    str | None, typer.Option(metavar="IOPS", help="I/Os per second: 5000, or read:5000,write:200. [default: no limit]")
]
_Arrival = Annotated[str | None, typer.Option(metavar="HOW", help="I/Os of a rate: fixed or poisson. [default: fixed]")]
_Think = Annotated[str | None, typer.Option(metavar="TIME", help="Pause between two I/Os of a slot, such as 250us.")]
_Seconds = Annotated[float | None, typer.Option(help="End after so many (reported) seconds.")]
_Ios = Annotated[int | None, typer.Option(help="End after so many I/Os.")]
_Bytes = Annotated[str | None, typer.Option("--bytes", metavar="BYTES", help="End after so many bytes, such as 10GB.")]
_Until = Annotated[str | None, typer.Option(metavar="RULE", help="End when steady by this rule: pts or range-20.")]
_Interval = Annotated[float, typer.Option(help="Seconds of a row.")]
_Ramp = Annotated[float, typer.Option(help="Seconds before the measured phase, which do not count.")]
_CheckEvery = Annotated[float, typer.Option(help="Seconds between the checks of --until.")]
_RoundEvery = Annotated[float, typer.Option(help="Seconds between the rounds of --until.")]
_Seed = Annotated[int, typer.Option(help="Seed of all random draws.")]
_Engine = Annotated[str, typer.Option(metavar="NAME", help="auto, io_uring, libaio or threads.")]
_Mode = Annotated[str, typer.Option(metavar="MODE", help="normal, or max-iops: batches are floors.")]
_Accurate = Annotated[bool, typer.Option("--accurate", help="One I/O per submission, with a stamp of its own.")]
_Batch = Annotated[int | None, typer.Option(help="I/Os submitted at once at most. [default: a quarter of the depth]")]
_Cpus = Annotated[str | None, typer.Option(metavar="LIST", help="Processors of the threads, such as 0,2-5.")]
_Sqpoll = Annotated[bool, typer.Option("--sqpoll", help="io_uring: a kernel thread takes submissions.")]
_Iopoll = Annotated[bool, typer.Option("--iopoll", help="io_uring: poll for completions.")]
_OnError = Annotated[
    str, typer.Option(metavar="HOW", help="stop at the first failed I/O, continue, or after how many to stop.")
]
_Log = Annotated[Path | None, typer.Option(metavar="FILE.parquet", help="Write every I/O there.")]
_Out = Annotated[Path | None, typer.Option(metavar="FILE.parquet", help="Write the rows of the intervals there.")]


def load(
    uri: Uri,
    op: _Op = None,
    access: _Access = None,
    read: _Read = None,
    write: _Write = None,
    trim: _Trim = None,
    write_zeroes: _WriteZeroes = None,
    flush: _Flush = None,
    size: _Size = None,
    sizes: _Sizes = None,
    threads: _Threads = 1,
    depth: _Depth = 1,
    offset: _Offset = None,
    length: _Length = None,
    data: _Data = "random",
    streams: _Streams = None,
    theta: _Theta = None,
    h: _H = None,
    stddev: _Stddev = None,
    zones: _Zones = None,
    read_zones: _ReadZones = None,
    write_zones: _WriteZones = None,
    active: _Active = None,
    segments: _Segments = None,
    compress: _Compress = None,
    dedupe: _Dedupe = None,
    rate: _Rate = None,
    arrival: _Arrival = None,
    think: _Think = None,
    seconds: _Seconds = None,
    ios: _Ios = None,
    bytes_: _Bytes = None,
    until: _Until = None,
    interval: _Interval = 1.0,
    ramp: _Ramp = 0.0,
    check_every: _CheckEvery = 60.0,
    round_every: _RoundEvery = 1800.0,
    seed: _Seed = 0,
    engine: _Engine = "auto",
    mode: _Mode = "normal",
    accurate: _Accurate = False,
    batch: _Batch = None,
    cpus: _Cpus = None,
    sqpoll: _Sqpoll = False,
    iopoll: _Iopoll = False,
    on_error: _OnError = "100",
    log: _Log = None,
    confirm: Confirm = None,
    create: Create = None,
    out: _Out = None,
    json: Json = False,
) -> int:
    """Run one load and print what came of it: per operation and size, and pooled.

    Without --op or a share it reads at random. It ends at the first limit that is reached, or at Ctrl-C, and then
    prints what there is. Seconds on a simulated drive are those that it reports, not those of the wall.
    """
    import sated

    if seconds is None and ios is None and bytes_ is None and until is None:
        raise Ends("the load has no end: give --seconds, --ios, --bytes or --until", USAGE)
    workload = sated.Workload(
        op=op,
        access=access,
        read=read,
        write=write,
        trim=trim,
        write_zeroes=write_zeroes,
        flush=flush,
        size=size,
        sizes=None if sizes is None else _mix(sizes),
        threads=threads,
        depth=depth,
        offset=offset,
        length=length,
        data=data,
        streams=streams,
        theta=theta,
        h=h,
        stddev=stddev,
        zones=zones,
        read_zones=read_zones,
        write_zones=write_zones,
        active=active,
        segments=segments,
        compress=compress,
        dedupe=dedupe,
        rate=rate,
        arrival=arrival,
        think=think,
    )
    for option, path in (("--out", out), ("--log", log)):
        if path is not None:
            _check_writable(option, path)
    with sated.open(uri, create=create) as drive:
        job = sated.start(
            drive,
            workload,
            seconds=seconds,
            ios=ios,
            bytes=bytes_,
            until=until,
            interval=interval,
            ramp=ramp,
            check_every=check_every,
            round_every=round_every,
            seed=seed,
            engine=engine,
            mode=mode,
            accurate=accurate,
            batch=batch,
            cpus=None if cpus is None else _processors(cpus),
            sqpoll=sqpoll,
            iopoll=iopoll,
            on_error=int(on_error) if on_error.isdecimal() else on_error,
            log=log,
            confirm=confirm,
        )
        failure: sated.SatedError | None = None
        try:
            result = _wait(job, json=json)
        except sated.SatedError as error:
            # What was measured until then is worth as much as the reason why it ended.
            failure, result = error, error.result
        told = describe(drive, workload, result)
    if json:
        emit(told)
    else:
        _print(told)
    if out is not None:
        _write_rows(out, result)
        if not json:
            print(f"rows: {out}")
    if failure is not None:
        raise failure
    return _exit_code(told)


def _mix(text: str) -> dict[str, float]:
    """512:10,4k:90 as sizes and shares."""
    mix: dict[str, float] = {}
    for part in text.split(","):
        size, colon, share = part.strip().partition(":")
        try:
            mix[size] = float(share)
        except ValueError:
            colon = ""
        if not colon or not size:
            raise Ends(f'"{part}" in --sizes is not SIZE:SHARE: write it as in 512:10,4k:90', USAGE)
    return mix


def _wait(job: Job, *, json: bool) -> Result:
    """Shows the live line until the load has ended. The first Ctrl-C stops it, the second gives up."""
    with Line(quiet=json) as line:
        try:
            while not job.wait(0.1):
                line.show(_progress(job))
        except KeyboardInterrupt:
            job.stop()
            line.keep("stopping: waiting for the outstanding I/Os")
            while not job.wait(0.1):
                pass
    return job.result()


def _progress(job: Job) -> str:
    now = job.progress
    parts = [
        f"{now.phase} {_text.duration(now.t_s)}",
        f"{_text.number(now.iops)} IOPS",
        f"p99 {_text.latency(now.lat_p99_ns)}",
        f"{_text.number(now.ios)} I/Os",
    ]
    if now.errors:
        parts.append(f"{_text.number(now.errors)} errors")
    return "  ".join(parts)


def describe(drive: Drive, workload: Workload, result: Result) -> dict[str, Any]:
    """A result as plain values: what --json prints and the table is made from."""
    totals = result.totals
    verdict = result.verdict
    return {
        "uri": drive.uri,
        "model": drive.identity.model,
        "simulated": drive.identity.simulated,
        "scale": drive.identity.scale,
        "workload": workload.as_dict(),
        "pooled": {
            "ios": totals.ios,
            "bytes": totals.bytes,
            "errors": totals.errors,
            "duration_s": totals.duration_s,
            **_figures(totals),
            **_percentiles(result.histogram()),
            **_late(totals, result),
            "queue_mean": totals.queue_mean,
            "engine": totals.engine,
            "batch_mean": totals.batch_mean,
            "batch_max": totals.batch_max,
        },
        "classes": [
            {
                "op": each.op,
                "size": each.size,
                "ios": each.ios,
                "bytes": each.bytes,
                "errors": each.errors,
                **_figures(each),
                **_percentiles(each.histogram),
                "queue_mean": each.queue_mean,
            }
            for each in totals.members
        ],
        "verdict": None
        if verdict is None
        else {
            "steady": verdict.steady,
            "reason": verdict.reason,
            "range": verdict.range,
            "slope": verdict.slope,
            "mean": verdict.mean,
            "rounds": verdict.rounds,
            "text": verdict.text,
        },
        "interrupted": result.interrupted,
        "host_bound": result.host_bound,
        "note": result.note,
    }


def _figures(total: Any) -> dict[str, Any]:
    names = ("iops", "bytes_per_s", "lat_mean_ns", "lat_min_ns", "lat_max_ns", "lat_stddev_ns")
    return {name: getattr(total, name) for name in names}


def _percentiles(histogram: Histogram) -> dict[str, Any]:
    """None where fewer than one I/O lies beyond, as in the rows."""
    beyond = {p: histogram.count * (100 - p) / 100 for p in PERCENTILES}
    return {
        f"lat_p{f'{p:g}'.replace('.', '')}_ns": histogram.percentile(p) if beyond[p] >= 1 - 1e-9 else None
        for p in PERCENTILES
    }


def _late(totals: Any, result: Result) -> dict[str, Any]:
    """What a rate adds: percentiles from when I/Os were to begin, and how late they were."""
    if not result.workload.rated:
        return {}
    response = _percentiles(result.histogram(kind="response"))
    names = ("late_mean_ns", "late_max_ns", "backlog_max", "unsent")
    return {
        **{name.replace("lat_", "response_"): value for name, value in response.items()},
        **{name: getattr(totals, name) for name in names},
    }


def _print(told: dict[str, Any]) -> None:
    pooled, classes = told["pooled"], told["classes"]
    rows = [(f"{each['op']} {_text.io_size(each['size'])}", each) for each in classes]
    if len(rows) != 1:
        rows.append(("pooled", pooled))
    unit, ns = _text.latency_unit(*(each["lat_mean_ns"] for _, each in rows))
    head = ("", "IOPS", "MB/s", f"mean {unit}", "p50", "p99", "p99.9", "p99.99", "max", "n", "outstanding")
    print(
        table(
            head,
            [
                (
                    name,
                    _text.number(each["iops"]),
                    _text.fixed(each["bytes_per_s"] / 1e6),
                    *(
                        _text.number(None if each[key] is None else each[key] / ns)
                        for key in (
                            "lat_mean_ns",
                            "lat_p50_ns",
                            "lat_p99_ns",
                            "lat_p999_ns",
                            "lat_p9999_ns",
                            "lat_max_ns",
                        )
                    ),
                    _text.number(each["ios"]),
                    _text.fixed(each["queue_mean"], 2),
                )
                for name, each in rows
            ],
        )
    )
    print(
        f"{_text.fixed(pooled['duration_s'], 3)} s of I/O, engine {pooled['engine']}; latencies are host-observed",
        end="",
    )
    print(f"; the drive is 1/{told['scale']} of a real one" if told["scale"] > 1 else "")
    if "unsent" in pooled:
        times = "  ".join(
            f"{name} {_text.latency(pooled[f'response_{name}_ns'])}" for name in ("p50", "p99", "p999", "p9999")
        )
        print(f"response times, from when each I/O was to begin: {times}")
        print(
            f"submitted {_text.latency(pooled['late_mean_ns'])} late on average, "
            f"{_text.latency(pooled['late_max_ns'])} at most; up to {_text.number(pooled['backlog_max'])} waited for a "
            f"free slot of their thread"
        )
        if pooled["unsent"]:
            print(f"{_text.number(pooled['unsent'])} I/Os that were due by the end were not submitted")
    if pooled["errors"]:
        print(f"{_text.number(pooled['errors'])} I/Os failed")
    if told["host_bound"]:
        print("host-bound: fewer I/Os were outstanding than asked for, so the host, not the drive, set the pace")
    if told["verdict"] is not None:
        verdict = told["verdict"]
        print(verdict["text"] if "steady" in verdict["text"] else f"not steady: {verdict['text']}")
    if told["interrupted"]:
        print("stopped before its end")
    if told["note"]:
        print(told["note"])


def _exit_code(told: dict[str, Any]) -> int:
    if told["interrupted"]:
        return STOPPED
    if told["pooled"]["errors"]:
        return DRIVE
    if told["verdict"] is not None and not told["verdict"]["steady"]:
        return NOT_STEADY
    return OK


def _processors(text: str) -> list[int]:
    """0,2-5 as numbers."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or (dash and int(last) < int(first)):
            raise Ends(f'"{part}" in --cpus is no processor: write them as in 0,2-5', USAGE)
        found += range(int(first), int(last or first) + 1)
    return found


def _check_writable(option: str, out: Path) -> None:
    """Finds out before the load, not after it, that its rows would have nowhere to go."""
    if out.suffix != ".parquet":
        raise Ends(f"{option} {out}: rows are written as Parquet, so name a file that ends in .parquet", USAGE)
    if not out.parent.is_dir():
        raise Ends(f"{option} {out}: there is no folder {out.parent}; make it first", USAGE)


def _write_rows(out: Path, result: Result) -> None:
    import pyarrow.parquet

    beside = out.with_name(out.name + ".part")
    try:
        pyarrow.parquet.write_table(result.table, beside)
        beside.replace(out)
    except OSError as error:
        beside.unlink(missing_ok=True)
        told = f"--out {out}: {error.strerror or error}; the result above is complete, its rows are not kept"
        raise Ends(told, PARTIAL) from None


def add_to(app: typer.Typer) -> None:
    example = "sated load sim:x210,scale=1/64 --op randwrite --size 4k --depth 32 --seconds 10"
    app.command(
        "load",
        short_help="Run one load on one drive.",
        epilog=epilog(example, UNSAFE, DRIVE, NOT_STEADY, STOPPED, PARTIAL),
    )(command(load))
