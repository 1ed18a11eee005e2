"""`/v1/chat/completions` and `/v1/models`: Surefoot as a model of any chat client.

A model is a collection: "surefoot-NAME", or "surefoot-NAME+sources" with the sources as Markdown behind the answer.
Only checked text is streamed: nothing that is shown is ever taken back.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from time import time
from typing import Any
from uuid import uuid4

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from surefoot.server.messages import (
    SOURCES,
    Content,
    footer,
    last_question,
    locations,
    model_collection,
    model_names,
    pieces,
    texts,
    trace_tokens,
    url_citations,
)
from surefoot.server.problems import problem_of
from surefoot.server.questions import QuestionRequest, ask
from surefoot.server.replies import EVENTS, awaited, stream
from surefoot.server.request_bodies import CompatibleBody, JsonRoute
from surefoot.server.service import RequestCaller
from surefoot.server.workers import Ticket
from surefoot.text.questions import checked
from surefoot.types import Trace

Fields = dict[str, Any]

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


@router.post("/chat/completions", responses=EVENTS)
async def post_chat(body: ChatBody, request: Request, caller: RequestCaller) -> Response:
    """Answer the last user message of a conversation."""
    collection = model_collection(caller, body.model)
    question, history = last_question(texts((one.role, one.content) for one in body.messages))
    ticket = ask(caller.service, QuestionRequest(collection, checked(question), history))
    base = str(request.base_url).rstrip("/")
    head = {"id": f"chatcmpl-{uuid4().hex[:12]}", "created": int(time()), "model": body.model}

    def message(trace: Trace) -> Fields:
        cited = locations(trace, collection, base)
        text = trace.answer.text if trace.answer else ""
        text += footer(cited) if body.model.endswith(SOURCES) else ""
        return {"role": "assistant", "content": text, "refusal": None, "annotations": url_citations(cited)}

    if body.stream:
        usage = bool(body.stream_options and body.stream_options.include_usage)
        return stream(_streamed(ticket, message, {**head, "object": "chat.completion.chunk"}, usage))
    trace = await awaited(request, ticket)
    choice = {"index": 0, "message": message(trace), "logprobs": None, "finish_reason": "stop"}
    return JSONResponse({**head, "object": "chat.completion", "choices": [choice], "usage": _usage(trace)})


async def _streamed(
    ticket: Ticket[Trace], message: Callable[[Trace], Fields], head: Fields, usage: bool
) -> AsyncIterator[str]:
    """The role at once, so that the client sees that it is heard; the text when it is checked."""

    def chunk(delta: Fields, finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return json.dumps({**head, "choices": [choice]})

    try:
        yield chunk({"role": "assistant", "content": ""})
        trace = await ticket.result()
        whole = message(trace)
    except Exception as error:  # noqa: BLE001 - the status is sent already; the client reads the error from the stream
        yield json.dumps(problem_of(error).as_json())
        return
    finally:
        ticket.cancel()
    for piece in pieces(whole["content"]):
        yield chunk({"content": piece})
    if whole["annotations"]:
        yield chunk({"annotations": whole["annotations"]})
    yield chunk({}, "stop")
    if usage:
        yield json.dumps({**head, "choices": [], "usage": _usage(trace)})
    yield "[DONE]"


def _usage(trace: Trace) -> Fields:
    input_tokens, output_tokens = trace_tokens(trace)
    total = input_tokens + output_tokens
    return {"prompt_tokens": input_tokens, "completion_tokens": output_tokens, "total_tokens": total}


@router.get("/models")
def get_models(caller: RequestCaller) -> Fields:
    """List the models: each collection that this key sees, with and without the list of sources."""
    return {"object": "list", "data": [_described(name) for name in model_names(caller)]}


@router.get("/models/{name}")
def get_model(name: str, caller: RequestCaller) -> Fields:
    """Describe one model."""
    model_collection(caller, name)
    return _described(name)


def _described(name: str) -> Fields:
    return {"id": name, "object": "model", "created": 0, "owned_by": "surefoot"}
