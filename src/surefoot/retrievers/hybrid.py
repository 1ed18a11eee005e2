"""Retrievers fused into one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from surefoot.evidence.ranking import CONSTANT
from surefoot.meta import NO_FILTER, Filter, Find, filtered
from surefoot.protocols import Retriever
from surefoot.types import Passage

WEIGHTS: Mapping[str, float] = MappingProxyType({"dense": 0.6})
"""By a retriever's name; others weigh 1. Words find names and numbers, likeness what was said in other words. Over four
question sets this finds as much among the first five as BM25 alone or up to 3 points more, for up to 4 points fewer
first places; equal weights and a constant of 60 lose up to 6 points among the first five (benchmarks/embedders.md)."""


class Hybrid:
    """Reciprocal rank fusion: the sum of weight / (constant + rank) over the retrievers that found a passage.

    Only ranks count, so that scores of any scales can be fused (Cormack, Clarke and Büttcher, SIGIR 2009, who weigh
    all alike and set the constant to 60; with 10, first places count for more). Costs one retrieval of `depth`
    passages from each.
    """

    name = "hybrid"

    def __init__(
        self,
        retrievers: Sequence[Retriever],
        weights: Mapping[str, float] = WEIGHTS,
        depth: int = 50,
        constant: int = CONSTANT,
    ) -> None:
        self._retrievers = tuple(
            (retriever, weights.get(getattr(retriever, "name", ""), 1.0)) for retriever in retrievers
        )
        self._mended = next((each.mended for each in retrievers if hasattr(each, "mended")), str)
        self._depth = depth
        self._constant = constant

    def mended(self, question: str) -> str:
        """The question as the first of the retrievers mends its spelling that can."""
        return self._mended(question)

    def retrieve(self, question: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """At most `k` passages, scored by the fusion; ties go by id. Raises ConfigError where one of the retrievers
        cannot filter."""
        finds = [(self._filtered(each, filter), weight) for each, weight in self._retrievers]
        found: dict[str, Passage] = {}
        scores: defaultdict[str, float] = defaultdict(float)
        for find, weight in finds:
            for rank, passage in enumerate(find(question, max(k, self._depth)), start=1):
                found.setdefault(passage.id, passage)
                scores[passage.id] += weight / (self._constant + rank)
        best = sorted(scores, key=lambda id: (-scores[id], id))[:k]
        return tuple(replace(found[id], score=scores[id]) for id in best)

    @staticmethod
    def _filtered(retriever: Retriever, filter: Filter) -> Find[tuple[Passage, ...]]:
        name = getattr(retriever, "name", type(retriever).__name__)
        return filtered(retriever.retrieve, filter, f"retriever '{name}'")
