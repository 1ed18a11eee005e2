"""The index's file: its tables, the meaning of SQLite's errors, and how it is opened, locked and replaced."""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from time import time_ns
from typing import Any, NamedTuple

from surefoot.index import beside
from surefoot.index.connection import DEFAULT, LEXICON, Connection, checked_name, closed_on_failure, confine
from surefoot.index.splitter import WORDS
from surefoot.run import store
from surefoot.types.errors import IndexFault
from surefoot.types.protocols import Embedder

SCHEMA = 3  # version of `TABLES` and of how documents become passages; an index of another version has to be rebuilt

TABLES = Path(__file__).with_name("tables.sql").read_text(encoding="utf-8")

_META = {"schema": int, "embedder": str, "dimensions": int, "words": int, "created": str, "updated": str}
_META |= {"generation": int}
_MOST_DIMENSIONS = 100_000
_LONGEST = 100_000_000  # bytes of a row in an index, at most

_ADVICE = {
    sqlite3.SQLITE_FULL: "free some space and run it again",
    sqlite3.SQLITE_READONLY: "make it writable",
    sqlite3.SQLITE_CANTOPEN: "check that its folder is there and writable",
    sqlite3.SQLITE_IOERR: "check the disk, then run it again",
    sqlite3.SQLITE_BUSY: "wait for the program that holds it",
}
NEW = ".new"  # the suffix of an index that will replace the one beside it
USUAL = ".surefoot/index.db"  # where `surefoot index` makes an index unless told otherwise


def making(path: Path, option: str = "") -> str:
    """The command that makes an index in this place, to end an error's message with."""
    return f"run: surefoot index {option}PATH…" + ("" if path == Path(USUAL) else f" --index {path}")


def remaking(path: Path) -> str:
    """The command that replaces the index in this place."""
    return making(path, "--rebuild ")


def renewing(path: Path) -> str:
    """The command that reads the files again that a sound index in this place names."""
    return remaking(path).replace(" PATH…", "")


