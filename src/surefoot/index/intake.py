"""Puts documents into a collection and takes them out; readers see each document whole, as it was or as it is."""

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot.documents.storable import LONGEST_TITLE, CutDocument, clean
from surefoot.index.connection import DEFAULT, Connection
from surefoot.index.contents import document_hash, packed
from surefoot.index.splitter import cut
from surefoot.index.storage import commit, now
from surefoot.text import ids
from surefoot.text.json_values import parsed
from surefoot.types import Document, Passage
from surefoot.types.errors import UsageError
from surefoot.types.metadata import NO_META, Meta, usable
from surefoot.types.protocols import Embedder

BATCH = 512
"""Passages embedded together, and at least so many committed together; a crash costs those since the last commit."""
MANY = 8_192  # the same for documents from memory

LONGEST_NAME = 500  # characters of the name that documents from memory are filed under, at most

_FORGET = (
    "INSERT INTO main.{lexicon} ({lexicon}, rowid, title, text) "
    "SELECT 'delete', rowid, title, text FROM passages WHERE document = ?",
    "DELETE FROM main.vectors WHERE rowid IN (SELECT rowid FROM passages WHERE document = ?)",
    "DELETE FROM main.fields WHERE collection = {number} AND document = ?",
    "DELETE FROM main.documents WHERE rowid = ?",
    "DELETE FROM main.passages WHERE collection = {number} AND document = ?",
)


class StoredFile(NamedTuple):
    """A file as the index has it."""

    rowid: int
    path: str
    space: str
    """The name space of its passages' ids."""
    stamp: str = ""
    hash: bytes | None = None
    """None: unknown, read the file again."""
    complete: bool = False
    problems: str = "[]"
    meta: Meta = NO_META
    """Fields that whoever indexed it gave to all its documents."""


Held = tuple[int, bytes]
"""A document as the index has it: its row, and the hash of its content and fields."""


