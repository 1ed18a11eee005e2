"""Thresholds for an evaluator, fitted on labelled questions so that a stated risk is kept.

The method is learn-then-test (Angelopoulos et al. 2021) with fixed-sequence testing. One question in five, chosen by a
hash of its words, proposes: the best scores of these are the candidates, and their labels say where to start. The other
four test ever more lenient candidates from there, as long as the exact binomial tail shows each to keep the risk. The
sequence is fixed before the test questions are looked at, so with the stated confidence no candidate that passed breaks
the target, even if risk does not rise evenly with leniency. The questions must be a fair sample of those to come; over
several files the bound holds for their mixture.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context
from math import ceil, inf, log

import numpy as np
from scipy.stats import beta, binom

from surefoot.evaluate.ask.questions import hashed
from surefoot.run.store import to_json
from surefoot.stats.figures import wilson
from surefoot.stats.text import percent
from surefoot.types import Thresholds
from surefoot.types.errors import UsageError

FOLDS = 5
"""One question in so many proposes, the others test. In simulations of 300 to 4,000 questions, a half and a tenth found
a threshold less often, a third about as often."""
TRUST = 2
"""Counts of the proposing questions are taken so many times. In the same simulations 1 found no threshold in up to 7 %
more of the runs, and 4 in up to 13 %."""
GRID = 200
"""Candidates, at most."""
_ALL_ANSWERED = (
    "every question has a relevant passage, so that no INCORRECT decision can be right; add questions that the "
    "passages do not answer, or take the relevant passages of some out (--thin)"
)


@dataclass(frozen=True, slots=True)
class Aim:
    """The risks to keep: each target by itself, with the stated confidence."""

    target: float = 0.05
    """Of CORRECT decisions, at most this share lacks evidence: no passage of the question is relevant."""
    discard_target: float = 0.1
    """Of INCORRECT decisions, at most this share has evidence."""
    strip_target: float = 0.05
    """Of relevant passages, at most this share scores below the strip threshold."""
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for name, value in to_json(self).items():
            if not 0 < value < 1:
                raise UsageError(f"{name.replace('_', ' ')} must lie between 0 and 1, not at {value}")


@dataclass(frozen=True, slots=True)
class Judged:
    """A question as an evaluator graded its passages."""

    text: str
    best: float | None
    """Its passages' highest score; None: none could be graded."""
    evidence: bool
    """One of its passages is relevant."""
    ungraded: int = 0
    """Passages without a grade; any of them keeps the question from INCORRECT."""
    relevant: float | None = None
    """Score of one of its relevant passages, chosen blindly; None: it has no graded one."""


@dataclass(frozen=True, slots=True)
class Point:
    """A threshold's figures on the test questions."""

    threshold: float
    of: int
    """Decisions; for the strip threshold, relevant passages."""
    wrong: int
    """Decisions that are wrong; for the strip threshold, relevant passages below it."""
    risk: float | None
    """Share that is wrong; None: `of` is 0."""
    low: float
    high: float
    """Bounds of the risk, each by itself and for this threshold alone; a chosen threshold keeps the target."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A threshold that keeps its target, or why there is none."""

    target: float
    threshold: float | None
    shown: Point | None
    """Of the threshold, or without one, of the safest-looking candidate; None: nothing could be counted."""
    reason: str = ""
    """Why there is none; empty: there is one."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The three thresholds, where they are shown to keep their targets."""

    upper: Choice
    lower: Choice
    strip: Choice
    confidence: float
    proposing: int
    """Questions that proposed."""
    testing: int
    """Questions that tested; `upper` and `lower` count these alone."""

    def thresholds(self, evaluator: str, fitted_on: str = "") -> Thresholds | None:
        """As the evaluator takes them; None unless all three were found."""
        upper, lower, strip = self.upper.threshold, self.lower.threshold, self.strip.threshold
        if upper is None or lower is None or strip is None:
            return None
        return Thresholds(upper, lower, strip, evaluator, fitted_on)


def fit(questions: Sequence[Judged], aim: Aim | None = None) -> Fit:
    """The most lenient thresholds that are shown to keep the aim; strip ≤ τ− ≤ τ+. Pure, and the same for any order.

    τ+ is sought downwards from where CORRECT looks surest to the proposing questions, and τ− upwards from where
    INCORRECT does; no target moves these places, so a laxer target never makes a threshold stricter. The strip
    threshold needs no candidates, since ever more lies below it: all questions count, and the bound is that of an order
    statistic.
    """
    wanted = aim or Aim()
    proposing, testing = parts(questions)
    span = _span(proposing)
    upper = _choice(span[::-1], _decided(testing, span[::-1], True), wanted.target, wanted.confidence, "CORRECT")
    lower = _lower(testing, span, wanted, upper.threshold)
    most = upper.threshold if lower.threshold is None else lower.threshold
    strip = _strip([q.relevant for q in questions if q.relevant is not None], wanted, most)
    return Fit(upper, lower, strip, wanted.confidence, len(proposing), len(testing))


def curve(questions: Sequence[Judged], confidence: float = 0.95) -> tuple[Point, ...]:
    """Risk of CORRECT decisions at every candidate for τ+, from the strictest, on the questions that test."""
    proposing, testing = parts(questions)
    grid = _grid(proposing)[::-1]
    return tuple(_point(t, *count, confidence) for t, count in zip(grid, _decided(testing, grid, True), strict=True))


