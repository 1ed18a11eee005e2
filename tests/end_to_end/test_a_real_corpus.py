"""The index at a size that matters: 23,418 passages of Wikipedia, where that data set is to be had."""

import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from surefoot.evaluate.ask.questions import read
from surefoot.index.search import Index
from surefoot.retrievers.bm25 import Bm25
from surefoot.types.errors import IndexFault
from surefoot_lab.figures import recall_at

DATA = Path(os.environ.get("SUREFOOT_TEST_DATA", "not set"))
CORPUS = DATA / "corpus" / "wikipedia.jsonl"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CORPUS.exists(), reason="SUREFOOT_TEST_DATA names no folder with corpus/wikipedia.jsonl"),
]


def index(target: Path) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-c", "from surefoot.cli import main; main()", "index", str(CORPUS), "--index", str(target)]
    return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def content(target: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(f"file:{target}?mode=ro", uri=True) as db:
        return db.execute("SELECT id, title, text, url, start FROM passages ORDER BY id").fetchall()


def passages(target: Path) -> int:
    try:
        return Index.open(target).info().passages
    except IndexFault:
        return 0  # not there yet


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("corpus") / "index.db"
    process = index(target)
    assert process.wait(timeout=900) == 0
    return target


def test_every_passage_is_in_the_index(indexed: Path) -> None:
    """No row of the corpus is lost: each of its ids is there."""
    ids = {row[0].partition(":")[2].partition("#")[0] for row in content(indexed)}
    assert len(ids) == 23_418


def test_killed_half_way_it_ends_in_the_same_index(indexed: Path, tmp_path: Path) -> None:
    """`kill -9` in the middle, then once more: the same passages, and searches give the same results."""
    for attempt in range(9):  # a busy machine may come to it when it is done
        target = tmp_path / f"index-{attempt}.db"
        process = index(target)
        while process.poll() is None and passages(target) < 8_000:
            time.sleep(0.1)
        process.kill()
        process.wait()
        if not Index.open(target).info().complete:
            break
    assert not Index.open(target).info().complete
    assert passages(target) < 23_418
    again = index(target)
    assert again.wait(timeout=900) == 0
    assert content(target) == content(indexed)
    questions = [example.question for example in read(DATA / "popqa" / "wikidata_paragraphs.jsonl", 20)]
    for question in questions:
        assert Bm25(Index.open(target)).retrieve(question, 5) == Bm25(Index.open(indexed)).retrieve(question, 5)


def test_the_gold_passage_is_retrieved(indexed: Path) -> None:
    """BM25 alone finds a gold passage among the first five for more than nine of ten PopQA questions."""
    examples = [e for e in read(DATA / "popqa" / "wikidata_paragraphs.jsonl") if e.gold][:200]
    retriever = Bm25(Index.open(indexed))
    hits = sum(recall_at(5, [p.id for p in retriever.retrieve(e.question, 5)], e.gold) for e in examples)
    assert hits / len(examples) > 0.9
