"""From grades to a decision: the paper's trigger, count routing, and the replay of both."""

import math
from typing import Any

import pytest

from surefoot.evidence.policies import (
    PRESETS,
    AnyIrrelevant,
    Count,
    NoneRelevant,
    Threshold,
    finite,
    fitted_for,
    label,
    labelled,
    redecide,
    require_fitted,
    require_match,
)
from surefoot.types import Action, Decision, Grade, Passage, Thresholds, Trace
from surefoot.types.errors import ConfigError, TraceFault

OWN = Thresholds(upper=0.5, lower=-0.9, strip=-0.5, evaluator="test")
CORRECT, AMBIGUOUS, INCORRECT = Action.CORRECT, Action.AMBIGUOUS, Action.INCORRECT


def grades(*scores: float | None) -> tuple[Grade, ...]:
    return labelled([Grade(str(n), score) for n, score in enumerate(scores)], OWN)


def with_labels(correct: int, ambiguous: int, incorrect: int = 0) -> tuple[Grade, ...]:
    labels = [CORRECT] * correct + [AMBIGUOUS] * ambiguous + [INCORRECT] * incorrect
    return tuple(Grade(str(n), 0.0, label=each) for n, each in enumerate(labels))


@pytest.mark.parametrize(
    ("score", "action"),
    [
        (1.03, CORRECT),
        (0.5, CORRECT),
        (0.4999, AMBIGUOUS),
        (0.0, AMBIGUOUS),
        (-0.9, AMBIGUOUS),
        (-0.9001, INCORRECT),
        (-1.04, INCORRECT),
    ],
)
def test_the_best_score_decides(score: float, action: Action) -> None:
    """At or above τ+ CORRECT, at or above τ− AMBIGUOUS, else INCORRECT, whatever the others score."""
    assert label(score, OWN) is action
    assert Threshold(OWN).decide(grades(-1.5, score, -1.2)).action is action


@pytest.mark.parametrize(
    ("score", "because", "margin"),
    [
        (1.03, "best score 1.03 ≥ upper 0.5", 0.53),
        (0.2, "best score 0.2 lies between lower -0.9 and upper 0.5", 0.3),
        (-1.04, "best score -1.04 < lower -0.9", 0.14),
        (-0.90004, "best score -0.90004 < lower -0.9", 0.00004),
        (0.49996, "best score 0.49996 lies between lower -0.9 and upper 0.5", 0.00004),
        (0.5, "best score 0.5 ≥ upper 0.5", 0.0),
    ],
)
def test_a_decision_explains_itself(score: float, because: str, margin: float) -> None:
    """In words, with the score it hangs on and how close the call was; scores are never clamped."""
    decision = Threshold(OWN).decide(grades(score))
    assert (decision.because, decision.best) == (because, score)
    assert decision.margin == pytest.approx(margin)
    assert (decision.policy, decision.upper, decision.lower) == ("threshold", 0.5, -0.9)


def test_nothing_retrieved_is_incorrect() -> None:
    """There is no score to show, and none is made up."""
    decision = Threshold(OWN).decide(())
    assert (decision.action, decision.because) == (INCORRECT, "nothing was retrieved")
    assert decision.best is decision.margin is None


def test_passages_without_a_grade_are_not_irrelevant() -> None:
    """They leave the matter open: AMBIGUOUS, not INCORRECT."""
    unknown = Threshold(OWN).decide(grades(None, None))
    assert (unknown.action, unknown.because, unknown.best) == (AMBIGUOUS, "no passage could be graded", None)
    half = Threshold(OWN).decide(grades(-1.0, None))
    assert (half.action, half.because, half.best) == (AMBIGUOUS, "1 of 2 passages could not be graded", -1.0)


@pytest.mark.parametrize(
    ("name", "upper", "lower"),
    [("popqa", 0.592, -0.995), ("pubhealth", 0.5, -0.915), ("arc", 0.5, -0.91), ("bio", 0.95, -0.91)],
)
def test_the_presets_are_those_of_the_released_scripts(name: str, upper: float, lower: float) -> None:
    """They belong to the paper's T5 evaluator, with its strip threshold of -0.5."""
    preset = PRESETS[name]
    assert (preset.upper, preset.lower, preset.strip, preset.evaluator) == (upper, lower, -0.5, f"t5:{name}")
    assert preset.fitted_on


def test_thresholds_of_one_evaluator_do_not_judge_another() -> None:
    """The error names both, and the way out."""
    with pytest.raises(ConfigError, match=r"fitted for the evaluator 't5:popqa' and mean nothing for 'lexical'; leave"):
        require_match(PRESETS["popqa"], "lexical")
    require_match(PRESETS["popqa"], "t5:popqa")


def test_an_evaluator_without_thresholds_says_how_to_get_some() -> None:
    """And one that has some gives them."""
    with pytest.raises(ConfigError, match=r"^test has no thresholds; fit them .*surefoot lab tune.*fitted = "):
        require_fitted(None, "test")
    assert require_fitted(OWN, "test") is OWN


