"""Runs a plan over a drive, so that a run that was cut short at any moment can go on.

The unit of going on is the step. At its end the state of a simulated drive is saved first, then the journal line that
names its checksum is written; the state before that is kept too. So whatever moment a process dies in, the state that
the last whole line names is there, and what comes after it is done again from the same state with the same seed.
"""

from __future__ import annotations

import contextlib
import getpass
import logging
import math
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import sated
from sated import errors
from sated._drive import Drive, Identity
from sated._power_control import PowerControl
from sated.methods import steps as doing
from sated.methods._tables import SETTINGS
from sated.methods.plan import Plan, checksum, load
from sated.results import _files, store
from sated.results.journal import Journal, finished, last_state, utc_now
from sated.results.run import MANIFEST, SCHEMA, Run, read_manifest

_log = logging.getLogger("sated")

STATE = "drive.sim"
STATE_BEFORE = "drive.sim.1"
_STATE_NEW = "drive.sim.new"
_TELL_S = 0.1
_FILL_BYTES_PER_S = 400e6
_SETTLE_S = 180.0
# What a run directory may hold before its manifest is written.
_OURS = {"lock", f"{MANIFEST}.new"}


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run is: step `index` of `count`, `t_s` of `of_s` reported seconds of it, the rates of the last
    interval, and the seconds of our own time until the end (None = not known yet). `note` says something once, as on
    resuming."""

    index: int
    count: int
    step: str
    phase: str
    t_s: float
    of_s: float | None
    iops: float | None
    lat_p99_ns: float | None
    write_amplification: float | None
    watts: float | None
    eta_s: float | None
    note: str = ""


Callback = Callable[[Progress], None]


def review(
    drive: Drive | str,
    *,
    plan: str | os.PathLike[str] | Mapping[str, Any] | Plan,
    out: str | os.PathLike[str],
    confirm: str | None = None,
    seed: int = 0,
    power: PowerControl | None = None,
    wipe_signatures: bool = False,
    progress: Callback | None = None,
) -> Run:
    """Runs a whole plan over a drive; goes on where `out` holds an unfinished run of the same plan, seed and drive.

    `drive`: open, or the URI of one that is opened for the run. `plan`: the name of a built-in plan, a TOML file or a
    dict. `confirm`: the drive's token, as a person typed it; it serves the whole plan. `power`: how the drive is
    switched off and on where a step takes that; a simulated one needs none. `wipe_signatures`: clears old file systems
    and partition tables first, where nothing uses them. `progress`: called some eight times a second.

    Raises ParseError for a plan that has no meaning or does not fit the drive and where `out` holds a finished or
    another run, UnsafeError without consent, FileOSError where results cannot be written (what is finished is kept),
    and what the drive raises.
    """
    chosen = load(plan)
    path = Path(out)
    if path.exists() and not path.is_dir():
        raise errors.ParseError(f"{path} is not a directory: name a new one for the run")
    with _reported(path), _opened(drive) as opened:
        _consent(chosen.steps, opened, confirm, wipe_signatures)
        path.mkdir(parents=True, exist_ok=True)
        _check_empty(path)
        with _files.Lock(path):
            if (path / MANIFEST).exists():
                manifest = read_manifest(path)
                _check_same(path, manifest, chosen, seed, opened)
            else:
                doing.check(opened, chosen.steps)
                manifest = _new_manifest(path, chosen, seed, opened)
                (path / "steps").mkdir(exist_ok=True)
                _files.write_json(path / MANIFEST, manifest)
            return _Runner(path, manifest, opened, confirm, power, progress).run()


def resume(
    out: str | os.PathLike[str],
    *,
    confirm: str | None = None,
    power: PowerControl | None = None,
    progress: Callback | None = None,
) -> Run:
    """Goes on with the unfinished run in a directory, opening the drive that run.json names.

    Raises ParseError for a finished run or another drive, and what `review` raises.
    """
    path = Path(out)
    read_manifest(path)
    with _reported(path), _files.Lock(path):
        manifest = read_manifest(path)
        with _opened(manifest["uri"]) as opened:
            _check_drive(path, manifest, opened)
            _consent(manifest["plan"]["steps"], opened, confirm)
            return _Runner(path, manifest, opened, confirm, power, progress).run()


@contextlib.contextmanager
def _reported(path: Path) -> Iterator[None]:
    """An OSError that is not yet one of ours befell a file of the run: it becomes one sentence."""
    try:
        yield
    except errors.SatedError:
        raise
    except OSError as error:
        raise _files.explain(error, path) from error


@contextlib.contextmanager
def _opened(drive: Drive | str) -> Iterator[Drive]:
    """The drive itself, or one opened by URI and closed at the end."""
    if isinstance(drive, Drive):
        yield drive
        return
    with sated.open(drive) as opened:
        yield opened


def _consent(steps: list[dict[str, Any]], drive: Drive, confirm: str | None, wipe_signatures: bool = False) -> None:
    """Once, before anything is made or done: a token that is wrong is refused here and not hours later."""
    if any(step["kind"] in ("purge", "capacity", "settings") or step.get("write_percent", 0) > 0 for step in steps):
        drive.permit(confirm, wipe_signatures=wipe_signatures)


def _check_empty(path: Path) -> None:
    """Before the lock is made in it: a directory that is somebody else's is left as it is."""
    if (path / MANIFEST).exists():
        return
    strangers = sorted(entry.name for entry in path.iterdir() if entry.name not in _OURS)
    if strangers and strangers != ["steps"]:
        raise errors.ParseError(
            f"{path} holds other files ({', '.join(strangers[:3])}) and no run: name a new directory for the run"
        )


