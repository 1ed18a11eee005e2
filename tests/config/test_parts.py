"""Objects in place of configured components, and pipelines that another process builds again."""

import pickle
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from shelf import Shelf, asked
from surefoot import load
from surefoot.embedders.hashing import Hashing
from surefoot.evaluators.lexical import Lexical
from surefoot.evidence.answer_policy import AnswerPolicy
from surefoot.evidence.sources import Sources
from surefoot.index.build import build
from surefoot.pipeline import Pipeline
from surefoot.retrievers._given import Given
from surefoot.run.conversation import Conversation
from surefoot.run.store import dumps, loads
from surefoot.searchers.nowhere import Nowhere
from surefoot.types import Grade, Passage, Trace
from surefoot.types.errors import ConfigError, IndexFault
from surefoot.types.protocols import Pair
from surefoot.verifiers.lexical import LexicalVerifier

QUESTION = "Who built the Ruvel Bridge?"
CHEAP = {"evaluator": {"use": "lexical"}, "embedder": {"use": "hashing"}}
BRIDGE = Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "Ruvel Bridge")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory: no surefoot.toml, and no index."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Strict(Lexical):
    """Lexical, under a name of its own."""

    def __init__(self) -> None:
        self.name = "strict"
        self.thresholds = replace(Lexical.thresholds, evaluator="strict")

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """Half of what it would be."""
        return tuple(replace(grade, score=(grade.score or 0.0) / 2) for grade in super().grade(pairs))


@dataclass
class Wordless:
    """A retriever in name only."""

    name: str = "wordless"


def test_a_retriever_of_ones_own_needs_no_index() -> None:
    """It takes the place of the configured one, whatever that was."""
    trace = load(CHEAP, parts={"retriever": Given((BRIDGE,))}, retriever={"use": "bm25"}).run(QUESTION)
    assert trace.passages == (BRIDGE,)
    assert trace.answer
    assert "Tomas Aldwin" in trace.answer.text


def test_an_evaluator_of_ones_own_grades_passages_and_strips() -> None:
    """At its own thresholds; refiner and policy get it too."""
    trace = load(CHEAP, parts={"retriever": Given((BRIDGE,)), "evaluator": Strict()}).run(QUESTION)
    whole = load(CHEAP, parts={"retriever": Given((BRIDGE,))}).run(QUESTION)
    assert trace.grades[0].score == (whole.grades[0].score or 0.0) / 2
    assert [strip.score for strip in trace.strips] == [(strip.score or 0.0) / 2 for strip in whole.strips]


def test_the_configuration_says_that_a_part_was_an_object() -> None:
    """By its class, and that it cannot be built from there; it still is a trace."""
    trace = load(CHEAP, parts={"retriever": Shelf()}).run(QUESTION)
    assert trace.config["retriever"] == {"use": "shelf:Shelf", "object": True}
    assert loads(dumps(trace)) == trace


def test_such_a_configuration_builds_nothing_without_the_object() -> None:
    """One line says which part is missing, and how it is given; with it, all is as it was."""
    trace = load(CHEAP, parts={"retriever": Shelf()}).run(QUESTION)
    with pytest.raises(ConfigError, match=r"the retriever was an object of shelf:Shelf, .* parts=\{'retriever': …\}"):
        load(trace.config)
    again = load(trace.config, parts={"retriever": Shelf()}).run(QUESTION)
    assert (again.config, again.answer) == (trace.config, trace.answer)


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"retreiver": Shelf()}, "no part called 'retreiver'; .* did you mean 'retriever'"),
        ({"judge": Shelf()}, "no part called 'judge'"),
        ({"searcher": Shelf()}, r"is no searcher: its class lacks search\(query, k\)"),
        ({"retriever": Wordless()}, r"is no retriever: its class lacks retrieve\(question, k\)"),
        ({"retriever": None}, "is no retriever"),
        ({"evaluator": type("Bare", (), {"grade": lambda self, pairs: ()})()}, "has no name and no thresholds"),
    ],
)
def test_what_cannot_play_its_part_is_refused(parts: dict[str, Any], says: str) -> None:
    """Before anything is built."""
    with pytest.raises(ConfigError, match=says):
        load(CHEAP, parts=parts)


def test_without_an_index_the_error_names_the_ways_out() -> None:
    """One for the command line, two for a program."""
    with pytest.raises(IndexFault, match=r"run: surefoot index PATH….*parts=\{'retriever': …\}.*surefoot\.correct"):
        load(CHEAP)


# Pickling


def bare(trace: Trace) -> Trace:
    """Without what differs from run to run."""
    return replace(trace, id="", created="", steps=())


@pytest.fixture
def indexed(here: Path) -> Pipeline:
    """A pipeline over an index of one document."""
    (here / "bridge.txt").write_text(BRIDGE.text)
    build([here / "bridge.txt"], here / "index.db", Hashing())
    return load(CHEAP, index={"path": str(here / "index.db")})


def test_a_varied_pipeline_can_be_loaded_from_its_configuration(indexed: Pipeline) -> None:
    """Sizes, components and sources are in it; a conversation has no section, so none is written."""
    sources = Sources(trusted=("faq/*",), untrusted=("mail/*",))
    answering = AnswerPolicy("mark", "memory", 0.1)
    varied = indexed.but(
        sources=sources, answering=answering, conversation=Conversation(), searcher=Nowhere(), k=1, decompose="all"
    )
    again = load(loads(dumps(Trace("t", QUESTION, config=varied.config))).config)
    assert (again.sources, again.answering, again.decompose) == (sources, answering, "all")
    assert (type(again.searcher), again.k) == (Nowhere, 1)
    assert again.config == varied.config


def test_another_process_answers_as_this_one_does(indexed: Pipeline) -> None:
    """One that shares nothing with it; a part that took another's place goes along, and so do sizes."""
    varied = indexed.but(searcher=Given(), k=1)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        first, second = pool.map(asked, [indexed, varied], [QUESTION] * 2)
    assert bare(first) == bare(asked(indexed, QUESTION))
    assert bare(second) == bare(asked(varied, QUESTION))
    assert second.config["pipeline"]["k"] == 1


def test_what_is_pickled_is_the_configuration(indexed: Pipeline) -> None:
    """No model and no connection; the parts are built again."""
    again = pickle.loads(pickle.dumps(indexed))
    assert (again.config, again.k) == (indexed.config, indexed.k)
    assert again.retriever is not indexed.retriever
    assert len(pickle.dumps(indexed)) < 5000


def test_objects_pickle_themselves() -> None:
    """Those that were given, and those of a pipeline that was put together by hand."""
    given = pickle.loads(pickle.dumps(load(CHEAP, parts={"retriever": Given((BRIDGE,))})))
    assert given.retriever == Given((BRIDGE,))
    parts = {"evaluator": Lexical(), "refiner": Given(), "generator": Given(), "verifier": LexicalVerifier()}
    by_hand = replace(given, origin=None, searcher=Nowhere(), **parts)
    again = pickle.loads(pickle.dumps(by_hand))
    assert (again.retriever, again.config, again.origin) == (by_hand.retriever, by_hand.config, None)
