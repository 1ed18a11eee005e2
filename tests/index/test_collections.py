"""That an index keeps its collections apart, and that a filter reaches retrieval itself."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.index.vectors import Vectors
from surefoot.types import Block, Document
from surefoot.types.errors import FieldFault, IndexFault, UsageError
from surefoot.types.metadata import Filter, Meta

EMBEDDER = Hashing()


def document(text, id=None, **fields):
    return Document("", "", (Block(text),), id=id, meta=Meta(fields))


def made(place, **texts):
    """An index with these collections, each of some texts."""
    for collection, said in texts.items():
        Index.make(place, EMBEDDER, collection).add([document(text) for text in said], EMBEDDER)
    return place


def vector(text):
    return EMBEDDER.embed([text])[0]


WORDS = "hut glacier rope cheese fair lantern bridge gorge".split()
texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), max_size=6, unique=True)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.fixed_dictionaries({"acme": texts, "default": texts, "zeta": texts}), st.sampled_from(WORDS))
def test_a_collection_answers_as_if_it_were_alone(tmp_path_factory, held, word):
    """Its passages, their scores to the last bit, its vectors, words and counts: nothing depends on the others."""
    folder = tmp_path_factory.mktemp("law")
    made(folder / "all.db", **held)
    for collection, said in held.items():
        made(folder / f"{collection}.db", **{collection: said})
        with (
            Index.open(folder / "all.db", collection) as one,
            Index.open(folder / f"{collection}.db", collection) as lone,
        ):
            assert one.lexical(word, 9) == lone.lexical(word, 9)
            assert one.nearest(vector(word), 9) == lone.nearest(vector(word), 9)
            assert [*one.passages()] == [*lone.passages()]
            assert (one.info().passages, one.info().documents) == (lone.info().passages, lone.info().documents)
            assert [each.id for each in one.documents()] == [each.id for each in lone.documents()]
            one.verify()


@pytest.fixture
def two(tmp_path):
    """Two tenants; one of them has a secret."""
    made(tmp_path / "i.db", acme=["The zirkon project is secret.", "A hut."], beta=["A zirkom lamp.", "A rope."])
    return tmp_path / "i.db"


def test_nothing_of_another_collection_can_be_reached(two):
    """By words, likeness, id, file, filter, list or deletion."""
    with Index.open(two, "acme") as acme, Index.open(two, "beta") as beta:
        (secret,) = acme.lexical("secret", 5)
        (filed,) = [each for each in acme.documents() if each.passages and acme.get(secret.id)][:1]
        assert beta.lexical("secret project", 5) == ()
        assert secret.text not in {passage.text for passage in beta.nearest(vector(secret.text), 5)}
        assert beta.get(secret.id) is None
        assert beta.document(filed.id) is None
        assert {each.collection for each in beta.documents()} == {"beta"}
        assert not beta.delete(filed.id)
        assert acme.get(secret.id).text == secret.text
        assert beta.delete("added")
        assert (acme.info().passages, beta.info().passages) == (2, 0)


def test_a_change_to_one_collection_leaves_what_another_has_loaded(two, monkeypatch):
    """Many tenants write at any time; nobody reads vectors again for it."""
    with Index.open(two, "acme") as acme:
        before = acme.nearest(vector("hut"), 9)
        with Index.open(two, "beta") as beta:
            beta.add([document("More.")], EMBEDDER)
        monkeypatch.setattr(Vectors, "load", None)
        assert acme.nearest(vector("hut"), 9) == before


def test_a_collection_that_is_not_there_is_told(two):
    """With what to do, and without the names of the others."""
    with pytest.raises(
        IndexFault, match=r"has no collection 'gamma'; run: surefoot index --collection gamma PATH"
    ) as told:
        Index.open(two, "gamma")
    assert "acme" not in str(told.value)
    with pytest.raises(IndexFault, match="has no collection 'gamma'"):
        Index(two, "gamma").delete("x")


@pytest.mark.parametrize("name", ["", "a/b", "../x", "a b", "ü", "x" * 65, "-x", "a\n", 7])
def test_a_collection_has_a_name_that_can_stand_in_an_address(tmp_path, name):
    """Anything else is refused before a file is made."""
    with pytest.raises(UsageError, match="cannot be the name of a collection"):
        Index.make(tmp_path / "i.db", EMBEDDER, name)
    assert not [*tmp_path.iterdir()]


def test_the_same_file_may_be_in_two_collections(tmp_path):
    """Each has its own passages of it, with ids and fields of its own."""
    (tmp_path / "a.md").write_text("The hut has forty beds.")
    build([tmp_path / "a.md"], tmp_path / "i.db", EMBEDDER, collection="acme", meta={"year": 2024})
    build([tmp_path / "a.md"], tmp_path / "i.db", EMBEDDER)
    with Index.open(tmp_path / "i.db", "acme") as acme, Index.open(tmp_path / "i.db") as usual:
        (one,), (other,) = acme.lexical("hut", 5), usual.lexical("hut", 5)
        assert (one.text, one.file, one.meta) == (other.text, other.file, {"year": 2024})
        assert one.id != other.id
        assert other.meta == {}


def test_a_rebuild_does_not_take_other_collections_with_it(two, tmp_path):
    """It makes a new file."""
    (tmp_path / "a.md").write_text("The hut has forty beds.")
    with pytest.raises(IndexFault, match="also holds 1 other collection, which a rebuild would remove"):
        build([tmp_path / "a.md"], two, EMBEDDER, collection="acme", rebuild=True)
    with Index.open(two, "beta") as beta:
        assert beta.info().passages == 2


fields = st.fixed_dictionaries(
    {},
    optional={
        "year": st.integers(2020, 2024) | st.sampled_from([2021.5, "2021", True]),
        "lang": st.sampled_from(["en", "de", ""]),
        "done": st.booleans() | st.sampled_from([0, 1]),
    },
)
VALUES = st.integers(2020, 2024) | st.sampled_from([2021.5, "2021", True, False, 0, 1, "en", "de", ""])
ORDERED = VALUES.filter(lambda value: not isinstance(value, bool))
WANTED = st.dictionaries(
    st.sampled_from(["year", "lang", "done", "other"]),
    VALUES
    | st.dictionaries(st.sampled_from(["<", "<=", ">", ">="]), ORDERED, min_size=1)
    | st.fixed_dictionaries({"in": st.lists(VALUES, max_size=3)})
    | st.fixed_dictionaries({"not in": st.lists(VALUES, max_size=3)}),
    min_size=1,
    max_size=3,
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(WORDS), fields), min_size=1, max_size=12), st.data())
def test_a_filtered_search_gives_the_best_of_those_that_match(tmp_path_factory, held, data):
    """Exactly: what the search of everything gives, without what does not match, with the same scores."""
    place = tmp_path_factory.mktemp("law") / "i.db"
    documents = [document(f"{word} hut {n}", id=f"n{n}", **own) for n, (word, own) in enumerate(held)]
    with Index.make(place, EMBEDDER) as index:
        index.add(documents, EMBEDDER)
        for _ in range(8):
            filter = Filter.of(data.draw(WANTED))
            for search, asked in ((index.lexical, "hut rope glacier"), (index.nearest, vector("hut rope"))):
                every = search(asked, 99)
                assert search(asked, 3, filter) == tuple(p for p in every if filter.matches(p.meta))[:3]


def test_fields_survive_the_index(tmp_path):
    """Each with its kind and to the last bit."""
    own = {
        "price": 0.1,
        "big": 2**63 - 1,
        "low": -(2**63),
        "yes": True,
        "no": False,
        "one": 1,
        "half": 1.0,
        "s": "ä\u202e",
    }
    with Index.make(tmp_path / "i.db", EMBEDDER) as index:
        index.add([document("A hut.", **own)], EMBEDDER)
        (found,) = index.lexical("hut", 1)
        assert [(key, value, type(value)) for key, value in found.meta.items()] == [
            (key, value, type(value)) for key, value in sorted(own.items())
        ]
        assert index.nearest(vector("hut"), 1, Filter.of({"price": 0.1, "big": 2**63 - 1}))[0].meta == own


def test_fields_for_a_folder_stand_over_those_of_its_files(tmp_path):
    """Whoever indexes has the last word, and keeps it until another is given."""
    place, docs = tmp_path / "i.db", tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text(
        '---\ntitle: Hut\nyear: 2024 # of print\nlang: "en"\ntags: [a, b]\naccess: public\n---\nA hut.'
    )
    (docs / "b.jsonl").write_text('{"text": "A rope.", "meta": {"year": 2023, "tags": ["a"]}}\n')
    (docs / "c.csv").write_text('text,meta.year,meta\nA lamp.,2022,"{""lang"": ""de""}"\n')
    report = build([docs], place, EMBEDDER, meta={"access": "internal"})
    assert report.notes == (
        (
            "docs/b.jsonl",
            "line 1: the field 'tags' is a list; it may be a text, a number, true or false; it is left out",
        ),
    )

    def known():
        with Index.open(place) as index:
            return {passage.file: dict(passage.meta) for passage in index.passages()}

    first = {
        "docs/a.md": {"access": "internal", "lang": "en", "year": 2024},
        "docs/b.jsonl": {"access": "internal", "year": 2023},
        "docs/c.csv": {"access": "internal", "lang": "de", "year": 2022},
    }
    assert known() == first
    build([docs], place, EMBEDDER)
    assert known() == first
    build([docs], place, EMBEDDER, meta={"access": "all"})
    assert known() == {file: {**held, "access": "all"} for file, held in first.items()}
    with Index.open(place) as index:
        assert [passage.text for passage in index.passages() if "meta" in passage.text] == []
        index.verify()
    with pytest.raises(FieldFault, match="'access' is a list"):
        build([docs], place, EMBEDDER, meta={"access": []})


def test_a_filter_of_an_empty_collection_finds_nothing(tmp_path):
    """There are no rows to hold it against."""
    with Index.make(tmp_path / "i.db", EMBEDDER) as index:
        assert index.lexical("hut", 3, Filter.of({"a": {"!=": 1}})) == ()
        assert index.nearest(np.ones(256), 3, Filter.of({"a": 1})) == ()
