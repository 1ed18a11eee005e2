"""That damage to an index, and an index made to harm, is told and never answered from."""

import gzip
import random
import sqlite3
from pathlib import Path
from time import monotonic

import numpy as np
import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.connection import DEFAULT
from surefoot.index.integrity import passage_sum
from surefoot.index.search import Index
from surefoot.types.errors import IndexFault, UsageError
from surefoot.types.metadata import NO_META

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


@pytest.fixture
def former(place):
    """An index that 0.1.0 made."""
    place.write_bytes(gzip.decompress(Path(__file__).with_name("index-0.1.0.db.gz").read_bytes()))
    return place


def searched(path: Path) -> list:
    with Index.open(path) as index:
        words = [index.lexical(question, 5) for question in QUESTIONS]
        return words + [index.nearest(Hashing().embed([question])[0], 5) for question in QUESTIONS]


def verified(path: Path) -> bool:
    with Index.open(path) as index:
        return index.verify()


def changed(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def test_a_whole_index_is_found_whole(place, docs):
    """After it was made, and after it was added to."""
    assert verified(place)
    (docs / "new.txt").write_text("A marmot.")
    build([docs], place, Hashing())
    verified(place)
    (docs / "new.txt").unlink()
    build([docs], place, Hashing())
    verified(place)


def test_an_interrupted_index_is_no_damaged_one(tmp_path):
    """It can be searched, and gone on with."""
    docs, place = tmp_path / "docs", tmp_path / "index.db"
    docs.mkdir()
    (docs / "a.csv").write_text("text\n" + "hut glacier\n" + "".join(f"row {n}\n" for n in range(600)))
    broken, calls = Hashing(), iter([Hashing().embed])
    broken.embed = lambda texts: next(calls)(texts)
    with pytest.raises(StopIteration):
        build([docs], place, broken)
    verified(place)
    assert searched(place)[0]
    build([docs], place, Hashing())
    verified(place)


def test_random_damage_changes_no_answer(place, docs, whole):
    """Bytes flipped, zeroed and cut off, pages swapped: each search gives what the whole index gives, or an error that
    the user can mend, within seconds; and whatever of it is indexed into ends as the whole index would."""
    want, chance, told = searched(place), random.Random(15), 0
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
                data[one : one + 4096], data[other : other + 4096] = (
                    data[other : other + 4096],
                    data[one : one + 4096],
                )
        for suffix in ("-wal", "-shm"):
            place.with_name(place.name + suffix).unlink(missing_ok=True)
        place.write_bytes(data)
        began = monotonic()
        try:
            assert searched(place) == want
        except UsageError:
            told += 1
        try:
            build([docs], place, Hashing())
            assert searched(place) == want
        except UsageError:
            told += 1
        assert monotonic() - began < 60
    assert told > 60


DAMAGE = {
    "a text": "UPDATE passages SET text = 'hut glacier rope cheese fair lantern7'",
    "a title": "UPDATE passages SET title = 'lie'",
    "an address": "UPDATE passages SET url = 'lie'",
    "a file's path": "UPDATE files SET path = 'lie'",
    "the passages": "DELETE FROM passages WHERE rowid % 2",
    "the documents": "DELETE FROM documents",
    "the files": "DELETE FROM files",
    "some vectors": "DELETE FROM vectors WHERE rowid = 3",
    "vectors of another length": "UPDATE vectors SET vector = x'0000' WHERE rowid = 3",
    "another vector": "UPDATE vectors SET vector = (SELECT vector FROM vectors WHERE rowid = 4) WHERE rowid = 3",
    "words": "DELETE FROM lexicon_1_idx",
    "lengths of passages": "UPDATE lexicon_1_docsize SET sz = x'0000'",
    "the generation": "DELETE FROM meta WHERE key = 'generation'",
    "the dimensions": "UPDATE meta SET value = 'many' WHERE key = 'dimensions'",
    "no dimensions": "UPDATE meta SET value = 0 WHERE key = 'dimensions'",
    "the embedder": "UPDATE meta SET value = 7 WHERE key = 'embedder'",
    "the checksum of words": "DELETE FROM meta WHERE key = 'lexicon_1'",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_what_is_not_as_it_was_written_is_told_of(place, what, docs):
    """By the search that meets it, by a look at all of it, and by the next indexing, which leaves it as it is."""
    changed(place, DAMAGE[what])
    before = place.read_bytes()
    with pytest.raises(IndexFault, match=r"index\.db.*--rebuild"):
        searched(place)
    with pytest.raises(IndexFault, match=r"index\.db.*--rebuild"):
        verified(place)
    with pytest.raises(IndexFault, match=r"index\.db.*--rebuild"):
        build([docs], place, Hashing())
    assert place.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    ["UPDATE files SET stamp = 'x'", "UPDATE files SET location = rowid", "UPDATE documents SET key = rowid || 'x'"],
)
def test_damage_to_what_it_knows_of_its_files_is_told_of_before_it_is_used(place, docs, statement):
    """Searching does not need it; indexing would go by it."""
    changed(place, statement)
    assert searched(place)
    with pytest.raises(IndexFault, match="its files is not as it was written"):
        build([docs], place, Hashing())


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


def test_a_crafted_index_can_be_rebuilt(place, docs):
    """The way out that the message names."""
    changed(place, *CRAFTED["a view for the passages"])
    build([docs], place, Hashing(), rebuild=True)
    verified(place)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE passages SET text = x'ff00'",
        "UPDATE passages SET text = CAST(x'ff00' AS TEXT)",
        "UPDATE passages SET start = 'x'",
        "UPDATE passages SET start = -1",
        "UPDATE passages SET url = x'00'",
        "UPDATE passages SET id = CAST(id AS BLOB)",
        "UPDATE files SET path = x'00'",
        "UPDATE vectors SET vector = 'text'",
        "UPDATE vectors SET vector = zeroblob(3)",
        "UPDATE passages SET document = 99",
    ],
)
def test_a_wrong_type_in_an_index_of_the_first_version_is_told_of(former, statement):
    """Its tables take values of any type, and it has no checksums."""
    changed(former, statement)
    with pytest.raises(IndexFault):
        searched(former)
    with pytest.raises(IndexFault, match="--rebuild"):
        verified(former)


