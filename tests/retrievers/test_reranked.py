"""A reranker behind a retriever."""

from pathlib import Path

import pytest

from surefoot.config.builder import Builder
from surefoot.config.consent import code
from surefoot.config.faults import faults
from surefoot.config.settings import read
from surefoot.config.trust import Own, rebuilt
from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.retrievers._given import Given
from surefoot.retrievers.reranked import Reranked
from surefoot.run.meter import metered
from surefoot.types import Grade, Passage
from surefoot.types.errors import ConfigError, ModelError
from surefoot.types.metadata import Meta

FOUND = tuple(Passage(id, text, score=1.0, meta=Meta({id: True})) for id, text in zip("abcd", "1323", strict=True))


class ByNumber:
    """Scores a passage by the number that it is; None where it is none."""

    name = "by_number"

    def grade(self, pairs):
        known = [(p.id, float(p.text) if p.text.isdecimal() else None) for _, p in pairs]
        return tuple(Grade(id, score, reason="" if score else "no number") for id, score in known)


class Broken:
    """Fails."""

    name = "broken"

    def grade(self, pairs):
        raise ModelError("out of memory")


def test_passages_stand_in_the_rerankers_order() -> None:
    """With its scores; those with equal ones as they were found."""
    found = Reranked(Given(FOUND), ByNumber()).retrieve("?", 3)
    assert [(p.id, p.score) for p in found] == [("b", 3.0), ("d", 3.0), ("c", 2.0)]


def test_as_many_are_read_as_depth_says_or_as_are_asked_for() -> None:
    """The fourth, the best, is found once four are taken."""
    passages = (*FOUND[:3], Passage("e", "9"))
    assert [p.id for p in Reranked(Given(passages), ByNumber(), depth=2).retrieve("?", 1)] == ["b"]
    assert Reranked(Given(passages), ByNumber(), depth=2).retrieve("?", 4)[0].id == "e"


def test_a_passage_that_cannot_be_read_is_left_out_and_the_step_says_so() -> None:
    """A failure is no score."""
    with metered() as spent:
        found = Reranked(Given((*FOUND, Passage("e", "no number"))), ByNumber()).retrieve("?", 9)
    assert [p.id for p in found] == ["b", "d", "c", "a"]
    assert "by_number could not read 1 of 5 passages: they are left out" in spent.degraded


def test_a_reranker_that_fails_leaves_the_order_and_the_step_says_so() -> None:
    """The question goes on with what was found."""
    with metered() as spent:
        assert Reranked(Given(FOUND), Broken()).retrieve("?", 2) == FOUND[:2]
    assert "broken failed (out of memory): passages stand as they were found" in spent.degraded


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """An index of two documents."""
    (tmp_path / "bridge.txt").write_text("The Ruvel Bridge was built in 1911 by Tomas Aldwin.")
    (tmp_path / "hut.txt").write_text("The hut stands at 2,214 m. The bridge is near.")
    build([tmp_path], tmp_path / "index.db", Hashing())
    return tmp_path / "index.db"


def configured(library: Path, **retriever: object) -> Builder:
    sections = {"retriever": {"use": "reranked", **retriever}, "index": {"path": str(library)}}
    return Builder(read(sections | {"embedder": {"use": "hashing"}}))


def test_a_configuration_makes_one_of_a_retriever_and_an_evaluator(library: Path) -> None:
    """Each a name or a table with its own options, those of `hybrid` within it too."""
    inner = {"use": "hybrid", "retrievers": ["bm25"], "depth": 20}
    for of in ("bm25", inner):
        built = configured(library, of=of, reranker={"use": "lexical"}, depth=20).pipeline()
        found = built.run("Who built the Ruvel Bridge?")
        assert "Aldwin" in str(found)
    assert not [*faults(configured(library, of=inner, reranker="lexical").config)]


def test_a_reranker_that_is_somebodys_code_is_asked_about() -> None:
    """As any other code that a configuration names."""
    for reranker in ("mine:Own", {"use": "mine:Own"}):
        assert code({"retriever": {"use": "reranked", "of": "bm25", "reranker": reranker}}) == ["mine:Own"]


def test_a_record_may_say_a_reranker_that_asks_nobody() -> None:
    """One behind an address is the user's own to say; code is refused."""

    def taken(reranker: object) -> tuple[object, tuple[str, ...]]:
        recorded = {"retriever": {"use": "reranked", "of": "bm25", "reranker": reranker}}
        found = rebuilt(recorded, Own(read({})))
        return found.config["retriever"].get("reranker"), found.left

    assert taken("minilm") == ("minilm", ())
    for reranker in ("rerank", "cross_encoder", {"use": "rerank", "model": "m", "base_url": "http://a/v1"}):
        assert taken(reranker) == (None, ("retriever.reranker",))
    with pytest.raises(ConfigError, match="a record may have nothing imported"):
        taken("mine:Own")
