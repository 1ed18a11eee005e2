"""Lists of phrases, and the phrases of a text, to be held against them."""

from collections.abc import Sequence
from itertools import pairwise, product


def phrases(there: Sequence[str]) -> set[str]:
    """All runs of at most three of the words, and the pairs that have one between them."""
    pairs = [f"{one} {next}" for one, next in pairwise(there)]
    triples = (f"{pair} {last}" for pair, last in zip(pairs, there[2:], strict=False))
    return {*there, *pairs, *triples, *(f"{one} {last}" for one, last in zip(there, there[2:], strict=False))}


def phrase_set(*some: str) -> frozenset[str]:
    """The phrases of lists that are parted by "|"."""
    return frozenset("|".join(some).split("|"))


def each(*columns: str) -> str:
    """All phrases of a word of each column, parted by "|" as the columns' words are."""
    return "|".join(map(" ".join, product(*(column.split("|") for column in columns))))
