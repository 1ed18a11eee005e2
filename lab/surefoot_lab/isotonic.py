"""The fit of a calibration to labelled scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from surefoot.stats.calibration import Calibration

_FEWEST = 25
"""Pairs behind every step, in Kish's size of a weighted sample; a step of fewer tells more about these than about the
score."""


def fit(scores: Sequence[float], labels: Sequence[int], weights: Sequence[float] | None = None) -> Calibration:
    """The isotonic regression of the labels on the scores, as a line through the middle of its steps.

    It assumes that a higher score means a likelier answer. Pairs of one score stay together, and at least 25 make a
    step; a step of one label stays half a pair short of certainty. `weights`, above 0, keep a large set from speaking
    for all: n pairs of unlike weight count as (sum w)² / sum w² of like weight. The probabilities hold where as many
    pairs are positive as here. Raises ValueError without scores.
    """
    if not len(scores):
        raise ValueError("there are no scores to calibrate")
    distinct, place = np.unique(np.asarray(scores, float), return_inverse=True)
    each = np.ones(len(place)) if weights is None else np.asarray(weights, float)
    columns = [np.bincount(place, each * factor) for factor in (1.0, each, np.asarray(labels, float))]
    steps = _steps([_Step(i + 1, *map(float, row)) for i, row in enumerate(zip(*columns, strict=True))])
    starts = [0, *(step.end for step in steps)]
    weight = columns[0]
    middles = [np.average(distinct[a : s.end], weights=weight[a : s.end]) for a, s in zip(starts, steps, strict=False)]
    return Calibration(tuple(map(float, middles)), tuple(step.share for step in steps))


@dataclass(frozen=True, slots=True)
class _Step:
    """Distinct scores that get one probability."""

    end: int
    """Number of the first distinct score after it."""
    weight: float
    squares: float
    """The sum of the squared weights."""
    positive: float

    @property
    def size(self) -> float:
        """Pairs of like weight that say as much; rounded, as 25 of like weight may come to 24.999…"""
        return round(self.weight**2 / self.squares, 6) if self.squares else 0.0

    @property
    def share(self) -> float:
        """The share of positives; never nearer to 0 or 1 than half a pair among one more."""
        least = 0.5 / (self.size + 1)
        return min(max(self.positive / self.weight, least), 1 - least)

    def joined(self, other: _Step) -> _Step:
        """The step joined with the one after it."""
        sums = self.weight + other.weight, self.squares + other.squares, self.positive + other.positive
        return _Step(other.end, *sums)


def _steps(scores: Sequence[_Step]) -> list[_Step]:
    """The ranges of scores whose shares of positives ascend (pool adjacent violators), from single scores."""
    nothing = _Step(0, 0.0, 0.0, 0.0)
    rests = list(accumulate(reversed(scores), lambda rest, one: one.joined(rest), initial=nothing))[-2::-1]
    steps, step = list[_Step](), nothing
    for one, rest in zip(scores, rests, strict=True):
        step = step.joined(one)
        if one is not scores[-1] and min(step.size, rest.size) < _FEWEST:
            continue
        while steps and steps[-1].share >= step.share:
            step = steps.pop().joined(step)
        steps.append(step)
        step = nothing
    return steps
