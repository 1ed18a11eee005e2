"""Time: the deadline of what a thread is doing, and whose turn it is at a host."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

_deadline: ContextVar[float] = ContextVar("surefoot_deadline", default=math.inf)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """The code inside has so long for all that it asks of other machines, in this thread; within another such block, no
    longer than that leaves."""
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def left() -> float:
    """Seconds until the deadline: infinite without one, below 0 after it."""
    return _deadline.get() - time.monotonic()


class Pace:
    """Whose turn it is at each host, over all threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._next: dict[object, float] = {}

    def turn(self, host: object, spacing: float) -> bool:
        """Wait until it is this thread's turn at the host, and take it; False, at once, where that is too late."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next.get(host, now))
            if start - now >= left():
                return False
            self._next[host] = start + spacing
        time.sleep(start - now)
        return True

    def hold(self, host: object, seconds: float) -> bool:
        """Let nobody have a turn at the host for so long; False, and nothing is held, where that is too late."""
        if seconds >= left():
            return False
        with self._lock:
            self._next[host] = max(self._next.get(host, 0.0), time.monotonic() + seconds)
        return True
