"""`POST /ask`, as JSON or as events while it happens, and what is kept of it: traces and conversations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from threading import Event as Flag
from time import monotonic
from typing import Any, TypeVar
from uuid import uuid4

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from surefoot.explain.grade import as_graded, explain
from surefoot.pipeline import checked
from surefoot.run.store import to_json
from surefoot.server.asking import Inquiry, ask, shown
from surefoot.server.bodies import body
from surefoot.server.conversations import ID, Turn
from surefoot.server.problems import Problem, invalid, missing, problem_of
from surefoot.server.service import Service, chosen, inside, service, visible
from surefoot.server.workers import Place
from surefoot.types import Answer, Attribution, Trace
from surefoot.types.errors import UsageError
from surefoot.web import shared

T = TypeVar("T")

PING = 15
"""Seconds between the comments that keep a silent stream open."""
MOST_TURNS = 50
"""Questions of a conversation that a request may bring along."""
MOST_LISTED = 200
"""Entries of a list, at most."""
EXPLAINED = 1000
"""Texts that the evaluator grades for one explanation, at most."""


@dataclass(frozen=True, slots=True)
class QuestionBody:
    """A question to a collection."""

    question: str
    collection: str | None = None
    filter: dict[str, Any] = field(default_factory=dict)
    history: tuple[Turn, ...] = ()
    conversation: str | None = None
    """An id that the client makes up; the conversation is kept, and its earlier questions are the history."""


@dataclass(frozen=True, slots=True)
class ExplainBody:
    """A passage of a trace whose grade is to be explained."""

    passage: str = "best"


async def post_ask(request: Request) -> Response:
    """Answer a question: with the trace, or with events where the client accepts `text/event-stream`."""
    here, inquiry = service(request), await _inquiry(request)
    if "text/event-stream" not in request.headers.get("accept", ""):
        place = ask(here, inquiry)
        trace = shown(await awaited(request, place), inquiry.inside)
        return await asyncio.to_thread(lambda: JSONResponse(to_json(trace)))
    queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    loop, begun = asyncio.get_running_loop(), monotonic()

    def hear(id: str, name: str, value: Any) -> None:
        data = json.dumps({"trace": id, "at": round(monotonic() - begun, 4), "value": value})
        loop.call_soon_threadsafe(queue.put_nowait, {"event": name, "data": data})

    # Who watches is a person, or a page before one: such questions are always part of a conversation.
    kept = replace(inquiry, conversation=inquiry.conversation or uuid4().hex)
    return stream(_events(ask(here, kept, hear), queue))


async def _inquiry(request: Request) -> Inquiry:
    asked = await body(request, QuestionBody, service(request).settings.body_bytes)
    collection, history = chosen(request, asked.collection), asked.history[-MOST_TURNS:]
    if asked.conversation is not None:
        if not ID.fullmatch(asked.conversation):
            raise invalid("`conversation` must be 8 to 64 letters, digits, - or _, made up at random")
        kept = await asyncio.to_thread(service(request).conversations.turns, collection, asked.conversation)
        history = kept[-MOST_TURNS:] or history
    question, kept_as = checked(asked.question), asked.conversation or ""
    return Inquiry(collection, question, history, asked.filter, kept_as, inside(request))


async def _events(place: Place[Trace], queue: asyncio.Queue[dict[str, Any] | None]) -> AsyncIterator[ServerSentEvent]:
    """What happens, and then "end" or "error"."""
    task = asyncio.ensure_future(place.result())
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
        told = {"status": problem.status, "code": problem.code, "message": problem.message}
        return ServerSentEvent(json.dumps({"value": told}), event="error")
    return ServerSentEvent(json.dumps({"trace": task.result().id, "value": None}), event="end")


def stream(events: AsyncIterator[Any]) -> EventSourceResponse:
    """Server-sent events, with a comment now and then. A client that leaves ends the iterator."""
    return EventSourceResponse(events, ping=PING, headers={"Cache-Control": "no-store"})


async def awaited(request: Request, place: Place[T]) -> T:
    """The result of a place, which is let go as soon as the client leaves."""
    result, left = asyncio.ensure_future(place.result()), asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait((result, left), return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            raise Problem(499, "left", "the client left")  # nobody reads it
        return result.result()
    finally:
        left.cancel()
        result.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def get_trace(request: Request) -> Response:
    """A kept trace."""
    _, trace = await kept(request)
    return await asyncio.to_thread(lambda: JSONResponse(to_json(shown(trace, inside(request)))))


async def kept(request: Request) -> tuple[str, Trace]:
    """The trace that the path names, and its collection. Raises Problem where this key sees none of that id."""
    here, id = service(request), request.path_params["id"]
    return await asyncio.to_thread(found, here, visible(request), id)


def found(here: Service, collections: tuple[str, ...], id: str) -> tuple[str, Trace]:
    """The trace with this id in one of the collections, and that collection. Raises Problem where there is none."""
    for name in collections:
        if trace := here.traces.find(name, id):
            return name, trace
    raise missing("trace")


async def get_share(request: Request) -> Response:
    """A kept trace as one file of HTML that opens anywhere, offline."""
    _, trace = await kept(request)
    text = await asyncio.to_thread(shared, shown(trace, inside(request)))
    headers = {"Content-Disposition": f'attachment; filename="surefoot-{trace.id}.html"'}
    return Response(text, media_type="text/html; charset=utf-8", headers=headers)


async def get_traces(request: Request) -> Response:
    """The last traces, the latest first; `limit` of them, and only those before the trace `before`."""
    lines = await _latest(request, service(request).traces.latest, lambda line: line.created)
    return JSONResponse({"traces": lines})


async def _latest(request: Request, kept: Callable[[str, int, str], Sequence[T]], when: Callable[[T], str]) -> Any:
    """The lines that `kept` has of the visible collections, as JSON."""
    limit, before = number(request, "limit", 50, MOST_LISTED), request.query_params.get("before", "")
    lists = [await asyncio.to_thread(kept, name, limit, before) for name in visible(request)]
    return to_json(sorted((line for lines in lists for line in lines), key=when, reverse=True)[:limit])


async def post_explain(request: Request) -> Response:
    """The words that moved a passage's grade."""
    here, (_, trace) = service(request), await kept(request)
    asked = await body(request, ExplainBody, here.settings.body_bytes)

    def work(_: Flag) -> Attribution:
        evaluator = here.library.evaluator
        try:
            passage = as_graded(trace, evaluator, asked.passage)
        except UsageError:
            raise missing("passage") from None
        return explain(evaluator, trace.asked, passage, most=EXPLAINED)

    return JSONResponse(to_json(await awaited(request, here.workers.start(work))))


