"""`[telemetry]`: where traces go, and what keeps them from going there."""

import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs the extra otel")

from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.integrations import telemetry
from surefoot.integrations.telemetry import traced
from surefoot.types.errors import ConfigError, NetworkError, UnagreedEndpoint

PARTS = {"retriever": {"use": "tests:Nothing", "object": True}, "generator": {"use": "extractive"}}


class Nothing:
    """Finds nothing."""

    def retrieve(self, question: str, k: int) -> tuple[()]:
        return ()


def builder(section: dict[str, Any], **more: Any) -> Builder:
    return Builder(read({**PARTS, "telemetry": section, **more}), {"retriever": Nothing()})


def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have batches sent after milliseconds, not seconds."""
    for kind in ("BSP", "BLRP"):
        monkeypatch.setenv(f"OTEL_{kind}_SCHEDULE_DELAY", "50")


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[str]]]:
    """A server, and the paths that something was sent to."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            paths.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            moved = self.path.startswith("/moved")
            self.send_response(307 if moved else 200)
            if moved:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    soon(monkeypatch)
    yield f"http://127.0.0.1:{server.server_port}", paths
    server.shutdown()
    server.server_close()


def waited(found: Callable[[], object]) -> None:
    """Wait until it is there: sending is in the background."""
    end = time.monotonic() + 20
    while not found() and time.monotonic() < end:
        time.sleep(0.02)


def test_without_an_address_nothing_is_sent() -> None:
    assert traced(builder({"texts": True})).listener is None


def test_traces_and_results_go_to_the_address(backend: tuple[str, list[str]]) -> None:
    """Past the proxies of the environment."""
    url, paths = backend
    made = traced(builder({"base_url": url}))
    made.run("Who built the Ruvel Bridge?")
    waited(lambda: len(paths) > 1)
    assert sorted(paths) == ["/v1/logs", "/v1/traces"]


def test_backends_that_take_no_log_records_get_none(backend: tuple[str, list[str]]) -> None:
    url, paths = backend
    made = traced(builder({"base_url": url, "logs": False}))
    made.run("Who built the Ruvel Bridge?")
    waited(lambda: paths)
    time.sleep(0.3)
    assert paths == ["/v1/traces"]


def test_a_redirect_is_not_followed(backend: tuple[str, list[str]]) -> None:
    """It would lead where the guard was not asked about."""
    url, paths = backend
    made = traced(builder({"base_url": f"{url}/moved", "logs": False}))
    made.run("Who built the Ruvel Bridge?")
    waited(lambda: paths)
    time.sleep(0.3)
    assert paths == ["/moved/v1/traces"]


def test_a_backend_that_is_down_costs_a_line_and_no_answer(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon(monkeypatch)
    monkeypatch.setattr(telemetry, "_SECONDS", 0.2)
    made = traced(builder({"base_url": "http://127.0.0.1:9", "logs": False}))
    assert made.run("Who built the Ruvel Bridge?").answer
    waited(lambda: caplog.records)
    assert [one.name.partition(".")[0] for one in caplog.records] == ["opentelemetry"]


def test_pipelines_of_one_address_share_their_sender() -> None:
    """A server builds many, and each sender has threads of its own."""
    one, other = (traced(builder({"base_url": "http://127.0.0.1:4318"})) for _ in range(2))
    assert one.listener is other.listener


def test_the_network_may_be_closed_to_it() -> None:
    with pytest.raises(NetworkError, match=r"collector\.example may not be reached"):
        traced(builder({"base_url": "https://collector.example"}, network={"allow": ["*.example.org"]}))


def test_a_login_in_the_address_is_refused() -> None:
    with pytest.raises(ConfigError, match="has a login"):
        traced(builder({"base_url": "http://user:secret@collector.example"}))


def test_wrong_keys_are_faults_of_the_configuration() -> None:
    with pytest.raises(ConfigError, match=r"\[telemetry\] texts must be"):
        traced(builder({"texts": "yes"}))


def test_a_file_that_names_an_address_needs_consent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "surefoot.toml"
    file.write_text('[telemetry]\nbase_url = "https://collector.example"\n', encoding="utf-8")
    with pytest.raises(UnagreedEndpoint, match=r"collector\.example"):
        read(file)
