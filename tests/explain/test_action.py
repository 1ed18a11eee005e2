"""What would have flipped the action does flip it, and nothing smaller does."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from surefoot.evidence.policies import POLICIES, labelled, redecide
from surefoot.explain.action import explain_action, only, under
from surefoot.types import Action, Grade, Passage, Thresholds, Trace
from surefoot.types.errors import TraceFault

OWN = Thresholds(1.0, -1.0, strip=0.0, evaluator="test")
scores = st.lists(st.none() | st.floats(-3, 3, width=16).map(lambda score: score + 0.0), min_size=1, max_size=5)
policies = st.sampled_from(sorted(POLICIES))


def traced(values: list[float | None], policy: str = "threshold") -> Trace:
    grades = labelled([Grade(f"p{n}", value) for n, value in enumerate(values)], OWN)
    passages = tuple(Passage(grade.passage_id, "text") for grade in grades)
    return Trace("t", "Who?", passages, grades, POLICIES[policy](OWN).decide(grades))


@given(scores, policies)
def test_what_is_dropped_flips_and_no_fewer_do(values: list[float | None], policy: str) -> None:
    """By taking the decision again over every other choice of as few passages."""
    trace = traced(values, policy)
    for drop in explain_action(trace).drops:
        left = [n for n, passage in enumerate(trace.passages) if passage.id not in drop.passage_ids]
        assert only(trace, left).action is drop.action is not redecide(trace).action
        fewer = [
            kept for size in range(len(left) + 1, len(values) + 1) for kept in combinations(range(len(values)), size)
        ]
        assert all(only(trace, kept).action is not drop.action for kept in fewer)


@given(scores, policies)
def test_a_moved_threshold_flips_and_no_nearer_one_does(values: list[float | None], policy: str) -> None:
    """At the place that is told the action is another; a hair nearer to where it was, it is not that one."""
    trace = traced(values, policy)
    for move in explain_action(trace).shifts:
        was = {"upper": OWN.upper, "lower": OWN.lower}
        assert move.by == pytest.approx(move.to - was[move.threshold])
        assert under(trace, replace(OWN, **{move.threshold: move.to})) is move.action
        nearer = math.nextafter(move.to, was[move.threshold])
        assert under(trace, replace(OWN, **{move.threshold: nearer})) is not move.action


def test_the_smallest_moves_are_told() -> None:
    """τ+ down to the best score, or τ− up past it."""
    moves = {(move.threshold, move.action): move for move in explain_action(traced([0.25, -2.0])).shifts}
    assert moves["upper", Action.CORRECT].by == -0.75
    assert moves["lower", Action.INCORRECT].by == pytest.approx(1.25)
    assert len(moves) == 2


def test_a_label_that_the_evaluator_gave_is_not_moved() -> None:
    """A language model that judges in labels knows no thresholds; count routing goes by its labels."""
    trace = traced([0.5, 0.5], "count")
    judged = replace(trace, grades=tuple(replace(grade, label=Action.CORRECT) for grade in trace.grades))
    judged = replace(judged, decision=POLICIES["count"](OWN).decide(judged.grades))
    assert explain_action(judged).shifts == ()


def test_passages_share_the_action() -> None:
    """Two that are CORRECT alone share it; what could not be graded leads to AMBIGUOUS alone."""
    carried = explain_action(traced([2.0, 1.0, -2.0, None])).carried
    assert carried is not None
    assert carried.values == pytest.approx([5 / 6, 5 / 6, 0.0, 1 / 3])
    assert (carried.base, carried.full, carried.gap) == (0.0, 2.0, pytest.approx(0.0))
    assert [unit.words for unit in carried.units] == ["p0", "p1", "p2", "p3"]


def test_under_count_routing_passages_share_the_action() -> None:
    """Two that are needed for CORRECT have the same share of it."""
    carried = explain_action(traced([2.0, 2.0, -2.0], "count")).carried
    assert carried is not None
    assert carried.full == 2.0
    assert carried.values == pytest.approx([1.0, 1.0, 0.0])


def test_an_action_of_many_passages_is_sampled() -> None:
    """More than twelve under count routing; the sum is still the whole."""
    carried = explain_action(traced(np.linspace(-2, 2, 20).tolist(), "count")).carried
    assert carried is not None
    assert carried.method == "regression"
    assert abs(carried.gap) < 1e-9


def test_a_trace_without_a_decision_is_refused() -> None:
    """There is nothing to explain; nor in one that does not fit together."""
    with pytest.raises(TraceFault, match="holds no decision"):
        explain_action(Trace("t", "Who?"))
    broken = traced([1.0, 0.0])
    with pytest.raises(TraceFault, match="fewer grades than passages"):
        explain_action(replace(broken, grades=broken.grades[:1]))


@pytest.mark.parametrize("values", [[], [None, None]])
def test_where_nothing_was_graded_nothing_is_shared(values: list[float | None]) -> None:
    """No best score, no margin, no values."""
    found = explain_action(traced(values))
    assert (found.decision.best, found.carried, found.shifts) == (None, None, ())


def test_a_trace_of_more_passages_than_time_is_for_is_refused() -> None:
    """A stranger's trace of thousands would take hours; the largest that is explained takes seconds."""
    with pytest.raises(TraceFault, match="has 501 passages, and an action is explained by at most 500; ask again"):
        explain_action(traced([0.0] * 501))
