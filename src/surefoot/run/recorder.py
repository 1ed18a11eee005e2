"""Builds a trace while a question runs: times each step, meters it, tells whoever listens."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Event as Stop
from typing import Any, Literal, TypeVar, get_args

from surefoot.run import cancel, meter
from surefoot.run.cost import NO_BUDGET, Budget, budgeted
from surefoot.types import (
    Answer,
    Conflict,
    Decision,
    Event,
    Grade,
    Passage,
    RewrittenQuery,
    Step,
    Strip,
    Thresholds,
    Trace,
)
from surefoot.types.errors import Cancelled, ComponentError
from surefoot.types.metadata import NO_FILTER, Filter

T = TypeVar("T")
F = TypeVar("F")
Listener = Callable[[Event], None]
Field = Literal["read_as", "passages", "grades", "decision", "queries", "external", "strips", "conflicts", "answer"]


class Recorder:
    """The one mutable object of a run; it belongs to one question and one thread."""

    def __init__(
        self, question: str, config: dict[str, Any], listener: Listener | None = None, filter: Filter = NO_FILTER
    ) -> None:
        self.id = uuid.uuid4().hex[:12]
        self.question = question
        self.filter = filter
        self.read_as = ""
        self.passages: tuple[Passage, ...] = ()
        self.grades: tuple[Grade, ...] = ()
        self.decision: Decision | None = None
        self.earlier: tuple[Decision, ...] = ()
        self.outside: Thresholds | None = None
        self.rewritten: tuple[RewrittenQuery, ...] = ()
        self.queries: tuple[str, ...] = ()
        self.external: tuple[Passage, ...] = ()
        self.strips: tuple[Strip, ...] = ()
        self.conflicts: tuple[Conflict, ...] = ()
        self.answer: Answer | None = None
        self._steps: list[Step] = []
        self._error: str | None = None
        self._config = config
        self._listener = listener
        self._created = datetime.now(UTC).isoformat(timespec="seconds")

    @property
    def standalone(self) -> str:
        """The question that is searched, graded and answered."""
        return self.read_as or self.question

    @contextmanager
    def running(self, stop: Stop | None, budget: Budget = NO_BUDGET) -> Iterator[None]:
        """Answer the question inside, within the budget. Once the event is set, or whoever listens raises Cancelled,
        that ends, and the trace says so."""
        with cancel.heeding(stop), budgeted(budget):
            try:
                self._tell("begun", self._trace())
                yield
            except Cancelled as cancelled:
                self._error = f"cancelled: {cancelled}"

    def step(self, name: str, work: Callable[..., T], *arguments: Any, fallback: F, instead: str) -> T | F:
        """Run `work(*arguments)`. If a component fails, give `fallback`; the step then has the error and `instead`."""
        cancel.heed()
        self._tell("step_begins", name)
        failed: ComponentError | Cancelled | None = None
        result: T | F = fallback
        started, begun = datetime.now(UTC).isoformat(timespec="milliseconds"), time.perf_counter()
        with meter.metered() as spent:
            try:
                cancel.check()  # in here, so that a step whose time is over takes its fallback
                result = work(*arguments)
            except ComponentError as error:
                failed = error
                meter.degrade(instead)
            except Cancelled as error:
                failed = error
        seconds = time.perf_counter() - begun
        notes = "; ".join(spent.degraded) or None, str(failed) if failed else None
        counted = spent.calls, spent.graded, spent.escalated, spent.tokens, spent.cached
        self._steps.append(Step(name, seconds, *counted, *notes, spent.completion_tokens, started))
        self._tell("step", self._steps[-1])
        if isinstance(failed, Cancelled):
            raise failed
        return result

    def set(self, name: Field, value: T) -> T:
        """Record a field of the trace and tell the listener."""
        setattr(self, name, value)
        self._tell(name, value)
        return value

    def text(self, piece: str) -> None:
        """Pass on a piece of the model's output as it comes."""
        cancel.check()
        self._tell("text", piece)

    def trace(self, error: str | None = None) -> Trace:
        """The finished trace; `error` says why there is no answer."""
        self._error = error or self._error
        trace = self._trace()
        self._tell("ended", trace)
        return trace

    def _trace(self) -> Trace:
        fields = {name: getattr(self, name) for name in ("id", "question", *get_args(Field))}
        fields |= {
            "filter": self.filter.as_json(),
            "earlier": self.earlier,
            "rewritten": self.rewritten,
            "outside": self.outside,
        }
        steps, config, error, created = tuple(self._steps), self._config, self._error, self._created
        return Trace(**fields, steps=steps, config=config, error=error, created=created)

    def _tell(self, name: Any, value: Any) -> None:
        if self._listener:
            self._listener(Event(name, value))


def safely(ask: Callable[[], Trace], question: str, config: dict[str, Any]) -> Trace:
    """The trace that `ask` gives; if it fails, a trace of the question with the error."""
    try:
        return ask()
    except Exception as error:  # noqa: BLE001 - one question must not take the others of the batch with it
        return Recorder(question, config).trace(error=f"{type(error).__name__}: {error}")
