"""How numbers are written for people, alike on the terminal, in charts and in reports."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

UNKNOWN = "–"

QUANTITIES = {
    "write_4k_iops": "4 KiB random write at 256 outstanding",
    "read_4k_iops": "4 KiB random read at 256 outstanding",
    "write_4k_power_w": "power, last 300 s of 4 KiB random write",
    "write_4k_iops_per_w": "IOPS per watt, last 300 s of 4 KiB random write",
}
"""What the published figures of a model are, by the names of their tables."""


def number(value: float | None, digits: int = 3) -> str:
    """A measured number: thousands apart, and `digits` significant digits below 1000.

    >>> number(41826.4), number(2.3), number(0.00012), number(300), number(None)
    ('41,826', '2.30', '0.000120', '300', '–')
    """
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"


def fixed(value: float | None, places: int = 1) -> str:
    """A number with so many decimal places, as where numbers stand below each other.

    >>> fixed(1234.56), fixed(2.3, 2)
    ('1,234.6', '2.30')
    """
    return UNKNOWN if value is None or not math.isfinite(value) else f"{value:,.{places}f}"


_TIME_UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))


def latency_unit(*typical_ns: float | None) -> tuple[str, float]:
    """The unit in which these latencies read best (the middle one has a number from 1 to 1000), and its nanoseconds.

    >>> latency_unit(850), latency_unit(3e3, None, 4e6, 5e6), latency_unit(None)
    (('ns', 1.0), ('ms', 1000000.0), ('µs', 1000.0))
    """
    known = sorted(value for value in typical_ns if value is not None and math.isfinite(value))
    if not known:
        return _TIME_UNITS[2]
    middle = known[len(known) // 2]
    return next((unit for unit in _TIME_UNITS if middle >= unit[1]), _TIME_UNITS[-1])


def latency(value_ns: float | None) -> str:
    """A latency in the unit that fits it.

    >>> latency(66_100_000), latency(850), latency(None)
    ('66.1 ms', '850 ns', '–')
    """
    if value_ns is None or not math.isfinite(value_ns):
        return UNKNOWN
    unit, ns = latency_unit(value_ns)
    return f"{number(value_ns / ns)} {unit}"


def span_unit(seconds: float) -> tuple[str, float]:
    """The unit of a time axis this long, as its name and its seconds."""
    if seconds >= 2 * 3600:
        return "h", 3600.0
    if seconds >= 600:
        return "min", 60.0
    return "s", 1.0


def span(seconds: float) -> str:
    """A length of time.

    >>> span(18000), span(90), span(60)
    ('5 h', '90 s', '60 s')
    """
    unit, size = span_unit(seconds)
    return f"{seconds / size:g} {unit}"


def duration(seconds: float | None) -> str:
    """A length of time as a clock shows it.

    >>> duration(7), duration(750), duration(18000)
    ('0:07', '12:30', '5:00:00')
    """
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    whole = max(0, round(seconds))
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def capacity(size: float | None) -> str:
    """A capacity in decimal units.

    >>> capacity(256_060_514_304)
    '256.06 GB'
    """
    if size is None or not math.isfinite(size):
        return UNKNOWN
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.2f} {unit}"
    return f"{size:.0f} bytes"


def exact(size: int | None) -> str:
    """A capacity in decimal units and to the byte.

    >>> exact(256_060_514_304), exact(0), exact(None)
    ('256.06 GB (256,060,514,304 bytes)', '0 bytes', '–')
    """
    told = capacity(size)
    return told if size is None or size < 1000 else f"{told} ({size:,} bytes)"


def binary(size: int) -> str:
    """A unit of counting, binary where it is a power of two.

    >>> binary(32 << 20), binary(512), binary(512_000), binary(10**9)
    ('32 MiB', '512 bytes', '512.00 kB', '1.00 GB')
    """
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale and size % scale == 0 and size & (size - 1) == 0:
            return f"{size // scale} {unit}"
    return capacity(size)


def io_size(size: Any) -> str:
    """An I/O size in binary units; text is left as it is, None is several sizes.

    >>> io_size(4096), io_size(512), io_size(None)
    ('4 KiB', '512 bytes', 'mixed sizes')
    """
    if size is None:
        return "mixed sizes"
    if isinstance(size, str):
        return size
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale and size % scale == 0:
            return f"{size // scale} {unit}"
    return f"{size} bytes"


def percent(fraction: float | None, places: int = 1, *, sign: bool = False) -> str:
    """A fraction as a percentage.

    >>> percent(0.0414), percent(-0.007, sign=True), percent(0.8, 0)
    ('4.1 %', '−0.7 %', '80 %')
    """
    if fraction is None or not math.isfinite(fraction):
        return UNKNOWN
    text = f"{abs(100 * fraction):.{places}f}"
    minus = "−" if fraction < 0 and float(text) else "+" if sign and float(text) else ""
    return f"{minus}{text} %"


def setting(fraction: float | None) -> str:
    """The name of a setting of the accessible capacity.

    >>> setting(0.8), setting(None)
    ('80 % LBA', 'as found')
    """
    return "as found" if fraction is None else f"{100 * fraction:g} % LBA"


def workload(
    size: Any, *, sequential: bool, read: float, trim: float = 0.0, write_zeroes: float = 0.0, flush: float = 0.0
) -> str:
    """What a load does; `read` and the following are its shares of those operations.

    >>> workload(4096, sequential=False, read=0.0), workload(131072, sequential=True, read=0.0, trim=1.0)
    ('4 KiB random write', '128 KiB sequential trim')
    >>> workload(8192, sequential=False, read=2 / 3), workload(4096, sequential=False, read=0.5, trim=0.2)
    ('8 KiB random 66.67 % read', '4 KiB random 50 % read, 20 % trim')
    """
    others = {"trim": trim, "write-zeroes": write_zeroes, "flush": flush}
    shares = {"read": read, "write": 1 - read - sum(others.values()), **others}
    whole = next((op for op, share in shares.items() if share >= 1 - 1e-9), None)
    mixed = ", ".join(f"{100 * shares[op]:.4g} % {op}" for op in ("read", *others) if op == "read" or shares[op])
    return f"{io_size(size)} {'sequential' if sequential else 'random'} {whole or mixed}"


def listed(parts: Iterable[str]) -> str:
    """Parts of a sentence with commas and an "and".

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    items = list(parts)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def html_table(rows: Iterable[tuple[str, Any]]) -> str:
    """Names and values as a notebook shows them; None is unknown, several are separated by semicolons.

    >>> html_table([("model", "<X>"), ("serial", None)])
    '<table><tr><th>model</th><td>&lt;X&gt;</td></tr><tr><th>serial</th><td>–</td></tr></table>'
    >>> html_table([("sensors", (30, 41))])
    '<table><tr><th>sensors</th><td>30; 41</td></tr></table>'
    """
    from html import escape

    def told(value: Any) -> str:
        if isinstance(value, tuple | list):
            return "; ".join(told(each) for each in value)
        return UNKNOWN if value is None else escape(value.hex(" ") if isinstance(value, bytes) else str(value))

    cells = ((escape(name), told(value)) for name, value in rows)
    return f"<table>{''.join(f'<tr><th>{name}</th><td>{value}</td></tr>' for name, value in cells)}</table>"