def parts(questions: Sequence[Judged]) -> tuple[list[Judged], list[Judged]]:
    """The questions that propose, and those that test; the same questions stand on the same side in any company."""
    found: tuple[list[Judged], list[Judged]] = [], []
    for question in questions:
        found[hashed(question.text, 16)[-1] % FOLDS != 0].append(question)
    return found


def _grid(proposing: Iterable[Judged]) -> list[float]:
    """The candidates, rising."""
    scores = sorted({_cut(q.best) for q in proposing if q.best is not None})
    places = np.linspace(0, len(scores) - 1, min(GRID, len(scores))).round().astype(int)
    return [scores[place] for place in places]


def _cut(score: float) -> float:
    """To six digits: downwards, so that a question stays on its own score's side."""
    return float(Context(prec=6, rounding=ROUND_FLOOR).create_decimal(repr(float(score))))


def _span(proposing: Sequence[Judged]) -> list[float]:
    """The candidates, rising, between the surest τ− and the surest τ+ of the proposing questions."""
    grid = _grid(proposing)
    if not grid:
        return []
    ends = _surest(_decided(proposing, grid, True)), _surest(_decided(proposing, grid, False))
    return grid[min(ends) : max(ends) + 1]


def _surest(counts: Sequence[tuple[int, int]]) -> int:
    """The place with the lowest bound of the risk; without decisions, the bound is the worst."""
    bounds = [wilson(TRUST * wrong, TRUST * of) for of, wrong in counts]
    return min(range(len(counts)), key=lambda place: (bounds[place] or (0.0, 1.0))[1])


def _decided(questions: Sequence[Judged], grid: Sequence[float], correct: bool) -> list[tuple[int, int]]:
    """For each candidate as τ+ the CORRECT decisions, or as τ− the INCORRECT ones, and how many of them are wrong:
    those lack evidence, and these have some."""
    graded = [
        (q.best, q.evidence is not correct) for q in questions if q.best is not None and (correct or not q.ungraded)
    ]
    scores, wrong = (np.sort([score for score, fault in graded if fault or every]) for every in (True, False))
    below = [(int(np.searchsorted(scores, at)), int(np.searchsorted(wrong, at))) for at in grid]
    return [(len(scores) - of, len(wrong) - faults) for of, faults in below] if correct else below


def _lower(testing: Sequence[Judged], span: Sequence[float], aim: Aim, upper: float | None) -> Choice:
    """Not above τ+."""
    grid = [one for one in span if upper is None or one <= upper]
    found = _choice(grid, _decided(testing, grid, False), aim.discard_target, aim.confidence, "INCORRECT")
    return replace(found, reason=_ALL_ANSWERED) if found.shown and all(q.evidence for q in testing) else found


def _choice(
    grid: Sequence[float], counts: Sequence[tuple[int, int]], target: float, confidence: float, action: str
) -> Choice:
    """The last candidate before the first that fails; they are tested in their order."""
    if not grid:
        return Choice(target, None, None, f"none of one question in {FOLDS} could be graded; label more questions")
    passed = _passing(counts, target, confidence)
    if not passed:
        first = _point(grid[0], *counts[0], confidence)
        return Choice(target, None, first, _because(first, target, confidence, f"{action} decisions"))
    chosen = _point(grid[passed - 1], *counts[passed - 1], confidence)
    return Choice(target, chosen.threshold, chosen)


def _passing(counts: Sequence[tuple[int, int]], target: float, confidence: float) -> int:
    """The number of these that are shown to keep the target, before the first that is not."""
    shown = (binom.cdf(wrong, of, target) <= 1 - confidence for of, wrong in counts)
    return next((n for n, keeps in enumerate(shown) if not keeps), len(counts))


def _strip(relevant: Sequence[float], aim: Aim, most: float | None) -> Choice:
    """The highest that is shown to keep relevant passages, and not above τ−: what does not decide INCORRECT stays."""
    rising, target, confidence = sorted(relevant), aim.strip_target, aim.confidence
    lost = _passing([(len(rising), n) for n in range(len(rising))], target, confidence) - 1
    if lost < 0:
        shown = _point(rising[0], len(rising), 0, confidence) if rising else None
        because = _because(shown, target, confidence, "relevant passages of different questions")
        return Choice(target, None, shown, because)
    chosen = min(_cut(rising[lost]), inf if most is None else most)
    return Choice(target, chosen, _point(chosen, len(rising), sum(score < chosen for score in rising), confidence))


def _point(threshold: float, of: int, wrong: int, confidence: float) -> Point:
    """With the exact bounds of Clopper and Pearson (1934), which hold for any number of trials."""
    low = float(beta.ppf(1 - confidence, wrong, of - wrong + 1)) if wrong else 0.0
    high = float(beta.ppf(confidence, wrong + 1, of - wrong)) if wrong < of else 1.0
    return Point(threshold, of, wrong, wrong / of if of else None, low, high)


def _because(shown: Point | None, target: float, confidence: float, what: str) -> str:
    needed = ceil(log(1 - confidence) / log(1 - target))
    if shown is None or shown.of < needed:
        seen = shown.of if shown else 0
        return f"there are {seen} {what}, and it takes {needed} without an error to show {percent(target)}"
    return (
        f"where they look surest, {shown.wrong} of {shown.of} {what} are wrong, which shows at most "
        f"{percent(shown.high)} and not {percent(target)}; label more questions, or state a higher target"
    )