class Intake:
    """Writes documents into the collection of a connection, and counts what it does.

    Nothing of a document can be seen before all of it can: a transaction ends between two documents only, when all of
    their passages have their vectors.
    """

    def __init__(
        self,
        db: Connection,
        embedder: Embedder | None,
        on_commit: Callable[[], None] = lambda: None,
        together: int = BATCH,
    ) -> None:
        """Without an embedder nothing can be put in. At least `together` passages are committed at a time."""
        self.documents, self.passages = Counter[str](), Counter[str]()
        """Of "added", "updated" and "removed"."""
        self.notes: list[tuple[str, str]] = []
        """(path, reservation) of documents that are in the collection without all of their fields."""
        self._db, self._embedder, self._on_commit, self._together = db, embedder, on_commit, together
        self._waiting: list[tuple[int, Passage]] = []
        self._uncommitted = 0
        self._row = self._last_row()
        """The last passage's row; none is given twice, also not after a passage is gone: see `beside`."""

    def _last_row(self) -> int:
        rows = self._db.execute(
            "SELECT max(rowid) FROM main.passages UNION ALL SELECT value FROM meta WHERE key = 'rows'"
        )
        return max((int(row) for (row,) in rows.fetchall() if row is not None), default=0)

    def file(self, path: str, location: str | None, meta: Meta, complete: bool) -> StoredFile:
        """Enter a new file; `location` is None for what is no file on disk."""
        taken = "SELECT 1 FROM files WHERE space = ?"
        space = name_space(
            self._db.collection, path, lambda space: self._db.execute(taken, (space,)).fetchone() is not None
        )
        fields = {"location": location, "path": path, "space": space, "complete": complete}
        row = self._insert("files", **fields, meta=json.dumps(dict(meta)))
        return StoredFile(row, path, space, complete=complete, meta=meta)

    def held(self, file: int) -> dict[str, Held]:
        """The documents of a file by key."""
        rows = self._db.execute("SELECT key, rowid, hash FROM documents WHERE file = ?", (file,))
        return {key: (rowid, hash) for key, rowid, hash in rows}

    def put(self, document: CutDocument, file: StoredFile, old: Held | None) -> str:
        """Put a document in, in place of its former version; its id."""
        id = ids.of_row(file.space, document.key, 1) if document.key else file.space
        meta, faults = labelled(document.meta, file.meta)
        self.notes += [(file.path, fault) for fault in faults]
        digest = document_hash(document.digest, meta)
        if old and old[1] == digest:
            return id
        if old:
            self.remove(old[0])
            self.documents["removed"] -= 1
        self.documents["updated" if old else "added"] += 1
        fields = {"file": file.rowid, "key": document.key, "id": id, "title": document.title[:LONGEST_TITLE]}
        rowid = self._insert("documents", **fields, bytes=document.bytes, added=now(), hash=digest)
        for key, value in meta.items():
            self._insert("fields", document=rowid, key=key, value=packed(value))
        for piece in document.passages:
            self._add(piece, rowid)
        if self._uncommitted >= self._together:
            self.commit()
        return id

    def remove(self, document: int) -> None:
        """Take a document out, with its words and vectors."""
        for statement in _FORGET:
            gone = self._db.execute(statement.format(lexicon=self._db.lexicon, number=self._db.number), (document,))
        self.passages["removed"] += gone.rowcount
        self.documents["removed"] += 1

    def remove_file(self, file: int) -> None:
        """Take a file out, with all its documents."""
        for document, _ in self.held(file).values():
            self.remove(document)
        self._db.execute("DELETE FROM main.files WHERE rowid = ?", (file,))

    def add(self, documents: Iterable[Document], file: str) -> tuple[str, ...]:
        """Put documents from memory in under the name `file`, and commit; their ids. Raises UsageError."""
        label = clean(file).strip()
        if not 0 < len(label) <= LONGEST_NAME:
            raise UsageError(f"documents are filed under a name of 1 to {LONGEST_NAME} characters, not {file[:80]!r}")
        there = stored_files(self._db, "WHERE location IS NULL AND path = ?", (label,))
        entry = there.get(None) or self.file(label, None, NO_META, complete=True)
        held, done = self.held(entry.rowid), dict[str, str]()
        for document in documents:
            # The ids of passages are made of its key.
            text = document.text.encode("utf-8", "replace")
            key = document.id or document.key or f"#{blake2b(text, digest_size=16).hexdigest()}"
            piece = cut(replace(document, key=key), label, entry.space)
            if piece.key in done:
                raise UsageError(f"two of the documents have the id {piece.key[:80]!r}; give each its own")
            if not piece.passages:
                raise UsageError(f"the document {piece.key[:80]!r} has no text; leave it out")
            done[piece.key] = self.put(piece, entry, held.get(piece.key))
        self.commit()
        return (*done.values(),)

    def move(self, file: StoredFile, path: str, location: str) -> StoredFile:
        """Enter that a file lies elsewhere now, and its passages with it; their ids and vectors stay."""
        self._db.execute("UPDATE main.files SET location = ?, path = ? WHERE rowid = ?", (location, path, file.rowid))
        own = "document IN (SELECT rowid FROM documents WHERE file = ?) AND (url = ? OR substr(url, 1, ?) = ?)"
        behind = len(file.path) + 1
        values = path, behind, self._db.number, file.rowid, file.path, behind, f"{file.path}#"
        self._db.execute(f"UPDATE main.passages SET url = ? || substr(url, ?) WHERE collection = ? AND {own}", values)  # nosec B608 # of constants
        return file._replace(path=path)

    def delete(self, name: str) -> bool:
        """Take the document with this id out, or else the files at or below this path, and commit; False: there is
        none."""
        found = self._db.execute("SELECT rowid, file FROM documents WHERE id = ?", (name,)).fetchall()
        for document, file in found:
            self.remove(document)
            # It comes back where its file is indexed again: nobody looks for what is missing in an unchanged file.
            self._db.execute("UPDATE main.files SET hash = NULL, stamp = '' WHERE rowid = ?", (file,))
            if not self.held(file):
                self.remove_file(file)
        self.commit()
        return bool(found) or self.delete_files("path", name) or self.delete_files("space", name)

    def delete_files(self, column: str, name: str) -> bool:
        """Take the files at or below this `path` or `location` out, and commit; False: there is none."""
        query = f"SELECT rowid FROM files WHERE {column} = ? OR substr({column}, 1, ?) = ?"  # nosec B608 # a word of ours
        files = self._db.execute(query, (name, len(name) + 1, f"{name}/")).fetchall()
        for (file,) in files:
            self.remove_file(file)
        self.commit()
        return bool(files)

    def commit(self) -> None:
        """Let readers see all that was done."""
        self._embed()
        if self._db.in_transaction:
            self._db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('rows', ?)", (self._row,))
        commit(self._db)
        self._uncommitted = 0
        self._on_commit()

    def _add(self, passage: Passage, document: int) -> None:
        fields = {name: getattr(passage, name) for name in ("id", "text", "title", "url", "start")}
        places = json.dumps(passage.places) if passage.places else ""
        self._row += 1
        rowid = self._insert("passages", rowid=self._row, document=document, **fields, places=places)
        words = rowid, passage.title, passage.text
        self._db.execute(f"INSERT INTO main.{self._db.lexicon} (rowid, title, text) VALUES (?, ?, ?)", words)  # nosec B608 # a word of ours
        self.passages["added"] += 1
        self._uncommitted += 1
        self._waiting.append((rowid, passage))
        if len(self._waiting) == BATCH:
            self._embed()

    def _insert(self, table: str, **fields: Any) -> int:
        """Add a row to the collection's part of a table; its number."""
        names, places = ", ".join(fields), ", ?" * len(fields)
        statement = f"INSERT INTO main.{table} (collection, {names}) VALUES (?{places})"  # nosec B608 # words of ours
        return self._db.execute(statement, (self._db.number, *fields.values())).lastrowid or 0

    def _embed(self) -> None:
        if not (self._waiting and self._embedder):
            return
        vectors = map(np.ndarray.tobytes, embedded(self._embedder, [passage for _, passage in self._waiting]))
        rows = ((rowid, vector) for (rowid, _), vector in zip(self._waiting, vectors, strict=True))
        self._db.executemany("INSERT INTO main.vectors (rowid, vector) VALUES (?, ?)", rows)
        self._waiting.clear()


