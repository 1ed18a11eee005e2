"""`surefoot ask`: one question, answered before one's eyes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from surefoot.cli._configuration import ConfigFile, IndexFile, Settings, configured
from surefoot.cli._console import err, out, pulling
from surefoot.cli._trace_view import Screen
from surefoot.config.builder import Builder
from surefoot.errors import UsageError
from surefoot.store import dumps, write_trace


def ask(
    question: Annotated[list[str], Argument(metavar="QUESTION", help="Your question, in quotes.")],
    index: IndexFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
    json: Annotated[bool, Option("--json", help="Print the trace as one line of JSON, and nothing else.")] = False,
    trace: Annotated[Path | None, Option("--trace", metavar="FILE", help="Keep the trace in this file.")] = None,
) -> None:
    """Answer a question from your documents: graded, corrected, cited or refused, with the reasons."""
    if len(question) > 1:
        raise UsageError(f'put the question in quotes: surefoot ask "{" ".join(question)}"')
    builder = Builder(configured(config, settings, index))
    with pulling():
        pipeline = builder.pipeline()
    if not builder.index.info().complete:
        err.print("The index is unfinished; run surefoot index again to complete it.")
    with pulling(), Screen(out) as screen:
        done = pipeline.run(question[0], on_event=None if json else screen)
        if not json:
            screen.finish(done)
    if json:
        typer.echo(dumps(done).encode())  # JSON is UTF-8, whatever the terminal is
    if trace:
        write_trace(done, trace)
    if any(step.error for step in done.steps):
        raise typer.Exit(3)
