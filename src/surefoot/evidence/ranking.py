"""The passages of a trace that a reader should see first."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.types import Grade, Passage


def best(passages: Sequence[Passage], grades: Sequence[Grade], count: int = 3) -> tuple[tuple[Passage, Grade], ...]:
    """The best-graded passages, each with its grade, best first; of equals, the one that was found first. What could
    not be graded comes last."""
    pairs = list(zip(passages, grades, strict=True))
    order = sorted(pairs, key=lambda pair: pair[1].score if pair[1].score is not None else float("-inf"), reverse=True)
    return tuple(order[:count])
