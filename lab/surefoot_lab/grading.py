"""Grading: how well do an evaluator's scores, probabilities and actions agree with labels?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from itertools import accumulate
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.evaluate.ask.runs import OnDone
from surefoot.evidence.policies import Threshold, finite, require_match
from surefoot.run import meter
from surefoot.run.store import to_json
from surefoot.stats import figures as metrics
from surefoot.stats.figures import Figure, Floats, Statistic
from surefoot.text.words import places_of
from surefoot.types import Action, Grade, Thresholds
from surefoot.types.errors import ComponentError, ConfigError
from surefoot.types.protocols import Evaluator, Pair
from surefoot_lab import figures as lab_figures
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet
from surefoot_lab.figures import Share, counted

SCHEMA = 1
"""Version of the JSON form; it stays while fields are only added."""
CALL = 256
"""Pairs for one call of the evaluator."""
TOP = 10
"""The title rule counts ranks 1 to 10, as the paper did for its evaluator."""

Row = tuple[LabelledPair, Grade, int]
"""A pair, its grade, and the number, from 0, of its question."""
Outcome = tuple[Action, bool]
"""A question's action, and whether one of its passages is relevant."""


@dataclass(frozen=True, slots=True)
class Graded:
    """An evaluator's grades of pairs, one each, in order, and their cost. Where grading failed, the score is None."""

    grades: tuple[Grade, ...]
    seconds: float
    """Inside the evaluator, after a first pair off the clock."""
    calls: int
    """Of a language model."""
    tokens: int
    degraded: tuple[str, ...]
    """The evaluator's declared fallbacks, in words."""
    cached: int
    """Pairs whose grades came from the cache."""


@dataclass(frozen=True, slots=True)
class GradingMetrics:
    """Agreement of scores with labels, over pairs and over questions; undefined where something it needs is missing."""

    roc_auc: Figure
    average_precision: Figure
    accuracy_at_upper: Figure
    """Of "relevant where the score is at or above τ+"."""
    accuracy_at_half: Figure
    """Of "relevant where the probability is at or above 0.5"."""
    expected_calibration_error: Figure
    """15 bins of equal width."""
    brier: Figure
    """Mean squared error of the probability."""
    question_auc: Figure
    """ROC-AUC over questions: the best score against whether any of the question's passages is relevant."""
    evidence_f1: Figure
    """Word overlap of the grade's span with the answers, over relevant pairs whose text holds an answer; a grade
    without a span has 0."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """The actions that the paper's trigger takes on the questions. Evidence: one of the passages is relevant.

    The intervals are Wilson's: a question is one trial, and a bootstrap has no width where every decision is right.
    Without thresholds nothing is decided, and every share is of 0.
    """

    correct: Share
    ambiguous: Share
    incorrect: Share
    correct_with_evidence: Share
    ambiguous_with_evidence: Share
    incorrect_without_evidence: Share


@dataclass(frozen=True, slots=True)
class Titles:
    """The CRAG paper's measure of an evaluator, over ranks 1 to 10: relevant is what the article in question says."""

    pairs: int
    majority: float
    """Accuracy of always giving the commoner label."""
    accuracy_at_upper: Figure
    accuracy_at_half: Figure


@dataclass(frozen=True, slots=True)
class GradingFileReport:
    """An evaluator's figures on one file."""

    file: str
    sha256: str
    questions: int
    """Those with a labelled passage, or a sample of them."""
    pairs: int
    """With a label."""
    relevant: float
    """Share of the pairs with label 1."""
    unlabelled: int
    """Passages left out since they have no label."""
    ungraded: int
    """Pairs without a grade: no figure of `metrics` counts them, and they keep their question from INCORRECT."""
    ungraded_because: dict[str, int]
    metrics: GradingMetrics
    decisions: Decisions
    titles: Titles | None
    """None: the file gives no ranks, or no title labels."""
    seconds: float
    pairs_per_second: float | None
    """Of pairs that are not `cached`; None: there are none, or they were too fast for the clock."""
    calls: int
    tokens: int
    degraded: tuple[str, ...]
    cached: int


