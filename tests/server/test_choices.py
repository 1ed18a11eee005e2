"""Where a question is looked up outside, and from which certainty on its answer is given plainly."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from server.conftest import BRIDGE, PARTS, events, upload
from surefoot.config.settings import read
from surefoot.searchers.nowhere import Nowhere
from surefoot.server.app import create_app
from surefoot.server.choices import choices, plain_from, public_choices
from surefoot.server.service import ServerSettings, assembled

WHO = {"question": "Who built the Ruvel Bridge?"}
CHAIN = {"use": "chain", "searchers": [{"use": "wikipedia", "language": "de"}, "nowhere"]}


@pytest.fixture
def client(tmp_path: Path, settings: ServerSettings) -> Iterator[TestClient]:
    """A server with a searcher that is refused every connection."""
    index, network = {"path": str(tmp_path / "index.db")}, {"cache": "", "allow": []}
    config = read({"index": index, "network": network, **PARTS, "searcher": CHAIN})
    with TestClient(create_app(assembled(settings, config)), base_url="http://localhost:8710") as found:
        upload(found, {"bridge.md": BRIDGE})
        yield found


def test_a_question_chooses_among_what_the_configuration_names(client: TestClient) -> None:
    """Its trace says so, with nothing else of the configuration; a question that chooses nothing has the usual."""
    usual = "chain:wikipedia+nowhere"
    risks = {"likely": 0.15, "sure": 0.1, "unsure": 0.33}
    offered = {"searchers": [usual, "wikipedia", "nowhere"], "certainties": risks}
    assert client.get("/settings").json() == offered
    own = {"searcher": "wikipedia", "certainty": "sure"}
    assert client.post("/ask", json={**WHO, **own}).json()["config"] == {
        "searcher": {"use": "wikipedia"},
        "answer": {"risk": 0.1},
    }
    for same in ({}, {"searcher": usual, "certainty": "likely"}):
        found = client.post("/ask", json={**WHO, **same}).json()
        assert found["config"] == {"searcher": {"use": "chain"}, "answer": {"risk": 0.15}}
    assert client.get(f"/traces/{found['id']}").json()["config"] == found["config"]


def test_a_listener_is_told_the_choices_first(client: TestClient) -> None:
    """Before anything is found."""
    own = {"searcher": "nowhere", "certainty": "unsure"}
    reply = client.post("/ask", json={**WHO, **own}, headers={"Accept": "text/event-stream"})
    name, data = events(reply.text)[0]
    assert (name, data["value"]["config"]) == ("begin", {"searcher": {"use": "nowhere"}, "answer": {"risk": 0.33}})


@pytest.mark.parametrize("choice", [{"searcher": "tavily"}, {"searcher": "a.b:C"}, {"certainty": "none"}])
def test_nothing_can_be_chosen_that_was_not_offered(client: TestClient, choice: dict[str, str]) -> None:
    reply = client.post("/ask", json={**WHO, **choice})
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")


def test_a_search_that_is_off_asks_nobody(client: TestClient) -> None:
    """Where the usual one would ask."""
    unknown = {"question": "Who painted the ceiling of the harbour office?"}
    asked = [client.post("/ask", json={**unknown, "searcher": name}).json() for name in ("wikipedia", "nowhere")]
    errors = [[step["error"] for step in trace["steps"] if step["name"] == "search"] for trace in asked]
    assert [any(one) for one in errors] == [True, False]


@pytest.mark.parametrize(
    ("answer", "offered"),
    [
        ({}, {"likely": 0.15, "sure": 0.1, "unsure": 0.33}),
        ({"risk": 0.2}, {"likely": 0.2, "sure": 0.1}),
        ({"risk": 0.05}, {"sure": 0.05}),
    ],
)
def test_a_risk_that_the_configuration_names_is_the_highest(
    answer: dict[str, float], offered: dict[str, float]
) -> None:
    """A question may only be stricter."""
    found = choices(Nowhere(), read({"answer": answer}))
    assert [*found.certainties.items()] == [*offered.items()]
    assert [*found.searchers] == ["nowhere"]


def test_a_client_sees_no_more_of_a_configuration_than_the_choices() -> None:
    """No class of the operator's own, and nothing of a trace without a configuration."""
    assert public_choices({}) == {}
    own = {"searcher": {"use": "mine.secret:Searcher"}, "answer": {"risk": 0.5}, "llm": {"base_url": "http://inside"}}
    assert public_choices(own) == {"answer": {"risk": 0.5}}
    assert [plain_from(risk) for risk in (0.1, 0.15, 0.33)] == ["sure", "likely", "unsure"]
