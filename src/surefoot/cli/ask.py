"""`surefoot ask`: one question, answered before one's eyes."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from surefoot.cli._answer_view import opening
from surefoot.cli._configuration import (
    CollectionName,
    ConfigFile,
    Filters,
    IndexFile,
    ModelName,
    Settings,
    configured,
    filtering,
)
from surefoot.cli._console import err, out, pulling, tamed
from surefoot.cli._trace_view import Screen, Whole
from surefoot.config.builder import Builder
from surefoot.integrations.telemetry import traced
from surefoot.run.store import dumps, write_trace
from surefoot.text.questions import LONGEST_QUESTION
from surefoot.types.errors import UsageError


def ask(
    question: Annotated[
        list[str], Argument(metavar="QUESTION", help="Your question, in quotes; - reads it from standard input.")
    ],
    index: IndexFile = None,
    collection: CollectionName = None,
    filters: Filters = None,
    config: ConfigFile = None,
    settings: Settings = None,
    model: ModelName = None,
    passages: Whole = None,
    quiet: Annotated[bool, Option("--quiet", help="Print the answer's text, and nothing else.")] = False,
    json: Annotated[bool, Option("--json", help="Print the trace as one line of JSON, and nothing else.")] = False,
    trace: Annotated[Path | None, Option("--trace", metavar="FILE", help="Keep the trace in this file.")] = None,
) -> None:
    """Answer a question from your documents: graded, corrected, cited or refused, with the passages beside it."""
    if len(question) > 1:
        raise UsageError(f'put the question in quotes: surefoot ask "{" ".join(question)}"')
    builder = Builder(configured(config, settings, index, collection, model))
    chosen = filtering(filters)
    with pulling():
        pipeline = traced(builder)
    if (index_read := builder.opened) and not index_read.is_complete():
        err.print("The index is unfinished; run surefoot index again to complete it.")
    # Of a longer text no more is read than shows that it is too long.
    text = sys.stdin.read(LONGEST_QUESTION * 2) if question[0] == "-" else question[0]
    screen = Screen(out, opens=opening(builder.opened), passages=passages)
    with pulling(), closing(screen):
        done = pipeline.run(text, None if json or quiet else screen, filter=chosen)
        if not (json or quiet):
            screen.finish(done)
    if json:
        typer.echo(dumps(done).encode())  # JSON is UTF-8, whatever the terminal is
    elif quiet and done.answer:
        out.print(tamed(done.answer.text), soft_wrap=True)
    if trace:
        write_trace(done, trace)
    if any(step.error for step in done.steps):
        raise typer.Exit(3)
