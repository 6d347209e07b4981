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
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from sated._ffi import ffi, lib, text
from sated._text import html_table
from sated.errors import ParseError, check

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Family", "call", "convert", "filled", "octets", "struct_class", "unsigned"]


def _members(ctype: Any) -> list[tuple[int, str, Any]]:
    """(index, name, type) of the members that Python shows."""
    names = [name for name, _ in ctype.fields]
    return [
        (index, name, field.type)
        for index, (name, field) in enumerate(ctype.fields)
        if name != "known" and not name.startswith("reserved") and not (name[:2] == "n_" and name[2:] in names)
    ]


def _html(self: Any) -> str:
    return html_table((f.name, getattr(self, f.name)) for f in dataclasses.fields(self))


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


def octets(data: Buffer) -> bytes:
    """Whatever holds bytes (bytes, bytearray, memoryview, a numpy array) as bytes. Raises TypeError for anything else:
    `bytes(12)` would be twelve zeros that no drive has sent.

    >>> octets(memoryview(b"abcd")[::2])
    b'ac'
    """
    try:
        return memoryview(data).tobytes()
    except TypeError:
        raise TypeError(f"bytes or anything with a buffer expected, got {type(data).__name__}") from None


def unsigned(what: str, value: int, bits: int) -> int:
    """`value`, which so many bits hold. Raises ParseError where they do not."""
    if not 0 <= value < 1 << bits:
        raise ParseError(f"{what} is {value}: give a number from 0 to {(1 << bits) - 1}")
    return value


def call(function: Callable[..., int], name: str, *arguments: Any) -> Any:
    """Calls `function(out, *arguments)` and returns `out`, a cffi `struct name *`."""
    out = ffi.new(f"struct {name} *")
    check(function(out, *arguments))
    return out


def filled(function: Callable[..., int], capacity: int, *arguments: Any) -> bytes:
    """Calls `function(buffer, capacity, *arguments)`, which returns the length, and returns those bytes."""
    buffer = ffi.new("uint8_t[]", max(capacity, 1))
    length = check(function(buffer, capacity, *arguments))
    return bytes(ffi.buffer(buffer, length))


def _misfit(label: str, value: Any, ctype: Any) -> str | None:
    """What is wrong with a number that an integer of C cannot hold."""
    if not isinstance(value, int) or ctype.kind != "primitive":
        return None
    bits = 1 if ctype.cname == "_Bool" else 8 * ffi.sizeof(ctype)
    low = 0 if int(ffi.cast(ctype, -1)) > 0 else -(1 << bits - 1)
    high = low + (1 << bits) - 1
    return None if low <= value <= high else f"{label}{value} is out of range; give {low} to {high}"


def _parameters(function: Any, skipped: int, arguments: tuple[Any, ...]) -> Iterable[tuple[str, Any, Any]]:
    """The arguments of a C function behind the first `skipped` with their types; C keeps no names of them."""
    return (("", value, ctype) for value, ctype in zip(arguments, ffi.typeof(function).args[skipped:], strict=False))


class Family:
    """The builders and decoders of a protocol by their names in C: `sated_<protocol>_build_...`, `..._decode_...`.

    All raise ParseError for what C refuses, and for numbers that its types cannot hold.
    """

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol

    def _called(self, name: str, make: Callable[[], Any], values: Iterable[tuple[str, Any, Any]]) -> Any:
        """`make()`; `values` are the names, values and types of C that a number may not fit."""
        try:
            return make()
        except OverflowError as error:
            told = next((told for one in values if (told := _misfit(*one))), f"a number does not fit: {error}")
            raise ParseError(f"{name.replace('_', ' ')}: {told}") from error

    def _function(self, name: str) -> Any:
        return getattr(lib, f"sated_{self.protocol}_{name}")

    def command(self, name: str, *arguments: Any) -> Any:
        """A command as a cffi `struct sated_<protocol>_command *`."""
        function = self._function(f"build_{name}")
        made = functools.partial(call, function, f"sated_{self.protocol}_command", *arguments)
        return self._called(name, made, _parameters(function, 1, arguments))

    def data(self, name: str, capacity: int, *arguments: Any) -> bytes:
        """The data that goes with a command, `capacity` bytes at most."""
        function = self._function(f"build_{name}")
        made = functools.partial(filled, function, capacity, *arguments)
        return bytes(self._called(name, made, _parameters(function, 2, arguments)))

    def new(self, name: str, kind: str, value: Any) -> Any:
        """A cffi `struct sated_<protocol>_<kind>`, such as "range[]" or "security_data *", with these values."""
        ctype = ffi.typeof(f"struct sated_{self.protocol}_{kind}")
        types = dict(ctype.item.fields)
        rows = value if isinstance(value, list) else [value]
        values = ((f"{field}=", row[field], types[field].type) for row in rows for field in row)
        return self._called(name, lambda: ffi.new(ctype, value), values)

    def struct(self, name: str, data: Buffer, *arguments: Any, struct: str | None = None) -> Any:
        """What the decoder makes of `data`, as a cffi `struct sated_<protocol>_<name> *`, or that of another name."""
        held = octets(data)
        return self.result(f"decode_{name}", held, len(held), *arguments, struct=struct or name)

    def result(self, name: str, *arguments: Any, struct: str) -> Any:
        """Calls `sated_<protocol>_<name>(*arguments, out)`: `out`, a cffi `struct sated_<protocol>_<struct> *`."""
        out = ffi.new(f"struct sated_{self.protocol}_{struct} *")
        function = self._function(name)
        self._called(name, lambda: check(function(*arguments, out)), _parameters(function, 0, arguments))
        return out

    def decode(self, name: str, data: Buffer, *arguments: Any, struct: str | None = None) -> Any:
        """The same as a dataclass."""
        return convert(self.struct(name, data, *arguments, struct=struct))
