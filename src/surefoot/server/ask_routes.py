"""`POST /ask`: a question, answered as JSON or as events while it happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from time import monotonic
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Request
from pydantic import Field
from sse_starlette import ServerSentEvent
from starlette.responses import Response

from surefoot.server.conversations import ID, Turn
from surefoot.server.problems import problem_of
from surefoot.server.questions import QuestionRequest, ask, public_trace
from surefoot.server.replies import EVENTS, awaited, reply, stream, wants_events
from surefoot.server.request_bodies import Body, JsonRoute
from surefoot.server.service import Caller, RequestCaller
from surefoot.server.workers import Ticket
from surefoot.text.questions import checked
from surefoot.types import Trace

router = APIRouter(route_class=JsonRoute)
MOST_TURNS = 50
"""Questions of a conversation that a request may bring along."""


class AskBody(Body):
    """A question to a collection."""

    question: str
    collection: str | None = None
    filter: dict[str, Any] = Field(default_factory=dict)
    """Only documents whose fields are so."""
    history: tuple[Turn, ...] = ()
    conversation: Annotated[str, Field(pattern=f"^{ID.pattern}$")] | None = None
    """An id that the client makes up, 8 to 64 letters, digits, - or _ at random: the conversation is stored, and its
    earlier questions are the history."""


@router.post("/ask", response_model=Trace, responses=EVENTS)
async def post_ask(body: AskBody, request: Request, caller: RequestCaller) -> Response:
    """Answer a question: with the trace, or with events where the client accepts `text/event-stream`."""
    events = wants_events(request)
    # Whoever watches is a person, or a page before one: such questions are always part of a conversation.
    conversation = body.conversation or (uuid4().hex if events else "")
    question = await asyncio.to_thread(_question, body, caller, conversation)
    if not events:
        trace = await awaited(request, ask(caller.service, question))
        return await asyncio.to_thread(reply, public_trace(trace, caller.trusted_client))
    queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    loop, begun = asyncio.get_running_loop(), monotonic()

    def listen(id: str, name: str, value: Any) -> None:
        data = json.dumps({"trace": id, "at": round(monotonic() - begun, 4), "value": value})
        loop.call_soon_threadsafe(queue.put_nowait, {"event": name, "data": data})

    return stream(_events(ask(caller.service, question, listen), queue))


def _question(body: AskBody, caller: Caller, conversation: str) -> QuestionRequest:
    collection, history = caller.collection(body.collection), body.history
    if body.conversation is not None:
        history = caller.service.conversations.turns(collection, body.conversation) or history
    trusted, recent = caller.trusted_client, history[-MOST_TURNS:]
    return QuestionRequest(collection, checked(body.question), recent, body.filter, conversation, trusted)


async def _events(ticket: Ticket[Trace], queue: asyncio.Queue[dict[str, Any] | None]) -> AsyncIterator[ServerSentEvent]:
    """The events of the question, and then "end" or "error"."""
    task = asyncio.ensure_future(ticket.result())
    task.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield ServerSentEvent(**event)
        yield _last(task)
    finally:
        task.cancel()


def _last(task: asyncio.Future[Trace]) -> ServerSentEvent:
    if isinstance(error := task.exception(), Exception):
        problem = problem_of(error)
        value = {"status": problem.status_code, "code": problem.code, "message": problem.detail}
        return ServerSentEvent(json.dumps({"value": value}), event="error")
    return ServerSentEvent(json.dumps({"trace": task.result().id, "value": None}), event="end")