def test_thresholds_fitted_elsewhere_come_as_a_table_or_whole() -> None:
    """A table is a hand's, for this evaluator, unless it says otherwise."""
    assert fitted_for("test", OWN) is OWN
    table = {"upper": 2, "lower": 1.5, "strip": 0}
    assert fitted_for("test", table) == Thresholds(2, 1.5, 0, "test", "set by hand")
    assert fitted_for("test", {**table, "fitted_on": "tales"}).fitted_on == "tales"


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        (3, "must be a table of upper, lower and strip"),
        ({}, "must be a table of upper, lower and strip: .*'upper', 'lower', and 'strip'"),
        ({"upper": 1, "lower": 0, "strip": 0, "top": 1}, "must be a table .*'top'"),
        ({"upper": math.nan, "lower": 0, "strip": 0}, "must be finite numbers, not .nan, 0, 0"),
        ({"upper": 1, "lower": "low", "strip": 0}, "must be finite numbers"),
        ({"upper": 1, "lower": 0, "strip": True}, "must be finite numbers"),
        ({"upper": 1, "lower": 2, "strip": 0}, "lower 2 lies above upper 1"),
        ({"upper": 1, "lower": 0, "strip": 0, "evaluator": "other"}, "fitted for the evaluator 'other'"),
    ],
)
def test_what_is_no_thresholds_for_the_evaluator_is_refused(thresholds: Any, message: str) -> None:
    """In one line, whatever was given."""
    with pytest.raises(ConfigError, match=message):
        fitted_for("test", thresholds)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_was_not_graded(score: float) -> None:
    """It becomes None with a reason, and what came with it goes; what had no score keeps the reason that it has."""
    (grade,) = labelled([Grade("a", score, 0.9, CORRECT, "sure", span=(0, 3), window=(0, 9))], OWN)
    assert grade == Grade("a", None, reason=f"the evaluator returned {score}", window=(0, 9))
    assert finite(Grade("a", None, 0.9, CORRECT, "it is empty", (0, 3))) == Grade("a", None, reason="it is empty")


@pytest.mark.parametrize(
    ("correct", "ambiguous", "rewrites", "action", "again"),
    [
        (2, 0, 0, CORRECT, False),
        (3, 2, 0, CORRECT, False),
        (1, 1, 0, CORRECT, False),
        (1, 0, 0, AMBIGUOUS, False),
        (0, 2, 0, AMBIGUOUS, True),
        (0, 5, 1, AMBIGUOUS, True),
        (0, 2, 2, AMBIGUOUS, False),
        (0, 2, 3, AMBIGUOUS, False),
        (1, 1, 2, CORRECT, False),
        (0, 1, 0, AMBIGUOUS, False),
        (0, 0, 0, INCORRECT, False),
        (0, 0, 2, INCORRECT, False),
    ],
)
def test_count_routing(correct: int, ambiguous: int, rewrites: int, action: Action, again: bool) -> None:
    """Two correct, or one with an ambiguous one, answer; two ambiguous ones alone rewrite; all else searches."""
    decision = Count(OWN).decide(with_labels(correct, ambiguous, incorrect=2), rewrites)
    assert (decision.action, decision.again, decision.rewrites) == (action, again, rewrites)


@pytest.mark.parametrize(
    ("correct", "ambiguous", "incorrect", "any_action", "none_action"),
    [
        (2, 1, 0, CORRECT, CORRECT),
        (1, 0, 1, AMBIGUOUS, CORRECT),
        (0, 1, 9, AMBIGUOUS, CORRECT),
        (0, 0, 3, INCORRECT, INCORRECT),
        (0, 0, 0, INCORRECT, INCORRECT),
    ],
)
def test_one_irrelevant_passage_searches_or_one_relevant_passage_answers(
    correct: int, ambiguous: int, incorrect: int, any_action: Action, none_action: Action
) -> None:
    """The two routings of others; the second rewrites before it searches, and both say what they counted."""
    seen = with_labels(correct, ambiguous, incorrect)
    first, second = AnyIrrelevant(OWN).decide(seen), NoneRelevant(OWN, max_rewrites=1).decide(seen)
    good = f"{correct + ambiguous} of {len(seen)} passages are relevant"
    assert (first.action, first.again, first.because) == (any_action, False, good)
    rewrites = none_action is INCORRECT
    assert (second.action, second.again) == (none_action, rewrites)
    assert second.because == (f"{good}; rewrite 1" if rewrites else good)
    assert not NoneRelevant(OWN, max_rewrites=1).decide(seen, 1).again


def test_a_trace_is_decided_again_from_the_grades_of_what_was_retrieved() -> None:
    """Grades of passages from outside came after the decision, and have no part in it."""
    inside, outside = grades(-1.0, -1.0), grades(0.9)
    passages = tuple(Passage(str(n), "text") for n in range(2))
    decision = Threshold(OWN).decide(inside)
    trace = Trace("t", "Q?", passages, inside + outside, decision, external=(Passage("x", "text", source="external"),))
    assert redecide(trace) == decision


@pytest.mark.parametrize(
    ("decision", "error", "says"),
    [
        (None, None, "trace t holds no decision to replay: its method makes none"),
        (None, "the retriever broke", "trace t holds no decision to replay: the retriever broke"),
        (
            Decision(CORRECT, "coin", 0.0, 0.0, "heads"),
            None,
            "'coin', which is not one of: threshold, count, any_irrelevant, none_relevant",
        ),
    ],
)
def test_what_cannot_be_replayed_says_why(decision: Decision | None, error: str | None, says: str) -> None:
    """No decision, or one of a policy that is not ours."""
    with pytest.raises(TraceFault, match=says):
        redecide(Trace("t", "Q?", decision=decision, error=error))


def test_a_capped_grade_decides_no_more_than_its_cap() -> None:
    """Whatever its score; and what counts for nothing is no passage that could not be graded."""
    high = OWN.upper + 1
    capped, nothing = Grade("a", high, cap=AMBIGUOUS), Grade("b", None, cap=INCORRECT)
    assert Threshold(OWN).decide([capped]).action is AMBIGUOUS
    assert Threshold(OWN).decide([capped, Grade("c", high)]).action is CORRECT
    assert Threshold(OWN).decide([nothing]).action is INCORRECT
    assert Threshold(OWN).decide([nothing]).because == "nothing that was retrieved counts as evidence"
    assert Threshold(OWN).decide([nothing, Grade("c", None)]).action is AMBIGUOUS
