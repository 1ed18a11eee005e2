"""A web server on loopback for the searchers that ask one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from endpoint import WebAnswer, WebRequest, serving


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
    replies: list[WebAnswer] = field(default_factory=list)
    """The next one first; the last one is given for ever."""

    def says(self, body: Any, status: int = 200, **headers: str) -> Provider:
        """One more reply: text is HTML, bytes are themselves, all else is JSON; `retry_after="7"` is a header."""
        kind = "text/html; charset=utf-8" if isinstance(body, str) else "application/json"
        raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.replies.append((status, {"Content-Type": kind, **named}, raw))
        return self


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider on a free port of 127.0.0.1."""
    made = Provider()

    def answer(request: WebRequest) -> WebAnswer:
        parts = urlsplit(request.target)
        params, body = dict(parse_qsl(parts.query)), json.loads(request.body or "null")
        made.asked.append(Asked(request.method, parts.path, params, request.headers, body))
        return made.replies.pop(0) if len(made.replies) > 1 else made.replies[0]

    with serving(answer) as made.url:
        yield made
