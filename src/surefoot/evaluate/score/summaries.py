"""The scores of each metric: mean with interval, coverage, the bounds that missing ones leave, and examples."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from math import isfinite
from random import Random

from surefoot.stats.groups import averaged, numbered
from surefoot.stats.text import percent
from surefoot.types import Level, Score, Summary

LOWEST = 0.2
"""Value of a rating of 1, which a metric that is rated cannot fall below; of any other metric it is 0."""
SLACK = 1e-9
"""Tolerance for a mean of decimal fractions that reaches a limit on paper."""


def summaries(scores: Iterable[Score], groups: Mapping[str, str]) -> tuple[Summary, ...]:
    """A summary a metric, in alphabetical order; the order of the scores changes nothing. `groups` is by record id; a
    record that is not in it is independent of all others."""
    ordered = sorted(scores, key=lambda score: (score.metric, score.record_id))
    return tuple(_summary(name, list(mine), groups) for name, mine in groupby(ordered, lambda score: score.metric))


def value(score: Score) -> float | None:
    """Its value; None: there is none, it does not apply, or it is no number."""
    return score.value if score.applies and score.value is not None and isfinite(score.value) else None


def rates(scores: Iterable[Score]) -> bool:
    """True if these are ratings, of which a value is a fifth; the mean of several that differ has none of its own."""
    return any(score.rating is not None or score.repeats for score in scores)


def level(mean: float) -> Level:
    """Low below .5, moderate below .9, high from there on."""
    return "low" if mean < 0.5 - SLACK else "moderate" if mean < 0.9 - SLACK else "high"


def average(one: Summary, figure: Callable[[float], str] = percent) -> str:
    """The mean in words, with its interval and the number of records that it is of; empty: there is none."""
    if one.mean is None:
        return ""
    ends = "" if one.low is None or one.high is None else f" (95 % interval {figure(one.low)} to {figure(one.high)})"
    of = f"{one.scored:,} of {one.scored + one.unscored:,}" if one.unscored else f"{one.scored:,}"
    labels = f", corrected with {one.corrected} labels" if one.corrected else ""
    return f"{figure(one.mean)}{ends} over {of} records{labels}"


def _summary(metric: str, scores: Sequence[Score], groups: Mapping[str, str]) -> Summary:
    apply = [score for score in scores if score.applies]
    there = {score.record_id: number for score in apply if (number := value(score)) is not None}
    missing = Counter(
        score.unscored_because or ("no reason given" if score.value is None else "its value is no number")
        for score in apply
        if value(score) is None
    )
    values, unscored = list(there.values()), len(apply) - len(there)
    figure = averaged(values, numbered(there, groups))
    lowest = LOWEST if rates(apply) else 0.0
    return Summary(
        metric=metric,
        mean=figure.value,
        low=figure.low,
        high=figure.high,
        smallest=min(values, default=None),
        largest=max(values, default=None),
        scored=len(there),
        unscored=unscored,
        not_applicable=len(scores) - len(apply),
        least=(sum(values) + unscored * lowest) / len(apply) if apply else None,
        most=(sum(values) + unscored) / len(apply) if apply else None,
        level=None if figure.value is None else level(figure.value),
        unscored_because=dict(sorted(missing.items())),
    )


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
