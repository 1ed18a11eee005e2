"""Thresholds for an evaluator, fitted on labelled questions so that a stated risk is kept.

The method is learn-then-test (Angelopoulos et al. 2021) with fixed-sequence testing. One question in five, chosen by a
hash of its words, proposes: the best scores of these are the candidates, and their labels say where to start. The other
four test ever more lenient candidates from there, as long as the exact binomial tail shows each to keep the risk. The
sequence is fixed before the test questions are looked at, so with the stated confidence no candidate that passed breaks
the target, even if risk does not rise evenly with leniency. The questions must be a fair sample of those to come; over
several files the bound holds for their mixture.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import ROUND_FLOOR, Context
from itertools import islice
from math import ceil, inf, log
from pathlib import PurePath
from typing import Any

import numpy as np

from surefoot.evaluate.ask.questions import hashed
from surefoot.evaluate.ask.runs import OnDone
from surefoot.evidence.policies import Threshold
from surefoot.run.store import to_json
from surefoot.stats.figures import Ints, wilson
from surefoot.stats.text import percent
from surefoot.text import toml_values
from surefoot.types import Grade, Thresholds
from surefoot.types.errors import UsageError
from surefoot.types.protocols import Evaluator
from surefoot_lab.bounds import at_most, highest, lowest
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet
from surefoot_lab.grading import Decisions, Outcome, decisions_of, graded

SCHEMA = 1
"""Version of the JSON form; it stays while fields are only added."""
FOLDS = 5
"""One question in so many proposes, the others test. In simulations of 300 to 4,000 questions, a half and a tenth found
a threshold less often, a third about as often."""
TRUST = 2
"""Counts of the proposing questions are taken so many times. In the same simulations 1 found no threshold in up to 7 %
more of the runs, and 4 in up to 13 %."""
THIN = 4
"""`thinned` takes the relevant passages of one question in so many."""
GRID = 200
"""Candidates, at most."""
_ALL_ANSWERED = (
    "every question has a relevant passage, so that no INCORRECT decision can be right; add questions that the "
    "passages do not answer, or take the relevant passages of some out (--thin)"
)
_SHORT = Context(prec=6, rounding=ROUND_FLOOR)
"""Candidates are cut to six digits: downwards, so that a question stays on its own score's side."""


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


@dataclass(frozen=True, slots=True)
class Data:
    """One file's questions. The targets hold over all files, not for one of several."""

    file: str
    sha256: str
    questions: int
    pairs: int
    ungraded: int
    """Pairs."""
    decisions: Decisions
    """Of its test questions. A threshold that was not found decides nothing."""
    thinned: bool = False
    """Whether the relevant passages of one question in `THIN` were taken out."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Decisions on questions that the thresholds were not fitted on, each question once."""

    decisions: Decisions
    unfitted: int
    """Folds for which the others gave no τ+; nothing is CORRECT there."""


@dataclass(frozen=True, slots=True)
class Crossed:
    """One file's questions, cross-validated; of several, the last is all files together."""

    file: str
    own: HeldOut
    """By this file's own thresholds; for all files, each by its own."""
    shared: HeldOut
    """By thresholds of all files together."""


@dataclass(frozen=True, slots=True)
class TuningReport:
    """Thresholds of an evaluator, with their risk and the data behind them."""

    evaluator: str
    date: str
    """UTC, ISO 8601."""
    aim: Aim
    fit: Fit
    thresholds: Thresholds | None
    """None: not all of them could be found."""
    decisions: Decisions
    """Of all test questions."""
    curve: tuple[Point, ...]
    """Of CORRECT decisions, from the strictest candidate for τ+ to the most lenient."""
    files: tuple[Data, ...]
    ungraded_because: dict[str, int]
    """Pairs by reason."""
    crossed: tuple[Crossed, ...] = ()
    """Empty: not asked for."""
    config: dict[str, Any] = field(default_factory=dict)
    """The evaluator's configuration; empty: built by hand."""


