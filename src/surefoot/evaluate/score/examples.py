"""Examples of a metric's scores, from its low, middle and high third, however many of the scores are equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    return {metric: _sample(ranked, _lots(f"{seed}\t{metric}")) for metric, ranked in _ranked(scores, seed).items()}


def _ranked(scores: Iterable[Score], seed: int) -> dict[str, list[Score]]:
    """The scored ones of each metric, from the lowest to the highest."""
    there = sorted((s for s in scores if value(s) is not None), key=lambda score: (score.metric, score.record_id))
    found = {metric: list(mine) for metric, mine in groupby(there, lambda score: score.metric)}
    for metric, mine in found.items():
        _lots(f"{seed}\t{metric}\tties").shuffle(mine)
        mine.sort(key=lambda score: value(score) or 0.0)
    return found


def _sample(ranked: Sequence[Score], random: Random) -> tuple[Score, ...]:
    if len(ranked) <= sum(QUOTAS):
        return tuple(ranked)
    first, second = round(len(ranked) / 3), round(2 * len(ranked) / 3)
    thirds = ranked[:first], ranked[first:second], ranked[second:]
    return tuple(one for third, quota in zip(thirds, QUOTAS, strict=True) for one in _drawn(third, quota, random))


def _drawn(third: Sequence[Score], quota: int, random: Random) -> list[Score]:
    return [third[place] for place in sorted(random.sample(range(len(third)), quota))]


def _lots(seed: str) -> Random:
    return Random(seed)  # noqa: S311
