"""Several servers that do the same work: a request goes to the least busy one, and past those that fail."""

import math
from collections import deque
from collections.abc import Callable, Sequence, Set
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from itertools import count
from statistics import median
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

from surefoot.network.pace import backoff
from surefoot.run import cancel, meter
from surefoot.types.errors import EndpointError, NetworkError

N = TypeVar("N")
T = TypeVar("T")

LONGEST = 60.0
"""Seconds for which a node that failed is left out, at most."""
FEWEST = 8
"""Answers from which on the usual time is known; before, a second node is tried after a second."""
OVERDUE = 3.0
"""A request is late when it takes so many times the usual: the median, so that one slow node of three is noticed."""
SOONEST = 0.05
"""Seconds before which no request is late."""


@dataclass(eq=False, slots=True)
class _Node(Generic[N]):
    server: N
    running: int = 0
    """Requests that it works on."""
    turn: int = 0
    """The number of the latest request to it."""
    failures: int = 0
    """Failures in a row."""
    out_until: float = 0.0
    """The time until which it is left out."""


class Nodes(Generic[N]):
    """Servers that give equal answers. Each request goes to the one with the fewest running.

    A late request goes to a second node as well; the first answer counts, the other is dropped. A node that fails is
    left out: for half a second, doubled with each failure in a row, or for as long as it asks (Retry-After); a minute
    at most, and at once where it refuses every request. Then one request tries it again.
    """

    def __init__(self, servers: Sequence[N]) -> None:
        self._nodes = [_Node(one) for one in servers]
        self._lock, self._turns = Lock(), count(1)
        self._pace: deque[float] = deque(maxlen=100)
        """Seconds a unit of work of the latest requests, by the node that answered first."""

    def first(self, work: Callable[[N], T], size: float) -> T:
        """The first answer that `work` gets from a node. `size` is how much work it is, in any unit. The current step
        names each node that fails meanwhile. Raises EndpointError where no node answers, or the request is at fault."""
        tried: list[_Node[N]] = []
        running: Set[Future[tuple[T, float]]] = set()
        failure = "all failed a moment ago"
        while True:
            if len(running) < 2 and (node := self._take(tried)):
                tried.append(node)
                running = {*running, cancel.beside(self._timed, node, work)}
            elif not running:
                raise EndpointError(f"none of {len(self._nodes)} nodes answers ({failure})")
            done, running = _done(running, self._patience(size) if len(running) == 1 else math.inf)
            for one in done:
                error = one.exception()
                if error is None:
                    answer, seconds = one.result()
                    self._pace.append(seconds / size)
                    return answer
                if not isinstance(error, EndpointError | NetworkError) or _at_fault(error):
                    raise error
                failure = str(error)
                meter.degrade(failure)

    def _take(self, tried: Sequence[_Node[N]]) -> _Node[N] | None:
        """The least busy node, which then has one request more; None: there is no other."""
        with self._lock:
            now = monotonic()
            free = (one for one in self._nodes if one not in tried and one.out_until <= now)
            if node := min(free, key=lambda one: (one.running, one.turn), default=None):
                node.running += 1
                node.turn = next(self._turns)
                node.out_until = now + LONGEST if node.failures else 0.0  # until this request, a trial, is answered
            return node

    def _timed(self, node: _Node[N], work: Callable[[N], T]) -> tuple[T, float]:
        begun = monotonic()
        try:
            answer = work(node.server)
            node.failures, node.out_until = 0, 0.0
            return answer, monotonic() - begun
        except (EndpointError, NetworkError) as error:
            if not _at_fault(error):
                node.failures += 1
                node.out_until = monotonic() + _pause(error, node.failures)
            raise
        finally:
            with self._lock:
                node.running -= 1

    def _patience(self, size: float) -> float:
        """Seconds after which a request is late."""
        pace = [*self._pace]
        return max(SOONEST, OVERDUE * median(pace) * size) if len(pace) >= FEWEST else 1.0


def _done(running: Set[Future[T]], seconds: float) -> tuple[Set[Future[T]], Set[Future[T]]]:
    """Those that are done, of which there is one unless so many seconds pass, and the others. Raises Cancelled."""
    ends = monotonic() + seconds
    while True:
        cancel.check()
        done, others = wait(running, max(0.0, min(cancel.GLANCE, ends - monotonic())), FIRST_COMPLETED)
        if done or monotonic() >= ends:
            return done, others


def _at_fault(error: Exception) -> bool:
    """True where the error blames the request, which any node would refuse."""
    return isinstance(error, EndpointError) and error.status in (400, 413, 422)


def _pause(error: EndpointError | NetworkError, failures: int) -> float:
    """Seconds for which a node is left out after an error."""
    if isinstance(error, NetworkError) or error.lasting or error.status == 409:
        return LONGEST
    return min(backoff(failures) if error.wait is None else error.wait, LONGEST)
