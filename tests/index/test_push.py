from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from services.stores import Memory
from surefoot.index import push as module
from surefoot.index.push import Pushed, passage_hash, push, store_row
from surefoot.network import pace
from surefoot.types import Passage
from surefoot.types.errors import EndpointError, IndexFault
from surefoot.types.metadata import Meta


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches, and no pauses."""
    monkeypatch.setattr(module, "BATCH", 2)
    monkeypatch.setattr(pace, "backoff", lambda failures: 0.0)
    monkeypatch.setattr(module, "backoff", lambda failures: 0.0)


def rows(*texts: str) -> Iterator[tuple[Passage, list[float]]]:
    return ((Passage(f"p{n}", text), [float(n)]) for n, text in enumerate(texts))


def test_a_push_writes_what_changed_and_takes_out_what_is_gone() -> None:
    """And says how many there were of each."""
    store = Memory()
    assert push(store, rows("a", "b", "c", "d"), "e") == Pushed(new=4, changed=0, unchanged=0, gone=0)
    store.written.clear()
    assert push(store, rows("a", "other", "c"), "e") == Pushed(new=0, changed=1, unchanged=2, gone=1)
    assert store.written == [1]
    assert [row.passage.text for row in store.held.values()] == ["a", "other", "c"]
    assert [row.vector.tolist() for row in store.held.values()] == [[0.0], [1.0], [2.0]]
    assert store.finished == 2


def test_another_embedder_changes_every_passage() -> None:
    """Its vectors are other ones."""
    store = Memory()
    push(store, rows("a", "b"), "e")
    assert push(store, rows("a", "b"), "f").changed == 2


@pytest.mark.parametrize(
    "change",
    [
        {"id": "q"},
        {"text": "other"},
        {"title": "other"},
        {"url": "other"},
        {"start": 1},
        {"file": "other"},
        {"meta": Meta({"year": 1})},
        {"places": ((0, "a"),)},
    ],
)
def test_the_hash_is_of_all_that_an_index_knows_of_a_passage(change: dict[str, object]) -> None:
    """But not of its score, which a question gives it."""
    passage = Passage("p", "text")
    assert passage_hash(replace(passage, **change), "e") != passage_hash(passage, "e")
    assert passage_hash(replace(passage, score=1.0), "e") == passage_hash(passage, "e")


def test_no_more_than_a_batch_is_read_ahead_of_what_is_written() -> None:
    """A slow store holds the reading back."""
    store, ahead = Memory(), []

    def read() -> Iterator[tuple[Passage, list[float]]]:
        for n, row in enumerate(rows(*"abcdefg")):
            ahead.append(n - len(store.held))
            yield row

    push(store, read(), "e")
    assert max(ahead) < module.BATCH
    assert store.written == [2, 2, 2, 1]


def test_an_endpoint_that_fails_is_tried_again() -> None:
    """At each verb; what it wrote is then the same."""
    down = EndpointError("down")
    store = Memory([down, None, down, down, None, down])
    assert push(store, rows("a", "b", "c"), "e").new == 3
    assert len(store.held) == 3


def test_an_endpoint_that_stays_away_ends_the_push() -> None:
    """After RETRIES more attempts; one that refuses every request ends it at once."""
    store = Memory([EndpointError("down")] * module.RETRIES)
    assert push(store, rows("a"), "e").new == 1
    with pytest.raises(EndpointError, match="down"):
        push(Memory([EndpointError("down")] * (module.RETRIES + 1)), rows("a"), "e")
    with pytest.raises(EndpointError, match="no key"):
        push(Memory([EndpointError("no key", 401)]), rows("a"), "e")


def test_a_push_that_ended_early_is_gone_on_with() -> None:
    """Only what is missing is written by the next."""
    store = Memory([None, None, IndexFault("full")])
    with pytest.raises(IndexFault):
        push(store, rows(*"abcde"), "e")
    assert push(store, rows(*"abcde"), "e") == Pushed(new=3, changed=0, unchanged=2, gone=0)


def test_two_passages_of_one_id_are_refused() -> None:
    """They would replace each other at every push."""
    with pytest.raises(IndexFault, match="two of the passages have the id 'p0'"):
        push(Memory(), [*rows("a"), *rows("b")], "e")


def test_progress_counts_what_was_read() -> None:
    """Up to the last, whether it was written or not."""
    store, seen = Memory(), list[int]()
    push(store, rows(*"abcde"), "e")
    push(store, rows(*"abcde"), "e", seen.append)
    assert seen == [2, 4, 5]


def test_a_row_has_its_vector_in_single_precision() -> None:
    """Whatever it was made of."""
    assert store_row(Passage("p", "t"), [1, 2], "e").vector.dtype == np.float32
