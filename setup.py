"""Two extensions for CPython's limited API: `_sated` (cffi, the C core inside) and `_pybuf` (a buffer type)."""

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel


class LimitedApiWheel(bdist_wheel):
    """One wheel for every CPython from 3.11 on."""

    def finalize_options(self) -> None:
        self.py_limited_api = "cp311"
        super().finalize_options()


setup(
    cffi_modules=["csrc/python/ffi_build.py:ffibuilder"],
    ext_modules=[
        Extension(
            "sated._pybuf",
            ["csrc/python/pybuf.c"],
            extra_compile_args=["-std=gnu11", "-O2", "-fvisibility=hidden"],
            py_limited_api=True,
        )
    ],
    cmdclass={"bdist_wheel": LimitedApiWheel},
)
