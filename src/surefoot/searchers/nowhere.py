"""No search."""

from typing import ClassVar

from surefoot.run import meter
from surefoot.types import Passage
from surefoot.types.metadata import NO_FILTER, Filter

NEEDED = "nothing outside the documents was searched: no searcher is configured, or it is off"


class Nowhere:
    """Finds nothing, and says that a search was needed; the default, so that nothing leaves the machine unasked."""

    name: ClassVar[str] = "nowhere"
    sends_queries: ClassVar[bool] = False

    def search(self, query: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """Always empty; the step is marked degraded."""
        meter.degrade(NEEDED)
        return ()
