"""Other people's clients of OpenAI's interface, unchanged, against a server on a real socket."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from server.conftest import events, listening
from surefoot.server.app import keys_of
from surefoot.server.service import Service

MODEL = "surefoot-default"
QUESTION = "Who built the Ruvel Bridge?"
MESSAGES = [{"role": "user", "content": QUESTION}]
RESULTS = ["file_search_call.results"]

library = pytest.importorskip("openai", reason="not installed")


def client(address: str, key: str = "none") -> Any:
    return library.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0)


@pytest.fixture
def openai(live: str) -> Iterator[Any]:
    """OpenAI's client of a server that needs no key."""
    with client(live) as found:
        yield found


def test_a_completion_cites_the_places_that_its_marks_open(openai: Any, live: str) -> None:
    """The stream brings the same text, annotations and tokens, and so do the client's own helpers."""
    reply = openai.chat.completions.create(model=MODEL, messages=MESSAGES)
    whole = reply.choices[0].message
    assert "Tomas Aldwin" in whole.content
    cited = whole.annotations[0].url_citation
    assert whole.content[cited.start_index : cited.end_index] == "[1]"
    assert cited.url.startswith(f"{live}/?collection=default&passage=")
    assert (reply.choices[0].finish_reason, reply.usage.total_tokens) == ("stop", 0)
    options = {"stream": True, "stream_options": {"include_usage": True}}
    chunks = list(openai.chat.completions.create(model=MODEL, messages=MESSAGES, **options))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == whole.content
    (noted,) = [delta.annotations for delta in deltas if getattr(delta, "annotations", None)]
    assert [one["url_citation"]["title"] for one in noted] == [one.url_citation.title for one in whole.annotations]
    assert chunks[-1].usage.total_tokens == 0
    with openai.chat.completions.stream(model=MODEL, messages=MESSAGES) as stream:
        assert stream.until_done().get_final_completion().choices[0].message.content == whole.content


def test_a_response_keeps_citations_and_passages(openai: Any) -> None:
    """A search with its results, then a message whose citation names one of them; streamed just so."""
    reply = openai.responses.create(model=MODEL, input=QUESTION, include=RESULTS)
    search, message = reply.output
    assert "Tomas Aldwin" in reply.output_text
    assert search.results[0].attributes["label"] in ("correct", "ambiguous", "incorrect")
    (part,) = message.content
    assert part.annotations[0].type == "file_citation"
    assert part.annotations[0].file_id in {result.file_id for result in search.results}
    with openai.responses.stream(model=MODEL, input=QUESTION) as stream:
        seen = {one.type for one in stream}
        assert stream.get_final_response().output_text == reply.output_text
    assert {"response.created", "response.output_text.delta", "response.completed"} <= seen


def test_a_response_goes_on_from_an_earlier_one(openai: Any) -> None:
    """By its id alone; one that nobody gave is a 404. A model is described by its name."""
    assert openai.models.retrieve(MODEL).owned_by == "surefoot"
    first = openai.responses.create(model=MODEL, input=QUESTION)
    second = openai.responses.create(model=MODEL, input="And the Larrow Hut?", previous_response_id=first.id)
    assert "Josef Keller" in second.output_text
    with pytest.raises(library.NotFoundError):
        openai.responses.create(model=MODEL, input=QUESTION, previous_response_id="resp_000000000000")


def test_errors_are_those_that_the_client_knows(own: Service) -> None:
    """400, 401, 404, and 429 with the time to come again where all places are taken."""
    key = keys_of(own.settings).add("ann", ["default"])
    with listening(own) as address:
        with client(address, "sf-wrong") as openai, pytest.raises(library.AuthenticationError, match="needs a key"):
            openai.models.list()
        with client(address, key) as openai:
            with pytest.raises(library.BadRequestError, match="no user message"):
                openai.chat.completions.create(model=MODEL, messages=[{"role": "system", "content": "Be brief."}])
            with pytest.raises(library.NotFoundError, match="no such model") as caught:
                openai.chat.completions.create(model="gpt-4o", messages=MESSAGES)
            assert caught.value.code == "model_not_found"
            tickets = [own.workers.start(lambda stop: stop.wait(120)) for _ in range(2)]
            with pytest.raises(library.RateLimitError, match="come again in") as busy:
                openai.chat.completions.create(model=MODEL, messages=MESSAGES)
            assert int(busy.value.response.headers["retry-after"]) >= 1
            for ticket in tickets:
                ticket.cancel()


@pytest.mark.filterwarnings("ignore")  # of their own libraries
def test_langchain_s_chat_model_invokes_and_streams(live: str) -> None:
    """Over responses it keeps the citations."""
    chat = pytest.importorskip("langchain_openai", reason="not installed").ChatOpenAI
    options = {"model": MODEL, "base_url": f"{live}/v1", "api_key": "none", "max_retries": 0}
    whole = chat(**options).invoke(QUESTION)
    assert "Tomas Aldwin" in whole.content
    assert "".join(chunk.content for chunk in chat(**options).stream(QUESTION)) == whole.content
    message = chat(**options, use_responses_api=True).invoke(QUESTION)
    (text,) = [block for block in message.content if block["type"] == "text"]
    assert (text["text"], text["annotations"][0]["filename"]) == (whole.content, "Ruvel Bridge")


@pytest.mark.filterwarnings("ignore")  # of their own libraries
def test_haystack_s_chat_generator_streams(live: str) -> None:
    generators = pytest.importorskip("haystack.components.generators.chat", reason="not installed")
    from haystack.dataclasses import ChatMessage
    from haystack.utils import Secret

    pieces: list[str] = []
    options = {"model": MODEL, "api_base_url": f"{live}/v1", "api_key": Secret.from_token("none"), "max_retries": 0}
    generator = generators.OpenAIChatGenerator(**options, streaming_callback=lambda one: pieces.append(one.content))
    (reply,) = generator.run([ChatMessage.from_user(QUESTION)])["replies"]
    assert "Tomas Aldwin" in reply.text == "".join(pieces)


def test_every_event_of_a_response_is_numbered(shared: TestClient) -> None:
    """From 0, without a gap; its name is its type."""
    body = {"model": MODEL, "input": MESSAGES, "stream": True}
    found = events(shared.post("/v1/responses", json=body).text)
    assert [data["sequence_number"] for _, data in found] == list(range(len(found)))
    assert all(name == data["type"] for name, data in found)
