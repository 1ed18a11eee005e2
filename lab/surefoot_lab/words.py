"""`surefoot lab words`: the words that weigh most in the grades of a few questions of each action."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.progress import MofNCompleteColumn
from typer import Argument, Option

from surefoot.cli._configuration import ConfigFile, Settings, as_recorded, configured
from surefoot.cli._console import bar, err, pulling, write_json
from surefoot.config.builder import Builder
from surefoot.evaluate.ask.questions import hashed
from surefoot.evidence.exclusions import Evidence
from surefoot.explain.grade import Baseline, explain
from surefoot.run.store import recorded, runs, to_json
from surefoot.types import Action, Passage, Trace
from surefoot.types.errors import UsageError
from surefoot.types.protocols import Evaluator
from surefoot_lab import pictures

EACH = 3
"""Of each action, as the paper's figure has it."""


@dataclass(frozen=True, slots=True)
class ActionSample:
    """A question, its action, and its best passage as the evaluator was given it."""

    id: str
    question: str
    passage: Passage
    action: Action


def of_run(traces: dict[str, Trace], evaluator: Evaluator, seed: int, each: int = EACH) -> tuple[ActionSample, ...]:
    """So many questions of each action, CORRECT first, of a run; fewer where it has fewer. The evaluator grades
    nothing: it only decides which parts of a passage were blanked out."""
    found: dict[Action, list[ActionSample]] = {action: [] for action in Action}
    for key in sorted(traces, key=lambda key: hashed(f"{seed} {key}")):
        trace = traces[key]
        graded = [
            (grade.score, passage)
            for passage, grade in zip(trace.passages, trace.grades, strict=False)
            if grade.score is not None
        ]
        if trace.decision and graded and len(found[trace.decision.action]) < each:
            best = max(graded, key=lambda pair: pair[0])[1]
            evidence = Evidence.for_question(evaluator, trace.standalone_question)
            sample = ActionSample(key, trace.standalone_question, evidence.masked(best), trace.decision.action)
            found[sample.action].append(sample)
    return tuple(sample for samples in found.values() for sample in samples)


def words(
    source: Annotated[
        Path,
        Argument(metavar="RUN", help="A folder that `surefoot lab qa` kept."),
    ],
    to: Annotated[Path, Option("--to", metavar="FOLDER", help="Folder for pictures and values.")],
    each: Annotated[int, Option("--each", min=1, help="Questions of each action.")] = EACH,
    png: Annotated[bool, Option("--png", help="Draw PNG too.")] = False,
    baseline: Annotated[Baseline, Option(help="Replacement for words that are taken out.")] = "delete",
    tolerance: Annotated[float, Option(min=0.001, help="Standard error, as a share of the largest value.")] = 0.1,
    most: Annotated[int, Option(min=1, help="Texts graded for a question, at most.")] = 4000,
    seed: Annotated[int, Option(min=0, help="Draws the questions, and what is asked of the evaluator.")] = 0,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Draw what a few grades of each action owe to their words: bars, and a heatmap."""
    builder, drawn = _drawn(source, each, seed, config, settings)
    with pulling(), bar(MofNCompleteColumn()) as progress:
        options = {"baseline": baseline, "tolerance": tolerance, "most": most, "seed": seed}
        explained = [
            (sample, explain(builder.evaluator, sample.question, sample.passage, **options))  # type: ignore[arg-type]
            for sample in progress.track(drawn, description="words")
        ]
    selected = [
        {"id": sample.id, "action": sample.action.value, "grade": to_json(found)} for sample, found in explained
    ]
    about = {"source": str(source), "seed": seed, "config": builder.config, "samples": selected}
    write_json(to / "words.json", about)
    for suffix in (".svg", ".png") if png else (".svg",):
        pictures.words(explained, to / f"bars{suffix}")
        pictures.heatmap(explained, to / f"heatmap{suffix}")
    for action in Action:
        if (count := sum(sample.action is action for sample in drawn)) < each:
            err.say(f"{source} has {count} of {each} questions that came out {action.value}", "yellow")
    err.say(f"bars.svg, heatmap.svg and words.json in {to}", "dim")


def _drawn(
    source: Path, each: int, seed: int, config: str | None, settings: list[str] | None
) -> tuple[Builder, tuple[ActionSample, ...]]:
    """Questions of a run are explained by the run's own evaluator, with each --set, unless --config gives another."""
    folder, *others = runs(source)
    if others:
        raise UsageError(f"{source} holds several runs; name one: {folder}, {', '.join(map(str, others))}")
    about, traces = recorded(folder)
    own = None if config else about.get("config")
    builder = Builder(as_recorded(own, str(folder), settings) if own else configured(config, settings, None))
    with pulling():
        drawn = of_run(traces, builder.evaluator, seed, each)
    if not drawn:
        raise UsageError(f"{source} has no question with a decision and a graded passage")
    return builder, drawn
