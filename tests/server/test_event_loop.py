"""The thread that answers requests waits for nothing, so that a probe is answered while questions are graded."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Event
from typing import Any

import pytest
from starlette.responses import JSONResponse
from starlette.testclient import TestClient

from server.conftest import BRIDGE, upload
from surefoot.config.settings import Config
from surefoot.server import collections, running
from surefoot.server.app import assembled, create_app
from surefoot.server.settings import ServerSettings

Served = Callable[[Callable[[Any], Any]], Any]
WHO = {"question": "Who built the Ruvel Bridge?"}


def noting(call: Callable[..., Any], noted: list[bool]) -> Callable[..., Any]:
    """The call, which also notes whether it came from the thread that answers requests."""

    def called(*given: Any, **named: Any) -> Any:
        noted.append(False)
        with suppress(RuntimeError):
            noted[-1] = asyncio.get_running_loop() is not None
        return call(*given, **named)

    return called


def test_no_request_to_the_usual_collection_opens_the_index_anew(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To look whether there is such a collection: it always is."""
    upload(client, {"bridge.md": BRIDGE})
    noted: list[bool] = []
    monkeypatch.setattr(collections, "others", noting(collections.others, noted))
    assert client.post("/ask", json=WHO).status_code == 200
    assert client.post("/ask", json={**WHO, "collection": "default"}).status_code == 200
    assert not any(noted)
    assert client.post("/ask", json={**WHO, "collection": "fresh"}).status_code == 404


def test_long_answers_are_spelled_in_other_threads(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace, a conversation, a list of documents, and the text of one may each be of megabytes."""
    upload(client, {"bridge.md": BRIDGE})
    noted: list[bool] = []
    monkeypatch.setattr(JSONResponse, "render", noting(JSONResponse.render, noted))
    trace = client.post("/ask", json={**WHO, "conversation": "c0ffee-c0ffee"}).json()["id"]
    document = client.get("/documents").json()["documents"][0]["id"]
    for path in (f"/traces/{trace}", "/conversations/c0ffee-c0ffee", f"/documents/{document}/text"):
        assert client.get(path).status_code == 200
    assert noted == [False] * 5


@pytest.fixture
def served(settings: ServerSettings, config: Config, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """What a server that is run, and answers nobody, is seen to be; this process is as before afterwards."""
    uvicorn = pytest.importorskip("uvicorn", reason="needs the extra server")
    usual = sys.getswitchinterval()

    def seen(look: Callable[[Any], Any]) -> Any:
        found = []

        def run(server: Any) -> None:
            found.append(look(server.config.app))
            server.started = True

        monkeypatch.setattr(uvicorn.Server, "run", run)
        running.run(settings, config)
        return found[0]

    yield seen
    gc.unfreeze()
    sys.setswitchinterval(usual)


def test_a_thread_that_waits_for_the_interpreter_gets_it_soon(served: Served) -> None:
    """Within a fraction of a millisecond, and not within Python's 5."""
    assert 0 < served(lambda _: sys.getswitchinterval()) <= 0.0005


def test_whoever_runs_it_is_told_once_all_is_loaded(
    client: TestClient, settings: ServerSettings, config: Config
) -> None:
    """Also the pipeline of a collection that was there before."""
    upload(client, {"bridge.md": BRIDGE})
    service, told, loaded = assembled(settings, config), Event(), list[bool]()
    again = create_app(service)

    def warmed() -> None:
        loaded.append("default" in service.collections._pipelines)
        told.set()

    again.state.warmed = warmed
    with TestClient(again):
        assert told.wait(120)
    assert loaded == [True]


def test_the_collector_of_garbage_passes_over_what_was_loaded(served: Served) -> None:
    """A full pass over all modules stops the server for longer than a probe waits."""

    def spared(app: Any) -> int:
        app.state.warmed()
        return gc.get_freeze_count()

    assert served(spared) > 10_000
