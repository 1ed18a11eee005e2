"""Grading: how well do an evaluator's scores, probabilities and actions agree with labels?"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from time import perf_counter

import numpy as np
import numpy.typing as npt

from surefoot.cli._console import REASONS
from surefoot.evaluate.ask.runs import OnDone
from surefoot.evidence.policies import Threshold, finite, require_match
from surefoot.run import meter
from surefoot.stats import figures as metrics
from surefoot.stats.figures import Figure, Floats, Statistic
from surefoot.text.words import places_of
from surefoot.types import Action, Grade, Thresholds
from surefoot.types.errors import ComponentError, ConfigError
from surefoot.types.protocols import Evaluator, Pair
from surefoot_lab import figures as lab_figures
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet
from surefoot_lab.figures import Share, counted, token_f1

CALL = 256
"""Pairs for one call of the evaluator."""
TOP = 10
"""The title rule counts ranks 1 to 10, as the paper did for its evaluator."""
ALL = "all files"
"""The file of a mean."""

Row = tuple[LabelledPair, Grade, int]
"""A pair, its grade, and the number, from 0, of its question."""
Outcome = tuple[Action, bool]
"""A question's action, and whether one of its passages is relevant."""
Decisions = dict[str, tuple[Share, Share]]
"""Of each action, by its name, its share of the questions, and the share of these for which it is right: those without
a relevant passage for INCORRECT, else those with one. The intervals are Wilson's: a question is one trial, and a
bootstrap has no width where every decision is right. Without thresholds every share is of 0."""


@dataclass(frozen=True, slots=True)
class Graded:
    """An evaluator's grades of pairs, one each, in order, and their cost. Where grading failed, the score is None."""

    grades: tuple[Grade, ...]
    seconds: float
    """Inside the evaluator, after a first pair off the clock."""
    degraded: tuple[str, ...]
    """The evaluator's declared fallbacks, in words."""
    cached: int
    """Pairs whose grades came from the cache."""


@dataclass(frozen=True, slots=True)
class GradingReport:
    """An evaluator's figures on one file, or their mean over several."""

    file: str
    evaluator: str
    questions: int
    """Those with a labelled passage, or a sample of them."""
    pairs: int
    """With a label."""
    ungraded: int
    """Pairs without a grade: no figure counts them, and they keep their question from INCORRECT."""
    figures: dict[str, Figure]
    """By the headings of the tables; undefined where something that they need is missing. In a mean: over the files
    where they are defined, but for the calibration error of all pairs together, which is smaller than the mean where
    probabilities are too high in one file and too low in another."""
    decisions: Decisions
    seconds: float
    cached: int
    relevant: float = 0.0
    """Share of the pairs with label 1."""
    unlabelled: int = 0
    """Passages left out since they have no label."""
    titles: tuple[int, float, Figure, Figure] | None = None
    """The CRAG paper's measure of an evaluator, over ranks 1 to 10; relevant is what the article in question says.
    Pairs, accuracy of the commoner label, accuracy at τ+ and at one half. None: no ranks, or no title labels."""
    notes: tuple[str, ...] = ()
    """Pairs that could not be graded, with reasons, and the evaluator's fallbacks."""
    resampled: dict[str, Floats] = field(default_factory=dict)
    outcomes: tuple[Outcome, ...] = ()
    rows: tuple[Row, ...] = ()
    """Those with a probability, as `resampled` and `outcomes` for the mean."""

    @property
    def per_second(self) -> float | None:
        """Pairs that were not cached; None: there are none, or they were too fast for the clock."""
        read = max(
            0, self.pairs - self.cached
        )  # a cascade may count a pair as cached twice, for each of its evaluators
        return read / self.seconds if read and self.seconds else None


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
    return Graded(tuple(grades), seconds, tuple(spent.degraded), spent.cached)


def in_turn(evaluator: Evaluator, batches: Sequence[Sequence[LabelledPair]], on_done: OnDone) -> Iterator[Graded]:
    """The evaluator's grades of each batch; `on_done` counts the pairs of all batches."""
    total, before = sum(map(len, batches)), 0
    for pairs in batches:
        yield graded(evaluator, pairs, lambda done, _, before=before: on_done(before + done, total))  # type: ignore[misc]
        before += len(pairs)


def run(
    evaluator: Evaluator,
    files: Sequence[LabelledSet],
    on_done: OnDone,
    thresholds: Thresholds | None = None,
    name: str = "",
) -> list[GradingReport]:
    """Grade every pair of every file: a report for each file, and their mean where they are several.

    `on_done` counts the pairs of all files. `thresholds` None: the evaluator's own; without any, figures that need them
    are undefined. `name`: for the reports, if not the evaluator's. Intervals are percentiles of a bootstrap over
    questions (`draws`).
    """
    chosen = thresholds or own(evaluator)
    if chosen:
        require_match(chosen, evaluator.name)
    batches = in_turn(evaluator, [file.pairs for file in files], on_done)
    shown = name or evaluator.name
    done = [_report(file, shown, made, chosen) for file, made in zip(files, batches, strict=True)]
    return [*done, *([_mean(done)] if len(done) > 1 else [])]


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


def because(reasons: Mapping[str, int]) -> str:
    """The commonest reasons, with their counts."""
    return "; ".join(f"{reason} ({n:,})" for reason, n in Counter(reasons).most_common(REASONS))


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


