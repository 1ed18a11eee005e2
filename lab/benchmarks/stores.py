"""How long a store takes to fill, to bring up to date and to search, and how much of an exact search it finds.

    python lab/benchmarks/stores.py fill INDEX ENGINE PLACE
    python lab/benchmarks/stores.py change INDEX ENGINE PLACE
    python lab/benchmarks/stores.py ask INDEX ENGINE PLACE QUESTIONS.jsonl

INDEX is an embedded index of the shipped embedder. ENGINE is lance, pgvector (PLACE names the environment variable of
the DSN) or qdrant, whose engine for one process (`qdrant-edge-py`) stands here as far as the figures need it.
"""

import json
import resource
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from surefoot.embedders.static import Static
from surefoot.index.push import push
from surefoot.index.search import Index
from surefoot.types import Passage
from surefoot.types.protocols import StoreRow

DEPTH = 50


class Qdrant:
    """A shard of Qdrant: sparse vectors of BM25 and dense ones, fused by rank. Its filters and errors are not done."""

    def __init__(self, embedder: Static, place: str) -> None:
        import qdrant_edge as q

        self.q, self.embedder = q, embedder
        self.words = q.Bm25()
        config = q.EdgeConfig(
            vectors={"dense": q.EdgeVectorParams(size=embedder.dimensions, distance=q.Distance.Cosine)},
            sparse_vectors={"words": q.EdgeSparseVectorParams(modifier=q.Modifier.Idf)},
        )
        there = Path(place).exists()
        Path(place).mkdir(parents=True, exist_ok=True)
        self.shard = q.EdgeShard.load(place, config) if there else q.EdgeShard.create(place, config)

    def hashes(self) -> dict[str, str]:
        found, at = dict[str, str](), None
        while True:
            rows, at = self.shard.scroll(self.q.ScrollRequest(at, 10_000, with_payload=["id", "hash"]))
            found |= {row.payload["id"]: row.payload["hash"] for row in rows}
            if at is None:
                return found

    def upsert(self, rows: Sequence[StoreRow]) -> None:
        def point(row: StoreRow) -> Any:
            one = row.passage
            words = self.words.embed_document(f"{one.title}\n{one.text}")
            payload = {"id": one.id, "hash": row.hash, "title": one.title, "text": one.text}
            return self.q.Point(_uuid(one.id), {"dense": row.vector.tolist(), "words": words}, payload)

        self.shard.update(self.q.UpdateOperation.upsert_points([point(row) for row in rows]))

    def delete(self, ids: Sequence[str]) -> None:
        self.shard.update(self.q.UpdateOperation.delete_points([_uuid(id) for id in ids]))

    def finish(self) -> None:
        self.shard.optimize()
        self.shard.flush()

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        dense = self.q.Prefetch(DEPTH, query=self._near(question))
        words = self.q.Prefetch(DEPTH, query=self.q.Query.Nearest(self.words.embed_query(question), using="words"))
        fused = self.q.QueryRequest(k, query=self.q.Fusion.Rrf(k=60), prefetches=[dense, words], with_payload=True)
        rows = [row.payload for row in self.shard.query(fused)]
        return tuple(Passage(row["id"], row["text"], row["title"]) for row in rows)

    def nearest(self, question: str, k: int) -> tuple[str, ...]:
        found = self.shard.query(self.q.QueryRequest(k, query=self._near(question), with_payload=["id"]))
        return tuple(row.payload["id"] for row in found)

    def _near(self, question: str) -> Any:
        return self.q.Query.Nearest(self.embedder.embed([question])[0].tolist(), using="dense")


def _uuid(id: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_OID, id)


def opened(engine: str, place: str) -> Any:
    """The store in a place of its engine."""
    if engine == "qdrant":
        return Qdrant(Static(), place)
    if engine == "pgvector":
        from surefoot.retrievers.pgvector import Pgvector

        return Pgvector(Static(), place, timeout=60)
    from surefoot.retrievers.lance import Lance

    return Lance(Static(), place)


def fill(store: Any, index: Index, every: int = 0) -> None:
    """Push the index, with one passage in `every` changed, and say how long it took."""
    numbers, changed = count(), set[str]()

    def rows(wanted: Callable[[str, str], bool]) -> Iterator[StoreRow]:
        def wanted_now(id: str, hash: str) -> bool:
            if every and next(numbers) % every == 0:
                changed.add(id)
            return wanted(id, hash[::-1] if id in changed else hash)

        for row in index.rows(wanted_now):
            text = replace(row.passage, text=f"{row.passage.text} And more.")
            yield row._replace(passage=text, hash=row.hash[::-1]) if row.passage.id in changed else row

    begun = perf_counter()
    pushed = push(store, rows)
    print(f"{pushed}: {perf_counter() - begun:.2f} s, {_memory()} MB", flush=True)


def ask(store: Any, index: Index, questions: Sequence[str]) -> None:
    """Say how long retrieving thirty passages takes, and how many of the exact ten nearest the store's ten hold."""
    store.retrieve(questions[0], 30)
    seconds = sorted(_timed(lambda question=question: store.retrieve(question, 30)) for question in questions)
    half, most = (1000 * seconds[int(share * (len(seconds) - 1))] for share in (0.5, 0.95))
    some = questions[:100]
    ids, every = zip(*((row.passage.id, row.vector) for row in index.rows()), strict=True)
    exact = np.array(every) @ store.embedder.embed(some).T
    shares = []
    for question, column in zip(some, exact.T, strict=True):
        least = np.partition(column, -10)[-10] - 1e-3  # the index has vectors in half precision, and there are copies
        near = {id for id, score in zip(ids, column, strict=True) if score >= least}
        shares.append(len(near.intersection(store.nearest(question, 10))) / 10)
    print(f"half {half:.0f} ms, 95 of 100 {most:.0f} ms, recall@10 {np.mean(shares):.3f}, {_memory()} MB", flush=True)


def _timed(work: Callable[[], object]) -> float:
    begun = perf_counter()
    work()
    return perf_counter() - begun


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    what, path, engine, place, *rest = sys.argv[1:]
    with Index.open(path) as index:
        store = opened(engine, place)
        if what == "ask":
            with open(rest[0]) as lines:
                ask(store, index, [json.loads(line)["question"] for line in islice(lines, 300)])
        else:
            fill(store, index, 100 if what == "change" else 0)
