"""The command line: each command parses, makes one call of the library, and prints."""

import json
import os
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer import Option

from surefoot import __version__
from surefoot.cli._commands import Listing, PluginGroup, json_wanted
from surefoot.types.errors import SurefootError, UsageError

INTERRUPTED = 130
"""The exit code after Ctrl-C."""

trusting: ContextVar[bool] = ContextVar("trusting", default=False)
"""Set by --trust: code that a configuration file names is imported, and its endpoints are used."""

COMMANDS: Listing = {
    "demo": "demo:demo",
    "index": "index:index",
    "store": ("The store of another engine that the configured retriever searches.", {"check": "store:check"}),
    "ask": "ask:ask",
    "search": "search:search",
    "chat": "chat:chat",
    "serve": (
        "The server and its page; alone it starts them.",
        {"start": "serve:serve", "keys": "serve:keys", "backup": "backup:backup", "restore": "backup:restore"},
    ),
    "mcp": "mcp:mcp",
    "trace": "trace:trace",
    "explain": "explain:explain",
    "evaluate": "evaluate:evaluate",
    "view": "view:view",
    "testset": "testset:make",
    "improve": "improve:improve",
    "compare": "compare:compare",
    "gate": "gate:gated",
    "agree": "agree:agree",
    "capacity": "capacity:capacity",
    "recipe": "recipe:recipe",
    "doctor": "inspect:doctor",
    "models": ("The model files that Surefoot uses; doctor --models lists them.", {"pull": "models:pull"}),
}
"""Each command, in the order of the help, and where it is."""


class _Commands(PluginGroup):
    def __init__(self, **attributes: Any) -> None:
        super().__init__(listing=COMMANDS, **attributes)


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
    trust: Annotated[
        bool, Option("--trust", help="Take code and endpoints that the configuration file names.")
    ] = False,
) -> None:
    trusting.set(trust)


def main(words: Sequence[str] | None = None) -> None:
    """Run the command line with these words, or those of the process.

    Exit codes: 0 done, 2 a mistake of the user's, 3 a part that failed, 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no ✓ still gets the rest of the line
    json_wanted.set(False)
    try:
        app(words, prog_name="surefoot")
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
