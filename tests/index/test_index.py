"""How an index is searched."""

import os
import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from surefoot.config.settings import DEFAULTS
from surefoot.embedders.hashing import Hashing
from surefoot.index import terms
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.index.storage import SCHEMA
from surefoot.run.meter import metered
from surefoot.types.errors import IndexFault

TEXTS = {
    "bridge": "The bridge over the gorge was built by Tresk.",
    "glacier": "The glacier is shrinking; the hut stands by the glacier.",
    "hut": "The hut has forty beds.",
    "twin-b": "A rope and a lantern.",
    "twin-a": "A rope and a lantern.",
}


def made(folder, texts=TEXTS):
    table = folder / "a.csv"
    table.write_text("id,title,text\n" + "".join(f'{id},,"{text}"\n' for id, text in texts.items()))
    build([table], folder / "index.db", Hashing())
    return folder / "index.db"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with Index.open(made(tmp_path_factory.mktemp("index"))) as index:
        yield index


def ids(passages):
    """What the rows call themselves."""
    return [passage.id.partition(":")[2] for passage in passages]


def vector(text):
    return Hashing().embed([text])[0]


def test_lexical_search_puts_the_best_match_first(index):
    """Scores are positive and fall."""
    found = index.lexical("Is the glacier near a hut?", 5)
    assert ids(found) == ["glacier", "hut"]
    assert found[0].score > found[1].score > 0


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("GLÄCIER", ["glacier"]),
        ("Tresk’s", ["bridge"]),
        ("the forty", ["hut"]),
        ("the", ["glacier", "bridge", "hut"]),
        ("glacier " + " ".join(f"w{n}" for n in range(1000)), ["glacier"]),
        *((query, []) for query in ("", "  ", "?!* ()", '"', "___", "\0")),
    ],
)
def test_the_words_of_a_query_are_searched(index, query, found):
    """Whatever their case and marks, without a possessive ending; stop words only where there is nothing else."""
    assert sorted(ids(index.lexical(query, 5))) == sorted(found)


def test_in_an_index_of_many_a_near_word_begins_with_the_same_two_letters(index, monkeypatch):
    """Else a tenth of all words would be read."""
    assert index.lexical("gtacier", 5) != ()
    monkeypatch.setattr(terms, "FEW", 1)
    assert index.lexical("gtacier", 5) == ()
    assert index.lexical("glacer", 5) != ()


def test_a_word_that_no_passage_has_is_searched_by_those_near_it(index):
    """And the step says so; a word that is there, a short one and one that is near nothing add nothing."""
    with metered() as spent:
        assert ids(index.lexical("glacer", 5)) == ids(index.lexical("glacier", 5)) != []
        assert index.lexical("hit qqqqqqq", 5) == ()
    assert spent.degraded == ["no document has “glacer”: searched for “glacier” too"]


def test_a_title_counts_double(tmp_path):
    """What a document is about beats what it mentions."""
    table = tmp_path / "a.csv"
    table.write_text("id,title,text\na,other,hut words\nb,hut,other words\n")
    build([table], tmp_path / "index.db", Hashing())
    with Index.open(tmp_path / "index.db") as index:
        assert ids(index.lexical("hut", 2)) == ["b", "a"]


def test_ties_go_by_id(index):
    """Also where the limit falls between them."""
    assert ids(index.lexical("lantern", 1)) == ids(index.nearest(vector("lantern"), 1)) == ["twin-a"]
    assert ids(index.lexical("lantern", 2)) == ids(index.nearest(vector("lantern"), 2)) == ["twin-a", "twin-b"]


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60) | st.text(alphabet='"*^(){}:-+ANDORTE hut', max_size=60))
def test_any_text_is_a_query(index, query):
    """No operator of the search language gets through."""
    assert len(index.lexical(query, 3)) <= 3


def test_nearest_is_exact(index):
    """The order, and the scores, are those of all products."""
    query = vector("a hut by the glacier")
    products = dict(zip((passage.id for passage in index.passages()), (index.vectors() @ query).tolist(), strict=True))
    found = index.nearest(query, 5)
    assert [passage.id for passage in found] == sorted(products, key=lambda id: (-round(products[id], 6), id))
    assert [passage.score for passage in found] == pytest.approx([products[passage.id] for passage in found], abs=1e-6)


def test_equal_texts_are_equally_near_wherever_they_stand(tmp_path):
    """The last bits of a product of matrices differ from row to row, the order of the results does not."""
    text = " ".join(f"word{n}" for n in range(200))
    with Index.open(made(tmp_path, {f"{n:03}": text for n in range(101)})) as index:
        found = index.nearest(vector(text[:900]), 101)
    assert ids(found) == [f"{n:03}" for n in range(101)]
    assert len({passage.score for passage in found}) == 1


def test_nothing_is_found_for_no_passages_or_a_zero_vector(index):
    """A question of no known word says nothing."""
    assert index.nearest(np.zeros(256), 3) == ()
    for k in (0, -1):
        assert index.lexical("hut", k) == index.nearest(vector("hut"), k) == ()


def test_a_vector_of_another_length_is_refused(index):
    """It comes from another embedder."""
    with pytest.raises(IndexFault, match="another length"):
        index.nearest(np.ones(3), 3)


def test_passages_and_vectors_come_in_the_order_of_ids(index):
    """So that two indexes of the same files are the same, row by row."""
    assert ids(index.passages()) == sorted(TEXTS)
    assert index.vectors() == pytest.approx(Hashing().embed([TEXTS[id] for id in sorted(TEXTS)]), abs=1e-3)


