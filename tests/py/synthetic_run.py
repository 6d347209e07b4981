"""A made-up run with the tables of a run directory, for the tests of charts and report.

Its latencies are drawn one by one, and rows and histograms are both computed from them, so that what a chart shows can
be compared with numpy on the same rows. The levels are those published for a 256 GB drive at 100 % and at 80 % of its
LBAs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sated import _schemas
from sated.results import store
from sated.results.run import Run

SCALE = 64
BURST_IOPS = 31_000.0
WRITE_IOPS = {1.0: 3_871.0, 0.8: 15_908.0, None: 9_000.0}
READ_IOPS = {1.0: 41_826.0, 0.8: 68_903.0, None: 50_000.0}
IDLE_W, PROGRAM_J = 1.6, {1.0: 186e-6, 0.8: 51.5e-6, None: 90e-6}


def bucket_low(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The lowest value of each value's bucket: exact below 2048, then 1024 buckets an octave (sated/histogram.h)."""
    values = np.asarray(values, dtype=np.int64)
    octave = np.floor(np.log2(np.maximum(values, 1))).astype(np.int64)
    octave = np.where((1 << octave) > values, octave - 1, octave)
    shift = np.maximum(octave - 10, 0)
    return (values >> shift) << shift


def nearest_rank(ordered: np.ndarray[Any, Any], q: float) -> float | None:
    """The quantile by nearest rank, or None where n (1 - q) < 1."""
    n = len(ordered)
    if n == 0 or n * (1 - q) < 1 - 1e-9:
        return None
    return float(ordered[min(math.ceil(q * n), n) - 1])