@pytest.mark.parametrize(
    "places", ["no JSON", "[3]", "[[0]]", '[["a", "b"]]', "[[0, 1]]", '[[true, "a"]]', '["ab"]', "{}x"]
)
def test_places_that_are_none_are_told_of(place, places):
    """Though their row has the checksum that it should have."""
    with sqlite3.connect(place) as db:
        db.execute("UPDATE passages SET places = ?", (places,))
        db.create_function("summed", 7, lambda *row: passage_sum(*row[:6], DEFAULT, NO_META, row[6]))
        files = "SELECT path FROM documents JOIN files ON files.rowid = file WHERE documents.rowid = document"
        db.execute(f"UPDATE passages SET checksum = summed(id, text, title, url, start, ({files}), places)")
    db.close()
    with pytest.raises(IndexFault, match="places"):
        searched(place)


@pytest.mark.parametrize("dimensions", ["1 << 62", "-1", "0", "'x'", "x'00'", "1.5"])
def test_dimensions_that_no_vector_has_are_told_of(former, dimensions):
    """Also where there is no vector to hold them against."""
    changed(former, "DELETE FROM passages", f"UPDATE meta SET value = {dimensions} WHERE key = 'dimensions'")
    with pytest.raises(IndexFault, match="what it says about itself is damaged"):
        searched(former)


def test_an_index_of_the_first_version_is_not_vouched_for(former):
    """Its texts could be others."""
    assert not verified(former)


def test_a_vector_that_is_not_finite_is_told_of(former):
    """It would be near to everything, or to nothing."""
    nan = np.full(256, np.nan, np.float16).tobytes()
    changed(former, f"UPDATE vectors SET vector = x'{nan.hex()}'")
    with pytest.raises(IndexFault, match="vectors"):
        searched(former)
    with pytest.raises(IndexFault, match=r"the vector of the passage [\w#]+ has a value that is not a number"):
        verified(former)


def test_a_name_of_a_table_that_is_no_text_is_told_of(place):
    """SQLite quotes it in its own message."""
    data = place.read_bytes()
    at = data.index(b"passages_of_documents")
    place.write_bytes(data[:at] + b"\xba\xff" + data[at + 2 :])
    with pytest.raises(IndexFault):
        Index.open(place)
