"""Turns files into an index, a batch at a time: reads only changed files, and embeds only changed documents.

A transaction is committed once all of its passages have their vectors, so that readers, and a run after a crash, find
whole batches only.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, time_ns
from typing import NamedTuple

import numpy as np

from surefoot.corpus.discover import ALL, Found, FoundFile, Patterns, find
from surefoot.corpus.integrity import passage_sum, seal, vector_sum
from surefoot.corpus.loaders import MAX_BYTES, DocumentProblem, supported
from surefoot.corpus.readers import READERS, CutDocument, Reading, Request
from surefoot.corpus.storage import faults, locked, now, replacement, settle, writer
from surefoot.errors import IndexFault
from surefoot.protocols import Embedder
from surefoot.text import ids
from surefoot.text.json_values import parsed
from surefoot.types import Passage

BATCH = 512
"""Passages embedded and committed together; a crash costs at most so many."""

_FORGET = (
    "INSERT INTO lexicon (lexicon, rowid, title, text) "
    "SELECT 'delete', rowid, title, text FROM passages WHERE document = ?",
    "DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM passages WHERE document = ?)",
)

OnProgress = Callable[[int, int, str], None]
"""Called with the bytes done, the bytes to do in all, and the path at hand."""

_TOLD = 20
# A second change within a tick of the clock leaves the times as they are; files so young are hashed next time.
_YOUNG_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Changes:
    """Counts of files, documents or passages; `unchanged` is of the whole index, from other paths too."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: int = 0
    """Files of which nothing is in the index, for a reason in the report; they are counted nowhere else."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a run of `build` did, and what the index holds now."""

    files: Changes
    documents: Changes
    passages: Changes
    """The passages of an updated document count as removed and as added."""
    ignored: tuple[tuple[str, tuple[str, ...]], ...]
    """(kind, paths) of the files below the given folders that are not read, the commonest kind first: a suffix, or
    "binary or empty", "hidden", "links", "no regular files", or "left out" by the patterns."""
    skipped: tuple[tuple[str, str], ...]
    """(path, reason) of each file or row that should be in the index and is not."""
    notes: tuple[tuple[str, str], ...]
    """(path, reservation) of each file that is in the index, but perhaps not as its author wrote it."""
    seconds: float


class _Stored(NamedTuple):
    """A file as the index has it."""

    rowid: int
    path: str
    space: str
    """The name space of its passages' ids."""
    stamp: str
    hash: bytes | None
    """None: unknown, read the file again."""
    complete: bool
    problems: str


def build(
    paths: Sequence[str | Path],
    index_path: str | Path,
    embedder: Embedder,
    *,
    rebuild: bool = False,
    max_bytes: int = MAX_BYTES,
    patterns: Patterns = ALL,
    on_progress: OnProgress = lambda done, total, path: None,
) -> IndexReport:
    """Bring the index up to date with these files and folders; passages from other places stay.

    `patterns` choose among the files below a folder, in this run alone; what they leave out leaves the index too. A
    file that was not touched is not opened, unless its name does not tell its format; of a changed file only the
    changed documents are embedded, each passage as its title, a line end, and its text. `rebuild` makes a new index, of
    `paths` alone, and puts it in place when it is complete. Interrupted at any point, even by a kill, it leaves an
    index that can be searched, and the next run completes it. Raises IndexFault, and what the embedder raises.
    """
    started, live = perf_counter(), Path(index_path)
    found = [_some(find(Path(path), max_bytes, patterns), path) for path in paths]
    if not any(each.files for each in found):
        raise IndexFault(
            "; ".join(f"{path} {why}" for each in found for path, why in each.skipped) or "no path to index"
        )
    with (
        faults(live),
        locked(live),
        replacement(live) if rebuild else nullcontext(live) as place,
        closing(writer(place, embedder)) as db,
    ):
        run = _Build(db, live.parent.resolve(), embedder, on_progress)
        run.update(found)
        if rebuild:
            settle(db)
        return run.report(found, started)


def _some(found: Found, path: str | Path) -> Found:
    # Even if the index has files from there: a folder that is not mounted must not empty the index.
    if found.root.is_dir() and not found.files and not found.skipped:
        left = "; --include and --exclude leave all of them out" if found.ignored["left out"] else ""
        raise IndexFault(f"{path} holds no file that can be read{left}; these can: {supported()}")
    return found


