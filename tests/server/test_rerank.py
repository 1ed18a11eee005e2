"""`/v1/rerank`, as rerankers are called."""

import pytest
from starlette.testclient import TestClient

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


@pytest.mark.parametrize("documents", [[], [" "], ["x"] * 1001])
def test_documents_that_cannot_be_graded_are_refused(shared: TestClient, documents: list[str]) -> None:
    """A failure is no relevance of 0."""
    reply = shared.post("/v1/rerank", json={"query": QUERY, "documents": documents})
    assert reply.status_code == 400
    assert "documents" in reply.json()["error"]["message"]


def test_texts_are_graded_up_to_so_many_characters(shared: TestClient) -> None:
    """All of them together; the answer says how many."""
    reply = shared.post("/v1/rerank", json={"query": QUERY, "documents": ["bridge " * 20_000] * 2})
    assert reply.status_code == 413
    assert "at most 200,000" in reply.json()["error"]["message"]
    assert shared.post("/v1/rerank", json={"query": QUERY, "documents": ["bridge " * 20_000]}).status_code == 200
