"""Addresses of the caller's, on their way into a load."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sated._ffi import dtype, ffi, lib
from sated.errors import ParseError, check

if TYPE_CHECKING:
    import numpy as np

    Rows = np.ndarray[Any, Any]

OPS = ("read", "write", "trim", "write_zeroes", "flush")
"""By enum sated_op."""
_SLICE = 1 << 16  # of an array, at once
_FIELDS = {"offset", "bytes", "op"}
_MANY_NS = 200_000_000


def is_array(addresses: Any) -> bool:
    return hasattr(addresses, "dtype")


def check_source(addresses: Any, *, repeat: bool) -> None:
    """Raises ParseError for what can be no source; of an array the type alone is looked at."""
    if is_array(addresses):
        rows(addresses[:0] if addresses.ndim else addresses, "addresses=")
    elif not isinstance(addresses, Iterable) or isinstance(addresses, (str, bytes, dict)):
        raise ParseError(f"addresses= is {type(addresses).__name__}: give a numpy array, or an iterable of such arrays")
    elif repeat and iter(addresses) is addresses:
        raise ParseError("repeat=True, but an iterator has its addresses once: give an array, or what begins anew")


def rows(chunk: Any, what: str, first: int = 0) -> Rows:
    """A chunk as `struct sated_address`, n of them. Raises ParseError, which calls it `what`, and its first `first`."""
    import numpy as np

    if not isinstance(chunk, np.ndarray) or chunk.ndim != 1:
        raise ParseError(f"{what} is {_kind(chunk)}: give a numpy array of one dimension")
    names = chunk.dtype.names
    if names is None and chunk.dtype.kind not in "ui":
        raise ParseError(f"{what} is of {chunk.dtype}: offsets are whole numbers of bytes, such as of uint64")
    if names is not None and ("offset" not in names or not set(names) <= _FIELDS):
        raise ParseError(f"{what} has the fields {', '.join(names)}: there may be offset, bytes and op")
    out = np.empty(len(chunk), dtype("sated_address"))
    out["offset_bytes"] = _whole(chunk if names is None else chunk["offset"], what, "offset", 64, first)
    out["size_bytes"] = _whole(chunk["bytes"], what, "bytes", 32, first) if names and "bytes" in names else 0
    out["op"] = _operations(chunk["op"], what, first) if names and "op" in names else lib.SATED_OP_ANY
    return out


def _kind(chunk: Any) -> str:
    return f"an array of {chunk.ndim} dimensions" if is_array(chunk) else f"of the type {type(chunk).__name__}"


def _whole(values: Rows, what: str, field: str, bits: int, first: int) -> Rows:
    """Values that fit; what does not would wrap round without a word."""
    import numpy as np

    if values.dtype.kind not in "ui":
        raise ParseError(f"the field {field} of {what} is of {values.dtype}: give whole numbers")
    bad = values < 0 if values.dtype.kind == "i" else np.zeros(len(values), bool)
    if bits < 8 * values.dtype.itemsize:
        bad = bad | (values >= 1 << bits)
    if bad.any():
        at = int(bad.argmax())
        raise ParseError(
            f"address {first + at} of {what}, counted from 0, has {field} {int(values[at])}: give 0 to 2^{bits} - 1"
        )
    return values


def _operations(values: Rows, what: str, first: int) -> Rows:
    """Numbers by enum sated_op, or names."""
    import numpy as np

    if values.dtype.kind in "ui":
        return _whole(values, what, "op", 32, first)
    names, where = np.unique(values.astype(str), return_inverse=True)
    unknown = [str(name) for name in names if name not in OPS]
    if unknown:
        raise ParseError(f'{what} has the operation "{unknown[0]}": it is one of {", ".join(OPS)}')
    return np.array([OPS.index(str(name)) for name in names], np.uint32)[where.reshape(-1)]


class Feed:
    """Gives a load its addresses, in a thread of its own: whoever makes them up may take as long as he likes, and rows
    are taken and checks answered all the same."""

    def __init__(self, load: Any, addresses: Any, *, repeat: bool) -> None:
        """Raises ParseError for an array in which anything is wrong, before the first I/O."""
        self._l = load
        self._addresses = addresses
        self._repeat = repeat
        self._lock = threading.Lock()  # held while C is asked: the load outlasts that
        self._progress = ffi.new("struct sated_progress *")
        if is_array(addresses):
            for at in range(0, len(addresses), _SLICE):
                part = rows(addresses[at : at + _SLICE], "addresses=", at)
                check(lib.sated_load_check_addresses(load, _pointer(part), len(part), at))

    def start(self, fail: Callable[[BaseException], None]) -> None:
        """@fail: is told of the exception that ends it."""
        threading.Thread(target=self._run, args=(fail,), name="sated-addresses", daemon=True).start()

    def close(self) -> None:
        """The load has ended, and goes."""
        with self._lock:
            self._l = None

    def _run(self, fail: Callable[[BaseException], None]) -> None:
        try:
            chunks = self._chunks()
            while self._wanted():
                chunk, last = next(chunks)
                with self._lock:
                    if self._l is not None:
                        check(lib.sated_load_add_addresses(self._l, _pointer(chunk), len(chunk), last))
                if last:
                    break
        except BaseException as error:
            fail(error)

    def _wanted(self) -> bool:
        """Waits until a chunk is. False: never again."""
        while True:
            with self._lock:
                if self._l is None:
                    return False
                if check(lib.sated_load_wait_addresses(self._l, _MANY_NS)):
                    return True
                lib.sated_load_get_progress(self._l, self._progress)
                if not self._progress.running:
                    return False

    def _chunks(self) -> Iterator[tuple[Rows, bool]]:
        """Each chunk, and whether it is the last."""
        import numpy as np

        n = 0
        while True:
            some = False  # in this turn: one that has none would be begun anew for ever
            if is_array(self._addresses):
                for at in range(0, len(self._addresses), _SLICE):
                    some = True
                    end = at + _SLICE >= len(self._addresses) and not self._repeat
                    yield rows(self._addresses[at : at + _SLICE], "addresses="), end
            else:
                for chunk in self._addresses:
                    given = rows(chunk, f"chunk {n}")
                    some |= len(given) > 0
                    n += 1
                    yield given, False
            if not self._repeat or not some:
                yield np.empty(0, dtype("sated_address")), True


def _pointer(chunk: Rows) -> Any:
    return ffi.from_buffer("struct sated_address[]", chunk)