def run(
    evaluator: Evaluator, files: Sequence[LabelledSet], on_done: OnDone, aim: Aim | None = None, folds: int = 0
) -> TuningReport:
    """Grade every pair of every file once and fit; `on_done` counts pairs. `aim` None: the defaults; `folds`: parts
    for cross-validation, 0: none."""
    wanted, now = aim or Aim(), datetime.now(UTC)
    rest = iter(grades := graded(evaluator, [pair for file in files for pair in file.pairs], on_done).grades)
    queries = [questions(file.pairs, islice(rest, len(file.pairs))) for file in files]
    every = [question for some in queries for question in some]
    fitted = fit(every, wanted)
    return TuningReport(
        evaluator=evaluator.name,
        date=now.isoformat(timespec="seconds"),
        aim=wanted,
        fit=fitted,
        thresholds=fitted.thresholds(evaluator.name, _fitted_on(files, fitted, f"{now:%Y-%m-%d}")),
        decisions=_decisions(every, fitted),
        curve=curve(every, wanted.confidence),
        files=tuple(_data(file, some, fitted) for file, some in zip(files, queries, strict=True)),
        ungraded_because=dict(Counter(grade.reason for grade in grades if grade.score is None).most_common()),
        crossed=crossed([(file.path, some) for file, some in zip(files, queries, strict=True)], wanted, folds),
    )


def questions(pairs: Iterable[LabelledPair], grades: Iterable[Grade]) -> list[Judged]:
    """The questions of one file's pairs, with their grades.

    Of its relevant passages a question shows only the one whose id hashes lowest: passages of one question are alike,
    and a bound counts independent cases.
    """
    groups: dict[str, list[tuple[LabelledPair, Grade]]] = defaultdict(list)
    for pair, grade in zip(pairs, grades, strict=True):
        groups[pair.question_id].append((pair, grade))
    return [_question(rows) for rows in groups.values()]


def thinned(files: Sequence[LabelledSet]) -> tuple[LabelledSet, ...]:
    """The files as if retrieval had failed one question in `THIN`, chosen by a hash of its words: its relevant passages
    are gone, and so is a question that has no others.

    Most labelled questions have a relevant passage, as somebody had to label it. Where all do, a threshold that calls
    every question CORRECT is never wrong, and none can be shown below which INCORRECT is right. Thresholds fitted on
    thinned files hold for a retrieval that fails as often.
    """

    def stays(pair: LabelledPair) -> bool:
        return not pair.label or hashed(pair.question)[1] % THIN != 0

    return tuple(replace(file, pairs=tuple(filter(stays, file.pairs)), thinned=True) for file in files)


def fit(questions: Sequence[Judged], aim: Aim | None = None) -> Fit:
    """The most lenient thresholds that are shown to keep the aim; strip ≤ τ− ≤ τ+. Pure, and the same for any order.

    τ+ is sought downwards from where CORRECT looks surest to the proposing questions, and τ− upwards from where
    INCORRECT does; no target moves these places, so a laxer target never makes a threshold stricter. The strip
    threshold needs no candidates, since ever more lies below it: all questions count, and the bound is that of an order
    statistic.
    """
    wanted = aim or Aim()
    proposing, testing = _parts(questions)
    span = _span(proposing)
    upper = _choice(span[::-1], _correct(testing, span[::-1]), wanted.target, wanted.confidence, "CORRECT")
    lower = _lower(testing, span, wanted, upper.threshold)
    most = upper.threshold if lower.threshold is None else lower.threshold
    strip = _strip([q.relevant for q in questions if q.relevant is not None], wanted, most)
    return Fit(upper, lower, strip, wanted.confidence, len(proposing), len(testing))


def crossed(files: Sequence[tuple[str, Sequence[Judged]]], aim: Aim, folds: int) -> tuple[Crossed, ...]:
    """For each file, and for all of several: thresholds fitted on all folds but one decide the questions of that one. A
    hash of its words puts a question into its fold. 0: nothing."""
    if not folds:
        return ()
    shared = _fits([question for _, some in files for question in some], aim, folds)
    own = [_fits(some, aim, folds) for _, some in files]
    rows = [
        (name, _held([(some, mine)]), _held([(some, shared)])) for (name, some), mine in zip(files, own, strict=True)
    ]
    if len(files) > 1:
        both = list(zip([some for _, some in files], own, strict=True))
        rows.append(("all files", _held(both), _held([(some, shared) for some, _ in both])))
    return tuple(Crossed(*row) for row in rows)


def curve(questions: Sequence[Judged], confidence: float = 0.95) -> tuple[Point, ...]:
    """Risk of CORRECT decisions at every candidate for τ+, from the strictest, on the questions that test."""
    proposing, testing = _parts(questions)
    grid = _grid(proposing)[::-1]
    return tuple(_point(t, *count, confidence) for t, count in zip(grid, _correct(testing, grid), strict=True))


