"""A question on its way from a request to its stored trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Event as Flag
from typing import Any

from surefoot.config.searching import searching
from surefoot.run.store import to_json
from surefoot.server.conversations import Turn
from surefoot.server.service import Service
from surefoot.server.workers import Ticket, stopping
from surefoot.types import Event, Step, Trace

_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+|(?:[A-Za-z]:)?[\\/][^\s:,;'\"]+|\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?")
"""An address, or a path of the machine."""

Listener = Callable[[str, str, Any], None]
"""Called, in the thread that answers, with the trace's id, the name of what happened, and its value."""


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """A question, with all that is known of it."""

    collection: str
    question: str
    history: tuple[Turn, ...] = ()
    """Earlier questions with their answers, the last one last."""
    filter: Mapping[str, Any] = field(default_factory=dict)
    conversation: str = ""
    """Empty: it is part of none."""
    trusted_client: bool = False
    """The client needs no key here, and may know where a part failed."""
    passages: int = 0
    """The number of graded passages that are wanted in place of an answer; 0: an answer is wanted."""
    store: bool = True
    """False: the trace is not stored."""


def ask(service: Service, request: QuestionRequest, listen: Listener = lambda id, name, value: None) -> Ticket[Trace]:
    """Take a place for a question. Raises Problem where none is free."""

    def work(stop: Flag) -> Trace:
        whole = service.collections.pipeline(request.collection)
        pipeline = searching(whole, request.passages) if request.passages else whole
        listener = _PublicEvents(request, to_json(pipeline.policy.thresholds), listen)
        history = [(turn.question, turn.answer) for turn in request.history]
        trace = pipeline.run(request.question, listener, history=history, filter=request.filter, cancel=stop)
        if stop.is_set():  # half a trace, and nobody waits for it but where the server stops
            raise stopping()
        if request.store:
            _store(service, request, trace)
        service.metrics.count_question(trace)
        return trace

    return service.workers.start(work)


class _PublicEvents:
    """Passes on those events of a pipeline that a client may see: a draft is not checked yet, and is left out."""

    def __init__(self, request: QuestionRequest, thresholds: dict[str, Any], listen: Listener) -> None:
        self._trusted, self._listen, self._id = request.trusted_client, listen, ""
        self._begin = {
            "collection": request.collection,
            "conversation": request.conversation,
            "thresholds": thresholds,
        }

    def __call__(self, event: Event) -> None:
        """Pass an event on."""
        if event.name == "begun":
            self._id = event.value.id
            self._listen(self._id, "begin", {"id": self._id, "question": event.value.question, **self._begin})
        elif event.name == "step_begins":
            self._listen(self._id, "started", {"step": event.value})
        elif event.name not in ("text", "ended"):
            redacted = isinstance(event.value, Step) and not self._trusted
            self._listen(self._id, event.name, to_json(redacted_step(event.value) if redacted else event.value))


def _store(service: Service, request: QuestionRequest, trace: Trace) -> None:
    service.traces.add(request.collection, trace)
    if request.conversation:
        answer = trace.answer.text if trace.answer else ""
        service.conversations.add(request.collection, request.conversation, Turn(request.question, answer, trace.id))


def public_trace(trace: Trace, trusted_client: bool) -> Trace:
    """The trace without the configuration, which names files, machines and models. Other clients than trusted ones see
    which part failed, and neither the address nor the path at which it did."""
    return replace(trace, config={}, steps=trace.steps if trusted_client else tuple(map(redacted_step, trace.steps)))


def redacted_step(step: Step) -> Step:
    """The step without the addresses and paths in its errors."""
    error, degraded = (text and _ADDRESS.sub("…", text) for text in (step.error, step.degraded))
    return replace(step, error=error, degraded=degraded)
