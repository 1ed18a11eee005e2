"""The paired test of a change, and what it takes to keep it."""

from __future__ import annotations

import pytest

from surefoot.evaluate.improve.proof import Control, Difference, adjusted, needed, paired, values, verdict
from surefoot.stats.figures import holm, mcnemar
from surefoot.types import Gain, Score

ALPHA = 0.05


def found(difference: float, p: float = 0.001, unscored: int = 0, worst: float | None = None) -> Difference:
    gain = Gain("right", 0.3, 0.3 + difference, difference, difference - 0.1, difference + 0.1, p, 50)
    return Difference(gain, unscored, difference if worst is None else worst)


def alone(*ids: str) -> dict[str, str]:
    return {id: id for id in ids}


def questions(outcomes: list[float | None]) -> dict[str, float | None]:
    return {str(number): outcome for number, outcome in enumerate(outcomes)}


def test_right_and_wrong_are_tested_as_mcnemar_does() -> None:
    """Each question stands for itself: the exact test over those that changed sides."""
    before, after = [0.0] * 12 + [1.0] * 3, [1.0] * 9 + [0.0] * 5 + [1.0]
    got = paired("right", questions(before), questions(after), alone(*questions(before)))
    assert got is not None
    assert got.gain.p == mcnemar([v == 1 for v in before], [v == 1 for v in after]).p
    assert (got.gain.questions, got.gain.difference) == (15, pytest.approx(7 / 15))
    assert got.gain.low <= got.gain.difference <= got.gain.high


def test_ratings_are_tested_by_flipping_signs() -> None:
    """All 2^4 ways of four differences of one sign: two of sixteen are as far apart."""
    before, after = questions([0.2, 0.4, 0.2, 0.6]), questions([0.4, 0.8, 1.0, 0.8])
    got = paired("adherence", before, after, alone("0", "1", "2", "3"))
    assert got is not None
    assert got.gain.p == 2 / 16


def test_questions_of_one_group_count_once() -> None:
    """Twenty that all hang on two documents are two trials, and no test tells two trials from chance."""
    before, after = questions([0.0] * 20), questions([1.0] * 20)
    groups = {id: str(int(id) % 2) for id in before}
    got = paired("right", before, after, groups)
    assert got is not None
    assert got.gain.p == 2 / 4


def test_what_is_unscored_is_in_no_mean() -> None:
    """It is counted, and what it could be worth at worst is stated; what does not apply is not there."""
    scores = [Score("1", "m", 0.4), Score("2", "m", None), Score("3", "m", None, applies=False), Score("4", "n", 1.0)]
    assert values(scores, "m") == {"1": 0.4, "2": None}
    got = paired("right", questions([0.0, 0.0, None, 1.0]), questions([1.0, None, 1.0, 1.0]), alone(*"0123"))
    assert got is not None
    assert (got.gain.questions, got.gain.difference, got.unscored) == (2, 0.5, 2)
    assert got.worst == pytest.approx((1 + 0 + 0 + 0) / 4)


def test_without_two_groups_there_is_no_test() -> None:
    """None, and no number that stands for it."""
    assert paired("right", questions([0.0]), questions([1.0]), alone("0")) is None
    assert paired("right", questions([None, None]), questions([1.0, 1.0]), alone("0", "1")) is None


def test_all_arms_are_corrected_together() -> None:
    """By Holm; an arm without a test is 1 and costs the others nothing."""
    got = adjusted({"a": found(0.3, 0.01), "b": found(0.1, 0.04), "c": None})
    assert got == {"a": holm([0.01, 0.04])[0], "b": holm([0.01, 0.04])[1], "c": 1.0}


@pytest.mark.parametrize(
    ("change", "p", "control", "because"),
    [
        (found(0.3), 0.004, Control(found(0.0, 1.0), 1.0, found(0.3)), ""),
        (found(0.3), 0.05, None, "not shown to be better on the held-out half (p = 0.05 after Holm)"),
        (found(-0.3), 0.001, None, "not shown to be better"),
        (found(0.0, 1.0), 1.0, None, "not shown to be better"),
        (found(0.3, unscored=20, worst=-0.1), 0.004, None, "its gain hangs on 20 questions"),
        (found(0.3, unscored=1, worst=0.2), 0.004, None, ""),
        (found(0.3), 0.004, Control(found(0.3, 0.2), 0.4, found(0.0, 1.0)), "lever does as well as far as can be told"),
        (found(0.3), 0.004, Control(found(0.25), 0.01, found(0.05, 0.4)), "told (+25.0 points)"),
        (found(0.3), 0.004, Control(found(0.25), 0.01, found(0.05, 0.01)), ""),
        (found(0.3), 0.004, Control(found(0.25), 0.2, found(0.05, 0.4)), ""),
    ],
)
def test_a_change_is_kept_that_is_significantly_better_and_matched_by_nothing(
    change: Difference, p: float, control: Control | None, because: str
) -> None:
    """The level itself is not below the level, and a significant loss is no gain. A control matches with the same gain,
    or where it is better too and cannot be told apart."""
    kept, why = verdict(change, p, {"random lever": control} if control else {}, ALPHA)
    assert kept == (not because)
    assert (because or "and no control does as well") in why


def test_how_many_questions_it_takes_is_told_beforehand() -> None:
    """Eight in one direction pass among four arms, seven do not."""
    assert needed(4, ALPHA) == 8
    assert 4 * mcnemar([False] * 8, [True] * 8).p < ALPHA <= 4 * mcnemar([False] * 7, [True] * 7).p
