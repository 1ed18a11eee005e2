"""`/v1/responses`, which keeps citations and passages."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from server.conftest import events
from server.test_chat import MODEL, openai  # noqa: F401 - a fixture

QUESTION = "Who built the Ruvel Bridge?"


def test_the_client_creates_a_response_with_citations_and_passages(openai: Any) -> None:  # noqa: F811
    """A search with its results, then a message whose citation names a passage."""
    reply = openai.responses.create(model=MODEL, input=QUESTION, include=["file_search_call.results"])
    search, message = reply.output
    assert "Tomas Aldwin" in reply.output_text
    assert search.type == "file_search_call"
    assert search.results[0].attributes["label"] in ("correct", "ambiguous", "incorrect")
    (part,) = message.content
    assert part.annotations[0].type == "file_citation"
    assert part.annotations[0].file_id in {result.file_id for result in search.results}
    assert reply.usage.total_tokens == 0


def test_the_streaming_helper_ends_with_the_same_response(openai: Any) -> None:  # noqa: F811
    """Its events are numbered without a gap."""
    with openai.responses.stream(model=MODEL, input=QUESTION) as stream:
        seen = list(stream)
        final = stream.get_final_response()
    assert "Tomas Aldwin" in final.output_text
    assert final.output[1].content[0].annotations[0].type == "file_citation"
    assert {"response.created", "response.output_text.delta", "response.completed"} <= {one.type for one in seen}


def test_a_response_goes_on_from_an_earlier_one(openai: Any) -> None:  # noqa: F811
    """By its id alone; one that nobody gave is a 404."""
    import openai as library

    first = openai.responses.create(model=MODEL, input=QUESTION)
    second = openai.responses.create(model=MODEL, input="And the Larrow Hut?", previous_response_id=first.id)
    assert "Josef Keller" in second.output_text
    with pytest.raises(library.NotFoundError):
        openai.responses.create(model=MODEL, input=QUESTION, previous_response_id="resp_000000000000")


def test_every_event_is_numbered(shared: TestClient) -> None:
    """From 0, without a gap; its name is its type."""
    body = {"model": MODEL, "input": [{"role": "user", "content": QUESTION}], "stream": True}
    found = events(shared.post("/v1/responses", json=body).text)
    assert [data["sequence_number"] for _, data in found] == list(range(len(found)))
    assert all(name == data["type"] for name, data in found)
