"""Thresholds of an evaluator from labelled files: grade, fit and report."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from math import inf
from pathlib import PurePath

from surefoot.evaluate.ask.questions import hashed
from surefoot.evaluate.ask.runs import OnDone
from surefoot.evidence.policies import Threshold
from surefoot.run.store import to_json
from surefoot.stats.text import percent
from surefoot.text import toml_values
from surefoot.types import Grade, Thresholds
from surefoot.types.protocols import Evaluator
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet
from surefoot_lab.grading import Decisions, decisions_of, graded
from surefoot_lab.risk_control import Aim, Fit, Judged, Point, curve, fit, parts

THIN = 4
"""`thinned` takes the relevant passages of one question in so many."""


@dataclass(frozen=True, slots=True)
class TunedFile:
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
    """True if the relevant passages of one question in `THIN` were taken out."""


@dataclass(frozen=True, slots=True)
class TuningReport:
    """Thresholds of an evaluator, with their risk and the data behind them."""

    evaluator: str
    aim: Aim
    fit: Fit
    thresholds: Thresholds | None
    """None: not all of them could be found."""
    decisions: Decisions
    """Of all test questions."""
    curve: tuple[Point, ...]
    """Of CORRECT decisions, from the strictest candidate for τ+ to the most lenient."""
    files: tuple[TunedFile, ...]
    ungraded_because: dict[str, int]
    """Pairs by reason."""


def run(evaluator: Evaluator, files: Sequence[LabelledSet], on_done: OnDone, aim: Aim | None = None) -> TuningReport:
    """Grade every pair of every file once and fit; `on_done` counts pairs. `aim` None: the defaults."""
    wanted = aim or Aim()
    rest = iter(grades := graded(evaluator, [pair for file in files for pair in file.pairs], on_done).grades)
    each = [questions(file.pairs, islice(rest, len(file.pairs))) for file in files]
    every = [question for some in each for question in some]
    fitted = fit(every, wanted)
    return TuningReport(
        evaluator=evaluator.name,
        aim=wanted,
        fit=fitted,
        thresholds=fitted.thresholds(evaluator.name, _fitted_on(files, fitted)),
        decisions=_decisions(every, fitted),
        curve=curve(every, wanted.confidence),
        files=tuple(_tuned(file, some, fitted) for file, some in zip(files, each, strict=True)),
        ungraded_because=dict(Counter(grade.reason for grade in grades if grade.score is None).most_common()),
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


def preset(thresholds: Thresholds) -> str:
    """The thresholds as a TOML file, which `[thresholds] file = "…"` reads."""
    lines = ['# Fitted by `surefoot lab tune`; to decide by them: [thresholds] file = "this file"']
    values = to_json(thresholds).items()
    lines += [f"{k} = {toml_values.spelled(v if isinstance(v, str) else float(v))}" for k, v in values]
    return "\n".join(lines) + "\n"


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


def _decisions(each: Sequence[Judged], fitted: Fit) -> Decisions:
    """On the questions that test."""
    upper, lower = fitted.upper.threshold, fitted.lower.threshold
    policy = Threshold(Thresholds(inf if upper is None else upper, -inf if lower is None else lower, 0.0, ""))
    outcomes = []
    for one in parts(each)[1]:
        grades = [Grade("", score) for score in (one.best, *[None] * one.ungraded)]
        outcomes.append((policy.decide(grades).action, one.evidence))
    return decisions_of(outcomes)


def _tuned(file: LabelledSet, each: Sequence[Judged], fitted: Fit) -> TunedFile:
    ungraded = sum(question.ungraded for question in each)
    counts = len(each), len(file.pairs), ungraded
    return TunedFile(file.path, file.sha256, *counts, _decisions(each, fitted), file.thinned)


def _fitted_on(files: Sequence[LabelledSet], fitted: Fit) -> str:
    names = ", ".join(f"{PurePath(file.path).name} ({file.sha256[:8]})" for file in files)
    thinned = f", one in {THIN} without its relevant passages" if any(file.thinned for file in files) else ""
    return (
        f"{fitted.proposing + fitted.testing:,} questions of {names}{thinned}: with {percent(fitted.confidence)} "
        f"confidence each, at most {percent(fitted.upper.target)} of CORRECT decisions lack evidence, at most "
        f"{percent(fitted.lower.target)} of INCORRECT ones have some, and at most {percent(fitted.strip.target)} of "
        f"relevant passages lie below the strip threshold; surefoot lab tune, {datetime.now(UTC):%Y-%m-%d}"
    )
