"""Passages that come with a question, in place of an index."""

from dataclasses import dataclass

from surefoot.types import Passage
from surefoot.types.metadata import NO_FILTER, Filter

USE = "surefoot.retrievers._given:Given"
"""The name that a configuration has for it as retriever, and as searcher, where they are read."""


@dataclass(frozen=True, slots=True)
class Given:
    """A retriever, and a searcher, of the passages that it was given; whatever is asked, in their order."""

    passages: tuple[Passage, ...] = ()
    name: str = "given"

    def retrieve(self, question: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """The first `k` that the filter lets through."""
        return tuple(passage for passage in self.passages if filter.matches(passage.meta))[:k]

    def search(self, query: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """The same."""
        return self.retrieve(query, k, filter)
