"""Reasons for an action: how near the thresholds were, what would have flipped it, and which passages carried it.

Pure: computed from the trace, with no call of a component; take the decision again to check it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from surefoot.evidence.policies import RANK, label, redecide
from surefoot.explain.grade import attribution
from surefoot.explain.shapley import Counted, Masks, Vector, shares
from surefoot.types import Action, Attribution, Decision, Grade, Thresholds, Trace, Unit
from surefoot.types.errors import TraceFault

MOST_PASSAGES = 500
"""Passages of a trace that is explained: the time grows with their square, and for 500 it is some 15 s."""
DROPPED = 12
"""The fewest passages to drop are sought among so many, the best graded first."""
TOLERANCE = 0.02
"""Standard error of the passages' shares, beside the largest of them."""


@dataclass(frozen=True, slots=True)
class DroppedPassages:
    """The fewest passages without which the action is another; of as few, those with the highest grades."""

    passage_ids: tuple[str, ...]
    action: Action


@dataclass(frozen=True, slots=True)
class ThresholdShift:
    """The smallest move of one threshold that makes the action another."""

    threshold: Literal["upper", "lower"]
    to: float
    by: float
    """`to` less where it was; positive: the threshold is raised."""
    action: Action


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """The action without one passage."""

    passage_id: str
    score: float | None
    action: Action


@dataclass(frozen=True, slots=True)
class ActionExplanation:
    """The explanation of a trace's action, and how little would have made it another."""

    question: str
    decision: Decision
    """Taken again from the trace's grades."""
    drops: tuple[DroppedPassages, ...]
    """One for each other action that dropping passages can bring, the fewest first."""
    shifts: tuple[ThresholdShift, ...]
    """One for each threshold and each other action that moving it alone can bring, the smallest first."""
    without: tuple[LeaveOneOut, ...]
    """One a passage, in the trace's order."""
    carried: Attribution | None
    """The passages' Shapley values of the action's level. None: nothing was graded."""


def explain_action(trace: Trace) -> ActionExplanation:
    """The explanation of the action. Raises TraceFault for a trace without a decision, one that does not fit, or one
    of more than 500 passages."""
    if len(trace.passages) > MOST_PASSAGES:
        raise TraceFault(
            f"trace {trace.id} has {len(trace.passages):,} passages, and an action is explained by at most "
            f"{MOST_PASSAGES}; ask again with a smaller pipeline.k"
        )
    was = redecide(trace)
    if len(trace.grades) < len(trace.passages):
        raise TraceFault(f"trace {trace.id} has fewer grades than passages")
    return ActionExplanation(
        trace.standalone_question,
        was,
        _drops(trace, was.action),
        tuple(_shifts(trace, was)),
        tuple(_without(trace, n) for n in range(len(trace.passages))),
        None if was.best is None else _carried(trace),
    )


def only(trace: Trace, numbers: Sequence[int]) -> Decision:
    """The decision over these passages alone, by their numbers."""
    return redecide(
        replace(
            trace, passages=tuple(trace.passages[n] for n in numbers), grades=tuple(trace.grades[n] for n in numbers)
        )
    )


def _drops(trace: Trace, action: Action) -> tuple[DroppedPassages, ...]:
    every, first = range(len(trace.passages)), dict[Action, DroppedPassages]()
    ranked = sorted(every, key=lambda n: -_height(trace.grades[n]))[:DROPPED]
    for size in range(1, len(ranked) + 1):
        for gone in combinations(ranked, size):
            after = only(trace, [n for n in every if n not in gone]).action
            if after is not action and after not in first:
                first[after] = DroppedPassages(tuple(trace.passages[n].id for n in gone), after)
    return tuple(first.values())


def _height(grade: Grade) -> float:
    return -math.inf if grade.score is None else grade.score


def _without(trace: Trace, gone: int) -> LeaveOneOut:
    after = only(trace, [n for n in range(len(trace.passages)) if n != gone])
    return LeaveOneOut(trace.passages[gone].id, trace.grades[gone].score, after.action)


def _shifts(trace: Trace, was: Decision) -> list[ThresholdShift]:
    """Moves to every score: a threshold changes an action only where it passes one."""
    scores = [grade.score for grade in trace.grades[: len(trace.passages)] if grade.score is not None]
    found: dict[tuple[str, Action], ThresholdShift] = {}
    for to in sorted({place for score in scores for place in (score, math.nextafter(score, math.inf))}):
        for name, upper, lower in (("upper", to, was.lower), ("lower", was.upper, to)):
            after = was.action if lower > upper else under(trace, Thresholds(upper, lower, 0.0, "moved"))
            by = to - getattr(was, name)
            if after is not was.action and ((name, after) not in found or abs(by) < abs(found[name, after].by)):
                found[name, after] = ThresholdShift(name, to, by, after)  # type: ignore[arg-type]
    return sorted(found.values(), key=lambda move: abs(move.by))


def under(trace: Trace, moved: Thresholds) -> Action:
    """The action under other thresholds; labels that the evaluator gave by other rules than the old ones stay."""
    was = redecide(trace)
    old = Thresholds(was.upper, was.lower, 0.0, "recorded")

    def relabelled(grade: Grade) -> Grade:
        if grade.score is None or grade.label is not label(grade.score, old):
            return grade
        return replace(grade, label=label(grade.score, moved))

    grades = tuple(relabelled(grade) for grade in trace.grades)
    decision = replace(trace.decision or was, upper=moved.upper, lower=moved.lower)
    return redecide(replace(trace, grades=grades, decision=decision)).action


def _carried(trace: Trace) -> Attribution:
    def level(masks: Masks) -> Vector:
        return np.array([RANK.index(only(trace, np.flatnonzero(mask).tolist()).action) for mask in masks], float)

    game = Counted(level)
    return attribution(
        shares(game, len(trace.passages), tolerance=TOLERANCE),
        game,
        of="action (0 incorrect, 1 ambiguous, 2 correct)",
        question=trace.standalone_question,
        passage=None,
        units=tuple(Unit("passage", 0, 0, passage.id) for passage in trace.passages),
        baseline="",
        seed=0,
        tolerance=TOLERANCE,
        notes=(),
    )
