"""The parts of OpenAI's shapes that chat completions and responses share: models, messages, pieces of text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from surefoot.server.ask_routes import MOST_TURNS
from surefoot.server.conversations import Turn
from surefoot.server.problems import Problem, invalid
from surefoot.server.request_bodies import CompatibleBody
from surefoot.server.service import Caller
from surefoot.types import Trace

PREFIX = "surefoot-"
SOURCES = "+sources"
_PIECE = re.compile(r"(?:\S+\s*){1,6}|\s+")
"""Words that are streamed together."""


class ContentPart(CompatibleBody):
    """A part of a message."""

    type: str
    text: str | None = None


Content = str | tuple[ContentPart, ...] | None


def pieces(text: str) -> list[str]:
    """The text as it is streamed."""
    return _PIECE.findall(text)


def texts(messages: Iterable[tuple[str, Content]]) -> list[tuple[str, str]]:
    """The role and the text of each message. Raises Problem where the last one of the user has a part that is no text:
    a picture that nobody looks at must not seem to be answered. Earlier messages were refused for theirs already."""
    every = [*messages]
    last = next((content for role, content in reversed(every) if role == "user"), None)
    parts = () if last is None or isinstance(last, str) else last
    if other := next((part.type for part in parts if part.text is None), None):
        raise invalid(f"this model reads text alone, and a message has a part of the type {other[:40]!r}; leave it out")
    return [(role, _text(content)) for role, content in every]


def _text(content: Content) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text for part in content if part.text is not None)


def last_question(messages: Sequence[tuple[str, str]]) -> tuple[str, tuple[Turn, ...]]:
    """The last user message, and the ones before it with their answers. Raises Problem where there is none."""
    turns: list[Turn] = []
    for role, text in messages:
        if role == "user":
            turns.append(Turn(text))
        elif role == "assistant" and turns:
            turns[-1] = Turn(turns[-1].question, text)
    if not turns or not turns[-1].question.strip():
        raise Problem(400, "no_question", "there is no user message with text to answer; send one")
    return turns[-1].question, tuple(turns[:-1][-MOST_TURNS:])


def model_collection(caller: Caller, name: str) -> str:
    """The collection that a model's name means. Raises Problem for one that is not there, or is somebody else's."""
    collection = name.removeprefix(PREFIX).removesuffix(SOURCES)
    try:
        if name.startswith(PREFIX) and collection:
            return caller.collection(collection)
    except Problem:
        pass
    raise Problem(404, "model_not_found", "there is no such model, or not for this key; GET /v1/models lists them")


def model_names(caller: Caller) -> Iterator[str]:
    """The models of each visible collection."""
    for collection in caller.visible():
        yield from (f"{PREFIX}{collection}", f"{PREFIX}{collection}{SOURCES}")


def trace_tokens(trace: Trace) -> tuple[int, int]:
    """The input and output tokens of the language model; 0 where none was asked."""
    output_tokens = sum(step.completion_tokens or 0 for step in trace.steps)
    return sum(step.tokens for step in trace.steps) - output_tokens, output_tokens
