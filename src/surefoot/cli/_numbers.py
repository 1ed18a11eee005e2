"""Figures as text: shares of 1 without their nought, and a dash for the unknown."""

from __future__ import annotations

from typing import Protocol

from surefoot.stats.text import NONE


class _Measured(Protocol):
    """A value with the ends of its interval; None: not known."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def share(number: float | None) -> str:
    """To three decimals: ".612", "1.000", "−.250"."""
    if number is None:
        return NONE
    size = f"{abs(number):.3f}".removeprefix("0")
    return f"−{size}" if number < 0 and size != ".000" else size


def signed(number: float | None) -> str:
    """The same with its sign, also where it is plus; what rounds to 0 has none."""
    written = share(number)
    return f"+{written}" if number and number > 0 and written != ".000" else written


def between(low: float | None, high: float | None, sign: bool = False) -> str:
    """An interval; empty where there is none."""
    written = signed if sign else share
    return "" if low is None or high is None else f"[{written(low)}, {written(high)}]"


def figure(one: _Measured) -> str:
    """A value and its interval, if it has one."""
    return f"{share(one.value)} {between(one.low, one.high)}".strip()


def chance(p: float | None) -> str:
    """A p-value, to three decimals."""
    return NONE if p is None else "<.001" if p < 0.001 else share(p)


def number(count: int | None) -> str:
    """A count, with commas."""
    return NONE if count is None else f"{count:,}"
