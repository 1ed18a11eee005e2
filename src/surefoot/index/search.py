"""The search in an index on disk: one SQLite file with the passages, their words (FTS5) and their vectors.

    with Index.open(".surefoot/index.db", collection="acme") as index:
        index.lexical("who built the bridge", k=5, filter=Filter.of({"year": {">=": 2024}}))

An index holds collections, and an `Index` is of one: it reads, finds and changes nothing of the others, and scores do
not depend on them. Any number of threads and processes may read while one writes; they see whole documents, as they
were before or as they are after. Files are read into it by `surefoot.index.build.build`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from surefoot.index import beside, storage
from surefoot.index.connection import DEFAULT, Connection, checked_name, closed_on_failure
from surefoot.index.contents import COLUMNS, Info, StoredDocument, passage, passage_hash, stored_document
from surefoot.index.intake import BATCH, MANY, Intake, location_of
from surefoot.index.terms import near_words, query_terms
from surefoot.index.vector_file import BY_ROW, decoded, read_vectors
from surefoot.index.vectors import Vectors, fulfilling
from surefoot.index.word_file import WordFile
from surefoot.run import meter
from surefoot.types import Document, Passage
from surefoot.types.errors import IndexFault
from surefoot.types.metadata import NO_FILTER, Filter
from surefoot.types.protocols import Embedder, Matrix, StoreRow

# Titles count double: over 384 questions and 23,418 documents of Wikipedia recall@1 and @5 are then 0.849 and 0.982,
# else 0.836 and 0.974. Stop words in the query make the search no better, and four times slower.
# Outer joins: a missing passage must be noticed, not left out.
_FILES = "LEFT JOIN documents ON documents.rowid = document LEFT JOIN files ON files.rowid = file"
_LEXICAL = f"""
WITH hits AS MATERIALIZED (
    SELECT rowid AS hit, bm25({{lexicon}}, 2.0, 1.0) AS cost FROM {{lexicon}}
    WHERE {{lexicon}} MATCH :query {{filters}}
)
SELECT {COLUMNS}, -cost FROM hits LEFT JOIN passages ON passages.rowid = hit {_FILES}
WHERE cost <= ifnull((SELECT cost FROM hits ORDER BY cost LIMIT 1 OFFSET :k - 1), 0)
ORDER BY cost, passages.id LIMIT :k
"""  # nosec B608 # of constants; the question is a parameter
_ALLOWED = "AND substr(:allowed, rowid + 1, 1) = x'01'"
"""Of a search among some, with a byte for each passage: a bound value costs nothing, a temporary table 50 ms. To find a
row costs a tenth of what its score does."""
_FEW = 0.01
"""Share of the passages that a filter allows, below which all of these are scored."""
_COUNTS = "SELECT (SELECT count(*) FROM passages), (SELECT count(*) FROM documents), count(*) FROM files"
_PASSAGES = f"SELECT {COLUMNS} FROM passages {_FILES}"  # nosec B608 # of constants above
_HASHES = f"SELECT passages.rowid, passages.id, ifnull(documents.hash, x''), path FROM passages {_FILES}"  # nosec B608 # likewise
_EMBEDDED = (
    f"SELECT {COLUMNS}, vector, passages.rowid FROM main.passages {BY_ROW} LEFT JOIN vectors USING (rowid) {_FILES}"  # nosec B608 # likewise
)
_ONE = f"SELECT {COLUMNS}, score FROM (SELECT ? AS hit, ? AS score) LEFT JOIN passages ON passages.rowid = hit {_FILES}"  # nosec B608 # likewise
_DOCUMENTS = """
SELECT ifnull(documents.id, space), path, ifnull(documents.title, ''),
    (SELECT count(*) FROM passages WHERE document = documents.rowid),
    ifnull(bytes, 0), ifnull(added, ''), complete, problems, stamp, documents.rowid
