"""The one gate to C: `ffi` and `lib`, and what is derived from cffi's type information."""

from __future__ import annotations

import enum
import functools
from typing import TYPE_CHECKING, Any

from sated._sated import ffi, lib

if TYPE_CHECKING:
    import numpy as np

__all__ = ["c_enum", "dtype", "ffi", "lib", "text", "view"]

_NUMPY = {"bool": "?1", "float": "f4", "double": "f8"}


def text(value: Any) -> str:
    """A C string or character array as str."""
    return str(ffi.string(value).decode("utf-8", "replace"))


def c_enum(name: str, prefix: str) -> type[enum.IntEnum]:
    """An IntEnum of `enum name`, without the common prefix.

    >>> c_enum("sated_op", "SATED_").WRITE.value
    1
    """
    members = ffi.typeof(f"enum {name}").relements
    return enum.IntEnum(name, {key.removeprefix(prefix): value for key, value in members.items()})  # type: ignore[return-value]


def _field(ctype: Any) -> Any:
    if ctype.kind == "array":
        return (_field(ctype.item), (ctype.length,))
    if ctype.kind == "struct":
        return dtype(ctype.cname.removeprefix("struct "))
    if ctype.cname in _NUMPY:
        return _NUMPY[ctype.cname]
    kind = "u" if ctype.cname.startswith("u") else "i"
    return f"{kind}{ffi.sizeof(ctype)}"


@functools.cache
def dtype(name: str) -> np.dtype[Any]:
    """The numpy dtype of `struct name`, field by field at C's own offsets."""
    import numpy as np

    struct = ffi.typeof(f"struct {name}")
    fields = dict(struct.fields)
    return np.dtype(
        {
            "names": list(fields),
            "formats": [_field(field.type) for field in fields.values()],
            "offsets": [field.offset for field in fields.values()],
            "itemsize": ffi.sizeof(struct),
        }
    )


def view(pointer: Any, count: int, of: str, owner: object) -> np.ndarray[Any, np.dtype[Any]]:
    """`count` C structs as a read-only numpy array that keeps `owner` alive."""
    import numpy as np

    from sated._pybuf import Buffer

    kind = dtype(of)
    memory = Buffer(int(ffi.cast("uintptr_t", pointer)), count * kind.itemsize, owner)
    return np.frombuffer(memory, dtype=kind)
