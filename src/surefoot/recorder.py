"""Builds a trace while a question runs: times each step, meters it, tells whoever listens."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar, get_args

from surefoot import meter
from surefoot.errors import ComponentError
from surefoot.meta import NO_FILTER, Filter
from surefoot.types import Answer, Conflict, Decision, Event, Grade, Passage, Step, Strip, Trace

T = TypeVar("T")
F = TypeVar("F")
Listener = Callable[[Event], None]
Field = Literal["read_as", "passages", "grades", "decision", "queries", "external", "strips", "conflicts", "answer"]


class Recorder:
    """The one mutable object of a run; it belongs to one question and one thread."""

    def __init__(
        self, question: str, config: dict[str, Any], listener: Listener | None = None, filter: Filter = NO_FILTER
    ) -> None:
        self.question = question
        self.filter = filter
        self.read_as = ""
        self.passages: tuple[Passage, ...] = ()
        self.grades: tuple[Grade, ...] = ()
        self.decision: Decision | None = None
        self.queries: tuple[str, ...] = ()
        self.external: tuple[Passage, ...] = ()
        self.strips: tuple[Strip, ...] = ()
        self.conflicts: tuple[Conflict, ...] = ()
        self.answer: Answer | None = None
        self._steps: list[Step] = []
        self._config = config
        self._listener = listener
        self._created = datetime.now(UTC).isoformat(timespec="seconds")

    @property
    def asked(self) -> str:
        """The question that is searched, graded and answered."""
        return self.read_as or self.question

    def step(self, name: str, work: Callable[..., T], *arguments: Any, fallback: F, instead: str) -> T | F:
        """Run `work(*arguments)`. If a component fails, give `fallback`; the step then has the error and `instead`."""
        error: str | None = None
        result: T | F = fallback
        begun = time.perf_counter()
        with meter.metered() as spent:
            try:
                result = work(*arguments)
            except ComponentError as caught:
                error = str(caught)
                meter.degrade(instead)
        seconds = time.perf_counter() - begun
        degraded = "; ".join(spent.degraded) or None
        counted = spent.calls, spent.graded, spent.escalated, spent.tokens, spent.cached
        done = Step(name, seconds, *counted, degraded, error)
        self._steps.append(done)
        self._tell("step", done)
        return result

    def set(self, name: Field, value: T) -> T:
        """Record a field of the trace and tell the listener."""
        setattr(self, name, value)
        self._tell(name, value)
        return value

    def text(self, piece: str) -> None:
        """Pass on a piece of the model's output as it comes."""
        self._tell("text", piece)

    def trace(self, error: str | None = None) -> Trace:
        """The finished trace; `error` says why there is no answer."""
        fields = {name: getattr(self, name) for name in ("question", *get_args(Field))}
        fields["filter"] = self.filter.as_json()
        steps, config, created = tuple(self._steps), self._config, self._created
        return Trace(uuid.uuid4().hex[:12], **fields, steps=steps, config=config, error=error, created=created)

    def _tell(self, name: Any, value: Any) -> None:
        if self._listener:
            self._listener(Event(name, value))