def _identity(identity: Identity) -> dict[str, Any]:
    plain = asdict(identity)
    plain["features"] = list(identity.features)
    plain["simulated"] = identity.simulated
    return plain


def _state_file(uri: str) -> tuple[str, str] | None:
    """The file in which a simulated drive keeps its state: where it stands in the URI, and its path."""
    name, *keys = uri.removeprefix("sim:").split(",")
    if "/" in name or name.endswith(".sim"):
        return f"sim:{name}", name
    return next(((key, key.removeprefix("state=")) for key in keys if key.startswith("state=")), None)


def _whole_uri(drive: Drive) -> str:
    """The URI under which the drive is found from any folder, whatever it was opened by."""
    uri = drive.uri
    if not drive.identity.simulated:
        return uri if uri.startswith("serial:") else drive.identity.path or uri
    found = _state_file(uri)
    if found is None:
        return uri
    part, path = found
    whole = str(Path(path).resolve())
    if "," in whole:
        raise errors.ParseError(f"{whole}: the comma in its path would end it in a URI: keep the state file elsewhere")
    return uri.replace(part, part.removesuffix(path) + whole, 1)


def _model(drive: Drive) -> dict[str, Any]:
    """The simulated model; empty for a real drive. What a report shows of it is kept with the run."""
    if drive.sim is None:
        return {}
    try:
        return sated.sim.model(drive.sim.model)
    except errors.ParseError:
        # Opened by its state file: the model is known by what it calls itself.
        known = (sated.sim.model(name) for name in sated.sim.models())
        return next((each for each in known if _is_called(each, drive.identity.model)), {})


def _is_called(model: dict[str, Any], name: str | None) -> bool:
    """Whether a model gives its drives this name, of whatever capacity."""
    product = model.get("identity", {}).get("product", {}).get("value", "")
    return re.fullmatch(re.escape(product).replace(re.escape("{capacity}"), ".*"), name or "") is not None


