"""Retrievers fused into one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from surefoot.protocols import Retriever
from surefoot.types import Passage


class Hybrid:
    """Reciprocal rank fusion: a passage scores the sum of 1 / (constant + rank) over the retrievers that found it.

    Only ranks count, so that scores of any scales can be fused (Cormack, Clarke and Büttcher, SIGIR 2009, who set the
    constant to 60). Costs one retrieval of `depth` passages from each.
    """

    name = "hybrid"

    def __init__(self, retrievers: Sequence[Retriever], depth: int = 50, constant: int = 60) -> None:
        self._retrievers = tuple(retrievers)
        self._depth = depth
        self._constant = constant

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        """At most `k` passages, scored by the fusion; ties go by id."""
        found: dict[str, Passage] = {}
        scores: defaultdict[str, float] = defaultdict(float)
        for retriever in self._retrievers:
            for rank, passage in enumerate(retriever.retrieve(question, max(k, self._depth)), start=1):
                found.setdefault(passage.id, passage)
                scores[passage.id] += 1 / (self._constant + rank)
        best = sorted(scores, key=lambda id: (-scores[id], id))[:k]
        return tuple(replace(found[id], score=scores[id]) for id in best)
