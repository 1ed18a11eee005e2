"""A store in a SQLite file, which any number of processes write to."""

import json
import os
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from surefoot.run.store import to_json
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, IndexFault
from surefoot.types.protocols import StoreRow


class SqliteStore:
    """It counts the rows that are written, and refuses to hold more than `most` passages, and to work without the
    environment variable `key_env`."""

    name = "sqlite"

    def __init__(self, path: str, most: int = 1_000_000, key_env: str = "PATH") -> None:
        if key_env not in os.environ:
            raise ConfigError(f"the environment variable {key_env} is not set; set it")
        self._path, self._most = Path(path), most

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=60)) as db, db:
            db.execute("CREATE TABLE IF NOT EXISTS rows (id TEXT PRIMARY KEY, hash TEXT, passage TEXT, vector BLOB)")
            db.execute("CREATE TABLE IF NOT EXISTS written (id TEXT)")
            yield db

    def hashes(self) -> dict[str, str]:
        with self._open() as db:
            return dict(db.execute("SELECT id, hash FROM rows"))

    def upsert(self, rows: Sequence[StoreRow]) -> None:
        with self._open() as db:
            for passage, hash, vector in rows:
                row = passage.id, hash, json.dumps(to_json(passage)), vector.tobytes()
                db.execute("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)", row)
                db.execute("INSERT INTO written VALUES (?)", (passage.id,))
            if db.execute("SELECT count(*) FROM rows").fetchone()[0] > self._most:
                raise IndexFault("the store is full; get a larger one")

    def delete(self, ids: Collection[str]) -> None:
        with self._open() as db:
            db.executemany("DELETE FROM rows WHERE id = ?", [(id,) for id in ids])

    def finish(self) -> None:
        pass

    def nearest(self, question: str, k: int) -> tuple[str, ...]:
        return ()

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return ()

    def rows(self) -> dict[str, tuple[str, bytes]]:
        """Hash and vector of each passage, by its id."""
        with self._open() as db:
            return {id: (hash, vector) for id, hash, vector in db.execute("SELECT id, hash, vector FROM rows")}

    def written(self) -> int:
        """Rows written since the last time that this was asked."""
        with self._open() as db:
            return db.execute("DELETE FROM written").rowcount
