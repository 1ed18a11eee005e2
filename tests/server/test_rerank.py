"""`/v1/rerank` and `/v1/embeddings`, as other programs call them."""

import base64
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from server.conftest import Slow
from surefoot.embedders.static import Static
from surefoot.server.app import create_app
from surefoot.server.service import Service

QUERY = "Who built the Ruvel Bridge?"
TEXTS = ["Add flour and eggs.", "The Ruvel Bridge was built by Tomas Aldwin.", "The hut stands on a hill."]


def test_documents_come_back_the_likeliest_first(shared: TestClient) -> None:
    """Each with its place, and its text where that is wanted; `top_n` of them; documents may be objects."""
    body = {"model": "surefoot-default", "query": QUERY, "documents": TEXTS, "return_documents": True}
    results = shared.post("/v1/rerank", json=body).json()["results"]
    assert results[0]["index"] == 1
    assert results[0]["document"]["text"] == TEXTS[1]
    assert sorted(one["index"] for one in results) == [0, 1, 2]
    scores = [one["relevance_score"] for one in results]
    assert scores == sorted(scores, reverse=True)
    few = {"query": QUERY, "documents": [{"text": text} for text in TEXTS], "top_n": 1}
    assert [one["index"] for one in shared.post("/v1/rerank", json=few).json()["results"]] == [1]


@pytest.mark.parametrize(("path", "few"), [("/v1/rerank", "top_k"), ("/v2/rerank", "top_n")])
def test_any_model_is_taken_and_given_back(shared: TestClient, path: str, few: str) -> None:
    """Programs ask for one that they know; both addresses of Cohere answer, and Voyage's name of `top_n` counts."""
    body = {"model": "rerank-v3.5", "query": QUERY, "documents": TEXTS, few: 2, "max_tokens_per_doc": 512}
    whole = shared.post(path, json=body).json()
    assert whole["model"] == "rerank-v3.5"
    assert whole["meta"]["api_version"]["version"] == path[2]
    assert [set(one) for one in whole["results"]] == [{"index", "relevance_score"}] * 2


@pytest.mark.parametrize("documents", [[], [" "], ["x"] * 1001])
def test_documents_that_cannot_be_graded_are_refused(shared: TestClient, documents: list[str]) -> None:
    """A failure is no relevance of 0."""
    reply = shared.post("/v1/rerank", json={"query": QUERY, "documents": documents})
    assert reply.status_code == 400
    assert "documents" in reply.json()["error"]["message"]


@pytest.mark.parametrize(("path", "field"), [("/v1/rerank", "documents"), ("/v1/embeddings", "input")])
def test_texts_are_taken_up_to_so_many_characters(shared: TestClient, path: str, field: str) -> None:
    """All of them together; the answer says how many."""
    reply = shared.post(path, json={"query": QUERY, field: ["bridge " * 20_000] * 2})
    assert reply.status_code == 413
    assert "at most 200,000" in reply.json()["error"]["message"]
    assert shared.post(path, json={"query": QUERY, field: ["bridge " * 20_000]}).status_code == 200


def test_embeddings_are_the_embedders_own_in_both_encodings(shared: TestClient) -> None:
    """One text or many, in order, whatever model is asked for; the one that answered is named."""
    wanted, texts = Static().embed(TEXTS * 30), TEXTS * 30
    whole = shared.post("/v1/embeddings", json={"model": "surefoot-embed", "input": texts}).json()
    assert [one["index"] for one in whole["data"]] == [*range(90)]
    assert np.allclose([one["embedding"] for one in whole["data"]], wanted)
    assert whole["model"] == Static().name
    packed = {"input": TEXTS[1], "encoding_format": "base64", "dimensions": 256}
    (only,) = shared.post("/v1/embeddings", json=packed).json()["data"]
    assert np.allclose(np.frombuffer(base64.b64decode(only["embedding"]), "<f4"), wanted[1])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"input": [1, 2, 3]}, "`input` holds tokens, whose numbers mean nothing here; send texts"),
        ({"input": [[1, 2], [3]]}, "`input` holds tokens"),
        ({"input": "bridge", "dimensions": 64}, "`dimensions` must be 256, which the embedder has; or leave it out"),
        ({"input": ["bridge", " "]}, "`input[1]` holds no text"),
        ({"input": ""}, "`input[0]` holds no text"),
        ({"input": []}, "input"),
        ({"input": "bridge", "encoding_format": "int8"}, "encoding_format"),
    ],
)
def test_what_cannot_be_embedded_is_refused_with_its_reason(
    shared: TestClient, body: dict[str, Any], message: str
) -> None:
    reply = shared.post("/v1/embeddings", json=body)
    assert reply.status_code == 400
    assert message in reply.json()["error"]["message"]


def test_embeddings_wait_for_a_place_as_questions_do(own: Service, slow: Slow) -> None:
    """Two places are taken: the next one is told to come again."""
    with TestClient(create_app(own), base_url="http://localhost:8710") as client:
        tickets = [own.workers.start(lambda stop: stop.wait(20)) for _ in range(2)]
        try:
            reply = client.post("/v1/embeddings", json={"input": "bridge"})
            assert (reply.status_code, reply.headers["retry-after"]) == (429, "5")
        finally:
            for ticket in tickets:
                ticket.cancel()
