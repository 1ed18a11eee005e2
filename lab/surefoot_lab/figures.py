"""Figures that only the lab takes: precision, calibration, risk and coverage, and figures of several data sets."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from surefoot.stats.figures import (
    Figure,
    Floats,
    Ints,
    Statistic,
    figure,
    items,
    mean,
    percentiles,
    ranked,
    ratio,
    resampled,
    wilson,
)
from surefoot.text.ids import labels
from surefoot.text.words import words

_ARTICLES = {"a", "an", "the"}
BINS = 15
"""Equal-width bins of the expected calibration error: [k/15, (k+1)/15), the last with 1."""


def token_f1(answer: str, golds: Sequence[str]) -> float:
    """Harmonic mean of the share of its words that are the gold's and of the gold's that it says, articles apart; of
    several golds the best (Rajpurkar et al. 2016, but for our word boundaries). In [0, 1]; 0 without words in common.
    """
    texts = ([word for word in words(text) if word not in _ARTICLES] for text in (answer, *golds))
    mine, *others = map(Counter, texts)
    return max((2 * (mine & one).total() / max(1, mine.total() + one.total()) for one in others), default=0.0)


def recall_at(k: int, retrieved: Sequence[str], gold: frozenset[str]) -> bool:
    """True if one of the first `k` ids is a gold passage, by `labels`: a part `id#2` of a split one counts as `id`."""
    return any(not gold.isdisjoint(labels(name)) for name in retrieved[:k])


def average_precision(scores: npt.ArrayLike, labels: npt.ArrayLike, questions: Ints | None = None) -> Statistic:
    """Mean over the relevant items of the precision at their score: no interpolation, tied items taken together."""
    return ranked(scores, labels, questions, _precision)


def expected_calibration_error(
    probabilities: npt.ArrayLike, labels: npt.ArrayLike, questions: Ints | None = None
) -> Statistic:
    """Mean distance of probability from frequency over `BINS` equal-width bins, each weighted by its items. Resampling
    adds chance to every bin's distance, so the interval leans upwards."""
    sure = np.asarray(probabilities, dtype=float)
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    gaps = np.zeros((len(sure), BINS))
    gaps[np.arange(len(sure)), bins] = np.asarray(labels, dtype=float) - sure
    return Statistic(lambda w: ratio(np.abs(w @ gaps).sum(axis=1), w.sum(axis=1)), *items(questions, len(sure)))


def brier(probabilities: npt.ArrayLike, labels: npt.ArrayLike, questions: Ints | None = None) -> Statistic:
    """Mean squared distance of the probability from the label; 0 is best."""
    return mean((np.asarray(probabilities, dtype=float) - np.asarray(labels, dtype=float)) ** 2, questions)


def risk_area(sure: npt.ArrayLike, wrong: npt.ArrayLike, questions: Ints | None = None) -> Statistic:
    """The area under the risk–coverage curve (El-Yaniv and Wiener 2010): the share of wrong items among the surest
    ones, averaged over all shares from none to every item; 0 is best. Items that are as sure as each other come in
    together, as if in every order."""
    each = -np.asarray(sure, dtype=float)
    order = np.argsort(each, kind="stable")
    starts = np.unique(each[order], return_index=True)[1]
    faults = np.asarray(wrong, dtype=float)

    def area(weights: Floats) -> Floats:
        sizes = np.add.reduceat(weights[:, order], starts, axis=1)
        missed = np.add.reduceat((weights * faults)[:, order], starts, axis=1)
        before, known = np.cumsum(sizes, axis=1) - sizes, np.cumsum(missed, axis=1) - missed
        rate = ratio(missed, sizes, empty=0.0)
        grown = np.log1p(ratio(sizes, before, empty=0.0)) * (known - rate * before)
        return ratio((rate * sizes + grown).sum(axis=1), weights.sum(axis=1))

    return Statistic(area, *items(questions, len(each)))


def relative(one: tuple[Figure, Floats], other: tuple[Figure, Floats]) -> Figure:
    """`other` less `one`, two figures of the same resamples, as a share of `one`: −0.25 where the other is a quarter
    smaller. Undefined where one of them is, or where `one` is 0."""
    (before, drawn), (after, redrawn) = one, other
    if before.value is None or after.value is None or not before.value:
        why = before.undefined or after.undefined or "there is nothing to take a share of"
        return Figure(None, None, None, after.of, why)
    low, high = percentiles(ratio(redrawn - drawn, drawn)) or (None, None)
    return Figure((after.value - before.value) / before.value, low, high, after.of)


def average(values: npt.ArrayLike) -> Figure:
    """The mean of one value a question, with the interval of a bootstrap over the questions."""
    return figure(mean(values), _drawn(np.size(values)))[0]


def difference(first: Sequence[float], second: Sequence[float]) -> Figure:
    """The mean of the first less that of the second, over the same questions in the same order, with the interval of a
    paired bootstrap; of truth values, the difference of the shares that are true."""
    return average(np.array(first, dtype=float) - np.array(second, dtype=float))


def macro(figures: Sequence[tuple[Figure, Floats]]) -> Figure:
    """The mean of the figures that are defined, each weighing the same; `of` is how many. The interval is for these
    very data sets, whose questions were resampled each by itself; None where one of the figures has none."""
    there = [(figure, drawn) for figure, drawn in figures if figure.value is not None]
    if not there:
        return Figure(None, None, None, 0, "undefined in every file")
    low = high = None
    if all(figure.low is not None for figure, _ in there):
        # Resamples of different sets have nothing to do with each other: a gap can be filled with any other one.
        filled = [np.resize(drawn[~np.isnan(drawn)], len(drawn)) for _, drawn in there]
        low, high = percentiles(np.mean(filled, axis=0)) or (None, None)
    return Figure(float(np.mean([figure.value for figure, _ in there])), low, high, len(there))


@lru_cache(maxsize=2)
def _drawn(questions: int) -> npt.NDArray[np.uint16]:
    """Methods are compared in many pairs on the same questions."""
    return resampled(max(1, questions))


def _precision(relevant: Floats, irrelevant: Floats) -> Floats:
    hits = np.cumsum(relevant[:, ::-1], axis=1)
    taken = hits + np.cumsum(irrelevant[:, ::-1], axis=1)
    precision = np.divide(hits, taken, out=np.zeros_like(hits), where=taken > 0)
    return ratio((relevant[:, ::-1] * precision).sum(axis=1), relevant.sum(axis=1))


@dataclass(frozen=True, slots=True)
class Share:
    """A share of questions, with its 95 % Wilson interval; None where there was nothing to count."""

    count: int
    of: int
    share: float | None
    low: float | None
    high: float | None


def counted(count: int, of: int) -> Share:
    """`count` of `of`, with its interval."""
    low, high = wilson(count, of) or (None, None)
    return Share(count, of, count / of if of else None, low, high)
