"""The thread that answers requests waits for nothing, so that a probe is answered while questions are graded."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import pytest
from starlette.testclient import TestClient

from server.conftest import BRIDGE, upload
from surefoot.config.settings import Config
from surefoot.server import running
from surefoot.server.app import assembled, create_app
from surefoot.server.settings import ServerSettings

Served = Callable[[Callable[[Any], Any]], Any]


@pytest.fixture
def served(settings: ServerSettings, config: Config, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """Looks at a server that is run, and answers nobody; this process is as before afterwards."""
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


def test_the_collector_of_garbage_passes_over_what_was_loaded(served: Served) -> None:
    """A full pass over all modules stops the server for longer than a probe waits."""

    def spared(app: Any) -> int:
        app.state.warmed()
        return gc.get_freeze_count()

    assert served(spared) > 10_000


def test_whoever_runs_it_is_told_once_all_is_loaded(
    client: TestClient, settings: ServerSettings, config: Config
) -> None:
    """Also the pipeline of a collection that was there before."""
    upload(client, {"bridge.md": BRIDGE})
    service, done, loaded = assembled(settings, config), Event(), list[bool]()
    again = create_app(service)

    def warmed() -> None:
        loaded.append("default" in service.collections._pipelines)
        done.set()

    again.state.warmed = warmed
    with TestClient(again):
        assert done.wait(120)
    assert loaded == [True]
