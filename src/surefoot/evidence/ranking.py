"""The order in which passages are trusted and shown: by their grades, and by how well they were found.

A grade reads a passage word by word and is often wrong about a manual; the retriever knows how rare the words are that
passage and question share. Together they are right more often than either (`benchmarks/manuals.md`).
"""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.types import Grade, Passage

CONSTANT = 10
"""Of reciprocal rank fusion; the retrievers are fused with the same."""


def order(passages: Sequence[Passage], values: Sequence[float | None]) -> list[int]:
    """The places of the passages, the best first, by the sum of 1 / (CONSTANT + rank) over two rankings: by these
    values, and by the retriever's score, which those from one retrieval have. Without such scores, by the values alone.
    None comes last; of equals, what came first."""
    ranks = [_ranks(values)]
    if all(passage.score is not None for passage in passages):
        ranks.append(_ranks([passage.score for passage in passages]))
    worth = [sum(1 / (CONSTANT + each[n]) for each in ranks) for n in range(len(passages))]
    return sorted(range(len(passages)), key=lambda n: (values[n] is None, -worth[n]))


def best(passages: Sequence[Passage], grades: Sequence[Grade], count: int = 3) -> tuple[tuple[Passage, Grade], ...]:
    """The passages that a reader should see first, each with its grade; what could not be graded comes last."""
    places = order(passages, [grade.score for grade in grades])[:count]
    return tuple((passages[n], grades[n]) for n in places)


def _ranks(values: Sequence[float | None]) -> list[int]:
    """From 1; equal values have the rank of the first of them."""
    ordered = sorted((value for value in values if value is not None), reverse=True)
    first: dict[float, int] = {}
    for rank, value in enumerate(ordered, start=1):
        first.setdefault(value, rank)
    return [first[value] if value is not None else len(values) + 1 for value in values]
