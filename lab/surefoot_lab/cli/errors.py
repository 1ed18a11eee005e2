"""`surefoot lab errors`: where a run goes wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from rich.table import Table
from typer import Argument, Option

from surefoot.cli._console import err, headed, out, plain, write_json
from surefoot.cli._numbers import number
from surefoot.cli._questions import Golds, remarks
from surefoot.config.trust import place
from surefoot.evaluate.ask import questions
from surefoot.run import manifest, store
from surefoot.run.store import recorded, to_json
from surefoot.stats.text import NONE
from surefoot.types.errors import UsageError
from surefoot_lab import error_analysis as bench_errors
from surefoot_lab.cli._numbers import interval, percent
from surefoot_lab.figures import Share
from surefoot_lab.pictures import drawing, types_and_actions

DataFile = Annotated[
    Path | None, Option("--data", metavar="FILE", help="The questions, if they are no longer where they were.")
]


def errors(
    runs: Annotated[
        list[Path],
        Argument(metavar="RUN...", help="Folders that `surefoot lab qa` kept; of one with several methods, all."),
    ],
    data: DataFile = None,
    golds: Golds = None,
    rule: Annotated[
        Literal["match", "match_lower", "strict", "letter", "letter_or_text"],
        Option("--rule", help="Rule for a right answer: a gold alias in it, or for choices and claims, strict."),
    ] = "match_lower",
    json_file: Annotated[Path | None, Option("--json", metavar="FILE", help="Write the reports here.")] = None,
    picture: Annotated[Path | None, drawing("types and actions of the one run")] = None,
) -> None:
    """Count right answers by action and by type of question, from the traces of a run.

    Nothing is asked again.
    """
    folders = [inner for folder in runs for inner in store.runs(folder)]
    if picture and len(folders) > 1:
        raise UsageError(f"--figure draws one run; name one of: {', '.join(map(str, folders))}")
    reports = [_report(folder, data, golds, rule) for folder in folders]
    write_json(json_file, to_json(reports))
    if picture:
        types_and_actions(reports[0], picture)
    for report in reports:
        _show(report)


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
    queries = f"{report.right.of:,} questions of {report.data}, {report.method}, right by {report.rule}"
    out.say(f"{report.run}: {queries}")
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
        counted = number(row.questions.count), percent(row.questions)
        table.add_row(row.action.upper(), *counted, percent(row.right), interval(row.right))
    table.add_row("all", number(report.right.of), "", percent(report.right), interval(report.right))
    return table


def _types(report: bench_errors.ErrorReport) -> Table:
    table = headed(["type"], ["questions", "right", "95 % interval", "commonest action", "of them"])
    for row in report.types:
        right = number(row.questions.count), percent(row.right), interval(row.right)
        table.add_row(plain(row.type), *right, row.dominant.upper(), percent(row.dominance))
    return table


def _cells(report: bench_errors.ErrorReport) -> Table:
    table = headed(["right of n"], [row.action.upper() for row in report.actions])
    for row in report.types:
        table.add_row(plain(row.type), *(_of(cell.right) for cell in report.cells if cell.type == row.type))
    return table


def _of(share: Share) -> str:
    return f"{percent(share)} of {share.of:,}" if share.of else NONE
