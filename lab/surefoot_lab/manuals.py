"""Questions about manuals: is the answer right, how far did the evidence come, and would a plain search have done?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Literal

from surefoot.config.builder import Builder
from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import Arm, OnDone, Spread, threads
from surefoot.evaluate.ask.runs import run as asked
from surefoot.evidence.ranking import best
from surefoot.pipeline import Pipeline
from surefoot.retrievers.bm25 import Bm25
from surefoot.run.store import to_json
from surefoot.stats.figures import RESAMPLES, SEED, mcnemar
from surefoot.stats.text import NONE, interval, number, percent
from surefoot.types import Answer, Trace
from surefoot_lab.datasets.manuals import ManualQuestion, comparable, held, right
from surefoot_lab.figures import Share, counted, difference
from surefoot_lab.markdown import table
from surefoot_lab.methods import retrieved
from surefoot_lab.qa import MethodComparison

SHOWN = 3
"""Passages that `surefoot ask` shows beside the answer: the best-graded."""

Ending = Literal["right", "wrong", "hedged", "refused", "failed"]
Grouping = Literal["all", "class", "manual", "lang"]
GROUPINGS: dict[Grouping, str] = {"class": "kind", "manual": "manual", "lang": "lang"}
"""The ways to group questions, each with the field of `ManualOutcome` that it goes by."""


@dataclass(frozen=True, slots=True)
class ManualOutcome:
    """One question and what became of it."""

    id: str
    manual: str
    kind: str
    lang: str
    question: str
    gold: str
    answerable: bool
    answer: str
    """Empty: there is none."""
    ending: Ending
    """ "hedged": answered with a reservation, whether right or not. "wrong": answered without one, and not right."""
    right: bool
    """The answer, hedged or not, is right by its string rule."""
    retrieved: bool
    """The evidence is in one of the passages that were retrieved and graded."""
    best: bool
    """In the best-graded one."""
    three: bool
    """In one of the three that `ask` shows."""
    kept: bool
    """In the kept strips."""
    shown: bool
    """In the answer or one of the three passages, or the answer is right in words of its own."""
    answered: bool
    """In the answer, or it is right in words of its own."""
    words: int | None
    """Words of the answer; None: refused or failed."""
    seconds: float


@dataclass(frozen=True, slots=True)
class ManualMeasure:
    """A share of the answerable questions, or of the others."""

    name: str
    label: str
    holds: Callable[[ManualOutcome], bool]
    answerable: bool = True
    graded: bool = False
    """It means something only for a method that grades passages."""


OUTCOMES = (
    ManualMeasure("right", "right, hedged or not", lambda one: one.right),
    ManualMeasure("right_unhedged", "right without a hedge", lambda one: one.ending == "right"),
    ManualMeasure("wrong", "wrong without a hedge", lambda one: one.ending == "wrong"),
    ManualMeasure(
        "withheld",
        "refused, or hedged and not right, with the evidence retrieved",
        lambda one: one.ending in ("refused", "hedged") and one.retrieved and not one.right,
    ),
    ManualMeasure("failed", "failed", lambda one: one.ending == "failed"),
    ManualMeasure(
        "declined", "unanswerable: refused or hedged", lambda one: one.ending in ("refused", "hedged"), False
    ),
)
FUNNEL = (
    ManualMeasure("retrieved", "among the retrieved", lambda one: one.retrieved),
    ManualMeasure("best", "best-graded passage", lambda one: one.best, graded=True),
    ManualMeasure("three", "the three that are shown", lambda one: one.three, graded=True),
    ManualMeasure("shown", "shown: answer and three passages", lambda one: one.shown),
    ManualMeasure("kept", "kept strips", lambda one: one.kept, graded=True),
    ManualMeasure("answered", "answer, or right without it", lambda one: one.answered),
)
COMPARED = (OUTCOMES[0], FUNNEL[3])
"""The measures by which two methods are compared question by question: right, and shown."""


@dataclass(frozen=True, slots=True)
class ManualGroup:
    """The figures over all questions, or over those of one class, manual or language."""

    by: Grouping
    name: str
    questions: int
    answerable: int
    shares: dict[str, Share]
    """By name of each measure of `OUTCOMES` and `FUNNEL`; of 0 where the method has nothing of the kind."""
    words: float | None
    """Median number of words of an answer; None: nothing was answered."""


@dataclass(frozen=True, slots=True)
class ManualReport:
    """The figures of one method. The JSON form is stable: fields are added, never changed."""

    method: str
    groups: tuple[ManualGroup, ...]
    """All questions first, then by class, by manual and by language."""
    seconds: float
    """Median a question."""
    outcomes: tuple[ManualOutcome, ...]

    @property
    def whole(self) -> ManualGroup:
        """The figures over all questions."""
        return self.groups[0]


def run(
    questions: Sequence[ManualQuestion],
    opened: Callable[[str], Builder],
    folder: Path,
    about: dict[str, Any],
    on_done: OnDone,
    workers: int = 1,
) -> list[ManualReport]:
    """The reports of Surefoot as configured and of BM25's first passage, over the same questions and indexes.

    `opened` gives the configuration with the index of a manual. `runs.run` says which questions are asked, and keeps
    each trace under the question's id.
    """
    examples = [Example(one.id, one.question, one.answers, frozenset()) for one in questions]
    spread = _spread({one.id: one.manual for one in questions}, opened, workers)
    return [
        report(arm.name, questions, traces) for arm, traces in asked(ARMS, examples, spread, folder, about, on_done)
    ]


def report(method: str, questions: Sequence[ManualQuestion], traces: Sequence[Trace]) -> ManualReport:
    """The figures of these traces; pure, so a run folder gives them again."""
    outcomes = tuple(outcome(one, trace) for one, trace in zip(questions, traces, strict=True))
    graded = any(trace.grades for trace in traces)
    return ManualReport(method, tuple(_groups(outcomes, graded)), median(one.seconds for one in outcomes), outcomes)


def outcome(question: ManualQuestion, trace: Trace) -> ManualOutcome:
    """The ending of the question, and how far its evidence came."""
    answer = trace.answer
    replied = answer is not None and not answer.refused
    text = answer.text if answer and replied else ""
    is_right = replied and right(question, text)
    graded = trace.passages[: len(trace.grades)]
    found = best(graded, trace.grades[: len(graded)], SHOWN)
    three = [passage.text for passage, grade in found if grade.score is not None]
    selected = [strip.text for strip in trace.strips if strip.kept]
    answered = is_right or held(question, [text])
    return ManualOutcome(
        id=question.id,
        manual=question.manual,
        kind=question.kind,
        lang=question.lang,
        question=question.question,
        gold=question.gold,
        answerable=question.answerable,
        answer=text,
        ending=_ending(answer, is_right),
        right=is_right,
        retrieved=held(question, [passage.text for passage in trace.passages]),
        best=held(question, three[:1]),
        three=held(question, three),
        kept=held(question, [*selected, " ".join(selected)]),
        shown=answered or held(question, three),
        answered=answered,
        words=len(comparable(text).split()) if replied else None,
        seconds=sum(step.seconds for step in trace.steps),
    )


def compared(one: ManualReport, other: ManualReport, measure: ManualMeasure) -> dict[str, MethodComparison]:
    """Two methods by one measure, answerable question by question; by name of each group as `_key` gives it."""
    found = {}
    for group in (group for group in one.groups if group.answerable):
        pairs = [
            (measure.holds(a), measure.holds(b))
            for a, b in zip(one.outcomes, other.outcomes, strict=True)
            if a.answerable and (group.by == "all" or getattr(a, GROUPINGS[group.by]) == group.name)
        ]
        first, second = [a for a, _ in pairs], [b for _, b in pairs]
        paired = mcnemar(first, second), difference(first, second)
        found[_key(group)] = MethodComparison(one.method, other.method, measure.name, *paired)
    return found


def as_json(reports: Sequence[ManualReport], about: dict[str, Any]) -> dict[str, Any]:
    """The reports as plain data: the keys of `about`; `methods`, by name; `comparisons`, by measure and group."""
    first, second = reports
    gains = {measure.name: to_json(compared(first, second, measure)) for measure in COMPARED}
    drawn = {"seed": SEED, "resamples": RESAMPLES, "comparisons": gains}
    return {**about, "methods": {one.method: to_json(one) for one in reports}, **drawn}


def as_markdown(reports: Sequence[ManualReport]) -> str:
    """The tables of the reports: outcomes, the funnel, and both methods by class, manual and language."""
    first, second = reports
    right_by, shown_by = (compared(first, second, measure) for measure in COMPARED)
    heads = ["", *(one.method for one in reports)]
    rows = [
        [measure.label, *(_counted(one.whole.shares[measure.name]) for one in reports)]
        for measure in (*OUTCOMES, *FUNNEL)
    ]
    rows += [["words of an answer, median", *(number(one.whole.words, ".0f") for one in reports)]]
    rows += [["seconds a question, median", *(number(one.seconds, ".2f") for one in reports)]]
    parts = [
        f"{first.whole.questions} questions, {first.whole.answerable} of them answerable. Shares of the answerable "
        "unless said otherwise, with 95 % Wilson intervals.",
        table(1, heads, rows),
        f"Right answers: {_gain(right_by)}.",
        f"Evidence shown: {_gain(shown_by)}.",
    ]
    theirs = {_key(group): group for group in second.groups}
    heads = ["", "questions", "right", second.method, "difference, points", "wrong, no hedge", "withheld", "declined"]
    for by in GROUPINGS:
        rows = [
            [
                group.name,
                f"{group.answerable} + {group.questions - group.answerable}",
                *(_cell(one.shares["right"]) for one in (group, theirs[_key(group)])),
                _points(right_by[_key(group)]) if group.answerable else NONE,
                *(_cell(group.shares[name]) for name in ("wrong", "withheld", "declined")),
            ]
            for group in first.groups
            if group.by == by
        ]
        parts += [f"## By {by}", table(1, heads, rows)]
    return "\n\n".join(parts) + "\n"


def first_passage(pipeline: Pipeline, question: str) -> Trace:
    """The pipeline's first retrieved passage as it stands, as if it were the answer; a refusal where there is none."""
    run, passages = retrieved(pipeline, question)
    run.set("answer", Answer(passages[0].text) if passages else Answer("nothing was found", refused=True))
    return run.finish()


