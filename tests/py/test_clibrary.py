"""The C library as others get it: what it installs and exports, what its headers promise, which way its rooms look."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADERS = sorted((ROOT / "include" / "sated").glob("*.h"))
SOURCES = sorted(path for path in (ROOT / "csrc").rglob("*") if path.suffix in {".c", ".h"})
EXAMPLE = ROOT / "tests" / "c" / "example_load.c"
EXTENSION_ROOMS = ("python", "tools")

# What each room may include (docs: the table of rooms); `trace` and `protocol` may not be there yet.
MAY_INCLUDE = {
    "core": set(),
    "protocol": {"core"},
    "sim": {"core", "protocol"},
    "transport": {"core", "protocol", "sim"},
    "drive": {"core", "protocol", "transport"},
    "trace": {"core", "transport"},
    "load": {"core", "protocol", "sim", "transport", "trace"},
    "python": set(),
    "tools": set(),
}

# The layout that programs are compiled against. A change here breaks every program that was built before: it needs a
# new SONAME, or a struct that begins with its size.
STRUCT_SIZES = {
    "sated_address": 16,
    "sated_ata_areas": 48,
    "sated_ata_attribute_info": 104,
    "sated_ata_attribute_raw": 40,
    "sated_ata_calibration": 112,
    "sated_ata_capacity": 64,
    "sated_ata_command": 32,
    "sated_ata_dco": 48,
    "sated_ata_error_entry": 48,
    "sated_ata_error_log": 264,
    "sated_ata_feature": 72,
    "sated_ata_geometry": 40,
    "sated_ata_hidden": 72,
    "sated_ata_identify": 9408,
    "sated_ata_internal_status": 168,
    "sated_ata_link": 88,
    "sated_ata_log_capabilities": 112,
    "sated_ata_log_directory": 528,
    "sated_ata_log_pages": 264,
    "sated_ata_log_sata": 80,
    "sated_ata_log_security": 96,
    "sated_ata_native_max": 32,
    "sated_ata_ncq_error": 56,
    "sated_ata_pending_defect": 24,
    "sated_ata_pending_defects": 3072,
    "sated_ata_power_mode": 16,
    "sated_ata_range": 16,
    "sated_ata_registers": 40,
    "sated_ata_sanitize": 32,
    "sated_ata_sanitize_status": 40,
    "sated_ata_security": 56,
    "sated_ata_security_data": 56,
    "sated_ata_self_test_entry": 40,
    "sated_ata_self_test_log": 864,
    "sated_ata_settings": 104,
    "sated_ata_smart": 1264,
    "sated_ata_smart_attribute": 40,
    "sated_ata_smart_status": 16,
    "sated_ata_smart_threshold": 8,
    "sated_ata_smart_thresholds": 264,
    "sated_ata_statistic": 96,
    "sated_ata_statistics": 6072,
    "sated_ata_transfer": 96,
    "sated_ata_trim": 24,
    "sated_detail": 1024,
    "sated_drive_options": 16,
    "sated_environment": 80,
    "sated_guard": 2824,
    "sated_health": 2280,
    "sated_histogram_row": 32,
    "sated_identity": 3456,
    "sated_io": 48,
    "sated_load_options": 232,
    "sated_nvme_apst": 272,
    "sated_nvme_command": 56,
    "sated_nvme_ctrl_list": 4112,
    "sated_nvme_effects_log": 2056,
    "sated_nvme_elba_format": 4,
    "sated_nvme_endurance_group_log": 176,
    "sated_nvme_error": 56,
    "sated_nvme_error_log": 14352,
    "sated_nvme_firmware_log": 240,
    "sated_nvme_firmware_slot": 32,
    "sated_nvme_granularity": 16,
    "sated_nvme_granularity_list": 280,
    "sated_nvme_id_ctrl": 1920,
    "sated_nvme_id_ctrl_admin": 128,
    "sated_nvme_id_ctrl_general": 160,
    "sated_nvme_id_ctrl_nvm": 336,
    "sated_nvme_id_ns": 1184,
    "sated_nvme_independent_ns": 24,
    "sated_nvme_lba_format": 16,
    "sated_nvme_ns_create": 40,
    "sated_nvme_ns_descs": 56,
    "sated_nvme_ns_list": 4112,
    "sated_nvme_nvm_ctrl": 24,
    "sated_nvme_nvm_ns": 280,
    "sated_nvme_ocp_smart_log": 224,
    "sated_nvme_persistent_event_header": 432,
    "sated_nvme_power_state": 40,
    "sated_nvme_range": 16,
    "sated_nvme_sanitize_log": 56,
    "sated_nvme_self_test_log": 816,
    "sated_nvme_self_test_result": 40,
    "sated_nvme_sensor": 16,
    "sated_nvme_smart_log": 336,
    "sated_nvme_status": 8,
    "sated_nvme_telemetry_header": 160,
    "sated_nvme_transition": 8,
    "sated_nvme_uuid": 17,
    "sated_nvme_uuid_list": 2176,
    "sated_progress": 64,
    "sated_provision": 88,
    "sated_provision_choice": 792,
    "sated_provision_options": 8,
    "sated_purge_options": 320,
    "sated_purge_pending": 1200,
    "sated_purge_progress": 544,
    "sated_purge_result": 1328,
    "sated_purge_way": 536,
    "sated_read_only": 264,
    "sated_reply": 296,
    "sated_row": 128,
    "sated_scsi_capacity": 56,
    "sated_scsi_command": 48,
    "sated_scsi_designator": 792,
    "sated_scsi_inquiry": 128,
    "sated_scsi_log": 8216,
    "sated_scsi_log_background_scan": 8232,
    "sated_scsi_log_endurance": 16,
    "sated_scsi_log_errors": 80,
    "sated_scsi_log_exceptions": 112,
    "sated_scsi_log_page": 2,
    "sated_scsi_log_parameter": 16,
    "sated_scsi_log_phys": 792,
    "sated_scsi_log_self_tests": 664,
    "sated_scsi_log_start_stop": 40,
    "sated_scsi_log_supported": 1040,
    "sated_scsi_log_temperature": 16,
    "sated_scsi_luns": 2072,
    "sated_scsi_mode": 1760,
    "sated_scsi_mode_block": 24,
    "sated_scsi_mode_caching": 40,
    "sated_scsi_mode_control": 40,
    "sated_scsi_mode_page": 16,
    "sated_scsi_mode_policy": 4,
    "sated_scsi_mode_power": 40,
    "sated_scsi_one_opcode": 296,
    "sated_scsi_opcode": 80,
    "sated_scsi_opcodes": 32024,
    "sated_scsi_phy": 48,
    "sated_scsi_port": 1608,
    "sated_scsi_range": 16,
    "sated_scsi_scan_result": 32,
    "sated_scsi_self_test": 32,
    "sated_scsi_sense": 1496,
    "sated_scsi_sense_descriptor": 8,
    "sated_scsi_sense_progress": 8,
    "sated_scsi_sense_segment": 88,
    "sated_scsi_target_group": 4,
    "sated_scsi_vpd_ata": 576,
    "sated_scsi_vpd_characteristics": 32,
    "sated_scsi_vpd_device_id": 19032,
    "sated_scsi_vpd_extended": 56,
    "sated_scsi_vpd_limits": 80,
    "sated_scsi_vpd_limits_extension": 40,
    "sated_scsi_vpd_mode_policy": 272,
    "sated_scsi_vpd_ports": 12888,
    "sated_scsi_vpd_power": 32,
    "sated_scsi_vpd_provisioning": 824,
    "sated_scsi_vpd_serial": 272,
    "sated_scsi_vpd_supported": 280,
    "sated_scsi_vpd_zoned": 48,
    "sated_settings": 24,
    "sated_sim_member": 416,
    "sated_sim_fault": 32,
    "sated_sim_counters": 248,
    "sated_steady_options": 32,
    "sated_totals": 152,
    "sated_transport": 48,
    "sated_verdict": 280,
    "sated_workload": 1752,
    "sated_zone": 24,
}


def need(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is missing")


def run(*command: str | Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(env or {})},
        timeout=600,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def fence(header: Path) -> str:
    """What stands between the marks of a header, `""` where there are none (the umbrella)."""
    found = re.search(r"/\* cdef: begin \*/(.*)/\* cdef: end \*/", header.read_text(), re.DOTALL)
    return found.group(1) if found else ""


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def prototypes(text: str) -> list[str]:
    """Names of the functions that a fence declares, in its order."""
    code = re.sub(r"\{[^{}]*\}", " ", without_comments(text))
    return [found.group(1) for part in code.split(";") if (found := re.search(r"\b(sated_\w+)\s*\(", part))]


def undocumented(text: str) -> list[str]:
    """Functions without a comment right above them; one comment serves all the lines up to the next blank one."""
    missing = []
    for block in re.split(r"\n\s*\n", text):
        names = prototypes(block)
        if names and not re.search(r"/\*.*?\w.*?\*/\s*[^/{}]*" + names[0] + r"\s*\(", block, re.DOTALL):
            missing.extend(names)
    return missing


def arrows(room: str, text: str) -> Iterator[str]:
    """Includes of a file in `room` that its room may not have."""
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE):
        other = name.split("/")[0] if "/" in name else room
        if other != room and other not in MAY_INCLUDE[room]:
            yield name


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prefix that holds the installed library."""
    need("gcc", "make", "pkg-config")
    prefix = tmp_path_factory.mktemp("prefix")
    run("make", "-s", "-j2", "-C", ROOT / "csrc", "install", f"PREFIX={prefix}")
    return prefix


