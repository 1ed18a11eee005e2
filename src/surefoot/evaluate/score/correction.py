"""The mean of a metric as people would have it: a judge's mean over all records, corrected by a few labels.

Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, arXiv 2301.09633) with the weight
of PPI++ (Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453), here for records that come in groups.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from surefoot.evaluate.score.agreement import beside_labels
from surefoot.evaluate.score.labels import Label
from surefoot.evaluate.score.summaries import level, rates, summaries
from surefoot.stats.figures import Z95, Figure, Floats, Ints
from surefoot.stats.groups import numbered
from surefoot.types import Score, Summary

LEAST = 6
"""Groups with labels below which an estimate has no interval: the approximation of Student's quantile ends there."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A metric's mean as people would have it, from a sample of their labels."""

    metric: str
    judge: str
    labels: int
    """Records that both people and the judge have judged."""
    records: int
    """Records that the judge has judged, these among them."""
    judged: float
    """The judge's own mean, over all."""
    people: Figure
    """From the labels alone. In the judge's unit; of yes and no, the share of yes."""
    corrected: Figure
    weight: float
    """The weight of the judge: 0 takes `people` alone."""


def corrections(
    scores: Iterable[Score], labels: Iterable[Label], groups: Mapping[str, str] | None = None
) -> tuple[Correction, ...]:
    """A correction for each metric that has labels, and each judge of it. The labelled records have to be a random
    sample of all: chosen by their scores, or by how easy they were, they correct nothing."""
    found = []
    for one in beside_labels(scores, labels, groups):
        if not (there := {label.record_id: label for label in one.valued}):
            continue
        values, rest = one.values, [name for name in one.values if name not in there]
        fifths = rates(one.scores.values()) and not any(label.binary for label in there.values())
        people = np.array([(1 + 4 * label.share) / 5 if fifths else label.share for label in there.values()])
        own, others = np.array([values[name] for name in there]), np.array([values[name] for name in rest])
        numbers = numbered([*there, *rest], one.groups)
        estimate, weight = corrected(people, own, others, numbers)
        alone, _ = corrected(people, own, others, numbers, weight=0.0)
        mean = float(np.mean(list(values.values())))
        found.append(Correction(one.metric, one.judge, len(there), len(values), mean, alone, estimate, weight))
    return tuple(found)


def corrected_summaries(
    scores: Sequence[Score], labels: Iterable[Label], groups: Mapping[str, str]
) -> tuple[Summary, ...]:
    """The summaries, with mean and interval as people would have them wherever a metric has one judge and enough labels
    for an interval; the bounds and the extremes stay the judge's."""
    found = corrections(scores, labels, groups)
    judges = Counter(one.metric for one in found)
    sound = {one.metric: one for one in found if judges[one.metric] == 1 and one.corrected.low is not None}
    return tuple(
        _as_people_would(one, sound[one.metric]) if one.metric in sound else one for one in summaries(scores, groups)
    )


def _as_people_would(one: Summary, correction: Correction) -> Summary:
    there = (correction.corrected.value, correction.corrected.low, correction.corrected.high)
    mean, low, high = (None if end is None else min(1.0, max(0.0, end)) for end in there)
    return replace(one, mean=mean, low=low, high=high, level=level(mean or 0.0), corrected=correction.labels)


def corrected(
    people: Floats, judged: Floats, others: Floats, numbers: Ints, weight: float | None = None
) -> tuple[Figure, float]:
    """The mean that people would give, and the weight of the judge in it.

    `people` and `judged` are of the labelled records, `others` the judge's values of the rest; `numbers` is the group
    of each labelled record, then of each other. Weight 1 is plain prediction-powered inference, 0 the mean of the
    labels, None the weight of the narrowest interval, at least 0.
    """
    # Each group's share of the error of the labels' mean, and of that by which the judge is off between the labelled
    # and the rest; the second, weighted, is taken off the first.
    labelled, rest, groups = numbers[: len(people)], numbers[len(people) :], int(numbers.max()) + 1
    about, judges = _added(people, labelled, groups), _added(judged, labelled, groups)
    if len(others):
        judges = judges - _added(others, rest, groups)
    fitted = weight is None and len(others) > 0 and float(judges @ judges) > 0
    if weight is None:
        weight = max(0.0, float(about @ judges) / float(judges @ judges)) if fitted else 0.0
    shift = weight * float(others.mean() - judged.mean()) if weight else 0.0
    free = len(np.unique(labelled)) - 1 - fitted
    middle = float(people.mean()) + shift
    if free < LEAST - 1 - fitted:
        return Figure(middle, None, None, len(people)), weight
    half = _student(free) * sqrt((free + 1 + fitted) / free * float(((about - weight * judges) ** 2).sum()))
    return Figure(middle, middle - half, middle + half, len(people)), weight


def _added(values: Floats, numbers: Ints, groups: int) -> Floats:
    return np.asarray(np.bincount(numbers, (values - values.mean()) / len(values), groups), dtype=float)


def _student(free: int) -> float:
    """Student's two-sided 95 % quantile, as Cornish and Fisher expand it: from 4 degrees of freedom within 0.001."""
    z = Z95
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return float(sum(term / free**power for power, term in enumerate(terms)))
