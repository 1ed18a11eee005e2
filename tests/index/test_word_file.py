"""How an index of many passages is searched by words: those are scored that a folder beside it finds."""

import json
import shutil

import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.index import beside, search, word_file
from surefoot.index.search import Index
from surefoot.types import Block, Document
from surefoot.types.metadata import NO_FILTER, Filter, Meta

EMBEDDER = Hashing()
MANY = 60
QUERIES = ("rope1", "hut number7", "hut", "HUT rope3 number59 number60", "Hütte", "lamp of the keeper", "nothing")


def document(n, text=None):
    own = text or f"hut number{n} rope{n % 7}" + " lamp" * (n % 3) + " der Hütte" * (n == 40)
    return Document("", "Keeper" if n % 5 == 0 else "", (Block(own),), id=f"d{n:03}", meta=Meta({"n": n}))


@pytest.fixture
def place(indexed, monkeypatch):
    """An index with a folder of words, from which few are scored."""
    monkeypatch.setattr(word_file, "CANDIDATES", 12)
    monkeypatch.setattr(word_file, "MORE", 1)
    return indexed(map(document, range(MANY)))


@pytest.fixture
def scored(monkeypatch):
    """How many passages may be scored, a number for each time that passages are; None: all."""
    seen = []
    ours = search._scored

    def spied(db, terms, k, allowed):
        seen.append(None if allowed is None else int(allowed.sum()))
        return ours(db, terms, k, allowed)

    monkeypatch.setattr(search, "_scored", spied)
    return seen


def folder(place):
    return next(each for each in beside.places(place) if each.is_dir())


def found(place, query, k=5, filter=NO_FILTER):
    with Index.open(place) as index:
        return index.lexical(query, k, filter)


def ids(passages):
    return [passage.id.partition(":")[2] for passage in passages]


@pytest.mark.parametrize("query", QUERIES)
def test_the_folder_changes_nothing_that_is_found(place, query):
    """Neither the order nor the scores, to the last bit."""
    quick = found(place, query)
    shutil.rmtree(folder(place))
    assert quick == found(place, query)


def test_only_what_it_finds_is_scored(place, scored):
    """Of sixty that hold the word."""
    assert len(found(place, "hut", 10)) == 10
    assert scored == [12]


def test_words_are_those_of_the_index(place, scored):
    """Whatever accents and capitals they are written with."""
    assert ids(found(place, "HÜTTE", 1)) == ids(found(place, "hutte", 1)) == ["d040"]
    assert scored == [1, 1]


def test_where_it_finds_too_few_all_are_scored(place, scored):
    """With a filter that few fulfil."""
    few = Filter.of({"n": {">": 55}})
    assert sorted(ids(found(place, "hut", 4, few))) == ["d056", "d057", "d058", "d059"]
    assert scored[-1] == 4


def test_a_filter_holds_for_what_it_finds(place):
    """And for what came since."""
    with Index.open(place) as index:
        index.add([document(100)], EMBEDDER)
    among = found(place, "rope2 rope3", 5, Filter.of({"n": {">": 20}}))
    assert among
    assert all(passage.meta["n"] > 20 for passage in among)
    assert among == found(place, "rope2 rope3", 100, Filter.of({"n": {">": 20}}))[:5]


def test_the_fewer_a_filter_allows_the_more_are_looked_at(place, scored):
    """Else the best of those would not be among them."""
    assert len(found(place, "hut", 10, Filter.of({"n": {">": 40}}))) == 10
    assert 10 <= scored[0] < 19
    assert len(scored) == 1


def test_what_came_since_is_found(place):
    """Also by whoever has searched before."""
    with Index.open(place) as index:
        assert ids(index.lexical("rope1", 1)) != ["d100"]
        index.add([document(100, "rope1"), document(101, "lantern")], EMBEDDER)
        assert ids(index.lexical("rope1", 1)) == ["d100"]
        assert ids(index.lexical("lantern", 1)) == ["d101"]


def test_what_is_gone_is_not_found(place):
    """However many; as many others are found as were asked for."""
    with Index.open(place) as index:
        before = index.lexical("hut", 100)
        for passage in before[:15]:
            assert index.delete(passage.id.partition("#")[0])
        assert ids(index.lexical("hut", 5)) == ids(before[15:20])


def test_it_is_made_anew_where_it_lacks_much(place, scored):
    """So that what came is not scored whole."""
    with Index.open(place) as index:
        index.add(map(document, range(100, 119)), EMBEDDER)
        index.lexical("hut", 5)
        index.add([document(119)], EMBEDDER)
        index.lexical("hut", 5)
    assert scored == [12 + 19, 12]


@pytest.mark.parametrize("head", ["", "{}", '{"of": 1, "top": 5}', "\0"])
def test_a_folder_with_another_head_is_not_used(place, scored, head):
    """The index has all that is in it."""
    (folder(place) / "head.json").write_text(head)
    assert len(found(place, "hut", 10)) == 10
    assert scored == [None]


def test_a_folder_of_another_version_is_not_used(place, scored):
    """Its library cannot read it."""
    (folder(place) / "meta.json").write_text(json.dumps({"index_format": "other"}))
    assert len(found(place, "hut", 10)) == 10
    assert scored == [None]


def test_a_folder_that_lost_a_file_finds_nothing(place, scored):
    """So all passages are scored."""
    for file in folder(place).glob("*.pos"):
        file.unlink()
    assert len(found(place, "hut", 10)) == 10
    assert scored == [0, None]
