"""`surefoot bench robustness`: how accuracy falls as retrieval gets worse."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from surefoot.cli import _questions as questions
from surefoot.cli._console import ConfigFile, IndexFile, Settings, configured, drawing, headed, out, plain
from surefoot.cli._questions import percent, points
from surefoot.cli.errors import Golds
from surefoot.draw.svg import write_picture
from surefoot.evaluate.ask import methods
from surefoot.lab import curves, degradation
from surefoot.lab.degradation import DegradationReport, Gap
from surefoot.store import write_text


def robustness(
    data: questions.Data,
    index: IndexFile = None,
    texts: questions.Texts = False,
    method: questions.Methods = None,
    top: questions.Top = 10,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="NAME",
            help="fewer passages, lost (fewer of those with an answer), shuffled, swapped (about another entity); "
            "again for one more. Unnamed: all.",
        ),
    ] = None,
    step: Annotated[
        list[float] | None,
        typer.Option("--step", metavar="SHARE", help="Of the passages; again for one more. Unnamed: each quarter."),
    ] = None,
    golds: Golds = None,
    limit: questions.Limit = None,
    workers: questions.Threads = 1,
    ray: questions.Ray = None,
    json_file: questions.JsonFile = None,
    picture: Annotated[Path | None, drawing("the robustness curves")] = None,
    run: questions.RunFolder = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Make retrieval worse in steps; count what corrective and plain RAG lose.

    Unnamed, the methods are crag and rag. Each is asked every question once, and once for each step of each kind.
    """
    asked = questions.asked("robustness", data, golds, limit, texts, run, configured(config, settings, index))
    compared = methods.arms(method or ["crag", "rag"], asked.searches, top)
    kinds, steps = tuple(kind or degradation.KINDS), tuple(step or degradation.STEPS)
    about = {**asked.about, "config": asked.config}
    examples = asked.loaded.examples
    with questions.spread(asked.config, ray, workers) as spread, questions.shown("questions") as on_done:
        report = degradation.measured(compared, examples, spread, asked.folder, about, on_done, kinds, steps)
    if json_file:
        whole = degradation.as_json(report, asked.report)
        write_text(json_file, json.dumps(whole, indent=1, allow_nan=False) + "\n")
    if picture:
        write_picture(picture, curves.robustness(report, str(data)))
    _show(report)
    questions.kept_in(asked.folder)


def _show(report: DegradationReport) -> None:
    out.print(_steps(report))
    if report.gaps:
        out.print()
        out.print(_gaps(report.gaps))
    counted = (
        f"{report.questions:,} questions, right by {report.rule}; intervals of differences: bootstrap over questions"
    )
    out.say(counted, "dim")
    words = (
        "changed: questions whose passages are others than without; spared: what the second loses more than the first"
    )
    out.say(words, "dim")


def _steps(report: DegradationReport) -> Table:
    table = headed(["passages", "method"], ["share", "changed", "right", "answered", "lost", "95 % interval"])
    for step in report.steps:
        figures = f"{step.changed:,}", percent(step.right), percent(step.answered)
        table.add_row(step.kind, plain(step.method), f"{step.share * 100:g} %", *figures, *points(step.lost))
    return table


def _gaps(gaps: Sequence[Gap]) -> Table:
    table = headed(["passages", "difference"], ["share", "points", "95 % interval", "spared", "95 % interval"])
    for gap in gaps:
        name = plain(f"{gap.first} − {gap.second}")
        table.add_row(gap.kind, name, f"{gap.share * 100:g} %", *points(gap.ahead), *points(gap.spared))
    return table
