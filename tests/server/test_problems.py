"""Bad input: each has its status, a sentence that says what to do, and nothing of our insides."""

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import surefoot
from surefoot.server.app import create_app
from surefoot.server.service import Service
from surefoot.web import served_policy

INSIDE = re.compile(r"Traceback|surefoot\.|\.py\b|/work|/tmp|/home|index\.db|sqlite|starlette|0x[0-9a-f]{6}")
"""What no answer may say."""
CHAT = "/v1/chat/completions"


def wrong(client: TestClient, method: str, path: str, status: int, **sent: Any) -> dict[str, Any]:
    """The error of a request that has to fail with this status."""
    reply = client.request(method, path, **sent)
    assert reply.status_code == status, reply.text
    error: dict[str, Any] = reply.json()["error"]
    assert set(error) == {"code", "message", "type", "param"}
    assert not INSIDE.search(reply.text), reply.text
    assert len(error["message"]) < 400
    return error


def chat(content: Any, role: str = "user", model: str = "surefoot-default") -> dict[str, Any]:
    """A chat completion of one message."""
    return {"json": {"model": model, "messages": [{"role": role, "content": content}]}}


def body(content: bytes, kind: str = "application/json") -> dict[str, Any]:
    """A request's body with its media type."""
    return {"content": content, "headers": {"Content-Type": kind}}


def mark(**fields: Any) -> dict[str, Any]:
    return {"json": {"trace": "0" * 12, **fields}}


@pytest.mark.parametrize(
    ("method", "path", "status", "sent"),
    [
        ("GET", "/nowhere", 404, {}),
        ("GET", "/ask", 405, {}),
        ("PUT", "/documents", 405, {}),
        ("GET", "/traces/../../etc/passwd", 404, {}),
        ("GET", "/traces/%2e%2e%2fx", 404, {}),
        ("GET", "/static/..%2fapp.py", 404, {}),
        ("GET", "/static/app.py", 404, {}),
        ("GET", "/evaluations/..%2fserver", 404, {}),
        ("DELETE", "/documents/nobody/text", 405, {}),
        ("GET", "/traces?limit=0", 400, {}),
        ("GET", "/traces?limit=99999999999999999999", 400, {}),
        ("GET", "/traces?collection=../default", 404, {}),
        ("GET", "/documents?collection=nobody", 404, {}),
        ("POST", "/ask", 415, body(b'{"question": "x"}', "text/plain")),  # a form of any web page can send these
        ("POST", "/ask", 415, body(b'{"question": "x"}', "application/x-www-form-urlencoded")),
        ("POST", "/ask", 415, body(b'{"question": "x"}', "")),
        ("POST", "/ask", 413, body(b" " * 2_000_001)),
        ("POST", CHAT, 400, {"json": {}}),
        ("POST", CHAT, 400, {"json": {"model": "surefoot-default"}}),
        ("POST", CHAT, 400, {"json": {"model": "surefoot-default", "messages": []}}),
        ("POST", CHAT, 400, {"json": {"model": "surefoot-default", "messages": "hello"}}),
        ("POST", CHAT, 400, chat("x", "assistant")),
        ("POST", CHAT, 400, chat("")),
        ("POST", CHAT, 400, chat(None)),
        ("POST", CHAT, 400, chat(5)),
        ("POST", CHAT, 404, chat("x", model="surefoot-nobody")),
        ("POST", CHAT, 404, chat("x", model="")),
        ("POST", "/documents", 400, body(b"", "multipart/form-data; boundary=x")),
        ("POST", "/documents", 400, body(b"garbage", "multipart/form-data")),
        ("POST", "/documents", 400, body(b"--x\r\n", "multipart/form-data; boundary=x")),
        ("POST", "/documents", 415, body(b"x" * 100, "application/pdf")),
        ("POST", "/feedback", 400, mark(answers=True)),
        ("POST", "/feedback", 400, mark(useful=True, passage="p")),
        ("POST", "/feedback", 400, mark(useful=True, reason="x" * 2001)),
        ("POST", "/feedback", 400, mark(trace=5)),
    ],
)
def test_a_wrong_request(shared: TestClient, method: str, path: str, status: int, sent: dict[str, Any]) -> None:
    """Addresses, methods, parameters, media types, sizes, chats, uploads and feedback that are none."""
    assert wrong(shared, method, path, status, **sent)["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/documents", "GET, HEAD, POST"), ("/conversations/x", "DELETE, GET, HEAD, PATCH"), ("/ask", "POST")],
)
def test_a_wrong_method_is_told_the_right_ones(shared: TestClient, path: str, allowed: str) -> None:
    """All of them, also where several routes share the address."""
    assert shared.request("PUT", path).headers["allow"] == allowed


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the body is missing"),
        (b"{", "send JSON"),
        (b"\xff\xfe", "send JSON"),
        (b'{"question": NaN}', "send JSON"),
        (b"[" * 50_000, "send JSON"),
        (b"[]", "the body: "),
        (b"null", "the body: "),
        (b"{}", "`question` is missing"),
        (b'{"question": 3}', "`question`: Input should be a valid string"),
        (b'{"question": "x", "queston": "y"}', "has no field 'queston'"),
        (b'{"question": "x", "history": [{"question": 1}]}', "`history[0].question`"),
        (b'{"question": "x", "history": {}}', "`history`: "),
        (b'{"question": "x", "filter": {"year": {"~": 3}}}', "operator"),
        (b'{"question": "\\ud800"}', "send JSON"),
        (b'{"question": "x", "conversation": "../../x"}', "`conversation`"),
    ],
)
def test_a_body_that_cannot_be_understood(shared: TestClient, content: bytes, words: str) -> None:
    """400, naming the field and what it may be."""
    assert words in wrong(shared, "POST", "/ask", 400, **body(content))["message"]


@pytest.mark.parametrize("question", ["", "  \n", "x" * 4001, "why " * 250_000])
def test_a_question_that_is_none(shared: TestClient, question: str) -> None:
    """Empty, too long, or a megabyte."""
    assert wrong(shared, "POST", "/ask", 400, json={"question": question})["code"] == "question"


def test_more_files_than_one_upload_holds(shared: TestClient) -> None:
    """413; none of them is kept."""
    files = [("file", (f"{n}.md", b"x")) for n in range(1001)]
    assert wrong(shared, "POST", "/documents", 413, files=files)["code"] == "too_many"


class Broken:
    """A pipeline with a bug."""

    def __init__(self, inner: Any) -> None:
        self.policy, self.config = inner.policy, inner.config

    def run(self, question: str, *more: Any, **options: Any) -> Any:
        raise RuntimeError(f"secret of {Path(surefoot.__file__)}")


def test_a_fault_of_ours_says_nothing_of_itself(own: Service) -> None:
    """500 with a sentence; the log has the rest."""
    own.collections._pipelines["default"] = Broken(own.collections.pipeline("default"))  # type: ignore[assignment]
    client = TestClient(create_app(own), base_url="http://localhost:8710", raise_server_exceptions=False)
    assert wrong(client, "POST", "/ask", 500, json={"question": "Who?"})["code"] == "internal"
    plain = client.post("/ask", json={"question": "Who?"})
    assert plain.headers["content-security-policy"] == served_policy()
    assert plain.headers["x-content-type-options"] == "nosniff"
    assert 'surefoot_requests_total{status="500"} 2' in client.get("/metrics").text
    reply = client.post("/ask", json={"question": "Who?"}, headers={"Accept": "text/event-stream"})
    assert "event: error" in reply.text
    assert not INSIDE.search(reply.text)
    assert "secret" not in reply.text