class Writer:
    """Writes a run directory, one step after the other, as the runner does: journal, tables of each step, manifest."""

    def __init__(self, path: Path, *, seed: int = 1, scale: int = SCALE, power: bool = True) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path, self.scale, self.power = path, scale, power
        self.random = np.random.default_rng(seed)
        self.steps: list[dict[str, Any]] = []
        self.entries: list[dict[str, Any]] = []

    def other(
        self, what: str, setting: float | None, *, result: dict[str, Any], event: str = "finished", **cell: Any
    ) -> str:
        """A step without a load; returns its id, as `load` does."""
        return self._step(what, {"kind": what, "setting": setting} | cell, event, result)

    def _step(self, what: str, cell: dict[str, Any], event: str, result: dict[str, Any]) -> str:
        index = len(self.steps) + 1
        step = f"{index:04d}-{what}"
        self.steps.append({"id": step, "index": index, **cell})
        if event != "waiting":
            self.entries.append({"event": "started", "step": step, "index": index})
        if event == "finished":
            self.entries.append({"event": event, "step": step, "result": result})
        elif event == "failed":
            self.entries.append({"event": event, "step": step, **result})
        return step

    def load(
        self,
        name: str,
        *,
        kind: str,
        purpose: str,
        setting: float | None,
        read: float,
        depth: int,
        rates: np.ndarray[Any, Any],
        event: str = "finished",
        result: dict[str, Any] | None = None,
        **cell: Any,
    ) -> str:
        """One load of len(rates) reported seconds; rates are in IOPS."""
        plan = {
            "kind": kind, "setting": setting, "purpose": purpose,
            "workload": {"read": read, "size": "4k", "access": "random", "depth": depth},
            "read": read, "write_percent": round(100 * (1 - read), 6), "size": 4096, "sequential": False,
            "threads": 1, "depth": depth, "interval": 1.0, "histogram_every": 60.0, **cell,
        }  # fmt: skip
        size = plan["size"]
        duration = 1.0 / self.scale
        intervals: list[dict[str, Any]] = []
        histograms: list[dict[str, Any]] = []
        joules = np.full(len(rates), IDLE_W * duration)
        total = dict.fromkeys(("read", "write"), 0)
        everything: list[np.ndarray[Any, Any]] = []
        for op, share in (("read", read), ("write", 1 - read)):
            if share <= 0:
                continue
            counts = self.random.poisson(rates * share * duration)
            values = self._latencies(op, depth / np.maximum(rates, 1.0) * 1e9, counts)
            total[op] = len(values)
            everything.append(values)
            joules += counts * (PROGRAM_J[setting] if op == "write" else 6.3e-6)
            edges = np.concatenate([[0], np.cumsum(counts)])
            for i in range(len(rates)):
                part = np.sort(values[edges[i] : edges[i + 1]])
                n = len(part)
                intervals.append(
                    {
                        "phase": "measured", "member": 0, "op": op, "size": size, "t_s": float(i + 1),
                        "duration_s": duration, "ios": n, "bytes": n * size, "errors": 0,
                        "lat_min_ns": float(part[0]) if n else None, "lat_mean_ns": float(part.mean()) if n else None,
                        "lat_max_ns": float(part[-1]) if n else None, "lat_stddev_ns": float(part.std()) if n else None,
                        "lat_p50_ns": nearest_rank(part, 0.5), "lat_p99_ns": nearest_rank(part, 0.99),
                        "lat_p999_ns": nearest_rank(part, 0.999), "lat_p9999_ns": nearest_rank(part, 0.9999),
                        "queue_mean": depth * share,
                    }
                )  # fmt: skip
            for i in range(0, len(rates), 60):
                end = min(i + 60, len(rates))
                low, count = np.unique(bucket_low(values[edges[i] : edges[end]]), return_counts=True)
                histograms.append(
                    {
                        "phase": "measured", "member": 0, "t_s": float(end), "op": op, "size": size, "kind": "service",
                        "bits": 10, "bucket_low_ns": low.tolist(), "count": count.tolist(),
                    }
                )  # fmt: skip
        intervals.sort(key=lambda row: (row["t_s"], row["op"]))
        histograms.sort(key=lambda row: (row["t_s"], row["op"]))
        joules *= 1 + self.random.normal(0, 0.02, len(joules))
        environment = [
            {
                "phase": "measured", "member": 0, "t_s": float(i + 1), "duration_s": duration,
                "energy_j": float(joules[i]) if self.power else None, "samples": 1,
            }
            for i in range(len(rates))
        ]  # fmt: skip
        latencies = np.concatenate(everything)
        seconds, ios = len(rates) * duration, len(latencies)
        last = slice(-300, None) if purpose == "precondition" else slice(None)
        power_w = float(joules[last].sum()) / (len(joules[last]) * duration) if self.power else None
        last_ios = sum(row["ios"] for row in intervals if row["t_s"] > len(rates) - len(joules[last]))
        figures = {
            "duration_s": seconds, "ios": ios, "bytes": ios * size, "errors": 0, "iops": ios / seconds,
            "iops_read": total["read"] / seconds, "iops_write": total["write"] / seconds,
            "bytes_per_s": ios * size / seconds, "lat_min_ns": float(latencies.min()),
            "lat_mean_ns": float(latencies.mean()), "lat_max_ns": float(latencies.max()),
            "lat_p99_ns": nearest_rank(np.sort(latencies), 0.99), "queue_mean": float(depth), "engine": "sim",
            "power_w": power_w, "iops_per_w": last_ios / float(joules[last].sum()) if self.power else None,
            "write_amplification": {1.0: 9.26, 0.8: 2.25}.get(setting or 0.0) if read < 1 else None,
            "host_bound": False, "note": "", **(result or {}),
        }  # fmt: skip
        step = self._step(name, plan, event, figures)
        writer = store.StepWriter(self.path / "steps" / step, run=self.path.name, step=step)
        for table, rows in (("intervals", intervals), ("environment", environment), ("histograms", histograms)):
            schema = getattr(_schemas, table.upper())
            getattr(writer, table)(pa.RecordBatch.from_pylist(rows, schema=schema))
        if event == "finished":
            writer.finish()
        else:
            writer.abandon()
        return step

    def _latencies(self, op: str, centre: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        spread = 0.28 if op == "write" else 0.18
        around = self.random.normal(-(spread**2) / 2, spread, counts.sum())
        values = np.exp(np.log(np.repeat(centre, counts)) + around).astype(np.int64)
        slow = self.random.random(len(values)) < 4e-4
        values[slow] *= self.random.integers(2, 6, slow.sum())
        return np.maximum(values, 12_000)

    def close(self, *, complete: bool = True, **manifest: Any) -> Run:
        """Writes the manifest and the journal."""
        plan = {"name": "plan", "title": "", "source": "plan.toml", "text": "", **manifest.pop("plan", {})}
        whole = {
            "schema": 1, "run": self.path.name, "begun": "2026-01-01T00:00:00.000Z", "seed": 1, "uri": "sim:x210",
            "versions": {"sated": "0.1.0", "python": "3.11.7", "pyarrow": pa.__version__},
            "host": {"name": "bench", "system": "Linux 6.1.0", "machine": "x86_64", "cpus": 2},
            "plan": {**plan, "checksum": "", "steps": self.steps}, **manifest,
        }  # fmt: skip
        (self.path / "run.json").write_text(json.dumps(whole), encoding="utf-8")
        entries = [{"event": "begun", "schema": 1}, *self.entries, *([{"event": "complete"}] if complete else [])]
        (self.path / "journal.jsonl").write_text("".join(json.dumps(e) + "\n" for e in entries), encoding="utf-8")
        return Run(self.path)


def precondition_rates(setting: float | None, seconds: int) -> np.ndarray[Any, Any]:
    """A burst, a cliff with an undershoot, and the level of steady state, one rate each second."""
    t = np.arange(seconds) / seconds
    steady = WRITE_IOPS[setting]
    burst = 0.01 if setting == 1.0 else 0.04
    fall = steady + (BURST_IOPS - steady) * np.exp(-np.maximum(t - burst, 0) / 0.015)
    dip = 1 - 0.12 * np.exp(-(((t - burst - 0.08) / 0.03) ** 2))
    return np.asarray(np.where(t < burst, BURST_IOPS, fall * dip))


def op_study(
    path: Path,
    *,
    settings: Sequence[float | None] = (1.0, 0.8),
    seconds: int = 18_000,
    rows: int = 300,
    depths: Sequence[int] = (1, 2, 4, 8, 16, 32, 64, 128, 256),
    percents: Sequence[int] = tuple(range(0, 101, 10)),
    seed: int = 1,
    scale: int = SCALE,
    power: bool = True,
    drive: dict[str, Any] | None = None,
    plan: dict[str, Any] | None = None,
    steady: bool = True,
    fail_at: str = "",
) -> Run:
    """A run like the over-provisioning study; with seconds=0 without preconditioning, with depths or percents empty
    without that sweep. The step whose name is `fail_at` fails halfway, and nothing comes after it."""
    w = Writer(path, seed=seed, scale=scale, power=power)
    native = 256_060_514_304 // scale
    over = False

    def event(name: str, setting: float | None) -> str:
        nonlocal over
        if over:
            return "waiting"
        over = bool(fail_at) and name == fail_at and setting == settings[-1]
        return "failed" if over else "finished"

    def load(name: str, rates: np.ndarray[Any, Any], setting: float | None, **about: Any) -> None:
        state = event(name, setting)
        if state == "waiting":
            # Planned, never begun: it has no tables.
            share = about["read"]
            cell = {
                "kind": about["kind"], "purpose": about["purpose"], "workload": {}, "read": share, "size": 4096,
                "write_percent": 100 * (1 - share), "threads": 1, "depth": about["depth"],
            }  # fmt: skip
            w.other(name, setting, result={}, event=state, **cell)
            return
        if state == "failed":
            rates = rates[: len(rates) // 2]
            told = "sim:x210: the drive was removed: plug it in, then run: sated resume"
            about["result"] = {"error": told, "exit_code": 4}
        w.load(name, setting=setting, rates=rates, event=state, **about)

    for setting in settings:
        purged = {"method": "sanitize-block-erase", "seconds": 3.0, "device_says": "done", "verified": True, "log": []}
        w.other("purge", setting, result=purged, event=event("purge", setting), method="auto", optional=False)
        if setting is not None:
            accessible, raw = round(native * setting), 274_877_906_944 // scale
            limits = {
                "native_bytes": native, "accessible_bytes": accessible, "raw_bytes": raw, "purged_beyond": True,
                "lba_removed": 1 - setting, "op_of_user": raw / accessible - 1, "op_of_raw": 1 - accessible / raw,
                "label": "" if setting == 1.0 else f"{100 * setting:g} % of the LBAs",
            }  # fmt: skip
            w.other("capacity", setting, result=limits, event=event("capacity", setting), fraction=setting)
        if seconds:
            text = "steady by range-20: the last 5 of 10 rounds range over 4.1 % of their mean (20 % allowed)"
            if not steady:
                text = "not steady by range-20: the last 5 of 10 rounds range over 31 % of their mean (20 % allowed)"
            verdict = {
                "steady": steady, "rule": "range-20", "text": text, "reason": "" if steady else "range",
                "range": 0.041 if steady else 0.31, "slope": -0.007, "mean": WRITE_IOPS[setting], "window": 5,
                "rounds": [[1800.0 * (i + 1), WRITE_IOPS[setting], 1e9 * (i + 1)] for i in range(10)],
            }  # fmt: skip
            load(
                "precondition", precondition_rates(setting, seconds), setting, kind="precondition",
                purpose="precondition", read=0.0, depth=256, result={"verdict": verdict}, judge="range-20",
                round_every=1800.0,
            )  # fmt: skip
        for read, level in ((0.0, WRITE_IOPS[setting]), (1.0, READ_IOPS[setting])):
            for depth in reversed(depths):
                rate = level * (1 - math.exp(-depth / 14)) / (1 - math.exp(-256 / 14))
                name = f"{'read' if read else 'write'}-qd{depth}"
                load(name, np.full(rows, rate), setting, kind="measure", purpose="depth-sweep", read=read, depth=depth)
        for percent in sorted(percents, reverse=True):
            rate = 1 / (percent / 100 / WRITE_IOPS[setting] + (1 - percent / 100) / READ_IOPS[setting])
            load(
                f"write{percent}-qd256", np.full(rows, rate), setting, kind="measure", purpose="write-percentage",
                read=1 - percent / 100, depth=256,
            )  # fmt: skip
    identity = {
        "protocol": "ata", "vendor": "SanDisk", "model": "X210 256GB", "serial": "SIM-0001", "firmware": "X2180600",
        "capacity_bytes": native, "native_capacity_bytes": native, "raw_bytes": 274_877_906_944 // scale,
        "raw_source": "model x210", "logical_block_bytes": 512, "physical_block_bytes": 4096, "rotation_rpm": 0,
        "transport": "simulated", "link": "SATA 6 Gb/s", "path": "sim:x210,scale=1/64", "features": ["simulated"],
        "scale": scale, "token": "SIM-0001", "note": "", "simulated": True, **(drive or {}),
    }  # fmt: skip
    manifest: dict[str, Any] = {"drive": identity, "uri": identity["path"]}
    if identity["simulated"]:
        manifest["published"] = PUBLISHED
    named = {"name": "op-study", "title": "Over-provisioning study", "source": "op-study.toml", **(plan or {})}
    return w.close(complete=not fail_at, plan=named, **manifest)


def quick(path: Path, *, name: str = "target.img", note: str = "direct I/O is off: tmpfs has none") -> Run:
    """A run like the quick plan on a file: nothing judged, no power, cells of ten seconds of several workloads."""
    w = Writer(path, scale=1, power=False)
    skipped = {"skipped": True, "note": "purge skipped: this file system gives no blocks back"}
    w.other("purge", None, result=skipped, method="auto", optional=True)
    rates = 12_000 + 4_000 * np.exp(-np.arange(60) / 5)
    w.load("precondition", kind="precondition", purpose="precondition", setting=None, read=0.0, depth=32, rates=rates)
    for what, read, depth, rate, sequential, size in (
        ("write-qd32", 0.0, 32, 12_000.0, False, 4096), ("write-qd1", 0.0, 1, 3_000.0, False, 4096),
        ("write30-qd32", 0.7, 32, 15_000.0, False, 4096), ("seq-write-qd8", 0.0, 8, 3_000.0, True, 131072),
        ("read-qd32", 1.0, 32, 60_000.0, False, 4096), ("read-qd1", 1.0, 1, 9_000.0, False, 4096),
        ("seq-read-qd8", 1.0, 8, 9_000.0, True, 131072),
    ):  # fmt: skip
        w.load(
            what, kind="measure", purpose="measure", setting=None, read=read, depth=depth, rates=np.full(10, rate),
            sequential=sequential, size=size, result={"engine": "io_uring", "note": note},
        )  # fmt: skip
    identity = {
        "protocol": None, "vendor": "", "model": name, "serial": "", "firmware": "", "capacity_bytes": 1 << 30,
        "native_capacity_bytes": 1 << 30, "raw_bytes": None, "raw_source": None, "logical_block_bytes": 512,
        "physical_block_bytes": 4096, "rotation_rpm": None, "transport": "file", "link": "", "path": f"/tmp/{name}",
        "features": ["file"], "scale": 1, "token": f"/tmp/{name}", "note": "", "simulated": False,
    }  # fmt: skip
    plan = {"name": "quick", "title": "Quick look", "source": "quick.toml"}
    return w.close(plan=plan, drive=identity, uri=f"/tmp/{name}")


# As in the model file of the drive; the figures are those of the review.
_SOURCE = {"source": "SanDisk X210 review, TweakTown"}
PUBLISHED = {
    "write_4k_iops": {"unit": "IOPS", "lba_100": 3871.0, "lba_80": 15908.0, "tolerance": 0.10, **_SOURCE},
    "read_4k_iops": {"unit": "IOPS", "lba_100": 41826.0, "lba_80": 68903.0, "tolerance": 0.05, **_SOURCE},
    "write_4k_power_w": {"unit": "W", "lba_100": 2.32, "lba_80": 2.42, "tolerance_abs": 0.15, **_SOURCE},
    "write_4k_iops_per_w": {"unit": "IOPS/W", "lba_100": 1673.0, "lba_80": 6302.0, "tolerance": 0.10, **_SOURCE},
}
