"""`/v1/responses`: the same answers in the shape that keeps citations, with the passages as the results of a search."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from time import time
from typing import Any

from sse_starlette import ServerSentEvent
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from surefoot.pipeline import checked
from surefoot.server.asking import Inquiry, ask, ask_aloud
from surefoot.server.bodies import body
from surefoot.server.chat import _PIECE, PREFIX, SOURCES, Content, last_question, model, spoken, tokens
from surefoot.server.conversations import Turn
from surefoot.server.problems import invalid, missing, problem_of
from surefoot.server.questions import awaited, found, stream
from surefoot.server.service import service, visible
from surefoot.server.sources import file_citations, footer, places
from surefoot.types import Trace

RESULTS = "file_search_call.results"
"""What a client includes to get the passages too."""
_ID = re.compile(r"resp_([0-9a-f]{12})(s?)")
"""Of a response: the id of its trace, and whether the sources stand behind the answer."""


@dataclass(frozen=True, slots=True)
class InputItem:
    """A message of the input, or another item of an earlier output, which is passed over."""

    role: str | None = None
    content: Content = None


@dataclass(frozen=True, slots=True)
class ResponsesBody:
    """A response, as OpenAI's clients ask for it; its other fields are passed over."""

    model: str
    input: str | tuple[InputItem, ...]
    stream: bool | None = None
    include: tuple[str, ...] | None = None
    previous_response_id: str | None = None
    store: bool | None = None
    """False: it is not kept, and nothing can go on from it."""


async def post_response(request: Request) -> Response:
    """Answer the input's last user message."""
    asked = await body(request, ResponsesBody, service(request).settings.body_bytes, others=True)
    collection, _ = model(request, asked.model)
    said = [("user", asked.input)] if isinstance(asked.input, str) else _said(asked.input)
    question, history = last_question(said)
    earlier = await _earlier(request, asked.previous_response_id)
    inquiry = Inquiry(collection, checked(question), (*earlier, *history), keep=asked.store is not False)

    def replied(trace: Trace) -> dict[str, Any]:
        return _response(trace, asked, collection, _base(request))

    if not asked.stream:
        return JSONResponse(replied(await awaited(request, ask(service(request), inquiry))))
    return stream(_streamed(*ask_aloud(service(request), inquiry), replied, asked))


def _said(items: tuple[InputItem, ...]) -> list[tuple[str, str]]:
    return spoken((item.role, item.content) for item in items if item.role)


async def get_response(request: Request) -> Response:
    """A kept response, as it was given; which one it went on from is not kept."""
    query = request.query_params
    if query.get("stream", "false") == "true":
        raise invalid("a kept response is given whole; leave `stream` out")
    collection, trace, with_sources = await _kept(request, request.path_params["id"])
    name = f"{PREFIX}{collection}{SOURCES if with_sources else ''}"
    include = tuple(query.getlist("include") + query.getlist("include[]"))
    return JSONResponse(_response(trace, ResponsesBody(name, "", include=include), collection, _base(request)))


async def delete_response(request: Request) -> Response:
    """Forget a kept response, with its trace."""
    id = request.path_params["id"]
    collection, trace, _ = await _kept(request, id)
    await asyncio.to_thread(service(request).traces.remove, collection, trace.id)
    return JSONResponse({"id": id, "object": "response", "deleted": True})


async def _kept(request: Request, id: str) -> tuple[str, Trace, bool]:
    """The collection and the trace of a response, and whether the sources stand behind its answer. Raises Problem."""
    if (match := _ID.fullmatch(id)) is None:
        raise missing("response")
    collection, trace = await asyncio.to_thread(found, service(request), visible(request), match[1])
    return collection, trace, bool(match[2])


async def _earlier(request: Request, id: str | None) -> tuple[Turn, ...]:
    if id is None:
        return ()
    _, trace, _ = await _kept(request, id)
    return (Turn(trace.asked, trace.answer.text if trace.answer else "", trace.id),)


def _base(request: Request) -> str:
    return str(request.base_url).rstrip("/")


def _response(trace: Trace, asked: ResponsesBody, collection: str, base: str) -> dict[str, Any]:
    cited = places(trace, collection, base)
    words = (trace.answer.text if trace.answer else "") + (footer(cited) if asked.model.endswith(SOURCES) else "")
    part = {"type": "output_text", "text": words, "annotations": file_citations(cited), "logprobs": []}
    message = {"type": "message", "id": f"msg_{trace.id}", "role": "assistant", "status": "completed"}
    output = [_search(trace, RESULTS in (asked.include or ())), {**message, "content": [part]}]
    head = _head(trace.id, asked, "completed", _seconds(trace.created))
    return {**head, "output": output, "usage": _usage(trace)}


