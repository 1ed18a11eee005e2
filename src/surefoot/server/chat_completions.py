"""`/v1/chat/completions` and `/v1/models`: Surefoot as a model of any chat client.

A model is a collection: "surefoot-NAME", or "surefoot-NAME+sources" with the sources as Markdown behind the answer.
Only checked text is streamed: nothing that is shown is ever taken back.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from time import time
from typing import Any
from uuid import uuid4

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from surefoot.server.messages import SOURCES, Content, last_question, model_collection, model_names, pieces, texts
from surefoot.server.problems import problem_of
from surefoot.server.questions import QuestionRequest, ask
from surefoot.server.replies import EVENTS, awaited, stream
from surefoot.server.request_bodies import CompatibleBody, JsonRoute
from surefoot.server.service import RequestCaller
from surefoot.server.sources import footer, locations, url_citations
from surefoot.server.workers import Ticket
from surefoot.text.questions import checked
from surefoot.types import Trace

router = APIRouter(route_class=JsonRoute, prefix="/v1")


class ChatMessage(CompatibleBody):
    """A message of a conversation; those of system and tools are ignored."""

    role: str
    content: Content = None


class StreamOptions(CompatibleBody):
    """Additions to a stream."""

    include_usage: bool | None = None


class ChatBody(CompatibleBody):
    """A chat completion, as OpenAI's clients ask for it; its other fields are ignored."""

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
        """The first piece, which names the role."""
        return self._chunk({"role": "assistant", "content": ""})

    def chunks(self, usage: bool) -> Iterator[dict[str, Any]]:
        """In pieces; `usage`: the last one has the tokens."""
        for piece in pieces(self.text):
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


@router.post("/chat/completions", responses=EVENTS)
async def post_chat(body: ChatBody, request: Request, caller: RequestCaller) -> Response:
    """Answer the last user message of a conversation."""
    collection = model_collection(caller, body.model)
    question, history = last_question(texts((one.role, one.content) for one in body.messages))
    question_request = QuestionRequest(collection, checked(question), history)
    base = str(request.base_url).rstrip("/")
    opening = ChatReply(f"chatcmpl-{uuid4().hex[:12]}", body.model, int(time()), "", [], {})

    def replied(trace: Trace) -> ChatReply:
        cited = locations(trace, collection, base)
        text = trace.answer.text if trace.answer else ""
        text += footer(cited) if body.model.endswith(SOURCES) else ""
        return replace(opening, text=text, annotations=url_citations(cited), usage=_usage(trace))

    ticket = ask(caller.service, question_request)
    if not body.stream:
        return JSONResponse(replied(await awaited(request, ticket)).whole())
    return stream(_streamed(ticket, replied, body, opening))


async def _streamed(
    ticket: Ticket[Trace], replied: Callable[[Trace], ChatReply], body: ChatBody, opening: ChatReply
) -> AsyncIterator[str]:
    """The role at once, so that the client sees that it is heard; the text when it is checked."""
    try:
        yield json.dumps(opening.opening())
        reply = replied(await ticket.result())
    except Exception as error:  # noqa: BLE001 - the status is sent already; the client reads the error from the stream
        yield json.dumps(problem_of(error).as_json())
        return
    finally:
        ticket.cancel()
    for chunk in reply.chunks(bool(body.stream_options and body.stream_options.include_usage)):
        yield json.dumps(chunk)
    yield "[DONE]"


def _usage(trace: Trace) -> dict[str, int]:
    input_tokens, output_tokens = trace_tokens(trace)
    total = input_tokens + output_tokens
    return {"prompt_tokens": input_tokens, "completion_tokens": output_tokens, "total_tokens": total}


def trace_tokens(trace: Trace) -> tuple[int, int]:
    """The input and output tokens of the language model; 0 where none was asked."""
    output_tokens = sum(step.completion_tokens or 0 for step in trace.steps)
    return sum(step.tokens for step in trace.steps) - output_tokens, output_tokens


@router.get("/models")
def get_models(caller: RequestCaller) -> dict[str, Any]:
    """List the models: each collection that this key sees, with and without the list of sources."""
    return {"object": "list", "data": [_described(name) for name in model_names(caller)]}


@router.get("/models/{name}")
def get_model(name: str, caller: RequestCaller) -> dict[str, Any]:
    """Describe one model."""
    model_collection(caller, name)
    return _described(name)


def _described(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "surefoot"}
