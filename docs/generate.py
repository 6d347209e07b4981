"""Writes docs/reference/ from what the software itself says: headers, command line, plan tables, schemas.

`make docs` runs it; a test fails when what is committed differs from what it would write.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

ROOT = Path(__file__).resolve().parents[1]
HEADERS = ROOT / "include" / "sated"
NOTE = "<!-- Written by docs/generate.py (`make docs`); change what it reads, not this file. -->\n\n"


def c_api() -> str:
    """Each header's fenced region: comments as text, declarations as code."""
    umbrella = (HEADERS / "sated.h").read_text()
    names = re.findall(r"#include <sated/(\w+)\.h>", umbrella)
    parts = [
        "# C API\n\n" + NOTE,
        "`#include <sated/sated.h>`; compile and link with `pkg-config --cflags --libs sated`. Calls return 0 or a "
        "positive number on success and a negative code on failure; `sated_detail_get` then has the sentence.\n",
    ]
    for name in names:
        text = (HEADERS / f"{name}.h").read_text()
        fence = text.partition("/* cdef: begin */")[2].partition("/* cdef: end */")[0]
        parts.append(f"\n## {name}.h\n")
        parts.extend(_declarations(fence.strip("\n")))
    return "".join(parts)


def _declarations(fence: str) -> Iterator[str]:
    """Blocks between blank lines: a leading comment becomes prose, the rest code."""
    for block in re.split(r"\n\s*\n", fence):
        match = re.match(r"/\*(.*?)\*/\s*", block, re.DOTALL)
        prose, code = "", block
        if match:
            prose = " ".join(line.strip().lstrip("*").strip() for line in match[1].splitlines())
            code = block[match.end() :]
        if prose:
            prose = re.sub(r"@param (\w+)", r"`\1`", prose.strip())
            yield f"\n{prose}\n"
        if code.strip():
            yield f"\n```c\n{code.strip()}\n```\n"


def command_line() -> str:
    """The help of every command."""
    import os

    os.environ.update(COLUMNS="100", NO_COLOR="1")
    from sated.cli import app

    parts = ["# Command line\n\n" + NOTE]
    parts.append(
        "Results go to standard output, what is going on and one sentence per error to standard error. "
        "`SATED_LOG=debug` shows where an error came from.\n"
    )
    for words in _commands():
        parts.append(f"\n## sated {' '.join(words)}".rstrip() + f"\n\n```\n{_help(app, words)}\n```\n")
    return "".join(parts)


def _commands() -> list[tuple[str, ...]]:
    names = ("list", "info", "health", "purge", "capacity", "settings", "load", "review", "resume", "report", "doctor")
    plain = (*names, "sim")
    return [
        (),
        *[(name,) for name in plain],
        *[
            ("sim", name)
            for name in ("models", "show", "validate", "create", "counters", "exec", "fail", "heal", "power")
        ],
    ]


def _help(app: Any, words: tuple[str, ...]) -> str:
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        app(args=[*words, "--help"], prog_name="sated", standalone_mode=False)
    return "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())


