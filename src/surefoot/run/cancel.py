"""Stopping a question that nobody waits for any more, or whose time is over.

Components that work for long look between two pieces of work, by `check`, and wait by `pause` and `result`. Like the
meter it is no argument, but goes with the thread.
"""

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import TIMEOUT_MAX, Event, Thread
from typing import Any, TypeVar

from surefoot.types.errors import Cancelled, OverBudget

T = TypeVar("T")

GLANCE = 0.05
"""Seconds after which a wait for another thread looks whether the question was cancelled."""

_stop: ContextVar[Event | None] = ContextVar("surefoot_stop", default=None)
_ends: ContextVar[tuple[float, str]] = ContextVar("surefoot_ends", default=(math.inf, ""))


@contextmanager
def heeding(stop: Event | None) -> Iterator[None]:
    """Stop the work inside, in this thread, once the event is set; None: once that of an outer block is."""
    token = _stop.set(stop or _stop.get())
    try:
        yield
    finally:
        _stop.reset(token)


@contextmanager
def until(seconds: float | None, late: str) -> Iterator[None]:
    """Let `check` fail in the code inside, in this thread, after so many seconds, with these words; None: never."""
    token = _ends.set((time.monotonic() + (math.inf if seconds is None else seconds), late))
    try:
        yield
    finally:
        _ends.reset(token)


def check() -> None:
    """Raise Cancelled if the question that this thread works on was cancelled, OverBudget if its time is over; else it
    costs next to nothing."""
    heed()
    ends, late = _ends.get()
    if time.monotonic() > ends:
        raise OverBudget(late)


def heed() -> None:
    """Raise Cancelled if the question that this thread works on was cancelled, however late it is."""
    if (stop := _stop.get()) and stop.is_set():
        raise Cancelled("nobody waits for the answer any more")


def pause(seconds: float) -> None:
    """Sleep; raise Cancelled as soon as the question is cancelled."""
    if stop := _stop.get():
        stop.wait(seconds)
        check()
    else:
        time.sleep(seconds)


def beside(work: Callable[..., T], *arguments: Any) -> Future[T]:
    """The result of `work(*arguments)`, from a thread that neither the question nor the end of the program waits for: a
    pool's would keep the program from ending. The thread has the question's meter, deadline and event."""
    future: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(work, *arguments))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is waited for
            future.set_exception(error)

    Thread(target=run, name="beside", daemon=True).start()
    return future


def result(future: Future[T], seconds: float = TIMEOUT_MAX) -> T:
    """The result of another thread within so many seconds, or TimeoutError; raises Cancelled soon after the question is
    cancelled, OverBudget soon after its time is over, and the other thread goes on."""
    check()
    ends = time.monotonic() + seconds
    while (_stop.get() or _ends.get()[0] < math.inf) and not future.done() and (left := ends - time.monotonic()) > 0:
        wait([future], min(GLANCE, left))
        check()
    return future.result(max(0.0, ends - time.monotonic()))
