"""Haystack's own document stores, behind its retrievers, as parts of a pipeline."""

from typing import Any

import pytest

pytest.importorskip("haystack", reason="needs the extra haystack")

from haystack import Document, component
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore

import surefoot
from surefoot.contracts import verify
from surefoot.embedders.static import Static
from surefoot.integrations.from_haystack import HaystackRetriever
from surefoot.types.errors import ConfigError
from surefoot.types.metadata import Filter

QUESTION = "Who built the Ruvel Bridge?"
ROWS: list[tuple[str, str, dict[str, Any]]] = [
    (
        "b",
        "The Ruvel Bridge was built in 1911 by Tomas Aldwin.",
        {"file_path": "b.pdf", "page_number": 4, "year": 1911},
    ),
    ("h", "The Larrow Hut stands at 2,214 m.", {"year": 1934, "open": True}),
    ("p", "Boil the dumplings until they float.", {}),
]


def vector(text: str) -> list[float]:
    row: list[float] = Static().embed([text])[0].tolist()
    return row


@pytest.fixture
def store() -> InMemoryDocumentStore:
    made = InMemoryDocumentStore()
    made.write_documents([Document(id=id, content=text, meta=meta, embedding=vector(text)) for id, text, meta in ROWS])
    return made


@component
class TextEmbedder:
    """One that has to be warmed up first."""

    def __init__(self) -> None:
        self.warm = False

    def warm_up(self) -> None:
        self.warm = True

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        assert self.warm
        return {"embedding": vector(text)}


@component
class Unfiltered:
    """Finds a passage, or breaks, and knows no filter and no number."""

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        if "Jupiter" in query:
            raise OSError("disk full")
        return {"documents": [Document(content=text) for _, text, _ in ROWS]}


def test_a_store_keeps_the_contract_by_words_and_by_vectors(store: InMemoryDocumentStore) -> None:
    """With an embedder of theirs, and with one of ours."""
    verify("retriever", HaystackRetriever(InMemoryBM25Retriever(store)))
    verify("retriever", HaystackRetriever(InMemoryEmbeddingRetriever(store), Static()))
    verify("retriever", HaystackRetriever(InMemoryEmbeddingRetriever(store), TextEmbedder()))
    verify("retriever", HaystackRetriever(Unfiltered()))


def test_a_document_is_a_passage(store: InMemoryDocumentStore) -> None:
    """As many as are wanted, whatever `top_k` the component has."""
    best, *others = HaystackRetriever(InMemoryBM25Retriever(store, top_k=1)).retrieve(QUESTION, 30)
    assert (best.id, best.text, best.title, best.url) == ("b", ROWS[0][1], "b", "b.pdf#page=4")
    assert best.score
    assert len(others) == 2


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({"year": 1911}, ["b"]),
        ({"open": True}, ["h"]),
        ({"year": {"!=": 1911}}, ["h", "p"]),
        ({"year": {"not in": [1911, 1934]}}, ["p"]),
        ({"year": {">=": 1900, "<": 1934}}, ["b"]),
    ],
)
def test_a_filter_reaches_the_store(store: InMemoryDocumentStore, wanted: dict[str, Any], ids: list[str]) -> None:
    retriever = HaystackRetriever(InMemoryEmbeddingRetriever(store), Static())
    assert sorted(p.id for p in retriever.retrieve(QUESTION, 3, Filter.of(wanted))) == ids


def test_a_filter_never_replaces_the_component_s_own(store: InMemoryDocumentStore) -> None:
    """It may be what keeps two owners apart."""
    own = {"field": "meta.year", "operator": "==", "value": 1911}
    retriever = HaystackRetriever(InMemoryBM25Retriever(store, filters=own))
    assert retriever.retrieve(QUESTION, 3, Filter.of({"year": {">": 1920}})) == ()
    assert [p.id for p in retriever.retrieve(QUESTION, 3, Filter.of({"year": {">": 1900}}))] == ["b"]


def test_what_it_cannot_do_is_refused(store: InMemoryDocumentStore) -> None:
    with pytest.raises(ConfigError, match="Haystack's Unfiltered cannot filter; ask without"):
        HaystackRetriever(Unfiltered()).retrieve(QUESTION, 3, Filter.of({"year": 1911}))
    with pytest.raises(ConfigError, match="InMemoryEmbeddingRetriever wants the question's vector; give"):
        HaystackRetriever(InMemoryEmbeddingRetriever(store))
    with pytest.raises(ConfigError, match="DocumentWriter takes no query; give a retriever"):
        HaystackRetriever(DocumentWriter(store))
    with pytest.raises(ConfigError, match="takes a Component, not a InMemoryDocumentStore"):
        HaystackRetriever(store)


def test_a_store_of_haystack_s_is_corrected(store: InMemoryDocumentStore) -> None:
    """And one that breaks is a step that fails."""
    answer = (
        surefoot.load({}, parts={"retriever": HaystackRetriever(InMemoryBM25Retriever(store))}).run(QUESTION).answer
    )
    assert answer
    assert "Tomas Aldwin" in answer.text
    trace = surefoot.load({}, parts={"retriever": HaystackRetriever(Unfiltered())}).run("How many moons has Jupiter?")
    assert "Haystack's Unfiltered failed with OSError: disk full" in str(trace.steps[0].error)
