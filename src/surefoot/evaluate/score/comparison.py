"""Two evaluations on the records that both have, and conditions that an evaluation has to keep."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Literal

import numpy as np
import numpy.typing as npt

from surefoot.evaluate.records.folder import Evaluated
from surefoot.evaluate.score.summaries import SLACK, average, value
from surefoot.stats.figures import Floats, Ints, holm, mcnemar
from surefoot.stats.groups import FEW, averaged, count, numbered, visible
from surefoot.stats.text import NONE
from surefoot.types import Score, Summary
from surefoot.types.errors import UsageError

EXACT = 14
"""The most groups that differ for which every way of flipping their signs is tried."""
FLIPS = 20_000
"""Otherwise so many are drawn, by `SEED`."""
SEED = 0
MOVED = 10
"""Scores that fell most, and that rose most, are named up to so many."""


Test = Literal["McNemar", "sign flips", ""]
"""Empty: there was nothing to test."""
Scores = dict[str, Score]
"""Scores of one metric, by record id."""


@dataclass(frozen=True, slots=True)
class MetricChange:
    """The change of one metric between two evaluations."""

    metric: str
    of: int
    """Records that both scored; all figures are over them."""
    groups: int
    before: float | None
    """Mean of the first; None: no record was scored by both."""
    after: float | None
    difference: float | None
    low: float | None
    """95 % interval of the difference, from a bootstrap over groups; None: fewer than two."""
    high: float | None
    test: Test
    p: float | None
    """The chance of a difference as large, or larger, if nothing had changed."""
    holm: float | None
    """p after Holm's correction over all metrics, of all runs that are compared with the first."""
    visible: float | None
    """The difference that so many records show four times in five; None: no two records differ."""
    only_first: tuple[str, ...]
    """Ids of records that both have and only the first scored."""
    only_second: tuple[str, ...]
    judges: tuple[str, ...]
    """The judges of the first and of the second, if they are not the same; then the judges may be what differs."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A score that changed."""

    record_id: str
    metric: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two evaluations, side by side."""

    records: int
    """Records with the same id and question in both."""
    only_first: tuple[str, ...]
    """Ids of records that the other lacks."""
    only_second: tuple[str, ...]
    unlike: tuple[str, ...]
    """Ids that name another question in the second; they are compared in nothing."""
    changes: tuple[MetricChange, ...]
    fell: tuple[Moved, ...]
    """The worst first, at most `MOVED`."""
    rose: tuple[Moved, ...]


def compared(first: Evaluated, *others: Evaluated) -> tuple[Comparison, ...]:
    """Each of the others beside the first, as `_compared` does it, p corrected over all metrics of them all."""
    found = [_compared(first, other) for other in others]
    tested = [change.p for one in found for change in one.changes if change.p is not None]
    corrected = iter(holm(tested))
    return tuple(
        replace(one, changes=tuple(c if c.p is None else replace(c, holm=next(corrected)) for c in one.changes))
        for one in found
    )


def _compared(first: Evaluated, second: Evaluated) -> Comparison:
    """The change from the first to the second, metric by metric; records are matched by their ids.

    McNemar's exact test serves metrics with two values where no two records share a group. Else signs are flipped group
    by group (`flipped`): that tests the mean that is shown and takes ties as they are, while the ranks of Wilcoxon's
    test would be mostly ties on five levels. Raises UsageError where the two have no record in common.
    """
    before = {record.id: record.question for record in first.records}
    after = {record.id: record.question for record in second.records}
    both = {name for name in before if after.get(name) == before[name]}
    if not both:
        raise UsageError("the two runs have no record in common: no id stands for the same question in both")
    groups = {**second.groups, **first.groups}
    sides: defaultdict[str, tuple[Scores, Scores]] = defaultdict(lambda: ({}, {}))
    for place, run in enumerate((first, second)):
        for score in (score for score in run.scores if score.record_id in both):
            sides[score.metric][place][score.record_id] = score
    changes: list[MetricChange] = []
    moved: list[Moved] = []
    for metric, (old, new) in sorted(sides.items()):
        values = {name: (value(old[name]), value(new[name])) for name in old if name in new}
        pairs = {name: (one, two) for name, (one, two) in values.items() if one is not None and two is not None}
        changes.append(_change(metric, pairs, old, new, groups))
        moved += [Moved(name, metric, *pair) for name, pair in pairs.items()]
    rising = sorted(moved, key=lambda one: round(one.after - one.before, 9))
    falling = sorted(moved, key=lambda one: round(one.before - one.after, 9))
    return Comparison(
        records=len(both),
        only_first=tuple(name for name in before if name not in after),
        only_second=tuple(name for name in after if name not in before),
        unlike=tuple(name for name in before if name in after and name not in both),
        changes=tuple(changes),
        fell=tuple(one for one in rising if one.after < one.before)[:MOVED],
        rose=tuple(one for one in falling if one.after > one.before)[:MOVED],
    )


def flipped(gaps: Floats, numbers: Ints) -> float:
    """The chance that the differences add up to as much as they do, or more, two-sided, if signs of groups were drawn:
    exact for up to `EXACT` groups that differ, else by `FLIPS` draws, of which the observed sum is one more."""
    added = np.asarray(np.bincount(numbers, gaps), dtype=float)
    added = added[np.abs(added) > SLACK]

    def as_far(flips: npt.NDArray[np.signedinteger]) -> npt.NDArray[np.bool_]:
        return np.asarray(np.abs((1.0 - 2.0 * flips) @ added) >= abs(added.sum()) - SLACK)

    if len(added) <= EXACT:
        return float(as_far(np.arange(2 ** len(added))[:, None] >> np.arange(len(added)) & 1).mean())
    random = np.random.default_rng(SEED)
    far = (as_far(random.integers(2, size=(1000, len(added)))).sum() for _ in range(FLIPS // 1000))
    return (1 + int(sum(far))) / (1 + FLIPS)


def _change(
    metric: str, pairs: Mapping[str, tuple[float, float]], first: Scores, second: Scores, groups: Mapping[str, str]
) -> MetricChange:
    values = np.array(list(pairs.values())).reshape(-1, 2)
    gaps, numbers = values[:, 1] - values[:, 0], numbered(pairs, groups)
    figure = averaged(gaps, numbers)
    before, after = values.mean(axis=0).tolist() if pairs else (None, None)
    test, p = tested(values, numbers)
    alone = [
        tuple(n for n, one in side.items() if value(one) is not None and n not in pairs) for side in (first, second)
    ]
    judges = [", ".join(sorted({one.judge for one in side.values() if one.judge})) for side in (first, second)]
    return MetricChange(
        metric=metric,
        of=len(pairs),
        groups=count(numbers) if pairs else 0,
        before=before,
        after=after,
        difference=figure.value,
        low=figure.low,
        high=figure.high,
        test=test,
        p=p,
        holm=None,
        visible=visible(gaps, numbers),
        only_first=alone[0],
        only_second=alone[1],
        judges=tuple(judges) if all(judges) and judges[0] != judges[1] else (),
    )


def tested(values: Floats, numbers: Ints) -> tuple[Test, float | None]:
    """The test of paired values, a row for each record, and its p: McNemar's, exact, for two values at most where no
    two records share a group, else sign flips. None: there are no values."""
    if not len(values):
        return "", None
    levels = np.unique(values)
    if len(levels) <= 2 and count(numbers) == len(numbers):
        right = values == levels[-1]
        return "McNemar", mcnemar(right[:, 0].tolist(), right[:, 1].tolist()).p
    return "sign flips", flipped(values[:, 1] - values[:, 0], numbers)


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition, held against one metric."""

    condition: str
    metric: str
    """Empty: there is none to hold it against."""
    figure: str
    value: float | None
    sign: str
    limit: float
    kept: bool | None
    """None: it cannot be checked."""
    because: str
    """The reason why it cannot; empty: it can."""
    summary: Summary | None = None
    """The metric's; None: there is no such metric."""

    @property
    def figures(self) -> str:
        """The figure, the mean with its interval, and how many records these are of; else why it cannot be checked."""
        if self.value is None or not (one := self.summary):
            return self.because
        figure = "" if self.figure == "mean" else f"{self.figure} {self.value:.3g}, "
        narrow = f"; {self.metric} has fewer than {FEW} scores: its interval is too narrow"
        few = self.figure in ("low", "high") and one.scored < FEW
        return f"{self.metric}: {figure}mean {average(one, '{:.3f}'.format) or NONE}{narrow if few else ''}"


