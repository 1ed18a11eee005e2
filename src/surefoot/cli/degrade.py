"""`surefoot bench robustness`: how accuracy falls as retrieval gets worse."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from surefoot.bench import curves, degrade, methods
from surefoot.bench.degrade import Gap, Report
from surefoot.bench.svg import write_picture
from surefoot.cli import asking
from surefoot.cli.asking import percent, points
from surefoot.cli.console import ConfigFile, IndexFile, Settings, configured, drawing, headed, out, plain
from surefoot.cli.errors import Golds
from surefoot.store import write_text


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(robustness)


def robustness(
    data: asking.Data,
    index: IndexFile = None,
    texts: asking.Texts = False,
    method: asking.Methods = None,
    top: asking.Top = 10,
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
    limit: asking.Limit = None,
    workers: asking.Threads = 1,
    ray: asking.Ray = None,
    json_file: asking.JsonFile = None,
    picture: Annotated[Path | None, drawing("the robustness curves")] = None,
    run: asking.RunFolder = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Make retrieval worse in steps and count what is lost, by corrective RAG and by plain RAG on the same passages.

    Unnamed, the methods are crag and rag. Each is asked every question once, and once for each step of each kind.
    """
    asked = asking.asked("robustness", data, golds, limit, texts, run, configured(config, settings, index))
    compared = methods.arms(method or ["crag", "rag"], asked.searches, top)
    kinds, steps = tuple(kind or degrade.KINDS), tuple(step or degrade.STEPS)
    about = {**asked.about, "config": asked.config}
    examples = asked.loaded.examples
    with asking.spread(asked.config, ray, workers) as spread, asking.shown("questions") as on_done:
        report = degrade.measured(compared, examples, spread, asked.folder, about, on_done, kinds, steps)
    if json_file:
        whole = degrade.as_json(report, asked.report)
        write_text(json_file, json.dumps(whole, indent=1, allow_nan=False) + "\n")
    if picture:
        write_picture(picture, curves.robustness(report, str(data)))
    _show(report)
    asking.kept_in(asked.folder)


def _show(report: Report) -> None:
    out.print(_steps(report))
    if report.gaps:
        out.print()
        out.print(_gaps(report.gaps))
    counted = (
        f"{report.questions:,} questions, right by {report.rule}; intervals of differences: bootstrap over questions"
    )
    out.print(counted, style="dim", soft_wrap=True)
    words = (
        "changed: questions whose passages are others than without; spared: what the second loses more than the first"
    )
    out.print(words, style="dim", soft_wrap=True)


def _steps(report: Report) -> Table:
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
