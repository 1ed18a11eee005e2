"""The command line: each command parses, makes one call of the library, and prints."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from surefoot import __version__
from surefoot.cli import (
    agree,
    ask,
    bench,
    compare,
    demo,
    evaluate,
    explain,
    gate,
    improve,
    index,
    inspect,
    models,
    trace,
    train,
    view,
)
from surefoot.cli._console import err, out, plain, trusting
from surefoot.errors import SurefootError, UsageError

app = typer.Typer(
    name="surefoot",
    help="Corrective RAG that tests every hold: it grades what it finds, corrects it, cites or refuses, and shows why.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"surefoot {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", is_eager=True, callback=_version)
    ] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Import code that a configuration, or what is recorded, names; unasked.")
    ] = False,
) -> None:
    trusting.set(trust)


demo.register(app)
index.register(app)
ask.register(app)
trace.register(app)
explain.register(app)
evaluate.register(app)
view.register(app)
improve.register(app)
compare.register(app)
gate.register(app)
agree.register(app)
inspect.register(app)
app.add_typer(models.app, name="models")
app.add_typer(bench.app, name="bench")
app.add_typer(train.app, name="train")


def main() -> None:
    """Run the command line. Exit codes: 0 done, 2 a mistake of the user's, 3 a part that failed, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no ✓ still gets the rest of the line
    try:
        app()
    except SurefootError as error:
        _fail(str(error), 2 if isinstance(error, UsageError) else 3)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read us has left; so do we, quietly
    except OSError as error:
        _fail(f"{error.filename or 'the machine'}: {error.strerror or error}", 3)


def _fail(why: str, code: int) -> None:
    err.print(plain(f"surefoot: {why}"), soft_wrap=True)
    sys.exit(code)
