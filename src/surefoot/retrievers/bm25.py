"""Lexical retrieval: passages that share rare words with the question."""

from surefoot.index.search import Index
from surefoot.types import Passage
from surefoot.types.metadata import NO_FILTER, Filter


class Bm25:
    """BM25 over the embedded index. Finds names and numbers as they are written; a synonym not at all."""

    name = "bm25"

    def __init__(self, index: Index) -> None:
        self._index = index

    def retrieve(self, question: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """At most `k` passages that share a word with the question; none where no passage does."""
        return self._index.lexical(question, k, filter)
