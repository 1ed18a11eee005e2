"""Examples of a metric's scores, from its low, middle and high third, however many of the scores are equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random

from surefoot.evaluate.score.summaries import value
from surefoot.types import Score

SEED = 42
QUOTAS = 7, 7, 6
"""Examples of the low, the middle and the high third."""


@dataclass(frozen=True, slots=True)
class ScoreSample:
    """Scored examples of one metric; within a third from the lowest to the highest."""

    low: tuple[Score, ...]
    middle: tuple[Score, ...]
    high: tuple[Score, ...]

    @property
    def every(self) -> tuple[Score, ...]:
        """All of them, from the lowest to the highest."""
        return (*self.low, *self.middle, *self.high)


def sampled(scores: Iterable[Score], seed: int = SEED) -> dict[str, ScoreSample]:
    """Twenty examples a metric, or all where there are fewer; a metric without any is not there.

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


def _sample(ranked: Sequence[Score], random: Random) -> ScoreSample:
    first, second = round(len(ranked) / 3), round(2 * len(ranked) / 3)
    thirds = ranked[:first], ranked[first:second], ranked[second:]
    few = len(ranked) <= sum(QUOTAS)
    return ScoreSample(
        *(tuple(third if few else _drawn(third, quota, random)) for third, quota in zip(thirds, QUOTAS, strict=True))
    )


def _drawn(third: Sequence[Score], quota: int, random: Random) -> list[Score]:
    return [third[place] for place in sorted(random.sample(range(len(third)), quota))]


def _lots(seed: str) -> Random:
    return Random(seed)  # noqa: S311