MEANING = {
    "name": "what the plan is called: small letters, digits and hyphens",
    "title": "for the report",
    "description": "for the report",
    "interval": "reported seconds of a row",
    "histogram_every": "reported seconds of a histogram",
    "round_every": "reported seconds between rounds, a multiple of 60",
    "settle": "whether cells begin with a settle phase, or how",
    "capacity": "shares of the LBAs; all steps run once for each",
    "step": "the steps, in their order",
    "method": "how to purge",
    "capacity.method": "by what the LBAs are limited; `lba` leaves the drive as it is, others destroy data",
    "write_cache": "the volatile write cache; set back at the end of the run, as all of these",
    "look_ahead": "read look-ahead (ATA, SCSI)",
    "apm": "ATA power management: 1, the least power, to 254; 0 is off",
    "power_state": "NVMe power state",
    "apst": "NVMe: to states of lower power by itself",
    "optional": "go on with a note where it cannot be done",
    "fraction": "share of the LBAs; by default that of the setting",
    "times": "end after so many times the accessible capacity",
    "size": "I/O size",
    "sizes": "I/O sizes with their shares",
    "threads": "threads",
    "depth": "outstanding I/Os of each thread",
    "op": "read, write, trim, write_zeroes, flush; `rand` in front for random",
    "read": "share of reads",
    "write": "share of writes",
    "trim": "share of trims",
    "write_zeroes": "share of write-zeroes",
    "flush": "share of flushes",
    "access": "random, sequential, zipf, pareto, normal, zones or permutation",
    "streams": "sequential streams of each thread",
    "theta": "exponent of zipf, 1.1 by default",
    "h": "pareto: 1 - h of the I/Os go to h of the range; 0.2 by default",
    "stddev": "of normal, a share of the range; 0.1 by default",
    "zones": "shares of the I/Os to parts of the range, such as `50:5,30:15,20:80`",
    "read_zones": "those of reads",
    "write_zones": "those of all that is no read",
    "active": "use only so much of the range, such as `16GiB` or `10%`",
    "segments": "spread it over the range in so many parts",
    "compress": "share of random data that is zeros",
    "dedupe": "share of the writes with contents that was written before",
    "offset": "where the range begins",
    "length": "its length",
    "data": "random or zeros",
    "rate": "I/Os per second; 5000, or read:5000,write:200",
    "arrival": "how they follow each other: fixed or poisson",
    "think": "seconds between an I/O of a slot and its next, or 250us",
    "seconds": "end after so many reported seconds",
    "bytes": "end after so many bytes",
    "until": "end when steady by this rule, or after 25 rounds; asks for a verdict",
    "judge": "ask for a verdict by this rule, without ending the load",
    "outstanding": "threads x depth of each cell",
    "write_percent": "share of writes of each cell",
    "within": "until a minute is so near to the one before",
    "at_most": "reported seconds at most, in whole minutes",
}


def plan_keys() -> str:
    """The tables of a plan file."""
    from sated.methods import _tables, plan

    parts = [
        "# Plan files\n\n" + NOTE,
        "A plan is a TOML file: keys at the top, then one `[[step]]` after the other. An unknown key, a wrong type or "
        "a combination without meaning is refused with file and line. Built-in plans: "
        + ", ".join(f"`{name}`" for name in plan.names())
        + ".\n\nSteps run in their order, but for the cells (`measure`, `sweep`): those between two other "
        "steps are run together, first the ones that write, then those that only read; random before sequential; many "
        "outstanding I/Os before few. Each so disturbs the next one least. A step of another kind parts two groups. "
        "Sizes and ranges are checked against the drive before the first step.\n",
        _keys("At the top", _tables.PlanTable, ""),
    ]
    parts.extend(_keys(f'kind = "{kind}"', model, kind) for kind, model in _tables.KINDS.items())
    parts.extend(_keys(f'kind = "sweep", over = "{over}"', model, "sweep") for over, model in _tables.SWEEPS.items())
    parts.append(_keys("settle = { ... }", _tables.SettleTable, ""))
    for name in plan.names():
        text = (ROOT / "python/sated/methods/plans" / f"{name}.toml").read_text().strip()
        parts.append(f"\n## The plan `{name}`\n\n```toml\n{text}\n```\n")
    return "".join(parts)


def _keys(title: str, model: Any, kind: str) -> str:
    lines = [f"\n## {title}\n"]
    documentation = (model.__doc__ or "").strip()
    if documentation and not documentation.startswith("Usage"):
        lines.append(f"\n{documentation}\n")
    lines.append("\n| key | value | default | what it does |\n|---|---|---|---|\n")
    for name, field in model.model_fields.items():
        if name in ("kind", "over"):
            continue
        default = "required" if field.is_required() else _shown(field.default)
        meaning = "reported seconds of idling" if kind == "idle" else MEANING.get(f"{kind}.{name}", MEANING[name])
        lines.append(f"| `{name}` | {_type(field.annotation)} | {default} | {meaning} |\n")
    return "".join(lines)


def _type(annotation: Any) -> str:
    simple = {int: "whole number", float: "number", str: "text", bool: "true or false", type(None): ""}
    if annotation in simple:
        return simple[annotation]
    if str(annotation).startswith("typing.Literal"):
        return " or ".join(f"`{value!r}`".replace("'", '"') for value in get_args(annotation))
    name = getattr(annotation, "__name__", "")
    if name == "list":
        return f"list of {_type(get_args(annotation)[0])}s"
    if name == "dict":
        return "table"
    if name == "SettleTable":
        return "table (below)"
    if str(annotation).startswith("typing.Annotated"):
        return _type(get_args(annotation)[0])
    parts = [_type(each) for each in get_args(annotation)]
    return " or ".join(dict.fromkeys(part for part in parts if part)) or name


