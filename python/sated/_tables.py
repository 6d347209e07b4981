"""C rows as Arrow record batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sated._schemas import ENVIRONMENT, HISTOGRAMS, INTERVALS, KINDS, LOG, PHASES
from sated._workload import OPS

_PHASES, _OPS = np.array(PHASES, object), np.array(OPS, object)


def _seconds(ns: Any) -> pa.Array:
    return pa.array(ns.astype(np.float64) / 1e9)


def _known(values: Any) -> pa.Array:
    """C says "unknown" by NaN in floats and by -1 in integers."""
    numbers = values.astype(np.float64)
    unknown = np.isnan(numbers) if values.dtype.kind == "f" else numbers < 0
    return pa.array(numbers, mask=unknown)


def intervals(rows: Any) -> pa.RecordBatch:
    """`struct sated_row`, n of them, as the intervals table."""
    columns = [
        pa.array(_PHASES[rows["phase"]], pa.string()),
        pa.array(rows["member"].astype(np.int32)),
        pa.array(_OPS[rows["op"]], pa.string()),
        pa.array(rows["size_bytes"].astype(np.int64)),
        _seconds(rows["t_ns"]),
        _seconds(rows["duration_ns"]),
        *(pa.array(rows[name].astype(np.int64)) for name in ("ios", "bytes", "errors")),
        *(_known(rows[name]) for name in INTERVALS.names[9:17]),
        pa.array(rows["queue_mean"].astype(np.float64)),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=INTERVALS)


def environment(rows: Any) -> pa.RecordBatch:
    """`struct sated_environment`, n of them, as the environment table."""
    columns = [
        pa.array(_PHASES[rows["phase"]], pa.string()),
        pa.array(rows["member"].astype(np.int32)),
        _seconds(rows["t_ns"]),
        _seconds(rows["duration_ns"]),
        *(_known(rows[name]) for name in ("energy_j", "power_min_w", "power_max_w")),
        pa.array(rows["samples"].astype(np.int32)),
        _known(rows["temperature_c"]),
        pa.nulls(len(rows), pa.string()),
        pa.array(rows["throttle"].astype(np.int32)),
        _known(rows["host_bytes_written"]),
        _known(rows["media_bytes_written"]),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=ENVIRONMENT)


def log(rows: Any) -> pa.RecordBatch:
    """`struct sated_io`, n of them, as rows of a log."""
    intended = rows["intended_ns"].astype(np.int64)
    columns = [
        pa.array(rows["member"].astype(np.int32)),
        pa.DictionaryArray.from_arrays(pa.array(rows["op"].astype(np.int8)), pa.array(OPS)),
        pa.array(rows["offset_bytes"].astype(np.int64)),
        pa.array(rows["size_bytes"].astype(np.int64)),
        pa.array(intended, mask=intended < 0),
        pa.array(rows["submit_ns"].astype(np.int64)),
        pa.array(rows["complete_ns"].astype(np.int64)),
        pa.array(rows["error"].astype(np.int32)),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=LOG)


def histograms(found: Sequence[tuple[int, int, int, int, int, int, int, Any, Any]]) -> pa.RecordBatch:
    """(phase, member, t_ns, op, size, kind, bits, lows, counts) of each as the histograms table."""
    phase, member, t_ns, op, size, kind, bits, low, count = zip(*found, strict=True)
    columns = [
        pa.array([PHASES[p] for p in phase]),
        pa.array(member, pa.int32()),
        pa.array([t / 1e9 for t in t_ns], pa.float64()),
        pa.array([OPS[o] for o in op]),
        pa.array(size, pa.int64()),
        pa.array([KINDS[k] for k in kind]),
        pa.array(bits, pa.int32()),
        pa.array(list(low), pa.list_(pa.int64())),
        pa.array(list(count), pa.list_(pa.int64())),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=HISTOGRAMS)
