"""Which model words an answer: the operator offers some, and a question may name one of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from endpoint import Endpoint, writing
from server.conftest import BRIDGE, PARTS, events, upload
from surefoot.config.settings import models, read
from surefoot.models import registry
from surefoot.server.app import create_app
from surefoot.server.chat_completions import WITHDRAWN, continued
from surefoot.server.service import ServerSettings, assembled
from surefoot.types import NOT_THERE, Answer, Trace

WHO = {"question": "Who built the Ruvel Bridge?"}
SAYS = "Tomas Aldwin built the Ruvel Bridge [1]. It was painted green in 1950 [1]. It was built in 1911 [1]."
CHECKED = "Tomas Aldwin built the Ruvel Bridge. [1]"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with writing(SAYS) as found:
        yield found


@pytest.fixture
def worded(tmp_path: Path, settings: ServerSettings, endpoint: Endpoint) -> Iterator[TestClient]:
    """A server that quotes, unless a question names the model that is configured beside that."""
    llm = {"use": "openai", "base_url": endpoint.url, "model": "org/tiny"}
    index, network = {"path": str(tmp_path / "index.db")}, {"cache": ""}
    strict = {"upper": 9.0, "lower": -9.0}  # no quotation is sure enough to take the place of hedged words
    config = read(
        {"index": index, "network": network, **PARTS, "llm": llm, "verifier": "lexical", "thresholds": strict}
    )
    with TestClient(create_app(assembled(settings, config)), base_url="http://localhost:8710") as client:
        upload(client, {"bridge.md": BRIDGE})
        yield client


def test_a_question_names_the_model_that_words_its_answer(worded: TestClient, endpoint: Endpoint) -> None:
    """Only for that question; the usual one quotes, and asks nobody."""
    assert worded.get("/models").json() == {"models": ["none", "org/tiny"]}
    answers = [
        worded.post("/ask", json={**WHO, "model": model}).json()["answer"] for model in (None, "org/tiny", "none")
    ]
    assert [answer["text"].count(CHECKED) for answer in answers] == [0, 1, 0]
    assert answers[0] == answers[2]
    assert [asked["model"] for asked in endpoint.asked] == ["org/tiny"]


@pytest.mark.parametrize("model", ["http://127.0.0.1:1/v1", "gpt-4.1", "/etc/passwd.gguf", "local"])
def test_a_question_names_nothing_that_was_not_offered(worded: TestClient, endpoint: Endpoint, model: str) -> None:
    """No address, no file, and no model that would have to be fetched."""
    reply = worded.post("/ask", json={**WHO, "model": model})
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")
    chat = {"model": f"surefoot-default+{model}", "messages": [{"role": "user", "content": WHO["question"]}]}
    assert worded.post("/v1/chat/completions", json=chat).json()["error"]["code"] == "model_not_found"
    assert endpoint.asked == []


@pytest.mark.parametrize("address", ["/v1/chat/completions", "/v1/responses"])
def test_a_chat_client_finds_each_model_behind_its_collection(
    worded: TestClient, endpoint: Endpoint, address: str
) -> None:
    """In the list of models, under a name that can be asked for."""
    names = [one["id"] for one in worded.get("/v1/models").json()["data"]]
    ends = ["", "+sources", "+org/tiny", "+org/tiny+sources"]
    assert names == [f"surefoot-default{end}" for end in ends]
    assert [worded.get(f"/v1/models/{name}").json()["id"] for name in names] == names
    messages = [{"role": "user", "content": WHO["question"]}]
    reply = worded.post(address, json={"model": names[2], "messages": messages, "input": WHO["question"]})
    assert reply.json()["model"] == names[2]
    assert len(endpoint.asked) == 1


def test_the_usual_model_is_the_one_that_is_configured_or_was_pulled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pulled ones and the quoting reader follow; a file goes by its name, without the path."""
    pulled: set[str] = set()
    monkeypatch.setattr(registry, "has", lambda name: name in pulled)
    monkeypatch.setattr("surefoot.config.settings.find_spec", lambda name: name)
    assert [*models(read({}))] == ["none"]
    pulled.add(registry.RECOMMENDED)
    assert [*models(read({}))] == [registry.RECOMMENDED, "none"]
    own = read({"llm": {"use": "local", "model": "/home/ann/own.gguf"}})
    assert [*models(own)] == ["own", registry.RECOMMENDED, "none"]
    assert [*models(read(own, {"generator": "extractive"}))] == ["none", registry.RECOMMENDED, "own"]


def test_sentences_come_as_they_are_checked(worded: TestClient) -> None:
    """The page is sent what the final answer replaces; a chat client, which cannot replace it, the hedge at the end."""
    named = {**WHO, "model": "org/tiny"}
    found = events(worded.post("/ask", json=named, headers={"Accept": "text/event-stream"}).text)
    text = "".join(data["value"] for name, data in found if name == "text")
    (answer,) = (data["value"] for name, data in found if name == "answer")
    hedge = answer["hedge"]
    assert text.startswith(CHECKED)
    assert NOT_THERE in text
    assert answer["text"].startswith(f"{hedge}\n\n{text}")
    messages = [{"role": "user", "content": WHO["question"]}]
    body = {"model": "surefoot-default+org/tiny", "messages": messages, "stream": True}
    deltas = [
        data["choices"][0]["delta"] for _, data in events(worded.post("/v1/chat/completions", json=body).text)[:-1]
    ]
    sent = "".join(delta.get("content", "") for delta in deltas)
    assert sent == answer["text"].removeprefix(hedge).lstrip() + f"\n\n{hedge}"
    cited = next(delta["annotations"] for delta in deltas if "annotations" in delta)[0]["url_citation"]
    assert sent[cited["start_index"] : cited["end_index"]] == "[1]"
    body = {"model": body["model"], "input": WHO["question"], "stream": True}
    happened = events(worded.post("/v1/responses", json=body).text)
    deltas = [data["delta"] for name, data in happened if name == "response.output_text.delta"]
    assert (deltas[0].strip(), "".join(deltas)) == (CHECKED, sent)
    assert happened[0][1]["response"]["id"] == happened[-1][1]["response"]["id"]
    (text,) = (data["text"] for name, data in happened if name == "response.output_text.done")
    assert text == sent


@pytest.mark.parametrize(
    ("sent", "text", "whole"),
    [
        ("", "So.", "So."),
        ("So.", "So. And so.", "So. And so."),
        ("So.", "Unsure.\n\nSo. And so.", "So. And so.\n\nUnsure."),
        ("So.", "No.", f"So.\n\n{WITHDRAWN}\n\nNo."),
    ],
)
def test_a_text_that_was_sent_goes_on_to_the_answer(sent: str, text: str, whole: str) -> None:
    """Where a model fails in the middle another answer follows, and says so."""
    hedge = "Unsure." if text.startswith("Unsure.") else ""
    answer = continued(Trace("1", "Who?", answer=Answer(text, hedge=hedge)), sent).answer
    assert answer
    assert answer.text == whole
