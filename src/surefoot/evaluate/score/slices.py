"""Means by tag, each held against the mean of all other records; worst first, corrected for looking at many."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot.evaluate.score.summaries import value
from surefoot.stats.figures import Z95, holm
from surefoot.stats.groups import count, error, numbered, welch
from surefoot.types import Record, Score

LEAST = 5
"""Independent records or groups that a slice has, and its rest: fewer show nothing."""
MOST = 50
"""Values of a tag; one that has more, such as a page's address, sorts records into no slices."""
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Slice:
    """One metric among the records of one tag."""

    tag: str
    value: str
    metric: str
    of: int
    """Scored records of the slice."""
    mean: float
    low: float
    """95 % interval of the mean, by the standard error over groups: a bootstrap of each slice would take minutes."""
    high: float
    rest: float
    """The mean of all other scored records that have the tag."""
    p: float | None
    """The chance of such a difference, or a larger one, if the slice were like the rest (Welch); None: no two scores
    differ."""
    holm: float | None
    """p after Holm's correction over all slices and metrics."""

    @property
    def worse(self) -> bool:
        """True if it is worse than the rest, beyond what chance does among so many slices."""
        return self.mean < self.rest and self.holm is not None and self.holm < ALPHA


def slices(
    records: Sequence[Record], scores: Iterable[Score], groups: Mapping[str, str], metrics: Collection[str]
) -> tuple[Slice, ...]:
    """A slice for each value of each tag (of at most `MOST`) and each of the `metrics`; those furthest below their rest
    first, by p."""
    tagged: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for record in records:
        for tag, name in record.tags.items():
            tagged[tag][record.id] = name
    valued: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for score in scores:
        if score.metric in metrics and (number := value(score)) is not None:
            valued[score.metric][score.record_id] = number
    found = [
        one
        for metric, values in sorted(valued.items())
        for tag, names in sorted(tagged.items())
        if len({*names.values()}) <= MOST
        for name in sorted({names[id] for id in values if id in names})
        if (one := _slice(tag, name, metric, {id: values[id] for id in values if id in names}, names, groups))
    ]
    tested = [n for n, one in enumerate(found) if one.p is not None]
    corrected = dict(zip(tested, holm([found[n].p or 0.0 for n in tested]), strict=True))
    every = [replace(one, holm=corrected.get(n)) for n, one in enumerate(found)]
    return tuple(sorted(every, key=lambda one: (one.mean >= one.rest, 1.0 if one.p is None else one.p)))


def _slice(
    tag: str, name: str, metric: str, values: Mapping[str, float], names: Mapping[str, str], groups: Mapping[str, str]
) -> Slice | None:
    inside = [id for id in values if names[id] == name]
    outside = [id for id in values if names[id] != name]
    sides = [(np.array([values[id] for id in ids]), numbered(ids, groups)) for ids in (inside, outside)]
    if any(not len(each) or count(numbers) < LEAST for each, numbers in sides):
        return None
    (mine, mine_numbers), (others, other_numbers) = sides
    mean, half = float(mine.mean()), Z95 * (error(mine, mine_numbers) or 0.0)
    p = welch(mine, mine_numbers, others, other_numbers)
    low, high = max(0.0, mean - half), min(1.0, mean + half)
    return Slice(tag, name, metric, len(mine), mean, low, high, float(others.mean()), p, None)