FIGURES: dict[str, Callable[[Summary], float | None]] = {
    **{name: attrgetter(name) for name in "mean low high least most smallest largest scored".split()},
    "unscored": lambda one: one.unscored / of if (of := one.scored + one.unscored) else None,
    "coverage": lambda one: one.scored / of if (of := one.scored + one.unscored) else None,
}
"""Figures that a condition can name; `unscored` and `coverage` are shares of the records that the metric applies to."""

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda number, limit: number >= limit - SLACK,
    "<=": lambda number, limit: number <= limit + SLACK,
    ">": lambda number, limit: number > limit + SLACK,
    "<": lambda number, limit: number < limit - SLACK,
}
_CONDITION = r"\s*([\w.-]*?[\w-])\s*(>=|<=|>|<|≥|≤)\s*(\d*\.?\d+)\s*"


def gate(conditions: Sequence[str], summaries: Sequence[Summary]) -> tuple[Condition, ...]:
    """Check each condition, in order; one that names no metric is checked for each metric that applies to any record.

    A condition is `[METRIC.]FIGURE SIGN NUMBER`, or `METRIC SIGN NUMBER` for the stricter end of the interval. The last
    word of a metric's name will do. Raises UsageError for what is no condition.
    """
    return tuple(check for text in conditions for check in _checks(text, summaries))


