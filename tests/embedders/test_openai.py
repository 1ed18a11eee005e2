"""Vectors from an endpoint, against one on loopback."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from endpoint import Endpoint, listening
from faults import PLANTED, faults
from surefoot.contracts import verify
from surefoot.embedders.hashing import Hashing
from surefoot.embedders.openai import OpenAIEmbedder
from surefoot.evaluators.cosine import Cosine
from surefoot.types import Passage
from surefoot.types.errors import EndpointError


class Server(Endpoint):
    """An endpoint that embeds."""

    def embedder(self, say: Callable[[list[str]], Any] | None = None, **options: Any) -> OpenAIEmbedder:
        if say:
            self.say = lambda asked: say(asked["input"])
        return OpenAIEmbedder("larrow-embed", self.url, retries=0, **options)


def whole(rows: Any) -> dict[str, Any]:
    return {"data": [{"index": n, "embedding": [float(x) for x in row]} for n, row in enumerate(rows)]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """With vectors three times too long, and a key in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", f"a-very-{PLANTED}-secret-key")
    with listening(Server(lambda asked: whole(Hashing().embed(asked["input"]) * 3))) as server:
        yield server


def test_it_keeps_the_contract(server: Server) -> None:
    """With an endpoint whose vectors depend on their text alone; they are three times too long."""
    verify("embedder", server.embedder())


def test_model_texts_and_key_are_sent(server: Server) -> None:
    """To `/embeddings`; the first request, and no other, asks for the length of a vector."""
    embedder = server.embedder(lambda texts: whole([[3.0, 4.0]] * len(texts)))
    assert (embedder.dimensions, embedder.dimensions) == (2, 2)
    assert embedder.embed(["a bridge"]).tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]
    first, asked = server.asked
    assert first["input"] == ["dimensions"]
    sent = {"path": "/v1/embeddings", "key": f"Bearer a-very-{PLANTED}-secret-key", "model": "larrow-embed"}
    assert asked == {**sent, "input": ["a bridge"]}


def test_texts_are_sent_in_batches_and_blank_ones_not_at_all(server: Server) -> None:
    """Many endpoints refuse an empty text; its row is 0, as that of a text without a known word."""
    rows = server.embedder(batch=2).embed(["one", "", "two", " \n", "three"])
    assert [asked["input"] for asked in server.asked[1:]] == [["one", "two"], ["three"]]
    np.testing.assert_allclose(rows, Hashing().embed(["one", "", "two", "", "three"]), atol=1e-6)


def test_questions_and_passages_have_prefixes_of_their_own(server: Server) -> None:
    """As e5 was trained; an evaluator by likeness asks for each."""
    embedder = server.embedder(query_prefix="query: ", passage_prefix="passage: ")
    Cosine(embedder).grade([("who", Passage("1", "iron"))])
    assert [asked["input"] for asked in server.asked[1:]] == [["passage: iron"], ["query: who"]]


def test_its_name_changes_with_the_vectors_and_not_with_the_address() -> None:
    """An index is searched by the same model, wherever that runs."""
    here, there = (OpenAIEmbedder("m", f"http://{host}/v1") for host in ("127.0.0.1:1", "127.0.0.1:2"))
    assert here.name == there.name
    others = [OpenAIEmbedder("n"), OpenAIEmbedder("m", query_prefix="q: "), OpenAIEmbedder("m", passage_prefix="q: ")]
    assert len({here.name, *(other.name for other in others)}) == 4
    assert here.name.startswith("openai:m-")


def test_rows_stand_in_the_order_of_the_texts(server: Server) -> None:
    """Whatever order the endpoint sends them in."""

    def backwards(texts: list[str]) -> Any:
        return {"data": whole(Hashing().embed(texts))["data"][::-1]}

    found = server.embedder(backwards).embed(["iron", "cheese"])
    np.testing.assert_allclose(found, Hashing().embed(["iron", "cheese"]), atol=1e-6)


ROW = {"index": 0, "embedding": [1.0]}


@pytest.mark.parametrize(
    "sent",
    [
        {},
        [],
        None,
        {"data": []},
        {"data": [1]},
        {"data": [ROW, ROW]},
        {"data": [{**ROW, "index": 1}]},
        {"data": [{**ROW, "index": True}]},
        {"data": [{**ROW, "index": [0]}]},
        {"data": [{"index": 0}]},
        {"data": [{"embedding": []}]},
        {"data": [{"embedding": ["1.0"]}]},
        {"data": [{"embedding": [None]}]},
        {"data": [{"embedding": [True]}]},
        {"data": [{"embedding": [10**400]}]},
        {"data": [{"embedding": [1e300]}]},
        {"data": [{"embedding": "AACAPw=="}]},
    ],
    ids=lambda sent: json.dumps(sent)[:40],
)
def test_what_is_no_vector_for_each_text_is_refused(server: Server, sent: Any) -> None:
    """Never taken for one, and never a traceback."""
    with pytest.raises(EndpointError, match="sent no vector for each of 1 texts"):
        server.embedder(lambda _: sent).embed(["a"])


def test_a_faulty_endpoint_is_named() -> None:
    """As one of a language model is."""
    with faults() as broken, pytest.raises(EndpointError, match="check base_url and the model's name, m"):
        OpenAIEmbedder("m", f"{broken.url}/status/404", retries=0).embed(["a"])
