"""From grades to a decision: the trigger of corrective RAG, and the routings of its agentic variants. Pure.

From the grades of a trace it must reach the same decision again (`redecide`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from surefoot.types import Action, Decision, Grade, Thresholds, Trace
from surefoot.types.errors import ConfigError, TraceFault
from surefoot.types.protocols import Policy

PRESETS: dict[str, Thresholds] = {
    name: Thresholds(upper, lower, strip=-0.5, evaluator=f"t5:{name}", fitted_on=f"CRAG's released script for {data}")
    for name, data, upper, lower in [
        ("popqa", "PopQA", 0.592, -0.995),
        ("pubhealth", "PubHealth", 0.5, -0.915),
        ("arc", "ARC-Challenge", 0.5, -0.91),
        ("bio", "Biography", 0.95, -0.91),
    ]
}
"""The paper's thresholds. They are logits of its T5 evaluator and mean nothing for another one; the name of a
checkpoint goes on with a hash of its weights. The paper prints 0.59/-0.99 for PopQA and -0.91 for PubHealth; these are
the values that its scripts run with."""


RANK = (Action.INCORRECT, Action.AMBIGUOUS, Action.CORRECT)
"""The actions from the least trust to the most; 0, 1 and 2 stand for them where no single score decides."""


def label(score: float, thresholds: Thresholds) -> Action:
    """The action that a passage with this score would lead to alone."""
    if score >= thresholds.upper:
        return Action.CORRECT
    return Action.AMBIGUOUS if score >= thresholds.lower else Action.INCORRECT


def labelled(grades: Sequence[Grade], thresholds: Thresholds) -> tuple[Grade, ...]:
    """The grades with labels; one that the evaluator set itself stays. A score that is no number was not graded."""
    return tuple(_labelled(grade, thresholds) for grade in grades)


def _labelled(grade: Grade, thresholds: Thresholds) -> Grade:
    grade = finite(grade)
    return grade if grade.score is None or grade.label else replace(grade, label=label(grade.score, thresholds))


def allowed(grade: Grade, thresholds: Thresholds) -> Action | None:
    """The action that a passage with this grade would lead to alone, its cap applied. None: it could not be graded."""
    if grade.score is None or not math.isfinite(grade.score):
        return Action.INCORRECT if grade.cap is Action.INCORRECT else None
    return min(label(grade.score, thresholds), grade.cap or Action.CORRECT, key=RANK.index)


def finite(grade: Grade) -> Grade:
    """The grade; where its score is no number, nothing else of it stands but the reason and what was read."""
    if grade.score is not None and math.isfinite(grade.score):
        return grade
    why = grade.reason if grade.score is None else f"the evaluator returned {grade.score}"
    return replace(grade, score=None, probability=None, label=None, reason=why, span=None)


def _distinct_digits(score: float, *thresholds: float) -> list[str]:
    """The numbers with three digits, or with as many more as it takes to see on which side the score lies."""
    for digits in range(3, 18):
        shown, *others = (f"{number:.{digits}g}" for number in (score, *thresholds))
        if shown not in others or score in thresholds:
            break
    return [shown, *others]


@dataclass(frozen=True, slots=True)
class Threshold:
    """The trigger of the CRAG paper (section 4.3, algorithm 1): the best score against τ+ and τ−.

    Scores are taken as they are: logits trained towards ±1 leave [-1, 1]. A passage that could not be graded is no
    evidence against itself, so INCORRECT needs every passage to have a grade.
    """

    thresholds: Thresholds
    name: ClassVar[str] = "threshold"

    def decide(self, grades: Sequence[Grade], rewrites: int = 0) -> Decision:
        """CORRECT when any score is at or above τ+, else AMBIGUOUS when any is at or above τ−, else INCORRECT.

        A grade counts for no more than its cap.
        """
        if not grades:
            return self._decision(Action.INCORRECT, "nothing was retrieved", None)
        marks = [allowed(grade, self.thresholds) for grade in grades]
        ungraded = marks.count(None)
        if ungraded == len(marks):
            return self._decision(Action.AMBIGUOUS, "no passage could be graded", None)
        action = max((mark for mark in marks if mark), key=RANK.index)
        deciding = [grade for grade, mark in zip(grades, marks, strict=True) if mark is action]
        best = _best(deciding)
        if action is Action.INCORRECT and ungraded:
            return self._decision(Action.AMBIGUOUS, f"{ungraded} of {len(grades)} passages could not be graded", best)
        if best is None:
            return self._decision(action, "nothing that was retrieved counts as evidence", None)
        return self._decision(action, self._because(action, best), best)

    def _because(self, action: Action, best: float) -> str:
        if label(best, self.thresholds) is not action:
            return f"best score {best:.3g} is that of a passage which may count as {action.value} at most"
        score, upper, lower = _distinct_digits(best, self.thresholds.upper, self.thresholds.lower)
        return {
            Action.CORRECT: f"best score {score} ≥ upper {upper}",
            Action.AMBIGUOUS: f"best score {score} lies between lower {lower} and upper {upper}",
            Action.INCORRECT: f"best score {score} < lower {lower}",
        }[action]

    def _decision(self, action: Action, because: str, best: float | None) -> Decision:
        upper, lower = self.thresholds.upper, self.thresholds.lower
        margin = None if best is None else min(abs(best - upper), abs(best - lower))
        return Decision(action, self.name, upper, lower, because, best, margin)


@dataclass(frozen=True, slots=True)
class Count:
    """Count routing, as the agentic variants of corrective RAG do it: how many passages are good, not how good is one.

    Two correct passages, or one with an ambiguous one beside it, are enough to answer. Two ambiguous ones alone ask
    for a rewritten question and another retrieval, at most `max_rewrites` times. All else searches, with what was
    found kept when any of it was of use. It always ends. A passage that could not be graded counts as ambiguous.
    """

    thresholds: Thresholds
    max_rewrites: int = 2
    name: ClassVar[str] = "count"

    def decide(self, grades: Sequence[Grade], rewrites: int = 0) -> Decision:
        """The route for these grades; `again` asks the pipeline to rewrite and to retrieve once more."""
        labels = [grade.label or Action.AMBIGUOUS for grade in grades]
        correct, ambiguous = labels.count(Action.CORRECT), labels.count(Action.AMBIGUOUS)
        enough = correct >= 2 or (correct >= 1 and ambiguous >= 1)
        again = not correct and ambiguous >= 2 and rewrites < self.max_rewrites
        action = Action.CORRECT if enough else Action.AMBIGUOUS if correct or ambiguous else Action.INCORRECT
        because = f"{correct} correct and {ambiguous} ambiguous of {len(grades)} passages"
        if again:
            because += f"; rewrite {rewrites + 1}"
        return _routed(self, action, because, grades, again, rewrites)


@dataclass(frozen=True, slots=True)
class AnyIrrelevant:
    """The routing of LangGraph's and LlamaIndex's versions: one irrelevant passage is enough to search.

    Irrelevant is what is graded INCORRECT, and what could not be graded; the others are kept beside what is found. Over
    many passages it nearly always searches.
    """

    thresholds: Thresholds
    name: ClassVar[str] = "any_irrelevant"

    def decide(self, grades: Sequence[Grade], rewrites: int = 0) -> Decision:
        """CORRECT where every passage is relevant, INCORRECT where none is."""
        good, because = _relevant(grades)
        action = Action.INCORRECT if not good else Action.CORRECT if good == len(grades) else Action.AMBIGUOUS
        return _routed(self, action, because, grades)


@dataclass(frozen=True, slots=True)
class NoneRelevant:
    """The routing of agentic versions: one relevant passage is enough to answer; else the question is rewritten.

    It is retrieved again, at most `max_rewrites` times, and then searched for. Relevant as in `AnyIrrelevant`.
    """

    thresholds: Thresholds
    max_rewrites: int = 2
    name: ClassVar[str] = "none_relevant"

    def decide(self, grades: Sequence[Grade], rewrites: int = 0) -> Decision:
        """CORRECT where a passage is relevant, else INCORRECT; `again` while it may be rewritten."""
        good, because = _relevant(grades)
        again = not good and rewrites < self.max_rewrites
        because += f"; rewrite {rewrites + 1}" if again else ""
        return _routed(self, Action.CORRECT if good else Action.INCORRECT, because, grades, again, rewrites)


def _relevant(grades: Sequence[Grade]) -> tuple[int, str]:
    good = sum(grade.label not in (None, Action.INCORRECT) for grade in grades)
    return good, f"{good} of {len(grades)} passages are relevant"


def _routed(
    policy: Policy, action: Action, because: str, grades: Sequence[Grade], again: bool = False, rewrites: int = 0
) -> Decision:
    """A decision that no single score makes, so that it has no margin."""
    upper, lower = policy.thresholds.upper, policy.thresholds.lower
    return Decision(action, policy.name, upper, lower, because, _best(grades), None, again, rewrites)


POLICIES: dict[str, Callable[..., Policy]] = {
    policy.name: policy for policy in (Threshold, Count, AnyIrrelevant, NoneRelevant)
}


def redecide(trace: Trace) -> Decision:
    """The decision taken again from the grades that a trace recorded; raises TraceFault when it holds none."""
    if trace.decision is None:
        raise TraceFault(f"trace {trace.id} holds no decision to replay: {trace.error or 'its method makes none'}")
    was = trace.decision
    if was.policy not in POLICIES:
        raise TraceFault(
            f"trace {trace.id} was decided by the policy '{was.policy}', which is not one of: {', '.join(POLICIES)}"
        )
    thresholds = Thresholds(was.upper, was.lower, strip=0.0, evaluator="as recorded")
    grades = trace.grades[: len(trace.passages)]
    policy = POLICIES[was.policy]
    if policy in (Count, NoneRelevant):
        # The limit itself is not recorded; whether it was reached is.
        return policy(thresholds, max_rewrites=was.rewrites + was.again).decide(grades, was.rewrites)
    return policy(thresholds).decide(grades)


def require_match(policy_thresholds: Thresholds, evaluator: str) -> None:
    """Raise ConfigError when thresholds that were fitted for one evaluator are to judge another's scores."""
    if policy_thresholds.evaluator != evaluator:
        raise ConfigError(
            f"these thresholds were fitted for the evaluator '{policy_thresholds.evaluator}' and mean nothing for "
            f"'{evaluator}'; leave [thresholds] out to use the evaluator's own, or give upper, lower and strip"
        )


