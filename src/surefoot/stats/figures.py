"""Figures with their intervals: shares, means, AUC, calibration; and bootstraps over questions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

RESAMPLES = 1000
"""Resamples of a bootstrap."""
SEED = 0
"""The bootstrap's seed."""
MISSING = 0.05
"""A figure that more than this share of the resamples lacks gets no interval."""
_CELLS = 2**17
"""Resamples times items that are worked on at once, so that they stay in the processor's cache."""

Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


def match(answer: str, golds: Sequence[str]) -> bool:
    """True if a gold alias is a substring of the answer, case and all: the rule of CRAG's released scripts. A blank
    alias, which stands in every text, counts for nothing."""
    return any(gold in answer for gold in golds if gold.strip())


def match_lower(answer: str, golds: Sequence[str]) -> bool:
    """`match` in lower case: the rule of the open reproduction."""
    return match(answer.lower(), [gold.lower() for gold in golds])


def wilson(successes: int, trials: int) -> tuple[float, float] | None:
    """95 % score interval of a share (Wilson 1927): in [0, 1], sound for few trials; None without trials."""
    if not trials:
        return None
    share, shrink = successes / trials, 1 + Z95**2 / trials
    middle = (share + Z95**2 / (2 * trials)) / shrink
    half = Z95 * sqrt(share * (1 - share) / trials + Z95**2 / (4 * trials**2)) / shrink
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, slots=True)
class Paired:
    """Two methods on the same questions."""

    of: int
    first: int
    """Questions that only the first has right."""
    second: int
    """Questions that only the second has right."""
    p: float
    """p of McNemar's test, exact and two-sided: how often chance sets them as far apart, or further."""


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> Paired:
    """McNemar's test of two methods on the same questions, in the same order."""
    pairs = list(zip(first, second, strict=True))
    only_first, only_second = sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)
    fewer, apart = min(only_first, only_second), only_first + only_second
    tail = sum(comb(apart, count) for count in range(fewer + 1))
    return Paired(len(pairs), only_first, only_second, min(1.0, tail / 2 ** max(0, apart - 1)))


def holm(p: Sequence[float]) -> list[float]:
    """The p-values after Holm's step-down correction (1979), in their order; at most 1."""
    adjusted, worst = [0.0] * len(p), 0.0
    for step, n in enumerate(sorted(range(len(p)), key=lambda n: p[n])):
        worst = max(worst, min(1.0, (len(p) - step) * p[n]))
        adjusted[n] = worst
    return adjusted


