"""Several searchers in a declared order, each behind a circuit breaker."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from threading import Lock

from surefoot.run import meter
from surefoot.types import Passage
from surefoot.types.errors import ComponentError, ConfigError, SearchError, Throttled
from surefoot.types.metadata import NO_FILTER, Filter, Find, can_filter, filtered
from surefoot.types.protocols import Searcher

LONGEST = 3600.0
"""Seconds that a searcher rests, at most, however long it asks for."""


class Breaker:
    """A circuit breaker: keeps a searcher from being asked after repeated failures, or while it told us to wait.

    It opens after `failures` in a row, or at once when the searcher is throttled, for `rest` seconds or as long as the
    searcher asks. Then one search goes through as a trial: if it succeeds the breaker closes, else the next rest is
    twice as long, up to LONGEST. Each rest is up to a quarter longer at random. Times are in seconds of a clock that
    only rises. Thread-safe.
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
        """The reason why it may not be asked now; None: it may, in a trial by this caller alone."""
        with self._lock:
            if not self._openings:
                return None
            if now < self._until:
                return f"rests for another {self._until - now:.0f} s after this failure: {self._reason}"
            self._until = now + self._rest  # keeps the others off during the trial, even if that never ends
            return None

    def succeed(self, begun: float) -> None:
        """Note that a search begun at `begun` went well; one begun before the breaker opened proves nothing."""
        with self._lock:
            if begun > self._opened:
                self._failed = self._openings = 0

    def fail(self, begun: float, now: float, error: ComponentError) -> None:
        """Note that a search begun at `begun` failed; one begun before the breaker opened does not count."""
        with self._lock:
            if begun <= self._opened:
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
    """Asks several searchers in turn until one finds something.

    The step names each searcher that failed, was throttled, rests or found nothing: "searxng throttled, used
    wikipedia". One that failed `failures` times in a row, or is throttled, rests for `rest` seconds or as long as it
    asks, without anyone waiting, and is then tried again (see `Breaker`). Where none finds anything the result is
    empty, and the step says why some could not search. Raises SearchError, with the reasons, where none could.
    """

    def __init__(self, searchers: Sequence[Searcher], failures: int = 3, rest: float = 30.0) -> None:
        if not searchers or failures < 1 or rest <= 0:
            raise ConfigError("a chain needs a searcher, at least 1 of failures, and a rest of more than 0 seconds")
        self.name = f"chain:{'+'.join(searcher.name for searcher in searchers)}"
        self.clock = time.monotonic
        self._links = tuple((searcher, Breaker(failures, rest)) for searcher in searchers)

    def search(self, query: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """The passages of the first searcher that finds any; with a filter, one that cannot filter is not asked."""
        passed: list[str] = []
        reasons: list[str] = []
        for searcher, breaker in self._links:
            if filter and not can_filter(searcher.search):
                passed.append(f"{searcher.name} cannot filter")
                reasons.append(f"{searcher.name}: cannot filter")
                continue
            try:
                found = self._ask(filtered(searcher.search, filter, searcher.name), breaker, query, k)
            except ComponentError as error:
                resting = "rests" if isinstance(error, _Resting) else "failed"
                passed.append(f"{searcher.name} {'throttled' if isinstance(error, Throttled) else resting}")
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

    def _ask(self, find: Find[tuple[Passage, ...]], breaker: Breaker, query: str, k: int) -> tuple[Passage, ...]:
        begun = self.clock()
        if refusal := breaker.refusal(begun):
            raise _Resting(refusal)
        try:
            found = find(query, k)
        except ComponentError as error:
            breaker.fail(begun, self.clock(), error)
            raise
        breaker.succeed(begun)
        return found


class _Resting(SearchError):
    """A searcher that was not asked, since its breaker is open."""


def _tell(passed: Sequence[str], instead: str, reasons: Sequence[str]) -> None:
    if passed:
        because = f" ({'; '.join(reasons)})" if reasons else ""
        meter.degrade(f"{', '.join(passed)}, {instead}{because}")
