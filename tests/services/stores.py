"""The stores that tests run over, each a real engine, and a program that pushes passages to one of them.

    python tests/services/stores.py ENGINE PLACE TABLE COUNT

pushes COUNT passages, a twentieth at a time or a thousand, says before each verb what it does, and may be killed at any
moment.
"""

import os
import random
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.embedders.hashing import Hashing
from surefoot.index import push as pushing
from surefoot.types import Passage
from surefoot.types.metadata import Meta
from surefoot.types.protocols import StoreRow

Rows = Callable[[Callable[[str, str], bool]], Iterator[StoreRow]]
COUNT = int(os.environ.get("SUREFOOT_TEST_PASSAGES", "400"))
"""Passages that the laws of stores are tested with; lab/benchmarks/stores.md has what came of more."""
BATCH = min(COUNT // 20, pushing.BATCH)
DSN_ENV = "SUREFOOT_TEST_DSN"
EXTRAS = {"pgvector": "psycopg", "lance": "lancedb"}
"""The library that each store needs."""


@contextmanager
def postgres() -> Iterator[tuple[str, Callable[[], None]]]:
    """The DSN of a real PostgreSQL, and what kills it and starts it again."""
    launcher = [sys.executable, Path(__file__).with_name("postgres.py")]
    with subprocess.Popen(launcher, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        dsn = run.stdout.readline().strip()

        def kill() -> None:
            assert run.stdin is not None
            assert run.stdout is not None
            print("kill", file=run.stdin, flush=True)
            assert run.stdout.readline().strip() == dsn

        yield dsn, kill


def opened(engine: str, place: str, table: str = "surefoot_passages", embedder: Any = None, **options: Any) -> Any:
    """A store in a place of its engine: a DSN, a folder."""
    embedder = embedder or Hashing()
    if engine == "pgvector":
        from surefoot.retrievers.pgvector import Pgvector

        os.environ[DSN_ENV] = place
        return Pgvector(embedder, DSN_ENV, table, **options)
    from surefoot.retrievers.lance import Lance

    return Lance(embedder, place, table, **options)


def passages(count: int, changed: float = 0.0) -> Iterator[tuple[Passage, np.ndarray]]:
    """So many passages with their vectors, of which a share differs from the others' first form."""
    for n in range(count):
        words = " ".join(f"w{word}" for word in random.Random(n).sample(range(1000), 8))
        text = f"Hut {n} {words}" + " is closed" * (n < changed * count)
        yield Passage(f"p{n}", text, meta=Meta({"n": n})), Hashing().embed([text])[0]


def rows(passages: Iterable[tuple[Passage, npt.ArrayLike]], embedder: str = Hashing.name) -> Rows:
    """The rows of these passages, as those of an index are given to a push."""
    return lambda wanted: (row for row in map(row_of, passages, repeat(embedder)) if wanted(row.passage.id, row.hash))


def row_of(passage: tuple[Passage, npt.ArrayLike], embedder: str = Hashing.name) -> StoreRow:
    """The row of a passage and its vector, with a hash of both and of the embedder's name."""
    one, vector = passage
    numbers = np.asarray(vector, dtype=np.float32)
    return StoreRow(one, sha256(f"{one}{embedder}".encode() + numbers.tobytes()).hexdigest(), numbers)


class Memory:
    """A store in memory, which fails by what `faults` yields before each verb."""

    def __init__(self, faults: Sequence[Exception | None] = ()) -> None:
        self.held: dict[str, StoreRow] = {}
        self.written: list[int] = []
        self.finished = 0
        self._faults = iter(faults)

    def _work(self) -> None:
        if fault := next(self._faults, None):
            raise fault

    def hashes(self) -> dict[str, str]:
        self._work()
        return {id: row.hash for id, row in self.held.items()}

    def upsert(self, rows: Sequence[StoreRow]) -> None:
        self._work()
        self.written.append(len(rows))
        self.held |= {row.passage.id: row for row in rows}

    def delete(self, ids: Collection[str]) -> None:
        self._work()
        for id in ids:
            self.held.pop(id, None)

    def finish(self) -> None:
        self._work()
        self.finished += 1

    def nearest(self, question: str, k: int) -> tuple[str, ...]:
        return tuple(passage.id for passage in self.retrieve(question, k))

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return tuple(row.passage for row in self.held.values())[:k]


if __name__ == "__main__":
    engine, place, table, count = sys.argv[1:]
    pushing.BATCH = BATCH
    store = opened(engine, place, table)
    upsert, finish = store.upsert, store.finish
    store.upsert = lambda rows: (print("upsert", flush=True), upsert(rows))
    store.finish = lambda: (print("finish", flush=True), finish())
    pushing.push(store, rows(passages(int(count))))
    print("finished", flush=True)