SUREFOOT = Arm("surefoot", lambda pipeline, example: pipeline.run(example.question))
BASELINE = Arm("bm25", lambda pipeline, example: first_passage(pipeline, example.question))
ARMS = (SUREFOOT, BASELINE)


def _spread(manuals: Mapping[str, str], opened: Callable[[str], Builder], workers: int) -> Spread:
    """Ask the questions of one manual after those of the other, each of its own index."""

    def spread(arm: Arm, examples: Sequence[Example]) -> Iterator[tuple[str, Trace]]:
        for manual in dict.fromkeys(manuals[example.id] for example in examples):
            builder = opened(manual)
            pipeline = builder.pipeline()
            if arm is BASELINE:
                pipeline = replace(pipeline, retriever=Bm25(builder.index))
            of_it = [example for example in examples if manuals[example.id] == manual]
            yield from threads(pipeline, workers)(arm, of_it)

    return spread


def _ending(answer: Answer | None, is_right: bool) -> Ending:
    if answer is None:
        return "failed"
    if answer.refused:
        return "refused"
    if answer.hedged:
        return "hedged"
    return "right" if is_right else "wrong"


def _groups(outcomes: Sequence[ManualOutcome], graded: bool) -> Iterator[ManualGroup]:
    yield _group("all", "all", outcomes, graded)
    for by, field in GROUPINGS.items():
        for name in sorted({getattr(one, field) for one in outcomes}):
            yield _group(by, name, [one for one in outcomes if getattr(one, field) == name], graded)


