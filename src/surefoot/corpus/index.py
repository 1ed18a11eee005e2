"""The index on disk: one SQLite file with the passages, their words (FTS5) and their vectors, and the search in it.

Lexical search is SQLite's BM25. Vector search is exact: one product with all vectors, which are held in memory. Any
number of threads and processes may read while one writes (`surefoot.corpus.build`); they see whole batches.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from surefoot.corpus.integrity import check_sealed, check_vector, check_whole, checksum_of, passage, places_of
from surefoot.corpus.storage import (
    Connection,
    beside,
    check_embedder,
    faults,
    making,
    read_meta,
    reader,
    remaking,
    size_of,
)
from surefoot.errors import IndexFault
from surefoot.protocols import Embedder
from surefoot.text.words import STOP_WORDS
from surefoot.types import Passage

if TYPE_CHECKING:
    from surefoot.protocols import Matrix

# Titles count double: over 384 questions and 23,418 documents of Wikipedia recall@1 and @5 are then 0.849 and 0.982,
# else 0.836 and 0.974. Stop words in the query make the search no better, and four times slower.
_COLUMNS = "passages.id, text, title, url, start, path, {places}, {checksum}"
# Outer joins: a missing passage must be noticed, not left out.
_FILES = "LEFT JOIN documents ON documents.rowid = document LEFT JOIN files ON files.rowid = file"
_LEXICAL = f"""
WITH hits AS MATERIALIZED (
    SELECT rowid AS hit, bm25(lexicon, 2.0, 1.0) AS cost FROM lexicon WHERE lexicon MATCH :query
)
SELECT {_COLUMNS}, -cost FROM hits LEFT JOIN passages ON passages.rowid = hit {_FILES}
WHERE cost <= ifnull((SELECT cost FROM hits ORDER BY cost LIMIT 1 OFFSET :k - 1), 0)
ORDER BY cost, passages.id LIMIT :k
"""  # nosec B608 # of constants; the question is a parameter
_COUNTS = """
SELECT (SELECT count(*) FROM passages), (SELECT count(*) FROM documents), count(*), ifnull(min(complete), 1) FROM files
"""
_ALL = f"SELECT {_COLUMNS} FROM passages {_FILES} ORDER BY passages.id"  # nosec B608 # of constants above
_ONE = f"SELECT {_COLUMNS}, :score FROM (SELECT :hit AS hit) LEFT JOIN passages ON passages.rowid = hit {_FILES}"  # nosec B608 # likewise
_VECTORS = """
SELECT passages.rowid, id, vector, {checksum} FROM passages LEFT JOIN vectors USING (rowid) ORDER BY id
"""
_TERM = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
_MOST_TERMS = 64

_Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Info:
    """The contents of an index in figures."""

    passages: int
    documents: int
    files: int
    embedder: str
    dimensions: int
    complete: bool
    """False: a run of `build` was cut off before it had read all its files; run it again."""
    bytes: int
    """Size of the index on disk."""
    created: str
    """UTC, ISO 8601; likewise `updated`."""
    updated: str


@dataclass(frozen=True, slots=True)
class _Vectors:
    """All vectors of one generation, in the order of the passages' ids."""

    generation: int
    rowids: npt.NDArray[np.int64]
    matrix: Matrix


