"""Threads that several callers share fairly."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from threading import Lock
from typing import Any, TypeVar

from surefoot.run import cancel

T = TypeVar("T")


class FairPool:
    """Threads that take a piece of each caller's work in turn: nobody with 30 pieces waits for somebody's 1,000."""

    def __init__(self, threads: int, name: str) -> None:
        self._threads = ThreadPoolExecutor(threads, name)
        self._lock = Lock()
        self._callers: deque[deque[tuple[Future[Any], Callable[[], Any]]]] = deque()
        """The pieces of each caller that are not begun; the caller whose turn is next comes first."""

    def each(self, work: Callable[..., T], inputs: Iterable[tuple[Any, ...]]) -> list[T]:
        """The values that `work` makes of the inputs, in order, side by side, in the caller's context (meter,
        deadline). Raises what `work` raises, and Cancelled."""
        pieces = [(Future[T](), _bound(work, one)) for one in inputs]
        if pieces:
            with self._lock:
                self._callers.append(deque(pieces))
        try:
            for _ in pieces:
                self._threads.submit(self._next)
            return [cancel.result(future) for future, _ in pieces]
        finally:
            for future, _ in pieces:
                future.cancel()  # those that are not begun, where one failed or the question was cancelled

    def _next(self) -> None:
        with self._lock:
            pieces = self._callers.popleft()
            future, work = pieces.popleft()
            if pieces:
                self._callers.append(pieces)
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - it is raised where the result is waited for
                future.set_exception(error)


def _bound(work: Callable[..., T], arguments: tuple[Any, ...]) -> Callable[[], T]:
    context = copy_context()
    return lambda: context.run(work, *arguments)
