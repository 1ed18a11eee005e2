"""`surefoot lab ragxplain`: one pass of diagnose, change and rerun over the data sets of the RAGXplain paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from typer import Argument, Option

from surefoot import __version__
from surefoot.cli._configuration import ConfigFile, Settings, configured
from surefoot.cli._console import between, counting, err, out, plain, pulling, signed, tabled
from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.evaluate import patch
from surefoot.evaluate.ask import runs
from surefoot.evaluate.ask.questions import Example, hashed, load
from surefoot.evaluate.diagnose.diagnosis import ScoredRun
from surefoot.evaluate.improve.plan import by_rules, record
from surefoot.evaluate.score import scoring
from surefoot.evaluate.score.lexical import wordings
from surefoot.evaluate.score.summaries import summaries, value
from surefoot.evidence.merge import by_id
from surefoot.index.search import Index
from surefoot.run.store import write_value
from surefoot.stats.figures import Figure, figure, mean, resampled
from surefoot.types import Block, Document, Score
from surefoot.types.errors import SurefootError, UsageError
from surefoot_lab.figures import macro
from surefoot_lab.methods import crag

SETS = {
    "NQ": "nq/oracle.jsonl",
    "HotpotQA": "hotpotqa/dev_distractor.jsonl",
    "WikiPassageQA": "WikiPassageQA",
    "ASQA": "asqa/dev.jsonl",
    "WixQA-EW": "wixqa/expert.jsonl",
}
"""Each set of the paper, and its file in the folder of data; of WikiPassageQA the folder of its authors."""
POOL = 600
"""Questions of a set, at most, whose passages are the corpus."""
PAPER = {
    "f1": -0.018,
    "bleu": 0.000,
    "rouge_1": -0.006,
    "answer_relevancy": 0.028,
    "context_relevancy": 0.120,
    "context_recall": 0.168,
    "context_adherence": 0.164,
    "grading_note": 0.088,
    "factuality": 0.046,
}
"""Table 2 of arXiv 2505.13538: the mean change over the five sets."""


@dataclass(frozen=True, slots=True)
class SetReport:
    """A data set before and after the change that its diagnosis proposes."""

    name: str
    questions: int
    change: str
    """The settings that were changed; empty: the diagnosis proposes none."""
    before: Mapping[str, float]
    """The mean of each metric over the questions that have it before and after; likewise `gains`."""
    gains: Mapping[str, Figure]


def ragxplain(
    data: Annotated[Path, Argument(metavar="DATA", help=f"Folder with {', '.join(SETS.values())}.")],
    run: Annotated[Path, Option("--run", metavar="FOLDER", help="Traces and scores; what is there is reused.")],
    questions: Annotated[int, Option("--questions", min=2, help="Of each set, a sample of so many.")] = 30,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Answer a sample of each of the paper's data sets, apply all that is proposed at once, and answer again.

    A set that is not in DATA is left out, and named.
    """
    own, reports, gaps = configured(config, settings, None), [], []
    for name, file in SETS.items():
        if not (data / file).exists():
            err.say(f"{name} is left out: {data / file} is not there", "yellow")
            continue
        report, found = passed(name, data / file, own, run / name, questions)
        reports.append(report)
        gaps.append(found)
        out.say(f"{name}: {report.change or 'no change is proposed'}")
    if not reports:
        raise UsageError(f"{data} holds none of {', '.join(SETS.values())}")
    whole = {metric: macro([_gain(some[metric]) for some in gaps if metric in some]) for metric in PAPER}
    write_value(run / "ragxplain.json", {"sets": reports, "mean": whole})
    out.print(
        tabled(
            ["mean change"], ["paper", "ours", "95 % interval", *(one.name for one in reports)], _rows(reports, whole)
        )
    )


def _rows(reports: Sequence[SetReport], whole: Mapping[str, Figure]) -> Iterator[tuple[str, ...]]:
    for metric, paper in PAPER.items():
        own = whole[metric]
        each = (signed(one.gains[metric].value) if metric in one.gains else "–" for one in reports)
        yield plain(metric), signed(paper), signed(own.value), between(own.low, own.high, True), *each


