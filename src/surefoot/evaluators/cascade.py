"""Cheap evaluators first; each further one is asked only where the one before it is unsure."""

import math
from collections.abc import Sequence
from dataclasses import replace

from surefoot.evidence.policies import labelled
from surefoot.run import meter
from surefoot.types import Action, Grade
from surefoot.types.errors import ComponentError, ConfigError
from surefoot.types.protocols import Evaluator, Pair, returns_spans


class Cascade:
    """The first of two or more evaluators grades every pair; each later one decides where the one before is unsure.

    `band`: scores [low, high) of the first that go to the second; None: from its τ− to its τ+, which are the pairs that
    it calls AMBIGUOUS. Each evaluator between the first and the last hands on what it calls AMBIGUOUS.

    All scores stay on the first's scale: a pair keeps its first score if that has the label of the evaluator that
    decided, else it takes the nearest score that has. Its reason names the evaluator that decided. It has no label:
    thresholds give that, so that it agrees with the decision under any. Where a later evaluator fails, for a pair or
    altogether, the grade of the one before stands, and the step says so.

    Cost: the first's for every pair, and each later one's for those that reach it. `graded` in the trace counts them
    all, and `escalated` those of the later ones.
    """

    def __init__(self, evaluators: Sequence[Evaluator], band: tuple[float, float] | None = None) -> None:
        if len(evaluators) < 2:
            raise ConfigError(f"a cascade has two evaluators or more, the cheapest one first, not {len(evaluators)}")
        self.evaluators = tuple(evaluators)
        self.first, second, *later = evaluators
        own = self.first.thresholds
        self.second: Evaluator = Cascade([second, *later]) if later else second
        self.low, self.high = (own.lower, own.upper) if band is None else map(float, band)
        if self.low > self.high:
            raise ConfigError(f"a cascade's band is two scores of its first evaluator, the lower one first, not {band}")
        self.name: str = f"cascade:{self.first.name}+{self.second.name}@{self.low}..{self.high}"
        self.thresholds = replace(own, evaluator=self.name)
        self.returns_spans = any(map(returns_spans, evaluators))

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair, in order; the second is not asked when the first is sure of all."""
        grades = list(self.first.grade(pairs))
        unsure = [
            n for n, grade in enumerate(grades) if grade.score is not None and self.low <= grade.score < self.high
        ]
        meter.count(escalated=len(unsure))
        if unsure:
            for n, verdict in zip(unsure, self._second([pairs[n] for n in unsure]), strict=True):
                grades[n] = self._decided(grades[n], verdict)
        return tuple(grades)

    def _second(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """The second's grades with labels; without a score where it failed."""
        first, second = self.first.name, self.second.name
        try:
            grades = labelled(self.second.grade(pairs), self.second.thresholds)
            if len(grades) != len(pairs):
                raise ComponentError(f"{len(grades)} grades for {len(pairs)} passages")
        except ComponentError as error:
            meter.degrade(f"{second} failed ({error}): the grades of {first} stand")
            return tuple(Grade(passage.id, None, reason="it failed") for _, passage in pairs)
        if failed := sum(grade.label is None for grade in grades):
            meter.degrade(f"{second} could not grade {failed} of {len(grades)} passages: the grades of {first} stand")
        return grades

    def _decided(self, mine: Grade, theirs: Grade) -> Grade:
        if mine.score is None or theirs.label is None:
            return replace(
                mine, reason=f"{mine.reason}; {self.second.name} could not say: {theirs.reason}".lstrip("; ")
            )
        placed = self._placed(mine.score, theirs.label)
        return replace(
            mine,
            score=placed,
            probability=mine.probability if placed == mine.score else None,
            label=None,
            reason=f"{self.second.name} decided: {theirs.reason} ({self.first.name}: {mine.score:.3g})",
            span=None if theirs.label is Action.INCORRECT else theirs.span or mine.span,
            window=theirs.window or mine.window,
            cap=theirs.cap,
        )

    def _placed(self, score: float, label: Action) -> float:
        """The score nearest to the first's that its thresholds read as the second's label."""
        own = self.thresholds
        if label is Action.CORRECT:
            return max(score, own.upper)
        if label is Action.AMBIGUOUS:
            return min(max(score, own.lower), math.nextafter(own.upper, -math.inf))
        return min(score, math.nextafter(min(own.lower, own.strip), -math.inf))
