"""Turns files into an index, a batch at a time: reads only changed files, and embeds only changed documents.

Readers, and a run after a crash, find whole documents only (`intake`).
"""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from time import perf_counter
from typing import Any

from surefoot.documents.discover import ALL, Found, FoundFile, Patterns, find
from surefoot.documents.loaders import LACKING, MAX_BYTES, DocumentProblem, supported
from surefoot.documents.reading import Reading, Request
from surefoot.documents.storable import content_hash
from surefoot.index import beside
from surefoot.index.connection import DEFAULT, Connection, checked_name
from surefoot.index.contents import loaded
from surefoot.index.intake import Intake, StoredFile, location_of, stored_files
from surefoot.index.readers import READERS
from surefoot.index.storage import NEW, check_file, faults, locked, others, replacement, writing
from surefoot.types.errors import IndexFault
from surefoot.types.metadata import NO_META, Meta
from surefoot.types.protocols import Embedder


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """The progress of a run of `build`; each commit and each document is told."""

    bytes: int
    """Of the files that are to be read, how many are done."""
    total: int
    """Bytes of these files in all."""
    path: str
    """The file at hand; empty: none, or all are done."""
    documents: int
    """Documents added or brought up to date so far; unchanged ones do not count."""
    passages: int
    """Passages added so far."""
    unread: Sequence[tuple[str, str]]
    """(path, reason) of each file or row that was not read; it grows until the end."""


OnProgress = Callable[[IndexProgress], None]
"""Gets each step of a run, on the thread that runs it. Whatever it raises ends the run: what was committed stays."""

# A second change within a tick of the clock leaves the times as they are; files so young are hashed next time.
_YOUNG_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Changes:
    """Counts of files, documents or passages; `unchanged` is of the whole collection, from other paths too."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    moved: int = 0
    """Files that were indexed at another path, with the same content."""
    skipped: int = 0
    """Files of which nothing is in the index, for a reason in the report; they are counted nowhere else."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The work of a run of `build`, and the contents of the index after it."""

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
    missing: tuple[str, ...]
    """Paths of files from elsewhere that are still in the index and no longer on the disk; it may not be mounted."""
    seconds: float

    @property
    def changed(self) -> bool:
        """Say whether any file came, changed, moved or went, or could not be read."""
        files = self.files
        return any((files.added, files.updated, files.moved, files.removed, files.skipped))


def build(
    paths: Sequence[str | Path],
    index_path: str | Path,
    embedder: Embedder,
    *,
    collection: str = DEFAULT,
    meta: Mapping[str, Any] | Callable[[str], Mapping[str, Any]] | None = None,
    rebuild: bool = False,
    max_bytes: int = MAX_BYTES,
    patterns: Patterns = ALL,
    patience: float = 0.0,
    on_progress: OnProgress = lambda progress: None,
) -> IndexReport:
    """Bring a collection of the index up to date with these files and folders; passages from other places stay.

    `patterns` choose among the files below a folder, in this run alone; what they leave out leaves the index too. A
    file that was not touched is not opened; only changed documents are embedded. `meta`, or a function from a file's
    path, gives fields that stand over the documents' own; None: as the last run said. `rebuild` makes a new index, of
    `paths` alone, and puts it in place when it is complete. Interrupted at any point, even by a kill, it leaves an
    index that can be searched, and the next run completes it. Waits `patience` seconds for another writer. Raises
    IndexFault, FieldFault, and what the embedder raises.
    """
    started, live = perf_counter(), Path(index_path)
    labels = meta if callable(meta) or meta is None else Meta(meta)
    checked_name(collection)
    found = discovered(paths, max_bytes, patterns)
    with (
        faults(live),
        locked(live, patience),
        _replacement(live, collection) if rebuild else nullcontext(live) as place,
    ):
        return build_found(found, place, live.parent.resolve(), embedder, collection, labels, on_progress, started)


def discovered(paths: Sequence[str | Path], max_bytes: int = MAX_BYTES, patterns: Patterns = ALL) -> list[Found]:
    """The files at or below each path. Raises IndexFault where there are none."""
    found = [find(Path(path), max_bytes, patterns) for path in paths]
    for each, path in zip(found, paths, strict=True):
        # Even if the index has files from there: a folder that is not mounted must not empty the index.
        if each.root.is_dir() and not each.files and not each.skipped:
            left = "; --include and --exclude leave all of them out" if each.ignored["left out"] else ""
            raise IndexFault(f"{path} holds no file that can be read{left}; these can: {supported()}")
    if not any(each.files for each in found):
        skipped = [f"{path} {why}" for each in found for path, why in each.skipped]
        raise IndexFault("; ".join(skipped) or "no path to index")
    return found


