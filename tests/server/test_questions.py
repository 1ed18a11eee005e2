"""`POST /ask`, traces and conversations."""

import asyncio
import os
import time
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from server.conftest import BRIDGE, HUT, Slow, events, listening, upload
from surefoot.run.store import from_json, read_trace
from surefoot.server.app import create_app
from surefoot.server.history import Turn
from surefoot.server.service import ServerSettings, Service
from surefoot.types import Trace

WHO = {"question": "Who built the Ruvel Bridge?"}


def test_a_question_is_answered_with_its_trace(client: TestClient, settings: ServerSettings) -> None:
    """The JSON is a trace's, without the configuration, which names files and machines; the stored file has it."""
    upload(client, {"bridge.md": BRIDGE, "hut.md": HUT})
    reply = client.post("/ask", json=WHO)
    assert reply.status_code == 200
    trace = from_json(Trace, reply.json())
    assert trace.answer
    assert "Tomas Aldwin" in trace.answer.text
    assert trace.config == {"searcher": {"use": "nowhere"}, "answer": {"risk": 0.15}}
    (file,) = Path(settings.runs).glob(f"serve/default/*/{trace.id}.json")
    assert read_trace(file).config["evaluator"]["use"] == "lexical"


def test_events_come_in_the_order_of_the_steps_and_end(client: TestClient) -> None:
    """The first names the trace and the thresholds; all carry the trace's id; no unchecked draft is sent."""
    upload(client, {"bridge.md": BRIDGE})
    reply = client.post("/ask", json=WHO, headers={"Accept": "text/event-stream"})
    found = events(reply.text)
    names = [name for name, _ in found]
    assert names[0] == "begin"
    assert names[-1] == "end"
    assert "text" not in names
    assert [name for name in names if name in ("passages", "grades", "decision", "strips", "answer")] == [
        *("passages", "grades", "decision", "strips", "answer")
    ]
    id = found[0][1]["value"]["id"]
    assert {data["trace"] for _, data in found} == {id}
    assert found[0][1]["value"]["thresholds"]["upper"] > 0
    assert client.get(f"/traces/{id}").json()["id"] == id


def test_traces_are_listed_the_latest_first_and_page_by_page(client: TestClient) -> None:
    """`before` goes on after the last one that was seen."""
    upload(client, {"bridge.md": BRIDGE})
    ids = []
    for n in range(3):
        ids.append(client.post("/ask", json={"question": f"Who built the Ruvel Bridge {n}?"}).json()["id"])
        time.sleep(0.02)
    first = client.get("/traces", params={"limit": 2}).json()["traces"]
    assert [line["id"] for line in first] == [ids[2], ids[1]]
    rest = client.get("/traces", params={"limit": 2, "before": ids[1]}).json()["traces"]
    assert [line["id"] for line in rest] == [ids[0]]


def test_old_traces_and_conversations_are_deleted_and_young_ones_kept(service: Service) -> None:
    """After the days that the configuration says."""
    for id in ("0" * 12, "1" * 12):
        service.traces.add("default", "", Trace(id, "Who?"))
        service.conversations.add("default", "", id, Turn("Who?"))
    for store in (service.traces, service.conversations):
        (old,) = store.folder.rglob(f"{'0' * 12}.*")
        os.utime(old, (0, 0))
        store.forget()
        assert [line.id for line in store.latest("default", "", 5)] == ["1" * 12]


def test_a_grade_is_explained_by_its_words(client: TestClient) -> None:
    """The attribution of the best passage, unless another is named."""
    upload(client, {"bridge.md": BRIDGE})
    trace = client.post("/ask", json=WHO).json()
    reply = client.post(f"/traces/{trace['id']}/explain", json={"passage": trace["passages"][0]["id"]})
    assert reply.status_code == 200
    assert {unit["words"] for unit in reply.json()["units"]} >= {"Tomas", "Ruvel"}
    assert client.post(f"/traces/{trace['id']}/explain", json={"passage": "none"}).status_code == 404


