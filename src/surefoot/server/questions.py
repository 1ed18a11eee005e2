"""`POST /ask`, answered as JSON or as events while it happens; and a question on its way to its stored trace."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from threading import Event as Flag
from time import monotonic
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from sse_starlette import ServerSentEvent
from starlette.responses import Response

from surefoot.config.searching import searching
from surefoot.pipeline import Pipeline
from surefoot.run.recorder import streamed
from surefoot.run.store import to_json
from surefoot.server.choices import public_choices
from surefoot.server.history import ID, Turn
from surefoot.server.http import EVENTS, Body, JsonRoute, awaited, reply, stream
from surefoot.server.problems import Problem, invalid, problem_of
from surefoot.server.service import Caller, RequestCaller, Service
from surefoot.server.workers import Ticket, stopping
from surefoot.text.questions import LONGEST_QUESTION, checked
from surefoot.types import Event, Grade, Step, Trace

router = APIRouter(route_class=JsonRoute)
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+|(?:[A-Za-z]:)?[\\/][^\s:,;'\"]+|\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?")
"""An address, or a path of the machine."""

Listener = Callable[[str, str, Any], object]
"""Called, in the thread that answers, with the trace's id, the name of what happened, and its value."""
Happening = AsyncGenerator[tuple[str, str, Any], None]
"""The same, as it happens."""


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """A question, with all that is known of it."""

    collection: str
    question: str
    history: tuple[Turn, ...] = ()
    """Earlier questions with their answers, the last one last."""
    filter: Mapping[str, Any] = field(default_factory=dict)
    owner: str = ""
    """The owner of its trace and of its conversation; empty: nobody needs a key here."""
    conversation: str = ""
    """Empty: it is part of none."""
    model: str = ""
    """The model that words the answer; empty: the usual one."""
    searcher: str = ""
    """Where to look outside; empty: the usual."""
    certainty: str = ""
    """The certainty from which on its answer is given plainly; empty: the usual."""
    trusted_client: bool = False
    """The client needs no key here, and may know where a part failed."""
    passages: int = 0
    """The number of graded passages that are wanted in place of an answer; 0: an answer is wanted."""
    store: bool = True
    """False: the trace is not stored."""


def ask(service: Service, request: QuestionRequest, listen: Listener = lambda id, name, value: None) -> Ticket[Trace]:
    """Take a place for a question. Raises Problem where none is free."""

    def work(stop: Flag) -> Trace:
        usual = service.collections.pipeline(request.collection, request.model)
        whole = service.collections.choices.applied(usual, request.searcher, request.certainty)
        pipeline = searching(whole, request.passages) if request.passages else whole
        listener = _public_events(request, pipeline, listen)
        history = [(turn.question[:LONGEST_QUESTION], turn.answer) for turn in request.history]
        trace = pipeline.run(request.question, listener, history=history, filter=request.filter, cancel=stop)
        if stop.is_set():  # half a trace, and nobody waits for it but where the server stops
            raise stopping()
        if request.store:
            service.traces.add(request.collection, request.owner, trace)
        if request.store and request.conversation:
            turn = Turn(request.question, trace.answer.body if trace.answer else "", trace.id)
            service.conversations.add(request.collection, request.owner, request.conversation, turn)
        service.metrics.count_question(trace)
        listen(trace.id, "ended", trace)
        return trace

    return service.workers.start(work, request.owner)


def watch(service: Service, request: QuestionRequest) -> Happening:
    """Take a place for a question, and yield what happens as `Listener` has it, at last "ended" with the trace. Raises
    Problem, where no place is free at once. Closing it cancels the question."""
    return streamed(lambda heard: ask(service, request, lambda *event: heard(event)).result())


def grade(caller: Caller, question: str, texts: Sequence[str], field: str) -> Ticket[tuple[Grade, ...]]:
    """Take a place for grading the texts of this field of a body. Raises Problem as `bounded` does, or for no place."""
    bounded(texts, field)
    query, service = checked(question), caller.service
    return service.workers.start(lambda _: service.collections.grader().grade(query, texts), caller.owner)


def bounded(texts: Sequence[str], field: str) -> None:
    """Raise Problem for an empty one of the texts of this field of a body, and as `limited` does."""
    if blank := [number for number, text in enumerate(texts) if not text.strip()]:
        raise invalid(f"`{field}[{blank[0]}]` holds no text; leave it out")
    limited(texts, field)


def limited(texts: Iterable[str], field: str) -> None:
    """Raise Problem where the texts of this field of a body have more than `MOST_GRADED` characters in all."""
    if (characters := sum(map(len, texts))) > MOST_GRADED:
        message = f"`{field}` has {characters:,} characters, and at most {MOST_GRADED:,} are taken at a time"
        raise Problem(413, "too_large", f"{message}; send fewer, or shorter ones")


