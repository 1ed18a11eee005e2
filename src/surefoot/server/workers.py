"""A bounded pool for questions: so many at a time, so many waiting, and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from threading import Event, Lock
from typing import Generic, TypeVar

from surefoot.server.problems import Problem

T = TypeVar("T")

PAUSE = 5
"""Seconds after which a client for whom there is no place may come again."""


@dataclass(frozen=True, slots=True)
class Ticket(Generic[T]):
    """A piece of work that runs or waits."""

    future: Future[T]
    stop: Event
    """Set once nobody waits for the result."""
    seconds: float

    async def result(self) -> T:
        """Wait for it. Raises Problem where it takes too long; if this call is cancelled, so is the work."""
        try:
            async with asyncio.timeout(self.seconds):
                return await asyncio.wrap_future(self.future)
        except TimeoutError:
            message = f"no answer came within {self.seconds:g} s; ask something shorter, or try again later"
            raise Problem(504, "too_slow", message) from None
        except asyncio.CancelledError:
            if self.stop.is_set():  # not by whoever waits, but with the whole server
                raise stopping() from None
            raise
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Drop it where it waits; where it runs, stop it at its next step."""
        self.stop.set()
        self.future.cancel()


class Workers:
    """Threads that work for clients. A place is free again when its thread is, and not before."""

    def __init__(self, count: int, waiting: int, seconds: float) -> None:
        self.count, self.waiting, self.seconds = count, waiting, seconds
        self.taken = 0
        """Places of work that runs or waits."""
        self.refused = 0
        """Clients that were told to come again."""
        self._pool = ThreadPoolExecutor(count, "question")
        self._lock = Lock()
        self._stops: set[Event] = set()
        self._closed = False

    def start(self, work: Callable[[Event], T]) -> Ticket[T]:
        """Take a place for `work`, which gets the event of its ticket. Raises Problem, 429, where all are taken."""
        stop = Event()
        with self._lock:
            if self._closed:
                raise stopping()
            if self.taken >= self.count + self.waiting:
                self.refused += 1
                raise busy()
            self.taken += 1
            self._stops.add(stop)
            future = self._pool.submit(copy_context().run, work, stop)
        future.add_done_callback(lambda _: self._free(stop))
        return Ticket(future, stop, self.seconds)

    def _free(self, stop: Event) -> None:
        with self._lock:
            self.taken -= 1
            self._stops.discard(stop)

    def close(self) -> None:
        """Stop: what runs ends at its next step, what waits is not begun."""
        with self._lock:
            self._closed = True
            for stop in self._stops:
                stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


def busy() -> Problem:
    """The problem of a client for whom there is no place."""
    return Problem(429, "busy", f"all places are taken; come again in {PAUSE} s", {"Retry-After": str(PAUSE)})


def stopping() -> Problem:
    """The problem of a client who comes while the server stops."""
    return Problem(503, "stopping", "the server is about to stop; come again in a moment", {"Retry-After": "5"})
