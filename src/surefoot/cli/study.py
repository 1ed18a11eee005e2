"""`surefoot bench study`: which words an evaluator's grades hang on, tested by hypotheses that were there before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import MofNCompleteColumn, Progress, TaskID

from surefoot import __version__
from surefoot.cli._console import ConfigFile, Settings, bar, configured, err, headed, out, plain, pulling
from surefoot.config.builder import Builder
from surefoot.config.settings import Config, read
from surefoot.datasets import pairs
from surefoot.lab.study import controls, hypotheses, report
from surefoot.lab.study.examination import StudySettings as Depth
from surefoot.lab.study.run import Study, run
from surefoot.protocols import Evaluator
from surefoot.text.json_values import parsed

_OWN = Depth()


def study(
    data: Annotated[list[Path], typer.Argument(help="Questions with passages: lines of {id, question, passages}.")],
    folder: Annotated[Path, typer.Option("--run", metavar="FOLDER", help="Keep everything here; resumes.")],
    claims: Annotated[
        Path | None,
        typer.Option("--hypotheses", metavar="FILE.toml", help="What is tested, instead of the shipped claims."),
    ] = None,
    per_action: Annotated[int, typer.Option("--per-action", min=1, help="Pairs of each action.")] = _OWN.per_action,
    checked: Annotated[
        int, typer.Option("--checked", min=0, help="Of these, so many are explained again, in other ways.")
    ] = _OWN.checked,
    longest: Annotated[int, typer.Option("--longest", min=1, help="Words of a passage; longer ones are left out.")] = (
        _OWN.longest
    ),
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0.0, help="Largest error of a value, as a share of the largest value.")
    ] = _OWN.tolerance,
    most: Annotated[int, typer.Option("--most", min=1, help="Graded texts of an explanation.")] = _OWN.most,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the sample and of the explanations.")] = _OWN.seed,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only a sample of so many questions a file.")
    ] = None,
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
        found = run(
            builder.evaluator,
            files,
            written,
            folder,
            lambda stage, done, total: _told(progress, tasks, stage, done, total),
            depth,
            builder.thresholds,
            others,
            about,
        )
    report.write(found, folder, parsed((folder / "run.json").read_bytes()))
    _show(found)
    err.say(f"report in {folder / report.PAGE} and {folder / report.TEXT}", "dim")


def _controls(chosen: Config, builder: Builder, folder: Path) -> dict[str, Evaluator]:
    """What must be explained otherwise; shuffled weights for the evaluator whose weights we know how to shuffle."""
    own: Evaluator = builder.evaluator
    found: dict[str, Evaluator] = {"hashed": controls.Hashed(own.thresholds)}
    if chosen["evaluator"]["use"] == "minilm":
        place = controls.shuffled(controls.weights(chosen["evaluator"].get("model")), folder / "shuffled")
        found["shuffled"] = Builder(read(chosen, {"evaluator": {"model": str(place)}})).evaluator
    return found


def _told(progress: Progress, tasks: dict[str, TaskID], stage: str, done: int, total: int) -> None:
    if stage not in tasks:
        tasks[stage] = progress.add_task(stage, total=total)
    progress.update(tasks[stage], completed=done, total=total)


def _show(found: Study) -> None:
    out.say(f"{found.evaluator}: {found.examined:,} pairs of {found.questions:,} questions")
    table = headed(["claim", "verdict"], ["effect", "pairs", "questions"])
    for one in found.findings:
        cells: tuple[Any, ...] = (report.signed(one.effect), f"{one.effect.of:,}", f"{one.questions:,}")
        table.add_row(plain(one.claim.id), one.verdict, *cells)
    out.print(table)
    for said in found.conclusions:
        out.say(f"{said.conclusion.says} {said.verdict.upper()}, {said.because}")
    out.print("effect: in standard deviations of the score (95 % interval, bootstrap over questions)", style="dim")
