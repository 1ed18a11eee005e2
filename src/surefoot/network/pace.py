"""Time: the deadline of a thread's work, the turns of all threads, and the pause after a failure."""

import math
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from operator import itemgetter
from threading import Lock

from surefoot.run import cancel
from surefoot.types.errors import NetworkError

LONGEST = 3600.0  # seconds for which a host is left alone at most, however long it asks for

_deadline: ContextVar[float] = ContextVar("surefoot_deadline", default=math.inf)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Give the code inside so long for all its requests in this thread, within what an outer block leaves."""
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def left() -> float:
    """Seconds until the deadline: infinite without one, negative after it."""
    return _deadline.get() - time.monotonic()


def backoff(failures: int, longest: float = math.inf) -> float:
    """Seconds to wait after so many failures in a row: half a second, doubled with each, `longest` at most; chance in
    it keeps threads and clients from falling in step."""
    return min(0.5 * 2.0 ** min(failures - 1, 10), longest) * random.uniform(0.5, 1)  # noqa: S311


class Late(NetworkError):
    """The request had too little time; another may have more."""


class Turns:
    """Turns at any number of things, such as hosts, over all threads: each thing has its own distance between two."""

    def __init__(self) -> None:
        self.clock = time.monotonic
        self._lock = Lock()
        self._next: dict[object, tuple[float, str]] = {}
        """The time from which each thing may be had again, and the reason for the wait."""

    def take(self, spacing: Mapping[object, float]) -> tuple[float, str]:
        """Take a turn at all of these things if each is free, and let the next follow after so many seconds. Returns
        0.0, or the seconds until they are free and why; then no turn is taken, since a thing may be held meanwhile."""
        with self._lock:
            now = self.clock()
            start, why = max((self._next.get(thing, (now, "")) for thing in spacing), key=itemgetter(0))
            if start > now:
                return start - now, why
            reason = "it gets one request each {:g} s, and is left alone"
            self._next |= {thing: (now + seconds, reason.format(seconds)) for thing, seconds in spacing.items()}
            return 0.0, ""

    def wait(self, thing: object, spacing: float) -> str | None:
        """Wait for a turn and take it; or return at once why it would come after this thread's deadline."""
        while left() > 0:
            seconds, why = self.take({thing: spacing})
            if not seconds:
                return None
            if seconds >= left():
                return f"{why} another {math.ceil(seconds)} s"
            cancel.pause(seconds)
        return "no time was left"

    def hold(self, thing: object, seconds: float, why: str) -> bool:
        """Let nobody have a turn for so long, LONGEST at most; whether this thread has the time to wait."""
        with self._lock:
            self._next[thing] = max(self._next.get(thing, (0.0, "")), (self.clock() + min(seconds, LONGEST), why))
        return seconds < left()

    def release(self, thing: object) -> None:
        """Let anybody have the next turn at once."""
        with self._lock:
            self._next.pop(thing, None)
