"""What fields, filters and collections cost: searches with and without a filter, and a document that comes and goes.

    python benchmarks/filters.py --passages 100000

Words and vectors are drawn at random, words as unevenly as in a language; each passage is a document with five fields.
Times are of the processor, in milliseconds, the least of five runs. Every filtered search is held against the
unfiltered one, whose passages that match it must give, in order.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from surefoot.index.search import Index
from surefoot.types import Block, Document
from surefoot.types.metadata import Filter, Meta
from surefoot.types.protocols import Matrix

FILTERS: dict[str, dict[str, Any]] = {
    "one of three languages": {"lang": "en"},
    "one year of 25": {"year": {">=": 2024}},
    "one document": {"number": 7},
    "99 of 100": {"share": {"<": 0.99}},
    "three conditions": {"lang": "en", "year": {">=": 2010}, "done": True},
    "all but one language": {"lang": {"!=": "en"}},
}
CHANCE = random.Random(1)
WORDS = [f"w{CHANCE.randrange(26**4):x}" for _ in range(30_000)]
WEIGHTS = [*accumulate(1 / (n + 5) for n in range(len(WORDS)))]


class Drawn:
    """An embedder that draws its vectors."""

    name = "drawn"
    dimensions = 256

    def __init__(self) -> None:
        self.chance = np.random.default_rng(7)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """As many unit vectors."""
        drawn = self.chance.standard_normal((len(texts), self.dimensions), dtype=np.float32)
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def document(n: int, of: int) -> Document:
    """The n-th."""
    meta = Meta(
        {"year": 2000 + n % 25, "lang": ("en", "de", "fr")[n % 3], "number": n, "share": n / of, "done": n % 2 == 0}
    )
    return Document("", said(4), (Block(said(90)),), id=str(n), meta=meta)


def said(words: int) -> str:
    """So many words."""
    return " ".join(CHANCE.choices(WORDS, cum_weights=WEIGHTS, k=words))


def told(what: str, work: Callable[[], object], times: int = 5) -> None:
    """Time it, and print a row."""
    took = []
    for _ in range(times):
        begun = process_time()
        work()
        took.append(process_time() - begun)
    print(f"| {what} | {min(took) * 1000:.1f} |", flush=True)


def searches(index: Index, embedder: Drawn, passages: int) -> None:
    """Rows of searches."""
    asked, vector = " ".join(WORDS[40:44] + WORDS[2000:2004]), embedder.embed(["?"])[0]
    for name, search, query in (("words", index.lexical, asked), ("likeness", index.nearest, vector)):
        told(f"by {name}, the first after a change", lambda s=search, q=query: s(q, 30), 1)
        told(f"by {name}", lambda s=search, q=query: s(q, 30))
        every = search(query, passages)
        for what, wanted in FILTERS.items():
            filter = Filter.of(wanted)
            told(f"by {name}, {what}", lambda s=search, q=query, f=filter: s(q, 30, f))
            assert search(query, 30, filter) == tuple(p for p in every if filter.matches(p.meta))[:30]


def changes(index: Index, embedder: Drawn) -> None:
    """Rows of documents that come and go."""
    several: Iterator[int] = iter(range(10))
    told("add a document", lambda: index.add([document(next(several), 10)], embedder, file="one"), 3)
    told("delete it, with those beside it", lambda: index.delete("one"), 1)
    for n in range(50):
        Index.make(index.path, embedder, f"c{n}").close()
    told("open one of 51 collections", lambda: Index.open(index.path, "c7").close())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--passages", type=int, default=100_000)
    passages, embedder = parser.parse_args().passages, Drawn()
    with tempfile.TemporaryDirectory() as folder, Index.make(Path(folder) / "index.db", embedder) as index:
        print(f"| {passages:,} passages | ms |\n| --- | ---: |")
        told("build", lambda: index.add((document(n, passages) for n in range(passages)), embedder), 1)
        searches(index, embedder, passages)
        changes(index, embedder)


if __name__ == "__main__":
    main()
