"""A cheap evaluator grades every pair; an expensive one is asked only where the cheap one is unsure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from surefoot import meter
from surefoot.act import labelled
from surefoot.errors import ComponentError, ConfigError
from surefoot.protocols import Evaluator, Pair
from surefoot.types import Action, Grade


class Cascade:
    """The first of two evaluators grades every pair; the second decides those whose score lies in a band.

    `band`: the first's scores [low, high) that go to the second; None: from its τ− to its τ+, which are the pairs that
    it calls AMBIGUOUS. All scores stay on the first's scale, under its thresholds: a pair keeps its first score as far
    as the second's label lets it, and else takes the nearest score that has this label. So CORRECT is τ+ or more,
    AMBIGUOUS lies between, and INCORRECT lies below τ− and below the strip threshold. Such a grade says who decided and
    what the first had said, and keeps the first's probability where its score stands. It has no label: that is for
    thresholds to give, so that it agrees with the decision also under others than the first's.

    Outside the band a grade is the first's, untouched. Where the second fails, for a pair or altogether, the first's
    grade stands, and the step says so.

    Cost: the first's for every pair, and the second's for those in the band. `graded` in the trace counts both, and
    `escalated` the second's.
    """

    def __init__(self, evaluators: Sequence[Evaluator], band: Sequence[float] | None = None) -> None:
        if len(evaluators) != 2:
            raise ConfigError(f"a cascade has two evaluators, the cheap one first, not {len(evaluators)}")
        self.first, self.second = evaluators
        own = self.first.thresholds
        self.low, self.high = _band((own.lower, own.upper) if band is None else band)
        self.name = f"cascade:{self.first.name}+{self.second.name}@{self.low}..{self.high}"
        self.thresholds = replace(own, evaluator=self.name)
        self.points = any(getattr(each, "points", False) for each in evaluators)

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair, in order; the second is not asked when the first is sure of all."""
        grades = list(self.first.grade(pairs))
        unsure = [
            n for n, grade in enumerate(grades) if grade.score is not None and self.low <= grade.score < self.high
        ]
        meter.count(escalated=len(unsure))
        if unsure:
            for n, said in zip(unsure, self._second([pairs[n] for n in unsure]), strict=True):
                grades[n] = self._decided(grades[n], said)
        return tuple(grades)

    def _second(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """The second's grades with labels; without a score where it failed."""
        first, second = self.first.name, self.second.name
        try:
            said = labelled(self.second.grade(pairs), self.second.thresholds)
            if len(said) != len(pairs):
                raise ComponentError(f"{len(said)} grades for {len(pairs)} passages")
        except ComponentError as error:
            meter.degrade(f"{second} failed ({error}): the grades of {first} stand")
            return tuple(Grade(passage.id, None, reason="it failed") for _, passage in pairs)
        if failed := sum(grade.label is None for grade in said):
            meter.degrade(f"{second} could not grade {failed} of {len(said)} passages: the grades of {first} stand")
        return said

    def _decided(self, mine: Grade, said: Grade) -> Grade:
        if mine.score is None or said.label is None:
            return replace(mine, reason=f"{mine.reason}; {self.second.name} could not say: {said.reason}".lstrip("; "))
        placed = self._placed(mine.score, said.label)
        return replace(
            mine,
            score=placed,
            probability=mine.probability if placed == mine.score else None,
            label=None,
            reason=f"{self.second.name} decided: {said.reason} ({self.first.name}: {mine.score:.3g})",
            span=None if said.label is Action.INCORRECT else said.span or mine.span,
            window=said.window or mine.window,
        )

    def _placed(self, score: float, label: Action) -> float:
        """The score nearest to the first's that its thresholds read as the second's label."""
        own = self.thresholds
        if label is Action.CORRECT:
            return max(score, own.upper)
        if label is Action.AMBIGUOUS:
            return min(max(score, own.lower), math.nextafter(own.upper, -math.inf))
        return min(score, math.nextafter(min(own.lower, own.strip), -math.inf))


def _band(given: Sequence[float]) -> tuple[float, float]:
    if (
        len(given) != 2
        or not all(isinstance(end, int | float) and math.isfinite(end) for end in given)
        or given[0] > given[1]
    ):
        raise ConfigError(f"a cascade's band is two scores of its first evaluator, the lower one first, not {given!r}")
    return float(given[0]), float(given[1])
