"""Questions about manuals: is the answer right, how far did the evidence come, and would a plain search have done?"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Annotated, Any

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
from surefoot.stats.text import number
from surefoot.types import Answer, Trace
from surefoot.types.errors import UsageError
from surefoot_lab.cli._options import Threads
from surefoot_lab.datasets.manuals import ManualQuestion, comparable, held, read, right
from surefoot_lab.figures import Share
from surefoot_lab.methods import retrieved
from surefoot_lab.qa import DIFFERENCES, Outcome, QAReport, answer_text, compared
from surefoot_lab.report import Form, Table, as_markdown, of, points, report_json, seconds, share, show

SHOWN = 3
"""Passages that `surefoot ask` shows beside the answer: the best-graded."""

GROUPINGS = ("class", "manual", "lang")
"""Keys of an outcome by which questions are grouped."""
MEASURES = {
    "right, hedged or not": "right",
    "right without a hedge": "plainly right",
    "wrong without a hedge": "wrong",
    "refused, or hedged and not right, with the evidence retrieved": "withheld",
    "failed": "failed",
    "unanswerable: refused or hedged": "declined",
    # How far the evidence came.
    "among the retrieved": "retrieved",
    "best-graded passage": "best",
    "the three that are shown": "three",
    "shown: answer and three passages": "shown",
    "kept strips": "kept",
    "answer, or right without it": "answered",
}
"""Shares of the answerable questions, but for `declined`, by their keys in an outcome."""


def run(
    questions: Sequence[ManualQuestion],
    opened: Callable[[str], Builder],
    folder: Path,
    about: dict[str, Any],
    on_done: OnDone,
    workers: int = 1,
) -> list[QAReport]:
    """The reports of Surefoot as configured and of BM25's first passage, over the same questions and indexes.

    `opened` gives the configuration with the index of a manual. `runs.run` says which questions are asked, and keeps
    each trace under the question's id.
    """
    examples = [Example(one.id, one.question, one.answers, frozenset()) for one in questions]
    spread = _spread({one.id: one.manual for one in questions}, opened, workers)
    traces = asked(ARMS, examples, spread, folder, about, on_done)
    return [QAReport.of(arm.name, questions, each, outcome) for arm, each in traces]


def outcome(question: ManualQuestion, trace: Trace) -> Outcome:
    """The ending of the question, and how far its evidence came.

    - `ending`: right or wrong, which are answered without a reservation, hedged, refused, failed.
    - `right`: the answer, hedged or not, is right by its string rule.
    - `declined`: refused or hedged; None: the question has an answer.
    - `retrieved`: the evidence is in one of the passages that were retrieved and graded; `best`: in the best-graded
      one; `three`: in one of the three that `ask` shows; `kept`: in the kept strips. None: nothing was graded.
    - `answered`: in the answer, or that is right in words of its own; `shown`: or in one of the three passages.
    - `words`: of the answer; None: refused or failed.
    """
    answer = trace.answer
    text = answer_text(trace)
    replied = answer is not None and not answer.refused
    is_right = replied and right(question, text)
    ending = _ending(answer, is_right)
    declined = ending in ("refused", "hedged")
    retrieved = held(question, [passage.text for passage in trace.passages])
    graded = trace.passages[: len(trace.grades)]
    found = best(graded, trace.grades[: len(graded)], SHOWN)
    three = [passage.text for passage, grade in found if grade.score is not None]
    selected = [strip.text for strip in trace.strips if strip.kept]
    answered = is_right or held(question, [text])
    return {
        "id": question.id,
        "manual": question.manual,
        "class": question.kind,
        "lang": question.lang,
        "question": question.question,
        "gold": question.gold,
        "answerable": question.answerable,
        "answer": text,
        "ending": ending,
        "right": is_right,
        "plainly right": ending == "right",
        "wrong": ending == "wrong",
        "withheld": declined and retrieved and not is_right,
        "failed": ending == "failed",
        "declined": None if question.answerable else declined,
        "retrieved": retrieved,
        "best": held(question, three[:1]) if graded else None,
        "three": held(question, three) if graded else None,
        "kept": held(question, [*selected, " ".join(selected)]) if graded else None,
        "shown": answered or held(question, three),
        "answered": answered,
        "words": len(comparable(text).split()) if replied else None,
        "seconds": sum(step.seconds for step in trace.steps),
    }


def tables(reports: Sequence[QAReport]) -> list[Table]:
    """How questions ended, how far the evidence came, and both methods by class, manual and language."""
    first, second = reports
    both = _answerable(first), _answerable(second)
    size, answerable = len(first.outcomes), len(both[0].outcomes)
    whole = [(label, *(_share(one, key) for one in reports)) for label, key in MEASURES.items()]
    differences = [(label, *compared(*both, key).row) for label, key in MEASURES.items() if key in ("right", "shown")]
    answers = [(one.method, _median(one, "words"), _median(one, "seconds")) for one in reports]
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


def _ending(answer: Answer | None, is_right: bool) -> str:
    if answer is None:
        return "failed"
    if answer.refused:
        return "refused"
    if answer.hedged:
        return "hedged"
    return "right" if is_right else "wrong"


def _answerable(one: QAReport) -> QAReport:
    return one.among("answerable", True)


def _share(one: QAReport, key: str) -> Share:
    return (one if key == "declined" else _answerable(one)).share(key)


def _grouped(first: QAReport, second: QAReport, by: str) -> Table:
    rows = []
    for name in sorted({one[by] for one in first.outcomes}):
        mine, theirs = first.among(by, name), second.among(by, name)
        gain = compared(_answerable(mine), _answerable(theirs), "right").gain
        others = [_share(mine, key) for key in ("wrong", "withheld", "declined")]
        rows.append((name, _share(mine, "right"), _share(theirs, "right"), gain, *others))
    columns: dict[str, Form] = {by: str, "right": share, second.method: share, "difference, points": points}
    return Table(f"by {by}", columns | dict.fromkeys(("wrong, no hedge", "withheld", "declined"), of), rows)


def _median(one: QAReport, key: str) -> float | None:
    known = [outcome[key] for outcome in one.outcomes if outcome[key] is not None]
    return median(known) if known else None


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