def _shown(value: Any) -> str:
    if value is None or value == "":
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


RUN_FILES = """\
```
runs/NAME/
  run.json                schema, plan with its steps, seed, URI, drive before and after, settings, host, versions
  journal.jsonl           one line per event, synced: begun, started, finished, failed, interrupted, resumed, complete
  drive.sim, drive.sim.1  the last two states of a simulated drive, each named by its checksum in the journal
  steps/ID/live.arrows    the rows of a step while it runs: an Arrow stream, of which a torn last batch is left out
  steps/ID/*.parquet      its tables, written beside and renamed when it has ended
  steps/ID/events.jsonl   what was noted of it: verdict, settling, notes
  tables/*.parquet        at the end of the run, the rows of all steps in one file per table
  report.html
```

`settings` in run.json holds what the run has changed about the drive, as it was, as it was set, and as it was restored
at the end; without `restored` the run has not come that far, and the drive is as it was set. `capacity_before` holds
what each method of limiting it found, in the order in which the plan used them.

`t_s` is reported time: seconds since the load began, at which the row's interval ends. All else is what was really
done: `duration_s` is the drive's own time, and `ios / duration_s` the rate at any scale. `phase` is `ramp`, `settle`,
`measured` or `after_stop`; results count `measured` only. A value that is not known is null; so is a percentile with
fewer than one I/O beyond it.
"""


def run_directory() -> str:
    """Files of a run, and the columns of its tables."""
    from sated.results import store

    parts = ["# Run directory\n\n" + NOTE, RUN_FILES]
    for name in store.NAMES:
        parts.append(f"\n## Table `{name}`\n\n| column | type |\n|---|---|\n")
        parts.extend(f"| `{field.name}` | {field.type} |\n" for field in store.schema(name))
    return "".join(parts)


def exit_codes() -> str:
    from sated.cli._common import EXIT_CODES

    rows = "".join(f"| {code} | {meaning} |\n" for code, meaning in EXIT_CODES.items())
    return (
        f"# Exit codes\n\n{NOTE}| code | meaning |\n|---|---|\n{rows}\n"
        "Errors are one sentence on standard error. In Python every error is a `sated.SatedError`; its `exit_code` is "
        "the code above. In C, `sated_error_exit_code(code, layer)` gives it.\n"
    )


REPLAY = """\
A replay file is a drive that consists of recorded answers: `replay:FILE` opens it wherever a drive is expected. It
takes single commands and no load, needs no token, and its clock goes on by what was recorded, so that idling takes no
time. `sated doctor --record FILE DEVICE...` makes one from a real drive by asking it what it is and how it is, with
commands of the [read-only table](read-only-commands.md) only; `Drive.record` makes one of any commands. Serial
numbers and world-wide names are replaced, wherever they stand in the answers, and the checksum of IDENTIFY DEVICE is
made right again; look at a file all the same before you give it away.

It is one JSON object (RFC 8259). Unknown names are refused, and so is a schema newer than the program's.

```json
{
  "sated_replay": 1,
  "protocol": "ata",
  "identity": {"model": "Model X", "serial": "SATED0000000001", "capacity_bytes": 256060514304},
  "exchanges": [
    {"command": "scsi", "cdb": "12 01 b1 00 xx 00", "data": "00 b1 00 3c 00 01", "data_len": 64},
    {"command": "scsi", "cdb": "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00", "status": 2,
     "sense": ["72 01 00 1d 00 00 00 0e", "09 0c 00 00 00 ff 00 00 00 00 00 00 00 50"]}
  ]
}
```

Bytes are pairs of hexadecimal digits with or without blanks between the bytes, in one text or a list of texts. Numbers
are whole, in decimal or as a text such as `"0x4002"`.

A command that no exchange answers ends with `StateError`, which shows what was expected (the nearest exchange, with its
line in the file) and what came.
"""

