"""Other people's clients, unchanged, against a server on a real socket."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from server.conftest import listening
from surefoot.server.app import keys_of
from surefoot.server.service import Service

MODEL = "surefoot-default"
QUESTION = "Who built the Ruvel Bridge?"
ASKED = [{"role": "user", "content": QUESTION}]


def client(address: str, key: str = "none", **options: Any) -> Any:
    """OpenAI's."""
    library = pytest.importorskip("openai", reason="not installed")
    return library.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0, **options)


def test_openai_asks_streams_and_uses_its_helpers(live: str) -> None:
    """The same text each time, over chat completions and over responses."""
    with client(live) as openai:
        whole = openai.chat.completions.create(model=MODEL, messages=ASKED).choices[0].message.content
        assert "Tomas Aldwin" in whole
        chunks = openai.chat.completions.create(model=MODEL, messages=ASKED, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole
        with openai.chat.completions.stream(model=MODEL, messages=ASKED) as stream:
            assert stream.until_done().get_final_completion().choices[0].message.content == whole
        assert openai.responses.create(model=MODEL, input=QUESTION).output_text == whole
        with openai.responses.stream(model=MODEL, input=QUESTION) as stream:
            assert stream.get_final_response().output_text == whole


def test_openai_s_asynchronous_client_runs_too(live: str) -> None:
    """As web servers use it."""
    library = pytest.importorskip("openai", reason="not installed")

    async def asked() -> str:
        async with library.AsyncOpenAI(base_url=f"{live}/v1", api_key="none") as openai:
            reply = await openai.chat.completions.create(model=MODEL, messages=ASKED)
            return str(reply.choices[0].message.content)

    assert "Tomas Aldwin" in asyncio.run(asked())


def test_a_kept_response_is_given_again_until_it_is_deleted(live: str) -> None:
    """As it was, also with its sources behind it; what is not to be kept is not."""
    library = pytest.importorskip("openai", reason="not installed")
    with client(live) as openai:
        for model in (MODEL, f"{MODEL}+sources"):
            made = openai.responses.create(model=model, input=QUESTION, include=["file_search_call.results"])
            again = openai.responses.retrieve(made.id, include=["file_search_call.results"])
            assert again.to_dict() == made.to_dict()
            assert openai.responses.retrieve(made.id).output[0].results is None
            openai.responses.delete(made.id)
            with pytest.raises(library.NotFoundError):
                openai.responses.retrieve(made.id)
        passing = openai.responses.create(model=MODEL, input=QUESTION, store=False)
        assert passing.store is False
        for missing in (passing.id, "resp_x"):
            with pytest.raises(library.NotFoundError):
                openai.responses.create(model=MODEL, input=QUESTION, previous_response_id=missing)
        with pytest.raises(library.BadRequestError, match="leave `stream` out"):
            openai.responses.retrieve(made.id, stream=True)


def test_errors_are_those_that_openai_s_client_knows(own: Service) -> None:
    """401 without the right key, 404 for a model, 429 with the time to come again where all places are taken."""
    library = pytest.importorskip("openai", reason="not installed")
    key = keys_of(own.settings).add("ann", ["default"])
    with listening(own) as address:
        with client(address, "sf-wrong") as openai, pytest.raises(library.AuthenticationError, match="needs a key"):
            openai.models.list()
        with client(address, key) as openai:
            with pytest.raises(library.NotFoundError, match="no such model"):
                openai.chat.completions.create(model="gpt-4o", messages=ASKED)
            places = [own.workers.start(lambda stop: stop.wait(120)) for _ in range(2)]
            with pytest.raises(library.RateLimitError, match="come again in") as caught:
                openai.chat.completions.create(model=MODEL, messages=ASKED)
            assert int(caught.value.response.headers["retry-after"]) >= 1
            for place in places:
                place.cancel()


@pytest.mark.filterwarnings("ignore")  # of their own libraries
def test_langchain_s_chat_model_invokes_and_streams(live: str) -> None:
    """Over responses it keeps the citations."""
    library = pytest.importorskip("langchain_openai", reason="not installed")
    model = library.ChatOpenAI(model=MODEL, base_url=f"{live}/v1", api_key="none", max_retries=0)
    whole = model.invoke(QUESTION)
    assert "Tomas Aldwin" in whole.content
    assert "".join(chunk.content for chunk in model.stream(QUESTION)) == whole.content
    assert asyncio.run(model.ainvoke(QUESTION)).content == whole.content
    cited = library.ChatOpenAI(model=MODEL, base_url=f"{live}/v1", api_key="none", use_responses_api=True)
    for message in (cited.invoke(QUESTION), _joined(cited.stream(QUESTION))):
        (text,) = [block for block in message.content if block["type"] == "text"]
        assert text["text"] == whole.content
        assert text["annotations"][0]["filename"] == "Ruvel Bridge"


def _joined(chunks: Any) -> Any:
    whole = None
    for chunk in chunks:
        whole = chunk if whole is None else whole + chunk
    return whole


@pytest.mark.filterwarnings("ignore")  # of their own libraries
def test_haystack_s_chat_generator_runs_and_streams(live: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reply, and the same in pieces."""
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    generators = pytest.importorskip("haystack.components.generators.chat", reason="not installed")
    from haystack.dataclasses import ChatMessage
    from haystack.utils import Secret

    pieces: list[str] = []
    options = {"model": MODEL, "api_base_url": f"{live}/v1", "api_key": Secret.from_token("none"), "max_retries": 0}
    asked = [ChatMessage.from_user(QUESTION)]
    (whole,) = generators.OpenAIChatGenerator(**options).run(asked)["replies"]
    assert "Tomas Aldwin" in whole.text
    streaming = generators.OpenAIChatGenerator(**options, streaming_callback=lambda one: pieces.append(one.content))
    (again,) = streaming.run(asked)["replies"]
    assert again.text == "".join(pieces) == whole.text
