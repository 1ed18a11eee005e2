"""Lists of phrases, and the phrases of a text, to be held against them."""

from collections.abc import Sequence
from itertools import product


def phrases(there: Sequence[str]) -> set[str]:
    """All runs of at most three of the words, and the pairs that have one between them."""
    sizes = (there[n : n + size] for n in range(len(there)) for size in (1, 2, 3))
    pairs = (there[n : n + 3 : 2] for n in range(len(there) - 2))
    return {" ".join(some) for some in (*sizes, *pairs)}


def phrase_set(*some: str) -> frozenset[str]:
    """The phrases of lists that are parted by "|"."""
    return frozenset("|".join(some).split("|"))


def each(*columns: str) -> str:
    """All phrases of a word of each column, parted by "|" as the columns' words are."""
    return "|".join(map(" ".join, product(*(column.split("|") for column in columns))))