@dataclass(frozen=True, slots=True)
class Statistic:
    """A figure over items of questions, computable for any weights of the questions."""

    weighted: Callable[[Floats], Floats]
    """(weights, one row a resample and one column an item) -> the figure of each row; NaN where it is undefined."""
    questions: Ints
    """The number, from 0, of each item's question."""
    undefined: str
    """The reason why it may be undefined."""

    @property
    def value(self) -> float | None:
        """Over all items, each counted once; None: undefined."""
        value = float(self.weighted(np.ones((1, len(self.questions))))[0])
        return None if np.isnan(value) else value


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its 95 % interval."""

    value: float | None
    low: float | None
    high: float | None
    """None with `low`: undefined, of one question only, or missing in more than `MISSING` of the resamples."""
    of: int
    """Items that it is taken over."""
    undefined: str = ""
    """The reason why `value` is None; empty: it is not."""


def roc_auc(scores: npt.ArrayLike, labels: npt.ArrayLike, questions: Ints | None = None) -> Statistic:
    """The share of pairs in which a relevant item has a higher score than an irrelevant one; a tie counts one half."""
    return ranked(scores, labels, questions, _auc)


def mean(values: npt.ArrayLike, questions: Ints | None = None) -> Statistic:
    """The mean; of truth values, the share that is true."""
    each = np.asarray(values, dtype=float)
    return Statistic(lambda w: ratio(w @ each, w.sum(axis=1)), *items(questions, len(each)))


def resampled(questions: int, seed: int | Sequence[int] = SEED) -> npt.NDArray[np.uint16]:
    """The count of each question in each of `RESAMPLES` samples, drawn with replacement, of as many questions. A
    question is drawn with all its items, which are alike; figures of the same resamples are paired."""
    random, counts = np.random.default_rng(seed), np.empty((RESAMPLES, questions), dtype=np.uint16)
    for row in counts:  # one by one: all draws at once would take sixteen times as much memory as the counts
        row[:] = np.bincount(random.integers(questions, size=questions), minlength=questions)
    return counts


def replicates(statistic: Statistic, counts: npt.NDArray[np.uint16]) -> Floats:
    """The statistic in each resample, NaN where it is undefined: a resampled question's items are weighted by how
    often it was drawn, so that nothing is copied or sorted again. 1,000 resamples of 10,000 scored pairs take 0.4 s."""
    rows = max(1, _CELLS // max(1, len(statistic.questions)))
    chunks = (counts[start : start + rows] for start in range(0, len(counts), rows))
    return np.concatenate([statistic.weighted(chunk[:, statistic.questions].astype(float)) for chunk in chunks])


def figure(statistic: Statistic, counts: npt.NDArray[np.uint16]) -> tuple[Figure, Floats]:
    """The statistic with the interval from 2.5 to 97.5 % of its replicates, and these."""
    value, several = statistic.value, len(np.unique(statistic.questions)) > 1
    drawn = replicates(statistic, counts) if value is not None and several else np.full(len(counts), np.nan)
    low, high = percentiles(drawn) or (None, None)
    undefined = statistic.undefined if value is None else ""
    return Figure(value, low, high, len(statistic.questions), undefined), drawn


def items(questions: Ints | None, count: int) -> tuple[Ints, str]:
    """The question of each item, and why a figure over none is undefined."""
    return (np.arange(count) if questions is None else questions), "there is nothing to count"


def ranked(
    scores: npt.ArrayLike, labels: npt.ArrayLike, questions: Ints | None, formula: Callable[[Floats, Floats], Floats]
) -> Statistic:
    """`formula` is given the weights of the relevant and of the irrelevant items at each distinct score, rising."""
    values = np.asarray(scores, dtype=float)
    order = np.argsort(values, kind="stable")
    positive = np.asarray(labels, dtype=float)[order]
    starts = np.unique(values[order], return_index=True)[1]

    def weighted(weights: Floats) -> Floats:
        relevant = np.add.reduceat(weights * positive, starts, axis=1)
        irrelevant = np.add.reduceat(weights, starts, axis=1) - relevant
        both = (relevant.sum(axis=1) > 0) & (irrelevant.sum(axis=1) > 0)
        return np.where(both, formula(relevant, irrelevant), np.nan)

    undefined = f"it takes both labels, and {int(positive.sum())} of {len(positive)} are positive"
    return Statistic(weighted, items(questions, len(values))[0][order], undefined)


def _auc(relevant: Floats, irrelevant: Floats) -> Floats:
    below = np.cumsum(irrelevant, axis=1) - irrelevant / 2
    return ratio((relevant * below).sum(axis=1), relevant.sum(axis=1) * irrelevant.sum(axis=1))


def ratio(part: Floats, whole: Floats, empty: float = np.nan) -> Floats:
    """The quotient, and `empty` where the whole is 0."""
    return np.divide(part, whole, out=np.full_like(part, empty), where=whole > 0)


def percentiles(drawn: Floats) -> tuple[float, float] | None:
    """The ends of the middle 95 %; None: too many are undefined."""
    there = drawn[~np.isnan(drawn)]
    if len(there) < (1 - MISSING) * len(drawn):
        return None
    low, high = np.quantile(there, [0.025, 0.975])
    return float(low), float(high)