def passed(
    name: str, path: Path, config: Config, folder: Path, questions: int
) -> tuple[SetReport, Mapping[str, Sequence[float]]]:
    """One set before and after its change, and the change of each question's score by metric. The rules diagnose; the
    judges of the configuration judge. Costs two answers a question, and what the judges ask."""
    examples = load(path, limit=questions).examples
    config = {**config, "index": {**config["index"], "path": str(folder / "index.db")}}
    indexed(path, examples, config)
    records, before = scored("before", examples, config, folder)
    diagnosis = by_rules(ScoredRun(records, [*before.values()], summaries(before.values(), {}), config))
    write_value(folder / "diagnosis.json", diagnosis)
    changed = reduce(_with, (item.patch for item in diagnosis.items), config)
    after = scored("after", examples, changed, folder)[1] if changed != config else before
    found = {metric: _gaps(metric, before, after) for metric in PAPER}
    means = {m: float(np.mean([first for first, _ in some])) for m, some in found.items() if some}
    gaps = {metric: [second - first for first, second in some] for metric, some in found.items() if some}
    change = patch.shown(_difference(config, changed)) if changed != config else ""
    return SetReport(name, len(examples), change, means, {m: _gain(some)[0] for m, some in gaps.items()}), gaps


def indexed(path: Path, examples: Sequence[Example], config: Config) -> None:
    """Index the passages that come with the questions of a set, of the sample and others, unless that is done."""
    target = Path(config["index"]["path"])
    if target.exists():
        return
    others = sorted(load(path).examples, key=lambda one: hashed(one.id))[:POOL]
    passages = by_id([passage for one in (*examples, *others) for passage in one.passages])
    embedder = Builder(config).embedder
    with Index.make(target.with_suffix(".part"), embedder) as index:
        index.add((Document(p.id, p.title, (Block(p.text),), id=p.id) for p in passages), embedder)
    target.with_suffix(".part").rename(target)


def scored(arm: str, examples: Sequence[Example], config: Config, folder: Path) -> tuple[list[Any], dict[str, Score]]:
    """The records of a configuration's answers, and their scores; both are reused from the folder."""
    builder, about = Builder(config), {"surefoot": __version__, "config": config}
    asked: Callable[..., Any] = lambda pipeline, one: crag(pipeline, one.question)  # noqa: E731
    with pulling():
        pipeline = builder.pipeline()
    with counting(f"{folder.name}: {arm}") as on_done:
        [(_, traces)] = runs.run([runs.Arm(arm, asked)], examples, runs.threads(pipeline), folder, about, on_done)
    records = [record(example, trace) for example, trace in zip(examples, traces, strict=True)]
    judges = (*builder.judges(), *wordings())
    model = builder.judging_for(judges)
    own = {"surefoot": __version__, "source": arm}
    found = scoring.run(judges, records, folder / f"{arm}-scores", own, in_flight=builder.in_flight, model=model)
    return records, found


def _with(config: Config, change: patch.Patch) -> Config:
    """The configuration with an item's change; as it was where the change may not be made."""
    try:
        return patch.tried(config, change) if change else config
    except SurefootError as error:
        err.say(f"not changed: {patch.shown(change)}: {error}", "yellow")
        return config


def _difference(one: Config, other: Config) -> patch.Patch:
    return {
        section: changed
        for section, values in other.items()
        if (changed := {key: new for key, new in values.items() if one.get(section, {}).get(key) != new})
    }


def _gaps(metric: str, before: Mapping[str, Score], after: Mapping[str, Score]) -> list[tuple[float, float]]:
    pairs = [(value(one), value(after[key])) for key, one in before.items() if one.metric == metric and key in after]
    return [(first, second) for first, second in pairs if first is not None and second is not None]


def _gain(gaps: Sequence[float]) -> tuple[Figure, Any]:
    return figure(mean(gaps), resampled(max(1, len(gaps))))
