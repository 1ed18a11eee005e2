"""The searcher that finds nothing, and says so."""

from __future__ import annotations

from surefoot.run.meter import metered
from surefoot.searchers.nowhere import Nowhere


def test_it_finds_nothing_and_the_step_says_that_search_was_wanted() -> None:
    """An answer without search must not look like one that searched."""
    with metered() as spent:
        assert Nowhere().search("Ruvel Bridge", 5) == ()
    assert len(spent.degraded) == 1
    assert "no searcher" in spent.degraded[0]
