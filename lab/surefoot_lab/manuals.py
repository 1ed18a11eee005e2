"""Questions about manuals: is the answer right, how far did the evidence come, and would a plain search have done?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Literal

from typer import Argument, Option

from surefoot import __version__
from surefoot.cli._configuration import ConfigFile, Settings, configured
from surefoot.cli._console import bar, counting, err, plain, pulling, write_json
from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import Arm, OnDone, Spread, run as asked, threads
from surefoot.evidence.ranking import best
from surefoot.index.build import build
from surefoot.pipeline import Pipeline
from surefoot.retrievers.bm25 import Bm25
from surefoot.run import manifest
from surefoot.run.store import write_text
from surefoot.stats.figures import mcnemar
from surefoot.stats.text import number
from surefoot.types import Answer, Trace
from surefoot.types.errors import UsageError
from surefoot_lab.cli._options import Threads
from surefoot_lab.datasets.manuals import ManualQuestion, comparable, held, read, right
from surefoot_lab.figures import Share, counted, difference
from surefoot_lab.methods import retrieved
from surefoot_lab.qa import DIFFERENCES, MethodComparison
from surefoot_lab.report import Form, Table, as_markdown, of, points, report_json, seconds, share, show

SHOWN = 3
"""Passages that `surefoot ask` shows beside the answer: the best-graded."""

Ending = Literal["right", "wrong", "hedged", "refused", "failed"]
GROUPINGS = {"class": "kind", "manual": "manual", "lang": "lang"}
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
    best: bool | None
    """In the best-graded one; None, as the next two: nothing was graded."""
    three: bool | None
    """In one of the three that `ask` shows."""
    kept: bool | None
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

    label: str
    holds: Callable[[ManualOutcome], bool | None]
    """None: it means nothing for this method."""
    answerable: bool = True

    def share(self, outcomes: Iterable[ManualOutcome]) -> Share:
        """The share of these questions for which it holds."""
        known = [
            found for one in outcomes if one.answerable == self.answerable and (found := self.holds(one)) is not None
        ]
        return counted(sum(known), len(known))


RIGHT = ManualMeasure("right, hedged or not", lambda one: one.right)
WRONG = ManualMeasure("wrong without a hedge", lambda one: one.ending == "wrong")
WITHHELD = ManualMeasure(
    "refused, or hedged and not right, with the evidence retrieved",
    lambda one: one.ending in ("refused", "hedged") and one.retrieved and not one.right,
)
DECLINED = ManualMeasure(
    "unanswerable: refused or hedged", lambda one: one.ending in ("refused", "hedged"), answerable=False
)
SHOWN_EVIDENCE = ManualMeasure("shown: answer and three passages", lambda one: one.shown)
MEASURES = (
    RIGHT,
    ManualMeasure("right without a hedge", lambda one: one.ending == "right"),
    WRONG,
    WITHHELD,
    ManualMeasure("failed", lambda one: one.ending == "failed"),
    DECLINED,
    # How far the evidence came.
    ManualMeasure("among the retrieved", lambda one: one.retrieved),
    ManualMeasure("best-graded passage", lambda one: one.best),
    ManualMeasure("the three that are shown", lambda one: one.three),
    SHOWN_EVIDENCE,
    ManualMeasure("kept strips", lambda one: one.kept),
    ManualMeasure("answer, or right without it", lambda one: one.answered),
)


@dataclass(frozen=True, slots=True)
class ManualReport:
    """The outcomes of one method, from which all its figures follow."""

    method: str
    outcomes: tuple[ManualOutcome, ...]


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
    """The outcomes of these traces; pure, so a run folder gives them again."""
    outcomes = tuple(outcome(one, trace) for one, trace in zip(questions, traces, strict=True))
    return ManualReport(method, outcomes)


def outcome(question: ManualQuestion, trace: Trace) -> ManualOutcome:
    """The ending of the question, and how far its evidence came."""
    answer = trace.answer
    replied = answer is not None and not answer.refused
    text = answer.body if answer and replied else ""
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
        best=held(question, three[:1]) if graded else None,
        three=held(question, three) if graded else None,
        kept=held(question, [*selected, " ".join(selected)]) if graded else None,
        shown=answered or held(question, three),
        answered=answered,
        words=len(comparable(text).split()) if replied else None,
        seconds=sum(step.seconds for step in trace.steps),
    )


def compared(one: ManualReport, other: ManualReport, measure: ManualMeasure) -> MethodComparison:
    """Two methods by one measure over the answerable questions."""
    pairs = [
        (bool(measure.holds(a)), bool(measure.holds(b)))
        for a, b in zip(one.outcomes, other.outcomes, strict=True)
        if a.answerable
    ]
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    return MethodComparison(one.method, other.method, measure.label, mcnemar(first, second), difference(first, second))


def tables(reports: Sequence[ManualReport]) -> list[Table]:
    """How questions ended, how far the evidence came, and both methods by class, manual and language."""
    first, second = reports
    size, answerable = len(first.outcomes), sum(one.answerable for one in first.outcomes)
    whole = [(measure.label, *(measure.share(one.outcomes) for one in reports)) for measure in MEASURES]
    differences = [(measure.label, *compared(first, second, measure).row) for measure in (RIGHT, SHOWN_EVIDENCE)]
    answers = [
        (one.method, _median(o.words for o in one.outcomes), _median(o.seconds for o in one.outcomes))
        for one in reports
    ]
    return [
        Table(
            "questions",
            {"": str, first.method: share, second.method: share},
            whole,
            f"{size} questions, {answerable} of them answerable; shares of the answerable unless said otherwise, with "
            "95 % Wilson intervals",
        ),
        Table("differences", {"measure": str, **DIFFERENCES}, differences if answerable else []),
        Table(
            "answers",
            {"method": str, "words, median": lambda words: number(words, ".0f"), "seconds, median": seconds},
            answers,
        ),
        *(_grouped(first, second, by) for by in GROUPINGS),
    ]


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


def _grouped(first: ManualReport, second: ManualReport, by: str) -> Table:
    rows = []
    for name in sorted({getattr(one, GROUPINGS[by]) for one in first.outcomes}):
        mine, theirs = (
            replace(one, outcomes=tuple(o for o in one.outcomes if getattr(o, GROUPINGS[by]) == name))
            for one in (first, second)
        )
        right, plain, *others = (
            measure.share(one.outcomes)
            for measure, one in ((RIGHT, mine), (RIGHT, theirs), (WRONG, mine), (WITHHELD, mine), (DECLINED, mine))
        )
        rows.append((name, right, plain, compared(mine, theirs, RIGHT).gain, *others))
    columns: dict[str, Form] = {by: str, "right": share, second.method: share, "difference, points": points}
    return Table(f"by {by}", columns | dict.fromkeys(("wrong, no hedge", "withheld", "declined"), of), rows)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _whole(value: float | None) -> str:
    return number(value, ".0f")


def manuals(
    data: Annotated[Path, Argument(metavar="QUESTIONS.jsonl", help="Questions, as benchmarks/manuals describes them.")],
    folder: Annotated[Path, Argument(metavar="MANUALS", help="A folder with a folder of pages for each manual.")],
    out: Annotated[Path, Option("--out", metavar="RUN", help="Keep indexes, traces and both reports here; resumes.")],
    workers: Threads = 1,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Ask questions about manuals, beside BM25's first passage, and count where evidence is lost.

    Each manual is indexed by itself, from the folder in MANUALS that has the package's name.
    """
    questions, chosen = read(data), configured(config, settings, None)
    folders = {name: _folder(folder, name) for name in sorted({question.manual for question in questions})}
    configs = {name: _indexed_as(chosen, out / "indexes" / f"{name}.db") for name in folders}
    passages = {name: _indexed(folders[name], one) for name, one in configs.items()}
    about: dict[str, Any] = {"surefoot": __version__, "command": "manuals", "data": str(data)}
    about |= {"sha256": manifest.fingerprint(data), "questions": len(questions), "passages": passages}
    with pulling():
        Builder(configs[questions[0].manual]).pipeline()  # fetches what all need, before the next bar is shown
    with counting("questions") as on_done:
        reports = run(
            questions, lambda name: Builder(configs[name]), out, {**about, "config": chosen}, on_done, workers
        )
    whole = {**about, "config": chosen, "environment": manifest.environment()}
    made = tables(reports)
    write_json(out / "report.json", report_json(reports, made, whole))
    write_text(out / "report.md", as_markdown(made) + "\n")
    show(made[:3])
    err.say(f"both reports, as .json and .md, and the traces in {out}", "dim")


def _folder(folder: Path, name: str) -> Path:
    if not (found := folder / name).is_dir():
        raise UsageError(f"there is no folder {found} with the manual of {name}; benchmarks/manuals/fetch.sh makes one")
    return found


def _indexed_as(config: Config, index: Path) -> Config:
    return {**config, "index": {**config["index"], "path": str(index)}}


def _indexed(folder: Path, config: Config) -> int:
    """The number of passages of the manual's index, which is brought up to date."""
    builder, index = Builder(config), Path(config["index"]["path"])
    index.parent.mkdir(parents=True, exist_ok=True)
    with pulling():
        embedder = builder.embedder
    with bar() as progress:
        task = progress.add_task(plain(f"indexing {folder.name}"), total=None)
        build(
            [folder],
            index,
            embedder,
            on_progress=lambda so_far: progress.update(task, completed=so_far.bytes, total=so_far.total),
        )
    return builder.index.info().passages
