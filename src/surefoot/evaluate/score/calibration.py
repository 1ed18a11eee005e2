"""The cuts by which a score calls an answer right, lost or undecided: as shipped, or fitted to people's labels.

A fit is a logistic curve in the score that never falls, averaged over its posterior, whose prior puts its middle at the
shipped cuts: few labels move a cut little, and no label leaves it where it was.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot.evaluate.score.agreement import LabelledScores, beside_labels
from surefoot.evaluate.score.labels import ANSWER, Label
from surefoot.stats.figures import Figure, Floats, Ints, figure, resampled, roc_auc
from surefoot.stats.groups import count, numbered
from surefoot.types import Score, Verdict

LEAST_LABELS, LEAST_OF_A_KIND = 20, 5
"""Labels, and good and bad ones of them, below which no cut is moved."""
AIM = 0.65
"""The share of the records that are called lost, or right, that the fit expects to be so. The fit is cautious: in
lab/benchmarks/judges.md 72 % or more were, but for judges that hardly tell."""
FOLDS = 5
DECIDING = "factuality", "context_adherence"
"""Metrics that labels of the whole answer calibrate, where they have no labels of their own."""

_MIDDLES, _SLOPES = np.linspace(-0.5, 1.5, 81), np.array([1.0, 2, 4, 8, 16, 32, 64])
_SPREAD = 0.3
"""Standard deviation of the prior of the curve's middle."""
_GRID = np.linspace(0, 1, 201)


@dataclass(frozen=True, slots=True)
class Cuts:
    """What the scores of one metric say of an answer; None: no score says so."""

    lost: float | None
    """Up to this it is lost."""
    right: float | None
    """Above this it is right; between the two it is undecided."""
    low: float | None
    """Up to this the score is low, and points at a stage."""

    @property
    def silent(self) -> bool:
        """True if no score decides anything."""
        return self.lost is None and self.right is None

    def verdict(self, value: float) -> Verdict:
        """The verdict on an answer with this score."""
        if self.lost is not None and value <= self.lost:
            return "lost"
        return "right" if self.right is not None and value > self.right else "undecided"


SHIPPED = Cuts(0.4, 0.6, 0.5)
"""A metric of the answer up to the first loses it (a rating of 2, or of 1), and above the second it is good. Of 154
answers of two models that people had rated (MT-RAG), 22 had a context adherence of this machine's judge up to 0.4, and
15 of these were bad; so were 24 of the 26 bad ones up to 0.6. Up to 0.45 it would be 20 of 27, but also 173 in place of
48 of 660 right answers in eleven wordings."""
FACTUALITY = Cuts(0.6, 0.6, 0.5)
"""A rating of 3 is wrong: it means that the core is there with gaps."""
WORDING = Cuts(None, None, 0.2)
"""Of judges that go by wording and form, which no cut lets tell good answers from bad ones. Context relevancy is as low
for 5 to 27 % of the passages that answer, and for 12 to 90 % of those that do not (SQuAD 2, NQ, TechQA, WixQA,
MTRAG-UN)."""
_SILENT = Cuts(None, None, None)


def shipped(score: Score) -> Cuts:
    """The cuts that apply to a score without any labels."""
    if score.metric == "factuality":
        return FACTUALITY
    by_model = score.rating is not None or bool(score.repeats)
    wording = score.metric in ("answer_relevancy", "context_relevancy", "grading_note") and not by_model
    return WORDING if wording else SHIPPED


@dataclass(frozen=True, slots=True)
class Calibration:
    """The cuts of one metric as people's labels have them."""

    metric: str
    judge: str
    labels: int
    """Labelled records with a score."""
    bad: int
    """Those that people call bad (`Label.good`)."""
    auc: Figure
    """The judge's, against these labels."""
    cuts: Cuts | None
    """Of all labels, for the records without one; None: the shipped ones stand."""
    folds: tuple[Cuts, ...] = ()
    """Each fitted without the labels of its own fold."""
    fold: dict[str, int] | None = None
    """The fold of each labelled record. One that has a label is judged by no cut fitted on it."""
    because: str = ""
    """The reason why the shipped cuts stand, or why the metric decides nothing; empty: it was fitted."""

    @property
    def text(self) -> str:
        """The calibration in a sentence."""
        if self.because or self.cuts is None:
            return f"{self.metric}: {self.because}."
        lost = "no score loses an answer" if self.cuts.lost is None else f"lost up to {self.cuts.lost:.2f}"
        right = "no score makes one right" if self.cuts.right is None else f"right above {self.cuts.right:.2f}"
        labels = f"by {self.labels} labels, {self.bad} of them bad (AUC {self.auc.value:.2f})"
        return f"{self.metric}: {labels}, {lost}, {right}."

    def of(self, score: Score) -> Cuts:
        """The cuts that apply to a score of this metric."""
        if self.cuts is None or score.judge != self.judge:
            return shipped(score)
        fold = (self.fold or {}).get(score.record_id)
        return self.cuts if fold is None or not self.folds else self.folds[fold]


