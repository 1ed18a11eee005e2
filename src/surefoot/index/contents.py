"""The contents of an index as others see them: figures, documents and collections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from surefoot.index.connection import DEFAULT, Connection
from surefoot.index.intake import loaded
from surefoot.index.rows import fields_of
from surefoot.types.metadata import Meta


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
    passages: int
    bytes: int
    """Size of its text in UTF-8."""
    added: str
    """UTC, ISO 8601: when this version of it came in; empty: its file gave no document."""
    meta: Meta
    state: Literal["ready", "unfinished", "unread"]
    """"unfinished": a run that reads its file was cut off, and the next one completes it. "unread": its file gave no
    document."""
    because: str = ""
    """What was not read of its file, or only with a reservation, and why; empty: nothing to say."""


def stored_document(row: tuple[Any, ...], db: Connection) -> StoredDocument:
    """A row of a document and its file."""
    id, file, title, passages, bytes, added, complete, problems, rowid = row
    because = "; ".join(problem.reason for problem in loaded(problems))
    state: Literal["ready", "unfinished", "unread"] = "unfinished"
    if complete:
        state = "unread" if rowid is None else "ready"
    return StoredDocument(id, db.collection, file, title, passages, bytes, added, fields_of(db, rowid), state, because)
