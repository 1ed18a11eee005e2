"""The agreement of a judge with people: by metric, with intervals."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from surefoot.evaluate.score.labels import Label
from surefoot.evaluate.score.summaries import rates, value
from surefoot.stats.figures import Figure, Floats, Ints, Statistic, figure, items, mean, ratio, resampled, roc_auc
from surefoot.stats.groups import count, numbered
from surefoot.types import Score

Labelled: TypeAlias = Literal["ratings", "yes and no"]


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
    scores: Iterable[Score], labels: Iterable[Label], groups: Mapping[str, str] | None = None
) -> tuple[Agreement, ...]:
    """An agreement for each metric that has labels and each judge of it.

    `groups` are of the records, by id; that of a label comes first. Labels that no judge was asked about are left
    out (`missing`).
    """
    known = groups or {}
    located = [replace(one, group=one.group or known.get(one.record_id) or f"\0{one.record_id}") for one in labels]
    return tuple(_agreement(*one) for one in judged(scores, located))


def missing(scores: Iterable[Score], labels: Iterable[Label]) -> dict[str, int]:
    """The number of labels, by metric, that no judge was asked about."""
    judged = {(score.metric, score.record_id) for score in scores}
    return dict(Counter(one.metric for one in labels if (one.metric, one.record_id) not in judged))


def judged(
    scores: Iterable[Score], labels: Iterable[Label]
) -> Iterator[tuple[str, str, list[Label], dict[str, Score]]]:
    """Yield metric, judge, one label for each record that this judge was asked about, and its scores by record id.
    Several ratings of one record count as their mean; several yes and no as the majority, and not at all where they
    are even."""
    several: dict[tuple[str, str], list[Label]] = {}
    for one in sorted(labels, key=lambda label: (label.metric, label.record_id)):
        several.setdefault((one.metric, one.record_id), []).append(one)
    shares = [(mine[0], sum(one.share for one in mine) / len(mine)) for mine in several.values()]
    single = [
        replace(label, share=float(share > 0.5) if label.binary else share)
        for label, share in shares
        if not label.binary or share != 0.5
    ]
    table: dict[tuple[str, str], dict[str, Score]] = {}
    for score in sorted(scores, key=lambda score: (score.metric, score.judge, score.record_id)):
        table.setdefault((score.metric, score.judge), {})[score.record_id] = score
    for (metric, judge), mine in table.items():
        if among := [one for one in single if one.metric == metric and one.record_id in mine]:
            yield metric, judge, among, mine


def tau_b(first: npt.ArrayLike, second: npt.ArrayLike, numbers: Ints | None = None) -> Statistic:
    """Kendall's τ-b: pairs ordered alike less those ordered otherwise, over the geometric mean of the pairs that are no
    ties in the first and those that are none in the second."""
    one, two = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if len(np.unique(one)) < len(np.unique(two)):
        one, two = two, one  # the loop is over the levels of the second
    order, levels = np.argsort(one, kind="stable"), np.unique(two)
    starts = np.unique(one[order], return_index=True)[1]

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
        spread = np.sqrt(apart * untied)
        return ratio(2 * concordant, np.where(spread > 1e-12, spread, 0.0))

    return Statistic(weighted, items(numbers, len(one))[0][order], "all are tied")


def nmae(first: npt.ArrayLike, second: npt.ArrayLike, numbers: Ints | None = None) -> Statistic:
    """The mean distance of two shares of a scale: of ratings from 1 to 5, their mean absolute error over 4."""
    return mean(np.abs(np.asarray(first, dtype=float) - np.asarray(second, dtype=float)), numbers)


def _agreement(metric: str, judge: str, labels: Sequence[Label], scores: Mapping[str, Score]) -> Agreement:
    rated, binary = rates(scores.values()), any(one.binary for one in labels)
    found = [(one, number) for one in labels if (number := value(scores[one.record_id])) is not None]
    people = [one.share for one, _ in found]
    shares = [(5 * number - 1) / 4 if rated else number for _, number in found]
    numbers = numbered((one.record_id for one, _ in found), {one.record_id: one.group for one in labels})
    measures = {"auc": roc_auc, "tau_b": tau_b} if binary else {"tau_b": tau_b, "nmae": nmae}
    counts = resampled(count(numbers))
    figures = {name: figure(of(shares, people, numbers), counts)[0] for name, of in measures.items() if found}
    kind: Labelled = "yes and no" if binary else "ratings"
    groups = count(numbers) if found else 0
    return Agreement(metric, judge, kind, rated, len(found), groups, len(labels) - len(found), figures)
