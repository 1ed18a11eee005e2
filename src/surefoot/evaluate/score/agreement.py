"""The agreement of a judge with people: by metric, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from surefoot.evaluate.score.labels import Label
from surefoot.evaluate.score.summaries import rates, value
from surefoot.stats.figures import Figure, Floats, Ints, Statistic, figure, mean, resampled, roc_auc
from surefoot.stats.groups import count, numbered
from surefoot.types import Score

Labelled: TypeAlias = Literal["ratings", "yes and no"]
Groups: TypeAlias = Mapping[str, str]
"""By record id."""


@dataclass(frozen=True, slots=True)
class JudgedRecord:
    """A label beside what a judge says of the same record."""

    label: Label
    score: Score
    share: float
    """The judge's verdict as a share of its scale: 0 a rating of 1, 1 a rating of 5; without ratings, its value."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of one judge with people on one metric."""

    metric: str
    judge: str
    labels: Labelled
    rated: bool
    """The judge rates from 1 to 5; else its value v counts as a rating of 1 + 4·v."""
    of: int
    """Records that have a label and a score."""
    groups: int
    unscored: int
    """Labelled records that the judge left without a score; they are in no figure."""
    figures: dict[str, Figure]
    """Each with its interval from a bootstrap over groups.

    Of ratings: `tau_b` (Kendall) and `nmae` (mean absolute error over 4, of ratings from 1 to 5; 0 is best). Of yes and
    no: `auc` and `tau_b`.
    """


def agreed(
    scores: Iterable[Score],
    labels: Iterable[Label],
    groups: Groups | None = None,
) -> tuple[Agreement, ...]:
    """An agreement for each metric that has labels and each judge of it.

    `groups` are of the records; that of a label comes first. Labels that no judge was asked about are left
    out (`missing`). Several ratings of one record count as their mean; several yes and no as the majority, and not at
    all where they are even.
    """
    table = _table(scores)
    graded = _joined([_located(one, groups or {}) for one in labels])
    found: list[Agreement] = []
    for (metric, judge), mine in table.items():
        ratings = [one for one in graded if one.metric == metric and one.record_id in mine]
        found += [_graded(metric, judge, ratings, mine)] if ratings else []
    return tuple(found)


def missing(scores: Iterable[Score], labels: Iterable[Label]) -> dict[str, int]:
    """The number of labels, by metric, that no judge was asked about."""
    judged = {(score.metric, score.record_id) for score in scores}
    return dict(Counter(one.metric for one in labels if (one.metric, one.record_id) not in judged))


def paired(scores: Iterable[Score], labels: Iterable[Label]) -> Iterator[tuple[str, str, list[JudgedRecord]]]:
    """Yield metric, judge, and the records that both people and the judge have judged."""
    graded = _joined(list(labels))
    for (metric, judge), mine in _table(scores).items():
        if among := [one for one in graded if one.metric == metric and one.record_id in mine]:
            yield metric, judge, _beside(among, mine)


def tau_b(first: npt.ArrayLike, second: npt.ArrayLike, numbers: Ints | None = None) -> Statistic:
    """Kendall's τ-b: pairs ordered alike less those ordered otherwise, over the geometric mean of the pairs that are no
    ties in the first and those that are none in the second."""
    one, two = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if len(np.unique(one)) < len(np.unique(two)):
        one, two = two, one  # the loop is over the levels of the second
    order, starts = _sorted(one)
    levels = np.unique(two)

    def weighted(weights: Floats) -> Floats:
        lower = np.zeros((len(weights), len(starts)))
        concordant = np.zeros(len(weights))
        untied = weights.sum(axis=1) ** 2
        for level in levels:
            here = np.add.reduceat(weights * (two[order] == level), starts, axis=1)
            below = np.cumsum(lower, axis=1)
            concordant += (here * (2 * below - lower - below[:, -1:])).sum(axis=1)
            untied -= here.sum(axis=1) ** 2
            lower += here
        apart = weights.sum(axis=1) ** 2 - (lower**2).sum(axis=1)
        return _over(2 * concordant, np.sqrt(apart * untied))

    return Statistic(weighted, _numbers(numbers, one)[order], "all are tied")


def nmae(first: npt.ArrayLike, second: npt.ArrayLike, numbers: Ints | None = None) -> Statistic:
    """The mean distance of two shares of a scale: of ratings from 1 to 5, their mean absolute error over 4."""
    return mean(np.abs(np.asarray(first, dtype=float) - np.asarray(second, dtype=float)), numbers)


def _table(scores: Iterable[Score]) -> dict[tuple[str, str], dict[str, Score]]:
    """The scores of each metric and judge, by record id."""
    table: dict[tuple[str, str], dict[str, Score]] = {}
    for score in sorted(scores, key=lambda score: (score.metric, score.judge, score.record_id)):
        table.setdefault((score.metric, score.judge), {})[score.record_id] = score
    return table


def _located(one: Label, groups: Groups) -> Label:
    """The label with its group, or its record's, or one of its own."""
    return replace(one, group=one.group or groups.get(one.record_id) or f"\0{one.record_id}")


def _joined(labels: Sequence[Label]) -> list[Label]:
    """One label a record and metric."""
    several: dict[tuple[str, str], list[Label]] = {}
    for one in sorted(labels, key=lambda label: (label.metric, label.record_id)):
        several.setdefault((one.metric, one.record_id), []).append(one)
    joined = []
    for mine in several.values():
        share = sum(one.share for one in mine) / len(mine)
        if not mine[0].binary:
            joined.append(replace(mine[0], share=share))
        elif share != 0.5:
            joined.append(replace(mine[0], share=float(share > 0.5)))
    return joined


def _beside(labels: Sequence[Label], scores: Mapping[str, Score]) -> list[JudgedRecord]:
    rated = rates(scores.values())
    there = [(one, scores[one.record_id]) for one in labels]
    found = [(one, score, number) for one, score in there if (number := value(score)) is not None]
    return [JudgedRecord(one, score, (5 * number - 1) / 4 if rated else number) for one, score, number in found]


def _graded(metric: str, judge: str, labels: Sequence[Label], scores: Mapping[str, Score]) -> Agreement:
    found = _beside(labels, scores)
    stated, judged = [one.label.share for one in found], [one.share for one in found]
    binary = any(one.binary for one in labels)
    numbers = numbered((one.label.record_id for one in found), {one.record_id: one.group for one in labels})
    measures: dict[str, Callable[..., Statistic]] = {"tau_b": tau_b, "nmae": nmae}
    if binary:
        measures = {"auc": roc_auc, "tau_b": tau_b}
    statistics = {name: measure(judged, stated, numbers) for name, measure in measures.items()} if found else {}
    counts = resampled(count(numbers))
    figures = {name: figure(statistic, counts)[0] for name, statistic in statistics.items()}
    kind: Labelled = "yes and no" if binary else "ratings"
    groups = count(numbers) if found else 0
    return Agreement(metric, judge, kind, rates(scores.values()), len(found), groups, len(labels) - len(found), figures)


def _sorted(values: Floats) -> tuple[Ints, Ints]:
    """The order of the values, and where in it each distinct one begins."""
    order = np.argsort(values, kind="stable")
    return order, np.unique(values[order], return_index=True)[1]


def _over(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 1e-12)


def _numbers(numbers: Ints | None, items: Floats) -> Ints:
    return np.arange(len(items)) if numbers is None else numbers
