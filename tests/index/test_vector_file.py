"""How an index of many passages is searched by vector: from a file beside it."""

import sqlite3

import numpy as np
import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.index import beside, vector_file, vectors
from surefoot.index.search import Index
from surefoot.types import Block, Document
from surefoot.types.metadata import NO_FILTER, Filter, Meta

EMBEDDER = Hashing()
MANY = 60


def document(n, text=None):
    return Document("", "", (Block(text or f"hut number{n} rope{n % 7}"),), id=f"d{n:03}", meta=Meta({"n": n}))


def vector(text):
    return EMBEDDER.embed([text])[0]


@pytest.fixture
def place(indexed):
    """An index whose vectors lie in a file."""
    return indexed(map(document, range(MANY)))


@pytest.fixture
def read(monkeypatch):
    """The vectors that are read from the index itself."""
    seen = []

    def spied(*inputs):
        rows, matrix = vector_file.read_vectors(*inputs)
        seen.extend(rows.tolist())
        return rows, matrix

    monkeypatch.setattr(vectors, "read_vectors", spied)
    return seen


def found(place, text, k=5, filter=NO_FILTER):
    with Index.open(place) as index:
        return index.nearest(vector(text), k, filter)


def ids(passages):
    return [passage.id.partition(":")[2] for passage in passages]


def test_the_file_changes_nothing_that_is_found(place, read):
    """Neither the order nor the scores, to the last bit; and no vector is read from the index."""
    mapped = [found(place, f"rope{n}", 9) for n in range(7)]
    assert read == []
    beside.places(place)[0].unlink()
    assert [found(place, f"rope{n}", 9) for n in range(7)] == mapped
    assert len(read) == 7 * MANY


def test_the_nearest_is_among_few_candidates(place, monkeypatch):
    """The signs tell which vectors are near."""
    monkeypatch.setattr(vector_file, "CANDIDATES", 5)
    monkeypatch.setattr(vector_file, "MORE", 1)
    nearest = [ids(found(place, f"hut number{n} rope{n % 7}", 1)) for n in range(MANY)]
    assert nearest == [[f"d{n:03}"] for n in range(MANY)]


def test_a_filter_holds_for_those_in_the_file(place):
    """And for what came since."""
    with Index.open(place) as index:
        index.add([document(100)], EMBEDDER)
    assert sorted(ids(found(place, "hut", 50, Filter.of({"n": {">": 55}})))) == ["d056", "d057", "d058", "d059", "d100"]


def test_after_a_change_only_what_came_is_read(place, read):
    """By whoever has searched before, and by whoever comes."""
    with Index.open(place) as index:
        index.nearest(vector("hut"), 1)
        index.add([document(100, "glacier")], EMBEDDER)
        assert ids(index.nearest(vector("glacier"), 1)) == ["d100"]
        index.add([document(101, "lantern")], EMBEDDER)
        assert ids(index.nearest(vector("lantern"), 1)) == ["d101"]
    assert len(read) == 2
    assert ids(found(place, "glacier", 1)) == ["d100"]
    assert len(read) == 4


def test_what_is_gone_is_not_found(place):
    """However many, of the file and of what came since; as many others are found as were asked for."""
    with Index.open(place) as index:
        index.add([document(100, "hut rope1")], EMBEDDER)
        index.nearest(vector("hut rope1"), 1)
        before = ids(index.nearest(vector("hut rope1"), 100))
        for id in before[:10]:
            assert index.delete(next(p.id for p in index.passages() if p.id.endswith(id)).partition("#")[0])
        assert ids(index.nearest(vector("hut rope1"), 5)) == before[10:15]
        assert ids(index.nearest(vector("hut rope1"), 100)) == before[10:]


def test_no_row_is_given_twice(place):
    """The file would take the vector of the one for the other's."""
    with Index.open(place) as index:
        last = max(index.passages(), key=lambda passage: passage.id)
        assert index.delete(last.id.partition("#")[0])
        index.add([document(100, "glacier lantern")], EMBEDDER)
        assert ids(index.nearest(vector("glacier lantern"), 1)) == ["d100"]
        assert "d100" not in ids(index.nearest(vector("hut number59 rope3"), 3))


def test_it_is_made_anew_where_it_lacks_much(place, read):
    """Or holds much in vain."""
    with Index.open(place) as index:
        index.add(map(document, range(100, 119)), EMBEDDER)
        index.nearest(vector("hut"), 1)
        assert len(read) == 19
        index.add([document(119)], EMBEDDER)
    read.clear()
    assert len(found(place, "hut", 100)) == MANY + 20
    assert read == []


@pytest.mark.parametrize("damage", [lambda data: data[:5000], lambda data: b"{}", lambda data: b"\xff" * len(data)])
def test_a_damaged_file_is_not_used(place, read, damage):
    """The index has all that is in it."""
    file = beside.places(place)[0]
    file.write_bytes(damage(file.read_bytes()))
    assert ids(found(place, "hut number7 rope0", 1)) == ["d007"]
    assert len(read) == MANY


def test_vectors_whose_length_is_no_multiple_of_64_have_signs():
    """The rest of the last word is 0."""
    rows = np.random.default_rng(0).standard_normal((3, 70)).astype(np.float32)
    signs = vector_file._signs(rows, np.eye(70, dtype=np.float32))
    assert signs.shape == (2, 3)
    assert np.bitwise_count(signs).sum(axis=0).tolist() == (rows > 0).sum(axis=1).tolist()


def test_an_index_that_does_not_say_its_last_row_is_written_on(place):
    """It was made before rows were counted."""
    with sqlite3.connect(place) as db:
        db.execute("DELETE FROM meta WHERE key = 'rows'")
    db.close()
    with Index.open(place) as index:
        index.add([document(100, "glacier")], EMBEDDER)
        assert ids(index.nearest(vector("glacier"), 1)) == ["d100"]
