"""What a report says in words and tables, taken from a run; the template only lays it out."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from sated import _text

if TYPE_CHECKING:
    from sated.charts.marks import Figure
    from sated.results.run import Run, Step

_RULES = {
    "pts": "five rounds: the range at most 20 % of their mean, and the slope over them at most 10 % (as in SNIA's PTS)",
    "range-20": "five rounds: the range at most 20 % of their mean",
}
_PURPOSES = {
    "precondition": "Preconditioning",
    "depth-sweep": "Sweep of outstanding I/Os",
    "write-percentage": "Sweep of the share of writes",
    "grid": "Threads × depth",
    "measure": "Single loads",
    "fill": "Fill",
}


def of(run: Run, figures: Mapping[str, Figure], missing: Mapping[str, str]) -> dict[str, Any]:
    """All that the template shows beside the charts."""
    summary = run.summary()
    steps = run.steps
    drive = summary["drive"]
    verdicts = _verdicts(steps)
    published = [_published(row) for row in summary.get("published", ())]
    sources = list(dict.fromkeys(row["source"] for row in published))
    published = [{**row, "source": sources.index(row["source"]) + 1} for row in published]
    return {
        "title": f"{_name(drive)}: {run.manifest['plan'].get('title') or summary['plan']}",
        "drive_name": _name(drive),
        "plan_title": run.manifest["plan"].get("title") or summary["plan"],
        "simulated": bool(drive.get("simulated")),
        "scale": int(drive.get("scale") or 1),
        "begun": _utc(run.manifest.get("begun")),
        "ended": _utc(run.manifest.get("ended")),
        "headline": _headline(summary, verdicts),
        "state": _state(summary, verdicts),
        "judged": summary["judged"],
        "verdicts": verdicts,
        "rules": [(rule, _RULES[rule]) for rule in dict.fromkeys(v["rule"] for v in verdicts) if rule in _RULES],
        "unfinished": _unfinished(run, steps),
        "published": published,
        "sources": sources,
        "within": sum(row["within"] for row in published),
        "missing": [(name, reason) for name, reason in missing.items()],
        "cell_groups": _cell_groups(summary["cells"], steps),
        "steps": [_step(step) for step in steps],
        "environment": _environment(run, drive),
        "provisioning": _provisioning(drive, steps),
        "notes": _notes(drive, steps),
        "commands": _commands(run, drive),
    }


def _name(drive: Mapping[str, Any]) -> str:
    vendor, model = str(drive.get("vendor") or ""), str(drive.get("model") or "")
    if "file" in (drive.get("features") or ()) and drive.get("path"):
        return PurePath(str(drive["path"])).name + (f" (a file on {model})" if model else "")
    return (model if model.startswith(vendor) else f"{vendor} {model}").strip() or str(drive.get("path"))


def _utc(text: str | None) -> str:
    """ "2026-01-31T10:20:30.123Z" as "2026-01-31 10:20 UTC"."""
    return "" if not text else f"{text[:10]} {text[11:16]} UTC"


def _verdicts(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """One entry for each step that the plan wants judged, ended or not."""
    found = []
    for step in steps:
        rule = step.cell.get("judge")
        if rule is None and step.verdict is None:
            continue
        verdict = (step.verdict or {}) if step.state == "finished" else {}
        steady = verdict.get("steady")
        mean, window = verdict.get("mean"), verdict.get("window")
        known = bool(verdict) and bool(window)
        found.append(
            {
                "step": step.id,
                "setting": _text.setting(step.cell.get("setting")),
                "state": {True: "steady", False: "not-steady", None: "open"}[steady],
                "word": {True: "steady", False: "not steady", None: "no verdict"}[steady],
                "rule": rule or verdict.get("rule"),
                "text": verdict.get("text") or _why_open(step),
                "rounds": len(verdict.get("rounds") or ()) if verdict else None,
                "window": window if known else None,
                "mean": _text.number(mean) if known else "–",
                "range": _text.percent(verdict.get("range")) if known else "–",
                "slope": _text.percent(verdict.get("slope"), sign=True) if known else "–",
            }
        )
    return found


def _why_open(step: Step) -> str:
    if step.state == "failed":
        return "the step failed before it could be judged"
    if step.state == "partial":
        return "the step was cut short before it could be judged"
    return "the step has not been run"


def _state(summary: Mapping[str, Any], verdicts: list[dict[str, Any]]) -> str:
    if not verdicts:
        return "open"
    return {True: "steady", False: "not-steady", None: "open"}[summary["steady"]]


def _headline(summary: Mapping[str, Any], verdicts: list[dict[str, Any]]) -> str:
    if not verdicts:
        return "Not judged"
    of_them = {word: [v["setting"] for v in verdicts if v["word"] == word] for word in ("steady", "not steady")}
    if summary["steady"]:
        return "Steady"
    if summary["steady"] is False:
        steady = of_them["steady"]
        return "Not steady" if not steady else f"Not steady at {_text.listed(of_them['not steady'])}"
    steady = of_them["steady"]
    return f"Steady at {_text.listed(steady)}; no verdict on the rest" if steady else "No verdict yet"


def _unfinished(run: Run, steps: list[Step]) -> dict[str, Any] | None:
    """What is missing of a run that has not come to its end."""
    if run.finished:
        return None
    return {
        "finished": sum(step.state == "finished" for step in steps),
        "count": len(steps),
        "failed": [(step.id, str(step.result.get("error") or "")) for step in steps if step.state == "failed"],
        "partial": [step.id for step in steps if step.state == "partial"],
        "command": f"sated resume {shlex.quote(str(run.path))}",
    }


def _published(row: Mapping[str, Any]) -> dict[str, Any]:
    if row.get("tolerance_absolute"):
        tolerance = f"± {row['tolerance']:g} {row['unit']}"
    else:
        tolerance = f"± {100 * row['tolerance']:g} %"
    return {
        "quantity": _text.QUANTITIES.get(row["quantity"], row["quantity"]),
        "setting": _text.setting(row["setting"]),
        "unit": row["unit"],
        "published": _text.number(row["published"]),
        "measured": _text.number(row["measured"]),
        "difference": _text.percent(row["difference"], sign=True),
        "tolerance": tolerance,
        "within": bool(row["within"]),
        "source": row["source"],
    }


def _cell_groups(cells: Iterable[Mapping[str, Any]], steps: Iterable[Step]) -> list[dict[str, Any]]:
    """The cells by purpose and setting, in the order in which they ran."""
    by_id = {step.id: step for step in steps}
    groups: dict[tuple[str, float | None], list[dict[str, Any]]] = {}
    for cell in cells:
        step = by_id.get(cell["step"])
        ios = step.result.get("ios") if step is not None else None
        of = f" of {ios:,}" if ios else ""
        about = step.cell if step is not None else {}
        row = {
            "step": cell["step"],
            "workload": _text.workload(
                cell["size"],
                sequential=bool(about.get("sequential")),
                read=cell["read"],
                trim=about.get("trim", 0.0),
                write_zeroes=about.get("write_zeroes", 0.0),
                flush=about.get("flush", 0.0),
            ),
            "outstanding": f"{cell['threads']} × {cell['depth']}",
            "iops": _text.number(cell["iops"]),
            "iops_read": _text.number(cell["iops_read"]),
            "iops_write": _text.number(cell["iops_write"]),
            "mb_per_s": _text.number(None if cell["bytes_per_s"] is None else cell["bytes_per_s"] / 1e6),
            "mean": _text.latency(cell["lat_mean_ns"]),
            "p99": _text.latency(cell["lat_p99_ns"]),
            "max": f"{_text.latency(cell['lat_max_ns'])}{of}",
            "queue": _text.number(cell["queue_mean"]),
            "power": _text.number(cell["power_w"]),
            "iops_per_w": _text.number(cell["iops_per_w"]),
            "write_amplification": _text.number(cell["write_amplification"]),
            "note": cell["note"],
        }
        group = groups.setdefault((cell["purpose"], cell["setting"]), [])
        last = step.result.get("last_300_s") if step is not None else None
        if last is None or math.isclose(last["iops"] or 0.0, cell["iops"] or 0.0, rel_tol=1e-6):
            group.append(row)
            continue
        # Of preconditioning, power is that of the end only: it stands with the other figures of the same seconds.
        names = ("iops", "power", "iops_per_w", "write_amplification")
        ends = {name: _text.number(last[name if name != "power" else "power_w"]) for name in names}
        nothing = dict.fromkeys(row, "")
        group.append({**row, "power": "", "iops_per_w": ""})
        group.append({**nothing, "step": row["step"], "workload": "its last 300 s", **ends})
    named = []
    for (purpose, setting), rows in groups.items():
        notes = {row["note"] for row in rows if row["outstanding"]}
        # What was noted of all of them stands once, above them.
        shared = notes.pop() if len(notes) == 1 else ""
        name = f"{_PURPOSES.get(purpose, purpose)}, {_text.setting(setting)}"
        own = [{**row, "note": ""} for row in rows] if shared else rows
        named.append({"name": name, "note": shared, "rows": own})
    return named


def _step(step: Step) -> dict[str, str]:
    note = step.result.get("error") or step.result.get("note") or step.result.get("label") or ""
    if step.kind == "purge" and step.result.get("method"):
        verified = step.result.get("verified")
        checked = "" if verified is None else ", verified" if verified else ", NOT verified"
        note = f"{step.result['method']}: {step.result.get('device_says') or 'done'}{checked}"
    return {"id": step.id, "kind": step.kind, "state": step.state, "note": str(note)}


def _environment(run: Run, drive: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Groups of names and values, without what is not known."""
    manifest = run.manifest
    scale = int(drive.get("scale") or 1)

    def bytes_of(key: str, scale: int = scale) -> str:
        value = drive.get(key)
        if not value:
            return ""
        exact = _text.exact(value)
        return f"{exact}; stands for {_text.capacity(value * scale)}" if scale > 1 else exact

    rotation = drive.get("rotation_rpm")
    identity = [
        ("vendor", drive.get("vendor")),
        ("model", drive.get("model")),
        ("serial", drive.get("serial")),
        ("firmware", drive.get("firmware")),
        ("protocol", drive.get("protocol")),
        ("transport", drive.get("transport")),
        ("link", drive.get("link")),
        ("path", drive.get("path")),
        ("capacity", bytes_of("capacity_bytes")),
        ("native capacity", bytes_of("native_capacity_bytes")),
        ("raw capacity", f"{bytes_of('raw_bytes')}, from {drive.get('raw_source')}" if drive.get("raw_bytes") else ""),
        *((f"{kind} block", bytes_of(f"{kind}_block_bytes", 1)) for kind in ("logical", "physical")),
        ("rotation", "none (solid state)" if rotation == 0 else f"{rotation} rpm" if rotation else ""),
        ("commands at a time", drive.get("queue_depth")),
        ("features", ", ".join(drive.get("features") or ())),
        ("simulated scale", f"1/{scale} of the blocks of every die" if scale > 1 else ""),
    ]
    plan = manifest["plan"]
    about = [
        ("run", manifest.get("run")),
        ("begun", _utc(manifest.get("begun"))),
        ("ended", _utc(manifest.get("ended"))),
        ("plan", f"{plan.get('title') or plan['name']} ({plan.get('source') or plan['name']})"),
        ("plan checksum", plan.get("checksum")),
        ("seed", manifest.get("seed")),
        ("operator", manifest.get("operator")),
        ("URI", manifest.get("uri")),
    ]
    groups: list[tuple[str, list[tuple[str, Any]]]] = [
        ("Drive", identity),
        ("Run", about),
        ("Versions", list((manifest.get("versions") or {}).items())),
        ("Host", list((manifest.get("host") or {}).items())),
        ("Settings", [(_words(key), _plain(value)) for key, value in (manifest.get("settings") or {}).items()]),
    ]
    known = [(name, [(key, str(value)) for key, value in rows if value not in (None, "")]) for name, rows in groups]
    return [(name, rows) for name, rows in known if rows]


