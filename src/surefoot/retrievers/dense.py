"""Retrieval by meaning: passages whose vectors lie near the question's."""

from __future__ import annotations

from surefoot.index.search import Index
from surefoot.types import Passage
from surefoot.types.metadata import NO_FILTER, Filter
from surefoot.types.protocols import Embedder


class Dense:
    """Exact search by cosine over the embedded index. Always finds something, also where nothing fits."""

    name = "dense"

    def __init__(self, index: Index, embedder: Embedder) -> None:
        """Raises IndexFault when the index was built with another embedder."""
        index.check(embedder)
        self._index = index
        self._embedder = embedder

    def retrieve(self, question: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """The `k` nearest passages. Costs one embedding. Raises IndexFault as the constructor does."""
        self._index.check(self._embedder)
        embed = getattr(self._embedder, "embed_questions", self._embedder.embed)
        return self._index.nearest(embed([question])[0], k, filter)
