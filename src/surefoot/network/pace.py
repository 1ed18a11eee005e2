"""Time: the deadline of what a thread is doing, and whose turn it is at a host."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from surefoot.errors import NetworkError

LONGEST = 3600.0
"""Seconds for which a host is left alone at most, however long it asks for."""

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


class Late(NetworkError):
    """There was too little time for it; another request may have more."""


class HostPace:
    """Whose turn it is at each host, over all threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._next: dict[object, tuple[float, str]] = {}
        """When each host may be asked again, and why not before."""

    def turn(self, host: object, spacing: float) -> str | None:
        """Wait until it is this thread's turn at the host, and take it; or, at once, why that is too late."""
        while left() > 0:
            with self._lock:  # no turn is taken before its time: what the host says meanwhile holds for all who wait
                now = time.monotonic()
                start, why = self._next.get(host, (now, ""))
                if start <= now:
                    self._next[host] = now + spacing, f"it gets one request each {spacing:g} s, and is left alone"
                    return None
            if start - now >= left():
                return f"{why} another {math.ceil(start - now)} s"
            time.sleep(start - now)
        return "no time was left"

    def hold(self, host: object, seconds: float, why: str) -> bool:
        """Let nobody have a turn at the host for so long, LONGEST at most; whether this thread has the time to wait."""
        with self._lock:
            self._next[host] = max(self._next.get(host, (0.0, "")), (time.monotonic() + min(seconds, LONGEST), why))
        return seconds < left()
