"""The order in which passages are trusted and shown: by their grades, and by how well they were found.

A grade reads a passage word by word and is often wrong about a manual; the retriever knows how rare the words are that
passage and question share. Together they are right more often than either (`benchmarks/manuals.md`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from surefoot.text.words import words
from surefoot.types import Grade, Passage

SAME = 0.8
"""Share of the words of the shorter of two texts that the longer one must hold to repeat it."""

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
    """The passages that a reader should see first, each with its grade, and none that repeats a better one; what could
    not be graded comes last."""
    chosen: list[int] = []
    said: list[str] = []
    for n in order(passages, [grade.score for grade in grades]):
        if len(chosen) < count and not repeats(passages[n].text, said):
            chosen.append(n)
            said.append(passages[n].text)
    return tuple((passages[n], grades[n]) for n in chosen)


def repeats(text: str, others: Iterable[str]) -> bool:
    """Whether nearly all the words of one of the others stand in the text, or those of the text in it: manuals come as
    HTML and as their own source, and chapters say a thing twice."""
    mine = set(words(text))
    return any(_alike(mine, set(words(other))) for other in others)


def _alike(one: Set[str], other: Set[str]) -> bool:
    return len(one & other) >= SAME * max(1, min(len(one), len(other)))


def _ranks(values: Sequence[float | None]) -> list[int]:
    """From 1; equal values have the rank of the first of them."""
    ordered = sorted((value for value in values if value is not None), reverse=True)
    first: dict[float, int] = {}
    for rank, value in enumerate(ordered, start=1):
        first.setdefault(value, rank)
    return [first[value] if value is not None else len(values) + 1 for value in values]
