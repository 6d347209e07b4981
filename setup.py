"""Two extensions for CPython's limited API: `_sated` (cffi, the C core inside) and `_pybuf` (a buffer type); and the
shim that `sated sim exec` preloads into other programs, which knows nothing of Python."""

import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel

sys.path.insert(0, str(Path(__file__).resolve().parent / "csrc" / "python"))
from ffi_build import CORE, CORE_BUILD, INCLUDES, OPTIONS, sources

(Path(__file__).resolve().parent / "python" / "sated" / "native").mkdir(exist_ok=True)  # for a build in place


class LimitedApiWheel(bdist_wheel):
    """One wheel for every CPython from 3.11 on."""

    def finalize_options(self) -> None:
        self.py_limited_api = "cp311"
        super().finalize_options()


setup(
    cffi_modules=["csrc/python/ffi_build.py:ffibuilder"],
    libraries=[(CORE, CORE_BUILD)],
    ext_modules=[
        Extension(
            "sated._pybuf",
            ["csrc/python/pybuf.c"],
            extra_compile_args=["-std=gnu11", "-O2", "-fvisibility=hidden"],
            py_limited_api=True,
        ),
        Extension(
            # In a folder that is no package: whoever imports all modules of sated does not come upon it.
            "sated.native.shim",
            sources("SATED_SHIM_SOURCES"),
            include_dirs=INCLUDES,
            define_macros=[("SATED_STATIC", "1"), ("_GNU_SOURCE", "1")],
            extra_compile_args=OPTIONS,
            libraries=[CORE, "m", "dl"],
            py_limited_api=True,
        ),
    ],
    cmdclass={"bdist_wheel": LimitedApiWheel},
)
