"""The laws of stores (`retrievers/test_stores.py`) for the index that they are filled from, with as many passages."""

import json
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from services import stores
from surefoot.embedders.hashing import Hashing
from surefoot.index import beside
from surefoot.index.build import build
from surefoot.index.intake import BATCH
from surefoot.index.search import Index
from surefoot.retrievers.bm25 import Bm25
from surefoot.retrievers.dense import Dense
from surefoot.retrievers.hybrid import Hybrid
from surefoot.types.metadata import Filter
from surefoot.types.protocols import Retriever

Texts = dict[int, str]

pytestmark = pytest.mark.slow

COUNT = max(stores.COUNT, 12 * BATCH)
FROM = min(COUNT, beside.FROM)
"""So that few passages, too, are searched in what lies beside an index of many."""


@pytest.fixture(autouse=True)
def file_and_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "FROM", FROM)


@pytest.fixture(scope="module")
def every() -> Texts:
    return {n: passage.text for n, (passage, _) in enumerate(stores.passages(COUNT))}


@pytest.fixture(scope="module")
def changed() -> Texts:
    return {n: passage.text for n, (passage, _) in enumerate(stores.passages(COUNT, 0.01))}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


def table(place: Path, texts: Texts) -> Path:
    """The file that these are read from, a document each."""
    file = place.with_name("table.jsonl")
    rows = ({"id": f"p{n}", "text": text, "meta": {"n": n}} for n, text in texts.items())
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def held(place: Path, collection: str = "default") -> Texts:
    with Index.open(place, collection) as index:
        index.verify()
        assert index.info().complete
        found = [(passage.meta["n"], passage.text) for passage in index.passages()]
    assert len(found) == len(dict(found))
    return dict(found)


def both(place: Path, collection: str = "default") -> Retriever:
    index = Index.open(place, collection)
    return Hybrid([Bm25(index), Dense(index, Hashing())])


def assert_found(place: Path, every: Texts) -> None:
    """A tenth of all, by words and by vectors."""
    with Index.open(place) as index:
        for n in range(0, COUNT, COUNT // 10):
            (vector,) = Hashing().embed([every[n]])
            assert index.lexical(every[n], 1)[0].meta["n"] == index.nearest(vector, 1)[0].meta["n"] == n


def test_a_filter_finds_the_few_of_many(place: Path, every: Texts) -> None:
    build([table(place, every)], place, Hashing())
    retriever = both(place)
    for few in ({0}, {*range(COUNT - 7, COUNT)}, {COUNT // 2, COUNT // 3}):
        found = retriever.retrieve("hut", 30, Filter.of({"n": {"in": [*few]}}))
        assert {passage.meta["n"] for passage in found} == few
    assert {passage.meta["n"] for passage in retriever.retrieve("hut", 30, Filter.of({"n": {"<": 20}}))} == {*range(20)}


def test_a_second_run_writes_its_changes_and_no_more(place: Path, every: Texts, changed: Texts) -> None:
    """One passage in a hundred, and what is gone, which nothing finds any more."""
    assert build([table(place, every)], place, Hashing()).passages.added == COUNT
    some, last = -(-COUNT // 100), COUNT - 9
    documents = build([table(place, changed)], place, Hashing()).documents
    assert (documents.added, documents.updated, documents.unchanged, documents.removed) == (0, some, COUNT - some, 0)
    left = {n: text for n, text in changed.items() if n < last}
    documents = build([table(place, left)], place, Hashing()).documents
    assert (documents.updated, documents.unchanged, documents.removed) == (0, last, 9)
    assert held(place) == left
    with Index.open(place) as index:
        for n in range(last, COUNT):
            (vector,) = Hashing().embed([every[n]])
            assert index.lexical(every[n], 1)[0].meta["n"] != n != index.nearest(vector, 1)[0].meta["n"]


def test_two_collections_do_not_touch(place: Path, every: Texts) -> None:
    """In one file; whatever is written to one, the other has its own."""
    few, closed = {n: every[n] for n in range(COUNT // 4)}, {n: f"{every[n]} is closed" for n in range(COUNT // 2)}
    build([table(place, every)], place, Hashing(), collection="one")
    build([table(place, closed)], place, Hashing(), collection="other")
    build([table(place, few)], place, Hashing(), collection="one")
    assert (held(place, "one"), held(place, "other")) == (few, closed)
    assert "closed" not in both(place, "one").retrieve("closed hut", 1)[0].text
    assert "closed" in both(place, "other").retrieve("closed hut", 1)[0].text


def test_writers_of_the_same_passages_leave_each_once(place: Path, every: Texts) -> None:
    file = table(place, every)
    with ThreadPoolExecutor(3) as threads:
        runs = [threads.submit(build, [file], place, Hashing(), patience=3600.0) for _ in range(3)]
        assert sorted(run.result().passages.added for run in runs) == [0, 0, COUNT]
    assert held(place) == every
    assert_found(place, every)


_RUN = """
import sys
from surefoot.embedders.hashing import Hashing
from surefoot.index import beside
from surefoot.index.build import build
beside.FROM = int(sys.argv[3])
build([sys.argv[1]], sys.argv[2], Hashing(), on_progress=lambda at: print(at.passages, flush=True))
"""


def test_ten_kills_end_as_a_run_that_was_never_killed(place: Path, every: Texts) -> None:
    """While passages are written, and at last while the file and the folder beside them are."""
    file, chance, there = table(place, every), random.Random(7), [0]
    command = [sys.executable, "-c", _RUN, file, place, str(FROM)]
    for _ in range(10):
        wanted = min(chance.randint(1, COUNT // 4), COUNT - there[-1])  # of those that are not there yet
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
            assert run.stdout is not None
            assert any(int(line) >= wanted for line in run.stdout)
            time.sleep(chance.uniform(0.0, COUNT / 200_000))
            run.kill()
        with Index.open(place) as index:
            index.verify()
            there.append(index.info().passages)
    assert there == sorted(there)
    assert any(0 < count < COUNT for count in there), "the kills came too early or too late: the test proves nothing"
    build([file], place, Hashing())
    assert held(place) == every
    assert_found(place, every)
