"""Examples of a metric's scores, from its low, middle and high third, however many of the scores are equal."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from random import Random

from surefoot.evaluate.score.summaries import value
from surefoot.types import Score

SEED = 42
QUOTAS = 7, 7, 6
"""Examples of the low, the middle and the high third."""


def sampled(scores: Iterable[Score], seed: int = SEED) -> dict[str, tuple[Score, ...]]:
    """Twenty examples of each scored metric, or all where there are fewer, from the lowest to the highest.

    Thirds are of the ranks, and equal scores are ranked by lot: quantiles of the values would put most of a five-level
    metric into one band. Above twenty scores each third gives its quota, so no band is short. The order of the scores
    changes nothing.
    """
    there = sorted((s for s in scores if value(s) is not None), key=lambda score: (score.metric, score.record_id))
    found = {metric: list(mine) for metric, mine in groupby(there, lambda score: score.metric)}
    return {metric: _sample(f"{seed}\t{metric}", mine) for metric, mine in found.items()}


def _sample(lot: str, scores: list[Score]) -> tuple[Score, ...]:
    Random(f"{lot}\tties").shuffle(scores)  # noqa: S311
    scores.sort(key=lambda score: value(score) or 0.0)
    if len(scores) <= sum(QUOTAS):
        return tuple(scores)
    random, first, second = Random(lot), round(len(scores) / 3), round(2 * len(scores) / 3)  # noqa: S311
    thirds = scores[:first], scores[first:second], scores[second:]
    drawn = [(third, sorted(random.sample(range(len(third)), n))) for third, n in zip(thirds, QUOTAS, strict=True)]
    return tuple(third[place] for third, places in drawn for place in places)