def require_fitted(thresholds: Thresholds | None, evaluator: str) -> Thresholds:
    """The thresholds; raises ConfigError, with the way to some, when the evaluator has none."""
    if thresholds is None:
        raise ConfigError(
            f"{evaluator} has no thresholds; fit them on labelled pairs with `surefoot lab tune`, then give them "
            "under [evaluator]: fitted = { upper = …, lower = …, strip = … }"
        )
    return thresholds


def fitted_for(evaluator: str, fitted: Thresholds | Mapping[str, Any]) -> Thresholds:
    """The thresholds, or what a table of `upper`, `lower` and `strip` says.

    Raises ConfigError when they are not finite, not in order, or another evaluator's.
    """
    if not isinstance(fitted, Thresholds):
        try:
            fitted = Thresholds(**{"evaluator": evaluator, "fitted_on": "set by hand", **fitted})
        except TypeError as error:
            raise ConfigError(f"fitted must be a table of upper, lower and strip: {error}") from error
    require_match(fitted, evaluator)
    values = (fitted.upper, fitted.lower, fitted.strip)
    if not all(isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) for v in values):
        raise ConfigError(f"the fitted thresholds must be finite numbers, not {values}")
    if fitted.lower > fitted.upper:
        raise ConfigError(f"the fitted lower {fitted.lower} lies above upper {fitted.upper}")
    return fitted


def _best(grades: Sequence[Grade]) -> float | None:
    return max((grade.score for grade in grades if grade.score is not None), default=None)