def test_a_conversation_goes_on_from_its_last_question(client: TestClient) -> None:
    """ "And the Larrow Hut?" is asked whole; the conversation is listed, read and forgotten. A client may also bring
    the history along."""
    upload(client, {"bridge.md": BRIDGE, "hut.md": HUT})
    talk = {"conversation": "c0ffee-c0ffee"}
    client.post("/ask", json={**WHO, **talk})
    second = client.post("/ask", json={"question": "And the Larrow Hut?", **talk}).json()
    assert "Josef Keller" in second["answer"]["text"]
    (line,) = client.get("/conversations").json()["conversations"]
    assert line["title"] == WHO["question"]
    turns = client.get(f"/conversations/{line['id']}").json()["turns"]
    assert [turn["question"] for turn in turns] == [WHO["question"], "And the Larrow Hut?"]
    assert turns[1]["id"] == second["id"]
    assert client.delete(f"/conversations/{line['id']}").status_code == 204
    assert client.get(f"/conversations/{line['id']}").status_code == 404
    history = [{"question": WHO["question"], "answer": "Tomas Aldwin"}]
    third = client.post("/ask", json={"question": "And the Larrow Hut?", "history": history}).json()
    assert third["answer"]["text"] == second["answer"]["text"]


def test_an_empty_collection_says_what_to_do(client: TestClient) -> None:
    """No index is no fault of the server's."""
    reply = client.post("/ask", json=WHO)
    assert reply.status_code == 409
    assert "POST /documents" in reply.json()["error"]["message"]


def test_beyond_the_places_clients_are_told_when_to_come_again(own: Service, slow: Slow) -> None:
    """429 with Retry-After; the others are answered, and the places are free afterwards."""
    with TestClient(create_app(own), base_url="http://localhost:8710") as client:
        tickets = [own.workers.start(lambda stop: slow.inner.run(WHO["question"]) if slow.go.wait(60) else None)]
        tickets += [own.workers.start(lambda stop: slow.inner.run(WHO["question"]))]
        refused = client.post("/ask", json=WHO, headers={"Accept": "text/event-stream"})
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) >= 1
        slow.go.set()
        assert [ticket.future.result(60).answer.refused for ticket in tickets] == [False, False]
        assert client.post("/ask", json=WHO).status_code == 200


def test_a_question_that_takes_too_long_is_cancelled(own: Service, slow: Slow) -> None:
    """504, and its thread stops at the next event."""
    own.workers.seconds = 0.2
    with TestClient(create_app(own), base_url="http://localhost:8710") as client:
        assert client.post("/ask", json=WHO).status_code == 504
    assert slow.stopped.wait(60)


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_client_that_leaves_frees_its_place(own: Service, slow: Slow, accept: str) -> None:
    """Its question stops at the next event; nobody has to wait for it."""

    async def leave(url: str) -> None:
        async with httpx.AsyncClient(timeout=60) as client:
            call = asyncio.create_task(client.post(f"{url}/ask", json=WHO, headers={"Accept": accept}))
            await asyncio.to_thread(slow.running.wait, 60)
            call.cancel()
            await asyncio.wait([call])

    with listening(own) as url:
        asyncio.run(leave(url))
        assert slow.stopped.wait(60)
        while own.workers.taken:
            time.sleep(0.02)


def test_a_long_history_is_cut(own: Service, slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question of it to the length of a question, the last fifty of them: they cost time before anything is found,
    and nothing of that can be stopped."""
    lengths: list[list[int]] = []
    monkeypatch.setattr(
        slow,
        "run",
        lambda question, *_, history, **__: lengths.append([len(one) for one, _ in history]) or Trace("1", ""),
    )
    with TestClient(create_app(own), base_url="http://localhost:8710") as client:
        history = [{"question": "bridge " * 2_000, "answer": "hut " * 2_000}] * 80
        client.post("/ask", json={"question": "Who built it?", "history": history})
    assert lengths == [[4_000] * 50]
