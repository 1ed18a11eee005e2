"""Documents that are added, listed and deleted one by one."""

import random
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.contents import StoredDocument
from surefoot.index.search import Index
from surefoot.index.storage import locked
from surefoot.types import Block, Document
from surefoot.types.errors import IndexFault, UsageError
from surefoot.types.metadata import Meta

EMBEDDER = Hashing()


def document(text, id=None, **fields):
    return Document("", f"About {id}", (Block(text),), id=id, meta=Meta(fields))


@pytest.fixture
def index(tmp_path):
    with Index.make(tmp_path / "index.db", EMBEDDER) as index:
        yield index


def texts(index):
    return sorted(passage.text for passage in index.passages())


def test_what_is_added_is_found_by_the_next_search(index):
    """By words, by likeness, by its id, and with its fields."""
    assert index.lexical("hut", 5) == ()
    assert index.add([document("A hut.", "h", year=2024), document("A rope.")], EMBEDDER, file="notes") != ()
    (found,) = index.lexical("hut", 5)
    assert (found.title, found.file, found.url, found.meta) == ("About h", "notes", "notes", {"year": 2024})
    assert index.nearest(EMBEDDER.embed(["About h\nA hut."])[0], 1)[0].id == found.id
    assert index.get(found.id).text == "A hut."
    assert index.get("no") is None
    index.verify()


def test_a_document_takes_the_place_of_its_former_version(index):
    """The same key, or id, under the same name; words of the old one are gone."""
    (first,) = index.add([document("A hut.", "h")], EMBEDDER)
    (second,) = index.add([document("A bridge.", "h")], EMBEDDER)
    assert (first, texts(index)) == (second, ["A bridge."])
    index.add([document("A hut.", "h")], EMBEDDER, file="others")
    assert texts(index) == ["A bridge.", "A hut."]


def test_an_unchanged_document_is_not_embedded_again(index):
    """Its text costs nothing; its fields count."""

    class Never(Hashing):
        def embed(self, texts):
            raise AssertionError

    index.add([document("A hut.", "h", year=1)], EMBEDDER)
    before = index.vectors()
    index.add([document("A hut.", "h", year=1)], Never())
    with pytest.raises(AssertionError):
        index.add([document("A hut.", "h", year=2)], Never())
    assert (index.vectors() == before).all()
    assert [passage.meta for passage in index.passages()] == [{"year": 1}]


def test_what_cannot_be_added_is_refused(index, tmp_path):
    """With what to do; nothing of it is there."""
    with pytest.raises(UsageError, match="two of the documents have the id 'h'"):
        index.add([document("A hut.", "h"), replace(document("A rope.", "h"), key="other")], EMBEDDER)
    with pytest.raises(UsageError, match="the document 'h' has no text"):
        index.add([Document("", "", (), id="h")], EMBEDDER)
    for name in ("", " ", "x" * 501):
        with pytest.raises(UsageError, match="filed under a name of 1 to 500 characters"):
            index.add([document("A hut.")], EMBEDDER, file=name)
    assert [*index.documents()] == []
    with pytest.raises(IndexFault, match="there is no index"):
        Index(tmp_path / "no.db").delete("x")
    assert not (tmp_path / "no.db").exists()


