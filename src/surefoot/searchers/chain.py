"""Several searchers in a declared order, each of which rests where it fails again and again."""

from collections import Counter
from collections.abc import Sequence

from surefoot.network.pace import Turns
from surefoot.run import meter
from surefoot.types import Passage
from surefoot.types.errors import ComponentError, ConfigError, SearchError, Throttled
from surefoot.types.metadata import NO_FILTER, Filter, can_filter, filtered
from surefoot.types.protocols import Searcher


class Chain:
    """Asks several searchers in turn until one finds something.

    The step names each searcher that failed, was throttled, rests or found nothing: "searxng throttled, used
    wikipedia". One that failed `failures` times in a row, or is throttled, rests for `rest` seconds or as long as it
    asks, an hour at most, without anyone waiting; then one search tries it, while the others pass it over for another
    rest. Where none finds anything the result is empty, and the step says why some could not search. Raises
    SearchError, with the reasons, where none could.
    """

    def __init__(self, searchers: Sequence[Searcher], failures: int = 3, rest: float = 30.0) -> None:
        if not searchers or failures < 1 or rest <= 0:
            raise ConfigError("a chain needs a searcher, at least 1 of failures, and a rest of more than 0 seconds")
        self.name = f"chain:{'+'.join(searcher.name for searcher in searchers)}"
        self.turns = Turns()
        """At each searcher, by its number."""
        self.searchers, self._allowed, self._rest = tuple(searchers), failures, rest
        self._failed = Counter[int]()

    def search(self, query: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """The passages of the first searcher that finds any; with a filter, one that cannot filter is not asked."""
        passed: list[str] = []
        reasons: list[str] = []
        for number, searcher in enumerate(self.searchers):
            found, outcome, reason = self._ask(number, query, k, filter)
            if found:
                _tell(passed, f"used {searcher.name}", reasons)
                return found
            passed.append(f"{searcher.name} {outcome}")
            reasons += [f"{searcher.name}: {reason}"] * bool(reason)
        if len(reasons) == len(self.searchers):
            raise SearchError(f"no searcher could search: {'; '.join(reasons)}")
        if reasons:
            _tell(passed, "nothing else to ask", reasons)
        return ()

    def _ask(self, number: int, query: str, k: int, filter: Filter) -> tuple[tuple[Passage, ...], str, str]:
        """The passages, else what became of the search, and why it failed."""
        searcher = self.searchers[number]
        if filter and not can_filter(searcher.search):
            return (), "cannot filter", "cannot filter"
        seconds, why = self.turns.take({number: self._rest if self._failed[number] >= self._allowed else 0.0})
        if seconds:
            return (), "rests", f"rests for another {seconds:.0f} s, since {why}"
        try:
            found = filtered(searcher.search, filter, searcher.name)(query, k)
        except ComponentError as error:
            self._failed[number] += 1
            throttled = isinstance(error, Throttled)
            if throttled or self._failed[number] >= self._allowed:
                wait = error.wait if isinstance(error, Throttled) else None
                self.turns.hold(number, self._rest if wait is None else wait, f"it failed: {error}")
            return (), "throttled" if throttled else "failed", str(error)
        self._failed[number] = 0
        self.turns.release(number)
        return found, "found nothing", ""


def _tell(passed: Sequence[str], instead: str, reasons: Sequence[str]) -> None:
    if passed:
        because = f" ({'; '.join(reasons)})" if reasons else ""
        meter.degrade(f"{', '.join(passed)}, {instead}{because}")
