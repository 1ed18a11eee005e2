"""Figures of the lab as text: percent, points, p-values."""

from __future__ import annotations

from surefoot.stats import text
from surefoot.stats.figures import Figure
from surefoot.stats.text import NONE
from surefoot_lab.figures import Share


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
