"""Retrieval by meaning: passages whose vectors lie near the question's."""

from surefoot.index.search import Index
from surefoot.types import Passage
from surefoot.types.metadata import NO_FILTER, Filter
from surefoot.types.protocols import Embedder, embedded_questions


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
        return self._index.nearest(embedded_questions(self._embedder, [question])[0], k, filter)
