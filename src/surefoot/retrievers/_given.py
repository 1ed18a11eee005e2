"""Passages that come with a question, in place of an index."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.types import Passage

USE = "surefoot.retrievers._given:Given"
"""What a configuration names as retriever, and as searcher, where they are read."""


@dataclass(frozen=True, slots=True)
class Given:
    """A retriever, and a searcher, of the passages that it was given; whatever is asked, in their order."""

    passages: tuple[Passage, ...] = ()
    name: str = "given"

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        """The first `k`."""
        return self.passages[:k]

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        """The first `k`."""
        return self.passages[:k]
