"""How an index is opened."""

import sqlite3
from contextlib import closing

import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.storage import reader, writing
from surefoot.types.errors import IndexFault


@pytest.fixture
def place(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    build([tmp_path / "a.txt"], tmp_path / "index.db", Hashing())
    return tmp_path / "index.db"


@pytest.mark.parametrize("opened", [lambda path: closing(reader(path)), lambda path: writing(path, Hashing())])
def test_nothing_in_the_file_is_trusted(place, opened):
    """No function of its own, no cell that ends beyond its page, no row that fills the memory."""
    with opened(place) as db:
        assert db.execute("PRAGMA trusted_schema").fetchone() == (0,)
        assert db.execute("PRAGMA cell_size_check").fetchone() == (1,)
        assert db.getlimit(sqlite3.SQLITE_LIMIT_LENGTH) == 100_000_000


def test_a_reader_cannot_write(place):
    """Whoever asks changes nothing."""
    with closing(reader(place)) as db, pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute("CREATE TABLE mine (x)")


def test_an_old_sqlite_is_named_with_what_to_do(place, monkeypatch):
    """It has no STRICT tables, and its own message says nothing of that."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 36, 0))
    with pytest.raises(IndexFault, match=r"needs 3\.37; use another build"):
        reader(place)
