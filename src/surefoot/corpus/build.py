"""Files become an index, a batch at a time: only what changed is read, only new words are embedded.

A transaction is committed when all of its passages have their vectors, so that a reader, or a run after a crash, finds
whole batches only.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import blake2b, file_digest
from pathlib import Path
from time import perf_counter, time_ns
from typing import NamedTuple

import numpy as np

from surefoot.corpus.discover import File, Found, find
from surefoot.corpus.loaders import MAX_BYTES, Document, Problem, Unreadable, read, supported
from surefoot.corpus.splitter import passages
from surefoot.corpus.storage import faults, locked, now, succeed, successor, writer
from surefoot.errors import IndexFault
from surefoot.protocols import Embedder
from surefoot.types import Passage

BATCH = 512
"""Passages embedded and committed together: what a crash can cost."""

OnProgress = Callable[[int, int, str], None]
"""Is told the bytes done, the bytes to do, and the path at hand."""

_TOLD = 20
# A change within the clock's last tick leaves size and time as they were; files this young are hashed next time.
_YOUNG_NS = 2_000_000_000
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Changes:
    """How many of a kind; `unchanged` counts the whole index, also what other paths brought in."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a run did, and what the index holds now."""

    files: Changes
    documents: Changes
    passages: Changes
    """Those of an updated document are removed and added."""
    ignored: int
    """Files below the given folders that are hidden, links or of another kind."""
    skipped: tuple[tuple[str, str], ...]
    """(path, reason) of what should be in the index and is not."""
    notes: tuple[tuple[str, str], ...]
    """(path, reservation) of what is in the index but may not read as its author wrote it."""
    seconds: float


class _Stored(NamedTuple):
    """What the index knows of a file."""

    rowid: int
    path: str
    size: int
    mtime_ns: int
    hash: bytes | None
    """None: not to be trusted, read it again."""
    complete: bool
    problems: str


def build(
    paths: Sequence[str | Path],
    index_path: str | Path,
    embedder: Embedder,
    *,
    rebuild: bool = False,
    max_bytes: int = MAX_BYTES,
    on_progress: OnProgress = lambda done, total, path: None,
) -> IndexReport:
    """Bring the index up to date with these files and folders; what came from elsewhere stays.

    A file whose size and time are as before is not opened; of a changed one only the changed documents are embedded.
    `rebuild` starts from nothing and replaces the index when all is done: only `paths` are in it then. What is
    embedded is a passage's title, a line end, and its text. Interrupted at any point, also by a kill, it leaves an
    index that can be searched, and running it again ends as if it had not been interrupted. Raises IndexFault, and
    what the embedder raises.
    """
    started, live = perf_counter(), Path(index_path)
    found = [_some(find(Path(path), max_bytes), path) for path in paths]
    if not any(each.files for each in found):
        raise IndexFault(
            "; ".join(f"{path} {why}" for each in found for path, why in each.skipped) or "no path to index"
        )
    with faults(live), locked(live):
        place = successor(live) if rebuild else live
        with closing(writer(place, embedder)) as db:
            run = _Run(db, live.parent.resolve(), embedder, on_progress)
            run.update(found)
            report = run.report(found, started)
        if rebuild:
            succeed(place, live)
    return report


def _some(found: Found, path: str | Path) -> Found:
    # Also when the index knows files from there: a folder that is not mounted must not empty the index.
    if found.root.is_dir() and not found.files and not found.skipped:
        raise IndexFault(f"{path} holds no file that can be read; these can: {supported()}")
    return found


