"""SQL over many runs, with DuckDB."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from sated import errors
from sated.results import store
from sated.results.run import MANIFEST, Run

# Classes are pooled per interval and member: counts and queues add up, a mean latency is weighted by I/Os.
_SECONDS = """
create view seconds as
select i.*, e.energy_j, e.energy_j / e.duration_s as power_w, e.power_min_w, e.power_max_w, e.temperature_c, e.link,
       e.throttle, e.host_bytes, e.media_bytes
from (
    select run, step, phase, member, t_s,
           cast(sum(ios) as bigint) as ios,
           cast(sum(bytes) as bigint) as bytes,
           sum(ios) / max(duration_s) as iops,
           sum(bytes) / max(duration_s) as bytes_per_s,
           sum(ios * lat_mean_ns) / nullif(sum(ios), 0) as lat_mean_ns,
           max(lat_max_ns) as lat_max_ns,
           cast(sum(errors) as bigint) as errors,
           sum(queue_mean) as queue_mean,
           max(duration_s) as duration_s
    from intervals
    group by run, step, phase, member, t_s
) as i
left join environment as e using (run, step, phase, member, t_s)
"""


def _runs(runs: str | PathLike[str] | Iterable[str | PathLike[str]]) -> list[Path]:
    if isinstance(runs, str | PathLike):
        pattern = str(runs)
        found = [Path(path) for path in sorted(glob.glob(pattern))]  # noqa: PTH207 (patterns may be absolute)
        found = [path for path in found if (path / MANIFEST).exists()]
        if not found:
            raise errors.ParseError(f"{pattern}: no run directory there: name one that holds run.json, or a pattern")
        return found
    listed = [Path(path) for path in runs]
    if not listed:
        raise errors.ParseError("runs is an empty list: name at least one run directory")
    return listed


def query(sql: str, *, runs: str | PathLike[str] | Iterable[str | PathLike[str]]) -> pa.Table:
    """Runs a query over run directories. @param runs a directory, a pattern such as "runs/*", or a list.

    Views: `intervals`, `environment`, `histograms` as stored, and `seconds`, a row per interval and member with its
    classes pooled and joined with its energy. Unfinished runs count with what they have.
    @raises UnsupportedError without duckdb, ParseError for SQL that it refuses or runs that are not there.
    """
    try:
        import duckdb
    except ImportError:
        raise errors.UnsupportedError("queries need duckdb: pip install 'sated[report]'") from None
    directories = _runs(runs)
    connection: Any = duckdb.connect(":memory:")
    try:
        connection.execute("set TimeZone = 'UTC'")
        for name in store.NAMES:
            _view(connection, name, directories)
        connection.execute(_SECONDS)
        try:
            found = connection.sql(sql)
            if found is None:
                raise errors.ParseError(f"query {sql!r} gives no rows back: ask for some, as with select")
            table: pa.Table = found.to_arrow_table()
        except duckdb.Error as error:
            raise errors.ParseError(f"query refused: {error}") from None
        return table
    finally:
        connection.close()


def _view(connection: Any, name: str, directories: list[Path]) -> None:
    files: list[str] = []
    parts: list[str] = []
    for number, directory in enumerate(directories):
        run = Run(directory)
        merged = directory / "tables" / f"{name}.parquet"
        if run.finished and merged.exists():
            files.append(str(merged))
        else:
            connection.register(f"unfinished_{name}_{number}", run.table(name))
            parts.append(f"select * from unfinished_{name}_{number}")
    if files:
        listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
        parts.insert(0, f"select * from read_parquet([{listed}], union_by_name = true)")
    connection.execute(f"create view {name} as " + " union all by name ".join(parts))
