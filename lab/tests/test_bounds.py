"""Bounds of a share are exact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot_lab.bounds import at_most, highest, lowest


@pytest.mark.parametrize(
    ("count", "trials", "low", "high"),
    [(0, 10, 0.0, 0.258866), (2, 10, 0.036771, 0.506901), (10, 10, 0.741134, 1.0), (0, 0, 0.0, 1.0)],
)
def test_known_bounds_are_met(count: int, trials: int, low: float, high: float) -> None:
    """Of Clopper and Pearson, one-sided at 95 %: 1 - 0.05^(1/10) for none of ten."""
    assert lowest(count, trials, 0.95) == pytest.approx(low, abs=1e-6)
    assert highest(count, trials, 0.95) == pytest.approx(high, abs=1e-6)


@given(st.integers(1, 400), st.data(), st.floats(0.5, 0.999))
def test_a_bound_is_where_the_tail_meets_the_confidence(trials: int, data: st.DataObject, confidence: float) -> None:
    """So that a target is kept by the tail exactly where it is kept by the bound."""
    count = data.draw(st.integers(0, trials - 1))
    assert at_most(count, trials, highest(count, trials, confidence)) == pytest.approx(1 - confidence, rel=1e-6)