def pkg_config(prefix: Path, *options: str) -> list[str]:
    env = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    return run("pkg-config", *options, "sated", env=env).split()


def test_installs(installed: Path) -> None:
    library = installed / "lib"
    assert (library / "libsated.so").readlink() == Path("libsated.so.0")
    assert (library / "libsated.so.0").is_file()
    assert (library / "libsated.a").is_file()
    assert sorted(path.name for path in (installed / "include" / "sated").iterdir()) == [path.name for path in HEADERS]
    assert pkg_config(installed, "--modversion") == [(ROOT / "VERSION").read_text().strip()]
    assert f"-I{installed}/include" in pkg_config(installed, "--cflags")


def test_installs_below_destdir(installed: Path, tmp_path: Path) -> None:
    """DESTDIR stands before every path, but not in what pkg-config tells."""
    run("make", "-s", "-C", ROOT / "csrc", "install", "PREFIX=/opt/sated", f"DESTDIR={tmp_path}")
    below = tmp_path / "opt" / "sated"
    files = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if not path.is_dir()}
    assert files == {
        path.relative_to(installed).relative_to(".") and Path("opt/sated") / path.relative_to(installed)
        for path in installed.rglob("*")
        if not path.is_dir()
    }
    assert "prefix=/opt/sated\n" in (below / "lib" / "pkgconfig" / "sated.pc").read_text()
    assert str(tmp_path) not in (below / "lib" / "pkgconfig" / "sated.pc").read_text()


