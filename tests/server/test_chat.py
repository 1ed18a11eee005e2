"""`/v1/chat/completions` and `/v1/models`, as chat clients use them."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

ASKED = [{"role": "user", "content": "Who built the Ruvel Bridge?"}]
MODEL = "surefoot-default"


@pytest.fixture(scope="session")
def openai(shared: TestClient) -> Any:
    """OpenAI's own client, inside this process."""
    library = pytest.importorskip("openai", reason="not installed")
    return library.OpenAI(base_url="http://localhost:8710/v1", api_key="none", http_client=shared, max_retries=0)


def test_the_client_creates_a_completion(openai: Any) -> None:
    """The answer, where its marks stand in it, what they open, and the tokens."""
    reply = openai.chat.completions.create(model=MODEL, messages=ASKED)
    message = reply.choices[0].message
    assert "Tomas Aldwin" in message.content
    cited = message.annotations[0].url_citation
    assert message.content[cited.start_index : cited.end_index] == "[1]"
    assert cited.url.startswith("http://localhost:8710/?collection=default&passage=")
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage.total_tokens == 0


def test_a_stream_brings_the_same_text_citations_and_tokens(openai: Any) -> None:
    """As it is in the history afterwards."""
    whole = openai.chat.completions.create(model=MODEL, messages=ASKED).choices[0].message
    chunks = list(
        openai.chat.completions.create(model=MODEL, messages=ASKED, stream=True, stream_options={"include_usage": True})
    )
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == whole.content
    told = [delta.annotations for delta in deltas if getattr(delta, "annotations", None)]
    placed = [(one["url_citation"]["start_index"], one["url_citation"]["title"]) for one in told[0]]
    assert placed == [(one.url_citation.start_index, one.url_citation.title) for one in whole.annotations]
    assert chunks[-1].usage.total_tokens == 0


def test_the_streaming_helper_runs(openai: Any) -> None:
    """`.stream()` puts the pieces together itself."""
    with openai.chat.completions.stream(model=MODEL, messages=ASKED) as stream:
        final = stream.get_final_completion()
    assert "Tomas Aldwin" in final.choices[0].message.content


def test_errors_are_those_that_the_client_knows(openai: Any) -> None:
    """400 without a user message, 404 for a model that is not there."""
    import openai as library

    with pytest.raises(library.BadRequestError, match="no user message"):
        openai.chat.completions.create(model=MODEL, messages=[{"role": "system", "content": "Be brief."}])
    with pytest.raises(library.NotFoundError) as caught:
        openai.chat.completions.create(model="gpt-4o", messages=ASKED)
    assert caught.value.code == "model_not_found"


def test_models_are_the_collections(openai: Any) -> None:
    """Each with and without the list of sources."""
    assert [model.id for model in openai.models.list()] == [MODEL, f"{MODEL}+sources"]
    assert openai.models.retrieve(MODEL).owned_by == "surefoot"


def test_sources_come_as_markdown_where_they_are_wanted(shared: TestClient) -> None:
    """For clients that show no annotations."""
    body = {"model": f"{MODEL}+sources", "messages": ASKED}
    said = shared.post("/v1/chat/completions", json=body).json()["choices"][0]["message"]["content"]
    assert "**Sources**\n\n- [1] [Ruvel Bridge](http://localhost:8710/?collection=default&passage=" in said


def test_the_last_question_is_completed_from_those_before_it(shared: TestClient) -> None:
    """The client sends the whole conversation each time."""
    talk = [
        *ASKED,
        {"role": "assistant", "content": "Tomas Aldwin."},
        {"role": "user", "content": "And the Larrow Hut?"},
    ]
    reply = shared.post("/v1/chat/completions", json={"model": MODEL, "messages": talk}).json()
    assert "Josef Keller" in reply["choices"][0]["message"]["content"]


def test_a_message_may_come_in_parts_of_text(shared: TestClient) -> None:
    """A part of another kind is a 400 that says so."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": ASKED[0]["content"]}]
    body = {"model": MODEL, "messages": [{"role": "user", "content": parts}]}
    assert shared.post("/v1/chat/completions", json=body).status_code == 200
    parts.append({"type": "image_url", "image_url": {"url": "data:,"}})
    reply = shared.post("/v1/chat/completions", json=body)
    assert reply.status_code == 400
    assert "image_url" in reply.json()["error"]["message"]
