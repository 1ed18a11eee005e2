"""Checks that an index still holds what was written to it, by its table definitions and checksums of their rows.

This finds damage, not forgery: whoever can write a whole index can write its checksums too. The checks raise
sqlite3.DatabaseError, which `storage.faults` turns into an IndexFault that says what to do.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any
from zlib import crc32

import numpy as np

from surefoot.index.connection import Connection
from surefoot.text.json_values import parsed
from surefoot.types import Passage
from surefoot.types.errors import FieldFault
from surefoot.types.metadata import NO_META, Meta, Value

_LEXICON = (
    "SELECT id, block FROM {0}_data ORDER BY id",
    "SELECT segid, term, pgno FROM {0}_idx ORDER BY segid, term",
    "SELECT id, sz FROM {0}_docsize ORDER BY id",
    "SELECT k, v FROM {0}_config ORDER BY k",
)
_FILES = ("SELECT * FROM {0}files ORDER BY rowid", "SELECT * FROM {0}documents ORDER BY rowid")
"""Tables without a checksum per row: those of a lexicon, and those of files, have one together."""

_ROWS = """
SELECT passages.id, text, passages.title, url, start, path, document, places, passages.checksum, vector,
    vectors.checksum
FROM passages LEFT JOIN vectors USING (rowid)
LEFT JOIN documents ON documents.rowid = document LEFT JOIN files ON files.rowid = file
"""
_COUNTS = """
SELECT (SELECT count(*) FROM {lexicon}_docsize),
       (SELECT count(*) FROM main.vectors) - (SELECT count(*) FROM main.passages)
"""


Definition = tuple[str | None, ...]
"""Type, name, table and statement of a table, index, view or trigger."""


def definitions(db: sqlite3.Connection) -> list[Definition]:
    """All that is defined in the file."""
    return db.execute("SELECT type, name, tbl_name, sql FROM main.sqlite_master").fetchall()


def fingerprint(db: sqlite3.Connection) -> str:
    """A hash of the tables, indexes, views and triggers that are defined."""
    made = sorted(map(repr, definitions(db)))
    return blake2b("\n".join(made).encode(), digest_size=16).hexdigest()


def passage_sum(
    id: str, text: str, title: str, url: str | None, start: int, file: str, collection: str, meta: Meta, places: str
) -> int:
    """The checksum stored beside a passage; of an index of version 2, without a collection, fields and places."""
    more = (collection, json.dumps(dict(meta)), places) if collection else ()
    return crc32("\0".join((id, text, title, url or "", str(start), file, *more)).encode())


def vector_sum(id: str, vector: bytes) -> int:
    """The checksum stored beside the vector of the passage with this id."""
    return crc32(vector, crc32(id.encode()))


def passage(row: Sequence[Any], db: Connection) -> Passage:
    """A row of id, text, title, url, start, file, document, places, checksum and perhaps score as a passage.

    The checksum is None in an index made before there were any.
    """
    id, text, title, url, start, file, document, places, checksum, *more = row
    score = more[0] if more else None
    typed = all(isinstance(part, str) for part in (id, text, title, file, places)) and isinstance(url, str | None)
    if not (typed and isinstance(start, int) and start >= 0 and isinstance(score, float | None)):
        raise sqlite3.DatabaseError("a passage is missing, or is not text")
    meta = fields_of(db, document)
    collection = db.collection if db.number else ""
    if checksum is not None and checksum != passage_sum(id, text, title, url, start, file, collection, meta, places):
        raise sqlite3.DatabaseError(f"the passage {id} is not as it was written")
    return Passage(id, text, title, "corpus", url, start, score, file=file, meta=meta, places=_places(places))


def _places(stored: str) -> tuple[tuple[int, str], ...]:
    try:
        found = tuple((at, place) for at, place in parsed(stored or "[]"))
    except (ValueError, TypeError) as error:
        raise sqlite3.DatabaseError("the places of a passage are damaged") from error
    if not all(type(at) is int and isinstance(place, str) for at, place in found):
        raise sqlite3.DatabaseError("the places of a passage are damaged")
    return found


def fields_of(db: Connection, document: int) -> Meta:
    """The fields of a document."""
    rows = db.execute("SELECT key, value FROM fields WHERE document = ?", (document,)).fetchall()
    try:
        return Meta({key: unpacked(value) for key, value in rows}) if rows else NO_META
    except FieldFault as error:
        raise sqlite3.DatabaseError(f"the fields of a document are damaged: {error}") from error


def packed(value: Value) -> Value | bytes:
    """A field's value as the index stores it, and compares it: a truth value is no number there."""
    return (b"\0", b"\1")[value] if isinstance(value, bool) else value


