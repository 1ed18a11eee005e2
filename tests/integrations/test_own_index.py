"""Every block of docs/own-index.md as it stands: over the local modes of the stores, and stand-ins for the servers."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore

from endpoint import WebAnswer, WebRequest, serving, writing
from pages import Reader, blocks
from surefoot.contracts import verify
from surefoot.integrations.from_langchain import LangChainRetriever, mongo_filter

OURS, *OTHERS = [block for block in blocks("docs/own-index.md") if block.language == "python"]
BLOCKS = {block.heading: block for block in OTHERS}
ROWS = [
    {"text": "The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "title": "Ruvel Bridge", "year": 1911},
    {"text": "The Larrow Hut stands at 2,214 m.", "title": "Larrow Hut", "year": 1934},
    {"text": "Boil the dumplings until they float.", "title": "Dumplings", "year": 1874},
]
TEXTS = [str(row["text"]) for row in ROWS]
FIELDS = [{key: value for key, value in row.items() if key != "text"} for row in ROWS]


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that a block finds, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "a block"}
    Reader(names).python(OURS)
    return names


@pytest.fixture
def said(names: dict[str, Any]) -> Callable[[str], str]:
    """Runs a block by its title, and gives what it printed."""
    return lambda title: Reader(names).python(BLOCKS[title])


def test_chroma(names: dict[str, Any], said: Callable[[str], str]) -> None:
    """In its own local mode, within a filter; by cosine and by its default of squared distances."""
    chromadb = pytest.importorskip("chromadb", reason="needs the package chromadb")
    chroma = pytest.importorskip("langchain_chroma", reason="needs the package langchain-chroma").Chroma
    client = chromadb.PersistentClient("chroma")
    vectors = names["embeddings"].embed_documents(TEXTS)
    for collection in ("manuals", "cosine"):
        made = client.create_collection(
            collection, metadata={"hnsw:space": "cosine" if collection == "cosine" else "l2"}, embedding_function=None
        )
        made.add(ids=["b", "h", "p"], documents=TEXTS, metadatas=FIELDS, embeddings=vectors)
        store = chroma(collection, names["embeddings"], client=client)
        verify("retriever", retriever := LangChainRetriever(store, mongo_filter))
        best = retriever.retrieve("Who built the Ruvel Bridge?", 3)
        assert (best[0].id, best[0].title) == ("b", "Ruvel Bridge")
        assert all(0 < (one.score or 0) <= 1 for one in best)
    assert "Tomas Aldwin" in said("Chroma")
    assert {one.id for one in names["trace"].passages} == {"b", "h"}


def test_qdrant(names: dict[str, Any], said: Callable[[str], str]) -> None:
    """In its own local mode."""
    qdrant = pytest.importorskip("qdrant_client", reason="needs the package qdrant-client")
    adapter = pytest.importorskip("langchain_qdrant", reason="needs the package langchain-qdrant")
    client, models = qdrant.QdrantClient(path="qdrant"), qdrant.models
    client.create_collection("manuals", models.VectorParams(size=256, distance=models.Distance.COSINE))
    vectors = names["embeddings"].embed_documents(TEXTS)
    rows = zip(TEXTS, FIELDS, vectors, strict=True)
    points = [
        models.PointStruct(id=n, vector=v, payload={"text": t, "metadata": f}) for n, (t, f, v) in enumerate(rows)
    ]
    client.upsert("manuals", points)
    store = adapter.QdrantVectorStore(client, "manuals", names["embeddings"], content_payload_key="text")
    verify("retriever", retriever := LangChainRetriever(store))
    assert [one.id for one in retriever.retrieve("Who built the Ruvel Bridge?", 1)] == ["0"]
    client.close()
    assert "Tomas Aldwin" in said("Qdrant")


@pytest.mark.filterwarnings("ignore")  # of the generated code of its protocol
def test_weaviate(said: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its client, against a stand-in for the server."""
    weaviate = pytest.importorskip("weaviate", reason="needs the package weaviate-client")
    pytest.importorskip("langchain_weaviate", reason="needs the package langchain-weaviate")
    from integrations.weaviate_server import weaviate_server

    with weaviate_server(ROWS) as (http, grpc, search):
        local = partial(weaviate.connect_to_local, host="127.0.0.1", port=http, grpc_port=grpc)
        monkeypatch.setattr(weaviate, "connect_to_local", local)
        assert "Tomas Aldwin" in said("Weaviate")
    [asked] = search.asked
    assert (asked.collection, asked.limit, asked.hybrid_search.query) == ("Manuals", 30, "Who built the Ruvel Bridge?")


