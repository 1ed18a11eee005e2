"""Answers of endpoints: JSON, events, and work that is given up when the client leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, TypeVar

from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import JSONResponse

from surefoot.run.store import to_json
from surefoot.server.problems import Problem
from surefoot.server.workers import Ticket

T = TypeVar("T")

EVENTS: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {}}}}
"""In the OpenAPI document: the answer may also be a stream of events."""
HTML: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}
_PING = 15
"""Seconds between the comments that keep a silent stream open."""


def reply(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> JSONResponse:
    """A value of ours as JSON."""
    return JSONResponse(to_json(value), status, headers)


def wants_events(request: Request) -> bool:
    """Say whether the client accepts server-sent events."""
    return "text/event-stream" in request.headers.get("accept", "")


def stream(events: AsyncIterator[Any]) -> EventSourceResponse:
    """Server-sent events, with a comment now and then. A client that leaves ends the iterator."""
    return EventSourceResponse(events, ping=_PING, headers={"Cache-Control": "no-store"})


async def awaited(request: Request, ticket: Ticket[T]) -> T:
    """The result of a ticket, which is cancelled as soon as the client leaves."""
    result, gone = asyncio.ensure_future(ticket.result()), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((result, gone), return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            raise Problem(499, "left", "the client left")  # nobody reads it
        return result.result()
    finally:
        gone.cancel()
        result.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