def preset(thresholds: Thresholds) -> str:
    """The thresholds as a TOML file, which `[thresholds] file = "…"` reads."""
    lines = ['# Fitted by `surefoot lab tune`; to decide by them: [thresholds] file = "this file"']
    values = to_json(thresholds).items()
    lines += [f"{k} = {toml_values.spelled(v if isinstance(v, str) else float(v))}" for k, v in values]
    return "\n".join(lines) + "\n"


def as_json(report: TuningReport, about: dict[str, Any]) -> dict[str, Any]:
    """The report as plain data. The form is stable: fields are added, never changed.

    - `schema`: 1; the keys of `about`; from the command line `surefoot` (version) and `limit`, null where not given;
    - `split`: how questions were divided, which no seed decides: `by`, `proposing`: one in so many;
    - the fields of `TuningReport`, with null where nothing was found.
    """
    split = {"by": "hash of the question's text", "proposing": FOLDS}
    return {"schema": SCHEMA, **about, "split": split, **to_json(report)}


def _question(rows: Sequence[tuple[LabelledPair, Grade]]) -> Judged:
    scores = [grade.score for _, grade in rows if grade.score is not None]
    shown = [(hashed(pair.passage.id, 16), g.score) for pair, g in rows if pair.label and g.score is not None]
    return Judged(
        text=rows[0][0].question,
        best=max(scores, default=None),
        evidence=any(pair.label for pair, _ in rows),
        ungraded=len(rows) - len(scores),
        relevant=min(shown)[1] if shown else None,
    )


def _fold(question: Judged, folds: int) -> int:
    return int.from_bytes(hashed(question.text, 8)) % folds  # another hash than that which divides who proposes


def _fits(queries: Sequence[Judged], aim: Aim, folds: int) -> list[Fit]:
    """For each fold, the fit on the questions of the others."""
    return [fit([q for q in queries if _fold(q, folds) != fold], aim) for fold in range(folds)]


def _held(parts: Iterable[tuple[Sequence[Judged], Sequence[Fit]]]) -> HeldOut:
    each = [
        (fitted, [q for q in queries if _fold(q, len(fits)) == fold])
        for queries, fits in parts
        for fold, fitted in enumerate(fits)
    ]
    made = [outcome for fitted, held in each for outcome in _outcomes(held, fitted)]
    return HeldOut(decisions_of(made), sum(fitted.upper.threshold is None for fitted, _ in each))


def _parts(questions: Sequence[Judged]) -> tuple[list[Judged], list[Judged]]:
    """Those that propose, and those that test; the same questions stand on the same side in any company."""
    parts: tuple[list[Judged], list[Judged]] = [], []
    for question in questions:
        parts[hashed(question.text, 16)[-1] % FOLDS != 0].append(question)
    return parts


def _grid(proposing: Iterable[Judged]) -> list[float]:
    """The candidates, rising."""
    scores = sorted({float(_SHORT.create_decimal(repr(float(q.best)))) for q in proposing if q.best is not None})
    places = np.linspace(0, len(scores) - 1, min(GRID, len(scores))).round().astype(int)
    return [scores[place] for place in places]


def _span(proposing: Sequence[Judged]) -> list[float]:
    """The candidates, rising, between the surest τ− and the surest τ+ of the proposing questions."""
    grid = _grid(proposing)
    if not grid:
        return []
    ends = _surest(_correct(proposing, grid)), _surest(_incorrect(proposing, grid))
    return grid[min(ends) : max(ends) + 1]


def _surest(counts: Sequence[tuple[int, int]]) -> int:
    """The place with the lowest bound of the risk; without decisions, the bound is the worst."""
    bounds = [wilson(TRUST * wrong, TRUST * of) for of, wrong in counts]
    return min(range(len(counts)), key=lambda place: (bounds[place] or (0.0, 1.0))[1])


def _correct(questions: Sequence[Judged], grid: Sequence[float]) -> list[tuple[int, int]]:
    """For each candidate as τ+, the CORRECT decisions, and those of them that lack evidence."""
    scored = [q for q in questions if q.best is not None]
    lacking = [q for q in scored if not q.evidence]
    of, wrong = len(scored) - _below(scored, grid), len(lacking) - _below(lacking, grid)
    return list(zip(of.tolist(), wrong.tolist(), strict=True))