@dataclass(frozen=True, slots=True)
class Mean:
    """Over files: the mean of each metric where it is defined; the fields after it are of all files together."""

    files: int
    questions: int
    pairs: int
    ungraded: int
    metrics: GradingMetrics
    decisions: Decisions
    pairs_per_second: float | None
    cached: int
    pooled_calibration_error: Figure
    """Of all pairs together; smaller than the mean of the files' errors where probabilities are too high in one file
    and too low in another."""


@dataclass(frozen=True, slots=True)
class GradingReport:
    """An evaluator's figures on some files."""

    evaluator: str
    thresholds: Thresholds | None
    """None: it has none yet."""
    files: tuple[GradingFileReport, ...]
    mean: Mean
    config: dict[str, Any] = field(default_factory=dict)
    """The evaluator's configuration; empty: built by hand."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """A file's report, and what the mean over files needs."""

    report: GradingFileReport
    figures: dict[str, tuple[Figure, Floats]]
    outcomes: tuple[Outcome, ...]
    rows: tuple[Row, ...]
    """Those that have a probability."""


def graded(evaluator: Evaluator, pairs: Sequence[LabelledPair], on_done: OnDone) -> Graded:
    """The evaluator's grades of all pairs, in calls of `CALL`; `on_done` counts pairs.

    The first pair is graded once more beforehand: a first call may load a model. When the evaluator fails, the pairs of
    that call are ungraded. Raises ComponentError for grades that are none.
    """
    work = [(pair.question, pair.passage) for pair in pairs]
    _grades(evaluator, work[:1])
    grades: list[Grade] = []
    seconds = 0.0
    on_done(0, len(work))
    with meter.metered() as spent:
        for start in range(0, len(work), CALL):
            began = perf_counter()
            batch = _grades(evaluator, work[start : start + CALL])
            seconds += perf_counter() - began
            grades += batch
            on_done(len(grades), len(work))
    return Graded(tuple(grades), seconds, spent.calls, spent.tokens, tuple(spent.degraded), spent.cached)


def in_turn(evaluator: Evaluator, batches: Sequence[Sequence[LabelledPair]], on_done: OnDone) -> Iterator[Graded]:
    """The evaluator's grades of each batch; `on_done` counts the pairs of all batches."""
    total, before = sum(map(len, batches)), 0
    for pairs in batches:
        yield graded(evaluator, pairs, lambda done, _, before=before: on_done(before + done, total))  # type: ignore[misc]
        before += len(pairs)


def run(
    evaluator: Evaluator, files: Sequence[LabelledSet], on_done: OnDone, thresholds: Thresholds | None = None
) -> GradingReport:
    """Grade every pair of every file and report; `on_done` counts the pairs of all files.

    `thresholds` None: the evaluator's own; without any, figures that need them are undefined. Intervals are percentiles
    of a bootstrap over questions (`draws`).
    """
    chosen = thresholds or own(evaluator)
    if chosen:
        require_match(chosen, evaluator.name)
    batches = in_turn(evaluator, [file.pairs for file in files], on_done)
    done = [_measured(file, made, chosen) for file, made in zip(files, batches, strict=True)]
    return GradingReport(evaluator.name, chosen, tuple(one.report for one in done), _mean(done))


def own(evaluator: Evaluator) -> Thresholds | None:
    """The evaluator's thresholds; None: it has none yet, as a reranker that nobody has fitted."""
    try:
        return evaluator.thresholds
    except ConfigError:
        return None


def draws(file: LabelledSet) -> npt.NDArray[np.uint16]:
    """The resamples of the file's questions (`metrics.resampled`). Their seed is made of `metrics.SEED` and the file's
    hash, so every evaluator and every other measurement has the same."""
    return metrics.resampled(len({pair.question_id for pair in file.pairs}), [metrics.SEED, int(file.sha256[:8], 16)])


def as_json(reports: Sequence[GradingReport], about: dict[str, Any]) -> dict[str, Any]:
    """The reports as plain data. The form is stable: fields are added, never changed.

    - `schema`: 1; `date`: UTC, ISO 8601; `bootstrap`; `bins` of the calibration error; the keys of `about`;
    - `evaluators`: the fields of `GradingReport` for each;
    - a figure is {`value`, `low`, `high`, `of`, `undefined`}; where it is undefined, the first three are null and
      `undefined` says why. A share is {`count`, `of`, `share`, `low`, `high`}, null where `of` is 0.
    """
    return {
        "schema": SCHEMA,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "bootstrap": {"resamples": metrics.RESAMPLES, "seed": metrics.SEED, "by": "question", "interval": 0.95},
        "bins": lab_figures.BINS,
        **about,
        "evaluators": to_json(reports),
    }


