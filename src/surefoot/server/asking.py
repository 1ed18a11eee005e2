"""A question on its way from a request to its kept trace."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Event as Flag
from typing import Any

from surefoot.config.searching import searching
from surefoot.run.store import to_json
from surefoot.server.conversations import Turn
from surefoot.server.service import Service
from surefoot.server.workers import Place, stopping
from surefoot.types import Event, Step, Trace

_PLACE = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+|(?:[A-Za-z]:)?[\\/][^\s:,;'\"]+|\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?")
"""An address, or a path of the machine."""

Hear = Callable[[str, str, Any], None]
"""Called, in the thread that answers, with the trace's id, the name of what happened, and its value."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question, with all that is known of it."""

    collection: str
    question: str
    history: tuple[Turn, ...] = ()
    """Earlier questions with their answers, the last one last."""
    filter: Mapping[str, Any] = field(default_factory=dict)
    conversation: str = ""
    """Empty: none is kept."""
    inside: bool = False
    """Whoever asks needs no key here, and may know where a part failed."""
    passages: int = 0
    """How many graded passages are wanted in place of an answer; 0: an answer is wanted."""
    keep: bool = True
    """Whether the trace is kept."""


def ask(service: Service, inquiry: Inquiry, hear: Hear = lambda id, name, value: None) -> Place[Trace]:
    """Take a place for a question. Raises Problem where none is free."""

    def work(stop: Flag) -> Trace:
        whole = service.library.pipeline(inquiry.collection)
        pipeline = searching(whole, inquiry.passages) if inquiry.passages else whole
        listener = _Listener(inquiry, to_json(pipeline.policy.thresholds), hear)
        history = [(turn.question, turn.answer) for turn in inquiry.history]
        trace = pipeline.run(inquiry.question, listener, history=history, filter=inquiry.filter, cancel=stop)
        if stop.is_set():  # half a trace, and nobody waits for it but where the server stops
            raise stopping()
        if inquiry.keep:
            _keep(service, inquiry, trace)
        _count(service, trace)
        return trace

    return service.workers.start(work)


def ask_aloud(service: Service, inquiry: Inquiry) -> tuple[asyncio.Task[Trace], asyncio.Future[str]]:
    """`ask`: the result, and the trace's id as soon as the question runs; it is empty where that never happens."""
    loop = asyncio.get_running_loop()
    begun: asyncio.Future[str] = loop.create_future()

    def told(id: str = "") -> None:
        if not begun.done():
            begun.set_result(id)

    def hear(id: str, name: str, value: Any) -> None:
        if name == "begin":
            loop.call_soon_threadsafe(told, id)

    result = asyncio.create_task(ask(service, inquiry, hear).result())
    result.add_done_callback(lambda _: told())
    return result, begun


class _Listener:
    """Hears a pipeline, and tells what a client may hear: what it drafts is not checked yet, and is not told."""

    def __init__(self, inquiry: Inquiry, thresholds: dict[str, Any], hear: Hear) -> None:
        self._inside = inquiry.inside
        self._about = {
            "collection": inquiry.collection,
            "conversation": inquiry.conversation,
            "thresholds": thresholds,
        }
        self._hear = hear
        self._id = ""

    def __call__(self, event: Event) -> None:
        """Pass an event on."""
        if event.name == "begun":
            self._id = event.value.id
            self._hear(self._id, "begin", {"id": self._id, "question": event.value.question, **self._about})
        elif event.name == "step_begins":
            self._hear(self._id, "started", {"step": event.value})
        elif event.name not in ("text", "ended"):
            veil = isinstance(event.value, Step) and not self._inside
            self._hear(self._id, event.name, to_json(veiled(event.value) if veil else event.value))


def _keep(service: Service, inquiry: Inquiry, trace: Trace) -> None:
    service.traces.keep(inquiry.collection, trace)
    if inquiry.conversation:
        said = trace.answer.text if trace.answer else ""
        service.conversations.add(inquiry.collection, inquiry.conversation, Turn(inquiry.question, said, trace.id))


def _count(service: Service, trace: Trace) -> None:
    action = trace.decision.action.value if trace.decision else "none"
    service.metrics.count("surefoot_questions_total", f'action="{action}"')
    service.metrics.count("surefoot_question_seconds_count")
    service.metrics.count("surefoot_question_seconds_sum", by=sum(step.seconds for step in trace.steps))
    service.metrics.count("surefoot_tokens_total", by=sum(step.tokens for step in trace.steps))


def shown(trace: Trace, inside: bool) -> Trace:
    """The trace as a client gets it: without the configuration, which names files, machines and models. A client that
    is not `inside` is told which part failed, and neither the address nor the path at which it did."""
    steps = trace.steps if inside else tuple(map(veiled, trace.steps))
    return replace(trace, config={}, steps=steps)


def veiled(step: Step) -> Step:
    """The step without the addresses and paths in what it says of its failure."""
    error, degraded = (said and _PLACE.sub("…", said) for said in (step.error, step.degraded))
    return replace(step, error=error, degraded=degraded)