def _incorrect(questions: Sequence[Judged], grid: Sequence[float]) -> list[tuple[int, int]]:
    """For each candidate as τ−, the INCORRECT decisions, and those of them that have evidence."""
    scored = [q for q in questions if q.best is not None and not q.ungraded]
    holding = [q for q in scored if q.evidence]
    return list(zip(_below(scored, grid).tolist(), _below(holding, grid).tolist(), strict=True))


def _below(scored: Iterable[Judged], grid: Sequence[float]) -> Ints:
    return np.searchsorted(np.sort(np.array([q.best for q in scored], dtype=float)), np.array(grid))


def _lower(testing: Sequence[Judged], span: Sequence[float], aim: Aim, upper: float | None) -> Choice:
    """Not above τ+."""
    grid = [one for one in span if upper is None or one <= upper]
    found = _choice(grid, _incorrect(testing, grid), aim.discard_target, aim.confidence, "INCORRECT")
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
    shown = (at_most(wrong, of, target) <= 1 - confidence for of, wrong in counts)
    return next((n for n, keeps in enumerate(shown) if not keeps), len(counts))


def _strip(relevant: Sequence[float], aim: Aim, most: float | None) -> Choice:
    """The highest that is shown to keep relevant passages, and not above τ−: what does not decide INCORRECT stays."""
    rising, target, confidence = sorted(relevant), aim.strip_target, aim.confidence
    lost = _passing([(len(rising), n) for n in range(len(rising))], target, confidence) - 1
    if lost < 0:
        shown = _point(rising[0], len(rising), 0, confidence) if rising else None
        because = _because(shown, target, confidence, "relevant passages of different questions")
        return Choice(target, None, shown, because)
    chosen = min(float(_SHORT.create_decimal(repr(float(rising[lost])))), inf if most is None else most)
    return Choice(target, chosen, _point(chosen, len(rising), sum(score < chosen for score in rising), confidence))


def _point(threshold: float, of: int, wrong: int, confidence: float) -> Point:
    bounds = lowest(wrong, of, confidence), highest(wrong, of, confidence)
    return Point(threshold, of, wrong, wrong / of if of else None, *bounds)


def _because(shown: Point | None, target: float, confidence: float, what: str) -> str:
    needed = ceil(log(1 - confidence) / log(1 - target))
    if shown is None or shown.of < needed:
        seen = shown.of if shown else 0
        return f"there are {seen} {what}, and it takes {needed} without an error to show {percent(target)}"
    return (
        f"where they look surest, {shown.wrong} of {shown.of} {what} are wrong, which shows at most "
        f"{percent(shown.high)} and not {percent(target)}; label more questions, or state a higher target"
    )


def _outcomes(tests: Iterable[Judged], fitted: Fit) -> Iterator[Outcome]:
    upper, lower = fitted.upper.threshold, fitted.lower.threshold
    policy = Threshold(Thresholds(inf if upper is None else upper, -inf if lower is None else lower, 0.0, ""))
    for question in tests:
        grades = [Grade("", score) for score in (question.best, *[None] * question.ungraded)]
        yield policy.decide(grades).action, question.evidence


def _decisions(queries: Sequence[Judged], fitted: Fit) -> Decisions:
    """On the questions that test."""
    return decisions_of(list(_outcomes(_parts(queries)[1], fitted)))


def _data(file: LabelledSet, queries: Sequence[Judged], fitted: Fit) -> Data:
    ungraded, decisions = sum(question.ungraded for question in queries), _decisions(queries, fitted)
    return Data(file.path, file.sha256, len(queries), len(file.pairs), ungraded, decisions, file.thinned)


def _fitted_on(files: Sequence[LabelledSet], fitted: Fit, date: str) -> str:
    names = ", ".join(f"{PurePath(file.path).name} ({file.sha256[:8]})" for file in files)
    thinned = f", one in {THIN} without its relevant passages" if any(file.thinned for file in files) else ""
    return (
        f"{fitted.proposing + fitted.testing:,} questions of {names}{thinned}: with {percent(fitted.confidence)} "
        f"confidence each, at most {percent(fitted.upper.target)} of CORRECT decisions lack evidence, at most "
        f"{percent(fitted.lower.target)} of INCORRECT ones have some, and at most {percent(fitted.strip.target)} of "
        f"relevant passages lie below the strip threshold; bench tune, {date}"
    )
