"""What a drive endures: how often it can be written over each day, against its spare space.

Every block takes so many erases. What the host writes is written `write_amplification` times, and more spare space both
gives more blocks to wear and lowers that.
"""

from __future__ import annotations

from math import exp, isfinite

from sated.errors import ParseError

__all__ = ["drive_writes_per_day", "write_amplification"]


def _fifo(alpha: float) -> float:
    low, high = 1.0, alpha / (alpha - 1)
    for _ in range(200):
        a = (low + high) / 2
        # 1/A = 1 - e^(-alpha/A): below the root the left side is greater.
        low, high = (a, high) if 1 / a > 1 - exp(-alpha / a) else (low, a)
    return (low + high) / 2


def _greedy(alpha: float, np: int) -> float:
    harmonic = [0.0]
    for i in range(1, np + 1):
        harmonic.append(harmonic[-1] + 1 / i)
    low, high = 0.0, np * (1 - 1e-12)
    for _ in range(200):
        x = (low + high) / 2
        k = int(x)
        h = harmonic[k] + (x - k) / (k + 1)
        low, high = (x, high) if alpha * (np - x) / np < harmonic[np] - h else (low, x)
    return np / (np - (low + high) / 2)


def write_amplification(op: float, *, gc: str = "greedy", pages_per_block: int = 128) -> float:
    """Pages programmed for each that the host writes at random, all addresses alike, in the steady state.

    `op`: (T - U) / U, T being the pages for data and garbage collection, U those that can be addressed: 0.28 for 28 %.
    `gc`: "fifo" (also what greedy comes to with large blocks; Xiang and Kurkoski 2011), "greedy" (Desnoyers 2012, Bux
    and Iliadis 2010) or "random". Raises ParseError.

    >>> round(write_amplification(0.28), 4)
    2.4412
    >>> round(write_amplification(0.07, gc="fifo"), 4)
    7.8172
    """
    if not (isfinite(op) and op > 0):
        raise ParseError(f"op = {op}: over-provisioning is a share above 0, such as 0.28")
    if not 2 <= pages_per_block <= 1 << 20:
        raise ParseError(f"pages_per_block = {pages_per_block}: give 2 to {1 << 20}")
    alpha = 1 + op
    if gc == "fifo":
        return _fifo(alpha)
    if gc == "greedy":
        return _greedy(alpha, pages_per_block)
    if gc == "random":
        return alpha / (alpha - 1)
    raise ParseError(f'no closed form for gc = "{gc}": use one of fifo, greedy, random')


def drive_writes_per_day(
    op: float,
    *,
    erases: float = 3000,
    years: float = 5,
    gc: str = "greedy",
    pages_per_block: int = 128,
    amplification: float | None = None,
) -> float:
    """How often the whole capacity can be written each day for so many `years` until each block has had its `erases`.

    (1 + op) x erases / (A x 365 x years), with A by `write_amplification` or as measured (`amplification`). Blocks wear
    evenly in this: with `wear_levelling=off` the worst one is ahead of it. Raises ParseError.

    >>> round(drive_writes_per_day(0.07), 3), round(drive_writes_per_day(0.28), 3)
    (0.238, 0.862)
    """
    if not erases > 0 or not years > 0:
        raise ParseError(f"erases = {erases}, years = {years}: both are above 0")
    if amplification is None:
        amplification = write_amplification(op, gc=gc, pages_per_block=pages_per_block)
    elif not amplification >= 1:
        raise ParseError(f"amplification = {amplification}: a drive programs at least what is written")
    return (1 + op) * erases / (amplification * 365 * years)
