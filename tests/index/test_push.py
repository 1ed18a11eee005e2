"""A push to a store, and the hashes by which it finds what changed."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from services import stores
from services.stores import Memory, Rows
from surefoot.embedders.hashing import Hashing
from surefoot.index import push as module, search
from surefoot.index.build import build
from surefoot.index.push import Pushed, push
from surefoot.index.search import Index
from surefoot.network import pace
from surefoot.types import Block, Document, Passage
from surefoot.types.errors import EndpointError, IndexFault
from surefoot.types.metadata import Meta
from surefoot.types.protocols import StoreRow

EMBEDDER = Hashing()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches, and no pauses."""
    monkeypatch.setattr(module, "BATCH", 2)
    monkeypatch.setattr(pace, "backoff", lambda failures: 0.0)
    monkeypatch.setattr(module, "backoff", lambda failures: 0.0)


def rows(*texts: str) -> Rows:
    return stores.rows((Passage(f"p{n}", text), [float(n)]) for n, text in enumerate(texts))


def test_a_push_writes_what_changed_and_takes_out_what_is_gone() -> None:
    """And says how many there were of each."""
    store = Memory()
    assert push(store, rows("a", "b", "c", "d")) == Pushed(new=4, changed=0, unchanged=0, gone=0)
    store.written.clear()
    assert push(store, rows("a", "other", "c")) == Pushed(new=0, changed=1, unchanged=2, gone=1)
    assert store.written == [1]
    assert [row.passage.text for row in store.held.values()] == ["a", "other", "c"]
    assert [row.vector.tolist() for row in store.held.values()] == [[0.0], [1.0], [2.0]]
    assert store.finished == 2


def test_no_more_than_a_batch_is_read_ahead_of_what_is_written() -> None:
    """A slow store holds the reading back."""
    store, ahead = Memory(), []

    def read(wanted: Callable[[str, str], bool]) -> Iterator[StoreRow]:
        for n, row in enumerate(rows(*"abcdefg")(wanted)):
            ahead.append(n - len(store.held))
            yield row

    push(store, read)
    assert max(ahead) < module.BATCH
    assert store.written == [2, 2, 2, 1]


def test_an_endpoint_that_fails_is_tried_again() -> None:
    """At each verb; what it wrote is then the same."""
    down = EndpointError("down")
    store = Memory([down, None, down, down, None, down])
    assert push(store, rows("a", "b", "c")).new == 3
    assert len(store.held) == 3


def test_an_endpoint_that_stays_away_ends_the_push() -> None:
    """After RETRIES more attempts; one that refuses every request ends it at once."""
    store = Memory([EndpointError("down")] * module.RETRIES)
    assert push(store, rows("a")).new == 1
    with pytest.raises(EndpointError, match="down"):
        push(Memory([EndpointError("down")] * (module.RETRIES + 1)), rows("a"))
    with pytest.raises(EndpointError, match="no key"):
        push(Memory([EndpointError("no key", 401)]), rows("a"))


def test_a_push_that_ended_early_is_gone_on_with() -> None:
    """Only what is missing is written by the next."""
    store = Memory([None, None, IndexFault("full")])
    with pytest.raises(IndexFault):
        push(store, rows(*"abcde"))
    assert push(store, rows(*"abcde")) == Pushed(new=3, changed=0, unchanged=2, gone=0)


def test_progress_counts_what_was_read() -> None:
    """Up to the last, whether it was written or not."""
    store, seen = Memory(), list[int]()
    push(store, rows(*"abcde"))
    push(store, rows(*"abcde"), seen.append)
    assert seen == [2, 4, 5]


def indexed(folder: Path, *documents: Document, embedder: Hashing = EMBEDDER, file: str = "file") -> list[StoreRow]:
    """The rows of a new index of these documents."""
    folder.mkdir()
    with Index.make(folder / "index.db", embedder) as index:
        index.add(documents, embedder, file=file)
        return [*index.rows()]


def document(
    text: str = "hut", title: str = "", id: str = "a", url: str = "", place: str = "", **meta: int
) -> Document:
    return Document(id, title, (Block(text, place=place),), id=id, url=url or None, meta=Meta(meta))


def test_the_hash_of_a_passage_is_of_all_that_an_index_knows_of_it(tmp_path: Path) -> None:
    """Another index of the same has the same."""
    other = Hashing()
    other.name = "other"  # type: ignore[misc]
    changes = [{}, {"text": "other"}, {"title": "other"}, {"url": "https://a.b"}, {"place": "page=2"}, {"year": 1}]
    rows = [indexed(tmp_path / str(n), document(**change)) for n, change in enumerate(changes)]  # type: ignore[arg-type]
    rows += [
        indexed(tmp_path / "embedder", document(), embedder=other),
        indexed(tmp_path / "file", document(), file="other"),
    ]
    assert len({row.hash for (row,) in rows}) == len(rows)
    assert indexed(tmp_path / "again", document())[0].hash == rows[0][0].hash


def test_a_file_that_was_moved_changes_the_hashes_of_its_passages(tmp_path: Path) -> None:
    """Their addresses are others, and the document is the same."""
    (tmp_path / "a.txt").write_text("hut")
    build([tmp_path], tmp_path / "index.db", EMBEDDER)
    with Index.open(tmp_path / "index.db") as index:
        ((before, hash, _),) = index.rows()
        (tmp_path / "a.txt").rename(tmp_path / "b.txt")
        build([tmp_path], tmp_path / "index.db", EMBEDDER)
        ((after, other, _),) = index.rows()
    assert (before.id, before.text) == (after.id, after.text)
    assert hash != other


def test_of_what_a_store_holds_neither_text_nor_vector_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an index of many they take longer than all else."""
    read, store = list[str](), Memory()
    ours = search.passage
    monkeypatch.setattr(search, "passage", lambda row, db: (read.append(row[0]), ours(row, db))[1])
    documents = [document(id=f"d{n}") for n in range(9)]
    with Index.make(tmp_path / "index.db", EMBEDDER) as index:
        index.add(documents, EMBEDDER)
        assert push(store, index.rows).new == len(read) == 9
        index.add([document("other", id="d5")], EMBEDDER)
        assert push(store, index.rows) == Pushed(new=0, changed=1, unchanged=8, gone=0)
        assert len(read) == 10
        assert {row.passage for row in store.held.values()} == {*index.passages()}
        assert np.array_equal(
            [store.held[row.passage.id].vector for row in index.rows()], [row.vector for row in index.rows()]
        )


def test_a_passage_without_its_vector_is_a_damaged_index(tmp_path: Path) -> None:
    """Nothing in its place is pushed."""
    indexed(tmp_path / "a", document())
    with sqlite3.connect(tmp_path / "a" / "index.db") as db:
        db.execute("DELETE FROM vectors")
    db.close()
    with Index.open(tmp_path / "a" / "index.db") as index, pytest.raises(IndexFault, match="a vector is missing"):
        push(Memory(), index.rows)
