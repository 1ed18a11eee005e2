"""Examples from the low, middle and high third of a metric's scores."""

from __future__ import annotations

from hypothesis import given, strategies as st

from surefoot.evaluate.score.examples import sampled
from surefoot.types import Score

VALUES = st.lists(st.sampled_from([0.2, 0.4, 0.6, 0.8, 1.0]), min_size=1, max_size=70)
"""Five levels, so that most are equal."""


def bands(values: list[float]) -> list[tuple[Score, ...]]:
    """The low, the middle and the high examples of more than twenty scores."""
    sample = sampled(of(values))["m"]
    return [sample[:7], sample[7:14], sample[14:]]


def of(values: list[float], metric: str = "m") -> list[Score]:
    return [Score(f"r{n}", metric, value) for n, value in enumerate(values)]


@given(VALUES)
def test_twenty_examples_come_or_all_there_are(values: list[float]) -> None:
    """None of them twice, from the lowest to the highest."""
    examples = sampled(of(values))["m"]
    assert [score.value for score in examples] == sorted(score.value or 0 for score in examples)
    assert len({score.record_id for score in examples}) == len(examples) == min(20, len(values))


@given(VALUES.filter(lambda values: len(values) > 20))
def test_there_are_seven_low_seven_middle_and_six_high(values: list[float]) -> None:
    """However the values are spread: what is in a band might have been in that third by rank."""
    low, middle, high = bands(values)
    ranked, third = sorted(values), (len(values) + 1) // 3
    assert [len(low), len(middle), len(high)] == [7, 7, 6]
    assert all((score.value or 0) <= ranked[third] for score in low)
    assert all((score.value or 0) >= ranked[len(values) - third - 1] for score in high)


def test_a_mean_near_one_does_not_empty_the_low_band() -> None:
    """A third of the ranks holds all hundred low scores of five hundred, and some perfect ones beside them."""
    low, _, high = bands([0.2] * 100 + [1.0] * 400)
    assert {score.value for score in low} == {0.2, 1.0}
    assert {score.value for score in high} == {1.0}


@given(VALUES)
def test_the_seed_decides_and_the_order_does_not(values: list[float]) -> None:
    """The same examples for the same scores, whichever were made first; 42 is the seed that is taken unasked."""
    scores = of(values)
    assert sampled(scores) == sampled(scores[::-1]) == sampled(scores, 42)
    assert sampled(of([1.0] * 100)) != sampled(of([1.0] * 100), 43)


def test_equal_scores_are_ranked_by_lot() -> None:
    """And not by their names, which may be those of one source or of one day."""
    low = bands([1.0] * 90)[0]
    first = sorted(f"r{n}" for n in range(90))[:30]
    assert 0 < len([score for score in low if score.record_id in first]) < 7


def test_what_has_no_value_is_no_example() -> None:
    """Nor does a metric without scores have a sample."""
    missing = Score("x", "f", None), Score("y", "f", 0.5, applies=False)
    assert list(sampled([*of([0.6]), *missing])) == ["m"]
