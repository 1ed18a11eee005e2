"""`surefoot chat`: questions one after the other, at a terminal or from standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

from rich.text import Text
from typer import Option

from surefoot.cli._answer_view import opening
from surefoot.cli._configuration import CollectionName, ConfigFile, IndexFile, Settings, configured
from surefoot.cli._console import err, out, plain, pulling
from surefoot.cli._trace_view import Screen
from surefoot.config.builder import Builder
from surefoot.pipeline import Pipeline
from surefoot.run.conversation import Turn
from surefoot.run.store import write_trace
from surefoot.text.follow_up import follows
from surefoot.text.questions import LONGEST_QUESTION
from surefoot.types import Trace
from surefoot.types.errors import QuestionError, UsageError

PROMPT = "? "
HELP = "/trace FILE writes the last trace, /quit ends, as Ctrl-D does"


def chat(
    index: IndexFile = None,
    collection: CollectionName = None,
    config: ConfigFile = None,
    settings: Settings = None,
    passages: Annotated[
        int | None, Option("--passages", metavar="N", min=0, help="Show the N best passages whole, not three in short.")
    ] = None,
) -> None:
    """Ask one question after the other; one that goes on from the last is completed.

    Of standard input each line is a question. Lines that begin with / are commands: /help lists them. Ctrl-C stops an
    answer.
    """
    builder = Builder(configured(config, settings, index, collection))
    with pulling():
        pipeline = builder.pipeline()
    talk = Talk(builder, pipeline, passages)
    for typed in _lines():
        if not talk.take(typed):
            return


@dataclass(slots=True)
class Talk:
    """One conversation with one index."""

    builder: Builder
    pipeline: Pipeline
    passages: int | None = None
    turns: list[Turn] = field(default_factory=list)
    """The last one: its question was asked whole, and the next can go on from nothing else."""
    last: Trace | None = field(default=None)

    def take(self, typed: str) -> bool:
        """Answer a question, or obey a command; False: the conversation is over."""
        word, _, rest = typed.strip().partition(" ")
        if word == "/quit":
            return False
        try:
            if word in _COMMANDS:
                _COMMANDS[word](self, rest.strip())
            elif typed.strip():
                self.ask(typed.strip())
        except UsageError as error:
            if not isinstance(error, QuestionError | _Misused):
                raise
            err.say(f"surefoot: {error}")
        except KeyboardInterrupt:
            err.say("stopped")
        return True

    def ask(self, question: str) -> None:
        """Answer one question on the screen."""
        if not self.turns and follows(question[: LONGEST_QUESTION + 1]):
            out.print("This goes on from an earlier question, and there is none. What is it about?", style="yellow")
            return
        with pulling(), Screen(out, opens=opening(self.builder.index), passages=self.passages) as screen:
            self.last = self.pipeline.run(question, on_event=screen, history=self.turns)
            self.turns = [(self.last.standalone_question, self.last.answer.text if self.last.answer else "")]
            screen.finish(self.last)

    def write(self, file: str) -> None:
        """Write the last trace into a file."""
        if not file or self.last is None:
            raise _Misused("ask something, then name a file, as in: /trace answer.json")
        try:
            write_trace(self.last, file)
        except OSError as error:
            raise _Misused(f"{file} cannot be written: {error.strerror}") from error
        out.say(f"written to {file}", "dim")

    def help(self, _: str) -> None:
        """Print the commands."""
        out.say(HELP)


class _Misused(UsageError):
    """A command of the conversation that makes no sense."""


_COMMANDS: dict[str, Any] = {"/trace": Talk.write, "/help": Talk.help}


def _lines() -> Iterator[str]:
    """The user's lines."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if not sys.stdin.isatty():
        for typed in sys.stdin:
            if typed.strip():
                out.print(Text(f"{PROMPT}{plain(typed)}", style="bold"), soft_wrap=True)
            yield typed
        return
    with suppress(ImportError):  # Windows has none; elsewhere it lets lines be edited and recalled
        import_module("readline")
    out.say(HELP, "dim")
    while True:
        try:
            yield input(PROMPT)
        except KeyboardInterrupt:
            out.print()
        except EOFError:
            out.print()
            return
