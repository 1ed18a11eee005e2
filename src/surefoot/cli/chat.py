"""`surefoot chat`: questions one after the other, at a terminal or from standard input."""

import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib import import_module
from io import TextIOWrapper

from rich.text import Text

from surefoot.cli._answer_view import opening
from surefoot.cli._configuration import CollectionName, ConfigFile, IndexFile, ModelName, Settings, configured
from surefoot.cli._console import err, out, plain, pulling
from surefoot.cli._trace_view import Screen, Whole
from surefoot.config.builder import Builder
from surefoot.integrations.telemetry import traced
from surefoot.pipeline import Pipeline
from surefoot.run.store import write_trace
from surefoot.text.follow_up import follows
from surefoot.text.questions import LONGEST_QUESTION
from surefoot.types import Trace
from surefoot.types.errors import QuestionError

PROMPT = "? "
HELP = "/trace FILE writes the last trace, /quit ends, as Ctrl-D does"


def chat(
    index: IndexFile = None,
    collection: CollectionName = None,
    config: ConfigFile = None,
    settings: Settings = None,
    model: ModelName = None,
    passages: Whole = None,
) -> None:
    """Ask one question after the other; one that goes on from the last is completed.

    Of standard input each line is a question. Lines that begin with / are commands: /help lists them. Ctrl-C stops an
    answer.
    """
    builder = Builder(configured(config, settings, index, collection, model))
    with pulling():
        pipeline = traced(builder)
    last: Trace | None = None
    for typed in _lines():
        word, _, rest = typed.strip().partition(" ")
        if word == "/quit":
            return
        try:
            if word == "/help":
                out.say(HELP)
            elif word == "/trace" and last and rest.strip():
                write_trace(last, rest.strip())
                out.say(f"written to {rest.strip()}", "dim")
            elif word == "/trace":
                err.say("surefoot: ask something, then name a file, as in: /trace answer.json")
            elif typed.strip():
                screen = Screen(out, opens=opening(builder.opened), passages=passages)
                with pulling(), closing(screen):
                    last = _answered(pipeline, screen, typed.strip(), last)
        except QuestionError as error:
            err.say(f"surefoot: {error}")
        except OSError as error:
            err.say(f"surefoot: {error.filename or 'the machine'}: {error.strerror or error}")
        except KeyboardInterrupt:
            err.say("stopped")


def _answered(pipeline: Pipeline, screen: Screen, question: str, last: Trace | None) -> Trace | None:
    """The trace of a question that may go on from the last one, which was asked whole; it is drawn."""
    if last is None and follows(question[: LONGEST_QUESTION + 1]):
        out.print("This goes on from an earlier question, and there is none. What is it about?", style="yellow")
        return None
    history = [(last.standalone_question, last.answer.body if last.answer else "")] if last else []
    done = pipeline.run(question, on_event=screen, history=history)
    screen.finish(done)
    return done


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
