"""`surefoot bench`: measure on labelled questions."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.progress import MofNCompleteColumn
from rich.table import Table

from surefoot import __version__
from surefoot.bench import datasets
from surefoot.bench import qa as bench_qa
from surefoot.cli.console import ConfigFile, IndexFile, Settings, bar, configured, err, out, pulling
from surefoot.config import Builder
from surefoot.store import Run, write_text

app = typer.Typer(help="Measure on labelled data.", no_args_is_help=True)


@app.callback()
def _root() -> None:
    """Measure on labelled data."""


@app.command()
def qa(
    data: Annotated[Path, typer.Argument(help="Questions: lines of {id, question, answers, passages?}.")],
    index: IndexFile = None,
    method: Annotated[
        Literal["crag", "rag", "none"], typer.Option("--method", help="none is the model's memory.")
    ] = "crag",
    top: Annotated[int, typer.Option("--top", min=1, help="Passages that plain rag reads.")] = 3,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only a sample of so many questions.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the report here.")] = None,
    run: Annotated[Path | None, typer.Option("--run", metavar="FOLDER", help="Keep the traces here; resumes.")] = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Answer labelled questions and count: accuracy with its interval, actions, recall, seconds."""
    chosen = configured(config, settings, index)
    examples = datasets.read(data, limit)
    about = {"surefoot": __version__, "data": str(data), "questions": len(examples), "method": method, "top": top}
    folder = run or Path("runs") / f"{datetime.now(UTC):%Y%m%dT%H%M%S}-qa-{method}"
    with pulling():
        pipeline = Builder(chosen).pipeline()
    with bar(MofNCompleteColumn()) as progress:
        task = progress.add_task(method, total=len(examples))
        report = bench_qa.run(
            pipeline,
            examples,
            method,
            top,
            Run(folder, {**about, "config": chosen}),
            lambda done, total: progress.update(task, completed=done, total=total),
        )
    if json_file:
        write_text(json_file, json.dumps({**about, "config": chosen, **bench_qa.as_json(report)}, indent=1) + "\n")
    _show(report)
    err.print(f"traces in {folder}", style="dim", soft_wrap=True)


def _show(report: bench_qa.Report) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in (report.method, "share", "95 % interval", "count"):
        table.add_column(heading, justify="left" if heading == report.method else "right")
    rows = [("match", report.match), ("match, lower case", report.match_lower), ("answered", report.answered)]
    rows += [("right when answered", report.right_when_answered)]
    rows += [(f"retrieval recall@{k}", share) for k, share in report.recall.items()]
    for row in report.actions:
        rows += [
            (row.action.upper(), row.questions),
            ("  match, lower case", row.match_lower),
            ("  answered", row.answered),
        ]
    for name, share in rows:
        table.add_row(name, *_cells(share))
    out.print(table)
    stages = " · ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in report.stages.items())
    out.print(f"median {report.seconds or 0:.2f} s a question: {stages}", soft_wrap=True)
    if report.failed:
        out.print(f"failed, and counted as wrong: {report.failed}", style="yellow")


def _cells(share: bench_qa.Share) -> tuple[str, str, str]:
    if share.share is None or share.low is None or share.high is None:
        return "–", "–", "0 of 0"
    interval = f"{share.low * 100:.1f} to {share.high * 100:.1f}"
    return f"{share.share * 100:.1f} %", interval, f"{share.count} of {share.of}"
