"""A question on its way from a request to its kept trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Event as Flag
from typing import Any
from uuid import uuid4

from surefoot.pipeline import Pipeline
from surefoot.server.conversations import Turn
from surefoot.server.service import Service
from surefoot.server.workers import Place
from surefoot.store import to_json
from surefoot.text.follow_up import completed
from surefoot.types import Event, Trace

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


class _LetGo(Exception):
    """Nobody waits for the answer any more."""


def ask(service: Service, inquiry: Inquiry, hear: Hear = lambda id, name, value: None) -> Place[Trace]:
    """Take a place for a question, whose trace is kept. Raises Problem where none is free."""

    def work(stop: Flag) -> Trace:
        pipeline = service.library.pipeline(inquiry.collection)
        trace = _run(pipeline, inquiry, stop, hear)
        _keep(service, inquiry, trace)
        return trace

    return service.workers.start(work)


def _run(pipeline: Pipeline, inquiry: Inquiry, stop: Flag, hear: Hear) -> Trace:
    id = uuid4().hex[:12]
    begun = {"id": id, "question": inquiry.question, "thresholds": to_json(pipeline.policy.thresholds)}
    hear(id, "begin", {**begun, "collection": inquiry.collection})

    def listener(event: Event) -> None:
        if stop.is_set():
            raise _LetGo
        if event.name != "text":  # not checked yet
            hear(id, event.name, to_json(event.value))

    question = inquiry.question
    if inquiry.history:
        question = completed(question, inquiry.history[-1].question)
    return replace(pipeline.run(question, listener, filter=inquiry.filter), id=id)


def _keep(service: Service, inquiry: Inquiry, trace: Trace) -> None:
    service.traces.keep(inquiry.collection, trace)
    if inquiry.conversation:
        said = trace.answer.text if trace.answer else ""
        service.conversations.add(inquiry.collection, inquiry.conversation, Turn(inquiry.question, said, trace.id))
    action = trace.decision.action.value if trace.decision else "none"
    service.metrics.count("surefoot_questions_total", f'action="{action}"')
    service.metrics.count("surefoot_question_seconds_count")
    service.metrics.count("surefoot_question_seconds_sum", by=sum(step.seconds for step in trace.steps))
    service.metrics.count("surefoot_tokens_total", by=sum(step.tokens for step in trace.steps))


def shown(trace: Trace) -> dict[str, Any]:
    """The trace as a client gets it: without the configuration, which names files, machines and models."""
    return to_json(replace(trace, config={}))  # type: ignore[no-any-return]