REPLAY_TABLES = {
    "At the top": {
        "`sated_replay`": "the schema, 1",
        "`exchanges`": "a list of commands with their answers",
        "`order`": '`"match"` (the default): a command is answered by the first exchange that fits and has not been '
        "used; when all that fit were used, the last of them goes on answering. "
        '`"strict"`: the exchanges come in this order and no other',
        "`protocol`": '`"scsi"`, `"ata"` or `"nvme"`; without it, what the answers say',
        "`identity`": "what goes before what the answers say: `vendor`, `model`, `serial`, `firmware`, `transport`, "
        "`link`, `note`, `capacity_bytes`, `native_capacity_bytes`, `logical_block_bytes`, `physical_block_bytes`, "
        "`rotation_rpm`",
        "`note`": "a text for people",
        "`node`, `root`": "the drive's name in sysfs, and a folder (relative to the file) with `/sys`, `/proc` and, as "
        "far as needed, `/dev` of the machine: the guard judges the drive in that machine as it would in this one, and "
        "what it refuses is not sent",
    },
    "An exchange: the command": {
        "`command`": '`"scsi"` (ATA commands are recorded in their ATA PASS-THROUGH CDB), `"nvme-admin"` or '
        '`"nvme-io"`',
        "`cdb`": "SCSI: the bytes of the command; a byte `xx` may be any",
        "`opcode`, `flags`, `nsid`, `cdw2`, `cdw3`, `cdw10` to `cdw15`": "NVMe: the fields of the command, 0 where "
        'they are missing; of all but the first two, `"any"` may be anything',
        "`data_out`": "the bytes that go to the drive; without it nothing is compared",
        "`note`": "a text for people",
    },
    "An exchange: the answer": {
        "`data`": "the bytes that came",
        "`data_len`": "how many came, where there are more than in `data`: the rest is zeros",
        "`residual`": "what is told of the bytes that did not come, right or wrong; else what is right",
        "`status`": "SCSI status, 0 if missing",
        "`sense`": "sense data",
        "`host_status`, `driver_status`": "of host adapter and driver, as the kernel has them; a driver status that is "
        "missing is 8 with sense data, else 0",
        "`nvme_status`": "15 bits: DNR 4000h, More 2000h, type 700h, code FFh",
        "`result`": "dwords 0 and 1 of the completion",
        "`errno`": "what the kernel refused the command with; then there is no answer",
        "`failure`": 'what it failed with where that has no errno, such as `"STALLED"`; then there is no answer either',
        "`duration_ns`": "how long it took, by which the drive's clock goes on",
    },
}


def replay_files() -> str:
    """The schema of replay files."""
    parts = [f"# Replay files\n\n{NOTE}{REPLAY}"]
    for title, rows in REPLAY_TABLES.items():
        parts.append(f"\n## {title}\n\n| name | value |\n|---|---|\n")
        parts.extend(f"| {name} | {value} |\n" for name, value in rows.items())
    return "".join(parts)


READ_ONLY = """\
Commands that change neither a drive's data nor its settings, logs or sessions. They are sent to any drive without
consent; all others go to replayed drives and simulated transports only. `sated.read_only()` and
`sated_read_only_list()` give this table, and `sated_scsi_check_read_only()` and its kin ask it about a command.

A command is read-only if one row has its opcode and all fields of that row hold; an empty cell asks for nothing. `&`
masks bits. A command that sends data to the drive never is. ATA PASS-THROUGH (85h, A1h, and 7Fh with 1FF0h) is taken as
the ATA command within it, whose protocol must be its own and not send data either. CONTROL (NACA, and the vendor's
bits) of a CDB must be 0, and so must FLAGS (fused, SGL) of an NVMe command.
"""


def read_only_commands() -> str:
    """The table of read-only commands, by command set."""
    from sated._commands import read_only

    parts = [f"# Read-only commands\n\n{NOTE}{READ_ONLY}"]
    for name in dict.fromkeys(row.set for row in read_only()):
        parts.append(f"\n## {name}\n\n| opcode | command | fields |\n|---|---|---|\n")
        parts.extend(f"| `{row.opcode:02X}h` | {row.name} | {row.fields} |\n" for row in read_only() if row.set == name)
    return "".join(parts)


PAGES = {
    "c-api.md": c_api,
    "command-line.md": command_line,
    "plan-file.md": plan_keys,
    "run-directory.md": run_directory,
    "exit-codes.md": exit_codes,
    "replay.md": replay_files,
    "read-only-commands.md": read_only_commands,
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (folder / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "reference")
