"""`surefoot lab study`: which words an evaluator's grades hang on, tested by hypotheses that were there before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rich.progress import MofNCompleteColumn, TaskID
from typer import Argument, Option

from surefoot import __version__
from surefoot.cli._configuration import ConfigFile, Settings, configured
from surefoot.cli._console import bar, err, out, pulling
from surefoot.config.builder import Builder
from surefoot.config.settings import Config, read
from surefoot.text.json_values import parsed
from surefoot.types.protocols import Evaluator
from surefoot_lab.datasets import pairs
from surefoot_lab.report import Form, Table, count, show
from surefoot_lab.study import controls, hypotheses, report
from surefoot_lab.study.examination import StudySettings as Depth
from surefoot_lab.study.report import signed
from surefoot_lab.study.run import run

_OWN = Depth()


def study(
    data: Annotated[list[Path], Argument(help="Questions with passages: lines of {id, question, passages}.")],
    folder: Annotated[Path, Option("--run", metavar="FOLDER", help="Keep everything here; resumes.")],
    claims: Annotated[
        Path | None, Option("--hypotheses", metavar="FILE.toml", help="Claims to test instead of the shipped ones.")
    ] = None,
    per_action: Annotated[int, Option("--per-action", min=1, help="Pairs of each action.")] = _OWN.per_action,
    checked: Annotated[
        int, Option("--checked", min=0, help="Pairs of these that are explained again in other ways.")
    ] = _OWN.checked,
    longest: Annotated[int, Option("--longest", min=1, help="Words of a passage; longer ones are left out.")] = (
        _OWN.longest
    ),
    tolerance: Annotated[
        float, Option("--tolerance", min=0.0, help="Largest error of a value, as a share of the largest value.")
    ] = _OWN.tolerance,
    most: Annotated[int, Option("--most", min=1, help="Graded texts of an explanation.")] = _OWN.most,
    seed: Annotated[int, Option("--seed", min=0, help="Seed of the sample and of the explanations.")] = _OWN.seed,
    limit: Annotated[int | None, Option("--limit", min=1, help="Only a sample of so many questions a file.")] = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Explain many grades, test the claims that were fixed before, and report.

    The claims are kept in the run's folder before anything is computed.
    """
    written, chosen = hypotheses.read(claims or hypotheses.SHIPPED), configured(config, settings, None)
    files = [pairs.read(path, limit, by_answer=True) for path in data]
    depth = Depth(per_action, checked, longest, tolerance, most, seed)
    about = {"surefoot": __version__, "limit": limit, "config": chosen}
    with pulling():
        builder = Builder(chosen)
        others = _controls(chosen, builder, folder) if checked else {}
    with bar(MofNCompleteColumn()) as progress:
        tasks: dict[str, TaskID] = {}

        def results(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=total)
            progress.update(tasks[stage], completed=done, total=total)

        found = run(builder.evaluator, files, written, folder, results, depth, builder.thresholds, others, about)
    report.write(found, folder, parsed((folder / "run.json").read_bytes()))
    out.say(f"{found.evaluator}: {found.examined:,} pairs of {found.questions:,} questions")
    rows = [(one.claim.id, one.verdict, one.effect, one.effect.of, one.questions) for one in found.findings]
    columns: dict[str, Form] = {"claim": str, "verdict": str, "effect": signed, "pairs": count, "questions": count}
    note = "effect: in standard deviations of the score (95 % interval, bootstrap over questions)"
    show([Table("findings", columns, rows, note)])
    for one in found.conclusions:
        out.say(f"{one.conclusion.says} {one.verdict.upper()}, {one.because}")
    err.say(f"report in {folder / report.TEXT}", "dim")


def _controls(chosen: Config, builder: Builder, folder: Path) -> dict[str, Evaluator]:
    """Evaluators that must be explained differently: hashed grades, and minilm with shuffled weights."""
    own: Evaluator = builder.evaluator
    found: dict[str, Evaluator] = {"hashed": controls.Hashed(own.thresholds)}
    if chosen["evaluator"]["use"] == "minilm":
        place = controls.shuffled(controls.weights(chosen["evaluator"].get("model")), folder / "shuffled")
        found["shuffled"] = Builder(read(chosen, {"evaluator": {"model": str(place)}})).evaluator
    return found
