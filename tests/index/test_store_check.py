from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from services.stores import Memory, row_of
from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.push import push
from surefoot.index.search import Index
from surefoot.index.store_check import StoreCheck, check, sampled
from surefoot.types import Passage

WORDS = "granite arch hut glacier cheese dumpling rope summit path keeper larch roof".split()


class Nearest(Memory):
    """A store that finds the nearest, but for those of some ids."""

    blind: frozenset[str] = frozenset()

    def nearest(self, question: str, k: int) -> tuple[str, ...]:
        vector = Hashing().embed([question])[0]
        near = sorted(self.held.values(), key=lambda row: -float(row.vector @ vector))
        return tuple(row.passage.id for row in near if row.passage.id not in self.blind)[:k]

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return tuple(self.held[id].passage for id in self.nearest(question, k))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """Twelve documents of a word each."""
    for word in WORDS:
        (tmp_path / f"{word}.txt").write_text(f"{word} {word[::-1]}")
    build([tmp_path], tmp_path / "index.db", Hashing())
    with Index.open(tmp_path / "index.db") as opened:
        yield opened


@pytest.fixture
def store(index: Index) -> Nearest:
    store = Nearest()
    push(store, index.rows)
    return store


def checked(store: Nearest, index: Index, *questions: str, k: int = 1) -> StoreCheck:
    return check(store, index, Hashing(), index.lexical, questions or tuple(WORDS), k)


def test_a_store_that_was_just_pushed_holds_and_finds_the_same(store: Nearest, index: Index) -> None:
    found = checked(store, index)
    assert found == StoreCheck(equal=12, missing=0, surplus=0, changed=0, questions=12, nearest=1.0, fused=1.0)
    assert found.same


def test_what_differs_is_counted(store: Nearest, index: Index) -> None:
    """What the store lacks, has beside, or has in another form; each alone makes it another."""
    first, second, *_ = [row.passage for row in store.held.values()]
    vector = Hashing().embed(["x"])[0]
    store.delete([first.id])
    assert not checked(store, index).same
    store.upsert([row_of((replace(second, text="other"), vector))])
    store.upsert([row_of((Passage("own", "x"), vector))])
    found = checked(store, index)
    assert (found.equal, found.missing, found.changed, found.surplus) == (10, 1, 1, 1)


def test_what_the_index_of_vectors_misses_costs_recall(store: Nearest, index: Index) -> None:
    """Here the nearest of one question of three; what is found in its place is not as near."""
    (hut,) = (row.passage.id for row in store.held.values() if row.passage.text.startswith("hut"))
    store.blind = frozenset([hut])
    found = checked(store, index, "hut", "granite", "rope")
    assert found.nearest == found.fused == pytest.approx(2 / 3)


def test_without_a_question_no_share_is_a_number(store: Nearest, index: Index) -> None:
    found = check(store, index, Hashing(), index.lexical, [])
    assert (found.nearest, found.fused, found.equal) == (None, None, 12)


def test_questions_are_taken_from_all_over_the_index(index: Index) -> None:
    """No more than are wanted, each once."""
    assert len({*sampled(index, 4)}) == 4
    assert len({*sampled(index, 99)}) == 12