FROM files LEFT JOIN documents ON documents.file = files.rowid
"""

PATIENCE = 10.0  # seconds that a change waits for another writer

_Stamp = tuple[int, int]
T = TypeVar("T")


class Index:
    """Searches one collection of an index. Share it between threads; `close` it, or use it in a `with`, when done."""

    def __init__(self, path: Path, collection: str = DEFAULT) -> None:
        self.path = path
        self.collection = checked_name(collection)
        self._idle: SimpleQueue[tuple[Connection, _Stamp]] = SimpleQueue()
        self._loading = Lock()
        self._loaded: tuple[int, _Stamp, Vectors] | None = None
        """The generation of the index, and the file, that the vectors were loaded from."""
        self._words: WordFile | None = None

    @classmethod
    def open(cls, path: str | Path, collection: str = DEFAULT) -> Index:
        """A collection of the index in this file, for reading. Raises IndexFault unless it can be searched."""
        index = cls(Path(path), collection)
        with index._reading():
            return index

    @classmethod
    def make(cls, path: str | Path, embedder: Embedder, collection: str = DEFAULT) -> Index:
        """The same; an empty index, and an empty collection in it, is made where there is none. Raises IndexFault."""
        index = cls(Path(path), collection)
        with index._writing(embedder, PATIENCE):
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

    def is_complete(self) -> bool:
        """False: a run of `build` was cut off before it had read all its files."""
        with self._reading() as db:
            return _is_complete(db)

    def info(self) -> Info:
        """The present contents in figures; every passage is counted, which takes a second for a million on a disk."""
        with self._reading() as db:
            known, complete = storage.read_meta(db, self.path), _is_complete(db)
            passages, documents, files = db.execute(_COUNTS).fetchone()
        size = storage.size_of(self.path) + storage.size_of(Path(f"{self.path}-wal"))
        counts, built = (passages, documents, files), (known["embedder"], known["dimensions"])
        return Info(*counts, *built, complete, size, known["created"], known["updated"], self.collection)

    def generation(self) -> int:
        """A number that each change to the collection raises. Raises IndexFault for a damaged index."""
        with self._reading() as db:
            return self._generation(db)

    def check(self, embedder: Embedder) -> None:
        """Raise IndexFault unless the vectors are this embedder's."""
        with self._reading() as db:
            storage.check_embedder(self.path, storage.read_meta(db, self.path), embedder)

    def lexical(self, query: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """The `k` passages that best match the words of the query (BM25, titles count double), best first, ties by id.

        Any text is a query; its stop words count only where it has no other words. For a word that no passage holds
        the nearest words are searched too, and the step says so. A filter leaves scores as they are. In an index of
        many, those are scored that are likely the best (`surefoot.index.word_file`).
        """
        wanted = query_terms(query)
        if not wanted or k < 1:
            return ()
        with self._reading() as db:
            held = [term for term in wanted if _is_held(db, term)]
            for term, near in near_words(db, [term for term in wanted if term not in held]):
                meter.degrade(f"no document has “{term}”: searched for “{'” and “'.join(near)}” too")
                held += near
            if not held:
                return ()
            every = self._allowed(db, filter)
            likely = self._likely(db, held, k, every)
            found = _scored(db, held, k, likely)
            if len(found) < k and likely is not every:
                found = _scored(db, held, k, every)
            return tuple(passage(row, db) for row in found)

    def place(self, path: str) -> Path | None:
        """The file that was indexed as `path`, absolute; None: no such file was, or it is gone. Of several that were
        indexed by the same path, the first that is still there."""
        with self._reading() as db:
            query = "SELECT location FROM files WHERE path = ? AND location IS NOT NULL ORDER BY rowid"
            rows = db.execute(query, (path,)).fetchall()
        home = self.path.absolute().parent
        places = (Path(os.path.normpath(home / location)) for (location,) in rows if "\0" not in location)
        return next((place for place in places if place.is_file()), None)

    def get(self, id: str) -> Passage | None:
        """The passage with this id, without a score; None: there is none."""
        return _first(self._passages("WHERE passages.id = ?", id))

    def document(self, name: str) -> StoredDocument | None:
        """The document with this id, or of this file (of several the first); None: there is none."""
        tests = "documents.id = ?", "path = ?", "documents.rowid IS NULL AND space = ?"
        found = (_first(self._documents(f"WHERE {test}", name, limit=1)) for test in tests)
        return next(filter(None, found), None)

    def documents(self) -> Iterator[StoredDocument]:
        """Every document, in the order of their files; a file that gave none is one whose `state` is "unread"."""
        return self._documents()

    def owner(self, passage: str) -> StoredDocument | None:
        """The document that the passage with this id is of; None: there is no such passage."""
        return _first(self._documents("WHERE documents.rowid = (SELECT document FROM passages WHERE id = ?)", passage))

    def text(self, document: str) -> tuple[Passage, ...]:
        """The passages of the document with this id, in the order of its text; none: there is no such document."""
        return (*self._passages("WHERE documents.id = ? ORDER BY start, passages.rowid", document),)

    def add(
        self, documents: Iterable[Document], embedder: Embedder, *, file: str = "added", patience: float = PATIENCE
    ) -> tuple[str, ...]:
        """Add documents, each in place of one with the same id (or else key) that was added under the same name.

        Gives their ids, in order. `file` is the name that they are filed, cited and deleted under. Whoever searches
        meanwhile, or after a crash, finds each of them whole or not at all; some thousand passages become visible at a
        time. Waits `patience` seconds for another writer. Costs one embedding a passage. Raises IndexFault; UsageError
        for one without a text, or two with one key; what the embedder raises.
        """
        with self._writing(embedder, patience) as db:
            added = Intake(db, embedder, together=MANY).add(documents, file)
            beside.write(db, self.path, embedder.dimensions)
            return added

    def delete(self, name: str | Path, *, patience: float = PATIENCE) -> bool:
        """Delete the document with this id, or else all documents of this file, or of the files below this folder, as
        they were indexed; a Path is where they lie, or lay, on the disk. False: there is none. What still lies in a
        folder comes back when that is indexed again. Raises IndexFault."""
        _stamp(self.path)
        with self._writing(None, patience) as db:
            if isinstance(name, Path):
                place, home = name.resolve(), self.path.absolute().parent.resolve()
                return Intake(db, None).delete_files("location", location_of(place, home))
            return Intake(db, None).delete(name)

    def nearest(self, vector: npt.ArrayLike, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """The `k` passages whose vectors are nearest by cosine, best first, ties by id; none for a zero vector.

        Every vector is compared, and in an index of many, those that are likely near (`surefoot.index.vector_file`).
        """
        query = np.asarray(vector, dtype=np.float32)
        if k < 1 or not query.any():
            return ()
        with self._reading() as db:
            vectors = self._vectors(db)
            if query.shape != vectors.matrix.shape[1:]:
                wrong = f"{self.path} has vectors of another length than the {query.size} asked for"
                raise IndexFault(f"{wrong}; {storage.remaking(self.path)}")
            allowed, wanted = self._allowed(db, filter), k
            while True:
                hits = vectors.nearest(query, wanted, allowed)
                rows = [db.execute(_ONE, hit).fetchone() for hit in hits]
                there = [row for row, (hit, _) in zip(rows, hits, strict=True) if row[0] or not vectors.in_file(hit)]
                if len(there) >= k or len(hits) < wanted:
                    found = sorted((passage(row, db) for row in there), key=lambda one: (-(one.score or 0), one.id))
                    return tuple(found[:k])
                wanted *= 4  # some of those in the file are gone

    def passages(self) -> Iterator[Passage]:
        """Every passage, in the order of their ids, without a score."""
        return self._passages("ORDER BY passages.id")

    def rows(self, wanted: Callable[[str, str], bool] = lambda id, hash: True) -> Iterator[StoreRow]:
        """The passages as a store holds them, by document, some at a time in memory. Of a passage whose id and hash are
        not `wanted` neither text nor vector is read."""
        with self._reading() as db:
            meta = storage.read_meta(db, self.path)
            embedder, every = meta["embedder"], db.execute(_HASHES)
            while some := every.fetchmany(BATCH):
                hashes = {
                    row: hash
                    for row, id, document, file in some
                    if wanted(id, hash := passage_hash(document, file, embedder))
                }
                chosen = ", ".join(map(str, hashes))
                rows = db.execute(f"{_EMBEDDED} WHERE passages.rowid IN ({chosen})").fetchall()  # nosec B608 # numbers
                vectors = decoded([vector for *_, vector, _ in rows], meta["dimensions"])
                for (*columns, _, row), vector in zip(rows, vectors, strict=True):
                    yield StoreRow(passage(columns, db), hashes[row], vector)

    def vectors(self) -> Matrix:
        """Every passage's vector, a row each, in the order of `passages()`; all are read."""
        with self._reading() as db:
            return read_vectors(db, storage.read_meta(db, self.path)["dimensions"], "ORDER BY id", "")[1]

    def verify(self) -> None:
        """Read the whole file. Raises IndexFault where SQLite finds it damaged."""
        with self._reading() as db:
            storage.check_file(db)

    def _passages(self, clause: str, *values: str) -> Iterator[Passage]:
        with self._reading() as db:
            for row in db.execute(f"{_PASSAGES} {clause}", values):  # nosec B608 # of constants
                yield passage(row, db)

    def _documents(self, where: str = "", *values: str, limit: int = -1) -> Iterator[StoredDocument]:
        with self._reading() as db:
            query = f"{_DOCUMENTS} {where} ORDER BY files.rowid, documents.rowid LIMIT {limit}"  # nosec B608 # of constants
            for row in db.execute(query, values):
                yield stored_document(row, db)

    def _generation(self, db: Connection) -> int:
        row = db.execute("SELECT generation FROM main.collections WHERE rowid = ?", (db.number,)).fetchone()
        if row is None:
            raise IndexFault(f"{self.path}: its list of collections is damaged; {storage.remaking(self.path)}")
        return int(row[0])

    def _vectors(self, db: Connection) -> Vectors:
        """The vectors, which all threads share; after a change to the collection, with what came."""
        now, stamp = self._generation(db), _stamp(self.path)
        with self._loading:
            loaded = self._loaded
            if loaded is None or loaded[0] != now:
                # What a thread that reads a later state has loaded lacks what is gone by then.
                before = loaded[2] if loaded and loaded[0] < now and loaded[1][0] == stamp[0] else None
                dimensions = storage.read_meta(db, self.path)["dimensions"]
                loaded = self._loaded = now, stamp, Vectors.load(db, self.path, dimensions, before)
            return loaded[2]

    def _allowed(self, db: Connection, filter: Filter) -> npt.NDArray[np.bool_] | None:
        """True at the row of each passage that may be found; None: every one may."""
        if not filter:
            return None
        passages, documents = self._vectors(db).owners()
        among = np.ones(1 + documents.max(initial=0), dtype=np.bool_)
        for condition in filter.conditions:
            among &= fulfilling(db, condition, len(among))
        allowed = np.zeros(1 + passages.max(initial=0), dtype=np.bool_)
        allowed[passages] = among[documents]
        return allowed

    def _likely(
        self, db: Connection, terms: Sequence[str], k: int, allowed: npt.NDArray[np.bool_] | None
    ) -> npt.NDArray[np.bool_] | None:
        """True at the row of each passage, among those allowed, that is to be scored for these words; None: of all."""
        place, identity = beside.place(self.path, db.number, "words"), beside.identity(self.path, db)
        self._words = words = WordFile.open(place, identity, self._words)
        share = 1.0 if allowed is None else float(allowed.mean())
        if not words or share < _FEW:
            return allowed
        (last,) = db.execute("SELECT max(rowid) FROM main.passages").fetchone()
        likely = np.zeros(1 + max(last, words.top), dtype=np.bool_)
        likely[words.likely(terms, k, share)] = True
        likely[words.top + 1 :] = True
        return likely if allowed is None else likely[: len(allowed)] & allowed[: len(likely)]

    @contextmanager
    def _writing(self, embedder: Embedder | None, patience: float) -> Iterator[Connection]:
        path = self.path
        with (
            storage.faults(path),
            storage.locked(path, patience),
            storage.writing(path, embedder, self.collection) as db,
        ):
            yield db

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the index throughout, and that no other thread has meanwhile."""
        with storage.faults(self.path):
            db, stamp = self._connection()
            with closed_on_failure(db):
                db.execute("BEGIN")
                yield db
                db.execute("COMMIT")
            self._idle.put((db, stamp))

    def _connection(self) -> tuple[Connection, _Stamp]:
        stamp = _stamp(self.path)
        with suppress(Empty):
            while True:
                db, opened = self._idle.get_nowait()
                if opened == stamp:
                    return db, stamp
                db.close()
        return storage.reader(self.path, self.collection), stamp


def _is_complete(db: Connection) -> bool:
    return not db.execute("SELECT 1 FROM files WHERE NOT complete LIMIT 1").fetchone()


def _first(found: Iterator[T]) -> T | None:
    """The first; all are read, so that their connection is free again."""
    return next(iter([*found]), None)


def _stamp(path: Path) -> _Stamp:
    """Differs once a rebuilt index has replaced the one that was opened."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise IndexFault(f"there is no index at {path}; {storage.making(path)}") from None
    return status.st_ino, status.st_mtime_ns


def _quoted(term: str) -> str:
    """The term so that it is no operator."""
    return f'"{term}"'


def _scored(db: Connection, terms: Iterable[str], k: int, allowed: npt.NDArray[np.bool_] | None) -> list[Any]:
    """The rows of the `k` passages, among those allowed, that match these words best."""
    inputs: dict[str, object] = {"query": " OR ".join(map(_quoted, terms)), "k": k}
    if allowed is not None:
        inputs["allowed"] = allowed.tobytes()
    search = _LEXICAL.format(lexicon=db.lexicon, filters="" if allowed is None else _ALLOWED)
    return db.execute(search, inputs).fetchall()


def _is_held(db: Connection, term: str) -> bool:
    """Whether a passage holds the term."""
    query = f"SELECT 1 FROM {db.lexicon} WHERE {db.lexicon} MATCH ? LIMIT 1"  # nosec B608 # a name of ours
    return db.execute(query, (_quoted(term),)).fetchone() is not None
