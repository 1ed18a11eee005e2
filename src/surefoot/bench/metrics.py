"""What is counted, and how sure one can be of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


def match(answer: str, golds: Sequence[str]) -> bool:
    """Whether a gold alias is a substring of the answer, case and all: the rule of CRAG's released scripts.

    A blank alias, which stands in every text, counts for nothing.
    """
    return any(gold in answer for gold in golds if gold.strip())


def match_lower(answer: str, golds: Sequence[str]) -> bool:
    """The same in lower case: the rule of the open reproduction."""
    return match(answer.lower(), [gold.lower() for gold in golds])


def recall_at(k: int, retrieved: Sequence[str], gold: frozenset[str]) -> bool:
    """Whether one of the first `k` ids is a gold passage; a part `id#2` of a split passage counts as `id`."""
    return any(name in gold or name.rpartition("#")[0] in gold for name in retrieved[:k])


def wilson(successes: int, trials: int) -> tuple[float, float] | None:
    """95 % score interval of a share (Wilson 1927): in [0, 1], sound for few trials; None without trials."""
    if not trials:
        return None
    share, shrink = successes / trials, 1 + Z95**2 / trials
    middle = (share + Z95**2 / (2 * trials)) / shrink
    half = Z95 * sqrt(share * (1 - share) / trials + Z95**2 / (4 * trials**2)) / shrink
    return max(0.0, middle - half), min(1.0, middle + half)
