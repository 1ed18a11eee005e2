"""A web server on loopback for the searchers that ask one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest


@dataclass
class Asked:
    """One request that came."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    """Keys in lower case."""
    json: Any


@dataclass
class Provider:
    """A server that says what it was told to say, and remembers what it was asked."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    replies: list[tuple[int, bytes, dict[str, str]]] = field(default_factory=list)
    """The next one first; the last one is given for ever."""

    def says(self, body: Any, status: int = 200, **headers: str) -> Provider:
        """One more reply: text is HTML, bytes are themselves, all else is JSON; `retry_after="7"` is a header."""
        kind = "text/html; charset=utf-8" if isinstance(body, str) else "application/json"
        raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.replies.append((status, raw, {"Content-Type": kind, **named}))
        return self


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider on a free port of 127.0.0.1."""
    told = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, parts.path, dict(parse_qsl(parts.query)), headers, json.loads(body or "null"))
            told.asked.append(asked)
            status, raw, said = told.replies.pop(0) if len(told.replies) > 1 else told.replies[0]
            self.send_response(status)
            for name, value in {**said, "Content-Length": str(len(raw))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        do_POST = do_GET

        def log_message(self, *arguments: Any) -> None:
            """Not a word."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        told.url = f"http://127.0.0.1:{server.server_port}"
        yield told
        server.shutdown()
        thread.join()