def metrics_of(conditions: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Those of the `known` metrics that the conditions are about, in their order; all of them where one names none.
    Raises UsageError for what is no condition, or is about no known metric."""
    meant = {text: _meant(_parsed(text)[0], known) for text in conditions}
    if faults := [f"'{text}': {found}" for text, found in meant.items() if isinstance(found, str)]:
        raise UsageError("; ".join(faults))
    return tuple(name for name in known if any(name in found for found in meant.values()))


def _parsed(text: str) -> tuple[str, str, str, float]:
    """The metric, the figure, the sign and the limit of a condition."""
    if not (parsed := re.fullmatch(_CONDITION, text)):
        raise UsageError(f"'{text}' is no condition; write METRIC.FIGURE>=NUMBER, such as adherence.low>=0.8")
    what, sign, limit = parsed[1], {"≥": ">=", "≤": "<="}.get(parsed[2], parsed[2]), float(parsed[3])
    metric, dot, figure = what.rpartition(".")
    if not dot and what in FIGURES:
        metric, figure = "", what
    elif not dot:
        metric, figure = what, "low" if sign in (">=", ">") else "high"
    if figure not in FIGURES:
        raise UsageError(f"'{text}': there is no figure '{figure}'; there are: {', '.join(FIGURES)}")
    return metric, figure, sign, limit


def _checks(text: str, summaries: Sequence[Summary]) -> list[Condition]:
    metric, figure, sign, limit = _parsed(text)
    by_name = {one.metric: one for one in summaries if metric or one.scored + one.unscored}
    found = _meant(metric, [*by_name])
    if isinstance(found, str):
        return [Condition(text, metric, figure, None, sign, limit, None, found)]
    checks = []
    for one in map(by_name.__getitem__, found):
        figured = FIGURES[figure](one)
        holds = None if figured is None else _SIGNS[sign](figured, limit)
        why = "no record is scored" if one.mean is None else f"fewer than two groups of records, so no {figure}"
        why = why if one.scored + one.unscored else "it applies to no record"
        because, known = why if holds is None else "", None if figured is None else float(figured)
        checks.append(Condition(text, one.metric, figure, known, sign, limit, holds, because, one))
    return checks


def _meant(metric: str, known: Sequence[str]) -> list[str] | str:
    """The metrics that a condition is about, or why there are none."""
    if not metric:
        return [*known] or "no metric applies to any record"
    found = [metric] if metric in known else [one for one in known if one.endswith(f"_{metric}")]
    names = ", ".join(found or known)
    if len(found) > 1:
        return f"'{metric}' could be any of: {names}"
    return found or f"no metric '{metric}'; there are: {names or 'none'}"
