"""Checks that an index still holds what was written to it, by its table definitions and checksums of their rows.

This finds damage, not forgery: whoever can write a whole index can write its checksums too. The checks raise
sqlite3.DatabaseError, which `storage.faults` turns into an IndexFault that says what to do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any
from zlib import crc32

import numpy as np

from surefoot.text.json_values import parsed
from surefoot.types import Passage

_SUMS = {
    "lexicon": (
        "SELECT id, block FROM lexicon_data ORDER BY id",
        "SELECT segid, term, pgno FROM lexicon_idx ORDER BY segid, term",
        "SELECT id, sz FROM lexicon_docsize ORDER BY id",
        "SELECT k, v FROM lexicon_config ORDER BY k",
    ),
    "files": (
        "SELECT * FROM files ORDER BY rowid",
        "SELECT * FROM documents ORDER BY rowid",
    ),
}
"""Tables without a checksum per row, by the key in `meta` of the checksum that they share."""

_ROWS = """
SELECT passages.id, text, title, url, start, path, {places}, {passages}, vector, {vectors}
FROM passages NOT INDEXED LEFT JOIN vectors USING (rowid)
LEFT JOIN documents ON documents.rowid = document LEFT JOIN files ON files.rowid = file
"""
_COUNTS = "SELECT (SELECT count(*) FROM vectors), (SELECT count(*) FROM lexicon_docsize)"


def fingerprint(db: sqlite3.Connection) -> str:
    """A hash of the tables, indexes, views and triggers that are defined."""
    made = sorted(map(repr, db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")))
    return blake2b("\n".join(made).encode(), digest_size=16).hexdigest()


def passage_sum(id: str, text: str, title: str, url: str | None, start: int, file: str, places: str = "") -> int:
    """The checksum stored beside a passage; `places` as they are stored."""
    parts = (id, text, title, url or "", str(start), file, *filter(None, [places]))
    return crc32("\0".join(parts).encode())


def vector_sum(id: str, vector: bytes) -> int:
    """The checksum stored beside the vector of the passage with this id."""
    return crc32(vector, crc32(id.encode()))


def passage(row: Sequence[Any]) -> Passage:
    """A row of id, text, title, url, start, file, places, checksum and perhaps score as a passage.

    The checksum is None in an index made before there were any.
    """
    id, text, title, url, start, file, places, checksum, *more = row
    score = more[0] if more else None
    typed = all(isinstance(part, str) for part in (id, text, title, file, places)) and isinstance(url, str | None)
    if not (typed and isinstance(start, int) and start >= 0 and isinstance(score, float | None)):
        raise sqlite3.DatabaseError("a passage is missing, or is not text")
    if checksum is not None and checksum != passage_sum(id, text, title, url, start, file, places):
        raise sqlite3.DatabaseError(f"the passage {id} is not as it was written")
    return Passage(id, text, title, "corpus", url, start, score, file=file, places=_places(places))


def _places(stored: str) -> tuple[tuple[int, str], ...]:
    try:
        found = tuple((at, place) for at, place in parsed(stored or "[]"))
    except (ValueError, TypeError) as error:
        raise sqlite3.DatabaseError("the places of a passage are damaged") from error
    if not all(type(at) is int and isinstance(place, str) for at, place in found):
        raise sqlite3.DatabaseError("the places of a passage are damaged")
    return found


def check_vector(id: str, vector: bytes, checksum: int | None, dimensions: int) -> None:
    """`checksum` is as in `passage`. Does not check that the numbers are finite."""
    if not isinstance(id, str) or not isinstance(vector, bytes) or len(vector) != 2 * dimensions:
        raise sqlite3.DatabaseError(f"the vector of the passage {id} is missing, or not of {dimensions} numbers")
    if checksum is not None and checksum != vector_sum(id, vector):
        raise sqlite3.DatabaseError(f"the vector of the passage {id} is not as it was written")


def seal(db: sqlite3.Connection) -> None:
    """Store the checksums of whole tables if all files are read, else remove them."""
    db.executemany("DELETE FROM meta WHERE key = ?", ((name,) for name in _SUMS))
    if _is_complete(db):
        # A savepoint makes FTS5 write what it would hold back until the commit.
        db.execute("SAVEPOINT sealed")
        db.execute("RELEASE sealed")
        db.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", [(name, _sum(db, name)) for name in _SUMS])


def check_sealed(db: sqlite3.Connection, name: str) -> None:
    """Check the tables under this name in `_SUMS`; an index that is still being written has no checksums for them."""
    written = db.execute("SELECT value FROM meta WHERE key = ?", (name,)).fetchone()
    if written != (_sum(db, name),) if written else _is_complete(db):
        raise sqlite3.DatabaseError(f"the table of its {name} is not as it was written")


def check_whole(db: sqlite3.Connection, version: int, dimensions: int) -> None:
    """Check every row, every table, and the file itself as SQLite does."""
    for (said,) in db.execute("PRAGMA integrity_check(1)"):
        if said != "ok":
            raise sqlite3.DatabaseError(str(said))
    columns = {table: checksum_of(table, version) for table in ("passages", "vectors")} | {"places": places_of(version)}
    seen = 0
    for *row, vector, checksum in db.execute(_ROWS.format(**columns)):
        seen += 1
        id = passage(row).id
        check_vector(id, vector, checksum, dimensions)
        if checksum is None and not np.isfinite(np.frombuffer(vector, dtype=np.float16)).all():
            raise sqlite3.DatabaseError(f"the vector of the passage {id} has a value that is not a number")
    if any(seen != count for count in db.execute(_COUNTS).fetchone()):
        raise sqlite3.DatabaseError("some of its passages are gone")
    if version > 1:
        for name in _SUMS:
            check_sealed(db, name)


def checksum_of(table: str, version: int) -> str:
    """The column with a row's checksum, in SQL."""
    return f"{table}.checksum" if version > 1 else "NULL"


def places_of(version: int) -> str:
    """The column with a passage's places, in SQL."""
    return "places" if version > 2 else "''"


def _is_complete(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM files WHERE complete = 0 LIMIT 1").fetchone() is None


def _sum(db: sqlite3.Connection, name: str) -> int:
    total = 0
    for query in _SUMS[name]:
        for row in db.execute(query):
            for value in row:
                total = crc32(value if isinstance(value, bytes) else repr(value).encode(), total)
    return total
