"""The Arrow schemas of a load's tables (a run directory adds `run` and `step` in front)."""

from __future__ import annotations

import pyarrow as pa

PHASES = ("ramp", "settle", "measured", "after_stop")
KINDS = ("service", "response")

_F = pa.float64()

INTERVALS = pa.schema(
    [
        ("phase", pa.string()),
        ("member", pa.int32()),
        ("op", pa.string()),
        ("size", pa.int64()),
        ("t_s", _F),
        ("duration_s", _F),
        ("ios", pa.int64()),
        ("bytes", pa.int64()),
        ("errors", pa.int64()),
        ("lat_min_ns", _F),
        ("lat_mean_ns", _F),
        ("lat_max_ns", _F),
        ("lat_stddev_ns", _F),
        ("lat_p50_ns", _F),
        ("lat_p99_ns", _F),
        ("lat_p999_ns", _F),
        ("lat_p9999_ns", _F),
        ("queue_mean", _F),
    ]
)

ENVIRONMENT = pa.schema(
    [
        ("phase", pa.string()),
        ("member", pa.int32()),
        ("t_s", _F),
        ("duration_s", _F),
        ("energy_j", _F),
        ("power_min_w", _F),
        ("power_max_w", _F),
        ("samples", pa.int32()),
        ("temperature_c", _F),
        ("link", pa.string()),
        ("throttle", pa.int32()),
        ("host_bytes", _F),
        ("media_bytes", _F),
    ]
)

LOG = pa.schema(
    [
        ("member", pa.int32()),
        ("op", pa.dictionary(pa.int8(), pa.string())),
        ("offset", pa.int64()),
        ("size", pa.int64()),
        ("intended_ns", pa.int64()),  # null: no rate
        ("submit_ns", pa.int64()),  # since the start of the load, the drive's own time
        ("complete_ns", pa.int64()),
        ("error", pa.int32()),  # 0, or a negated errno
    ]
)
"""Of every I/O, where a load is told to keep them."""

HISTOGRAMS = pa.schema(
    [
        ("phase", pa.string()),
        ("member", pa.int32()),
        ("t_s", _F),
        ("op", pa.string()),
        ("size", pa.int64()),
        ("kind", pa.string()),
        ("bits", pa.int32()),  # an octave has 2^bits buckets
        ("bucket_low_ns", pa.list_(pa.int64())),
        ("count", pa.list_(pa.int64())),
    ]
)
