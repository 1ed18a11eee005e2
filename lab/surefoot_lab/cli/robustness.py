"""`surefoot lab robustness`: how accuracy falls as retrieval gets worse."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from rich.table import Table
from typer import Option

from surefoot.cli import _questions as questions
from surefoot.cli._configuration import ConfigFile, IndexFile, Settings, configured
from surefoot.cli._console import headed, out, plain, write_json
from surefoot.cli._numbers import number
from surefoot.cli._questions import Golds
from surefoot_lab import degradation, methods, pictures
from surefoot_lab.cli import _options as options
from surefoot_lab.cli._numbers import percent, points
from surefoot_lab.degradation import DegradationReport, Gap


def robustness(
    data: questions.Data,
    index: IndexFile = None,
    texts: questions.Texts = False,
    method: options.Methods = None,
    top: options.Top = 10,
    kind: Annotated[
        list[str] | None,
        Option(
            "--kind",
            metavar="NAME",
            help="fewer passages, or lost (fewer of those with an answer). Unnamed: both.",
        ),
    ] = None,
    step: Annotated[
        list[float] | None,
        Option("--step", metavar="SHARE", help="Share of the passages; again for one more. Unnamed: each quarter."),
    ] = None,
    golds: Golds = None,
    limit: questions.Limit = None,
    workers: questions.Threads = 1,
    json_file: options.JsonFile = None,
    picture: Annotated[Path | None, pictures.drawing("the robustness curves")] = None,
    run: options.RunFolder = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Make retrieval worse in steps; count what corrective and plain RAG lose.

    Unnamed, the methods are crag and rag. Each is asked every question once, and once for each step of each kind.
    """
    queries = questions.question_run("robustness", data, golds, limit, texts, run, configured(config, settings, index))
    compared = methods.arms(method or ["crag", "rag"], queries.searches, top)
    kinds, steps = tuple(kind or degradation.KINDS), tuple(step or degradation.STEPS)
    examples = queries.loaded.examples
    traces = queries.traces(degradation.arms(compared, kinds, steps), partial(questions.spread, workers=workers))
    report = degradation.report(compared, examples, traces, kinds, steps)
    write_json(json_file, degradation.as_json(report, queries.report))
    if picture:
        pictures.robustness(report, str(data), picture)
    _show(report)
    questions.kept_in(queries.folder)


def _show(report: DegradationReport) -> None:
    out.print(_steps(report))
    if report.gaps:
        out.print()
        out.print(_gaps(report.gaps))
    rule = f"{report.questions:,} questions, right by {report.rule}; intervals of differences: bootstrap over questions"
    out.say(rule, "dim")
    out.say("changed: questions whose passages are others than without; spared: how much more the second loses", "dim")


def _steps(report: DegradationReport) -> Table:
    table = headed(["passages", "method"], ["share", "changed", "right", "answered", "lost", "95 % interval"])
    for step in report.steps:
        figures = number(step.changed), percent(step.right), percent(step.answered)
        table.add_row(step.kind, plain(step.method), f"{step.share * 100:g} %", *figures, *points(step.lost))
    return table


def _gaps(gaps: Sequence[Gap]) -> Table:
    table = headed(["passages", "difference"], ["share", "points", "95 % interval", "spared", "95 % interval"])
    for gap in gaps:
        name = plain(f"{gap.first} − {gap.second}")
        table.add_row(gap.kind, name, f"{gap.share * 100:g} %", *points(gap.ahead), *points(gap.spared))
    return table
