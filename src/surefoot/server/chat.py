"""`/v1/chat/completions` and `/v1/models`: Surefoot as a model of any chat client.

A model is a collection: "surefoot-NAME", or "surefoot-NAME+sources" with the sources as Markdown behind the answer.
Only checked text is streamed: nothing that is shown is ever taken back.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import time
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from surefoot.pipeline import checked
from surefoot.server.asking import Inquiry, ask, ask_aloud
from surefoot.server.bodies import body
from surefoot.server.chores import done, unwrapped
from surefoot.server.conversations import Turn
from surefoot.server.problems import Problem, invalid, problem_of
from surefoot.server.questions import MOST_TURNS, awaited, stream
from surefoot.server.service import service, visible
from surefoot.server.sources import footer, places, url_citations
from surefoot.types import Trace

PREFIX = "surefoot-"
SOURCES = "+sources"
_PIECE = re.compile(r"(?:\S+\s*){1,6}|\s+")
"""Words that are streamed together."""


@dataclass(frozen=True, slots=True)
class ContentPart:
    """A part of a message."""

    type: str
    text: str | None = None


Content = str | tuple[ContentPart, ...] | None


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message of a conversation; those of system and tools are passed over."""

    role: str
    content: Content = None


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """What a stream tells beside the text."""

    include_usage: bool | None = None


