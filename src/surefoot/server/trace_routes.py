"""`/traces`, `/conversations` and `/feedback`: answered questions, and users' opinions of them."""

import sys
from dataclasses import replace
from threading import Event as Flag
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from surefoot.explain.grade import as_graded, explain
from surefoot.index.storage import now
from surefoot.server.feedback import Mark
from surefoot.server.history import ConversationLine, TraceLine
from surefoot.server.http import HTML, Body, JsonRoute, awaited, reply
from surefoot.server.problems import invalid, language, missing
from surefoot.server.questions import public_trace
from surefoot.server.service import Caller, RequestCaller
from surefoot.types import Answer, Attribution, Trace
from surefoot.types.errors import UsageError
from surefoot.web import shared

router = APIRouter(route_class=JsonRoute)
EXPLAINED = 1000
"""Texts that the evaluator grades for one explanation, at most."""
LONGEST = 2000
"""Characters of a reason, at most."""
Limit = Annotated[int, Query(ge=1, le=200)]
"""The number of entries of a list."""


class TraceList(BaseModel):
    """Traces, the latest first."""

    traces: tuple[TraceLine, ...]


class ConversationList(BaseModel):
    """Conversations, the latest first."""

    conversations: tuple[ConversationLine, ...]


class ConversationDetail(BaseModel):
    """The traces of a conversation, in order, with the user's feedback."""

    id: str
    title: str
    collection: str
    turns: tuple[Trace, ...]
    feedback: tuple[Mark, ...]


class ExplainBody(Body):
    """A passage of a trace whose grade is to be explained."""

    passage: str = "best"


class RenameBody(Body):
    """The new title of a conversation."""

    title: Annotated[str, Field(min_length=1, max_length=200)]


@router.get("/traces", response_model=TraceList)
def get_traces(caller: RequestCaller, limit: Limit = 50, before: str = "") -> Response:
    """List the last traces, the latest first; `limit` of them, and only those before the trace `before`."""
    store = caller.service.traces
    lines = [line for name in caller.visible() for line in store.latest(name, caller.owner, limit, before)]
    return reply({"traces": sorted(lines, key=lambda line: line.created, reverse=True)[:limit]})


@router.get("/traces/{id}", response_model=Trace)
def get_trace(id: str, caller: RequestCaller) -> Response:
    """Return a stored trace."""
    return reply(public_trace(caller.trace(id)[1], caller.trusted_client))


@router.get("/traces/{id}/share", response_class=Response, responses=HTML)
def get_share(id: str, caller: RequestCaller, request: Request) -> Response:
    """Return a stored trace as one file of HTML that opens anywhere, offline."""
    _, trace = caller.trace(id)
    headers = {"Content-Disposition": f'attachment; filename="surefoot-{trace.id}.html"'}
    text = shared(public_trace(trace, caller.trusted_client), language(request))
    return Response(text, media_type="text/html; charset=utf-8", headers=headers)


@router.post("/traces/{id}/explain", response_model=Attribution)
async def post_explain(id: str, body: ExplainBody, request: Request, caller: RequestCaller) -> Response:
    """Name the words that moved a passage's grade."""

    def work(stop: Flag) -> Attribution:
        _, trace = caller.trace(id)
        evaluator = caller.service.collections.grader().evaluator
        try:
            passage = as_graded(trace, evaluator, body.passage)
        except UsageError:
            raise missing("passage") from None
        return explain(evaluator, trace.standalone_question, passage, most=EXPLAINED)

    return reply(await awaited(request, caller.service.workers.start(work, caller.owner)))


@router.get("/conversations", response_model=ConversationList)
def get_conversations(caller: RequestCaller, limit: Limit = 50, before: str = "", words: str = "") -> Response:
    """List the stored conversations, the latest first; with `words` those that hold them: in the title, a question or
    an answer, in any case."""
    store = caller.service.conversations
    most = sys.maxsize if words else limit
    lines = [line for name in caller.visible() for line in store.latest(name, caller.owner, most, before)]
    if words:
        lines = [line for line in lines if words.lower() in _text(caller, line).lower()]
    return reply({"conversations": sorted(lines, key=lambda line: line.updated, reverse=True)[:limit]})


def _text(caller: Caller, line: ConversationLine) -> str:
    found = caller.service.conversations.find(line.collection, caller.owner, line.id)
    return "\n".join([found.title, *(text for turn in found.turns for text in (turn.question, turn.answer))])


@router.get("/conversations/{id}", response_model=ConversationDetail)
def get_conversation(id: str, caller: RequestCaller) -> Response:
    """Return the traces of a conversation, in order, and the user's feedback."""
    for name in caller.visible():
        found = caller.service.conversations.find(name, caller.owner, id)
        if found.turns:
            marks = caller.service.feedback.marks(name, {turn.trace for turn in found.turns})
            traces = [  # of a trace that is deleted already, the question and the answer
                caller.service.traces.find(name, turn.trace)
                or Trace(turn.trace, turn.question, answer=Answer(turn.answer))
                for turn in found.turns
            ]
            about = {"id": id, "title": found.title, "collection": name}
            public = [public_trace(trace, caller.trusted_client) for trace in traces]
            return reply({**about, "turns": public, "feedback": marks})
    raise missing("conversation")


@router.patch("/conversations/{id}", status_code=204)
def patch_conversation(id: str, body: RenameBody, caller: RequestCaller) -> None:
    """Rename a conversation."""
    store, owner = caller.service.conversations, caller.owner
    if not any(store.rename(name, owner, id, body.title) for name in caller.visible()):
        raise missing("conversation")


@router.delete("/conversations/{id}", status_code=204)
def delete_conversation(id: str, caller: RequestCaller) -> None:
    """Forget a conversation."""
    if not any(caller.service.conversations.remove(name, caller.owner, id) for name in caller.visible()):
        raise missing("conversation")


@router.post("/feedback", status_code=204)
def post_feedback(mark: Mark, caller: RequestCaller) -> None:
    """Store a user's opinion of an answer (`useful`) or of one of its passages (`passage`, `answers`); null takes it
    back."""
    if mark.useful is not None if mark.passage else mark.answers is not None:
        raise invalid("send `useful` for an answer, or `passage` and `answers` for one of its passages")
    if len(mark.reason) > LONGEST:
        raise invalid(f"`reason` has {len(mark.reason):,} characters, and at most {LONGEST:,} are stored; shorten it")
    collection, trace = caller.trace(mark.trace)
    if mark.passage is not None and mark.passage not in {one.id for one in (*trace.passages, *trace.external)}:
        raise missing("passage")
    caller.service.feedback.add(collection, trace, replace(mark, at=now()))
