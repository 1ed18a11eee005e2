"""The command line: each command parses, makes one call of the library, and prints."""

from __future__ import annotations

import json
import os
import sys
from contextvars import ContextVar
from io import TextIOWrapper
from typing import Annotated

import typer
from typer import Option

from surefoot import __version__
from surefoot.cli._commands import Listing, PluginGroup, json_wanted
from surefoot.types.errors import SurefootError, UsageError

INTERRUPTED = 130
"""The exit code after Ctrl-C."""

trusting: ContextVar[bool] = ContextVar("trusting", default=False)
"""Set by --trust: code that a configuration file names is imported."""

_MODELS: Listing = {
    "list": ("models:list_models", "List the models: size, licence, source, and whether each is on this machine."),
    "pull": ("models:pull", "Fetch model files, check them, and keep them; an interrupted fetch goes on."),
}
_SERVE: Listing = {
    "start": (
        "serve:serve",
        "Answer questions over HTTP: for the page that it opens, for programs, and for chat clients.",
    ),
    "keys": ("serve:keys", "List who may come in; with a name, make a key and print it, or remove one."),
}
COMMANDS: Listing = {
    "demo": ("demo:demo", "Ask a small library three questions, and watch Surefoot accept, complete and correct."),
    "index": (
        "index:index",
        "Index documents, tables, notebooks, mails, man pages and source code; only what changed is read.",
    ),
    "ask": (
        "ask:ask",
        "Answer a question from your documents: graded, corrected, cited or refused, with the passages beside it.",
    ),
    "search": (
        "search:search",
        "Find passages in your documents and grade them, without an answer; nothing is asked outside.",
    ),
    "chat": ("chat:chat", "Ask one question after the other; one that goes on from the last is completed."),
    "serve": (_SERVE, "The server and its page; alone it starts them."),
    "mcp": ("mcp:mcp", "Offer the tools ask, retrieve and grade to a client of a language model."),
    "trace": (
        "trace:trace",
        "Draw a recorded trace: grades, decision, strips, answer, and the cost of each step.",
    ),
    "explain": ("explain:explain", "Explain a grade by its words, a trace's action, or grades of an evaluation."),
    "evaluate": ("evaluate:evaluate", "Score answered questions by several metrics, each score with its reason."),
    "view": ("view:view", "Show an evaluation, from the dashboard down to each record, as one HTML page."),
    "improve": ("improve:improve", "Diagnose, try each proposed change, and show on held-out questions which helps."),
    "compare": ("compare:compare", "Compare two evaluations on the records that both have: differences, with tests."),
    "gate": ("gate:gated", "Hold an evaluation against conditions. Code 1: one is not kept; 2: one cannot be checked."),
    "agree": ("agree:agree", "Hold a judge against people: rank correlation, error or AUC, and corrected means."),
    "recipe": (
        "recipe:recipe",
        "Write the configuration of a paper or an agentic variant, and print what to fetch and to run.",
    ),
    "doctor": ("inspect:doctor", "Check models, index, endpoint and disk, and say what to do; code 1: a fault."),
    "models": (_MODELS, "The model files that Surefoot uses: list, pull."),
}
"""Each command: where it is, and the first line of its help."""


class _Commands(PluginGroup):
    listing = COMMANDS


app = typer.Typer(
    name="surefoot",
    cls=_Commands,
    help="Corrective RAG that tests every hold: it grades what it finds, corrects it, cites or refuses, and shows why.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"surefoot {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, Option("--version", help="Print the version and leave.", is_eager=True, callback=_version)
    ] = False,
    trust: Annotated[bool, Option("--trust", help="Import code that the configuration file names.")] = False,
) -> None:
    trusting.set(trust)


def main() -> None:
    """Run the command line. Exit codes: 0 done, 2 a mistake of the user's, 3 a part that failed, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no ✓ still gets the rest of the line
    json_wanted.set(False)
    try:
        app()
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED:
            _fail("Interrupted", ["interrupted"], INTERRUPTED)
        raise
    except SurefootError as error:
        _fail(type(error).__name__, [*map(str, error.args)], 2 if isinstance(error, UsageError) else 3)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read us has left; so do we, quietly
    except OSError as error:
        _fail(type(error).__name__, [f"{error.filename or 'the machine'}: {error.strerror or error}"], 3)


def _fail(error: str, messages: list[str], code: int) -> None:
    if json_wanted.get():
        typer.echo(json.dumps({"error": error, "code": code, "messages": messages}))
    else:
        from surefoot.cli._console import err

        for message in messages:
            err.say(f"surefoot: {message}")
    sys.exit(code)