@dataclass(frozen=True, slots=True)
class ChatBody:
    """A chat completion, as OpenAI's clients ask for it; its other fields are passed over."""

    model: str
    messages: tuple[ChatMessage, ...]
    stream: bool | None = None
    stream_options: StreamOptions | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A whole reply."""

    id: str
    model: str
    created: int
    text: str
    annotations: list[dict[str, Any]]
    usage: dict[str, Any]

    def whole(self) -> dict[str, Any]:
        """As one object."""
        message = {"role": "assistant", "content": self.text, "refusal": None, "annotations": self.annotations}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self.usage}

    def opening(self) -> dict[str, Any]:
        """The first piece, which says whose words follow."""
        return self._chunk({"role": "assistant", "content": ""})

    def chunks(self, usage: bool) -> Iterator[dict[str, Any]]:
        """In pieces; `usage`: the last one tells the tokens."""
        for piece in _PIECE.findall(self.text):
            yield self._chunk({"content": piece})
        if self.annotations:
            yield self._chunk({"annotations": self.annotations})
        yield self._chunk({}, "stop")
        if usage:
            yield {**self._head("chat.completion.chunk"), "choices": [], "usage": self.usage}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


async def post_chat(request: Request) -> Response:
    """Answer the last user message of a conversation."""
    asked = await body(request, ChatBody, service(request).settings.body_bytes, others=True)
    collection, with_sources = model(request, asked.model)
    said = spoken((message.role, message.content) for message in asked.messages)
    if (reply := done(said)) is not None:
        return _at_once(ChatReply("chatcmpl-chore", asked.model, int(time()), reply, [], tokens(None)), asked)
    question, history = last_question(said)
    inquiry = Inquiry(collection, checked(unwrapped(question)), history)
    base = str(request.base_url).rstrip("/")

    def replied(trace: Trace) -> ChatReply:
        cited = places(trace, collection, base)
        words = (trace.answer.text if trace.answer else "") + (footer(cited) if with_sources else "")
        return ChatReply(f"chatcmpl-{trace.id}", asked.model, int(time()), words, url_citations(cited), tokens(trace))

    if not asked.stream:
        return JSONResponse(replied(await awaited(request, ask(service(request), inquiry))).whole())
    return stream(_streamed(*ask_aloud(service(request), inquiry), replied, asked))


def _at_once(reply: ChatReply, asked: ChatBody) -> Response:
    if not asked.stream:
        return JSONResponse(reply.whole())

    async def pieces() -> AsyncIterator[str]:
        for chunk in reply.chunks(_usage_wanted(asked)):
            yield json.dumps(chunk)
        yield "[DONE]"

    return stream(pieces())


async def _streamed(
    result: asyncio.Task[Trace], begun: asyncio.Future[str], replied: Callable[[Trace], ChatReply], asked: ChatBody
) -> AsyncIterator[str]:
    """The role at once, so that the client sees that it is heard; the text when it is checked."""
    try:
        first = ChatReply(f"chatcmpl-{await begun}", asked.model, int(time()), "", [], {})
        yield json.dumps(first.opening())
        reply = replied(await result)
    except Exception as error:  # noqa: BLE001 - the status is sent already; the client reads the error from the stream
        yield json.dumps(problem_of(error).as_json())
        return
    finally:
        result.cancel()
    for chunk in reply.chunks(_usage_wanted(asked)):
        yield json.dumps(chunk)
    yield "[DONE]"


def _usage_wanted(asked: ChatBody) -> bool:
    return bool(asked.stream_options and asked.stream_options.include_usage)


def spoken(messages: Iterable[tuple[str, Content]]) -> list[tuple[str, str]]:
    """The words of each message, with whose they are. Raises Problem where the last one of the user has a part that is
    no text: a picture that nobody looks at must not seem to be answered. Those of earlier messages were told so."""
    every = [*messages]
    last = next((content for role, content in reversed(every) if role == "user"), None)
    parts = () if last is None or isinstance(last, str) else last
    if other := next((part.type for part in parts if part.text is None), None):
        raise invalid(f"this model reads text alone, and a message has a part of the type {other[:40]!r}; leave it out")
    return [(role, _words(content)) for role, content in every]


def _words(content: Content) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text for part in content if part.text is not None)


def last_question(said: Sequence[tuple[str, str]]) -> tuple[str, tuple[Turn, ...]]:
    """The last user message, and the ones before it with what was answered. Raises Problem where there is none."""
    turns: list[Turn] = []
    for role, words in said:
        if role == "user":
            turns.append(Turn(words))
        elif role == "assistant" and turns:
            turns[-1] = Turn(turns[-1].question, words)
    if not turns or not turns[-1].question.strip():
        raise Problem(400, "no_question", "there is no user message with text to answer; send one")
    return turns[-1].question, tuple(turns[:-1][-MOST_TURNS:])


def model(request: Request, name: str) -> tuple[str, bool]:
    """The collection that a model's name means, and whether the sources are wanted behind the answer. Raises Problem
    for one that is not there, or is somebody else's."""
    collection = name.removeprefix(PREFIX).removesuffix(SOURCES)
    if not name.startswith(PREFIX) or collection not in visible(request):
        raise Problem(404, "model_not_found", "there is no such model, or not for this key; GET /v1/models lists them")
    return collection, name.endswith(SOURCES)


def tokens(trace: Trace | None) -> dict[str, Any]:
    """The tokens of the language model; 0 where none was asked."""
    every = sum(step.tokens for step in trace.steps) if trace else 0
    said = sum(step.completion_tokens or 0 for step in trace.steps) if trace else 0
    return {"prompt_tokens": every - said, "completion_tokens": said, "total_tokens": every}


async def get_models(request: Request) -> Response:
    """The models: each collection that this key sees, with and without the list of sources."""
    return JSONResponse({"object": "list", "data": [_described(name) for name in _names(request)]})


async def get_model(request: Request) -> Response:
    """One model."""
    name = request.path_params["name"]
    model(request, name)
    return JSONResponse(_described(name))


def _names(request: Request) -> Iterator[str]:
    for collection in visible(request):
        yield from (f"{PREFIX}{collection}", f"{PREFIX}{collection}{SOURCES}")


def _described(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "surefoot"}


ROUTES = [
    Route("/v1/chat/completions", post_chat, methods=["POST"]),
    Route("/v1/models", get_models, methods=["GET"]),
    Route("/v1/models/{name}", get_model, methods=["GET"]),
]