def test_elasticsearch(said: Callable[[str], str], names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its client, against a stand-in for the server."""
    elasticsearch = pytest.importorskip("elasticsearch", reason="needs the package elasticsearch")
    pytest.importorskip("langchain_elasticsearch", reason="needs the package langchain-elasticsearch")
    asked: list[Any] = []

    def answer(request: WebRequest) -> WebAnswer:
        asked.append((request.target, json.loads(request.body)))
        hits = [
            {"_index": "manuals", "_id": str(n), "_score": 3.0 - n, "_source": {"body": text, **about}}
            for n, (text, about) in enumerate(zip(TEXTS, FIELDS, strict=True))
        ]
        found = {"total": {"value": len(hits), "relation": "eq"}, "max_score": 3.0, "hits": hits}
        body = {"took": 1, "timed_out": False, "_shards": {"total": 1, "successful": 1}, "hits": found}
        about = {
            "X-Elastic-Product": "Elasticsearch",
            "Content-Type": "application/vnd.elasticsearch+json;compatible-with=8",
        }
        return 200, about, json.dumps(body).encode()

    with serving(answer) as url:
        real = elasticsearch.Elasticsearch
        monkeypatch.setattr(elasticsearch, "Elasticsearch", lambda _: real(url))
        assert "Tomas Aldwin" in said("Elasticsearch")
        verify("retriever", LangChainRetriever(names["found"]))
        names["client"].close()
    target, body = asked[0]
    assert target == "/manuals/_search"
    assert body["query"]["multi_match"]["query"] == "Who built the Ruvel Bridge?"


def test_llamaindex(said: Callable[[str], str], names: dict[str, Any]) -> None:
    """An index that was stored in a folder."""
    core = pytest.importorskip("llama_index.core", reason="needs the extra llamaindex")
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.schema import TextNode

    names["embed_model"] = MockEmbedding(8)
    nodes = [TextNode(text=text, metadata=about) for text, about in zip(TEXTS, FIELDS, strict=True)]
    core.VectorStoreIndex(nodes, embed_model=names["embed_model"]).storage_context.persist("storage")
    assert "Tomas Aldwin" in said("An index of LlamaIndex")
    assert {one.title for one in names["trace"].passages} == {"Ruvel Bridge", "Larrow Hut"}


def test_haystack(said: Callable[[str], str], names: dict[str, Any]) -> None:
    """A store that was kept in a file."""
    haystack = pytest.importorskip("haystack", reason="needs the extra haystack")
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents([haystack.Document(content=t, meta=about) for t, about in zip(TEXTS, FIELDS, strict=True)])
    store.save_to_disk("documents.json")
    assert "Tomas Aldwin" in said("A document store of Haystack")
    assert {one.title for one in names["trace"].passages} == {"Ruvel Bridge", "Larrow Hut"}


def test_a_chat_model(said: Callable[[str], str], names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """It words the answer from the passages."""
    pytest.importorskip("langchain_openai", reason="needs the package langchain-openai")
    names["store"] = InMemoryVectorStore(names["embeddings"])
    names["store"].add_documents([Document(text, metadata=about) for text, about in zip(TEXTS, FIELDS, strict=True)])
    names["LangChainRetriever"] = LangChainRetriever
    with writing("Tomas Aldwin built the Ruvel Bridge in 1911 [1].") as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
        assert "Tomas Aldwin" in said("Your own chat model")
    assert [sent["model"] for sent in endpoint.asked] == ["gpt-4.1-mini"]
    assert endpoint.asked[0]["temperature"] == 0


def test_every_block_of_the_page_is_run() -> None:
    tested = {"Chroma", "Qdrant", "Weaviate", "Elasticsearch"}
    tested |= {"An index of LlamaIndex", "A document store of Haystack", "Your own chat model"}
    assert sorted(block.heading for block in OTHERS) == sorted(tested)
