"""Builds a trace while a question runs: times each step, meters it, tells whoever listens."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from threading import Event as Stop
from typing import Any, TypeVar

from surefoot.run import cancel, meter
from surefoot.run.cost import NO_BUDGET, Budget, budgeted
from surefoot.types import Event, Passage, RewrittenQuery, Step, Trace
from surefoot.types.errors import Cancelled, ComponentError
from surefoot.types.metadata import NO_FILTER, Filter

T = TypeVar("T")
F = TypeVar("F")
E = TypeVar("E")
Listener = Callable[[Event], None]


class Recorder:
    """The one mutable object of a run; it belongs to one question and one thread."""

    def __init__(
        self, question: str, config: dict[str, Any], *listeners: Listener | None, filter: Filter = NO_FILTER
    ) -> None:
        created = datetime.now(UTC).isoformat(timespec="seconds")
        self.trace = Trace(uuid.uuid4().hex[:12], question, config=config, created=created, filter=filter.as_json())
        """The trace so far."""
        self.filter = filter
        self.rewrites: dict[tuple[Passage, ...], tuple[RewrittenQuery, ...]] = {}
        """The queries that the rewriter gave, by the passages that it had seen."""
        self._listeners = tuple(listener for listener in listeners if listener)

    @property
    def standalone(self) -> str:
        """The question that is searched, graded and answered."""
        return self.trace.standalone_question

    @contextmanager
    def running(self, stop: Stop | None, budget: Budget = NO_BUDGET) -> Iterator[None]:
        """Answer the question inside, within the budget. Once the event is set, or whoever listens raises Cancelled,
        that ends, and the trace says so."""
        with cancel.heeding(stop), budgeted(budget):
            try:
                self._tell("begun", self.trace)
                yield
            except Cancelled as cancelled:
                self.note(error=f"cancelled: {cancelled}")

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
        step = Step(name, seconds, *counted, *notes, spent.completion_tokens, started)
        self.note(steps=(*self.trace.steps, step))
        self._tell("step", step)
        if isinstance(failed, Cancelled):
            raise failed
        return result

    def note(self, **fields: Any) -> None:
        """Record fields of the trace."""
        self.trace = replace(self.trace, **fields)

    def set(self, name: str, value: T) -> T:
        """Record a field of the trace and tell the listener."""
        self.note(**{name: value})
        self._tell(name, value)
        return value

    def text(self, piece: str) -> None:
        """Pass on a piece of the answer as it comes."""
        self._tell("text", piece)

    def finish(self, error: str | None = None) -> Trace:
        """The finished trace; `error` says why there is no answer."""
        self.note(error=error or self.trace.error)
        self._tell("ended", self.trace)
        return self.trace

    def _tell(self, name: Any, value: Any) -> None:
        for listener in self._listeners:
            listener(Event(name, value))


def safely(ask: Callable[[], Trace], question: str, config: dict[str, Any]) -> Trace:
    """The trace that `ask` gives; if it fails, a trace of the question with the error."""
    try:
        return ask()
    except Exception as error:  # noqa: BLE001 - one question must not take the others of the batch with it
        return Recorder(question, config).finish(error=f"{type(error).__name__}: {error}")


def streamed(ask: Callable[[Callable[[E], None]], Awaitable[object]]) -> AsyncGenerator[E, None]:
    """Begin `ask`, and yield each event that it hands its listener, from whichever thread; raise what it raises.
    Closing cancels it."""
    heard: asyncio.Queue[E | None] = asyncio.Queue()
    tell = asyncio.get_running_loop().call_soon_threadsafe

    def listen(event: E) -> None:
        tell(heard.put_nowait, event)

    asking = asyncio.ensure_future(ask(listen))
    asking.add_done_callback(lambda _: heard.put_nowait(None))
    return _until_done(asking, heard)


async def _until_done(asking: asyncio.Future[object], heard: asyncio.Queue[E | None]) -> AsyncGenerator[E, None]:
    try:
        while (event := await heard.get()) is not None:
            yield event
        await asking
    finally:
        asking.cancel()
        await asyncio.wait([asking])