def name_space(collection: str, path: str, taken: Callable[[str], bool]) -> str:
    """The name space of the ids of a file's passages, none that is taken. A collection has its own: the id of a passage
    tells nothing of files that other collections hold."""
    return ids.space(path if collection == DEFAULT else f"{collection}\0{path}", taken)


def labelled(fields: Meta, labels: Meta) -> tuple[Meta, list[str]]:
    """A document's own fields and those that whoever indexes its file gave to it, and why others are left out. The
    latter have the last word: its author may not take a label off."""
    return usable({**labels, **{key: value for key, value in fields.items() if key not in labels}})


def embedded(embedder: Embedder, passages: Sequence[Passage]) -> npt.NDArray[np.float16]:
    """The vectors of passages, a row each, as an index holds them."""
    return embedder.embed([f"{passage.title}\n{passage.text}".lstrip() for passage in passages]).astype(np.float16)


def location_of(place: Path, home: Path) -> str:
    """A file's place as the index in the folder `home`, without symbolic links, has it: relative to that."""
    try:
        return os.fsencode(os.path.relpath(place, home)).decode("utf-8", "backslashreplace")
    except ValueError:  # another drive
        return str(place)


def stored_files(db: Connection, where: str = "", values: Iterable[str] = ()) -> dict[str | None, StoredFile]:
    """The files of the collection by location; `where` is a condition of ours on them."""
    columns = "location, rowid, path, space, stamp, hash, complete, problems, meta"
    rows = db.execute(f"SELECT {columns} FROM files {where}", (*values,))  # nosec B608 # of constants
    try:
        found = {location: StoredFile(*known)._replace(meta=Meta(parsed(meta))) for location, *known, meta in rows}
        if not all(isinstance(location, str | None) for location in found):
            raise TypeError("a place is no text")
        return found
    except (ValueError, TypeError) as error:
        raise sqlite3.DatabaseError("the fields of a file are damaged") from error
