"""The agreement of a judge with people, and of people with each other: by metric, with intervals."""

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
    return tuple(_agreement(one) for one in beside_labels(scores, labels, groups))


def missing(scores: Iterable[Score], labels: Iterable[Label]) -> dict[str, int]:
    """The number of labels, by metric, that no judge was asked about."""
    judged = {(score.metric, score.record_id) for score in scores}
    return dict(Counter(one.metric for one in labels if (one.metric, one.record_id) not in judged))


@dataclass(frozen=True, slots=True)
class LabelledScores:
    """The scores of one judge of a metric, beside people's labels."""

    metric: str
    judge: str
    labels: tuple[Label, ...]
    """One for each labelled record that this judge was asked about."""
    scores: Mapping[str, Score]
    """All of this judge, by record id."""
    values: Mapping[str, float]
    """Of those that have one."""
    groups: Mapping[str, str]
    """The group of each record that has one, by id; that of a label comes first."""

    @property
    def valued(self) -> list[Label]:
        """The labels of records whose score has a value."""
        return [one for one in self.labels if one.record_id in self.values]


def beside_labels(
    scores: Iterable[Score], labels: Iterable[Label], groups: Mapping[str, str] | None = None
) -> Iterator[LabelledScores]:
    """Yield the scores of each judge of each metric that has labels."""
    single = merged(labels)
    table: dict[tuple[str, str], dict[str, Score]] = {}
    for score in sorted(scores, key=lambda score: (score.metric, score.judge, score.record_id)):
        table.setdefault((score.metric, score.judge), {})[score.record_id] = score
    for (metric, judge), mine in table.items():
        if among := tuple(one for one in single if one.metric == metric and one.record_id in mine):
            values = {id: number for id, score in mine.items() if (number := value(score)) is not None}
            known = {**(groups or {}), **{one.record_id: one.group for one in among if one.group}}
            yield LabelledScores(metric, judge, among, mine, values, known)


def merged(labels: Iterable[Label]) -> list[Label]:
    """One label for each metric and record: several ratings count as their mean; several yes and no as the majority,
    and not at all where they are even."""
    several = by_record(labels)
    shares = [(mine[0], sum(one.share for one in mine) / len(mine)) for mine in several.values()]
    return [
        replace(label, share=float(share > 0.5) if label.binary else share)
        for label, share in shares
        if not label.binary or share != 0.5
    ]


def by_record(labels: Iterable[Label]) -> dict[tuple[str, str], list[Label]]:
    """The labels of each metric and record, in the order of these."""
    several: dict[tuple[str, str], list[Label]] = {}
    for one in sorted(labels, key=lambda label: (label.metric, label.record_id)):
        several.setdefault((one.metric, one.record_id), []).append(one)
    return several


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """The agreement of people with each other on one metric."""

    metric: str
    labels: Labelled
    people: tuple[str, ...]
    """Their names, of those who labelled a record that another labelled too."""
    of: int
    """Records with labels of two people or more."""
    same: float
    """The share of these on which all say the same."""
    alpha: Figure
    """Krippendorff's, of numbers (of yes and no that is the nominal one): 1 is agreement, 0 what chance gives."""


def people_agreed(labels: Iterable[Label], groups: Mapping[str, str] | None = None) -> tuple[PeopleAgreement, ...]:
    """How far people agree with each other, for each metric that has records with labels of several of them. The last
    label of a person on a record counts; labels without a name count as one person's."""
    units: dict[str, list[dict[str, Label]]] = {}
    for (metric, _), mine in by_record(labels).items():
        if len(each := {one.by: one for one in mine}) > 1:
            units.setdefault(metric, []).append(each)
    return tuple(_between_people(metric, mine, groups or {}) for metric, mine in units.items())


def _between_people(metric: str, units: Sequence[Mapping[str, Label]], groups: Mapping[str, str]) -> PeopleAgreement:
    firsts = [next(iter(unit.values())) for unit in units]
    known = {**groups, **{one.record_id: one.group for one in firsts if one.group}}
    numbers = numbered((one.record_id for one in firsts), known)
    shares = [[one.share for one in unit.values()] for unit in units]
    alpha = figure(krippendorff(shares, numbers), resampled(count(numbers)))[0]
    names = tuple(sorted({name for unit in units for name in unit}))
    same = sum(max(mine) == min(mine) for mine in shares) / len(shares)
    kind: Labelled = "yes and no" if firsts[0].binary else "ratings"
    return PeopleAgreement(metric, kind, names, len(units), same, alpha)


def krippendorff(units: Sequence[Sequence[float]], numbers: Ints | None = None) -> Statistic:
    """Krippendorff's α for interval data (2011): 1 less the squared distance of the labels of a unit over that of all
    labels, pair by pair. Each unit has two labels or more."""
    sizes, sums, squares = (np.array([sum(x**power for x in unit) for unit in units], float) for power in range(3))
    within = 2 * (sizes * squares - sums**2) / (sizes - 1)

    def weighted(weights: Floats) -> Floats:
        every = weights @ sizes
        among = 2 * (every * (weights @ squares) - (weights @ sums) ** 2) / np.maximum(every - 1, 1)
        return 1 - ratio(weights @ within, np.where(among > 1e-12, among, 0.0))

    return Statistic(weighted, items(numbers, len(units))[0], "all labels are the same")


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


def _agreement(one: LabelledScores) -> Agreement:
    rated, binary, found = rates(one.scores.values()), any(label.binary for label in one.labels), one.valued
    people, values = [label.share for label in found], [one.values[label.record_id] for label in found]
    shares = [(5 * number - 1) / 4 if rated else number for number in values]
    numbers = numbered((label.record_id for label in found), one.groups)
    measures = {"auc": roc_auc, "tau_b": tau_b} if binary else {"tau_b": tau_b, "nmae": nmae}
    counts = resampled(count(numbers))
    figures = {name: figure(of(shares, people, numbers), counts)[0] for name, of in measures.items() if found}
    kind: Labelled = "yes and no" if binary else "ratings"
    groups, unscored = count(numbers) if found else 0, len(one.labels) - len(found)
    return Agreement(one.metric, one.judge, kind, rated, len(found), groups, unscored, figures)
