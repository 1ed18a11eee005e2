"""From an evaluator's raw scores to probabilities that mean what they say. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_FEWEST = 25
"""Pairs behind every step: a smaller one says more of its few pairs than of the score."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A rising line through knots: a higher score never has a lower probability. Raises ValueError for other knots."""

    scores: tuple[float, ...]
    """Ascending."""
    probabilities: tuple[float, ...]
    """Of each score; ascending, in [0, 1]."""

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in pairwise(self.scores))
        bounded = [0.0, *self.probabilities, 1.0]
        if not self.scores or len(self.scores) != len(self.probabilities) or not rising or bounded != sorted(bounded):
            raise ValueError("a calibration needs ascending scores, each with a probability, and those never falling")

    def probability(self, score: float) -> float:
        """The chance that a passage with this score holds the answer; beyond the knots, that of the last one."""
        return float(np.interp(score, self.scores, self.probabilities))


def fit(scores: Sequence[float], labels: Sequence[int], weights: Sequence[float] | None = None) -> Calibration:
    """The isotonic regression of the labels on the scores, as a line through the middle of its steps.

    Nothing is supposed but that a higher score means a likelier answer. Pairs of one score stay together, and at least
    25 make a step. `weights`, above 0: how much a pair counts, so that a large set does not speak for all. Raises
    ValueError without scores.
    """
    if not len(scores):
        raise ValueError("there are no scores to calibrate")
    distinct, place, pairs = np.unique(np.asarray(scores, float), return_inverse=True, return_counts=True)
    each = np.ones(len(place)) if weights is None else np.asarray(weights, float)
    weight = np.asarray(np.bincount(place, each), float)
    positive = np.asarray(np.bincount(place, each * np.asarray(labels, float)), float)
    steps = _steps(np.cumsum(pairs), weight, positive)
    starts = [0, *(step.end for step in steps)]
    middles = [np.average(distinct[a : s.end], weights=weight[a : s.end]) for a, s in zip(starts, steps, strict=False)]
    return Calibration(tuple(map(float, middles)), tuple(step.share for step in steps))


@dataclass(frozen=True, slots=True)
class _Step:
    """Distinct scores that get one probability."""

    end: int
    """Number of the first distinct score after it."""
    weight: float
    positive: float

    @property
    def share(self) -> float:
        return min(1.0, self.positive / self.weight)


def _steps(pairs: npt.NDArray[np.int64], weight: Floats, positive: Floats) -> list[_Step]:
    """The ranges of scores whose shares of positives ascend (pool adjacent violators).

    For each distinct score: `pairs` up to it, and its own `weight`, in all and of the positives.
    """
    steps: list[_Step] = []
    start = before = 0
    for end, seen in enumerate(pairs, start=1):
        if end < len(pairs) and (seen - before < _FEWEST or pairs[-1] - seen < _FEWEST):
            continue
        step = _Step(end, float(weight[start:end].sum()), float(positive[start:end].sum()))
        while steps and steps[-1].share >= step.share:
            last = steps.pop()
            step = _Step(end, last.weight + step.weight, last.positive + step.positive)
        steps.append(step)
        start, before = end, seen
    return steps
