"""A connection to an index, which sees one collection of it and nothing of the others.

`confine` is the one place where collections are kept apart: it puts a view of the same name before each table. Words
are kept apart on the disk, a full-text table a collection, since their statistics would tell of the others' documents.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from surefoot.types.errors import UsageError

DEFAULT = "default"  # the collection of an index where none is named

_TABLES = ("files", "documents", "fields", "passages")
LEXICON = """CREATE VIRTUAL TABLE lexicon_{number} USING fts5 (
    title, text, content='passages', content_rowid='rowid', tokenize='unicode61 remove_diacritics 2'
)"""
"""The statement that makes the full-text table of a collection."""


class Connection(sqlite3.Connection):
    """A connection to an index that trusts nothing in the file."""

    collection = DEFAULT
    """The name of the collection that it sees."""
    lexicon = ""
    """The name of the collection's full-text table."""
    number = 0
    """The collection's row; 0: not confined to one yet."""


@contextmanager
def closed_on_failure(db: Connection) -> Iterator[Connection]:
    """The connection; it is closed where something fails while this lasts, and else left open."""
    with ExitStack() as failing:
        failing.callback(db.close)
        yield db
        failing.pop_all()


def checked_name(collection: str) -> str:
    """The name, if a collection may be called so; it stands in addresses and on screens. Raises UsageError."""
    if not isinstance(collection, str) or not re.fullmatch("[A-Za-z0-9][A-Za-z0-9._-]{0,63}", collection):
        raise UsageError(
            f"{str(collection)[:80]!r} cannot be the name of a collection; use up to 64 letters of English, digits, "
            ". _ and -, the first a letter or digit"
        )
    return collection


def confine(db: Connection, collection: str) -> bool:
    """From now on the tables of this connection hold one collection's rows only; False: there is no such collection.
    Reading goes through views, which nothing can be written to: whoever writes names the table, as `main.passages`."""
    found = db.execute("SELECT rowid FROM main.collections WHERE name = ?", (collection,)).fetchone()
    if found is None:
        return False
    db.collection, db.number = collection, int(found[0])
    db.lexicon = f"lexicon_{db.number}"
    for table in _TABLES:
        db.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE collection = {db.number}")  # nosec B608 # a number, and four words of ours
    return True