def _operator() -> str:
    """Who runs this, by the system's account; a number where it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _new_manifest(path: Path, plan: Plan, seed: int, drive: Drive) -> dict[str, Any]:
    if not 0 <= seed < 1 << 63:
        raise errors.ParseError(f"seed {seed}: give a whole number from 0 to 2^63 - 1")
    manifest: dict[str, Any] = {
        "schema": SCHEMA,
        "run": path.resolve().name,
        "begun": utc_now(),
        "seed": seed,
        "operator": _operator(),
        "uri": _whole_uri(drive),
        "drive": _identity(drive.identity),
        "plan": {
            "name": plan.name,
            "title": plan.title,
            "source": plan.source,
            "text": plan.text,
            "checksum": plan.checksum,
            "steps": plan.steps,
        },
        "versions": {"sated": sated.__version__, "python": platform.python_version(), "pyarrow": pa.__version__},
        "host": {
            "name": platform.node(),
            "system": f"{platform.system()} {platform.release()}",
            "machine": platform.machine(),
            "cpus": os.cpu_count(),
        },
        "command": sys.argv[:1],
    }
    model = _model(drive)
    if model.get("expected"):
        manifest["published"] = model["expected"]
    queue = model.get("controller", {}).get("queue", {}).get("value")
    if queue is not None:
        manifest["drive"]["queue_depth"] = queue
    return manifest


def _check_same(path: Path, manifest: dict[str, Any], plan: Plan, seed: int, drive: Drive) -> None:
    recorded = manifest["plan"]
    if recorded["checksum"] != plan.checksum:
        raise errors.ParseError(
            f"{path} holds a run of another plan ({recorded['name']}, from {recorded['source']}): name a new directory"
        )
    if manifest["seed"] != seed:
        raise errors.ParseError(
            f"{path} holds a run with seed {manifest['seed']}, not {seed}: name a new directory, or give that seed"
        )
    _check_drive(path, manifest, drive)


def _check_drive(path: Path, manifest: dict[str, Any], drive: Drive) -> None:
    """The same drive: a real one by what it says of itself, a simulated one by its URI."""
    recorded, identity = manifest["drive"], _identity(drive.identity)
    names = ["vendor", "model", "serial", "native_capacity_bytes", "scale"]
    if not identity["serial"]:
        names.append("path")
    for name in names:
        if (recorded[name] or None) != identity[name]:  # what nobody told was "" or 0 in earlier runs
            raise errors.ParseError(
                f"{path} holds a run on another drive: its {name} is {recorded[name]!r}, that of {drive.uri} is "
                f"{identity[name]!r}: give that drive, or name a new directory"
            )
    if identity["simulated"] and manifest["uri"] != _whole_uri(drive):
        raise errors.ParseError(
            f"{path} holds a run on {manifest['uri']}, not {_whole_uri(drive)}: give that drive, or name a new "
            f"directory"
        )


class _Runner:
    """One run, being worked on under its lock."""

    def __init__(
        self,
        path: Path,
        manifest: dict[str, Any],
        drive: Drive,
        confirm: str | None,
        power: PowerControl | None,
        progress: Callback | None,
    ) -> None:
        self.path = path
        self.manifest = manifest
        self.drive = drive
        self.confirm = confirm
        self.power = power
        self.progress = progress
        self.steps: list[dict[str, Any]] = manifest["plan"]["steps"]
        if checksum(self.steps) != manifest["plan"]["checksum"]:
            raise errors.ParseError(f"{path}/{MANIFEST}: the steps were changed since the run began: begin a new run")
        self.simulated = drive.identity.simulated
        self.journal = Journal(path)
        self.time = _Time(self.steps, drive)
        self.told, self.told_step = -_TELL_S, ""

    def run(self) -> Run:
        try:
            if any(entry["event"] == "complete" for entry in self.journal.entries):
                raise errors.ParseError(f"{self.path} holds a finished run: name a new directory for another one")
            self._begin()
            try:
                self._steps()
            except BaseException:
                # What made it end is told; setting the drive back is tried, and where it fails its journal stays.
                with contextlib.suppress(errors.SatedError, OSError):
                    self._set_back()
                raise
            self._end()
            return Run(self.path)
        finally:
            self.journal.close()

    def _steps(self) -> None:
        done = finished(self.journal.entries)
        for step in self.steps:
            if step["id"] in done:
                self.time.pass_over(step, done[step["id"]]["result"])
            else:
                self._step(step)

    def _begin(self) -> None:
        entries = self.journal.entries
        if self.drive._permitted:
            self.drive.restore_settings()  # what a run that was killed had set
        if not any(entry["event"] == "begun" for entry in entries):
            self.journal.append("begun", schema=1, drive_s=self.drive.now_s(), **self._save())
            return
        note = self._restore() if self.simulated else self._set_again()
        self.journal.append("resumed", drive_s=self.drive.now_s(), note=note)
        _log.info("%s: %s", self.path, note)
        self._tell(self._next(), doing.Now(phase="resume"), note=note)

    def _next(self) -> dict[str, Any]:
        """The step that comes, or the last one."""
        done = finished(self.journal.entries)
        return next((step for step in self.steps if step["id"] not in done), self.steps[-1])

    def _save(self) -> dict[str, str]:
        """Saves a simulated drive; the last state becomes the one before. Return: the checksum, for the journal."""
        if not self.simulated:
            return {}
        new = self.path / _STATE_NEW
        self.drive.sim.save(new)
        named = _files.checksum(new)
        if (self.path / STATE).exists():
            (self.path / STATE).replace(self.path / STATE_BEFORE)
        _files.rename(new, self.path / STATE)
        return {"state": named}

    def _restore(self) -> str:
        """Puts back the state that the last whole line of the journal names."""
        wanted = last_state(self.journal.entries)
        for name in (STATE, STATE_BEFORE):
            file = self.path / name
            if file.exists() and _files.checksum(file) == wanted:
                break
        else:
            raise errors.ParseError(
                f"{self.path}: neither {STATE} nor {STATE_BEFORE} is the state that the journal names "
                f"({str(wanted)[:12]}...): restore the file, or begin a new run"
            )
        if name == STATE_BEFORE:
            # The other is of a step whose line was never written. It goes, so that the next save keeps this one.
            _files.rename(file, self.path / STATE)
        self.drive.sim.restore(self.path / STATE)
        note = f"{self._where()}; the simulated drive is as it was at the end of the last finished step"
        if self._save_state_file():
            note += ", and so is its state file: what an interrupted step did to it is undone"
        return note

    def _save_state_file(self) -> bool:
        """A drive with a state file of its own would save it when it is closed only, which a killed process never does.
        Return: whether it has one."""
        found = _state_file(self.drive.uri) if self.simulated else None
        if found is None:
            return False
        self.drive.sim.save(found[1])
        return True

    def _set_again(self) -> str:
        """A change of a real drive's capacity that the run was killed in is finished first. An LBA limit is kept by the
        handle only, and what was set for the run was set back when it was interrupted: the last ones are set again."""
        done = finished(self.journal.entries)
        limits = [step for step in self.steps if step["kind"] == "capacity"]
        if limits and self.drive.provisioning().interrupted:
            self.drive.resume_capacity(power=self.power, confirm=self.confirm)
        limits = [step for step in limits if step["id"] in done]
        if limits:
            doing.set_capacity(self.drive, limits[-1], self.confirm, self.power)
        for step in self.steps:
            if step["kind"] == "settings" and step["id"] in done:
                self.drive.set(**step["wanted"], passing=True, confirm=self.confirm)
        return self._where()

    def _where(self) -> str:
        done = len(finished(self.journal.entries))
        return f"going on after {done} of {len(self.steps)} steps"

    def _step(self, step: dict[str, Any]) -> None:
        name = step["id"]
        self.journal.append("started", step=name, index=step["index"], drive_s=self.drive.now_s())
        context = doing.Context(
            drive=self.drive,
            run=self.manifest["run"],
            directory=self.path,
            seed=self.manifest["seed"],
            confirm=self.confirm,
            power=self.power,
            tell=lambda now: self._tell(step, now),
        )
        if step["kind"] == "capacity":
            self._note_capacity(step.get("method", "lba"))
        self.time.begin(step)
        try:
            result = doing.perform(context, step)
            state = self._save()
        except KeyboardInterrupt:
            self._record("interrupted", step=name)
            raise
        except Exception as error:
            told = error
            if isinstance(error, OSError) and not isinstance(error, errors.SatedError):
                told = _files.explain(error, self.path)
            self._record("failed", step=name, error=str(told), exit_code=errors.exit_code(told))
            if told is error:
                raise
            raise told from error
        if step["kind"] == "capacity":
            self._note_setting(
                "accessible_bytes", was=self.manifest["drive"]["capacity_bytes"], set=result["accessible_bytes"]
            )
        if step["kind"] == "settings":
            for each, value in step["wanted"].items():
                was = self.manifest.get("settings", {}).get(each, {}).get("was", result["was"][each])
                self._note_setting(each, was=was, set=value)
        self.journal.append("finished", step=name, drive_s=self.drive.now_s(), result=result, **state)
        self._save_state_file()
        self.time.end(step, result)

    def _note_setting(self, name: str, **values: Any) -> None:
        """What the run has changed about the drive, at once, so that it is known even if it never comes to its end."""
        settings = self.manifest.get("settings", {})
        self.manifest["settings"] = {**settings, name: {**settings.get(name, {}), **values}}
        _files.write_json(self.path / MANIFEST, self.manifest)

    def _note_capacity(self, method: str) -> None:
        """What a method finds before the run first uses it: the methods stand one on the other, and are lifted in the
        order opposite to that of setting them."""
        before = self.manifest.setdefault("capacity_before", {})
        if method not in before:
            now = self.drive.provisioning()
            before[method] = now.accessible_bytes if method == "lba" else now.device_bytes
            _files.write_json(self.path / MANIFEST, self.manifest)

    def _record(self, event: str, **fields: Any) -> None:
        """A line about a step that did not end; the step is done again even where it cannot be written."""
        with contextlib.suppress(OSError):
            self.journal.append(event, **fields)

    def _end(self) -> None:
        """Merges the tables, sets the drive back and closes the record."""
        self._tell(self.steps[-1], doing.Now(phase="tables"))
        store.merge_tables(self.path, [step["id"] for step in self.steps if "workload" in step])
        self._set_back()
        for method, was in reversed(self.manifest.get("capacity_before", {}).items()):
            self.drive.set_capacity(bytes=was, method=method, power=self.power, confirm=self.confirm)
        if any(step["kind"] == "capacity" for step in self.steps):
            self._note_setting("accessible_bytes", restored=self.manifest["drive"]["capacity_bytes"])
            self._save_state_file()
        self.manifest |= {"ended": utc_now(), "drive_after": _identity(self.drive.identity)}
        _files.write_json(self.path / MANIFEST, self.manifest)
        self.journal.append("complete", drive_s=self.drive.now_s())

    def _set_back(self) -> None:
        """Sets back what the run had set, and says so in run.json. Its own record counts: a run that was killed may
        have been begun by another process, and on a simulated drive whose state was put back since."""
        noted = self.manifest.get("settings", {})
        was = {name: noted[name]["was"] for name in SETTINGS if name in noted}
        if not was:
            if any(step["kind"] == "settings" for step in self.steps):  # one that failed may have set something
                self.drive.restore_settings(confirm=self.confirm)
            return
        self.drive.set(**was, confirm=self.confirm)
        self.drive.restore_settings(confirm=self.confirm)
        for name, value in was.items():
            self._note_setting(name, restored=value)
        self._save_state_file()

    def _tell(self, step: dict[str, Any], now: doing.Now, note: str = "") -> None:
        self.time.at(now)
        clock = time.monotonic()
        # Every step is told of at least once, however short it is.
        if self.progress is None or (clock - self.told < _TELL_S and step["id"] == self.told_step and not note):
            return
        self.told, self.told_step = clock, step["id"]
        self.progress(
            Progress(
                index=step["index"],
                count=len(self.steps),
                step=step["id"],
                eta_s=self.time.left_s(),
                note=note,
                **asdict(now),
            )
        )


class _Time:
    """How long it will take: the reported seconds that are left, at the speed seen so far in this process."""

    def __init__(self, steps: list[dict[str, Any]], drive: Drive) -> None:
        identity = drive.identity
        self.simulated = identity.simulated
        self.reported_bytes = float(identity.native_capacity_bytes or identity.capacity_bytes or 0) * identity.scale
        self.fill_bytes_per_s = _FILL_BYTES_PER_S
        self.left = list(steps)
        self.wall_s = 0.0
        self.reported_s = 0.0
        self.began: float | None = None
        self.t_s = 0.0
        self.of_s: float | None = None

    def estimate(self, step: dict[str, Any]) -> float:
        """The reported seconds that a step is expected to take; an idle simulated drive takes none of ours."""
        if "workload" not in step:
            return 0.0 if self.simulated else float(step.get("seconds", 0.0))
        settle = _SETTLE_S if step.get("settle") else 0.0
        if "seconds" in step and "times" not in step:
            return float(step["seconds"]) + settle
        volume = float(step.get("bytes", 0)) or step.get("times", 1.0) * self.reported_bytes * (step["setting"] or 1.0)
        return min(float(step.get("seconds", math.inf)), volume / self.fill_bytes_per_s) + settle

    def pass_over(self, step: dict[str, Any], result: dict[str, Any]) -> None:
        self.left.remove(step)
        self._learn(step, result)

    def _learn(self, step: dict[str, Any], result: dict[str, Any]) -> None:
        if step["kind"] == "fill" and result.get("bytes_per_s"):
            self.fill_bytes_per_s = result["bytes_per_s"]

    def begin(self, step: dict[str, Any]) -> None:
        self.began, self.t_s, self.of_s = time.monotonic(), 0.0, None

    def at(self, now: doing.Now) -> None:
        self.t_s, self.of_s = now.t_s, now.of_s

    def end(self, step: dict[str, Any], result: dict[str, Any]) -> None:
        self._account()
        self.left.remove(step)
        self._learn(step, result)
        self.began, self.t_s = None, 0.0

    def _account(self) -> None:
        if self.began is not None and self.t_s > 0:
            self.wall_s += time.monotonic() - self.began
            self.reported_s += self.t_s

    def left_s(self) -> float | None:
        left = sum(self.estimate(step) for step in self.left)
        if self.began is not None:
            left -= min(self.t_s, self.estimate(self.left[0])) if self.left else 0.0
        left = max(0.0, left)
        if not self.simulated:
            return left
        wall, reported = self.wall_s, self.reported_s
        if self.began is not None and self.t_s > 0:
            wall, reported = wall + time.monotonic() - self.began, reported + self.t_s
        return left * wall / reported if wall > 0.5 and reported > 0 else None