def _grades(evaluator: Evaluator, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
    try:
        grades = evaluator.grade(pairs)
    except ComponentError as error:
        return tuple(Grade(passage.id, None, reason=str(error)) for _, passage in pairs)
    if len(grades) != len(pairs):
        raise ComponentError(f"{evaluator.name} gave {len(grades)} grades for {len(pairs)} pairs; mend the evaluator")
    if odd := [g.probability for g in grades if g.probability is not None and not 0 <= g.probability <= 1]:
        raise ComponentError(f"{evaluator.name} gave the probability {odd[0]}, outside 0 to 1; mend the evaluator")
    return tuple(map(finite, grades))


def _measured(file: LabelledSet, made: Graded, thresholds: Thresholds | None) -> _Measured:
    rows = list(zip(file.pairs, made.grades, file.numbers(), strict=True))
    scored = [row for row in rows if row[1].score is not None]
    counts = draws(file)
    statistics = {**_of_pairs(scored, thresholds), "question_auc": _of_questions(rows)}
    figures = {name: metrics.figure(statistic, counts) for name, statistic in statistics.items()}
    outcomes = tuple(_outcomes(rows, thresholds)) if thresholds else ()
    report = GradingFileReport(
        file=file.path,
        sha256=file.sha256,
        questions=counts.shape[1],
        pairs=len(rows),
        relevant=sum(pair.label for pair in file.pairs) / len(rows),
        unlabelled=file.unlabelled,
        ungraded=len(rows) - len(scored),
        ungraded_because=dict(Counter(g.reason for g in made.grades if g.score is None).most_common()),
        metrics=GradingMetrics(**{name: figure for name, (figure, _) in figures.items()}),
        decisions=decisions_of(outcomes),
        titles=_titles(scored, thresholds, counts),
        seconds=made.seconds,
        pairs_per_second=_speed(len(rows), made.cached, made.seconds),
        calls=made.calls,
        tokens=made.tokens,
        degraded=made.degraded,
        cached=made.cached,
    )
    return _Measured(report, figures, outcomes, tuple(row for row in scored if row[1].probability is not None))


def _of_pairs(rows: Sequence[Row], thresholds: Thresholds | None) -> dict[str, Statistic]:
    """The statistics over single pairs; every row has a score."""
    scores = np.array([grade.score for _, grade, _ in rows], dtype=float)
    labels, questions = _columns(rows)
    at_upper = replace(metrics.mean([]), undefined="the evaluator has no thresholds")
    if thresholds:
        at_upper = metrics.mean((scores >= thresholds.upper) == labels, questions)
    return {
        "roc_auc": metrics.roc_auc(scores, labels, questions),
        "average_precision": lab_figures.average_precision(scores, labels, questions),
        "accuracy_at_upper": at_upper,
        **_of_probabilities([row for row in rows if row[1].probability is not None]),
        "evidence_f1": _of_evidence(rows),
    }


def _of_probabilities(rows: Sequence[Row]) -> dict[str, Statistic]:
    sure = np.array([grade.probability for _, grade, _ in rows], dtype=float)
    labels, questions = _columns(rows)
    statistics = {
        "accuracy_at_half": metrics.mean((sure >= 0.5) == labels, questions),
        "expected_calibration_error": lab_figures.expected_calibration_error(sure, labels, questions),
        "brier": lab_figures.brier(sure, labels, questions),
    }
    return {name: replace(one, undefined="no grade has a probability") for name, one in statistics.items()}


def _of_evidence(rows: Sequence[Row]) -> Statistic:
    if not any(grade.span for _, grade, _ in rows):
        return replace(metrics.mean([]), undefined="no grade points at words")
    known = [row for row in rows if row[0].label and places_of(row[0].answers, row[0].passage.text)]
    overlaps = [
        metrics.token_f1(pair.passage.text[slice(*grade.span)], pair.answers) if grade.span else 0.0
        for pair, grade, _ in known
    ]
    return replace(metrics.mean(overlaps, _columns(known)[1]), undefined="no relevant passage has a known answer in it")


def _columns(rows: Sequence[Row]) -> tuple[npt.NDArray[np.bool_], metrics.Ints]:
    labels = np.array([pair.label for pair, _, _ in rows], dtype=bool)
    return labels, np.array([question for _, _, question in rows], dtype=np.int64)


def _of_questions(rows: Iterable[Row]) -> Statistic:
    """The best scores of the questions of which a passage could be graded."""
    best, evidence, numbers = [], [], []
    for number, mine in _by_question(rows).items():
        if scores := [grade.score for _, grade, _ in mine if grade.score is not None]:
            best.append(max(scores))
            evidence.append(any(pair.label for pair, _, _ in mine))
            numbers.append(number)
    return metrics.roc_auc(best, evidence, np.array(numbers, dtype=np.int64))


def _by_question(rows: Iterable[Row]) -> dict[int, list[Row]]:
    groups: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[2]].append(row)
    return groups