def test_exports_exactly_the_headers(installed: Path) -> None:
    need("nm")
    lines = run("nm", "-D", "--defined-only", installed / "lib" / "libsated.so.0").splitlines()
    exported = {line.split()[-1].split("@")[0] for line in lines if " A " not in line}
    declared = {name for header in HEADERS for name in prototypes(fence(header))}
    assert declared, "no prototype was found: the test would pass without having compared anything"
    assert exported == declared


def test_needs_only_libc(installed: Path) -> None:
    need("readelf")
    dynamic = run("readelf", "-d", installed / "lib" / "libsated.so.0")
    assert re.search(r"\(SONAME\).*\[libsated\.so\.0\]", dynamic)
    needed = re.findall(r"\(NEEDED\).*\[([^\]]+)\]", dynamic)
    assert needed
    assert not [name for name in needed if not re.match(r"lib(c|m)\.|libc\.musl|ld-", name)], needed


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
@pytest.mark.parametrize(("compiler", "language", "standard"), [("gcc", "c", "c11"), ("g++", "c++", "c++17")])
def test_header_compiles_alone(header: Path, compiler: str, language: str, standard: str, tmp_path: Path) -> None:
    need(compiler)
    source = tmp_path / "alone"
    source.write_text(f"#include <sated/{header.name}>\n#include <sated/{header.name}>\n")
    flags = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}"]
    run(compiler, f"-x{language}", f"-std={standard}", *flags, source)


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_every_function_is_documented(header: Path) -> None:
    assert undocumented(fence(header)) == []


def test_an_undocumented_function_is_found() -> None:
    text = "/* Says a. */\nint sated_a(void);\nint sated_b(void);\n\nint sated_c(struct sated_x *x,\n    int y);\n"
    assert prototypes(text) == ["sated_a", "sated_b", "sated_c"]
    assert undocumented(text) == ["sated_c"]
    assert undocumented("/* A row. */\nstruct sated_x {\n int a; /* one */\n};\n\nint sated_d(void);") == ["sated_d"]


