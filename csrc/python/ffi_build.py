"""Builds `sated._sated`: joins the fenced regions of the public headers into cffi's cdef and links the core into it.

The headers are the only source: no declaration is copied by hand, and anything in a fence that cffi would not take as
it is (a preprocessor line but a bare number, an attribute, a variadic function) stops the build with its line.
"""

from __future__ import annotations

import re
from pathlib import Path

from cffi import FFI

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include" / "sated"
CSRC = ROOT / "csrc"


def headers() -> list[Path]:
    """The public headers, in the order of the umbrella."""
    names = re.findall(r"#include <sated/(\w+\.h)>", (INCLUDE / "sated.h").read_text())
    return [INCLUDE / name for name in names]


def fence(path: Path) -> str:
    """The declarations of one header, without comments."""
    text = path.read_text()
    begin, end = text.find("/* cdef: begin */"), text.find("/* cdef: end */")
    if begin < 0 or end < begin or text.count("/* cdef: begin */") != 1:
        raise SystemExit(f"{path}: needs one region from /* cdef: begin */ to /* cdef: end */")
    body = text[begin + len("/* cdef: begin */") : end]
    first = text[:begin].count("\n") + 1
    for number, line in enumerate(body.split("\n"), first):
        bare = re.sub(r"/\*.*?\*/", "", line).strip()
        if bare.startswith("#") and not re.fullmatch(r"#define \w+ (0x[0-9a-fA-F]+|\d+)", bare):
            raise SystemExit(f"{path}:{number}: only '#define NAME number' may stand in the region: {bare}")
        if re.search(r"\.\.\.|__attribute__|\boff_t\b|__u\d\d", bare) and not bare.startswith(("*", "/*")):
            raise SystemExit(f"{path}:{number}: cffi does not take this: {bare}")
    return re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)


def sources(variable: str) -> list[str]:
    """The sources of one variable of the one list."""
    for line in (CSRC / "sources.mk").read_text().replace("\\\n", " ").splitlines():
        if line.startswith(f"{variable} :="):
            return [f"csrc/{name}" for name in re.findall(r"\S+\.c\b", line)]
    raise SystemExit(f"csrc/sources.mk: has no {variable}")


def version() -> str:
    return (ROOT / "VERSION").read_text().strip()


OPTIONS = ["-std=gnu11", "-O2", "-fvisibility=hidden", "-ffp-contract=off", "-pthread"]
INCLUDES = ["include", "csrc"]
# The library as an archive, which the extension and the shim have inside.
CORE = "sated_core"
CORE_BUILD = {
    "sources": sources("SATED_SOURCES"),
    "obj_deps": {"": [str(path.relative_to(ROOT)) for path in sorted([*CSRC.rglob("*.h"), *INCLUDE.glob("*.h")])]},
    "include_dirs": INCLUDES,
    "macros": [
        ("SATED_STATIC", "1"),
        ("_GNU_SOURCE", "1"),
        ("SATED_VERSION", f'"{version()}"'),
        ("SATED_MODELS", f'"{CSRC / "sim" / "models"}"'),
    ],
    "cflags": [*OPTIONS, "-fPIC"],
}

ffibuilder = FFI()
ffibuilder.cdef("\n".join(fence(path) for path in headers()))
ffibuilder.set_source(
    "sated._sated",
    "#include <string.h>\n#include <sated/sated.h>\n",
    include_dirs=INCLUDES,
    define_macros=[("SATED_STATIC", "1"), ("Py_LIMITED_API", "0x030b0000")],
    extra_compile_args=OPTIONS,
    extra_link_args=["-pthread"],
    libraries=[CORE, "m"],
    py_limited_api=True,
)
