"""What the scores of a metric come to."""

import json
import math

import pytest
from hypothesis import given, settings, strategies as st

from surefoot.evaluate.score.summaries import level, sampled, summaries
from surefoot.run.store import to_json
from surefoot.types import Score, Summary

NOT_APPLICABLE = Score("n", "m", None, applies=False, unscored_because="there is no ground truth")


def rated(*ratings: int | None) -> list[Score]:
    """Of one record each; None: it timed out."""
    return [
        Score(
            f"r{n}", "m", None if rating is None else rating / 5, rating, unscored_because="" if rating else "timeout"
        )
        for n, rating in enumerate(ratings)
    ]


def only(scores: list[Score], groups: dict[str, str] | None = None) -> Summary:
    (summary,) = summaries(scores, groups or {})
    return summary


def test_what_does_not_apply_is_in_no_mean_and_no_bound() -> None:
    """Nor in the coverage: three such records change a count and nothing else."""
    with_them, without = only([*rated(1, 5, None), NOT_APPLICABLE]), only(rated(1, 5, None))
    assert with_them.not_applicable == 1
    assert [getattr(with_them, name) for name in ("mean", "least", "most", "scored", "unscored")] == [
        getattr(without, name) for name in ("mean", "least", "most", "scored", "unscored")
    ]


def test_the_unscored_are_counted_by_reason_and_bound_the_mean() -> None:
    """Two of four are missing: at worst each is a rating of 1, at best one of 5; so where repeats differ."""
    repeated = only([Score("a", "m", 0.5, repeats=(0.4, 0.6)), Score("b", "m", None, unscored_because="refused")])
    assert repeated.least == 0.35
    summary = only(rated(5, 3, None, None))
    assert (summary.scored, summary.unscored, summary.unscored_because) == (2, 2, {"timeout": 2})
    assert summary.mean == pytest.approx(0.8)
    assert (summary.least, summary.most) == (pytest.approx((1.6 + 0.4) / 4), pytest.approx((1.6 + 2) / 4))


def test_nothing_scored_leaves_every_mean_possible() -> None:
    """The mean is missing, not 0; a reason that nobody gave is said to be none. A judge's NaN gets into no mean."""
    odd = only([Score("a", "m", math.nan), Score("b", "m", 1.0)])
    assert (odd.mean, odd.unscored_because) == (1.0, {"its value is no number": 1})
    summary = only([Score("a", "m", None)])
    assert (summary.mean, summary.level, summary.least, summary.most) == (None, None, 0.0, 1.0)
    assert summary.unscored_because == {"no reason given": 1}


def test_the_interval_is_one_over_groups() -> None:
    """Ten copies of each record, grouped, say no more than one; as records of their own they would. One group has
    none."""
    one = only(rated(1, 5), {"r0": "g", "r1": "g"})
    assert (one.low, one.high) == (None, None)
    scores = [Score(f"r{n}", "m", (n % 8) / 7) for n in range(80)]
    alone, grouped = only(scores), only(scores, {f"r{n}": f"g{n % 8}" for n in range(80)})
    assert 0.5 - grouped.low > 2 * (0.5 - alone.low) > 0


@pytest.mark.parametrize(
    ("mean", "named"), [(0.49, "low"), (0.5, "moderate"), (0.899, "moderate"), (0.9 - 1e-12, "high"), (1.0, "high")]
)
def test_a_level_is_reached_as_on_paper(mean: float, named: str) -> None:
    """A mean of .8 and 1 is high, though its sum in binary may fall short of .9."""
    assert level(mean) == named


SCORES = st.lists(
    st.builds(
        Score,
        st.integers(0, 30).map(str),
        st.sampled_from(["f", "m"]),
        st.none() | st.floats(0, 1),
        applies=st.booleans(),
    ),
    max_size=30,
    unique_by=lambda score: (score.metric, score.record_id),
)


def test_no_summary_depends_on_the_order_of_its_scores() -> None:
    """A run that was resumed sums up as one that was not: the same resamples draw the same records."""
    scores = [*rated(*[1 + n * n % 5 for n in range(23)]), *(Score(f"r{n}", "f", n / 30) for n in range(30))]
    groups = {"r1": "g", "r2": "g"}
    assert summaries(scores, groups) == summaries(scores[::-1], groups)


@settings(max_examples=40)
@given(SCORES)
def test_bounds_hold_the_mean_and_all_is_json(scores: list[Score]) -> None:
    """least ≤ mean ≤ most, low ≤ mean ≤ high up to rounding, and every record is counted once."""
    for one in summaries(scores, {}):
        assert one.scored + one.unscored + one.not_applicable == sum(s.metric == one.metric for s in scores)
        json.dumps(to_json(one), allow_nan=False)
        if one.mean is not None and one.least is not None and one.most is not None:
            assert one.least - 1e-9 <= one.mean <= one.most + 1e-9
            assert one.low is None or one.low - 1e-9 <= one.mean <= (one.high or 0) + 1e-9


# Examples from the low, middle and high third of a metric's scores.


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


@given(st.lists(st.sampled_from([0.2, 0.4, 0.6, 0.8, 1.0]), min_size=21, max_size=70))
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