def _words(key: str) -> str:
    return key.replace("_", " ")


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(str(key))}: {_plain(part)}" for key, part in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _provisioning(drive: Mapping[str, Any], steps: Iterable[Step]) -> list[dict[str, str]]:
    """Over-provisioning in its three definitions for each setting, as far as they are known."""
    rows = []
    for step in steps:
        result = step.result
        if step.kind != "capacity" or "accessible_bytes" not in result:
            continue
        rows.append(
            {
                "setting": _text.setting(step.cell.get("setting")),
                "accessible": _text.capacity(result["accessible_bytes"]),
                "of_user": _text.percent(result.get("op_of_user")),
                "of_raw": _text.percent(result.get("op_of_raw")),
                "removed": _text.percent(result.get("lba_removed")),
                "label": str(result.get("label") or "all LBAs"),
            }
        )
    raw, user, native = (drive.get(f"{name}_bytes") for name in ("raw", "capacity", "native_capacity"))
    if not rows and raw and user:
        rows.append(
            {
                "setting": "as found",
                "accessible": _text.capacity(user),
                "of_user": _text.percent((raw - user) / user),
                "of_raw": _text.percent((raw - user) / raw),
                "removed": _text.percent(1 - user / native if native else None),
                "label": "no limit set by this run",
            }
        )
    return rows


