"""A server over small collections: the words of a question grade, and nothing is loaded or fetched."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra server")
pytest.importorskip("sse_starlette", reason="needs the extra server")
pytest.importorskip("httpx2", reason="starlette's client needs it")

from starlette.testclient import TestClient

from surefoot.config.settings import Config, read
from surefoot.server.app import create_app, keys_of, listener
from surefoot.server.service import ServerSettings, Service, assembled
from surefoot.types import Trace

BRIDGE = "# Ruvel Bridge\n\nThe Ruvel Bridge was built in 1911 by Tomas Aldwin.\n"
PARTS = {"retriever": "bm25", "evaluator": "lexical", "generator": "extractive", "searcher": "nowhere"}
"""Words of the question grade, and sentences of the passages answer."""
HUT = "# Larrow Hut\n\nThe Larrow Hut was built in 1927 by Josef Keller. It stands at 2,214 m.\n"


@pytest.fixture
def settings(tmp_path: Path) -> ServerSettings:
    """Folders of this test's own, and little time."""
    return ServerSettings(folder=str(tmp_path / "server"), runs=str(tmp_path / "runs"), seconds=20, waiting=4)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """An index of this test's own, and no network."""
    return quick(tmp_path)


def quick(folder: Path) -> Config:
    """A configuration of which nothing is loaded or fetched."""
    network = {"allow": [], "cache": ""}
    return read({"index": {"path": str(folder / "index.db")}, "network": network, **PARTS})


@pytest.fixture
def service(settings: ServerSettings, config: Config) -> Service:
    return assembled(settings, config)


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    """A client of a running server to which nobody has uploaded anything."""
    with TestClient(create_app(service), base_url="http://localhost:8710") as client:
        yield client


@pytest.fixture
def secret(service: Service) -> Callable[..., dict[str, str]]:
    """Makes a key for collections, and gives the header that shows it."""

    def made(name: str, *collections: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {keys_of(service.settings).add(name, collections)}"}

    return made


def upload(client: TestClient, files: dict[str, str | bytes], collection: str = "", **more: Any) -> dict[str, Any]:
    """Upload files, and wait until they are read; the job."""
    parts = [("file", (name, text.encode() if isinstance(text, str) else text)) for name, text in files.items()]
    query = {"collection": collection} if collection else {}
    reply = client.post("/documents", files=parts, params=query, **more)
    assert reply.status_code == 202, reply.text
    return finished(client, reply.json()["job"], **more)


def finished(client: TestClient, job: str, **more: Any) -> dict[str, Any]:
    """The job, once it is over."""
    for _ in range(400):
        found: dict[str, Any] = client.get(f"/jobs/{job}", **more).json()
        if found["state"] in ("done", "failed"):
            return found
        time.sleep(0.05)
    raise AssertionError(f"the job did not end: {found}")


def events(text: str) -> list[tuple[str, Any]]:
    """The name and value of each server-sent event."""
    found = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        lines = dict(line.partition(": ")[::2] for line in block.split("\n") if not line.startswith(":"))
        if "data" in lines:
            data = lines["data"]
            found.append((lines.get("event", ""), json.loads(data) if data != "[DONE]" else data))
    return found


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A running server with the bridge and the hut, for tests that change nothing of it."""
    app = create_app(filled(tmp_path_factory.mktemp("shared"), seconds=60))
    with TestClient(app, base_url="http://localhost:8710") as client:
        yield client


@contextmanager
def listening(service: Service) -> Iterator[str]:
    """The address of these parts on a real socket, in a thread of this process."""
    uvicorn = pytest.importorskip("uvicorn", reason="needs the extra server")
    config = listener(create_app(service), "127.0.0.1", 0)
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def filled(folder: Path, **settings: Any) -> Service:
    """The parts of a server with the bridge and the hut."""
    places = {"folder": str(folder / "server"), "runs": str(folder / "runs")}
    service = assembled(ServerSettings(**places, **settings), quick(folder))
    uploads = service.collections.uploads("default")
    uploads.mkdir(parents=True)
    for name, text in (("bridge.md", BRIDGE), ("hut.md", HUT)):
        (uploads / name).write_text(text)
    assert service.collections.update("default", lambda file, passages: None) == ()
    return service


@pytest.fixture
def own(tmp_path: Path) -> Service:
    """The parts of a server with the bridge and the hut, of this test's own, where two questions may be at a time."""
    return filled(tmp_path, seconds=20, workers=1, waiting=1)


class Slow:
    """A pipeline that waits to be let go, or told to stop."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.policy, self.config = inner.policy, inner.config
        self.go, self.running, self.stopped = threading.Event(), threading.Event(), threading.Event()

    def run(self, question: str, on_event: Any = None, **more: Any) -> Trace:
        self.running.set()
        while not self.go.wait(0.01) and not more["cancel"].is_set():
            pass
        if more["cancel"].is_set():
            self.stopped.set()
        return self.inner.run(question, on_event, **more)


@pytest.fixture
def slow(own: Service) -> Slow:
    """The pipeline of a server whose questions take as long as the test wants."""
    found = Slow(own.collections.pipeline("default"))
    own.collections._pipelines["default"] = found  # type: ignore[assignment]
    return found


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running server with the bridge and the hut, for tests that change nothing of it."""
    with listening(filled(tmp_path_factory.mktemp("live"), seconds=60)) as address:
        yield address
