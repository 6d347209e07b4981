"""What the documents say is what the software does."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
README = (ROOT / "README.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_generated_reference_is_current(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "docs/generate.py", tmp_path], check=True, timeout=60)
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text() for path in (ROOT / "docs/reference").iterdir()}
    stale = {name for name in kept.keys() | written.keys() if kept.get(name) != written.get(name)}
    assert not stale, "run `make docs` and commit what it writes"


def test_every_public_function_is_in_the_reference() -> None:
    declared = set()
    for header in (ROOT / "include/sated").glob("*.h"):
        declared |= set(re.findall(r"\b(sated_\w+)\(", re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)))
    reference = (ROOT / "docs/reference/c-api.md").read_text()
    assert len(declared) > 50
    assert not {name for name in declared if f"{name}(" not in reference}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text())
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


def test_the_readme_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks(README, "python")
    assert len(block.splitlines()) <= 8
    exec(compile(block, "README.md", "exec"), {})
    told = capsys.readouterr().out
    assert re.search(r"^[\d,]+ IOPS, p99 [\d.]+ ms$", told, re.MULTILINE) and "write amplification" in told


def test_the_readme_c_compiles(tmp_path: Path) -> None:
    (block,) = blocks(README, "c")
    assert len(block.splitlines()) <= 8
    declarations = (
        "struct sated_drive *drive; struct sated_load *load; struct sated_workload workload; "
        "struct sated_load_options options; struct sated_row rows[64];"
    )
    source = tmp_path / "readme.c"
    source.write_text(f"#include <sated/sated.h>\nint main(void)\n{{\n{declarations}\n{block}return 0;\n}}\n")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}"]
    subprocess.run(["gcc", *flags, source], check=True)


def test_plans_in_the_documents_are_valid(tmp_path: Path) -> None:
    from sated.methods import plan

    found = blocks((ROOT / "docs/howto/write-a-plan.md").read_text(), "toml")
    assert found
    for number, text in enumerate(found):
        path = tmp_path / f"{number}.toml"
        path.write_text(text)
        assert plan.load(path).steps


def test_the_page_on_practising_knows_every_fault() -> None:
    from sated.sim import FAULTS

    page = (ROOT / "docs/howto/practise-on-a-simulated-drive.md").read_text()
    rows = re.findall(r"^\| (`.*?) \|", page[page.index("| kind |") :], re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall(r"`([\w-]+)`", row)) == sorted(FAULTS)


def test_the_write_amplification_of_random_addresses() -> None:
    """The table of the page, on the drive that it names: 28 % over-provisioning, greedy, 128 units per block."""
    import sated

    page = (ROOT / "docs/explanation/random-addresses.md").read_text()
    told = dict(re.findall(r"^\| (.*?) \| ([\d.]+) \|$", page, re.MULTILINE))
    assert set(told) == {"uniform, with replacement", "in the same order each pass"}
    for (_, value), op in zip(told.items(), ("randwrite", "write"), strict=True):
        with sated.open("sim:generic,timing=off,op=0.28,gc=greedy,pages_per_block=128") as drive:
            capacity = drive.identity.capacity_bytes
            for seed, (load, passes) in enumerate((("write", 1), (op, 2), (op, 2))):
                drive.sim.reset_counters()
                sated.load(drive, sated.Workload(op=load, size="4k"), bytes=passes * capacity, seed=seed)
            assert drive.sim.counters.write_amplification == pytest.approx(float(value), rel=0.005)


def test_every_package_that_is_needed_is_pinned() -> None:
    """`make` installs constraints.txt and nothing else, so what pyproject.toml asks for has to be in it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for extra in project["project"]["optional-dependencies"].values():
        wanted += extra
    pinned = {
        re.split(r"==", line)[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    }
    names = {re.split(r"[><=!\[;]", each)[0].strip().lower().replace("_", "-") for each in wanted} - {"sated"}
    assert names <= pinned


def test_generate_knows_every_command() -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    from sated.cli import app, sim

    top = {command.name for command in app.registered_commands} | {group.name for group in app.registered_groups}
    sub = {("sim", command.name) for command in sim.app.registered_commands}
    assert set(generate._commands()) == {(), *((name,) for name in top), *sub}


HOWTO = ("read-health", "send-commands", "record-and-replay", "extend-decoders", "set-capacity", "set-a-drive")


@pytest.mark.parametrize("name", (*HOWTO, "simulate-a-raid-set"))
def test_the_python_of_the_how_to_pages_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of a page, one after the other; what they assert holds."""
    from sated import _plugins

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_plugins, "pages", [])
    monkeypatch.setattr(_plugins, "attribute_rules", [])
    found = blocks((ROOT / f"docs/howto/{name}.md").read_text(), "python")
    assert found
    names: dict[str, object] = {"__name__": name}
    for number, block in enumerate(found):
        exec(compile(block, f"{name}.md, block {number + 1}", "exec"), names)


@pytest.mark.parametrize("name", HOWTO)
def test_the_commands_of_the_how_to_pages_run(name: str, tmp_path: Path) -> None:
    """With a recorded drive in the place of /dev/sda; writing to it replaces it by the same one with a later count."""
    import sated
    from sated._record import record
    from test_record import Disk

    class Later(Disk):
        writes = "3dc600000000"

    for file, disk in (("sda.json", Disk("ata")), ("later.json", Later("ata"))):
        with sated.open(disk) as drive:
            record(drive, tmp_path / file)
    for block in blocks((ROOT / f"docs/howto/{name}.md").read_text(), "sh"):
        script = block.replace("/dev/sda", "replay:sda.json")
        script = script.replace("# write 20 GiB to the drive, by whatever means", "cp later.json sda.json")
        script = f'set -e\nsated() {{ "{sys.executable}" -m sated "$@"; }}\n{script}'
        ran = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert ran.returncode == 0, ran.stderr
        if "--calibrate" in script:
            assert "32 MiB (0.2 % off)" in ran.stdout