def _notes(drive: Mapping[str, Any], steps: Iterable[Step]) -> list[tuple[str, str]]:
    """Everything that was noted, each text once, with the steps it belongs to."""
    texts: dict[str, list[str]] = {}
    if drive.get("note"):
        texts[str(drive["note"])] = ["drive"]
    for step in steps:
        for text in (step.result.get("note"), step.range_only):
            if text:
                texts.setdefault(str(text), []).append(step.id)
    engines = dict.fromkeys(str(step.result["engine"]) for step in steps if step.result.get("engine"))
    if engines:
        texts[f"I/O engine: {_text.listed(engines)}"] = ["all loads"]
    return [
        (text, _text.listed(where) if len(where) <= 4 else f"{where[0]} and {len(where) - 1} more")
        for text, where in texts.items()
    ]


def _commands(run: Run, drive: Mapping[str, Any]) -> list[str]:
    plan, manifest = run.manifest["plan"], run.manifest
    source = str(plan.get("source") or plan["name"])
    name = plan["name"] if source == f"{plan['name']}.toml" else source
    parts = ["sated", "review", str(manifest.get("uri") or drive.get("path")), "--plan", str(name)]
    parts += ["--seed", str(manifest.get("seed", 0)), "--out", f"runs/{run.name}-again"]
    command = shlex.join(parts)
    return [command if drive.get("simulated") else f"{command} --confirm TOKEN"]