class Index:
    """Searches one index. Share it between threads; `close` it, or use it in a `with`, when done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: SimpleQueue[tuple[Connection, _Stamp]] = SimpleQueue()
        self._loading = Lock()
        self._vectors: _Vectors | None = None
        self._checked: int | None = None
        """The generation whose lexicon has been checked."""

    @classmethod
    def open(cls, path: str | Path) -> Index:
        """The index in this file, opened for reading. Raises IndexFault unless it can be searched by this version."""
        index = cls(Path(path))
        with index._reading():
            return index

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the next search opens it again."""
        with suppress(Empty):
            while True:
                self._idle.get_nowait()[0].close()

    def info(self) -> Info:
        """The present contents in figures."""
        with self._reading() as db:
            known = read_meta(db, self.path)
            passages, documents, files, complete = db.execute(_COUNTS).fetchone()
        size = size_of(self.path) + size_of(beside(self.path, "-wal"))
        told = {name: known[name] for name in ("embedder", "dimensions", "created", "updated")}
        return Info(passages, documents, files, complete=bool(complete), bytes=size, **told)

    def check(self, embedder: Embedder) -> None:
        """Raise IndexFault unless the vectors are this embedder's."""
        with self._reading() as db:
            check_embedder(self.path, read_meta(db, self.path), embedder)

    def lexical(self, query: str, k: int) -> tuple[Passage, ...]:
        """The `k` passages that best match the words of the query (BM25, titles count double), best first, ties by id.

        Any text is a query; its stop words count only where it has no other words. Scores are positive.
        """
        match = _match(query)
        if not match or k < 1:
            return ()
        with self._reading() as db:
            self._check_lexicon(db)
            query = _LEXICAL.format(**_columns(db))
            return tuple(passage(row) for row in db.execute(query, {"query": match, "k": k}))

    def known(self, words: Iterable[str]) -> dict[str, int]:
        """Of these lower-case words, the ones that stand in any passage, each with the number of passages."""
        with self._reading() as db:
            self._check_lexicon(db)
            db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab('main', 'lexicon', 'row')")
            one = "SELECT doc FROM temp.vocabulary WHERE term = ?"
            found = ((word, db.execute(one, (word,)).fetchone()) for word in words)
            return {word: row[0] for word, row in found if row}

    def place(self, path: str) -> Path | None:
        """The file that was indexed as `path`, absolute; None: no such file was, or it is gone. Of several that were
        indexed by the same path, the first that is still there."""
        with self._reading() as db:
            rows = db.execute("SELECT location FROM files WHERE path = ? ORDER BY rowid", (path,)).fetchall()
        home = self.path.absolute().parent
        places = (Path(os.path.normpath(home / location)) for (location,) in rows if "\0" not in location)
        return next((place for place in places if place.is_file()), None)

    def nearest(self, vector: npt.ArrayLike, k: int) -> tuple[Passage, ...]:
        """The `k` passages whose vectors are nearest, best first, ties by id; none for a zero vector.

        Scores are cosines, in [-1, 1]. Every vector is compared. The first search after a change loads all of them,
        at 4 bytes a dimension.
        """
        query = np.asarray(vector, dtype=np.float32)
        if k < 1 or not query.any():
            return ()
        with self._reading() as db:
            found = self._loaded(db)
            if query.shape != found.matrix.shape[1:]:
                raise IndexFault(
                    f"{self.path} has vectors of another length than the {query.size} asked for; {remaking(self.path)}"
                )
            # Rounded, since for equal rows the last bits of the product depend on their place in the matrix.
            scores = np.round(found.matrix @ query, 6)
            best = _best(scores, k)
            one = _ONE.format(**_columns(db))
            rows = (db.execute(one, {"hit": int(found.rowids[n]), "score": float(scores[n])}) for n in best)
            return tuple(passage(row.fetchone()) for row in rows)

    def passages(self) -> Iterator[Passage]:
        """Every passage, in the order of their ids, without a score."""
        with self._reading() as db:
            for row in db.execute(_ALL.format(**_columns(db))):
                yield passage(row)

    def vectors(self) -> Matrix:
        """Every passage's vector, a row each, in the order of `passages()`; not to be written to."""
        with self._reading() as db:
            return self._loaded(db).matrix

    def verify(self) -> bool:
        """Read the whole index. Raises IndexFault where it is damaged; False: an earlier version made it, without the
        checksums that would show all damage."""
        with self._reading() as db:
            check_whole(db, db.version, read_meta(db, self.path)["dimensions"])
            return db.version > 1

    def _check_lexicon(self, db: Connection) -> None:
        generation = _generation(db)
        if db.version > 1 and self._checked != generation:
            check_sealed(db, "lexicon")
            self._checked = generation

    def _loaded(self, db: Connection) -> _Vectors:
        generation = _generation(db)
        with self._loading:
            if self._vectors is None or self._vectors.generation != generation:
                self._vectors = _load(db, generation, read_meta(db, self.path)["dimensions"])
            return self._vectors

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the index throughout, and that no other thread has meanwhile."""
        with faults(self.path):
            db, stamp = self._connection()
            try:
                db.execute("BEGIN")
                yield db
                db.execute("COMMIT")
            except BaseException:
                db.close()
                raise
            self._idle.put((db, stamp))

    def _connection(self) -> tuple[Connection, _Stamp]:
        stamp = _stamp(self.path)
        with suppress(Empty):
            while True:
                db, opened = self._idle.get_nowait()
                if opened == stamp:
                    return db, stamp
                db.close()
        return reader(self.path), stamp


def _columns(db: Connection) -> dict[str, str]:
    return {"places": places_of(db.version), "checksum": checksum_of("passages", db.version)}


def _stamp(path: Path) -> _Stamp:
    """Differs once a rebuilt index has replaced the one that was opened."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise IndexFault(f"there is no index at {path}; {making(path)}") from None
    return status.st_ino, status.st_mtime_ns


def _generation(db: Connection) -> int:
    return int(db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])


def _load(db: Connection, generation: int, dimensions: int) -> _Vectors:
    rows = db.execute(_VECTORS.format(checksum=checksum_of("vectors", db.version))).fetchall()
    for _, id, vector, checksum in rows:
        check_vector(id, vector, checksum, dimensions)
    rowids = np.fromiter((rowid for rowid, *_ in rows), dtype=np.int64, count=len(rows))
    flat = np.frombuffer(b"".join(vector for _, _, vector, _ in rows), dtype=np.float16)
    if len(rows) != _count(db, "passages") or len(rows) != _count(db, "vectors") or not np.isfinite(flat).all():
        raise sqlite3.DatabaseError("its vectors are not those of its passages")
    matrix = flat.reshape(len(rows), dimensions).astype(np.float32)
    matrix.flags.writeable = False
    return _Vectors(generation, rowids, matrix)


def _count(db: Connection, table: str) -> int:
    return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # nosec B608 # one of two words of ours


def _best(scores: npt.NDArray[np.float32], k: int) -> list[int]:
    """Rows of the `k` highest scores, highest first, equal ones in the order of rows."""
    least = np.partition(scores, -k)[-k] if k < len(scores) else -np.inf
    enough = np.flatnonzero(scores >= least)
    return [int(n) for n in enough[np.argsort(-scores[enough], kind="stable")][:k]]


def _match(query: str) -> str:
    """A search for any of the query's words, in the syntax of FTS5; each is quoted, so that none is an operator."""
    terms = list(dict.fromkeys(_TERM.findall(_POSSESSIVE.sub("", query).lower())))
    telling = [term for term in terms if term not in STOP_WORDS] or terms
    return " OR ".join(f'"{term}"' for term in telling[:_MOST_TERMS])