def _outcomes(rows: Iterable[Row], thresholds: Thresholds) -> Iterator[Outcome]:
    policy = Threshold(thresholds)
    for mine in _by_question(rows).values():
        yield policy.decide([grade for _, grade, _ in mine]).action, any(pair.label for pair, _, _ in mine)


def decisions_of(outcomes: Sequence[Outcome]) -> Decisions:
    """The share of each action, and the share of these that is right."""
    counts, taken = Counter(outcomes), Counter(action for action, _ in outcomes)
    actions = (Action.CORRECT, Action.AMBIGUOUS, Action.INCORRECT)
    right = ((action, action is not Action.INCORRECT) for action in actions)
    return Decisions(
        *(counted(taken[action], len(outcomes)) for action in actions),
        *(counted(counts[action, evidence], taken[action]) for action, evidence in right),
    )


def _titles(scored: Sequence[Row], thresholds: Thresholds | None, counts: npt.NDArray[np.uint16]) -> Titles | None:
    rows = [
        (replace(pair, label=pair.label_title), grade, question)
        for pair, grade, question in scored
        if pair.label_title is not None and pair.rank is not None and pair.rank <= TOP
    ]
    if not rows:
        return None
    share = sum(pair.label for pair, _, _ in rows) / len(rows)
    statistics = _of_pairs(rows, thresholds)
    upper, half = (metrics.figure(statistics[name], counts)[0] for name in ("accuracy_at_upper", "accuracy_at_half"))
    return Titles(len(rows), max(share, 1 - share), upper, half)


def _mean(done: Sequence[_Measured]) -> Mean:
    each = [one.report for one in done]
    means = {f.name: lab_figures.macro([one.figures[f.name] for one in done]) for f in fields(GradingMetrics)}
    pairs, cached = sum(one.pairs for one in each), sum(one.cached for one in each)
    return Mean(
        files=len(each),
        questions=sum(one.questions for one in each),
        pairs=pairs,
        ungraded=sum(one.ungraded for one in each),
        metrics=GradingMetrics(**means),
        decisions=decisions_of([outcome for one in done for outcome in one.outcomes]),
        pairs_per_second=_speed(pairs, cached, sum(one.seconds for one in each)),
        cached=cached,
        pooled_calibration_error=_pooled(done),
    )


def _pooled(done: Sequence[_Measured]) -> Figure:
    """The calibration error of all files, whose questions are resampled as if they were one file's."""
    if len(done) == 1:
        return done[0].report.metrics.expected_calibration_error
    starts = accumulate((one.report.questions for one in done), initial=0)
    rows = [(pair, grade, start + n) for start, one in zip(starts, done, strict=False) for pair, grade, n in one.rows]
    counts = metrics.resampled(sum(one.report.questions for one in done))
    return metrics.figure(_of_probabilities(rows)["expected_calibration_error"], counts)[0]


def _speed(pairs: int, cached: int, seconds: float) -> float | None:
    """A cascade may have counted a pair as cached twice: once for each evaluator that it is made of."""
    read = max(0, pairs - cached)
    return read / seconds if read and seconds else None
