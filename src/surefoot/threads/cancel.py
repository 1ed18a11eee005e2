"""Stopping a question that nobody waits for any more.

Whoever asks hands an event to `Pipeline.run`. Components that work for long look at it between two pieces of work, by
`check`, and wait by `pause` and `result`; like the meter it is no argument, but goes with the thread.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from threading import TIMEOUT_MAX, Event
from typing import TypeVar

from surefoot.errors import Cancelled

T = TypeVar("T")

GLANCE = 0.05
"""Seconds after which a wait for another thread looks whether the question was cancelled."""

_stop: ContextVar[Event | None] = ContextVar("surefoot_stop", default=None)


@contextmanager
def heeding(stop: Event | None) -> Iterator[None]:
    """Stop the work inside, in this thread, once the event is set; None: once that of an outer block is."""
    token = _stop.set(stop or _stop.get())
    try:
        yield
    finally:
        _stop.reset(token)


def check() -> None:
    """Raise Cancelled if the question that this thread works on was cancelled; else it costs next to nothing."""
    if (stop := _stop.get()) and stop.is_set():
        raise Cancelled("nobody waits for the answer any more")


def pause(seconds: float) -> None:
    """Sleep; raise Cancelled as soon as the question is cancelled."""
    if stop := _stop.get():
        stop.wait(seconds)
        check()
    else:
        time.sleep(seconds)


def result(future: Future[T], seconds: float = TIMEOUT_MAX) -> T:
    """What another thread brings within so many seconds, or TimeoutError; raises Cancelled soon after the question is
    cancelled, and the other thread goes on."""
    check()
    ends = time.monotonic() + seconds
    while _stop.get() and not future.done() and (left := ends - time.monotonic()) > 0:
        wait([future], min(GLANCE, left))
        check()
    return future.result(max(0.0, ends - time.monotonic()))
