"""What lies beside an index of many passages, of each kind: a file of vectors and a folder of words."""

import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.index import beside, storage
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.index.vector_file import VectorFile
from surefoot.index.word_file import WordFile
from surefoot.types import Block, Document

EMBEDDER = Hashing()
MANY = 60
SEARCHES = {
    "vectors": lambda index, query, k: index.nearest(EMBEDDER.embed([query])[0], k),
    "words": lambda index, query, k: index.lexical(query, k),
}


def document(n, text=None):
    return Document("", "", (Block(text or f"hut number{n} rope{n % 7}"),), id=f"d{n:03}")


@pytest.fixture(params=SEARCHES)
def kind(request):
    return request.param


@pytest.fixture
def place(indexed):
    """An index with both beside it."""
    return indexed(map(document, range(MANY)))


def found(place, kind, query, k=1, collection="default"):
    """The texts that are found."""
    with Index.open(place, collection) as index:
        return [passage.text for passage in SEARCHES[kind](index, query, k)]


def used(place, kind, collection="default"):
    """Whether what lies there is of this index."""
    db = storage.reader(place, collection)
    at, identity = beside.place(place, db.number, kind), beside.identity(place, db)
    db.close()
    if kind == "words":
        return WordFile.open(at, identity, None) is not None
    return VectorFile.open(at, identity, EMBEDDER.dimensions, None) is not None


def test_what_a_killed_run_left_goes_with_the_next(place, kind):
    """It may be half a gigabyte."""
    left = place.with_name(f".index.db.{kind}-1.0a1b2c3d")
    if kind == "words":
        left.mkdir()
    (left / "half" if kind == "words" else left).write_bytes(b"half")
    with Index.open(place) as index:
        index.add(map(document, range(100, 130)), EMBEDDER)
    assert not left.exists()


def test_an_index_in_its_place_does_not_use_it(place, kind):
    """One that was copied there before the last change."""
    storage.copied(place, place.with_name("old.db"))
    with Index.open(place) as index:
        index.add([document(n, f"lantern number{n}") for n in range(MANY)], EMBEDDER)
    place.with_name("index.db-wal").unlink(missing_ok=True)
    place.with_name("old.db").replace(place)
    assert found(place, kind, "hut number7 rope0") == ["hut number7 rope0"]
    assert not used(place, kind)


def test_a_rebuilt_index_brings_its_own(place, kind):
    """The former one's goes with it."""
    table = place.with_name("a.csv")
    table.write_text("id,text\n" + "".join(f"r{n},hut number{n} roof\n" for n in range(30)))
    build([table], place, EMBEDDER, rebuild=True)
    assert len(beside.places(place)) == 2
    assert used(place, kind)
    assert "number7 roof" in found(place, kind, "hut number7 roof")[0]


def test_each_collection_has_its_own(place, kind):
    """Neither finds the other's."""
    with Index.make(place, EMBEDDER, "beta") as beta:
        beta.add([document(n, f"lantern number{n}") for n in range(30)], EMBEDDER)
    assert len(beside.places(place)) == 4
    assert used(place, kind, "beta")
    assert len(found(place, kind, "lantern", 100, "beta")) == 30
    assert not any("lantern" in text for text in found(place, kind, "lantern", 100))
