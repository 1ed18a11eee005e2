"""Replies of other machines, kept in one SQLite file until they expire."""

import json
import os
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import TIMEOUT_MAX, Lock
from typing import Any

from surefoot.network.pace import Late, left
from surefoot.network.values import Reply
from surefoot.run import meter
from surefoot.text.json_values import parsed

_VERSION = 1
_TABLE = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, time REAL NOT NULL, url TEXT NOT NULL, status INTEGER NOT NULL, headers TEXT NOT NULL,
    body BLOB NOT NULL
) WITHOUT ROWID
"""
_UNUSABLE = (sqlite3.Error, OSError, UnicodeDecodeError)
"""Errors of a damaged file; the last where a message quotes the damage."""
_USED = """
SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
_SHRINK = """
DELETE FROM replies WHERE key IN (SELECT key FROM replies ORDER BY time LIMIT 1 + (SELECT count(*) FROM replies) / 10)
"""
"""Deletes the oldest tenth; the file keeps the space for later replies."""


class Cache:
    """Replies by key, in a file that several threads and processes may share; readable by its owner alone.

    The first use makes the file, or deletes replies older than `expires` seconds from it. Beyond `most` bytes the
    oldest replies go. A cache that cannot be used is ignored, and the step says so.
    """

    def __init__(self, path: Path, expires: float, most: int = 200_000_000) -> None:
        self._path = path
        self._expires = expires
        self._most = most
        self._lock = Lock()
        self._opened: sqlite3.Connection | None = None
        self._under_way: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        """A lock for each request."""

    def get(self, key: str) -> Reply | None:
        """The unexpired reply under this key, if any."""
        query = "SELECT url, status, headers, body, time FROM replies WHERE key = ? AND time > ?"
        for row in self._run(query, (key, time.time() - self._expires)):
            if reply := _reply(*row):
                return reply
            meter.degrade(f"a reply in the cache {self._path} is damaged; asked the network")
        return None

    def put(self, key: str, reply: Reply) -> None:
        """Keep the reply under this key, in place of another."""
        row = (key, time.time(), reply.url, reply.status, json.dumps(dict(reply.headers)), reply.body)
        self._run("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?)", row)
        for (used,) in self._run(_USED, ()):
            if used > self._most:
                self._run(_SHRINK, ())

    @contextmanager
    def turn(self, key: str, who: str) -> Iterator[None]:
        """Let equal requests to `who` of several threads go one after the other, so that the next finds the reply of
        the first. Raises Late where the time is over."""
        with self._lock:
            mine = self._under_way.setdefault(key, Lock())
        if not mine.acquire(timeout=max(0.0, min(left(), TIMEOUT_MAX))):
            raise Late(f"{who} gave no whole answer in time to an equal request")
        try:
            yield
        finally:
            mine.release()

    def _run(self, statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """The rows of a statement, one thread at a time; none, and a degraded step, where the cache cannot be used."""
        with self._lock:
            try:
                if self._opened is None:
                    self._opened = self._open()
                    weakref.finalize(self, self._opened.close)
                return self._opened.execute(statement, values).fetchall()
            except _UNUSABLE as error:
                meter.degrade(f"the cache {self._path} cannot be used ({error}); asked the network")
                return []

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(self._path, os.O_CREAT, 0o600))
        db = sqlite3.connect(self._path, timeout=5, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA trusted_schema = OFF")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if version != _VERSION and (version or tables):
                raise sqlite3.DatabaseError("it holds something else, and is left as it is")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            if not version:  # before there is a table, for whoever opens it at the same time
                db.execute(f"PRAGMA user_version = {_VERSION}")
            db.execute(_TABLE)
            db.execute("DELETE FROM replies WHERE time <= ?", (time.time() - self._expires,))
        except _UNUSABLE:
            db.close()
            raise
        return db


def _reply(url: Any, status: Any, headers: Any, body: Any, came: Any) -> Reply | None:
    """The reply that a row holds; None: the row is damaged."""
    try:
        named = parsed(headers)
    except (ValueError, TypeError):
        return None
    typed = zip((url, status, named, body, came), (str, int, dict, bytes, float), strict=True)
    whole = all(isinstance(value, kind) for value, kind in typed)
    if not whole or not all(isinstance(value, str) for value in named.values()):
        return None
    return Reply(url, status, named, body, cached=True, age=time.time() - came)
