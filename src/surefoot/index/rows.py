"""Rows of an index as passages and fields. Damage raises sqlite3.DatabaseError, which `storage.faults` explains."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from surefoot.index.connection import Connection
from surefoot.text.json_values import parsed
from surefoot.types import Passage
from surefoot.types.errors import FieldFault
from surefoot.types.metadata import NO_META, Meta, Value

COLUMNS = "passages.id, text, passages.title, url, start, path, document, places"
"""The columns that `passage` reads."""


def passage(row: Sequence[Any], db: Connection) -> Passage:
    """A row of COLUMNS, and perhaps a score, as a passage."""
    id, text, title, url, start, file, document, places, *score = row
    if not (isinstance(text, str) and isinstance(file, str) and start >= 0):
        raise sqlite3.DatabaseError("a passage is missing, or has no file")
    meta = fields_of(db, document)
    return Passage(
        id, text, title, "corpus", url, start, score[0] if score else None, file=file, meta=meta, places=_places(places)
    )


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
        return Meta({key: _unpacked(value) for key, value in rows}) if rows else NO_META
    except FieldFault as error:
        raise sqlite3.DatabaseError(f"the fields of a document are damaged: {error}") from error


def packed(value: Value) -> Value | bytes:
    """A field's value as the index stores and compares it: a truth value is no number there."""
    return (b"\0", b"\1")[value] if isinstance(value, bool) else value


def _unpacked(stored: Any) -> Any:
    return {b"\0": False, b"\1": True}.get(stored, stored) if isinstance(stored, bytes) else stored