def test_info_says_what_there_is(index):
    """Counts, embedder and size."""
    info = index.info()
    assert (info.passages, info.documents, info.files, info.complete) == (5, 5, 1, True)
    assert (info.embedder, info.dimensions) == ("hashing-256", 256)
    assert info.bytes >= os.path.getsize(index.path)


def test_a_reader_goes_over_to_a_rebuilt_index(tmp_path):
    """The file it has open is no longer the index."""
    with Index.open(made(tmp_path)) as index:
        assert len(index.vectors()) == 5
        (tmp_path / "b.txt").write_text("A marmot.")
        build([tmp_path / "b.txt"], tmp_path / "index.db", Hashing(), rebuild=True)
        assert [passage.text for passage in index.lexical("marmot hut", 5)] == ["A marmot."]
        assert len(index.vectors()) == 1


def test_threads_share_an_index(index):
    """Each search has a connection of its own."""
    found, want = [], index.lexical("glacier", 5) + index.nearest(vector("hut"), 5)

    def search():
        found.extend(index.lexical("glacier", 5) + index.nearest(vector("hut"), 5) == want for _ in range(30))

    threads = [threading.Thread(target=search) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 240


def test_a_search_within_an_iteration_works(index):
    """The iteration has its own connection as long as it runs."""
    assert next(ids(index.lexical(passage.text, 1)) for passage in index.passages()) == ["bridge"]


def test_a_missing_index_is_named_with_what_to_do(tmp_path):
    """The commonest mistake."""
    missing = tmp_path / "none.db"
    with pytest.raises(IndexFault, match=rf"no index at {missing}; run: surefoot index PATH… --index {missing}$"):
        Index.open(missing)
    assert not missing.exists()


def test_a_missing_index_in_the_usual_place_is_made_without_naming_it(tmp_path, monkeypatch):
    """The command as the README has it."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IndexFault, match=r"run: surefoot index PATH…$"):
        Index.open(DEFAULTS["index"]["path"])


@pytest.mark.parametrize(
    ("name", "fault", "remedy"),
    [
        *((name, "is a folder, and an index is a file", f"run: surefoot index {Path(name)}$") for name in "/."),
        ("", "is a folder, and an index is a file", r"run: surefoot index \.$"),
        ("notes", "is a folder, and an index is a file", "run: surefoot index notes$"),
        *((name, "cannot be the name of an index", "give a file's") for name in ("a\0b", "a\0/b.db")),
    ],
)
def test_what_can_be_no_index_is_none(tmp_path, monkeypatch, name, fault, remedy):
    """Neither to search nor to build, and nothing is made there; the message says how to make one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Iron.")
    for rebuild in (False, True):
        with pytest.raises(IndexFault, match=fault):
            build([tmp_path / "notes"], name, Hashing(), rebuild=rebuild)
    with pytest.raises(IndexFault, match=remedy):
        Index.open(name)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


@pytest.mark.parametrize("folder", [".", ".surefoot"])
def test_a_folder_that_holds_an_index_is_told_to_name_it(tmp_path, monkeypatch, folder):
    """Whoever gives the folder of the documents means the index that was made there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".surefoot").mkdir()
    (tmp_path / ".surefoot" / "index.db").touch()
    with pytest.raises(IndexFault, match=r"name the one in it: --index \.surefoot/index\.db$"):
        Index.open(folder)


def test_the_file_of_a_passage_is_found_where_it_lies_now(tmp_path):
    """Absolute, also after the index has moved along with it; not where it is gone or was never indexed."""
    (tmp_path / "old" / "notes").mkdir(parents=True)
    (tmp_path / "old" / "notes" / "a.md").write_text("Iron.")
    build([tmp_path / "old" / "notes"], tmp_path / "old" / "index.db", Hashing())
    (tmp_path / "old").rename(tmp_path / "new")
    with Index.open(tmp_path / "new" / "index.db") as index:
        file = next(index.passages()).file
        assert index.place(file) == tmp_path / "new" / "notes" / "a.md"
        assert index.place("a.md") is None
        (tmp_path / "new" / "notes" / "a.md").unlink()
        assert index.place(file) is None


def test_of_files_with_one_path_the_first_that_is_there_is_found(tmp_path, monkeypatch):
    """Two folders may each have been indexed from within."""
    for name in ("one", "two"):
        (tmp_path / name / "docs").mkdir(parents=True)
        (tmp_path / name / "docs" / "a.md").write_text(f"Iron {name}.")
        monkeypatch.chdir(tmp_path / name)
        build(["docs"], tmp_path / "index.db", Hashing())
    with Index.open(tmp_path / "index.db") as index:
        assert {passage.file for passage in index.passages()} == {"docs/a.md"}
        assert index.place("docs/a.md") == tmp_path / "one" / "docs" / "a.md"
        (tmp_path / "one" / "docs" / "a.md").unlink()
        assert index.place("docs/a.md") == tmp_path / "two" / "docs" / "a.md"


def test_an_index_of_another_version_is_refused(tmp_path):
    """With both versions and the way out."""
    path = made(tmp_path)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = 99 WHERE key = 'schema'")
    db.close()
    with pytest.raises(IndexFault, match=f"version 99 .*version {SCHEMA}.*--rebuild"):
        Index.open(path)


def test_the_places_of_blocks_are_kept(tmp_path):
    """They are read as they were written, by every search."""
    (tmp_path / "hut.html").write_text("<h1>The hut</h1><p id='a'>Built by miners.<p id='b'>The roof is of larch.")
    build([tmp_path / "hut.html"], tmp_path / "index.db", Hashing())
    with Index.open(tmp_path / "index.db") as index:
        (hut,) = index.passages()
        assert hut.places == ((0, "a"), (18, "b"))
        assert index.lexical("larch", 1)[0].places == index.nearest(vector("larch"), 1)[0].places == hut.places
