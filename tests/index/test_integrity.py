"""That damage to an index, and an index made to harm, is told and never answered from."""

import random
import sqlite3
from pathlib import Path
from time import monotonic

import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.types.errors import IndexFault, UsageError

QUESTIONS = ("hut glacier", "rope", "cheese fair lantern7")


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("integrity") / "docs"
    folder.mkdir()
    chance = random.Random(7)
    for n in range(40):
        words = (chance.choice(("hut", "glacier", "rope", "cheese", "fair", "lantern7")) for _ in range(90))
        (folder / f"{n}.txt").write_text(f"Document {n}. {' '.join(words)}")
    return folder


@pytest.fixture(scope="module")
def whole(docs):
    """The bytes of an index."""
    build([docs], docs.parent / "whole.db", Hashing())
    return (docs.parent / "whole.db").read_bytes()


@pytest.fixture
def place(docs, whole):
    """A copy of it, at the same distance from its files."""
    path = docs.parent / "index.db"
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(whole)
    return path


def searched(path: Path) -> list:
    with Index.open(path) as index:
        words = [index.lexical(question, 5) for question in QUESTIONS]
        return words + [index.nearest(Hashing().embed([question])[0], 5) for question in QUESTIONS]


def verified(path: Path) -> None:
    with Index.open(path) as index:
        index.verify()


def changed(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def test_a_whole_index_is_found_whole(place, docs):
    """After it was made, and after it was added to."""
    verified(place)
    (docs / "new.txt").write_text("A marmot.")
    build([docs], place, Hashing())
    verified(place)
    (docs / "new.txt").unlink()
    build([docs], place, Hashing())
    verified(place)


def test_random_damage_is_an_answer_or_an_error_that_the_user_can_mend(place, docs, whole):
    """Bytes flipped, zeroed and cut off, pages swapped: nothing crashes, hangs or raises what names no remedy."""
    chance, failed = random.Random(15), 0
    for _ in range(60):
        data, at = bytearray(whole), chance.randrange(len(whole))
        match chance.randrange(4):
            case 0:
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                data[at : at + 512] = bytes(len(data[at : at + 512]))
            case 2:
                del data[at:]
            case 3:
                one, other = at & ~4095, chance.randrange(len(whole)) & ~4095
                page = data[one : one + 4096]
                data[one : one + 4096], data[other : other + 4096] = data[other : other + 4096], page
        for suffix in ("-wal", "-shm"):
            place.with_name(place.name + suffix).unlink(missing_ok=True)
        place.write_bytes(data)
        began = monotonic()
        for use in (searched, lambda path: build([docs], path, Hashing())):
            try:
                use(place)
            except UsageError:
                failed += 1
        assert monotonic() - began < 60
    assert failed > 20


DAMAGE = {
    "the documents": "DELETE FROM documents",
    "the files": "DELETE FROM files",
    "some vectors": "DELETE FROM vectors WHERE rowid = 3",
    "vectors of another length": "UPDATE vectors SET vector = x'0000' WHERE rowid = 3",
    "the generation": "DELETE FROM meta WHERE key = 'generation'",
    "the dimensions": "UPDATE meta SET value = 'many' WHERE key = 'dimensions'",
    "no dimensions": "UPDATE meta SET value = 0 WHERE key = 'dimensions'",
    "the embedder": "UPDATE meta SET value = 7 WHERE key = 'embedder'",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_search_that_meets_what_is_missing_says_so(place, what):
    """With the way out."""
    changed(place, DAMAGE[what])
    with pytest.raises(IndexFault, match=r"index\.db.*--rebuild"):
        searched(place)


FOREVER = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
CRAFTED = {
    "a view for the passages": (
        "ALTER TABLE passages RENAME TO hidden",
        f"CREATE VIEW passages AS {FOREVER} i AS rowid, i AS id, 1 AS document, 0 AS start, '' AS title, 'x' AS text,"
        " NULL AS url, 0 AS checksum FROM n",
    ),
    "a view for what it says of itself": (
        "DROP TABLE meta",
        f"CREATE VIEW meta AS {FOREVER} 'schema' AS key, 2 AS value FROM n",
    ),
    "a virtual table": ("DROP TABLE meta", "CREATE VIRTUAL TABLE meta USING fts5 (key, value)"),
    "a trigger": ("CREATE TRIGGER t AFTER UPDATE ON files BEGIN DELETE FROM passages; END",),
    "another table": ("CREATE TABLE more (x)",),
    "another column": ("ALTER TABLE files ADD COLUMN more TEXT AS (hex(zeroblob(90000000)))",),
    "an index on an expression": ("CREATE INDEX i ON passages (upper(text))",),
}


@pytest.mark.parametrize("what", CRAFTED)
def test_an_index_with_tables_that_are_not_ours_is_not_read(place, docs, what):
    """Views and triggers are programs: one ran for 200 s."""
    changed(place, *CRAFTED[what])
    began = monotonic()
    with pytest.raises(IndexFault, match=r"its tables are not those of an index.*--rebuild"):
        Index.open(place)
    with pytest.raises(IndexFault, match=r"its tables are not those of an index.*--rebuild"):
        build([docs], place, Hashing())
    assert monotonic() - began < 60


@pytest.mark.parametrize(
    "places", ["no JSON", "[3]", "[[0]]", '[["a", "b"]]', "[[0, 1]]", '[[true, "a"]]', '["ab"]', "{}x"]
)
def test_places_that_are_none_are_told_of(place, places):
    """What cites by them would crash."""
    with sqlite3.connect(place) as db:
        db.execute("UPDATE passages SET places = ?", (places,))
    db.close()
    with pytest.raises(IndexFault, match="places"):
        searched(place)


def test_a_name_of_a_table_that_is_no_text_is_told_of(place):
    """SQLite quotes it in its own message."""
    data = place.read_bytes()
    at = data.index(b"passages_of_documents")
    place.write_bytes(data[:at] + b"\xba\xff" + data[at + 2 :])
    with pytest.raises(IndexFault):
        Index.open(place)
