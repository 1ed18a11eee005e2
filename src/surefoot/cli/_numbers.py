"""Figures as text: shares of 1 without their nought, percent, points, and a dash for the unknown."""

from __future__ import annotations

from typing import Protocol

from surefoot.stats import text
from surefoot.stats.figures import Figure, Share
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


def percent(one: Share | float | None) -> str:
    """A share of 1, in percent."""
    return text.percent(one.share if isinstance(one, Share) else one, 1)


def interval(one: Share | Figure) -> str:
    """The interval of a share, in percent without the sign."""
    return NONE if one.low is None or one.high is None else f"{one.low * 100:.1f} to {one.high * 100:.1f}"


def points(gain: Figure) -> tuple[str, str]:
    """A difference of shares in points, and its interval."""
    if gain.value is None:
        return NONE, NONE
    ends = NONE if gain.low is None or gain.high is None else f"{gain.low * 100:+.1f} to {gain.high * 100:+.1f}"
    return f"{gain.value * 100:+.1f}", ends


def of(one: Share) -> str:
    """A share in whole percent, with the number that it is of."""
    return "0" if one.share is None else f"{one.share * 100:.0f} % of {one.of:,}"


def brief(number: float | None) -> str:
    """Two digits, for p-values that may be tiny."""
    return NONE if number is None else f"{number:.2g}"


def chance(p: float | None) -> str:
    """A p-value, to three decimals."""
    return NONE if p is None else "<.001" if p < 0.001 else share(p)


def number(count: int | None) -> str:
    """A count, with commas."""
    return NONE if count is None else f"{count:,}"
