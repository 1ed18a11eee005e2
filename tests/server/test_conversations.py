"""What the page offers beside answers: conversations with names, questions to begin with, and itself where there is
nothing."""

from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from server.conftest import BRIDGE, HUT, upload
from surefoot.server.service import Service

TABLE = "# Rooms\n\n| Hut | Beds |\n| --- | --- |\n| Larrow | 42 |\n| Kestrel | 17 |\n"


@pytest.fixture
def talks(client: TestClient) -> TestClient:
    """Two conversations, of a question each."""
    upload(client, {"bridge.md": BRIDGE, "hut.md": HUT})
    for id, name in (("talk-bridge", "Ruvel Bridge"), ("talk-hut", "Larrow Hut")):
        client.post("/ask", json={"question": f"Who built the {name}?", "conversation": id})
    return client


def titles(client: TestClient, **query: str) -> list[str]:
    return [line["title"] for line in client.get("/conversations", params=query).json()["conversations"]]


def test_a_conversation_has_the_last_name_that_it_was_given(talks: TestClient) -> None:
    """In the list and opened; its questions are as they were, and go on."""
    for name in ("Bridges", "Bridges of 1911"):
        assert talks.patch("/conversations/talk-bridge", json={"title": name}).status_code == 204
    assert sorted(titles(talks)) == ["Bridges of 1911", "Who built the Larrow Hut?"]
    talks.post("/ask", json={"question": "When?", "conversation": "talk-bridge"})
    opened = talks.get("/conversations/talk-bridge").json()
    assert opened["title"] == "Bridges of 1911"
    assert [turn["question"] for turn in opened["turns"]] == ["Who built the Ruvel Bridge?", "When?"]


@pytest.mark.parametrize(("id", "title", "status"), [("talk-nobody", "x", 404), ("talk-hut", "", 400)])
def test_what_cannot_be_renamed_is_refused(talks: TestClient, id: str, title: str, status: int) -> None:
    """A conversation that is not there; a name of no letters."""
    assert talks.patch(f"/conversations/{id}", json={"title": title}).status_code == status
    assert len(titles(talks)) == 2


@pytest.mark.parametrize("words", ["bridge", "ALDWIN", "crossing"])
def test_conversations_are_found_by_their_names_questions_and_answers(talks: TestClient, words: str) -> None:
    talks.patch("/conversations/talk-bridge", json={"title": "The crossing"})
    assert titles(talks, words=words) == ["The crossing"]
    assert titles(talks, words="nobody wrote this") == []


class Pointing:
    """An evaluator that points at all of a text."""

    returns_spans = True

    def __init__(self, inner: Any) -> None:
        self._inner, self.name = inner, inner.name

    def grade(self, pairs: Any) -> Any:
        graded = self._inner.grade(pairs)
        return tuple(replace(one, span=(0, len(pair[1].text))) for one, pair in zip(graded, pairs, strict=True))


def test_questions_to_begin_with_are_made_of_the_documents_as_they_are(client: TestClient, service: Service) -> None:
    """None where nothing points at the words that answer; others once the documents are others."""
    upload(client, {"rooms.md": TABLE})
    assert client.get("/suggestions").json() == {"suggestions": []}
    own = service.collections.pipeline("default")
    service.collections._pipelines["default"] = replace(own, evaluator=Pointing(own.evaluator))

    def suggested() -> set[str]:
        found = client.get("/suggestions").json()["suggestions"]
        assert {one["file"] for one in found} == {"uploads/rooms.md"}
        return {one["question"] for one in found}

    assert "What is the Beds of “Larrow”?" in suggested()
    upload(client, {"rooms.md": TABLE.replace("Larrow", "Hohrin")})
    assert "What is the Beds of “Hohrin”?" in suggested()


def test_a_browser_that_finds_nothing_gets_the_page(client: TestClient) -> None:
    """Which says so; a program gets the reason as JSON."""
    reply = client.get("/no/such/page", headers={"Accept": "text/html,*/*"})
    assert reply.status_code == 404
    assert reply.headers["Content-Type"].startswith("text/html")
    assert "ask.js" in reply.text
    assert client.get("/no/such/page").json()["error"]["code"] == "not_found"
