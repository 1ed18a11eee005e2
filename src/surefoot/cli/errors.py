"""`surefoot bench errors`: where a run goes wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from surefoot import manifest, store
from surefoot.cli._console import drawing, err, headed, out, plain
from surefoot.config.trust import place
from surefoot.datasets import questions
from surefoot.datasets.problems import DataProblem
from surefoot.draw.svg import write_picture
from surefoot.errors import UsageError
from surefoot.lab import error_analysis as bench_errors
from surefoot.lab.heatmap import by_type_and_action
from surefoot.stats.figures import Share
from surefoot.store import recorded, write_text

Golds = Annotated[
    Path | None,
    typer.Option("--golds", metavar="FILE", help="Gold answers, where DATA has none: joined by the question's words."),
]


def errors(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Folders that `surefoot bench qa` kept; of one with several methods, all."
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="The questions, if they are no longer where they were."),
    ] = None,
    golds: Golds = None,
    rule: Annotated[
        Literal["match", "match_lower", "strict", "letter", "letter_or_text"],
        typer.Option("--rule", help="What is right: a gold alias in the answer, or for choices and claims, strict."),
    ] = "match_lower",
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the reports here.")] = None,
    picture: Annotated[Path | None, drawing("types and actions of the one run")] = None,
) -> None:
    """Count right answers by action and by type of question, from the traces of a run.

    Nothing is asked again.
    """
    folders = [inner for folder in runs for inner in store.runs(folder)]
    if picture and len(folders) > 1:
        raise UsageError(f"--figure draws one run; name one of: {', '.join(map(str, folders))}")
    reports = [_report(folder, data, golds, rule) for folder in folders]
    if json_file:
        write_text(json_file, json.dumps(bench_errors.as_json(reports), indent=1, allow_nan=False) + "\n")
    if picture:
        write_picture(picture, by_type_and_action(reports[0]))
    for report in reports:
        _show(report)


def remarks(problems: Iterable[DataProblem]) -> None:
    """Print what is amiss in the data: how often, what, and where first."""
    for problem in problems:
        where = ", ".join(problem.where) + (", …" if problem.count > len(problem.where) else "")
        err.say(f"data: {problem.count:,} × {problem.what} ({where})", "yellow")


def data_of(folder: Path, about: Mapping[str, Any]) -> Path:
    """The data that a run says it was made on, below the working directory. Raises UsageError where there are none."""
    if not (named := about.get("data")):
        raise UsageError(f"{folder} does not say on which data it was run; name them with --data")
    return place(str(named), "--data")


def _report(folder: Path, data: Path | None, golds: Path | None, rule: str) -> bench_errors.ErrorReport:
    about, traces = recorded(folder)
    named = data or data_of(folder, about)
    right = golds or (place(str(about["golds"]), "--golds") if about.get("golds") else None)
    if about.get("sha256", known := manifest.fingerprint(named)) != known:
        err.say(f"{named} has changed since {folder} was run on it", "yellow")
    return bench_errors.report(str(folder), about, questions.load(named, golds=right), traces, rule)


def _show(report: bench_errors.ErrorReport) -> None:
    asked = f"{report.right.of:,} questions of {report.data}, {report.method}, right by {report.rule}"
    out.say(f"{report.run}: {asked}")
    out.print(_actions(report))
    out.print(_types(report))
    out.print(_cells(report))
    words = f"types: {report.named:,} named by the data, {report.right.of - report.named:,} by a word of the question"
    out.print(f"{words}; {report.refused:,} refused and {report.failed:,} failed, which count as wrong", style="dim")
    if report.missing:
        out.print(f"the run is not finished: {report.missing:,} questions were not asked", style="yellow")
    remarks(report.problems)
    out.print()


def _actions(report: bench_errors.ErrorReport) -> Table:
    table = headed(["action"], ["questions", "share", "right", "95 % interval"])
    for row in report.actions:
        table.add_row(row.action.upper(), f"{row.questions.count:,}", _percent(row.questions), *_right(row.right))
    table.add_row("all", f"{report.right.of:,}", "", *_right(report.right))
    return table


def _types(report: bench_errors.ErrorReport) -> Table:
    table = headed(["type"], ["questions", "right", "95 % interval", "commonest action", "of them"])
    for row in report.types:
        cells = f"{row.questions.count:,}", *_right(row.right), row.dominant.upper(), _percent(row.dominance)
        table.add_row(plain(row.type), *cells)
    return table


def _cells(report: bench_errors.ErrorReport) -> Table:
    actions = [row.action for row in report.actions]
    table = headed(["right of n"], [action.upper() for action in actions])
    for row in report.types:
        mine = [cell.right for cell in report.cells if cell.type == row.type]
        table.add_row(plain(row.type), *map(_of, mine))
    return table


def _of(share: Share) -> str:
    return f"{_percent(share)} of {share.of:,}" if share.of else "–"


def _right(share: Share) -> Sequence[str]:
    interval = "" if share.low is None or share.high is None else f"{share.low * 100:.1f} to {share.high * 100:.1f}"
    return _percent(share), interval


def _percent(share: Share) -> str:
    return "–" if share.share is None else f"{share.share * 100:.1f} %"