def _public_events(request: QuestionRequest, pipeline: Pipeline, listen: Listener) -> Callable[[Event], None]:
    """Pass on those events of a pipeline that a client may see."""
    id = ""

    def pass_on(event: Event) -> None:
        nonlocal id
        name, value = event.name, event.value
        if name == "begun":
            id = value.id
            about: dict[str, Any] = {"collection": request.collection, "conversation": request.conversation}
            about |= {"thresholds": to_json(pipeline.policy.thresholds), "config": public_choices(pipeline.config)}
            begin = {"id": id, "question": value.question, **about}
            listen(id, "begin", begin)
        elif name == "step_begins":
            listen(id, "started", {"step": value})
        elif name != "ended":
            redacted = isinstance(value, Step) and not request.trusted_client
            listen(id, name, to_json(redacted_step(value) if redacted else value))

    return pass_on


def public_trace(trace: Trace, trusted_client: bool) -> Trace:
    """The trace without the configuration, which names files, machines and models, but for `public_choices`. Other
    clients than trusted ones see which part failed, and neither the address nor the path at which it did."""
    steps = trace.steps if trusted_client else tuple(map(redacted_step, trace.steps))
    return replace(trace, config=public_choices(trace.config), steps=steps)


def redacted_step(step: Step) -> Step:
    """The step without the addresses and paths in its errors."""
    error, degraded = (text and _ADDRESS.sub("…", text) for text in (step.error, step.degraded))
    return replace(step, error=error, degraded=degraded)


MOST_GRADED = 200_000
"""Characters of the texts of a request that are graded, some ten seconds' work of a core."""
MOST_TURNS = 50
"""Questions of a conversation that a request may bring along."""


class AskBody(Body):
    """A question to a collection."""

    question: str
    collection: str | None = None
    filter: dict[str, Any] = Field(default_factory=dict)
    """Only documents whose fields are so."""
    history: tuple[Turn, ...] = ()
    model: str | None = None
    """The model of `GET /models` that words the answer; "none": it is quoted. Null: the usual one."""
    searcher: str | None = None
    """The searcher of `GET /settings` that is asked where the documents do not answer. Null: the usual one."""
    certainty: str | None = None
    """The certainty of `GET /settings` from which on an answer is given plainly. Null: the usual one."""
    conversation: Annotated[str, Field(pattern=f"^{ID}$")] | None = None
    """An id that the client makes up, 8 to 64 letters, digits, - or _ at random: the conversation is stored, and its
    earlier questions are the history."""


class ModelList(BaseModel):
    """The models that may word an answer, the usual one first; "none": it is quoted."""

    models: tuple[str, ...]


@router.get("/models")
def get_models(caller: RequestCaller) -> ModelList:
    """List the models that a question may name: the configured one, those that were pulled, and "none"."""
    return ModelList(models=caller.service.collections.models())


class SettingList(BaseModel):
    """What a question may choose beside its model, the usual choice first."""

    searchers: tuple[str, ...]
    """Where to look if the documents do not answer; "nowhere": the search is off."""
    certainties: dict[str, float]
    """From which certainty on an answer is given plainly, with the accepted share of wrong ones among those; below it,
    the nearest passages come first."""


@router.get("/settings")
def get_settings(caller: RequestCaller) -> SettingList:
    """List the searchers that the configuration names, and the certainties that its `[answer] risk` allows."""
    offered = caller.service.collections.choices
    return SettingList(searchers=tuple(offered.searchers), certainties={**offered.certainties})


@router.post("/ask", response_model=Trace, responses=EVENTS)
async def post_ask(body: AskBody, request: Request, caller: RequestCaller) -> Response:
    """Answer a question: with the trace, or with events where the client accepts `text/event-stream`."""
    events = "text/event-stream" in request.headers.get("accept", "")
    # Whoever watches is a person, or a page before one: such questions are always part of a conversation.
    conversation = body.conversation or (uuid4().hex if events else "")
    question = await asyncio.to_thread(_question, body, caller, conversation)
    if not events:
        trace = await awaited(request, ask(caller.service, question))
        return await asyncio.to_thread(reply, public_trace(trace, caller.trusted_client))
    return stream(_events(watch(caller.service, question)))


def _question(body: AskBody, caller: Caller, conversation: str) -> QuestionRequest:
    collection, history = caller.collection(body.collection), body.history
    if body.conversation is not None:
        history = caller.service.conversations.find(collection, caller.owner, body.conversation).turns or history
    trusted, recent = caller.trusted_client, history[-MOST_TURNS:]
    return QuestionRequest(
        collection,
        checked(body.question),
        recent,
        body.filter,
        caller.owner,
        conversation,
        caller.model(body.model),
        caller.searcher(body.searcher),
        caller.certainty(body.certainty),
        trusted,
    )


async def _events(watched: Happening) -> AsyncIterator[ServerSentEvent]:
    """The events of the question, and then "end" or "error"."""
    begun = monotonic()
    try:
        async with aclosing(watched):
            async for id, name, value in watched:
                about = {"trace": id, "at": round(monotonic() - begun, 4)}
                event = ("end", None) if name == "ended" else (name, value)
                yield ServerSentEvent(json.dumps({**about, "value": event[1]}), event=event[0])
    except Exception as error:  # noqa: BLE001 - the status is sent already; the client reads the error from the stream
        problem = problem_of(error)
        value = {"status": problem.status_code, "code": problem.code, "message": problem.detail}
        yield ServerSentEvent(json.dumps({"value": value}), event="error")
