"""What an operator sees: the metrics, the board that draws them, and the log as JSON."""

import io
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from server.conftest import upload
from surefoot.server.app import create_app
from surefoot.server.log import JsonLines
from surefoot.server.metrics import Metrics
from surefoot.server.problems import LOG
from surefoot.server.service import Service
from surefoot.types.errors import IndexFault

BOARD = Path(__file__).parents[2] / "deploy" / "grafana.json"
QUESTION = {"question": "Who built the Ruvel Bridge?"}


def test_the_board_draws_every_metric_and_no_other(own: Service) -> None:
    """And the server gives a value of each, once it has answered, read files and turned somebody away."""
    panels = json.loads(BOARD.read_text(encoding="utf-8"))["panels"]
    drawn = {name for panel in panels for one in panel["targets"] for name in re.findall(r"surefoot_\w+", one["expr"])}
    assert drawn == set(re.findall(r"^# TYPE (\S+)", Metrics().text(), re.MULTILINE))
    with TestClient(create_app(own), base_url="http://localhost:8710") as client:
        assert client.post("/ask", json=QUESTION).status_code == 200
        given = {line.partition("{")[0].split()[0] for line in client.get("/metrics").text.splitlines()}
    assert drawn <= given


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the server logs as JSON."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    yield stream
    LOG.setLevel(logging.NOTSET)
    LOG.removeHandler(handler)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_the_log_has_a_line_for_each_request_and_no_word_of_it(own: Service, log: io.StringIO) -> None:
    """Neither of a question, its answer or its trace, nor of a file, its name or its text."""
    with TestClient(create_app(own), base_url="http://localhost:8710") as client:
        upload(client, {"Quorrin.md": "# Quorrin Tower\n\nThe Quorrin Tower was built in 1899.\n"})
        trace = client.post("/ask", json={"question": "When was the Quorrin Tower built?"}).json()
        assert "1899" in trace["answer"]["text"]
        client.get(f"/traces/{trace['id']}", params={"words": "Quorrin"})
        client.get("/Quorrin")
    assert not [word for word in ("Quorrin", "1899", trace["id"]) if word in log.getvalue()]
    found = [(one["method"], one["route"], one["status"]) for one in lines(log) if one["message"] == "request"]
    assert ("POST", "/documents", 202) in found
    assert ("POST", "/ask", 200) in found
    assert ("GET", "/traces/{id}", 200) in found
    assert ("GET", "", 404) in found
    assert all(one["seconds"] >= 0 and one["key"] is None for one in lines(log) if one["message"] == "request")


@pytest.mark.parametrize("fault", [RuntimeError, ValueError])
def test_a_fault_is_logged_by_its_kind_and_place(
    own: Service, log: io.StringIO, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    """Not by its words, which may be those of the question."""

    def fail(*_: object) -> None:
        raise fault(f"cannot read {QUESTION['question']}")

    monkeypatch.setattr(own.collections, "pipeline", fail)
    with TestClient(create_app(own), base_url="http://localhost:8710", raise_server_exceptions=False) as client:
        assert client.post("/ask", json=QUESTION).status_code == 500
    assert "Ruvel" not in log.getvalue()
    (line,) = [one for one in lines(log) if one["level"] == "error"]
    assert line["error"] == fault.__name__
    assert any("test_operations.py" in place for place in line["at"])


def test_what_an_operator_can_mend_is_logged_with_its_reason() -> None:
    """A damaged index, or a full disk; another library's message is left out."""

    def line(error: Exception, logger: str = "surefoot.server", message: str = "not ready") -> dict[str, Any]:
        record = logging.LogRecord(logger, logging.ERROR, "", 0, message, (), (type(error), error, None))
        found: dict[str, Any] = json.loads(JsonLines().format(record))
        return found

    assert line(IndexFault("index.db is damaged; rebuild it"))["reason"] == "index.db is damaged; rebuild it"
    assert line(OSError(28, "No space left on device", "secret.pdf"))["reason"] == "No space left on device"
    assert "message" not in line(ValueError("x"), "httpx", "GET https://search/?q=bridge")
