"""`surefoot search`: the passages that a question finds, with their grades, and no answer."""

import json as codec
from typing import Annotated

import typer
from typer import Argument, Option

from surefoot.cli._answer_view import opening, passages
from surefoot.cli._configuration import CollectionName, ConfigFile, Filters, IndexFile, Settings, configured, filtering
from surefoot.cli._console import out, pulling
from surefoot.cli._trace_view import decided
from surefoot.config.builder import Builder
from surefoot.config.searching import searching
from surefoot.evidence.ranking import best
from surefoot.run.store import to_json
from surefoot.types.errors import UsageError

SHOWN = 5


def search(
    question: Annotated[list[str], Argument(metavar="QUESTION", help="Your question, or its keywords, in quotes.")],
    k: Annotated[int, Option("-k", metavar="N", min=1, help="Passages to show, the best-graded ones.")] = SHOWN,
    index: IndexFile = None,
    collection: CollectionName = None,
    filters: Filters = None,
    config: ConfigFile = None,
    settings: Settings = None,
    json: Annotated[bool, Option("--json", help="Print the passages as one line of JSON, and nothing else.")] = False,
) -> None:
    """Find passages in your documents and grade them, without an answer; nothing is asked outside."""
    if len(question) > 1:
        raise UsageError(f'put the question in quotes: surefoot search "{" ".join(question)}"')
    builder = Builder(configured(config, settings, index, collection))
    with pulling():
        found = searching(builder.pipeline(), k).run(question[0], filter=filtering(filters))
    if json:
        pairs = [{"passage": one, "grade": grade} for one, grade in best(found.passages, found.grades, k)]
        listed = {"question": found.question, "read_as": found.read_as, "passages": pairs}
        typer.echo(codec.dumps(to_json(listed), allow_nan=False).encode())
    else:
        out.print(*decided(found), *passages("Passages", found, opening(builder.opened), k, short=True))
    if any(step.error for step in found.steps):
        raise typer.Exit(3)
