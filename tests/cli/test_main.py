"""What holds for every command: help, exit codes, one line for a mistake, and nothing that steers a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from inspect import cleandoc
from pathlib import Path
from typing import Any

import pytest
import typer

from surefoot import __version__, cli
from surefoot.cli._console import plain

COMMANDS = ["demo", "index", "ask", "trace", "replay", "explain", "evaluate", "components", "doctor"]
COMMANDS += ["models", "models list", "models pull", "models verify", "bench", "bench qa"]
COMMANDS += ["compare", "gate", "agree"]
COMMANDS += ["report", "view"]
COMMANDS += [
    "bench evaluator",
    "bench tune",
    "bench errors",
    "bench robustness",
    "bench ablate",
    "bench facts",
    "bench study",
    "bench words",
    "train",
    "train evaluator",
    "train average",
    "train t5",
    "improve",
]


def test_every_command_is_listed_here() -> None:
    """So that the tests below hold for one that is added."""
    groups = {group.name: group.typer_instance for group in cli.app.registered_groups}
    named = [command.name or command.callback.__name__ for command in cli.app.registered_commands if command.callback]
    for name, group in groups.items():
        assert name
        named += [name]
        named += [f"{name} {c.name or c.callback.__name__}" for c in group.registered_commands if c.callback]
    assert sorted(named) == sorted(COMMANDS)


def test_the_list_of_commands_has_no_line_broken_by_hand() -> None:
    """Its first paragraph is what a command says of itself there, and the list keeps the line ends of that."""
    apps = [cli.app, *(group.typer_instance for group in cli.app.registered_groups)]
    texts = [cleandoc(c.callback.__doc__ or "") for app in apps if app for c in app.registered_commands if c.callback]
    assert [text for text in texts if "\n" in text.split("\n\n")[0]] == []


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_explains_itself(surefoot: Callable[..., Any], command: str) -> None:
    """`--help` says what it does, and nothing on standard error."""
    done = surefoot(*command.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert "Usage: " in done.out


def test_the_version_is_that_of_the_package(surefoot: Callable[..., Any]) -> None:
    """One line."""
    assert surefoot("--version").out == f"surefoot {__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ask", "Who?", "--index", "none.db"], "none.db"),
        (["ask", "Who?", "--set", "umpire.use=x"], "no section called 'umpire'"),
        (["ask", "Who?", "--set", "nonsense"], "write section.key=value"),
        (["ask", "Who?", "--config", "none.toml"], "none.toml"),
        (["index", "no-such-folder"], "no-such-folder"),
        (["trace", "none.json"], "none.json"),
        (["replay", "surefoot.toml"], "is not JSON"),
        (["models", "verify", "gpt"], "no model called 'gpt'"),
        (["bench", "qa", "none.jsonl"], "none.jsonl"),
    ],
)
def test_a_mistake_of_the_users_is_one_line_and_exit_code_2(
    surefoot: Callable[..., Any], words: list[str], said: str
) -> None:
    """On standard error, without a traceback; nothing on standard output."""
    done = surefoot(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("surefoot: ")
    assert done.err.count("\n") == 1
    assert said in done.err


@pytest.mark.parametrize(
    "words", [["frobnicate"], ["ask"], ["ask", "Who?", "--nope"], ["bench", "qa", "x", "--threads", "y"]]
)
def test_words_that_are_no_command_are_exit_code_2(surefoot: Callable[..., Any], words: list[str]) -> None:
    """With the usage, on standard error."""
    done = surefoot(*words)
    assert (done.code, done.out) == (2, "")
    assert "Usage: " in done.err


def test_a_file_that_cannot_be_written_is_one_line(indexed: Callable[..., Any], here: Path) -> None:
    """The machine's own complaint, with the file's name and without a traceback."""
    (here / "taken").write_text("a file, not a folder")
    done = indexed("ask", "Who built the Ruvel Bridge?", "--trace", "taken/trace.json")
    assert done.code == 3
    assert done.err.startswith("surefoot: ")
    assert "taken" in done.err
    assert done.err.count("\n") == 1


def test_an_interruption_is_exit_code_130(surefoot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """As shells expect it of Ctrl-C, without a traceback."""

    def interrupted() -> None:
        raise KeyboardInterrupt

    app = typer.Typer()
    app.command()(interrupted)
    monkeypatch.setattr(cli, "app", app)
    assert surefoot().code == 130


@pytest.mark.parametrize("words", [["components"], ["models", "list"], ["ask", "Who built the Ruvel Bridge?"]])
def test_nothing_is_coloured_when_piped(indexed: Callable[..., Any], words: list[str]) -> None:
    """No escape sequence reaches a file."""
    done = indexed(*words)
    assert done.out
    assert "\x1b" not in done.out + done.err


def test_a_terminal_without_the_signs_still_gets_the_lines(here: Path) -> None:
    """A question mark instead of a traceback."""
    done = subprocess.run(
        [sys.executable, "-c", "from surefoot.cli import main; main()", "models", "list"],
        env=os.environ | {"PYTHONIOENCODING": "ascii", "SUREFOOT_MODELS": str(here / "mödels")},
        capture_output=True,
        check=True,
    )
    assert b"m?dels" in done.stdout


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\n two\tthree", "one two three"),
        ("a\x1b[31mb", "a\ufffd[31mb"),
        ("a\x9b31mb\x07", "a\ufffd31mb\ufffd"),
        ("a\u202eb", "a\ufffdb"),
        ("caf\udce9.txt", "caf\ufffd.txt"),
        ("Zoë ✓ 桥 [bold]", "Zoë ✓ 桥 [bold]"),
    ],
)
def test_text_of_documents_cannot_steer_the_terminal(text: str, shown: str) -> None:
    """Escape sequences, reversed writing and bytes that are no text are shown as what they are."""
    assert plain(text) == shown