class _Run:
    """One run over what was found: reads, compares, writes and counts."""

    def __init__(self, db: sqlite3.Connection, home: Path, embedder: Embedder, on_progress: OnProgress) -> None:
        self._db = db
        self._home = home
        self._embedder = embedder
        self._on_progress = on_progress
        self._added: set[int] = set()
        self._updated: set[int] = set()
        self._forgotten = 0
        self._documents: Counter[str] = Counter()
        self._passages: Counter[str] = Counter()
        self._problems: dict[int, list[tuple[str, Problem]]] = {}
        self._waiting: list[tuple[int, str]] = []
        self._progress = (0, 0, "")

    def update(self, found: Sequence[Found]) -> None:
        """Make the index agree with the files."""
        stored = self._stored()
        wanted = {self._location(file.place): file for each in found for file in each.files}
        self._forget(stored, wanted, found)
        changed = self._register(stored, wanted)
        todo = sum(file.size for _, file in changed)
        done, disputed = 0, []
        self._on_progress(0, todo, "")
        for known, file in changed:
            self._progress = done, todo, known.path
            if self._read(known, file):
                disputed.append((known, file))
            done += file.size
        # A row that moved from a later file to an earlier one met its former self; by now that is gone.
        if self._documents["removed"] or self._documents["updated"]:
            for known, file in disputed:
                self._read(known, file)
        self._progress = done, todo, ""
        self._commit()

    def report(self, found: Sequence[Found], started: float) -> IndexReport:
        """What has been done since `started`."""
        told = [each for problems in self._problems.values() for each in problems]
        skipped = [entry for each in found for entry in each.skipped]
        return IndexReport(
            files=self._changes(
                "files", Counter(added=len(self._added), updated=len(self._updated), removed=self._forgotten)
            ),
            documents=self._changes("documents", self._documents),
            passages=self._changes("passages", self._passages),
            ignored=sum(each.ignored for each in found),
            skipped=(*skipped, *((path, problem.reason) for path, problem in told if problem.skipped)),
            notes=tuple((path, problem.reason) for path, problem in told if not problem.skipped),
            seconds=perf_counter() - started,
        )

    def _changes(self, table: str, counted: Counter[str]) -> Changes:
        total = self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # nosec B608 # one of three words of ours
        unchanged = total - counted["added"] - counted["updated"]
        return Changes(counted["added"], counted["updated"], unchanged, counted["removed"])

    def _location(self, place: Path) -> str:
        try:
            return os.fsencode(os.path.relpath(place, self._home)).decode("utf-8", "backslashreplace")
        except ValueError:  # another drive
            return str(place)

    def _stored(self) -> dict[str, _Stored]:
        rows = self._db.execute("SELECT location, rowid, path, size, mtime_ns, hash, complete, problems FROM files")
        return {location: _Stored(*rest) for location, *rest in rows}

    def _forget(self, stored: dict[str, _Stored], wanted: dict[str, File], found: Sequence[Found]) -> None:
        """Remove the files below the found roots that are no longer there; not what a closed folder may hold."""
        roots = [each.root for each in found]
        closed = [folder for each in found for folder in each.closed]
        for location in stored.keys() - wanted.keys():
            place = Path(os.path.normpath(self._home / location))
            if _is_below(place, roots) and not _is_below(place, closed):
                file = stored.pop(location).rowid
                for document, _ in self._known(file).values():
                    self._remove(document)
                    self._documents["removed"] += 1
                self._db.execute("DELETE FROM files WHERE rowid = ?", (file,))
                self._forgotten += 1

    def _register(self, stored: dict[str, _Stored], wanted: dict[str, File]) -> list[tuple[_Stored, File]]:
        """The files to read; marked first, so that a run that is cut off leaves the index incomplete, not short."""
        changed = []
        for location, file in wanted.items():
            known = stored.get(location)
            if known and known.complete and (known.size, known.mtime_ns) == (file.size, file.mtime_ns):
                self._tell(known, _loaded(known.problems))
                continue
            if known:
                self._db.execute("UPDATE files SET complete = 0 WHERE rowid = ?", (known.rowid,))
            changed.append((known or self._new(location, file), file))
        self._commit()
        return changed

    def _new(self, location: str, file: File) -> _Stored:
        row = self._db.execute(
            "INSERT INTO files (location, path, size, mtime_ns, complete) VALUES (?, ?, 0, 0, 0)", (location, file.path)
        )
        return _Stored(row.lastrowid or 0, file.path, 0, 0, None, False, "[]")

    def _read(self, known: _Stored, file: File) -> bool:
        """Bring a file's documents up to date; True when it has an id that belongs to another document."""
        opened, before = time_ns(), self._documents.total()
        digest = _digest(file)
        if digest and digest == known.hash:
            problems, disputed = _loaded(known.problems), False
        else:
            self._db.execute("UPDATE files SET hash = NULL WHERE rowid = ?", (known.rowid,))
            problems, disputed = self._read_documents(known, file)
        if known.hash is None and not known.complete:
            self._added.add(known.rowid)
        elif self._documents.total() > before:
            self._updated.add(known.rowid)
        # What is disputed is read again by every run, since the other document may leave.
        mtime_ns = 0 if disputed or opened - file.mtime_ns < _YOUNG_NS else file.mtime_ns
        self._db.execute(
            "UPDATE files SET size = ?, mtime_ns = ?, hash = ?, complete = 1, problems = ? WHERE rowid = ?",
            (file.size, mtime_ns, None if disputed else digest, _dumped(problems), known.rowid),
        )
        self._tell(known, problems)
        return disputed

    def _tell(self, file: _Stored, problems: list[Problem]) -> None:
        self._problems[file.rowid] = [(file.path, problem) for problem in problems]

    def _read_documents(self, known: _Stored, file: File) -> tuple[list[Problem], bool]:
        old, seen = self._known(known.rowid), set[str]()
        problems, disputed, done = [], False, self._progress[0]
        for reached, item in _contents(file):
            self._progress = done + reached, *self._progress[1:]
            if isinstance(item, Problem):
                problems.append(item)
                continue
            document = _storable(item)
            if document.key in seen:
                problems.append(
                    Problem(f"a row {f'with the id {item.id}' if item.id else 'that says the same'} came before")
                )
                continue
            seen.add(document.key)
            if taken := self._index(document, known, old.get(document.key)):
                problems.append(Problem(f"the id {taken} is another document's"))
                disputed = True
        for key in old.keys() - seen:
            self._remove(old[key][0])
            self._documents["removed"] += 1
        return _shortened(problems), disputed

    def _known(self, file: int) -> dict[str, tuple[int, bytes | None]]:
        rows = self._db.execute("SELECT key, rowid, hash FROM documents WHERE file = ?", (file,))
        return {key: (rowid, hash) for key, rowid, hash in rows}

    def _index(self, document: Document, file: _Stored, old: tuple[int, bytes | None] | None) -> str | None:
        """Put a document in, in the place of its old self; an id that it would need and another document has."""
        digest = _digest_of(document)
        if old and old[1] == digest:
            return None
        if old:
            self._remove(old[0])
        pieces = list(passages(document, file.path))
        if taken := next((piece.id for piece in pieces if self._has(piece.id)), None):
            return taken
        self._documents["updated" if old else "added"] += 1
        added = self._db.execute("INSERT INTO documents (file, key) VALUES (?, ?)", (file.rowid, document.key))
        for piece in pieces:
            self._add(piece, added.lastrowid)
        self._db.execute("UPDATE documents SET hash = ? WHERE rowid = ?", (digest, added.lastrowid))
        return None

    def _has(self, id: str) -> bool:
        return self._db.execute("SELECT 1 FROM passages WHERE id = ?", (id,)).fetchone() is not None

    def _remove(self, document: int) -> None:
        gone = self._db.execute("DELETE FROM passages WHERE document = ?", (document,))
        self._db.execute("DELETE FROM documents WHERE rowid = ?", (document,))
        self._passages["removed"] += gone.rowcount

    def _add(self, passage: Passage, document: int | None) -> None:
        added = self._db.execute(
            "INSERT INTO passages (id, document, start, title, text, url) VALUES (?, ?, ?, ?, ?, ?)",
            (passage.id, document, passage.start, passage.title, passage.text, passage.url),
        )
        self._passages["added"] += 1
        self._waiting.append((added.lastrowid or 0, f"{passage.title}\n{passage.text}".lstrip()))
        if len(self._waiting) == BATCH:
            self._commit()

    def _commit(self) -> None:
        if self._waiting:
            vectors = self._embedder.embed([text for _, text in self._waiting]).astype(np.float16)
            rows = ((rowid, vector.tobytes()) for (rowid, _), vector in zip(self._waiting, vectors, strict=True))
            self._db.executemany("INSERT INTO vectors (rowid, vector) VALUES (?, ?)", rows)
            self._waiting.clear()
        if self._db.in_transaction:
            self._db.execute("UPDATE meta SET value = max(value + 1, ?) WHERE key = 'generation'", (time_ns(),))
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'updated'", (now(),))
            self._db.commit()
        self._on_progress(*self._progress)