async def get_conversations(request: Request) -> Response:
    """The kept conversations, the latest first."""
    lines = await _latest(request, service(request).conversations.latest, lambda line: line.updated)
    return JSONResponse({"conversations": lines})


async def get_conversation(request: Request) -> Response:
    """The traces of a conversation, in order, and what the user thought of them."""
    here, id = service(request), request.path_params["id"]

    def opened() -> Response:
        for name in visible(request):
            if turns := here.conversations.turns(name, id):
                marks = here.feedback.marks(name, {turn.trace for turn in turns})
                traces = [shown(_traced(here, name, turn), inside(request)) for turn in turns]
                about = {"id": id, "title": turns[0].question, "collection": name}
                return JSONResponse({**about, "turns": to_json(traces), "feedback": to_json(marks)})
        raise missing("conversation")

    return await asyncio.to_thread(opened)


def _traced(here: Service, collection: str, turn: Turn) -> Trace:
    """The turn's trace; of one that is not kept any more, the question and the answer."""
    return here.traces.find(collection, turn.trace) or Trace(turn.trace, turn.question, answer=Answer(turn.answer))


async def delete_conversation(request: Request) -> Response:
    """Forget a conversation."""
    here, id = service(request), request.path_params["id"]
    for name in visible(request):
        if await asyncio.to_thread(here.conversations.remove, name, id):
            return Response(status_code=204)
    raise missing("conversation")


def number(request: Request, name: str, usual: int, most: int) -> int:
    """The whole number behind the address under this name. Raises Problem for what is none, or is too large."""
    least, said = min(usual, 1), request.query_params.get(name, str(usual))
    if not (said.isascii() and said.isdigit() and len(said) < 12 and least <= int(said) <= most):
        raise invalid(f"`{name}` must be a whole number from {least} to {most:,}")
    return int(said)


ROUTES = [
    Route("/ask", post_ask, methods=["POST"]),
    Route("/traces", get_traces, methods=["GET"]),
    Route("/traces/{id}", get_trace, methods=["GET"]),
    Route("/traces/{id}/share", get_share, methods=["GET"]),
    Route("/traces/{id}/explain", post_explain, methods=["POST"]),
    Route("/conversations", get_conversations, methods=["GET"]),
    Route("/conversations/{id}", get_conversation, methods=["GET"]),
    Route("/conversations/{id}", delete_conversation, methods=["DELETE"]),
]