def _group(by: Grouping, name: str, mine: Sequence[ManualOutcome], graded: bool) -> ManualGroup:
    lengths = [one.words for one in mine if one.words is not None]
    shares = {measure.name: _share(measure, mine, graded) for measure in (*OUTCOMES, *FUNNEL)}
    answerable = sum(one.answerable for one in mine)
    return ManualGroup(by, name, len(mine), answerable, shares, median(lengths) if lengths else None)


def _share(measure: ManualMeasure, mine: Sequence[ManualOutcome], graded: bool) -> Share:
    of = [one for one in mine if one.answerable == measure.answerable and (graded or not measure.graded)]
    return counted(sum(measure.holds(one) for one in of), len(of))


def _key(group: ManualGroup) -> str:
    return group.name if group.by == "all" else f"{group.by} {group.name}"


def _gain(gains: Mapping[str, MethodComparison]) -> str:
    """The difference over all questions, in words; a file of unanswerable questions alone has none."""
    if (every := gains.get("all")) is None:
        return NONE
    only = f"only {every.first} {every.paired.first}, only {every.second} {every.paired.second}"
    chance = f"McNemar's p {number(every.paired.p, '.2g')}"
    return f"{every.first} less {every.second} {_points(every)} points, {only}; {chance}"


def _cell(share: Share) -> str:
    """A share with its interval, in percent without the sign."""
    if share.share is None or share.low is None or share.high is None:
        return NONE
    return f"{share.share * 100:.0f} ({interval(share.low * 100, share.high * 100, '.0f')})"


def _counted(share: Share) -> str:
    if share.share is None or share.low is None or share.high is None:
        return NONE
    ends = interval(share.low * 100, share.high * 100, ".1f")
    return f"{percent(share.share, 1)} ({ends}), {share.count} of {share.of}"


def _points(one: MethodComparison) -> str:
    gain = one.gain
    if gain.value is None:
        return NONE
    value = number(gain.value * 100, "+.0f")
    if gain.low is None or gain.high is None:
        return value
    return f"{value} ({interval(gain.low * 100, gain.high * 100, '+.0f')})"
