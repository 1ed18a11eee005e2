"""Retrievers fused into one."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType

from surefoot.evidence.merge import covered
from surefoot.run import cancel
from surefoot.types import Passage
from surefoot.types.metadata import NO_FILTER, Filter, filtered
from surefoot.types.protocols import Retriever
from surefoot.types.ranges import Count

WEIGHTS: Mapping[str, float] = MappingProxyType({"dense": 0.6})
"""By a retriever's name; others weigh 1. Over four question sets this finds as much among the first five as BM25 alone
or up to 3 points more; equal weights and a constant of 60 lose up to 6 points (benchmarks/embedders.md)."""

CONSTANT = 10  # of reciprocal rank fusion

DEPTH = 50  # passages taken from each retriever, unless it is asked for more


class Hybrid:
    """Reciprocal rank fusion: the sum of weight / (constant + rank) over the retrievers that found a passage.

    Only ranks count (Cormack, Clarke and Büttcher, SIGIR 2009, who weigh all alike and set the constant to 60; with 10,
    first places count for more). A passage is left out where one before it says all that it says.
    """

    name = "hybrid"

    def __init__(
        self,
        retrievers: Sequence[Retriever],
        weights: Mapping[str, float] = WEIGHTS,
        depth: Count = DEPTH,
        constant: int = CONSTANT,
    ) -> None:
        named = ((getattr(each, "name", type(each).__name__), each.retrieve) for each in retrievers)
        self._retrievers = tuple((name, retrieve, weights.get(name, 1.0)) for name, retrieve in named)
        self._depth = depth
        self._constant = constant

    def retrieve(self, question: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """At most `k` passages, scored by the fusion; ties go by id. The retrievers search side by side. Raises
        ConfigError where one cannot filter, and what the first that fails raises."""
        finds = [(filtered(find, filter, f"retriever '{name}'"), weight) for name, find, weight in self._retrievers]
        found: dict[str, Passage] = {}
        scores: defaultdict[str, float] = defaultdict(float)
        searches = [cancel.beside(find, question, max(k, self._depth)) for find, _ in finds]
        for search, (_, weight) in zip(searches, finds, strict=True):
            hits: tuple[Passage, ...] = cancel.result(search)
            for rank, passage in enumerate(hits, start=1):
                found.setdefault(passage.id, passage)
                scores[passage.id] += weight / (self._constant + rank)
        best = (found[id] for id in sorted(scores, key=lambda id: (-scores[id], id)))
        return tuple(replace(one, score=scores[one.id]) for one in islice(_new(best), k))


def _new(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Those that say something that none before them says: manuals come as HTML and as their own source, too."""
    before: list[Passage] = []
    for passage in passages:
        if not any(covered(passage, other) for other in before):
            before.append(passage)
            yield passage
