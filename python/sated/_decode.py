"""What a drive answered, as frozen dataclasses made from C's own structs: one helper for SCSI, ATA and NVMe.

The rules that every decoded struct follows:

* its first member may be `uint64_t known`: bit i says whether the i-th member holds something, `known` being the 0th;
  what is not known is None here, never 0;
* `x[...]` beside `n_x` is a list, cut to that many elements: a tuple, or bytes for `uint8_t`;
* without a count, `uint8_t x[...]` is bytes, `uint64_t x[2]` is one number of 128 bits (the low half first),
  `char x[...]` is text without its padding, and every other array is a tuple;
* a NaN is None; members called `reserved...` are left out.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

from sated._ffi import ffi, text
from sated.errors import check

__all__ = ["build", "call", "convert", "decode", "filled", "struct_class"]


def _members(ctype: Any) -> list[tuple[int, str, Any]]:
    """(index, name, type) of the members that Python shows."""
    names = [name for name, _ in ctype.fields]
    return [
        (index, name, field.type)
        for index, (name, field) in enumerate(ctype.fields)
        if name != "known" and not name.startswith("reserved") and not (name[:2] == "n_" and name[2:] in names)
    ]


def _rows(value: Any) -> list[tuple[str, Any]]:
    return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]


def _html(self: Any) -> str:
    from html import escape

    rows = "".join(f"<tr><th>{name}</th><td>{escape(str(value))}</td></tr>" for name, value in _rows(self))
    return f"<table>{rows}</table>"


@functools.cache
def struct_class(name: str) -> type[Any]:
    """The frozen dataclass of `struct name`; `sated_scsi_inquiry` becomes `ScsiInquiry`."""
    ctype = ffi.typeof(f"struct {name}")
    title = "".join(part.capitalize() for part in name.removeprefix("sated_").split("_"))
    fields = [(member, Any) for _, member, _ in _members(ctype)]
    made: type[Any] = dataclasses.make_dataclass(
        title, fields, frozen=True, kw_only=True, namespace={"__doc__": f"`struct {name}`; None is unknown."}
    )
    made._repr_html_ = _html
    made.__module__ = f"sated.{name.split('_')[1]}" if name.count("_") else __name__
    return made


def _array(value: Any, ctype: Any, count: int | None) -> Any:
    item = ctype.item
    if item.cname == "char":
        return text(value).strip()
    length = ctype.length if count is None else min(count, ctype.length)
    if item.cname in ("uint8_t", "unsigned char"):
        return bytes(ffi.buffer(value)[:length])
    if item.cname == "uint64_t" and ctype.length == 2 and count is None:
        return int(value[0]) | int(value[1]) << 64
    return tuple(_value(value[i], item) for i in range(length))


def _value(value: Any, ctype: Any, count: int | None = None) -> Any:
    if ctype.kind == "struct":
        return convert(value)
    if ctype.kind == "array":
        return _array(value, ctype, count)
    if isinstance(value, float):
        return None if math.isnan(value) else value
    return value if isinstance(value, bool) else int(value)


def convert(c: Any) -> Any:
    """A cffi struct (or a pointer to one) as its frozen dataclass."""
    ctype = ffi.typeof(c)
    if ctype.kind == "pointer":
        ctype, c = ctype.item, c[0]
    names = [name for name, _ in ctype.fields]
    known = int(c.known) if names[0] == "known" else -1
    values: dict[str, Any] = {}
    for index, name, kind in _members(ctype):
        count = int(getattr(c, f"n_{name}")) if f"n_{name}" in names else None
        values[name] = _value(getattr(c, name), kind, count) if known >> index & 1 else None
    return struct_class(ctype.cname.removeprefix("struct "))(**values)


def decode(function: Callable[..., int], name: str, data: Any, *arguments: Any) -> Any:
    """Calls `function(data, len(data), *arguments, out)` and returns `out`, a `struct name`, as its dataclass.

    `data`: bytes or anything with a buffer. Raises what the decoder says, ParseError above all.
    """
    held = bytes(data)
    out = ffi.new(f"struct {name} *")
    check(function(held, len(held), *arguments, out))
    return convert(out)


def call(function: Callable[..., int], name: str, *arguments: Any) -> Any:
    """Calls `function(out, *arguments)` and returns `out`, a cffi `struct name *`."""
    out = ffi.new(f"struct {name} *")
    check(function(out, *arguments))
    return out


def build(function: Callable[..., int], name: str, *arguments: Any) -> Any:
    """Calls a builder, `function(out, *arguments)`, and returns `out`, a `struct name`, as its dataclass."""
    return convert(call(function, name, *arguments))


def filled(function: Callable[..., int], capacity: int, *arguments: Any) -> bytes:
    """Calls `function(buffer, capacity, *arguments)`, which returns the length, and returns those bytes."""
    buffer = ffi.new("uint8_t[]", max(capacity, 1))
    length = check(function(buffer, capacity, *arguments))
    return bytes(ffi.buffer(buffer, length))
