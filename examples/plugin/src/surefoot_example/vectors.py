"""A third-party store: `surefoot index … --push` fills it, and it is searched as a retriever."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np

from surefoot import Passage
from surefoot.run.store import from_json, to_json
from surefoot.types.errors import IndexFault
from surefoot.types.protocols import Embedder, StoreRow


class Vectors:
    """The nearest passages by cosine, of all that are in a file of SQLite."""

    def __init__(self, embedder: Embedder, path: str = "vectors.db") -> None:
        self._embedder = embedder
        self._path = path

    def hashes(self) -> dict[str, str]:
        return dict(self._run("SELECT id, hash FROM passages"))

    def upsert(self, rows: Sequence[StoreRow]) -> None:
        values = ((row.passage.id, row.hash, json.dumps(to_json(row.passage)), row.vector.tobytes()) for row in rows)
        self._run("REPLACE INTO passages VALUES (?, ?, ?, ?)", values)

    def delete(self, ids: Collection[str]) -> None:
        self._run("DELETE FROM passages WHERE id = ?", ((id,) for id in ids))

    def finish(self) -> None:
        """Every vector is compared, so there is nothing to bring up to date."""

    def nearest(self, question: str, k: int) -> tuple[str, ...]:
        return tuple(passage.id for passage in self.retrieve(question, k))

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        held = self._run("SELECT passage, vector FROM passages ORDER BY id")
        if not held:
            raise IndexFault(f"{self._path} is empty; run: surefoot index PATH… --push")
        vectors = np.array([np.frombuffer(vector, np.float32) for _, vector in held])
        scores = vectors @ self._embedder.embed([question])[0]
        best = np.argsort(-scores, kind="stable")[:k]
        found = (from_json(Passage, json.loads(held[place][0])) for place in best)
        return tuple(replace(passage, score=float(scores[place])) for passage, place in zip(found, best, strict=True))

    def _run(self, statement: str, rows: Iterable[tuple[object, ...]] | None = None) -> list[tuple[str, bytes]]:
        """What a statement finds, or nothing after it was run for each of these rows, in one transaction."""
        with closing(sqlite3.connect(self._path)) as db, db:
            db.execute(
                "CREATE TABLE IF NOT EXISTS passages (id TEXT PRIMARY KEY, hash TEXT, passage TEXT, vector BLOB)"
            )
            return (db.execute(statement) if rows is None else db.executemany(statement, rows)).fetchall()
