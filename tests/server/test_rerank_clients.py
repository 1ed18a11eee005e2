"""`/v1/rerank` and `/v1/embeddings` through the clients that other people wrote, as their users set them up."""

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from surefoot.embedders.static import Static

pytestmark = pytest.mark.filterwarnings("ignore")

QUERY = "Who built the Ruvel Bridge?"
TEXTS = ["Cheese is made of milk.", "The Ruvel Bridge was built by Tomas Aldwin.", "The hut stands on a hill."]


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """The clients leave their sockets open, of which another test would be told when they are collected."""
    yield
    gc.collect()


@pytest.mark.parametrize("kind", ["Client", "ClientV2"])
def test_cohere(live: str, kind: str) -> None:
    """Both versions of their interface."""
    library = pytest.importorskip("cohere", reason="not installed")
    client = getattr(library, kind)("none", base_url=live)
    reply = client.rerank(model="rerank-v3.5", query=QUERY, documents=TEXTS, top_n=2)
    assert reply.results[0].index == 1
    assert len(reply.results) == 2
    assert reply.results[0].relevance_score > reply.results[1].relevance_score
    assert reply.meta.api_version.version == ("1" if kind == "Client" else "2")


def test_cohere_with_objects_and_their_texts(live: str) -> None:
    library = pytest.importorskip("cohere", reason="not installed")
    documents = [{"text": text} for text in TEXTS]
    reply = library.Client("none", base_url=live).rerank(query=QUERY, documents=documents, return_documents=True)
    assert reply.results[0].document.text == TEXTS[1]


def test_langchain(live: str) -> None:
    """The best documents, with their scores."""
    rerank = pytest.importorskip("langchain_cohere", reason="not installed").CohereRerank
    from langchain_core.documents import Document

    ranker = rerank(base_url=live, cohere_api_key="none", model="surefoot-rerank", top_n=2)
    found = ranker.compress_documents([Document(text) for text in TEXTS], QUERY)
    assert found[0].page_content == TEXTS[1]
    assert len(found) == 2
    assert 0 <= found[1].metadata["relevance_score"] < found[0].metadata["relevance_score"] <= 1


@pytest.mark.parametrize("kind", ["cohere_rerank.CohereRerank", "jinaai_rerank.JinaRerank"])
def test_llamaindex(live: str, kind: str) -> None:
    module, _, name = kind.partition(".")
    rerank = getattr(pytest.importorskip(f"llama_index.postprocessor.{module}", reason="not installed"), name)
    from llama_index.core.schema import NodeWithScore, TextNode

    address = f"{live}/v1" if "Jina" in name else live
    nodes = [NodeWithScore(node=TextNode(text=text), score=0.5) for text in TEXTS]
    ranker = rerank(base_url=address, api_key="none", model="surefoot-rerank", top_n=2)
    found = ranker.postprocess_nodes(nodes, query_str=QUERY)
    assert found[0].node.text == TEXTS[1]
    assert len(found) == 2


@pytest.mark.parametrize("kind", ["cohere_rerank", "jina_rerank"])
def test_lightrag(live: str, kind: str) -> None:
    """Each of the bindings that take an address."""
    rerank: Any = getattr(pytest.importorskip("lightrag.rerank", reason="not installed"), kind)
    address = f"{live}/v1/rerank"
    found = asyncio.run(rerank(QUERY, TEXTS, top_n=2, api_key="none", model="surefoot-rerank", base_url=address))
    assert found[0]["index"] == 1
    assert len(found) == 2


def test_openai(live: str) -> None:
    """It asks for base64 by itself."""
    library = pytest.importorskip("openai", reason="not installed")
    client = library.OpenAI(base_url=f"{live}/v1", api_key="none")
    found = client.embeddings.create(model="surefoot-embed", input=TEXTS)
    assert np.allclose([one.embedding for one in found.data], Static().embed(TEXTS), atol=1e-6)


def test_langchain_embeddings(live: str) -> None:
    """With texts; by default it sends tokens of OpenAI's vocabulary, which are refused with a sentence."""
    kind = pytest.importorskip("langchain_openai", reason="not installed").OpenAIEmbeddings
    about = {"base_url": f"{live}/v1", "api_key": "none", "model": "surefoot-embed"}
    found = kind(**about, check_embedding_ctx_length=False).embed_documents(TEXTS)
    assert np.allclose(found, Static().embed(TEXTS), atol=1e-6)


def test_llamaindex_embeddings(live: str) -> None:
    kind = pytest.importorskip("llama_index.embeddings.openai_like", reason="not installed").OpenAILikeEmbedding
    found = kind(model_name="surefoot-embed", api_base=f"{live}/v1", api_key="none").get_text_embedding_batch(TEXTS)
    assert np.allclose(found, Static().embed(TEXTS), atol=1e-6)