@contextmanager
def faults(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and the disk into IndexFaults that name the index and say what to do. Raises one at once,
    before anything is created, for a path that cannot be a file's name."""
    if "\0" not in str(path) and path.is_dir():
        raise IndexFault(f"{path} is a folder, and an index is a file; {_inside(path)}")
    if not path.name or "\0" in str(path):
        raise IndexFault(f"{str(path)!r} cannot be the name of an index; give a file's, such as {USUAL}")
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # an error of the Python module itself has none
        if code == sqlite3.SQLITE_NOTADB:
            raise foreign(path) from error
        raise IndexFault(f"{path}: {error}; {_ADVICE.get(code) or remaking(path)}") from error
    except UnicodeDecodeError as error:  # SQLite's message about damaged tables may quote their damaged names
        raise IndexFault(f"{path}: its tables are damaged; {remaking(path)}") from error
    except OSError as error:
        raise IndexFault(f"{path}: {error.strerror or error}; check its folder and the disk") from error


def _inside(folder: Path) -> str:
    """The remedy where a folder was named as the index."""
    for held in (folder / USUAL, folder / Path(USUAL).name):
        if held.is_file():
            return f"name the one in it: --index {held}"
    made = f"to make one of the folder's documents, run: surefoot index {folder}"
    return f"name one, such as {folder / 'index.db'}; {made}"


def read_meta(db: sqlite3.Connection, path: Path) -> dict[str, Any]:
    """The contents of `meta`. Raises IndexFault for another kind of file, or a version that cannot be read. Reads
    nothing but the list of tables unless they are ours, since a view or a trigger is a program."""
    made = dict(db.execute("SELECT name, upper(substr(sql, 1, 12)) FROM sqlite_master"))
    if "meta" not in made or "passages" not in made:
        raise foreign(path)
    if {made["meta"], made.get("collections", "CREATE TABLE")} != {"CREATE TABLE"}:
        raise sqlite3.DatabaseError("its tables are not those of an index")
    meta = dict(db.execute("SELECT key, value FROM meta"))
    version = meta.get("schema")
    if version != SCHEMA:
        raise IndexFault(f"{path} has version {version} and this is for version {SCHEMA}; {renewing(path)}")
    if _definitions(db) != _todays():
        raise sqlite3.DatabaseError("its tables are not those of an index")
    typed = all(isinstance(meta.get(key), kind) for key, kind in _META.items())
    if not typed or not 1 <= meta["dimensions"] <= _MOST_DIMENSIONS:
        raise sqlite3.DatabaseError("what it says about itself is damaged")
    return meta


def _definitions(db: sqlite3.Connection) -> set[tuple[str, ...]]:
    """Type, name, table and statement of each table, index, view and trigger; those of all lexicons count as one."""
    rows = db.execute("SELECT type, name, tbl_name, sql FROM main.sqlite_master")
    return {tuple(re.sub(r"\blexicon_\d+", "lexicon_0", str(part)) for part in row) for row in rows}


@cache
def _todays() -> set[tuple[str, ...]]:
    """The definitions of an index of this version."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(f"{TABLES};{LEXICON.format(number=0)}")
        return _definitions(db)


def check_embedder(path: Path, meta: dict[str, Any], embedder: Embedder) -> None:
    """Raise IndexFault unless the vectors of the index, whose `meta` is given, are this embedder's."""
    built, inputs = (meta["embedder"], meta["dimensions"]), (embedder.name, embedder.dimensions)
    if built != inputs:
        wrong = f"was built with the embedder {built[0]} ({built[1]} dimensions), not {inputs[0]} ({inputs[1]})"
        raise IndexFault(f"{path} {wrong}; use that one, or {renewing(path)}")


def size_of(path: Path) -> int:
    """In bytes; 0 where there is no such file: the last writer removes the log at any moment."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def foreign(path: Path) -> IndexFault:
    """The error for a file that is not an index."""
    return IndexFault(f"{path} is not an index of Surefoot; name another file")


def reader(path: Path, collection: str = DEFAULT) -> Connection:
    """A connection to a collection that cannot write, for one thread at a time. Raises IndexFault unless there is an
    index, whose version can be read, with this collection."""
    # Even a reader writes a file beside an index in WAL mode. Where it may not, SQLite is told that the index does not
    # change.
    frozen = not size_of(Path(f"{path}-wal")) and not os.access(path.parent, os.W_OK)
    with closed_on_failure(_opened(path, frozen)) as db:
        if not confine(db, collection):
            raise IndexFault(f"{path} has no collection {collection!r}; {making(path, f'--collection {collection} ')}")
    return db


def _opened(path: Path, frozen: bool) -> Connection:
    """A connection to an index, not yet confined to a collection."""
    uri = f"{path.absolute().as_uri()}?{'immutable=1' if frozen else 'mode=ro'}"
    with closed_on_failure(_connected(uri, uri=True, isolation_level=None, check_same_thread=False)) as db:
        if path.stat().st_size == 0:
            raise IndexFault(f"{path} is empty; {making(path)}")
        read_meta(db, path)
    return db


def check_index(path: Path) -> None:
    """Raise IndexFault where there is an index in this place that cannot be read."""
    if path.exists():
        with faults(path):
            _opened(path, frozen=False).close()


class NamedFile(NamedTuple):
    """A file that an index names."""

    location: str | None
    """Relative to the index's folder; None: it was never a file."""
    path: str
    meta: str
    """JSON of the fields that were given to it."""


def named_files(path: Path) -> dict[str, list[NamedFile]]:
    """The files of each collection of an index of any version, by its name. Raises sqlite3.Error, IndexFault."""
    if not path.is_file():
        raise IndexFault(f"there is no index at {path}; {making(path)}")
    with closing(_connected(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"meta", "files", "passages"} <= tables:  # what is no table of ours is a program
            raise foreign(path)
        columns = {name for _, name, *_ in db.execute("PRAGMA table_info(files)")}
        meta = "meta" if "meta" in columns else "'{}'"
        names = {0: DEFAULT}
        if "collection" in columns:
            names = dict(db.execute("SELECT rowid, name FROM collections"))
        rows = db.execute(f"SELECT {'collection' if 'collection' in columns else 0}, location, path, {meta} FROM files")  # nosec B608 # words of ours
        found: dict[str, list[NamedFile]] = {name: [] for name in names.values()}
        for collection, *file in rows:
            found[names[collection]].append(NamedFile(*file))
        return found


def others(path: Path, collection: str) -> list[str]:
    """The names of the other collections of the index; none where it cannot be read."""
    with suppress(IndexFault, sqlite3.Error, UnicodeDecodeError), closing(_opened(path, frozen=False)) as db:
        query = "SELECT name FROM main.collections WHERE name <> ? ORDER BY name"
        return [name for (name,) in db.execute(query, (collection,))]
    return []


@contextmanager
def writing(path: Path, embedder: Embedder | None, collection: str = DEFAULT) -> Iterator[Connection]:
    """A connection to a collection that can write. With an embedder it makes what is not there; without, it can only
    take out. Raises IndexFault, and leaves the file as it is, unless that is of this version and this embedder."""
    with closing(_connected(path)) as db:
        if not (is_new := not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]):
            meta = read_meta(db, path)
            if embedder:
                check_embedder(path, meta, embedder)
        found = not is_new and confine(db, collection)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -65536")
        if not found and not embedder:
            raise IndexFault(f"{path} has no collection {collection!r}; name one that is there")
        if not found and embedder:
            _create(db, embedder, checked_name(collection), is_new)
        yield db


def check_file(db: Connection, quick: bool = False) -> None:
    """Read all of the file, unless `quick` its indexes too. Raises sqlite3.DatabaseError where it is damaged."""
    (fault,) = db.execute(f"PRAGMA {'quick' if quick else 'integrity'}_check(1)").fetchone()
    if fault != "ok":
        raise sqlite3.DatabaseError(str(fault))


def _connected(place: str | Path, **options: Any) -> Connection:
    if sqlite3.sqlite_version_info < (3, 37):  # it has no STRICT tables
        this = f"this Python's SQLite is {sqlite3.sqlite_version}"
        raise IndexFault(f"{this}, and an index needs 3.37; use another build of Python")
    db: Connection = sqlite3.connect(place, factory=Connection, **options)
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    return db


def now() -> str:
    """The time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _create(db: Connection, embedder: Embedder, collection: str, is_new: bool) -> None:
    """Make a collection, in an index that may be new too, and confine the connection to it."""
    db.executescript(f"BEGIN; {TABLES if is_new else ''}")
    if is_new:
        meta = (SCHEMA, embedder.name, embedder.dimensions, WORDS, now(), now(), time_ns())
        db.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", zip(_META, meta, strict=True))
    added = db.execute("INSERT INTO collections (name, generation) VALUES (?, ?)", (collection, time_ns()))
    db.execute(LEXICON.format(number=added.lastrowid))
    confine(db, collection)
    db.commit()


def commit(db: Connection) -> None:
    """Commit what was written to the collection: from now on whoever searches it sees all of it."""
    if db.in_transaction:
        db.execute("UPDATE meta SET value = max(value + 1, ?) WHERE key = 'generation'", (time_ns(),))
        mine = time_ns(), db.number
        db.execute("UPDATE collections SET generation = max(generation + 1, ?) WHERE rowid = ?", mine)
        db.execute("UPDATE meta SET value = ? WHERE key = 'updated'", (now(),))
        db.commit()


@contextmanager
def locked(path: Path, patience: float = 0.0) -> Iterator[None]:
    """Keep others from writing the index. Raises IndexFault where one still writes it after `patience` seconds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    busy = IndexFault(f"{path} is being written by another process; wait until it has finished")
    with store.locked(f"{path}.lock", busy, patience):
        yield


@contextmanager
def replacement(live: Path) -> Iterator[Path]:
    """The path at which to build, and close, the index that then replaces this one for every later search.

    A failure leaves the old index as it was, and nothing of the new one. Raises IndexFault where another kind of file
    is in its place; a damaged index may be replaced.
    """
    if size_of(live) and not _is_ours(live):
        raise foreign(live)
    new = Path(f"{live}{NEW}")
    _unlink(new, "", "-wal", "-shm")
    try:
        yield new
        with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(live, timeout=1)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        # Before the replacement, never after it: SQLite would take the old one's log for the new one's.
        _unlink(live, "-wal", "-shm")
        beside.remove(*beside.places(live))
        os.replace(new, live)
        for file in beside.places(new):
            os.replace(file, f"{live}{str(file).removeprefix(str(new))}")
    finally:
        _unlink(new, "", "-wal", "-shm")
        beside.remove(*beside.places(new))


def copied(live: Path, to: Path) -> None:
    """Copy an index of any version, as it is at one moment, while others may write it. Raises IndexFault."""
    with (
        faults(live),
        closing(sqlite3.connect(f"{live.absolute().as_uri()}?mode=ro", uri=True)) as db,
        closing(sqlite3.connect(to)) as new,
    ):
        db.backup(new)


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        if file.read(16) != b"SQLite format 3\0":
            return False
    try:
        with closing(sqlite3.connect(path)) as db:
            return bool(db.execute("SELECT 1 FROM sqlite_master WHERE name = 'passages'").fetchone())
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return True


def _unlink(path: Path, *suffixes: str) -> None:
    for suffix in suffixes:
        Path(f"{path}{suffix}").unlink(missing_ok=True)
