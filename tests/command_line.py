"""The command line as a user meets it: words in; exit code, standard output and standard error out."""

import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console, RenderableType

from surefoot.cli import main
from surefoot.types import Completion


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Surefoot = Callable[..., Done]


def drawn(what: RenderableType, width: int = 100, terminal: bool = False) -> str:
    """What a console of this width shows."""
    console = Console(file=StringIO(), width=width, force_terminal=terminal, markup=False, emoji=False, highlight=False)
    console.print(what)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())


CONFIG = """
embedder = "hashing"
evaluator = "lexical"
generator = "llm"

[llm]
use = "scripted"

[llm.replies]
"Ruvel Bridge" = "Tomas Aldwin built it [1]."
"Hohrin Hut" = "Napoleon did."
"""


class Interrupted:
    """A language model during whose first answer the user presses Ctrl-C."""

    name = "interrupted"

    def __init__(self) -> None:
        self._begun = False

    def complete(
        self, messages: object, schema: object = None, max_tokens: int = 0, stop: object = (), on_text: object = None
    ) -> Completion:
        """Interrupted the first time."""
        if not self._begun:
            self._begun = True
            raise KeyboardInterrupt
        return Completion("Tomas Aldwin built it [1].", self.name)


INTERRUPTED = ("--set", "llm.use=command_line:Interrupted")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a small library and a configuration that needs no model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUREFOOT_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("SUREFOOT_OFFLINE", "1")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "surefoot.toml").write_text(CONFIG)
    library = tmp_path / "library"
    library.mkdir()
    (library / "bridge.md").write_text("# Ruvel Bridge\n\nThe Ruvel Bridge was built in 1911 by Tomas Aldwin.\n")
    (library / "hut.md").write_text("# Hohrin Hut\n\nThe Hohrin Hut was built by the miners.\n")
    return tmp_path


@pytest.fixture
def surefoot(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Surefoot:
    """Run `surefoot` with these words, and `typed` on its standard input, in this process and in that directory."""

    def run(*words: str | Path, typed: str | None = None) -> Done:
        if typed is not None:
            monkeypatch.setattr(sys, "stdin", StringIO(typed))
        code: object = 0
        try:
            main([*map(str, words)])
        except SystemExit as leaving:
            code = leaving.code
        out, err = capsys.readouterr()
        return Done(code if isinstance(code, int) else 0, out, err)

    return run


@pytest.fixture
def indexed(surefoot: Surefoot) -> Surefoot:
    """`surefoot`, after the library has been indexed."""
    assert surefoot("index", "library").code == 0
    return surefoot
