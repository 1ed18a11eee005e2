"""Thresholds of an evaluator from labelled files: grade, fit and report."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from math import inf
from pathlib import Path, PurePath
from typing import Annotated, Any

import typer
from typer import Argument, Option

from surefoot.cli._configuration import ConfigFile, Settings
from surefoot.cli._console import counting, err, out, pulling, write_json
from surefoot.config.builder import Builder
from surefoot.evaluate.ask.questions import hashed
from surefoot.evaluate.ask.runs import OnDone
from surefoot.evidence.policies import Threshold
from surefoot.run.store import to_json, write_text
from surefoot.stats.text import NONE, percent
from surefoot.text import toml_values
from surefoot.types import Grade, Thresholds
from surefoot.types.protocols import Evaluator
from surefoot_lab import pictures
from surefoot_lab.cli._options import JsonFile, Limit
from surefoot_lab.cli.evaluator import recorded, side_by_side
from surefoot_lab.datasets import pairs
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet
from surefoot_lab.grading import Decisions, because, decisions_of, graded
from surefoot_lab.report import Form, Table, count, percent as in_percent, short, show
from surefoot_lab.risk_control import FOLDS, Aim, Choice, Fit, Judged, Point, curve, fit, parts

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


def tune(
    data: Annotated[list[Path], Argument(help="Labelled pairs: lines of {id, question, passages}.")],
    name: Annotated[
        str | None,
        Option(
            "--evaluator", metavar="NAME", help="Instead of the configured one; with options as in 'minilm model=PATH'."
        ),
    ] = None,
    target: Annotated[
        float, Option("--target", help="Largest share of CORRECT decisions that may lack evidence.")
    ] = 0.05,
    discard_target: Annotated[
        float, Option("--discard-target", help="Largest share of INCORRECT decisions that may have evidence.")
    ] = 0.1,
    strip_target: Annotated[
        float, Option("--strip-target", help="Largest share of relevant passages that may lie below strip.")
    ] = 0.05,
    confidence: Annotated[float, Option("--confidence", help="Confidence with which each target is kept.")] = 0.95,
    thin: Annotated[
        bool, Option("--thin", help="Take the relevant passages of one question in four out first.")
    ] = False,
    limit: Limit = None,
    preset_file: Annotated[
        Path | None,
        Option("--out", metavar="FILE", help="Write the thresholds here; the setting thresholds.file reads them."),
    ] = None,
    picture: Annotated[Path | None, pictures.drawing("the risk–coverage curve")] = None,
    json_file: JsonFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Fit an evaluator's thresholds to a stated risk, with a bound. Code 1: there are none."""
    aim = Aim(target, discard_target, strip_target, confidence)
    files: Sequence[pairs.LabelledSet] = [pairs.read(path, limit) for path in data]
    if thin:
        files = thinned(files)
    (chosen,) = side_by_side(config, settings or [], [name] if name else [])
    with pulling():
        one = Builder(chosen).evaluator
    with counting(one.name) as on_progress:
        report = run(one, files, on_progress, aim)
    split = {"by": "hash of the question's text", "proposing": FOLDS}
    write_json(json_file, {**recorded(limit), "config": chosen, "split": split, **to_json(report)})
    if picture:
        pictures.risk_coverage(report, picture)
    show(_tables(report))
    out.print(_legend(report), style="dim", soft_wrap=True)
    for note in _notes(report):
        out.say(note, "yellow")
    if report.thresholds is None:
        raise typer.Exit(1)
    if preset_file:
        write_text(preset_file, preset(report.thresholds))
        err.say(f"to decide by them: --set thresholds.file={preset_file}", "dim")


def _choices(report: TuningReport) -> Iterator[tuple[str, str, Choice, str]]:
    """Name, rule, threshold, and the word for what goes wrong."""
    yield "τ+", "CORRECT ≥", report.fit.upper, "lack evidence"
    yield "τ−", "INCORRECT <", report.fit.lower, "have evidence"
    yield "strip", "kept ≥", report.fit.strip, "lost"


def _tables(report: TuningReport) -> list[Table]:
    """The thresholds with their risk; the decisions, file by file."""
    thresholds = [(name, *_threshold(rule, choice, wrong)) for name, rule, choice, wrong in _choices(report)]
    rows = [(short(one.file), *_shares(one.decisions)) for one in report.files]
    rows += [("all files", *_shares(report.decisions))] if len(rows) > 1 else []
    shares = ("CORRECT", "lack evidence", "AMBIGUOUS", "INCORRECT", "have evidence")
    figures: dict[str, Form] = dict.fromkeys(["counted", "wrong", "risk", "bound", "target"], lambda cell: cell)
    return [
        Table("thresholds", {report.evaluator: str, "": str, **figures}, thresholds),
        Table("decisions", {"file": str, "tested": count, **dict.fromkeys(shares, in_percent)}, rows),
    ]


def _threshold(rule: str, choice: Choice, wrong: str) -> tuple[str, ...]:
    text = "none found" if choice.threshold is None else f"{rule} {choice.threshold:.4g}"
    shown, target = choice.shown, percent(choice.target)
    if shown is None or shown.risk is None:
        return text, "0", NONE, NONE, NONE, target
    return text, f"{shown.of:,}", f"{shown.wrong:,} {wrong}", percent(shown.risk), percent(shown.high), target


def _shares(made: Decisions) -> tuple[Any, ...]:
    (correct, with_evidence), (incorrect, without) = made["CORRECT"], made["INCORRECT"]
    lacking, having = (None if right.share is None else 1 - right.share for right in (with_evidence, without))
    return correct.of, correct, lacking, made["AMBIGUOUS"][0], incorrect, having


def _legend(report: TuningReport) -> str:
    fit, sure = report.fit, percent(report.fit.confidence)
    thinned = f"One question in {THIN} was asked without its relevant passages.\n"
    return (thinned if any(file.thinned for file in report.files) else "") + (
        f"{fit.testing:,} questions test; {fit.proposing:,} others proposed what to test. Risk: share that is wrong.\n"
        f"With {sure} confidence each, the targets are kept for questions like these taken together.\n"
        "Bound: what holds of the one threshold by itself."
    )


def _notes(report: TuningReport) -> Iterator[str]:
    yield from (f"no {name}: {one.reason}" for name, _, one, _ in _choices(report) if one.threshold is None)
    if ungraded := sum(file.ungraded for file in report.files):
        total = sum(file.pairs for file in report.files)
        yield f"{ungraded:,} of {total:,} pairs could not be graded: {because(report.ungraded_because)}"