def _seconds(created: str) -> int:
    """The time of a trace, in seconds since 1970."""
    return int(datetime.fromisoformat(created).timestamp())


def _search(trace: Trace, with_results: bool) -> dict[str, Any]:
    queries = [trace.asked, *(query for query in trace.queries if query != trace.asked)]
    results = _results(trace) if with_results else None
    call = {"type": "file_search_call", "id": f"fs_{trace.id}", "status": "completed"}
    return {**call, "queries": queries, "results": results}


def _results(trace: Trace) -> list[dict[str, Any]]:
    """Every graded passage, with the probability that it answers; None: the evaluator is not calibrated."""
    every = (*trace.passages, *trace.external)
    return [
        {
            "file_id": passage.id,
            "filename": passage.title or passage.url or passage.id,
            "score": grade.probability,
            "text": passage.text,
            "attributes": {"source": passage.source, "label": grade.label.value if grade.label else "ungraded"},
        }
        for passage, grade in zip(every, trace.grades, strict=False)
    ]


def _head(trace: str, asked: ResponsesBody, status: str, created: int) -> dict[str, Any]:
    nothing = ("error", "incomplete_details", "instructions", "temperature", "top_p", "max_output_tokens", "user")
    return {
        "id": f"resp_{trace}{'s' if asked.model.endswith(SOURCES) else ''}",
        "object": "response",
        "created_at": created,
        "status": status,
        "model": asked.model,
        "output": [],
        "previous_response_id": asked.previous_response_id,
        "metadata": {},
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "text": {"format": {"type": "text"}},
        "truncation": "disabled",
        "store": asked.store is not False,
        "usage": None,
        **dict.fromkeys(nothing),
    }


def _usage(trace: Trace) -> dict[str, Any]:
    spent = tokens(trace)
    return {
        "input_tokens": spent["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": spent["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": spent["total_tokens"],
    }


async def _streamed(
    result: asyncio.Task[Trace],
    begun: asyncio.Future[str],
    replied: Callable[[Trace], dict[str, Any]],
    asked: ResponsesBody,
) -> AsyncIterator[ServerSentEvent]:
    numbers = count()

    def event(kind: str, **fields: Any) -> ServerSentEvent:
        return ServerSentEvent(json.dumps({"type": kind, "sequence_number": next(numbers), **fields}), event=kind)

    first = _head("", asked, "in_progress", int(time()))
    try:
        first = _head(await begun, asked, "in_progress", first["created_at"])
        yield event("response.created", response=first)
        yield event("response.in_progress", response=first)
        whole = replied(await result)
    except Exception as error:  # noqa: BLE001 - the status is sent already; the client reads the error from the stream
        told = problem_of(error).as_json()["error"]
        failed = {**first, "status": "failed", "error": {"code": "server_error", "message": told["message"]}}
        yield event("response.failed", response=failed)
        return
    finally:
        result.cancel()
    for kind, fields in _happened(whole):
        yield event(kind, **fields)


def _happened(whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events that lead to a whole response."""
    search, message = whole["output"]
    at = {"output_index": 0, "item_id": search["id"]}
    begun = {**search, "status": "in_progress", "queries": [], "results": None}
    yield "response.output_item.added", {"output_index": 0, "item": begun}
    for state in ("in_progress", "searching", "completed"):
        yield f"response.file_search_call.{state}", at
    yield "response.output_item.done", {"output_index": 0, "item": search}
    yield from _written(message)
    yield "response.completed", {"response": whole}


def _written(message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    (part,), item = message["content"], {"output_index": 1}
    at = {**item, "content_index": 0, "item_id": message["id"]}
    yield "response.output_item.added", {**item, "item": {**message, "status": "in_progress", "content": []}}
    yield "response.content_part.added", {**at, "part": {**part, "text": "", "annotations": []}}
    for piece in _PIECE.findall(part["text"]):
        yield "response.output_text.delta", {**at, "delta": piece, "logprobs": []}
    for number, annotation in enumerate(part["annotations"]):
        yield "response.output_text.annotation.added", {**at, "annotation_index": number, "annotation": annotation}
    yield "response.output_text.done", {**at, "text": part["text"], "logprobs": []}
    yield "response.content_part.done", {**at, "part": part}
    yield "response.output_item.done", {**item, "item": message}


ROUTES = [
    Route("/v1/responses", post_response, methods=["POST"]),
    Route("/v1/responses/{id}", get_response, methods=["GET"]),
    Route("/v1/responses/{id}", delete_response, methods=["DELETE"]),
]
