"""A connection to an index, which sees one collection of it and nothing of the others.

An index holds several collections in the same tables. `confine` is the one place where they are kept apart: it puts a
view of the same name before each table, so that whoever reads `passages` reads those of the collection. Words are kept
apart on the disk, a full-text table for each collection, since their statistics would tell of the others' documents.
The same views show the tables of earlier versions as those of today.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from surefoot.types.errors import UsageError

DEFAULT = "default"
"""The collection of an index where none is named, and the only one of an index of version 1 or 2."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_TABLES = ("files", "documents", "fields", "passages")
_LEXICON = """CREATE VIRTUAL TABLE lexicon_{number} USING fts5 (
    title, text, content='passages', content_rowid='rowid', tokenize='unicode61 remove_diacritics 2'
)"""

_DOCUMENTS = "SELECT *, NULL AS id, NULL AS title, NULL AS bytes, '' AS added FROM main.documents"
_NO_FIELDS = "SELECT 0 AS document, '' AS key, 0 AS value WHERE 0"
_FORMER = {
    1: {
        "files": "SELECT *, printf('%010x', rowid) AS space FROM main.files",
        "documents": _DOCUMENTS,
        "fields": _NO_FIELDS,
        "passages": "SELECT *, NULL AS checksum, '' AS places FROM main.passages",
        "vectors": "SELECT *, NULL AS checksum FROM main.vectors",
    },
    2: {
        "documents": _DOCUMENTS,
        "fields": _NO_FIELDS,
        "passages": "SELECT *, '' AS places FROM main.passages",
    },
}
"""By version, the tables of a former index as those of today; what it does not know is null or empty."""


class Connection(sqlite3.Connection):
    """A connection to an index that trusts nothing in the file."""

    version = 0
    """Of the tables."""
    collection = DEFAULT
    """The name of the collection that it sees."""
    lexicon = "lexicon"
    """The name of the collection's full-text table, and of its checksum in `meta`."""
    files = "files"
    """The name in `meta` of the checksum of what it knows of its files."""
    number = 0
    """The collection's row; 0 in a former index."""


@contextmanager
def closed_on_failure(db: Connection) -> Iterator[Connection]:
    """The connection; it is closed where something fails while this lasts, and else left open."""
    with ExitStack() as failing:
        failing.callback(db.close)
        yield db
        failing.pop_all()


def checked_name(collection: str) -> str:
    """The name, if a collection may be called so; it stands in addresses and on screens. Raises UsageError."""
    if not isinstance(collection, str) or not _NAME.match(collection):
        raise UsageError(
            f"{str(collection)[:80]!r} cannot be the name of a collection; use up to 64 letters of English, digits, "
            ". _ and -, the first a letter or digit"
        )
    return collection


def lexicon(number: int) -> str:
    """The statement that makes the full-text table of a collection."""
    return _LEXICON.format(number=number)


def confine(db: Connection, collection: str) -> bool:
    """From now on the tables of this connection hold one collection's rows only; False: there is no such collection.

    Reading goes through views, which nothing can be written to: whoever writes names the table, as `main.passages`.
    """
    if db.version in _FORMER:
        if collection != DEFAULT:
            return False
        views = _FORMER[db.version]
    else:
        found = db.execute("SELECT rowid FROM main.collections WHERE name = ?", (collection,)).fetchone()
        if found is None:
            return False
        db.number = int(found[0])
        db.lexicon, db.files = f"lexicon_{db.number}", f"files_{db.number}"
        views = {table: f"SELECT * FROM main.{table} WHERE collection = {db.number}" for table in _TABLES}  # nosec B608 # a number, and four words of ours
    db.collection = collection
    for table, rows in views.items():
        db.execute(f"CREATE TEMP VIEW {table} AS {rows}")
    db.execute(f"CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', '{db.lexicon}', 'row')")
    return True


def generation(db: Connection) -> int:
    """Differs after every change to the collection."""
    if db.number:
        query = f"SELECT generation FROM main.collections WHERE rowid = {db.number}"  # nosec B608 # a number
    else:
        query = "SELECT value FROM main.meta WHERE key = 'generation'"
    return int(db.execute(query).fetchone()[0])
