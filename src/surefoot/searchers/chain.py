"""Several searchers in a declared order, each behind a circuit breaker."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from threading import Lock

from surefoot import meter
from surefoot.errors import ComponentError, ConfigError, SearchError, Throttled
from surefoot.protocols import Searcher
from surefoot.types import Passage

LONGEST = 3600.0
"""Seconds that a searcher rests at most, however long it asks for; then it is tried again."""


class Breaker:
    """Whether a searcher may be asked: not after repeated failures, nor while it told us to wait. Thread-safe.

    Closed, it lets everyone through. It opens after `failures` in a row, or at once when the searcher says that it is
    throttled; then it rests for `rest` seconds, or for as long as it was told to wait. After the rest one search is let
    through to try. When that succeeds the breaker closes; when it fails the next rest is twice as long, up to LONGEST.
    All rests are up to a quarter longer, so that not everyone comes back at the same moment.

    `now` is in seconds of a clock that only rises.
    """

    def __init__(self, failures: int, rest: float) -> None:
        self._allowed = failures
        self._rest = rest
        self._lock = Lock()
        self._failed = 0
        self._openings = 0
        self._opened = float("-inf")
        self._until = float("-inf")
        self._reason = ""

    def refusal(self, now: float) -> str | None:
        """Why it may not be asked now; None: it may, and when this is a trial, only the caller may."""
        with self._lock:
            if not self._openings:
                return None
            if now < self._until:
                return f"rests for another {self._until - now:.0f} s, for last time: {self._reason}"
            self._until = now + self._rest  # holds the others off while this one tries, also when that never ends
            return None

    def succeed(self, asked: float) -> None:
        """A search that began at `asked` went well; one that began before the breaker opened proves nothing."""
        with self._lock:
            if asked > self._opened:
                self._failed = self._openings = 0

    def fail(self, asked: float, now: float, error: ComponentError) -> None:
        """A search that began at `asked` failed; of those under way when the breaker opened the first has counted."""
        with self._lock:
            if asked <= self._opened:
                return
            self._failed += 1
            self._reason = str(error)
            if isinstance(error, Throttled):
                self._open(now, error.wait)
            elif self._openings or self._failed >= self._allowed:
                self._open(now, None)

    def _open(self, now: float, wait: float | None) -> None:
        rest = self._rest * 2.0 ** min(self._openings, 20) if wait is None else wait
        self._openings += 1
        self._opened = now
        self._until = now + min(rest * random.uniform(1, 1.25), LONGEST)  # noqa: S311 - no secret hangs on it


class Chain:
    """Asks several searchers one after the other until one finds something.

    A searcher that fails, is throttled, rests or finds nothing is passed over, and the step says so: "searxng
    throttled, used wikipedia". One that failed `failures` times in a row, or is throttled, rests for `rest` seconds,
    or for as long as it asked for, and then is tried again (see `Breaker`); nobody waits for it. Where none finds
    anything the result is empty, and the step names the reasons of those that could not search; where none could,
    SearchError does.
    """

    def __init__(self, searchers: Sequence[Searcher], failures: int = 3, rest: float = 30.0) -> None:
        if not searchers or failures < 1 or rest <= 0:
            raise ConfigError("a chain has at least one searcher, breaks after at least one failure, and rests a while")
        self.name = f"chain:{'+'.join(searcher.name for searcher in searchers)}"
        self.clock = time.monotonic
        self._links = tuple((searcher, Breaker(failures, rest)) for searcher in searchers)

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        """What the first searcher that finds something finds."""
        passed: list[str] = []
        reasons: list[str] = []
        for searcher, breaker in self._links:
            try:
                found = self._ask(searcher, breaker, query, k)
            except ComponentError as error:
                passed.append(f"{searcher.name} {_verb(error)}")
                reasons.append(f"{searcher.name}: {error}")
                continue
            if found:
                _tell(passed, f"used {searcher.name}", reasons)
                return found
            passed.append(f"{searcher.name} found nothing")
        if len(reasons) == len(self._links):
            raise SearchError(f"no searcher could search: {'; '.join(reasons)}")
        if reasons:
            _tell(passed, "nothing else to ask", reasons)
        return ()

    def _ask(self, searcher: Searcher, breaker: Breaker, query: str, k: int) -> tuple[Passage, ...]:
        asked = self.clock()
        if refusal := breaker.refusal(asked):
            raise _Resting(refusal)
        try:
            found = searcher.search(query, k)
        except ComponentError as error:
            breaker.fail(asked, self.clock(), error)
            raise
        breaker.succeed(asked)
        return found


class _Resting(SearchError):
    """A searcher that was not asked, since its breaker is open."""


def _verb(error: ComponentError) -> str:
    if isinstance(error, Throttled):
        return "throttled"
    return "rests" if isinstance(error, _Resting) else "failed"


def _tell(passed: Sequence[str], instead: str, reasons: Sequence[str]) -> None:
    if passed:
        because = f" ({'; '.join(reasons)})" if reasons else ""
        meter.degrade(f"{', '.join(passed)}, {instead}{because}")