def _is_below(place: Path, folders: Sequence[Path]) -> bool:
    return any(place.is_relative_to(folder) for folder in folders)


def _digest(file: File) -> bytes | None:
    """Hash of the file's content; None where it cannot be read, which `_contents` will say."""
    try:
        with file.place.open("rb") as stream:
            return file_digest(stream, lambda: blake2b(digest_size=16)).digest()
    except OSError:
        return None


def _contents(file: File) -> Iterator[tuple[int, Document | Problem]]:
    """What is in the file, each with the number of bytes read so far; a last Problem where reading broke off."""
    try:
        with file.place.open("rb") as stream:
            for item in read(stream, file.place.name):
                yield stream.tell(), item
    except Unreadable as error:
        yield file.size, Problem(str(error))
    except OSError as error:
        yield file.size, Problem(f"cannot be read: {error.strerror or error}")


def _storable(document: Document) -> Document:
    """The document without what SQLite or UTF-8 cannot hold, each such character replaced by one other."""
    return replace(
        document,
        key=_clean(document.key),
        title=" ".join(_clean(document.title).split()),
        text=_clean(document.text),
        url=document.url and _clean(document.url),
        id=document.id and _clean(document.id),
        sections=tuple((start, " ".join(_clean(name).split())) for start, name in document.sections),
    )


def _clean(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def _digest_of(document: Document) -> bytes:
    parts = json.dumps((document.title, document.text, document.url, document.id, document.sections))
    return blake2b(parts.encode(), digest_size=16).digest()


def _dumped(problems: list[Problem]) -> str:
    return json.dumps([(problem.reason, problem.skipped) for problem in problems])


def _loaded(problems: str) -> list[Problem]:
    return [Problem(*problem) for problem in json.loads(problems)]


def _shortened(problems: list[Problem]) -> list[Problem]:
    """The first few and how many more, so that a file of bad rows does not fill the index and the screen."""
    rest = len(problems) - _TOLD
    return [*problems[:_TOLD], Problem(f"and {rest:,} more")] if rest > 0 else problems
