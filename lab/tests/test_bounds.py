"""Bounds of a share are exact: they are held against sums of fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot_lab.bounds import at_most, highest, lowest


def exactly(count: int, trials: int, chance: Fraction) -> float:
    return float(sum(comb(trials, i) * chance**i * (1 - chance) ** (trials - i) for i in range(count + 1)))


@given(st.integers(0, 80), st.data(), st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100))
def test_the_binomial_tail_is_the_sum_of_its_terms(trials: int, data: st.DataObject, chance: Fraction) -> None:
    """Whichever side of the mean it ends on."""
    count = data.draw(st.integers(0, trials))
    assert at_most(count, trials, float(chance)) == pytest.approx(exactly(count, trials, chance), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("count", "expected"), [(-1, 0.0), (7, 1.0), (8, 1.0)])
def test_counts_outside_the_trials_are_certain_or_impossible(count: int, expected: float) -> None:
    """Nobody has less than none."""
    assert at_most(count, 7, 0.3) == expected


def test_a_tail_far_from_the_mean_is_neither_lost_nor_made_up() -> None:
    """Its terms are too small for a float on one side, and all that there is on the other."""
    assert at_most(9_000, 10_000, 0.05) == 1.0
    assert 0 < at_most(300, 10_000, 0.05) < 1e-20


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