def calibrations(
    scores: Sequence[Score], labels: Iterable[Label], groups: Mapping[str, str] | None = None
) -> tuple[Calibration, ...]:
    """A calibration for each metric that has labels, and each judge of it. Labels of the whole answer serve the metrics
    of `DECIDING` that have none. The labelled records have to be drawn by lot. No model is called."""
    own = [*labels]
    named = {one.metric for one in own}
    own += [replace(one, metric=m) for one in own if one.metric == ANSWER for m in DECIDING if m not in named]
    return tuple(_calibration(one) for one in beside_labels(scores, own, groups) if one.valued)


def _calibration(one: LabelledScores) -> Calibration:
    good, start = {label.record_id: label.good for label in one.valued}, shipped(next(iter(one.scores.values())))
    ids = sorted(good, key=lambda name: hashlib.sha256(name.encode()).digest())
    values, truths = np.array([one.values[name] for name in ids]), np.array([good[name] for name in ids])
    numbers, bad = numbered(ids, one.groups), len(ids) - sum(good.values())
    auc = figure(roc_auc(values, truths, numbers), resampled(count(numbers)))[0]
    made = Calibration(one.metric, one.judge, len(ids), bad, auc, None)
    if len(ids) < LEAST_LABELS or min(bad, len(ids) - bad) < LEAST_OF_A_KIND:
        least = f"it takes {LEAST_LABELS}, {LEAST_OF_A_KIND} good and {LEAST_OF_A_KIND} bad ones among them"
        return replace(made, because=f"{len(ids)} labels, {bad} of them bad, move no cut: {least}")
    if auc.low is None or auc.low <= 0.5:
        return replace(made, cuts=_SILENT, because="its judge does not tell the good answers from the bad ones")
    spread = np.array([*one.values.values()])
    folds = numbers % FOLDS  # whole groups; no label has a say in its fold
    return replace(
        made,
        cuts=fitted(values, truths, spread, start),
        folds=tuple(fitted(values[folds != n], truths[folds != n], spread, start) for n in range(FOLDS)),
        fold=dict(zip(ids, folds.tolist(), strict=True)),
    )


def fitted(values: Floats, good: Floats, spread: Floats, start: Cuts = SHIPPED) -> Cuts:
    """The cuts that scores with labels suggest. A score is lost if it is bad more often than not, and if of all scores
    up to it in the run (`spread`) so many as `AIM` are expected to be bad; right, the other way round."""
    curve = _curve(values, good, start)
    there, times = np.unique(spread, return_counts=True)
    chance = np.interp(there, _GRID, curve)
    up, down = _running(1 - chance, times), _running(chance[::-1], times[::-1])[::-1]
    lost, right = np.flatnonzero((up >= AIM) & (chance < 0.5)), np.flatnonzero((down >= AIM) & (chance > 0.5))
    ends = np.clip(np.convolve([-1, *there, 2], [0.5, 0.5], "valid"), 0, 1)  # a cut lies between two scores
    low = np.flatnonzero(curve < 0.5)
    return Cuts(
        float(ends[lost[-1] + 1]) if len(lost) else None,
        float(ends[right[0]]) if len(right) else None,
        float(_GRID[low[-1]]) if len(low) else None,
    )


def _running(chance: Floats, times: Ints) -> Floats:
    """The mean of all values up to each one."""
    return np.asarray(np.cumsum(chance * times) / np.cumsum(times), dtype=float)


def _curve(values: Floats, good: Floats, start: Cuts) -> Floats:
    """The chance that an answer is good at each score of the grid, which never falls."""
    middle = 0.5 if start.lost is None or start.right is None else (start.lost + start.right) / 2
    logits = _SLOPES[:, None, None] * (values - _MIDDLES[:, None])
    fit = -np.logaddexp(0, np.where(good, -logits, logits)).sum(axis=-1)
    fit -= (_MIDDLES - middle) ** 2 / (2 * _SPREAD**2)
    weights = np.exp(fit - fit.max())[:, :, None] / np.exp(fit - fit.max()).sum()
    there = 1 / (1 + np.exp(-_SLOPES[:, None, None] * (_GRID - _MIDDLES[:, None])))
    return np.asarray((weights * there).sum(axis=(0, 1)), dtype=float)
