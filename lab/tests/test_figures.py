"""Figures of the lab."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from surefoot.stats.figures import Figure, Statistic, figure, mean, resampled, roc_auc
from surefoot_lab.figures import (
    average_precision,
    brier,
    expected_calibration_error,
    macro,
    recall_at,
    relative,
    risk_area,
    token_f1,
)

SCORED = st.lists(st.tuples(st.integers(-3, 3), st.booleans(), st.integers(0, 3)), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("k", "retrieved", "gold", "hit"),
    [
        (1, ["a", "b"], {"a"}, True),
        (1, ["b", "a"], {"a"}, False),
        (2, ["b", "a"], {"a"}, True),
        (5, ["a#3"], {"a"}, True),
        (5, ["x#y"], {"x#y"}, True),
        (5, ["x#y#2"], {"x#y"}, True),
        (5, ["0123456789:a#2"], {"a"}, True),
        (5, ["ab"], {"a"}, False),
        (5, [], {"a"}, False),
    ],
)
def test_recall_looks_at_the_first_k(k: int, retrieved: list[str], gold: set[str], hit: bool) -> None:
    """A part of a split passage counts as the passage, also where the id itself holds a #."""
    assert recall_at(k, retrieved, frozenset(gold)) is hit


@pytest.mark.parametrize(
    ("scores", "labels", "auc", "precision"),
    [
        ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], 1.0, 1.0),
        ([0.9, 0.8, 0.2, 0.1], [0, 0, 1, 1], 0.0, (1 / 3 + 2 / 4) / 2),
        ([0.5, 0.5, 0.5, 0.5], [0, 1, 0, 0], 0.5, 0.25),
        ([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0], 0.875, (1 + 2 / 3) / 2),
    ],
)
def test_ranking_is_counted_with_ties(scores: list[float], labels: list[int], auc: float, precision: float) -> None:
    """Worked by hand: tied items count one half for the AUC, and share one precision."""
    assert roc_auc(scores, labels).value == pytest.approx(auc)
    assert average_precision(scores, labels).value == pytest.approx(precision)


@settings(deadline=None)
@given(SCORED)
@pytest.mark.parametrize("make", [roc_auc, average_precision, expected_calibration_error, brier, risk_area])
def test_a_weight_is_how_often_an_item_is_there(
    make: Callable[..., Statistic], items: list[tuple[int, bool, int]]
) -> None:
    """What a bootstrap computes from counts is what it would from a copied sample; of nothing there is no figure."""
    chances = [(score + 3) / 6 for score, _, _ in items]
    one = make(chances, [label for _, label, _ in items])
    weights = np.array([[float(count) for _, _, count in items]])
    copied = [(chance, label) for chance, (_, label, count) in zip(chances, items, strict=True) for _ in range(count)]
    again = make([chance for chance, _ in copied], [label for _, label in copied]).value
    # The items of a ranking are in the order of its scores, and so are its weights.
    weighted = one.weighted(weights[:, one.questions])[0]
    assert weighted == pytest.approx(math.nan if again is None else again, nan_ok=True)


def test_the_risk_area_is_the_mean_risk_of_the_surest() -> None:
    """Worked by hand, from the surest on: right, then wrong; two that are equally sure come in half and half."""
    assert risk_area([0.9, 0.1], [0, 1]).value == pytest.approx((0 + (1 - math.log(2))) / 2)
    assert risk_area([0.9, 0.1], [1, 0]).value == pytest.approx((1 + math.log(2)) / 2)
    assert risk_area([0.5, 0.5, 0.5, 0.5], [1, 0, 0, 0]).value == pytest.approx(0.25)


@settings(deadline=None)
@given(SCORED)
def test_the_better_sorted_answers_are_the_less_they_risk(items: list[tuple[int, bool, int]]) -> None:
    """By the truth itself no area is smaller, and by its opposite none larger; all alike, it is the share of faults."""
    sure, wrong = [score for score, _, _ in items], [label for _, label, _ in items]
    if not items:
        return
    best, there, worst = (risk_area(by, wrong).value for by in ([not one for one in wrong], sure, wrong))
    assert best is not None
    assert there is not None
    assert worst is not None
    assert best - 1e-9 <= there <= worst + 1e-9
    assert risk_area([0.0] * len(wrong), wrong).value == pytest.approx(sum(wrong) / len(wrong))


def test_the_calibration_error_weighs_each_bin_by_its_items() -> None:
    """Fifteen bins: 0.99 and 1 share the last; 0.05 has the first to itself; 1/15 begins the second."""
    error = expected_calibration_error([0.99, 1.0, 0.05, 1 / 15, 0.1], [1, 0, 0, 1, 0])
    assert error.value == pytest.approx((abs(1.99 - 1) + 0.05 + abs(1 / 15 + 0.1 - 1)) / 5)
    assert expected_calibration_error([1.0, 0.0], [1, 0]).value == 0


def test_a_change_can_be_a_share() -> None:
    """A quarter of what it was before; nothing of 0 can be one."""
    counts = resampled(400)
    one = figure(mean(np.arange(400) % 5 < 4), counts)
    results = relative(one, figure(mean(np.arange(400) % 5 < 3), counts))
    assert results.value == pytest.approx(-0.25)
    assert results.low < -0.25 < results.high < 0  # type: ignore[operator]
    none = relative(figure(mean(np.zeros(400)), counts), one)
    assert (none.value, none.undefined) == (None, "there is nothing to take a share of")


def test_a_mean_over_files_leaves_out_the_undefined() -> None:
    """And is surer than either: the questions of each file were drawn on their own."""
    one, two = figure(mean([0, 1] * 20), resampled(40, 1)), figure(mean([0, 1, 1, 1] * 10), resampled(40, 2))
    nothing = figure(mean([], np.zeros(0, dtype=np.int64)), resampled(40, 3))
    both = macro([one, nothing, two])
    assert (both.value, both.of) == (0.625, 2)
    width = [shown.high - shown.low for shown in (one[0], two[0], both)]  # type: ignore[operator]
    assert width[2] == pytest.approx(math.hypot(*width[:2]) / 2, rel=0.15)
    assert macro([nothing]) == Figure(None, None, None, 0, "undefined in every file")


def test_word_overlap_is_the_best_over_the_golds() -> None:
    """Shares of words said and of words sought, in balance; case, marks, accents and articles do not count."""
    assert token_f1("the café, Bell's", ["a Cafe Bell"]) == 1
    assert token_f1("old grey bell", ["grey bell tower", "bell"]) == pytest.approx(2 / 3)
    assert token_f1("bell bell", ["bell"]) == pytest.approx(2 / 3)
    assert token_f1("bell", ["tower"]) == token_f1("", ["the"]) == token_f1("bell", []) == 0
