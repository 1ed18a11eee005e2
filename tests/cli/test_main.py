"""What holds for every command: help, exit codes, one line for a mistake, and nothing that steers a terminal."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from surefoot import __version__, cli
from surefoot.cli import app
from surefoot.cli._commands import CommandGroup, Listing


def named(listing: Listing, above: str = "") -> Iterator[tuple[str, str]]:
    """Each command by its words, with where it is, and each group."""
    for name, one in listing.items():
        yield f"{above} {name}".strip(), one if isinstance(one, str) else ""
        if not isinstance(one, str):
            yield from named(one[1], f"{above} {name}".strip())


COMMANDS = dict(named(cli.COMMANDS))


def test_the_list_of_commands_says_what_a_command_says_of_itself(
    surefoot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first line of its help, read without importing it."""
    monkeypatch.setenv("TERMINAL_WIDTH", "200")
    for command in ("ask", "serve keys", "models pull", "lab qa"):
        *group, name = command.split()
        line = surefoot(*group, name, "--help").out.splitlines()[3].strip()
        assert line in surefoot(*group, "--help").out


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_the_command_line_wakes_without_importing_a_command(word: str) -> None:
    """Nor the library: what a command needs is imported when that command is called."""
    code = f"""
import sys
sys.argv = ["surefoot", "{word}"]
from surefoot.__main__ import main
try:
    main()
finally:
    print(*sorted(name for name in sys.modules if name.split(".")[0] in ("surefoot", "numpy", "httpx")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [name for name in done.stdout.splitlines()[-1].split() if not name.startswith("surefoot.types")]
    assert loaded == ["surefoot", "surefoot.__main__", "surefoot.cli", "surefoot.cli._commands"]


def test_a_command_imports_no_other() -> None:
    """Asking a question takes nothing that only researchers use."""
    code = "import sys, surefoot.cli.ask; print(*(name for name in sys.modules if name.startswith('surefoot.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    commands = {where.partition(":")[0] for where in COMMANDS.values()} - {"ask", ""}
    assert not {f"surefoot.cli.{name}" for name in commands} & {*done.stdout.split()}
    assert "surefoot_lab" not in done.stdout


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_explains_itself(surefoot: Callable[..., Any], command: str) -> None:
    """`--help` says what it does, and nothing on standard error; `-h` says the same."""
    done = surefoot(*command.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert "Usage: " in done.out
    assert surefoot(*command.split(), "-h") == done


def test_completion_knows_commands_and_options(here: Path) -> None:
    """Of a group too, and in the shell's own form."""

    def asked(words: str) -> str:
        line = [sys.executable, "-c", "import sys; sys.argv[0] = 'surefoot'; from surefoot.cli import main; main()"]
        shell = {"_SUREFOOT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
        done = subprocess.run(line, env=os.environ | shell, capture_output=True, text=True, check=False)
        return done.stdout

    assert asked("surefoot eva").split() == ["evaluate"]
    assert asked("surefoot lab man").split() == ["manuals"]
    assert asked("surefoot ask --js").split() == ["--json"]


def test_the_version_is_that_of_the_package(surefoot: Callable[..., Any]) -> None:
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
        (["trace", "surefoot.toml", "--replay"], "is not JSON"),
        (["models", "pull", "gpt"], "no model called 'gpt'"),
        (["lab", "qa", "none.jsonl"], "none.jsonl"),
        (["index", "library", "--set", "index.path=3"], "must be the name of a file, not 3"),
        (["index", "library", "--set", "index.path='/'"], "/ is a folder, and an index is a file"),
        (["compare", "library", "library"], "library is no folder of an evaluation"),
        (["gate", "library", "--min", "m>=0"], "library is no folder of an evaluation"),
        (["view", "library"], "records.jsonl"),
        (["mcp", "--directory", "nowhere"], "nowhere is no folder to work in"),
        (["recipe", "agentik"], "did you mean 'agentic'?"),
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


def test_each_fault_of_a_configuration_is_a_line(surefoot: Callable[..., Any]) -> None:
    """All at once, with what was meant; as JSON, a message each."""
    words = ("ask", "Who?", "--set", "evaluator.use=lexicla", "--set", "pipelin.k=3")
    done = surefoot(*words)
    assert (done.code, done.out) == (2, "")
    section, component = done.err.splitlines()
    assert section.startswith("surefoot: no section called 'pipelin'; there are: ")
    assert component.endswith("did you mean 'lexical'?")
    assert len(json.loads(surefoot(*words, "--json").out)["messages"]) == 2


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        (["ask", "Who?", "--json", "--index", "none.db"], "IndexFault", "none.db"),
        (["ask", "--json"], "UsageError", "Missing argument"),
        (["agree", "none", "none", "--json"], "UsageError", "none"),
        (["gate", "none", "--json", "--minn", "x"], "UsageError", "No such option: --minn"),
    ],
)
def test_an_error_is_json_where_the_result_would_be(
    surefoot: Callable[..., Any], words: list[str], kind: str, said: str
) -> None:
    """One line on standard output, with the exit code that it has without --json."""
    done = surefoot(*words)
    assert (done.err, done.out.count("\n")) == ("", 1)
    error = json.loads(done.out)
    assert (error["error"], error["code"]) == (kind, done.code)
    assert said in error["messages"][0]
    assert surefoot(*[word for word in words if word != "--json"]).code == done.code


@pytest.mark.parametrize(
    "words", [["frobnicate"], ["ask"], ["ask", "Who?", "--nope"], ["lab", "qa", "x", "--threads", "y"]]
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


@pytest.mark.parametrize(
    "words", [["doctor", "--components"], ["doctor", "--models"], ["ask", "Who built the Ruvel Bridge?"]]
)
def test_nothing_is_coloured_when_piped(indexed: Callable[..., Any], words: list[str]) -> None:
    """No escape sequence reaches a file."""
    done = indexed(*words)
    assert done.out
    assert "\x1b" not in done.out + done.err


def test_a_terminal_without_the_signs_still_gets_the_lines(here: Path) -> None:
    """A question mark instead of a traceback."""
    done = subprocess.run(
        [sys.executable, "-c", "from surefoot.cli import main; main()", "doctor", "--models"],
        env=os.environ | {"PYTHONIOENCODING": "ascii", "SUREFOOT_MODELS": str(here / "mödels")},
        capture_output=True,
        check=True,
    )
    assert b"m?dels" in done.stdout


def test_the_product_has_few_commands_and_options() -> None:
    """At most 24 commands, those of groups counted, and 132 options; before one more, a default may do."""

    def called(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
        for name, command in group.commands.items():
            if isinstance(command, CommandGroup):
                yield from called(command, f"{path}{name} ")
            else:
                yield f"{path}{name}", command.imported()

    group: Any = get_command(app)
    commands = {name: command for name, command in called(group) if not name.startswith("lab ")}
    options = [one for command in commands.values() for one in command.params if one.param_type_name == "option"]
    assert len(commands) <= 24
    assert len(options) <= 132
