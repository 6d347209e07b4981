"""What a plan file may hold: one table for the top and one for each kind of step."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

# The library keeps times as 64-bit nanoseconds.
Positive = Annotated[float, Field(gt=0, lt=9e9, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Rule = Literal["pts", "range-20"]


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SettleTable(Table):
    """The settle phase: until a minute is `within` of the one before, at most so many reported seconds."""

    within: Positive = 0.10
    at_most: Annotated[float, Field(ge=120, multiple_of=60, allow_inf_nan=False)] = 600.0


class _Where(Table):
    """The keys of a workload that say where its I/Os go and what they carry."""

    offset: int | str | None = None
    length: int | str | None = None
    data: str | None = None
    streams: Count | None = None
    theta: float | None = None
    h: float | str | None = None
    stddev: float | str | None = None
    zones: str | None = None
    read_zones: str | None = None
    write_zones: str | None = None
    active: int | str | None = None
    segments: Count | None = None
    compress: float | str | None = None
    dedupe: float | str | None = None


class _Mix(_Where):
    """The keys of a workload, but for how many I/Os are outstanding."""

    op: str | None = None
    read: float | str | None = None
    write: float | str | None = None
    trim: float | str | None = None
    write_zeroes: float | str | None = None
    flush: float | str | None = None
    size: int | str | None = None
    sizes: dict[str, float] | None = None
    access: str | None = None
    rate: float | str | dict[str, float] | None = None
    arrival: str | None = None
    think: float | str | None = None


class _Workload(_Mix):
    threads: Count | None = None
    depth: Count | None = None


class PurgeStep(Table):
    kind: Literal["purge"]
    method: Literal[
        "auto",
        "simulated",
        "deallocate",
        "write-same",
        "sanitize-block",
        "sanitize-crypto",
        "sanitize-overwrite",
        "format",
        "format-crypto",
        "security-enhanced",
        "security",
    ] = "auto"
    optional: bool = False
    """Go on with a note where the target cannot be purged."""


class CapacityStep(Table):
    kind: Literal["capacity"]
    fraction: Annotated[float, Field(gt=0, le=1)] | None = None
    """Of the native LBAs; that of the setting by default."""
    method: Literal["lba", "hpa", "amac", "dco", "mode-select", "namespace"] = "lba"
    """By what it is limited; other than "lba" changes the drive itself."""


class SettingsStep(Table):
    kind: Literal["settings"]
    write_cache: bool | None = None
    look_ahead: bool | None = None
    apm: Annotated[int, Field(ge=0, le=254)] | None = None
    power_state: Annotated[int, Field(ge=0, le=31)] | None = None
    apst: bool | None = None


SETTINGS = ("write_cache", "look_ahead", "apm", "power_state", "apst")


class FillStep(Table):
    kind: Literal["fill"]
    times: Positive = 2.0
    """The accessible capacity, written so often."""
    seconds: Positive | None = None
    """Not longer than so many reported seconds, however much is written by then."""
    size: int | str = "128k"
    threads: Count = 1
    depth: Count = 32


class Load(_Workload):
    seconds: Positive | None = None
    bytes: Count | str | None = None
    until: Rule | None = None
    judge: Rule | None = None
    round_every: Positive | None = None


class PreconditionStep(Load):
    kind: Literal["precondition"]
    times: Positive | None = None
    """The accessible capacity, written so often."""


class MeasureStep(Load):
    kind: Literal["measure"]
    settle: bool | SettleTable | None = None


class _Sweep(_Mix):
    kind: Literal["sweep"]
    seconds: Positive
    settle: bool | SettleTable | None = None


class DepthSweep(_Sweep):
    over: Literal["depth"]
    outstanding: Annotated[list[Count], Field(min_length=1)]
    """Threads x depth of each cell."""
    threads: Count | None = None


class GridSweep(_Sweep):
    over: Literal["threads x depth"]
    threads: Annotated[list[Count], Field(min_length=1)]
    depth: Annotated[list[Count], Field(min_length=1)]


class WriteSweep(_Where):
    kind: Literal["sweep"]
    over: Literal["write_percent"]
    write_percent: Annotated[list[Annotated[float, Field(ge=0, le=100)]], Field(min_length=1)]
    size: int | str | None = None
    sizes: dict[str, float] | None = None
    access: str = "random"
    threads: Count = 1
    depth: Count = 1
    seconds: Positive
    settle: bool | SettleTable | None = None


class IdleStep(Table):
    kind: Literal["idle"]
    seconds: Positive


KINDS: dict[str, type[Table]] = {
    "purge": PurgeStep,
    "capacity": CapacityStep,
    "settings": SettingsStep,
    "fill": FillStep,
    "precondition": PreconditionStep,
    "measure": MeasureStep,
    "idle": IdleStep,
}
SWEEPS: dict[str, type[Table]] = {"depth": DepthSweep, "threads x depth": GridSweep, "write_percent": WriteSweep}


class PlanTable(Table):
    """The top of a plan; its steps are validated one by one, each by its kind."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: str = ""
    description: str = ""
    interval: Annotated[float, Field(ge=0.001, le=3600)] = 1.0
    histogram_every: Positive = 60.0
    round_every: Positive = 1800.0
    settle: bool | SettleTable = True
    capacity: Annotated[list[Annotated[float, Field(gt=0, le=1)]], Field(min_length=1)] | None = None
    step: Annotated[list[dict[str, Any]], Field(min_length=1)]


Cells = MeasureStep | DepthSweep | GridSweep | WriteSweep