def ignored(found: Sequence[Found]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(kind, paths) of the files that are not read, as an `IndexReport` has them."""
    by_kind = defaultdict[str, list[str]](list)
    for kind, paths in (entry for each in found for entry in each.ignored.items()):
        by_kind[kind] += paths
    return tuple(sorted(((kind, tuple(paths)) for kind, paths in by_kind.items() if paths), key=lambda e: -len(e[1])))


def build_found(
    found: Sequence[Found],
    place: Path,
    home: Path,
    embedder: Embedder,
    collection: str,
    labels: Meta | Callable[[str], Mapping[str, Any]] | None,
    on_progress: OnProgress,
    started: float | None = None,
) -> IndexReport:
    """Bring a collection of the index in `place` up to date with files that were found. Whoever calls it has locked the
    index; `home` is the folder that it lies in, or will. Raises sqlite3.Error, IndexFault, and what the embedder
    raises."""
    started = started or perf_counter()
    with writing(place, embedder, collection) as db:
        check_file(db, quick=True)  # nothing is built upon damage
        run = _Build(db, home, embedder, labels, on_progress)
        run.update(found)
        beside.write(db, place, embedder.dimensions)
        if place.suffix == NEW:  # closing moves the log into the file too, but says nothing where it fails
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return run.report(found, started)


def _replacement(live: Path, collection: str) -> AbstractContextManager[Path]:
    if held := others(live, collection):
        also = f"{live} also holds {len(held)} other collection{'s' * (len(held) > 1)}, which a rebuild would remove"
        raise IndexFault(f"{also}; rebuild into another file (--index FILE)")
    return replacement(live)


class _Build:
    """One run over the files that were found: reads, compares, writes and counts."""

    def __init__(
        self,
        db: Connection,
        home: Path,
        embedder: Embedder,
        labels: Meta | Callable[[str], Mapping[str, Any]] | None,
        on_progress: OnProgress,
    ) -> None:
        self._db, self._home, self._labels, self._on_progress = db, home, labels, on_progress
        self._intake = Intake(db, embedder, lambda: self._report())
        self._added, self._updated, self._moved, self._visited = set[int](), set[int](), set[int](), set[int]()
        self._forgotten = 0
        self._missing: list[str] = []
        self._unread: list[tuple[str, str]] = []
        self._notes: list[tuple[str, str]] = []
        self._at = (0, 0, "")

    def update(self, found: Sequence[Found]) -> None:
        """Make the collection agree with the files."""
        stored = stored_files(self._db, "WHERE location IS NOT NULL")
        wanted = {location_of(file.place, self._home): file for each in found for file in each.files}
        self._unread += [entry for each in found for entry in each.skipped]
        gone = {at for at in stored.keys() - wanted.keys() if self._is_gone(at)}
        self._follow(stored, wanted, gone)
        self._forget(stored, wanted, found)
        self._missing += (old.path for at, old in stored.items() if at in gone)
        changed = self._register(stored, wanted)
        todo = sum(file.size for _, file in changed)
        done = 0
        self._report(0, todo, "")
        requests = [Request(f.place.name, f.path, f.size, str(f.place), old.space, old.hash) for old, f in changed]
        with closing(READERS.files(requests)) as readings:
            for (known, file), reading in zip(changed, readings, strict=True):
                self._at = done, todo, known.path
                self._read(known, file, reading)
                done += file.size
        self._at = done, todo, ""
        self._intake.commit()

    def report(self, found: Sequence[Found], started: float) -> IndexReport:
        """The report of a run that began at `started`."""
        empty = self._empty()
        files = Counter(added=len(self._added - empty), updated=len(self._updated - empty), removed=self._forgotten)
        files["moved"] = len(self._moved - self._updated - empty)
        files["skipped"] = sum(len(each.skipped) for each in found) + len(empty & self._visited)
        return IndexReport(
            files=self._changes("files", files, len(empty)),
            documents=self._changes("documents", self._intake.documents),
            passages=self._changes("passages", self._intake.passages),
            ignored=ignored(found),
            skipped=tuple(self._unread),
            notes=(*self._notes, *self._intake.notes),
            missing=tuple(self._missing),
            seconds=perf_counter() - started,
        )

    def _changes(self, table: str, counted: Counter[str], without: int = 0) -> Changes:
        """The counts with `unchanged`, the rows of the table that are not in `counted` or `without`."""
        total = self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # nosec B608 # one of three words of ours
        changed = counted["added"] + counted["updated"] + counted["moved"]
        return Changes(unchanged=total - without - changed, **counted)

    def _empty(self) -> set[int]:
        """The files without a document that this run or an earlier one skipped, for a reason."""
        rows = self._db.execute(
            "SELECT rowid, problems FROM files WHERE NOT EXISTS (SELECT 1 FROM documents WHERE file = files.rowid)"
        )
        return {rowid for rowid, problems in rows if any(problem.skipped for problem in loaded(problems))}

    def _place(self, location: str | None) -> Path:
        return Path(os.path.normpath(self._home / (location or "")))

    def _is_gone(self, location: str | None) -> bool:
        try:
            self._place(location).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return True
        except (OSError, ValueError):  # it cannot be told
            return False
        return False

    def _follow(
        self, stored: dict[str | None, StoredFile], wanted: dict[str, FoundFile], gone: set[str | None]
    ) -> None:
        """Take a new file for one that is gone where both have the same content, first for one of the same name: what
        was read and embedded moves with it. One of another name, which may title it, is read again."""
        left = defaultdict[bytes | None, set[str | None]](set)
        for location in gone:
            left[stored[location].hash].add(location)
        sizes = {stored[location].stamp.partition(" ")[0] for location in gone}
        for location, file in wanted.items():
            if location in stored or sizes.isdisjoint(("", str(file.size))):
                continue
            with suppress(OSError), file.place.open("rb") as content:
                digest = content_hash(content)
                if same := left.get(digest):
                    before = min(same, key=lambda one: (PurePath(one or "").name != file.place.name, one or ""))
                    same.remove(before)
                    gone.remove(before)
                    known = self._intake.move(stored.pop(before), file.path, location)
                    renamed = PurePath(before or "").name != file.place.name
                    stored[location] = known._replace(stamp="", hash=None if renamed else digest)
                    self._moved.add(known.rowid)

    def _forget(
        self, stored: dict[str | None, StoredFile], wanted: dict[str, FoundFile], found: Sequence[Found]
    ) -> None:
        """Remove the files below the found roots that are gone, except below folders that could not be opened."""
        roots = [each.root for each in found]
        closed = [folder for each in found for folder in each.closed]
        skipped = {path for each in found for path, _ in each.skipped}
        for location in [*stored]:
            place = self._place(location)
            if location not in wanted and _is_below(place, roots) and not _is_below(place, closed):
                gone = stored.pop(location)
                self._intake.remove_file(gone.rowid)
                self._forgotten += gone.path not in skipped

    def _register(
        self, stored: dict[str | None, StoredFile], wanted: dict[str, FoundFile]
    ) -> list[tuple[StoredFile, FoundFile]]:
        """The files to read, marked as incomplete first, so that an index cut short says so."""
        changed = []
        for location, file in wanted.items():
            known = stored.get(location)
            labels = Meta(self._labels(file.path)) if callable(self._labels) else self._labels
            if known is None:
                known = self._intake.file(file.path, location, labels or NO_META, complete=False)
            elif labels is not None and known.meta != labels:  # its documents, which carry them, are read again
                known = known._replace(meta=labels, hash=None)
            elif known.complete and known.stamp == file.stamp:
                self._tell(known, loaded(known.problems))
                continue
            row = json.dumps(dict(known.meta)), known.hash, known.rowid
            self._db.execute("UPDATE main.files SET complete = 0, meta = ?, hash = ? WHERE rowid = ?", row)
            changed.append((known, file))
        self._intake.commit()
        return changed

    def _read(self, known: StoredFile, file: FoundFile, reading: Reading) -> None:
        """Bring a file's documents up to date."""
        before = self._intake.documents.total()
        is_new = known.hash is None and not known.complete
        self._db.execute("UPDATE main.files SET hash = NULL WHERE rowid = ?", (known.rowid,))
        problems = self._read_documents(known, reading)
        if is_new:
            self._added.add(known.rowid)
        elif self._intake.documents.total() > before:
            self._updated.add(known.rowid)
        # A file that could not be read for a reason that may pass is read again by the next run: its library may be
        # installed by then, and its content is no reason to pass it over.
        lacking = any(LACKING in problem.reason for problem in problems)
        again = lacking or reading.passing or reading.requested - file.changed_ns < _YOUNG_NS
        dumped = json.dumps([(problem.reason, problem.skipped) for problem in problems])
        self._db.execute(
            "UPDATE main.files SET stamp = ?, hash = ?, complete = 1, problems = ? WHERE rowid = ?",
            (f"{file.stamp} again" if again else file.stamp, None if lacking else reading.digest, dumped, known.rowid),
        )
        self._tell(known, problems)

    def _tell(self, file: StoredFile, problems: list[DocumentProblem]) -> None:
        self._visited.add(file.rowid)
        for problem in problems:
            (self._unread if problem.skipped else self._notes).append((file.path, problem.reason))

    def _report(self, *at: Any) -> None:
        self._at = at or self._at
        counted = self._intake.documents
        documents = counted["added"] + counted["updated"]
        self._on_progress(IndexProgress(*self._at, documents, self._intake.passages["added"], self._unread))

    def _read_documents(self, known: StoredFile, reading: Reading) -> list[DocumentProblem]:
        old, seen = self._intake.held(known.rowid), set[str]()
        problems, done = [], self._at[0]
        for reached, document in reading.items():
            self._report(done + reached, *self._at[1:])
            if isinstance(document, DocumentProblem):
                problems.append(document)
            else:
                seen.add(document.key)
                self._intake.put(document, known, old.get(document.key))
        if reading.same:
            return loaded(known.problems)
        for key in old.keys() - seen:
            self._intake.remove(old[key][0])
        return problems


def _is_below(place: Path, folders: Sequence[Path]) -> bool:
    return any(place.is_relative_to(folder) for folder in folders)