def test_documents_are_listed_with_what_is_known_of_them(tmp_path, index):
    """Those from memory, those of files, and files that gave none."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Hut\n\nForty beds.")
    (tmp_path / "docs" / "b.jsonl").write_text('{"id": "r", "text": "A rope."}\n{"id": "r", "text": "Again."}\n')
    (tmp_path / "docs" / "c.json").write_text("{torn")
    index.add([document("A lamp.", "l", year=2024)], EMBEDDER, file="notes")
    build([tmp_path / "docs"], index.path, EMBEDDER)
    listed = {each.file: each for each in index.documents()}
    assert [*listed] == ["notes", "docs/a.md", "docs/b.jsonl", "docs/c.json"]
    lamp = listed["notes"]
    assert lamp == StoredDocument(
        lamp.id, "default", "notes", "About l", "text", "", 1, 9, lamp.added, Meta({"year": 2024}), "ready"
    )
    assert lamp.id.endswith(":l")
    assert lamp.added.endswith("+00:00")
    assert (listed["docs/a.md"].title, listed["docs/a.md"].passages) == ("Hut", 1)
    assert listed["docs/b.jsonl"].because == "a row is left out, since an earlier one has the id r"
    torn = listed["docs/c.json"]
    assert (torn.state, torn.passages, torn.title) == ("unread", 0, "")
    assert torn.because.startswith("is not JSON that can be read")
    assert index.document(lamp.id) == index.document("notes") == lamp
    assert index.document(torn.id) == torn
    assert index.document("no") is None


def test_a_deleted_document_leaves_nothing(index):
    """No passage, word, vector or field; what is left is as if it had never been there."""
    (id, *_) = index.add([document("A zirkon hut.", "z", year=2024), document("A rope.", "r")], EMBEDDER)
    assert index.delete(id)
    assert not index.delete(id)
    assert texts(index) == ["A rope."]
    assert index.vectors().shape == (1, 256)
    index.verify()
    (rope,) = index.lexical("rope", 1)
    with Index.make(index.path.with_name("other.db"), EMBEDDER) as other:
        other.add([document("A rope.", "r")], EMBEDDER)
        assert other.lexical("rope", 1) == (rope,)


def test_a_deleted_file_takes_all_its_documents_along(index, tmp_path):
    """And what still lies in a folder comes back with the next indexing, a row of a table too."""
    (tmp_path / "b.jsonl").write_text('{"id": "r", "text": "A rope."}\n{"id": "s", "text": "A saw."}\n')
    build([tmp_path / "b.jsonl"], index.path, EMBEDDER)
    assert index.delete(index.lexical("rope", 1)[0].id)
    assert texts(index) == ["A saw."]
    build([tmp_path / "b.jsonl"], index.path, EMBEDDER)
    assert texts(index) == ["A rope.", "A saw."]
    assert index.delete("b.jsonl")
    assert [*index.documents()] == []
    assert index.info().files == 0
    build([tmp_path / "b.jsonl"], index.path, EMBEDDER)
    assert texts(index) == ["A rope.", "A saw."]


def test_a_document_added_from_memory_stays_when_a_folder_is_indexed(index, tmp_path):
    """It lies in no folder, so that it is missing in none."""
    (tmp_path / "a.md").write_text("A hut.")
    index.add([document("A rope.")], EMBEDDER, file="a.md")
    build([tmp_path], index.path, EMBEDDER)
    (tmp_path / "a.md").unlink()
    (tmp_path / "b.md").write_text("A saw.")
    build([tmp_path], index.path, EMBEDDER)
    assert texts(index) == ["A rope.", "A saw."]
    assert index.place("a.md") is None


def test_a_change_waits_for_another_writer(index):
    """For as long as it is told to."""
    with locked(index.path), pytest.raises(IndexFault, match="is being written by another process"):
        index.add([document("A hut.")], EMBEDDER, patience=0.01)
    held = locked(index.path)
    held.__enter__()
    threading.Timer(0.3, held.__exit__, (None, None, None)).start()
    assert index.add([document("A hut.")], EMBEDDER)


def test_readers_see_each_document_whole_while_others_come_and_go(index):
    """Whatever is read in one search, or in one list, is one state."""
    pages = {str(n): " ".join(f"word{n}" for _ in range(900)) for n in range(3)}
    index.add([document(text, id) for id, text in pages.items()], EMBEDDER)
    whole = {each.id: each.passages for each in index.documents()}
    stop, faults = threading.Event(), []

    def read():
        while not stop.is_set():
            counts = {each.id: each.passages for each in index.documents()}
            found = len(index.lexical("word0 word1 word2", 99))
            index.nearest(EMBEDDER.embed(["word1"])[0], 3)  # fails where a passage has no vector
            if any(counts[id] != whole[id] for id in counts) or found % whole[next(iter(whole))]:
                faults.append((counts, found))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(4):
        for id in pages:
            index.delete(next(each.id for each in index.documents() if each.id.endswith(f":{id}")))
            index.add([document(pages[id], id)], EMBEDDER)
    stop.set()
    for reader in readers:
        reader.join()
    assert faults == []


LIFE = """
import sys
from surefoot.index.search import Index
from surefoot.embedders.hashing import Hashing
from surefoot.types import Block, Document
with Index.make(sys.argv[1], Hashing()) as index:
    for n in range(10_000):
        said = " ".join(f"w{n}x{m}" for m in range(4000))
        index.add([Document("", "", (Block(said),), id=str(n % 4))], Hashing(), file="f")
        if n % 3 == 2:
            index.delete("f")
        print(n, flush=True)
"""


@pytest.mark.slow
def test_after_a_kill_no_document_is_half_there(tmp_path):
    """Whenever it comes: all of a document's passages, words and vectors are there, or none."""
    place, chance, seen = tmp_path / "index.db", random.Random(3), 0
    for _ in range(8):
        with subprocess.Popen([sys.executable, "-c", LIFE, str(place)], stdout=subprocess.PIPE) as process:
            for _ in range(chance.randrange(1, 6)):
                process.stdout.readline()
            time.sleep(chance.uniform(0, 0.3))
            process.kill()
        with Index.open(place) as index:
            index.verify()
            listed = [*index.documents()]
            words = [
                sum(len(p.text.split()) for p in index.passages() if p.id.split("#")[0] == each.id) for each in listed
            ]
            assert words == [4000] * len(listed)
            assert {each.state for each in listed} <= {"ready"}
            assert len(index.vectors()) == index.info().passages
            seen += len(listed)
            index.add([document("A hut.", "after")], EMBEDDER)
            assert index.delete("added")
    assert seen
