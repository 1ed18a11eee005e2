"""Relevance from a server's `/rerank`, against one on loopback."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from endpoint import Endpoint, Say, listening
from faults import PLANTED, faults
from surefoot.contracts import PASSAGES, QUESTION, verify
from surefoot.evaluators.rerank import Rerank
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, EndpointError

FITTED = {"upper": 0.7, "lower": 0.2, "strip": 0.2}


def by_words(asked: dict[str, Any]) -> Any:
    """The share of the question's words that a text has, the best first, as a server sends it."""
    words = set(asked["query"].split())
    scores = [len(words & set(text.split())) / (len(words) or 1) for text in asked["documents"]]
    results = [{"index": n, "relevance_score": score} for n, score in enumerate(scores)]
    return {"id": "1", "results": sorted(results, key=lambda one: -one["relevance_score"])[: asked["top_n"]]}


class Server(Endpoint):
    """An endpoint that scores."""

    def reranker(self, say: Say = by_words, **options: Any) -> Rerank:
        self.say = say
        return Rerank("larrow-rank", self.url, **{"fitted": FITTED, "retries": 0, **options})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """With a key in the environment."""
    monkeypatch.setenv("RERANK_API_KEY", f"a-very-{PLANTED}-secret-key")
    with listening(Server(by_words)) as server:
        yield server


def test_it_keeps_the_contract(server: Server) -> None:
    """With a server whose scores depend on the pair alone."""
    verify("evaluator", server.reranker())


def test_question_texts_and_key_are_sent_in_the_shape_of_rerankers(server: Server) -> None:
    """The title before the text; all scores are asked for."""
    server.reranker().grade([(QUESTION, PASSAGES[1]), (QUESTION, Passage("x", "iron"))])
    documents = [f"{PASSAGES[1].title}\n{PASSAGES[1].text}", "iron"]
    sent = {"path": "/v1/rerank", "key": f"Bearer a-very-{PLANTED}-secret-key", "model": "larrow-rank"}
    assert server.asked == [{**sent, "query": QUESTION, "documents": documents, "top_n": 2}]


def test_a_score_goes_to_the_passage_that_it_is_about(server: Server) -> None:
    """Though the server sends the best first, and batches are apart."""
    pairs = [("iron bridge", Passage(text, text)) for text in ("hut", "iron", "iron bridge")]
    pairs += [("hut", Passage("again", "hut"))]
    assert [g.score for g in server.reranker(batch=2).grade(pairs)] == [0.0, 0.5, 1.0, 1.0]
    assert [len(asked["documents"]) for asked in server.asked] == [2, 1, 1]


def test_without_thresholds_it_orders_and_decides_nothing(server: Server) -> None:
    """What range its scores have nobody knows."""
    bare = server.reranker(fitted=None)
    assert bare.grade([("iron", Passage("1", "iron"))])[0].score == 1.0
    with pytest.raises(ConfigError, match="rerank:larrow-rank"):
        bare.thresholds  # noqa: B018


@pytest.mark.parametrize(
    "sent",
    [
        {},
        [],
        None,
        {"results": None},
        {"results": []},
        {"results": [1]},
        {"results": [{"index": 0}]},
        {"results": [{"index": 1, "relevance_score": 1}]},
        {"results": [{"index": True, "relevance_score": 1}]},
        {"results": [{"index": [0], "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": "1"}]},
        {"results": [{"index": 0, "relevance_score": True}]},
        {"results": [{"index": 0, "relevance_score": 10**400}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": 1}]},
    ],
    ids=lambda sent: json.dumps(sent)[:60],
)
def test_what_is_no_score_for_each_text_is_refused(server: Server, sent: Any) -> None:
    """A missing one is not 0."""
    with pytest.raises(EndpointError, match="sent no score for each of 1 texts"):
        server.reranker(lambda _: sent).grade([("iron", Passage("1", "iron"))])


def test_a_faulty_server_is_named() -> None:
    """As one of a language model is."""
    with faults() as broken, pytest.raises(EndpointError, match="check the key in the environment variable RERANK_API"):
        Rerank("m", f"{broken.url}/status/401", retries=0).grade([("iron", Passage("1", "iron"))])
