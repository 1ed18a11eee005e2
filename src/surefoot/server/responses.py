"""`/v1/responses`: the same answers in the shape that keeps citations, with the passages as the results of a search."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from datetime import datetime
from functools import partial
from itertools import count
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
    continued,
    last_question,
    pieces,
)
from surefoot.server.history import Turn
from surefoot.server.http import EVENTS, CompatibleBody, JsonRoute, awaited, stream
from surefoot.server.problems import problem_of
from surefoot.server.questions import Happening, QuestionRequest, ask, watch
from surefoot.server.service import RequestCaller
from surefoot.text.questions import checked
from surefoot.types import Trace
from surefoot.types.metadata import day_of

router = APIRouter(route_class=JsonRoute, prefix="/v1/responses")
RESULTS = "file_search_call.results"
"""A client includes it to get the passages too."""
StreamEvent = tuple[str, Fields]
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
    question_request = QuestionRequest(
        collection, checked(question), history, owner=caller.owner, model=model, store=stored
    )
    replied = partial(_response, body=body, collection=collection, request=request)
    if body.stream:
        return stream(_streamed(watch(caller.service, question_request), replied, body))
    return JSONResponse(replied(await awaited(request, ask(caller.service, question_request))))


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
            "attributes": {
                "source": passage.source,
                "label": grade.label.value if grade.label else "ungraded",
                "date": day_of(passage.meta),
            },
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
    watched: Happening, replied: Callable[[Trace], Fields], body: ResponsesBody
) -> AsyncIterator[ServerSentEvent]:
    """The events of a response with their numbers; the last says so where it failed."""
    number = count()

    def numbered(kind: str, fields: Fields) -> ServerSentEvent:
        return ServerSentEvent(json.dumps({"type": kind, "sequence_number": next(number), **fields}), event=kind)

    try:
        async with aclosing(_events(watched, replied, body)) as events:
            async for event in events:
                yield numbered(*event)
    except Exception as error:  # noqa: BLE001 - the status is sent already; the client reads the error from the stream
        failure = {"code": "server_error", "message": problem_of(error).detail}
        yield numbered("response.failed", {"response": {**_head("", body, "failed", int(time())), "error": failure}})


async def _events(
    watched: Happening, replied: Callable[[Trace], Fields], body: ResponsesBody
) -> AsyncGenerator[StreamEvent, None]:
    """The search as soon as it begins, the text as it is checked, and at the end what needs the whole trace."""
    sent = ""
    async with aclosing(watched):
        async for id, name, value in watched:
            if name == "begin":
                for event in _begun(id, body):
                    yield event
            elif name == "text":
                for event in () if sent else _opened(id):
                    yield event
                sent += value
                yield _delta(id, value)
    whole = replied(continued(value, sent))
    for event in () if sent else _opened(id):
        yield event
    for event in _ended(id, whole, sent):
        yield event


def _begun(id: str, body: ResponsesBody) -> Iterator[StreamEvent]:
    response, at = _head(id, body, "in_progress", int(time())), {"output_index": 0, "item_id": f"fs_{id}"}
    item: Fields = {
        "type": "file_search_call",
        "id": f"fs_{id}",
        "status": "in_progress",
        "queries": [],
        "results": None,
    }
    yield "response.created", {"response": response}
    yield "response.in_progress", {"response": response}
    yield "response.output_item.added", {"output_index": 0, "item": item}
    yield "response.file_search_call.in_progress", at
    yield "response.file_search_call.searching", at


def _opened(id: str) -> Iterator[StreamEvent]:
    """The message, empty yet; what it is made from was found."""
    item = {"type": "message", "id": f"msg_{id}", "role": "assistant", "status": "in_progress", "content": []}
    part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    yield "response.file_search_call.completed", {"output_index": 0, "item_id": f"fs_{id}"}
    yield "response.output_item.added", {"output_index": 1, "item": item}
    yield "response.content_part.added", {**_place(id), "part": part}


def _place(id: str) -> Fields:
    return {"output_index": 1, "content_index": 0, "item_id": f"msg_{id}"}


def _delta(id: str, piece: str) -> StreamEvent:
    return "response.output_text.delta", {**_place(id), "delta": piece, "logprobs": []}


def _ended(id: str, whole: Fields, sent: str) -> Iterator[StreamEvent]:
    """The rest of a whole response of which this text was sent."""
    search, message = whole["output"]
    (part,), at = message["content"], _place(id)
    yield from (_delta(id, piece) for piece in pieces(part["text"][len(sent) :]))
    for number, annotation in enumerate(part["annotations"]):
        yield "response.output_text.annotation.added", {**at, "annotation_index": number, "annotation": annotation}
    yield "response.output_text.done", {**at, "text": part["text"], "logprobs": []}
    yield "response.content_part.done", {**at, "part": part}
    yield "response.output_item.done", {"output_index": 0, "item": search}
    yield "response.output_item.done", {"output_index": 1, "item": message}
    yield "response.completed", {"response": whole}