class _Build:
    """One run over the files that were found: reads, compares, writes and counts."""

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
        self._problems: dict[int, list[tuple[str, DocumentProblem]]] = {}
        self._waiting: list[tuple[int, Passage]] = []
        self._progress = (0, 0, "")

    def update(self, found: Sequence[Found]) -> None:
        """Make the index agree with the files."""
        rows = self._db.execute("SELECT location, rowid, path, space, stamp, hash, complete, problems FROM files")
        stored = {location: _Stored(*rest) for location, *rest in rows}
        wanted = {self._location(file.place): file for each in found for file in each.files}
        self._forget(stored, wanted, found)
        changed = self._register(stored, wanted)
        todo = sum(file.size for _, file in changed)
        done = 0
        self._on_progress(0, todo, "")
        requests = [Request(f.place.name, f.path, f.size, str(f.place), old.space, old.hash) for old, f in changed]
        with closing(READERS.files(requests)) as readings:
            for (known, file), reading in zip(changed, readings, strict=True):
                self._progress = done, todo, known.path
                self._read(known, file, reading)
                done += file.size
        self._progress = done, todo, ""
        self._commit()

    def report(self, found: Sequence[Found], started: float) -> IndexReport:
        """The report of a run that began at `started`."""
        told = [each for problems in self._problems.values() for each in problems]
        skipped = [entry for each in found for entry in each.skipped]
        empty = self._empty()
        files = Counter(added=len(self._added - empty), updated=len(self._updated - empty), removed=self._forgotten)
        files["skipped"] = len(skipped) + len(empty & self._problems.keys())
        return IndexReport(
            files=self._changes("files", files, len(empty)),
            documents=self._changes("documents", self._documents),
            passages=self._changes("passages", self._passages),
            ignored=_ignored(found),
            skipped=(*skipped, *((path, problem.reason) for path, problem in told if problem.skipped)),
            notes=tuple((path, problem.reason) for path, problem in told if not problem.skipped),
            seconds=perf_counter() - started,
        )

    def _changes(self, table: str, counted: Counter[str], without: int = 0) -> Changes:
        """The counts with `unchanged`, the rows of the table that are not in `counted` or `without`."""
        total = self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # nosec B608 # one of three words of ours
        return Changes(unchanged=total - without - counted["added"] - counted["updated"], **counted)

    def _empty(self) -> set[int]:
        """The files without a document that this run or an earlier one skipped, for a reason."""
        rows = self._db.execute(
            "SELECT rowid, problems FROM files WHERE NOT EXISTS (SELECT 1 FROM documents WHERE file = files.rowid)"
        )
        return {rowid for rowid, problems in rows if any(problem.skipped for problem in _loaded(problems))}

    def _location(self, place: Path) -> str:
        try:
            return os.fsencode(os.path.relpath(place, self._home)).decode("utf-8", "backslashreplace")
        except ValueError:  # another drive
            return str(place)

    def _forget(self, stored: dict[str, _Stored], wanted: dict[str, FoundFile], found: Sequence[Found]) -> None:
        """Remove the files below the found roots that are gone, except below folders that could not be opened."""
        roots = [each.root for each in found]
        closed = [folder for each in found for folder in each.closed]
        skipped = {path for each in found for path, _ in each.skipped}
        for location in stored.keys() - wanted.keys():
            place = Path(os.path.normpath(self._home / location))
            if _is_below(place, roots) and not _is_below(place, closed):
                gone = stored.pop(location)
                for document, _ in self._known(gone.rowid).values():
                    self._remove(document)
                    self._documents["removed"] += 1
                self._db.execute("DELETE FROM files WHERE rowid = ?", (gone.rowid,))
                self._forgotten += gone.path not in skipped

    def _register(self, stored: dict[str, _Stored], wanted: dict[str, FoundFile]) -> list[tuple[_Stored, FoundFile]]:
        """The files to read, marked as incomplete first, so that an index cut short says so."""
        changed = []
        for location, file in wanted.items():
            known = stored.get(location)
            if known and known.complete and known.stamp == file.stamp:
                self._tell(known, _loaded(known.problems))
                continue
            if known:
                self._db.execute("UPDATE files SET complete = 0 WHERE rowid = ?", (known.rowid,))
            changed.append((known or self._new(location, file), file))
        self._commit()
        return changed

    def _new(self, location: str, file: FoundFile) -> _Stored:
        taken = "SELECT 1 FROM files WHERE space = ?"
        space = ids.space(file.path, lambda space: self._db.execute(taken, (space,)).fetchone() is not None)
        row = self._db.execute(
            "INSERT INTO files (location, path, space, complete) VALUES (?, ?, ?, 0)", (location, file.path, space)
        )
        return _Stored(row.lastrowid or 0, file.path, space, "", None, False, "[]")

    def _read(self, known: _Stored, file: FoundFile, reading: Reading) -> None:
        """Bring a file's documents up to date."""
        before = self._documents.total()
        self._db.execute("UPDATE files SET hash = NULL WHERE rowid = ?", (known.rowid,))
        problems = self._read_documents(known, reading)
        if known.hash is None and not known.complete:
            self._added.add(known.rowid)
        elif self._documents.total() > before:
            self._updated.add(known.rowid)
        # A file that could not be read for a reason that may pass is read again by the next run.
        again = reading.passing or reading.asked - file.changed_ns < _YOUNG_NS
        dumped = json.dumps([(problem.reason, problem.skipped) for problem in problems])
        self._db.execute(
            "UPDATE files SET stamp = ?, hash = ?, complete = 1, problems = ? WHERE rowid = ?",
            ("" if again else file.stamp, reading.digest, dumped, known.rowid),
        )
        self._tell(known, problems)

    def _tell(self, file: _Stored, problems: list[DocumentProblem]) -> None:
        self._problems[file.rowid] = [(file.path, problem) for problem in problems]

    def _read_documents(self, known: _Stored, reading: Reading) -> list[DocumentProblem]:
        old, seen = self._known(known.rowid), set[str]()
        problems, done = [], self._progress[0]
        for reached, document in reading.items():
            self._progress = done + reached, *self._progress[1:]
            self._on_progress(*self._progress)
            if isinstance(document, DocumentProblem):
                problems.append(document)
                continue
            if document.key in seen:
                twin = f"has the id {document.id}" if document.id else "says the same"
                problems.append(DocumentProblem(f"a row is left out, since an earlier one {twin}"))
                continue
            seen.add(document.key)
            self._index(document, known, old.get(document.key))
        if reading.same:
            return _loaded(known.problems)
        for key in old.keys() - seen:
            self._remove(old[key][0])
            self._documents["removed"] += 1
        return _shortened(problems)

    def _known(self, file: int) -> dict[str, tuple[int, bytes | None]]:
        rows = self._db.execute("SELECT key, rowid, hash FROM documents WHERE file = ?", (file,))
        return {key: (rowid, hash) for key, rowid, hash in rows}

    def _index(self, document: CutDocument, file: _Stored, old: tuple[int, bytes | None] | None) -> None:
        """Put a document in, in place of its former version."""
        if old and old[1] == document.digest:
            return
        if old:
            self._remove(old[0])
        self._documents["updated" if old else "added"] += 1
        added = self._db.execute("INSERT INTO documents (file, key) VALUES (?, ?)", (file.rowid, document.key))
        for piece in document.passages:
            self._add(piece, added.lastrowid, file.path)
        self._db.execute("UPDATE documents SET hash = ? WHERE rowid = ?", (document.digest, added.lastrowid))

    def _remove(self, document: int) -> None:
        for statement in _FORGET:
            self._db.execute(statement, (document,))
        gone = self._db.execute("DELETE FROM passages WHERE document = ?", (document,))
        self._db.execute("DELETE FROM documents WHERE rowid = ?", (document,))
        self._passages["removed"] += gone.rowcount

    def _add(self, passage: Passage, document: int | None, file: str) -> None:
        places = json.dumps(passage.places) if passage.places else ""
        checksum = passage_sum(passage.id, passage.text, passage.title, passage.url, passage.start, file, places)
        row = (passage.id, document, passage.start, passage.title, passage.text, passage.url, places, checksum)
        added = self._db.execute(
            "INSERT INTO passages (id, document, start, title, text, url, places, checksum) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        words = added.lastrowid, passage.title, passage.text
        self._db.execute("INSERT INTO lexicon (rowid, title, text) VALUES (?, ?, ?)", words)
        self._passages["added"] += 1
        self._waiting.append((added.lastrowid or 0, passage))
        if len(self._waiting) == BATCH:
            self._commit()

    def _commit(self) -> None:
        if self._waiting:
            texts = [f"{passage.title}\n{passage.text}".lstrip() for _, passage in self._waiting]
            vectors = map(np.ndarray.tobytes, self._embedder.embed(texts).astype(np.float16))
            rows = (
                (rowid, vector, vector_sum(passage.id, vector))
                for (rowid, passage), vector in zip(self._waiting, vectors, strict=True)
            )
            self._db.executemany("INSERT INTO vectors (rowid, vector, checksum) VALUES (?, ?, ?)", rows)
            self._waiting.clear()
        if self._db.in_transaction:
            self._db.execute("UPDATE meta SET value = max(value + 1, ?) WHERE key = 'generation'", (time_ns(),))
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'updated'", (now(),))
            seal(self._db)
            self._db.commit()
        self._on_progress(*self._progress)


def _ignored(found: Sequence[Found]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """All that is ignored, by kind, the commonest first."""
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    for kind, paths in (entry for each in found for entry in each.ignored.items()):
        kinds[kind] += paths
    return tuple(sorted(((kind, tuple(paths)) for kind, paths in kinds.items() if paths), key=lambda e: -len(e[1])))


def _is_below(place: Path, folders: Sequence[Path]) -> bool:
    return any(place.is_relative_to(folder) for folder in folders)


def _loaded(problems: str) -> list[DocumentProblem]:
    try:
        return [DocumentProblem(str(reason), bool(skipped)) for reason, skipped in parsed(problems)]
    except (ValueError, TypeError) as error:
        raise sqlite3.DatabaseError("its list of problems with files is damaged") from error


def _shortened(problems: list[DocumentProblem]) -> list[DocumentProblem]:
    """The first few and the count of the others, so that a file of bad rows fills neither index nor screen."""
    rest = len(problems) - _TOLD
    return [*problems[:_TOLD], DocumentProblem(f"and {rest:,} more")] if rest > 0 else problems