def unpacked(stored: Any) -> Any:
    """The value that `packed` stored; anything else as it is."""
    return {b"\0": False, b"\1": True}.get(stored, stored) if isinstance(stored, bytes) else stored


def check_vector(id: str, vector: bytes, checksum: int | None, dimensions: int) -> None:
    """`checksum` is as in `passage`. Does not check that the numbers are finite."""
    if not isinstance(id, str) or not isinstance(vector, bytes) or len(vector) != 2 * dimensions:
        raise sqlite3.DatabaseError(f"the vector of the passage {id} is missing, or not of {dimensions} numbers")
    if checksum is not None and checksum != vector_sum(id, vector):
        raise sqlite3.DatabaseError(f"the vector of the passage {id} is not as it was written")


def seal(db: Connection) -> None:
    """Store the checksums of the collection's tables if all its files are read, else remove them."""
    db.executemany("DELETE FROM meta WHERE key = ?", [(db.lexicon,), (db.files,)])
    if _is_complete(db):
        # A savepoint makes FTS5 write what it would hold back until the commit.
        db.execute("SAVEPOINT sealed")
        db.execute("RELEASE sealed")
        sums = [(name, _sum(db, name)) for name in (db.lexicon, db.files)]
        db.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", sums)


def check_lexicon(db: Connection) -> None:
    """Check the collection's words."""
    _check_sealed(db, db.lexicon, "lexicon")


def check_files(db: Connection) -> None:
    """Check what is known of the collection's files and documents."""
    _check_sealed(db, db.files, "files")


def check_whole(db: Connection, dimensions: int) -> None:
    """Check every row and table of the collection, and the file itself as SQLite does."""
    for (said,) in db.execute("PRAGMA integrity_check(1)"):
        if said != "ok":
            raise sqlite3.DatabaseError(str(said))
    seen = 0
    for *row, vector, checksum in db.execute(_ROWS):
        seen += 1
        id = passage(row, db).id
        check_vector(id, vector, checksum, dimensions)
        if checksum is None and not np.isfinite(np.frombuffer(vector, dtype=np.float16)).all():
            raise sqlite3.DatabaseError(f"the vector of the passage {id} has a value that is not a number")
    if db.execute(_COUNTS.format(lexicon=db.lexicon)).fetchone() != (seen, 0):
        raise sqlite3.DatabaseError("some of its passages are gone")
    if db.version > 1:
        check_lexicon(db)
        check_files(db)


def _check_sealed(db: Connection, name: str, what: str) -> None:
    """An index that is still being written has no checksum."""
    written = db.execute("SELECT value FROM meta WHERE key = ?", (name,)).fetchone()
    if written != (_sum(db, name),) if written else _is_complete(db):
        raise sqlite3.DatabaseError(f"the table of its {what} is not as it was written")


def _is_complete(db: Connection) -> bool:
    return db.execute("SELECT 1 FROM files WHERE complete = 0 LIMIT 1").fetchone() is None


def _sum(db: Connection, name: str) -> int:
    total = 0
    # Of a former index, the columns that were written.
    queries, table = (_LEXICON, db.lexicon) if name == db.lexicon else (_FILES, "" if db.number else "main.")
    for query in queries:
        for row in db.execute(query.format(table)):
            for value in row:
                total = crc32(value if isinstance(value, bytes) else repr(value).encode(), total)
    return total
