"""The contents of an index as others see them. Damage raises sqlite3.DatabaseError, which `storage.faults` explains."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal

from surefoot.documents.loaders import formats, suffix_of
from surefoot.index.connection import DEFAULT, Connection
from surefoot.index.storage import SCHEMA
from surefoot.text.json_values import parsed
from surefoot.types import DocumentProblem, Passage
from surefoot.types.errors import FieldFault
from surefoot.types.metadata import NO_META, Meta, Value, day_of

State = Literal["ready", "unfinished", "unread"]


@dataclass(frozen=True, slots=True)
class Info:
    """The contents of a collection in figures."""

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
    collection: str = DEFAULT


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of an index, or a file that gave none."""

    id: str
    collection: str
    file: str
    """The path of its file as indexed, or the name that it was added under."""
    title: str
    """Empty: it has none, or nothing was read."""
    kind: str
    """The suffix of its file, such as "pdf"; "text": its file has none, or a rare one."""
    date: str
    """As YYYY-MM-DD where it can be told: its field `date`, else its property `modified`, else its file's time when it
    was read; empty: none of them is known."""
    passages: int
    bytes: int
    """Size of its text in UTF-8."""
    added: str
    """UTC, ISO 8601: when this version of it came in; empty: its file gave no document."""
    meta: Meta
    state: State
    """"unfinished": a run that reads its file was cut off, the next completes it. "unread": its file gave none."""
    because: str = ""
    """What was not read of its file, or only with a reservation, and why; empty: nothing to say."""


def stored_document(row: tuple[Any, ...], db: Connection) -> StoredDocument:
    """A row of a document and its file."""
    id, file, title, passages, bytes, added, complete, problems, stamp, rowid = row
    because = "; ".join(problem.reason for problem in loaded(problems))
    state: State = "unfinished" if not complete else "unread" if rowid is None else "ready"
    suffix, meta = suffix_of(file), fields_of(db, rowid)
    kind = suffix[1:] if suffix in formats() else "text"
    date = day_of(meta) or file_date(stamp)
    return StoredDocument(id, db.collection, file, title, kind, date, passages, bytes, added, meta, state, because)


def file_date(stamp: str) -> str:
    """The day, in UTC, on which the content of a file with this stamp was last modified; empty: not known."""
    times = stamp.split()[1:2]
    return f"{datetime.fromtimestamp(int(times[0]) / 1e9, UTC):%Y-%m-%d}" if times else ""


def loaded(problems: str) -> list[DocumentProblem]:
    """The problems with a file as the index keeps them."""
    try:
        return [DocumentProblem(str(reason), bool(skipped)) for reason, skipped in parsed(problems)]
    except (ValueError, TypeError) as error:
        raise sqlite3.DatabaseError("its list of problems with files is damaged") from error


COLUMNS = "passages.id, text, passages.title, url, start, path, document, places"  # the columns that `passage` reads


def passage(row: Sequence[Any], db: Connection) -> Passage:
    """A row of COLUMNS, and perhaps a score, as a passage."""
    id, text, title, url, start, file, document, places, *score = row
    if not (isinstance(text, str) and isinstance(file, str) and start >= 0):
        raise sqlite3.DatabaseError("a passage is missing, or has no file")
    meta = fields_of(db, document)
    return Passage(
        id, text, title, "corpus", url, start, score[0] if score else None, file=file, meta=meta, places=_places(places)
    )


def document_hash(digest: bytes, meta: Meta) -> bytes:
    """The hash of a document, from that of its content, and its fields."""
    return blake2b(digest + json.dumps(dict(meta)).encode(), digest_size=16).digest()


def passage_hash(document: bytes, file: str, embedder: str) -> str:
    """The hash of a passage and its vector, as 64 hexadecimal digits, from the hash of its document.

    All passages of a document have the same: where one changes, the index too makes all of them anew.
    """
    return document.hex() + _circumstances(file, embedder)


@lru_cache
def _circumstances(file: str, embedder: str) -> str:
    """The hash of all else that makes a document's passages what they are."""
    return blake2b(json.dumps([SCHEMA, file, embedder]).encode(), digest_size=16).hexdigest()


def _places(stored: str) -> tuple[tuple[int, str], ...]:
    if not stored:
        return ()
    try:
        found = tuple((at, place) for at, place in parsed(stored))
        if all(type(at) is int and isinstance(place, str) for at, place in found):
            return found
    except (ValueError, TypeError):
        pass
    raise sqlite3.DatabaseError("the places of a passage are damaged")


_TRUTH = {b"\0": False, b"\1": True}


def fields_of(db: Connection, document: int) -> Meta:
    """The fields of a document."""
    rows = db.execute("SELECT key, value FROM fields WHERE document = ?", (document,)).fetchall()
    try:
        return Meta({key: _TRUTH.get(value, value) for key, value in rows}) if rows else NO_META
    except FieldFault as error:
        raise sqlite3.DatabaseError(f"the fields of a document are damaged: {error}") from error


def packed(value: Value) -> Value | bytes:
    """A field's value as the index stores and compares it: a truth value is no number there."""
    return (b"\0", b"\1")[value] if isinstance(value, bool) else value
