"""Feedback becomes labels that the benchmarks read."""

from pathlib import Path

from starlette.testclient import TestClient

from server.conftest import BRIDGE, HUT, upload
from surefoot.evaluate.records.files import read
from surefoot.evaluate.score.labels import ANSWER, labelled
from surefoot.run.store import recorded
from surefoot.server.service import Service
from surefoot_lab.datasets import pairs

WHO = {"question": "Who built the Ruvel Bridge?"}


def test_thumbs_and_marks_become_labelled_pairs(client: TestClient, service: Service) -> None:
    """A thumb up says that the quoted passage answers; a mark says it of one passage; what is taken back is gone."""
    upload(client, {"bridge.md": BRIDGE, "hut.md": HUT})
    trace = client.post("/ask", json=WHO).json()
    bridge, hut = (passage["id"] for passage in trace["passages"])

    def mark(**fields: object) -> None:
        assert client.post("/feedback", json={"trace": trace["id"], **fields}).status_code == 204

    mark(useful=True)
    mark(passage=hut, answers=False, reason="another building")
    place = service.feedback.place("default")
    found = pairs.read(place / "pairs.jsonl")
    assert {pair.passage.id: pair.label for pair in found.pairs} == {bridge: 1, hut: 0}
    assert found.pairs[0].question == WHO["question"]
    (label,) = labelled(place / "ratings.jsonl", ANSWER)  # as `surefoot evaluate --calibrate` reads them
    assert (label.record_id, label.share) == (trace["id"], 1)
    assert [record.id for record in read(place / "traces.jsonl").records] == [trace["id"]]
    assert recorded(place)[1].keys() == {trace["id"]}

    mark(useful=None)
    assert {pair.passage.id: pair.label for pair in pairs.read(place / "pairs.jsonl").pairs} == {hut: 0}
    assert (place / "ratings.jsonl").read_text() == ""
    mark(passage=hut, answers=None)
    assert (place / "pairs.jsonl").read_text() == ""


def test_feedback_comes_back_with_its_conversation(client: TestClient) -> None:
    """So that the page shows what was clicked."""
    upload(client, {"bridge.md": BRIDGE})
    trace = client.post("/ask", json={**WHO, "conversation": "talk-talk-1"}).json()
    client.post("/feedback", json={"trace": trace["id"], "useful": False, "reason": "too short"})
    found = client.get("/conversations/talk-talk-1").json()
    assert [(mark["trace"], mark["useful"], mark["reason"]) for mark in found["feedback"]] == [
        (trace["id"], False, "too short")
    ]
    assert [turn["id"] for turn in found["turns"]] == [trace["id"]]


def test_a_mark_on_a_passage_that_the_trace_lacks_is_refused(client: TestClient, service: Service) -> None:
    upload(client, {"bridge.md": BRIDGE})
    trace = client.post("/ask", json=WHO).json()
    reply = client.post("/feedback", json={"trace": trace["id"], "passage": "nobody", "answers": False})
    assert reply.status_code == 404
    assert not Path(service.feedback.place("default")).exists()
