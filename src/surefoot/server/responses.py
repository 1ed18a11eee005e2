"""`/v1/responses`: the same answers in the shape that keeps citations, with the passages as the results of a search."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from functools import partial
from time import time

from fastapi import APIRouter, Request
from sse_starlette import ServerSentEvent
from starlette.responses import JSONResponse, Response

from surefoot.server.chat_completions import (
    ChatMessage,
    ChatReply,
    Fields,
    SourceLocation,
    addressed,
    completion,
    last_question,
    pieces,
)
from surefoot.server.history import Turn
from surefoot.server.http import EVENTS, CompatibleBody, JsonRoute, awaited, stream
from surefoot.server.problems import problem_of
from surefoot.server.questions import QuestionRequest, ask
from surefoot.server.service import RequestCaller
from surefoot.server.workers import Ticket
from surefoot.text.questions import checked
from surefoot.types import Trace

router = APIRouter(route_class=JsonRoute, prefix="/v1/responses")
RESULTS = "file_search_call.results"
"""A client includes it to get the passages too."""
_UNUSED = ("error", "incomplete_details", "instructions", "temperature", "top_p", "max_output_tokens", "user")


class ResponsesBody(CompatibleBody):
    """A response, as OpenAI's clients ask for it; its other fields are ignored."""

    model: str
    input: str | tuple[ChatMessage, ...]
    stream: bool | None = None
    include: tuple[str, ...] | None = None
    previous_response_id: str | None = None
    store: bool | None = None
    """False: it is not stored, and nothing can go on from it."""


@router.post("", responses=EVENTS)
async def post_response(body: ResponsesBody, request: Request, caller: RequestCaller) -> Response:
    """Answer the input's last user message."""
    collection, model = addressed(caller, body.model)
    items = (ChatMessage(role="user", content=body.input),) if isinstance(body.input, str) else body.input
    question, history = last_question(items)
    if body.previous_response_id is not None:
        _, trace = await asyncio.to_thread(caller.trace, body.previous_response_id.removeprefix("resp_"))
        history = (Turn(trace.standalone_question, trace.answer.body if trace.answer else "", trace.id), *history)
    stored = body.store is not False
    question_request = QuestionRequest(collection, checked(question), history, model=model, store=stored)
    replied = partial(_response, body=body, collection=collection, request=request)
    ticket = ask(caller.service, question_request)
    if not body.stream:
        return JSONResponse(replied(await awaited(request, ticket)))
    return stream(_streamed(ticket, replied, body))


def _response(trace: Trace, body: ResponsesBody, collection: str, request: Request) -> Fields:
    found = completion(trace, body.model, collection, request)
    annotations = [_annotation(one) for one in found.sources]
    part = {"type": "output_text", "text": found.text, "annotations": annotations, "logprobs": []}
    message = {"type": "message", "id": f"msg_{trace.id}", "role": "assistant", "status": "completed"}
    output = [_search(trace, RESULTS in (body.include or ())), {**message, "content": [part]}]
    created = int(datetime.fromisoformat(trace.created).timestamp())
    return {**_head(trace.id, body, "completed", created), "output": output, "usage": _usage(found)}


def _annotation(one: SourceLocation) -> Fields:
    """A citation of a file for a passage of the collection, else of an address."""
    if "passage=" in one.url and one.citation.url != one.url:
        return {"type": "file_citation", "file_id": one.passage, "filename": one.title, "index": one.start}
    return {"type": "url_citation", **one.as_json()}


def _search(trace: Trace, with_results: bool) -> Fields:
    """The queries, and every graded passage with the probability that it answers; None: of no calibrated evaluator."""
    results = [
        {
            "file_id": passage.id,
            "filename": passage.title or passage.url or passage.id,
            "score": grade.probability,
            "text": passage.text,
            "attributes": {"source": passage.source, "label": grade.label.value if grade.label else "ungraded"},
        }
        for passage, grade in zip((*trace.passages, *trace.external), trace.grades, strict=False)
    ]
    call = {"type": "file_search_call", "id": f"fs_{trace.id}", "status": "completed"}
    queries = [*dict.fromkeys((trace.standalone_question, *trace.queries))]
    return {**call, "queries": queries, "results": results if with_results else None}


def _head(trace: str, body: ResponsesBody, status: str, created: int) -> Fields:
    return {
        "id": f"resp_{trace}",
        "object": "response",
        "created_at": created,
        "status": status,
        "model": body.model,
        "output": [],
        "previous_response_id": body.previous_response_id,
        "metadata": {},
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "text": {"format": {"type": "text"}},
        "truncation": "disabled",
        "store": body.store is not False,
        "usage": None,
        **dict.fromkeys(_UNUSED),
    }


def _usage(found: ChatReply) -> Fields:
    return {
        "input_tokens": found.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": found.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": found.input_tokens + found.output_tokens,
    }


async def _streamed(
    ticket: Ticket[Trace], replied: Callable[[Trace], Fields], body: ResponsesBody
) -> AsyncIterator[ServerSentEvent]:
    """Every event once the answer is checked: a response is named after its trace, which has no name before."""
    try:
        events = _events(replied(await ticket.result()))
    except Exception as error:  # noqa: BLE001 - the status is sent already; the client reads the error from the stream
        failure = {"code": "server_error", "message": problem_of(error).detail}
        failed = {**_head("", body, "failed", int(time())), "error": failure}
        events = iter([("response.failed", {"response": failed})])
    for number, (kind, fields) in enumerate(events):
        yield ServerSentEvent(json.dumps({"type": kind, "sequence_number": number, **fields}), event=kind)


def _events(whole: Fields) -> Iterator[tuple[str, Fields]]:
    """The events that lead to a whole response."""
    search, message = whole["output"]
    first = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"response": first}
    yield "response.in_progress", {"response": first}
    at = {"output_index": 0, "item_id": search["id"]}
    begun = {**search, "status": "in_progress", "queries": [], "results": None}
    yield "response.output_item.added", {"output_index": 0, "item": begun}
    for state in ("in_progress", "searching", "completed"):
        yield f"response.file_search_call.{state}", at
    yield "response.output_item.done", {"output_index": 0, "item": search}
    yield from _message_events(message)
    yield "response.completed", {"response": whole}


def _message_events(message: Fields) -> Iterator[tuple[str, Fields]]:
    (part,), item = message["content"], {"output_index": 1}
    at = {**item, "content_index": 0, "item_id": message["id"]}
    yield "response.output_item.added", {**item, "item": {**message, "status": "in_progress", "content": []}}
    yield "response.content_part.added", {**at, "part": {**part, "text": "", "annotations": []}}
    for piece in pieces(part["text"]):
        yield "response.output_text.delta", {**at, "delta": piece, "logprobs": []}
    for number, annotation in enumerate(part["annotations"]):
        yield "response.output_text.annotation.added", {**at, "annotation_index": number, "annotation": annotation}
    yield "response.output_text.done", {**at, "text": part["text"], "logprobs": []}
    yield "response.content_part.done", {**at, "part": part}
    yield "response.output_item.done", {**item, "item": message}
