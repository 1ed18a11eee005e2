"""The fit of a calibration to labelled scores."""

from collections.abc import Sequence

import numpy as np

from surefoot.stats.calibration import Calibration
from surefoot.stats.figures import Floats

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
    sums = [np.bincount(place, each * factor) for factor in (1.0, each, np.asarray(labels, float))]
    columns = np.array(sums, dtype=float).T
    steps = _steps(columns)
    starts = [0, *(end for end, _ in steps)]
    weight = columns[:, 0]
    middles = [np.average(distinct[a:b], weights=weight[a:b]) for a, (b, _) in zip(starts, steps, strict=False)]
    return Calibration(tuple(map(float, middles)), tuple(_share(sums) for _, sums in steps))


def _size(sums: Floats) -> float:
    """Pairs of like weight that say as much; rounded, as 25 of like weight may come to 24.999…"""
    weight, squares, _ = sums
    return round(float(weight**2 / squares), 6) if squares else 0.0


def _share(sums: Floats) -> float:
    """The share of positives; never nearer to 0 or 1 than half a pair among one more."""
    least = 0.5 / (_size(sums) + 1)
    return min(max(float(sums[2] / sums[0]), least), 1 - least)


def _steps(scores: Floats) -> list[tuple[int, Floats]]:
    """The ranges of scores whose shares of positives ascend (pool adjacent violators), from single scores: the number
    of the first score after each, and its sums. A row has the sums of weights, of their squares, and of positives."""
    rests = np.vstack([scores[::-1].cumsum(axis=0)[::-1][1:], np.zeros(3)])
    steps, step = list[tuple[int, Floats]](), np.zeros(3)
    for end, (one, rest) in enumerate(zip(scores, rests, strict=True), start=1):
        step = step + one
        if end < len(scores) and min(_size(step), _size(rest)) < _FEWEST:
            continue
        while steps and _share(steps[-1][1]) >= _share(step):
            step = steps.pop()[1] + step
        steps.append((end, step))
        step = np.zeros(3)
    return steps