def _report(file: LabelledSet, evaluator: str, made: Graded, thresholds: Thresholds | None) -> GradingReport:
    rows = list(zip(file.pairs, made.grades, file.numbers(), strict=True))
    scored = [row for row in rows if row[1].score is not None]
    counts = draws(file)
    statistics = {**_of_pairs(scored, thresholds), "question AUC": _of_questions(rows)}
    both = {name: metrics.figure(statistic, counts) for name, statistic in statistics.items()}
    outcomes = tuple(_outcomes(rows, thresholds)) if thresholds else ()
    failed = because(Counter(g.reason for g in made.grades if g.score is None))
    ungraded = len(rows) - len(scored)
    why = [f"{ungraded:,} of {len(rows):,} pairs could not be graded: {failed}"] if ungraded else []
    return GradingReport(
        file.path,
        evaluator,
        questions=counts.shape[1],
        pairs=len(rows),
        ungraded=ungraded,
        figures={name: found for name, (found, _) in both.items()} | {"pooled ECE": both["ECE"][0]},
        decisions=decisions_of(outcomes),
        seconds=made.seconds,
        cached=made.cached,
        relevant=sum(pair.label for pair in file.pairs) / len(rows),
        unlabelled=file.unlabelled,
        titles=_titles(scored, thresholds, counts),
        notes=(*why, *made.degraded),
        resampled={name: drawn for name, (_, drawn) in both.items()},
        outcomes=outcomes,
        rows=tuple(row for row in scored if row[1].probability is not None),
    )


def _of_pairs(rows: Sequence[Row], thresholds: Thresholds | None) -> dict[str, Statistic]:
    """The statistics over single pairs; every row has a score."""
    scores = np.array([grade.score for _, grade, _ in rows], dtype=float)
    labels, questions = _columns(rows)
    at_upper = replace(metrics.mean([]), undefined="the evaluator has no thresholds")
    if thresholds:
        at_upper = metrics.mean((scores >= thresholds.upper) == labels, questions)
    return {
        "ROC-AUC": metrics.roc_auc(scores, labels, questions),
        "average precision": lab_figures.average_precision(scores, labels, questions),
        "accuracy at τ+": at_upper,
        **_of_probabilities([row for row in rows if row[1].probability is not None]),
        "evidence F1": _of_evidence(rows),
    }


def _of_probabilities(rows: Sequence[Row]) -> dict[str, Statistic]:
    sure = np.array([grade.probability for _, grade, _ in rows], dtype=float)
    labels, questions = _columns(rows)
    statistics = {
        "at probability .5": metrics.mean((sure >= 0.5) == labels, questions),
        "ECE": lab_figures.expected_calibration_error(sure, labels, questions),
        "Brier": lab_figures.brier(sure, labels, questions),
    }
    return {name: replace(one, undefined="no grade has a probability") for name, one in statistics.items()}


def _of_evidence(rows: Sequence[Row]) -> Statistic:
    if not any(grade.span for _, grade, _ in rows):
        return replace(metrics.mean([]), undefined="no grade points at words")
    known = [row for row in rows if row[0].label and places_of(row[0].answers, row[0].passage.text)]
    overlaps = [
        token_f1(pair.passage.text[slice(*grade.span)], pair.answers) if grade.span else 0.0 for pair, grade, _ in known
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
    """The counts of the actions of these questions."""
    counts, taken = Counter(outcomes), Counter(action for action, _ in outcomes)
    return {
        action.name: (
            counted(taken[action], len(outcomes)),
            counted(counts[action, action is not Action.INCORRECT], taken[action]),
        )
        for action in Action
    }


def _titles(
    scored: Sequence[Row], thresholds: Thresholds | None, counts: npt.NDArray[np.uint16]
) -> tuple[int, float, Figure, Figure] | None:
    rows = [
        (replace(pair, label=pair.label_title), grade, question)
        for pair, grade, question in scored
        if pair.label_title is not None and pair.rank is not None and pair.rank <= TOP
    ]
    if not rows:
        return None
    share = sum(pair.label for pair, _, _ in rows) / len(rows)
    statistics = _of_pairs(rows, thresholds)
    upper, half = (metrics.figure(statistics[name], counts)[0] for name in ("accuracy at τ+", "at probability .5"))
    return len(rows), max(share, 1 - share), upper, half


def _mean(each: Sequence[GradingReport]) -> GradingReport:
    names = each[0].resampled
    means = {name: lab_figures.macro([(one.figures[name], one.resampled[name]) for one in each]) for name in names}
    return GradingReport(
        ALL,
        each[0].evaluator,
        questions=sum(one.questions for one in each),
        pairs=sum(one.pairs for one in each),
        ungraded=sum(one.ungraded for one in each),
        figures={**means, "pooled ECE": _pooled(each)},
        decisions=decisions_of([outcome for one in each for outcome in one.outcomes]),
        seconds=sum(one.seconds for one in each),
        cached=sum(one.cached for one in each),
    )


def _pooled(each: Sequence[GradingReport]) -> Figure:
    """The calibration error of all pairs, whose questions are resampled as if they were one file's."""
    starts = accumulate((one.questions for one in each), initial=0)
    rows = [(pair, grade, start + n) for start, one in zip(starts, each, strict=False) for pair, grade, n in one.rows]
    counts = metrics.resampled(sum(one.questions for one in each))
    return metrics.figure(_of_probabilities(rows)["ECE"], counts)[0]