def test_struct_sizes(tmp_path: Path) -> None:
    need("gcc")
    names = sorted(
        name for header in HEADERS for name in re.findall(r"struct (sated_\w+)\s*\{", without_comments(fence(header)))
    )
    prints = "".join(
        f'    printf("{name} %zu %zu\\n", sizeof(struct {name}), _Alignof(struct {name}));\n' for name in names
    )
    source, program = tmp_path / "sizes.c", tmp_path / "sizes"
    source.write_text(f"#include <sated/sated.h>\n#include <stdio.h>\nint main(void)\n{{\n{prints}    return 0;\n}}\n")
    run("gcc", f"-I{ROOT / 'include'}", source, "-o", program)
    told = [line.split() for line in run(program).splitlines()]
    assert {name: int(size) for name, size, _ in told} == STRUCT_SIZES
    rows = {"sated_row", "sated_environment", "sated_histogram_row", "sated_totals", "sated_progress"}
    assert {name for name, _, alignment in told if int(alignment) == 8} >= rows


def test_example_is_short_and_runs(installed: Path, tmp_path: Path) -> None:
    """A C program of less than 60 lines, built by pkg-config alone, measures a simulated drive."""
    assert len(EXAMPLE.read_text().splitlines()) < 60
    program = tmp_path / "example_load"
    flags = pkg_config(installed, "--cflags", "--libs")
    run("gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", EXAMPLE, *flags, "-o", program)
    out = run(program, env={"LD_LIBRARY_PATH": str(installed / "lib")})
    rows = re.findall(r"^ *(\d+)\.0 s +(\d+) IOPS$", out, re.MULTILINE)
    assert [int(t) for t, _ in rows] == list(range(1, 11))
    found = re.search(r"^p99 (\d+\.\d) us of (\d+) writes$", out, re.MULTILINE)
    assert found, out
    assert float(found.group(1)) > 0
    # A row is 1/64 s of I/O (scale=1/64) and gives its rate: so the writes are the sum of the rates, divided by 64.
    assert int(found.group(2)) == pytest.approx(sum(int(rate) for _, rate in rows) / 64, rel=1e-3)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "csrc")))
def test_rooms_look_only_down(source: Path) -> None:
    room = source.relative_to(ROOT / "csrc").parts[0]
    assert room in MAY_INCLUDE, f"csrc/{room}/ is not a room of the house"
    assert list(arrows(room, source.read_text())) == []


def test_an_arrow_up_is_found() -> None:
    assert list(arrows("core", '#include "core/error.h"\n#  include "sim/sim.h"\n#include <sated/sim.h>\n')) == [
        "sim/sim.h"
    ]
    assert list(arrows("load", '#include "drive/identity.h"\n#include "transport/handle.h"\n')) == ["drive/identity.h"]
    assert list(arrows("drive", '#include "sim/sim.h"\n')) == ["sim/sim.h"]


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (r"\bioctl\s*\(", {"transport", "load/kernel.c"}),
        (
            r"\b(open|openat|creat|fopen|opendir|scandir|file_open)\s*\(",
            {"core/file.c", "core/file.h", "transport", "load/kernel.c"},
        ),
        (r'"/(sys|proc|dev)/', {"transport", "drive"}),
        (r"\bsetlocale\s*\(", set()),
        (r"\bsignal\s*\(|\bsigaction\s*\(", set()),
    ],
)
def test_only_these_rooms_call(call: str, where: set[str]) -> None:
    """Only transport/ issues ioctls (and the engines' table, a discard) and opens nodes, only core/file opens our own
    files, nobody takes the signals.

    `where` names whole rooms, and single files of others.
    """
    found = {
        str(path)
        for path in (source.relative_to(ROOT / "csrc") for source in SOURCES)
        if path.parts[0] not in {*where, *EXTENSION_ROOMS}
        and str(path) not in where
        and re.search(call, without_comments((ROOT / "csrc" / path).read_text()))
    }
    assert not found


def test_sources_are_listed_once() -> None:
    """sources.mk names every C file but CPython's: extension, shared library and shim are the same code."""
    listed = re.findall(r"\S+\.c\b", (ROOT / "csrc" / "sources.mk").read_text())
    there = [str(path.relative_to(ROOT / "csrc")) for path in SOURCES if path.suffix == ".c"]
    assert sorted(listed) == sorted(name for name in there if not name.startswith("python/"))
    # ar keeps one member of each name.
    assert len({Path(name).name for name in listed}) == len(listed)


def test_the_mutations_of_the_guests_still_have_their_place() -> None:
    """tests/vm/mutate.py breaks lines of the sources by what stands in them."""
    listed = subprocess.run(
        [sys.executable, ROOT / "tests/vm/mutate.py", "--list"], capture_output=True, text=True, check=False
    )
    assert listed.returncode == 0, listed.stderr
    assert len(listed.stdout.splitlines()) >= 10
