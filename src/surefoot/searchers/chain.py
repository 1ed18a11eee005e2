"""Several searchers in a declared order, each behind a circuit breaker."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Lock

from surefoot.run import meter
from surefoot.types import Passage
from surefoot.types.errors import ComponentError, ConfigError, SearchError, Throttled
from surefoot.types.metadata import NO_FILTER, Filter, can_filter, filtered
from surefoot.types.protocols import Searcher

LONGEST = 3600.0  # seconds that a searcher rests, at most, however long it asks for


class Breaker:
    """Keeps a searcher from being asked for `rest` seconds after `failures` in a row, or for as long as it asks where
    it is throttled. Then one search tries, while the others pass it over for another rest. Thread-safe."""

    def __init__(self, failures: int, rest: float) -> None:
        self._allowed = failures
        self._rest = rest
        self._lock = Lock()
        self._failed = 0
        self._until = float("-inf")
        self._reason = ""

    def refusal(self, now: float) -> str | None:
        """The reason why it may not be asked now; None: it may, in a trial by this caller alone."""
        with self._lock:
            if now < self._until:
                return f"rests for another {self._until - now:.0f} s after this failure: {self._reason}"
            if self._failed >= self._allowed:
                self._until = now + self._rest
            return None

    def succeed(self) -> None:
        """Note that a search went well."""
        with self._lock:
            self._failed, self._until = 0, float("-inf")

    def fail(self, now: float, error: ComponentError) -> None:
        """Note that a search failed."""
        with self._lock:
            self._failed += 1
            self._reason = str(error)
            wait = error.wait if isinstance(error, Throttled) else None
            if isinstance(error, Throttled) or self._failed >= self._allowed:
                self._until = now + min(self._rest if wait is None else wait, LONGEST)


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
            found, outcome, reason = self._ask(searcher, breaker, query, k, filter)
            if found:
                _tell(passed, f"used {searcher.name}", reasons)
                return found
            passed.append(f"{searcher.name} {outcome}")
            reasons += [f"{searcher.name}: {reason}"] * bool(reason)
        if len(reasons) == len(self._links):
            raise SearchError(f"no searcher could search: {'; '.join(reasons)}")
        if reasons:
            _tell(passed, "nothing else to ask", reasons)
        return ()

    def _ask(
        self, searcher: Searcher, breaker: Breaker, query: str, k: int, filter: Filter
    ) -> tuple[tuple[Passage, ...], str, str]:
        """The passages, else what became of the search, and why it failed."""
        if filter and not can_filter(searcher.search):
            return (), "cannot filter", "cannot filter"
        if refusal := breaker.refusal(self.clock()):
            return (), "rests", refusal
        try:
            found = filtered(searcher.search, filter, searcher.name)(query, k)
        except ComponentError as error:
            breaker.fail(self.clock(), error)
            return (), "throttled" if isinstance(error, Throttled) else "failed", str(error)
        breaker.succeed()
        return found, "found nothing", ""


def _tell(passed: Sequence[str], instead: str, reasons: Sequence[str]) -> None:
    if passed:
        because = f" ({'; '.join(reasons)})" if reasons else ""
        meter.degrade(f"{', '.join(passed)}, {instead}{because}")
