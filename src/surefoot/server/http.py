"""Bodies of requests with their limits; answers as JSON and events; work that is given up when the client leaves."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict
from pydantic_core import from_json
from sse_starlette import EventSourceResponse
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from surefoot.run.store import to_json
from surefoot.server.problems import Problem
from surefoot.server.service import ServerSettings
from surefoot.server.workers import Ticket

T = TypeVar("T")

EVENTS: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {}}}}
"""In the OpenAPI document: the answer may also be a stream of events."""
HTML: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}
_PING = 15
"""Seconds between the comments that keep a silent stream open."""
SECONDS = 30
"""Time for a body of JSON to arrive."""


class Body(BaseModel):
    """A body in which a field that we do not know is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class CompatibleBody(BaseModel):
    """A body in the shape of somebody else's service, whose other fields are ignored."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class JsonRoute(APIRoute):
    """A route whose body has to be declared as JSON, and is read strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Check the media type first."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            if self.body_field:
                require_json(request)
            return await handler(_JsonRequest(request.scope, request.receive))

        return handle


class _JsonRequest(Request):
    async def json(self) -> Any:
        """The body. Raises ValueError also for NaN, half characters and endless nesting."""
        return from_json(await self.body(), allow_inf_nan=False)


def require_json(request: Request) -> None:
    """Raise Problem, 415, for a body that is not declared as JSON: a form of any web page could send it."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "media_type", "send JSON, with the header Content-Type: application/json")


def limit_body(app: ASGIApp, settings: ServerSettings) -> ASGIApp:
    """Middleware that refuses a body that is too large or too slow, wherever it is read."""

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            of_files = settings.upload_bytes, settings.upload_seconds
            receive = _bounded(receive, *(of_files if is_upload(scope) else (settings.body_bytes, SECONDS)))
        await app(scope, receive, send)

    return limited


def is_upload(scope: Scope) -> bool:
    """Say whether the request brings files."""
    kind = Headers(scope=scope).get("content-type", "")
    return scope["path"] == "/documents" and kind.startswith("multipart/form-data")


def _bounded(receive: Receive, most: int, seconds: int) -> Receive:
    taken, complete = 0, False
    deadline: float | None = None

    async def bounded() -> Message:
        nonlocal taken, complete, deadline
        if complete:  # what comes now is that the client leaves
            return await receive()
        deadline = deadline or asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise Problem(408, "too_slow", f"the request did not arrive within {seconds:g} s; send it again") from None
        taken += len(message.get("body", b""))
        complete = not message.get("more_body", False)
        if taken > most:
            raise Problem(413, "too_large", f"the request is larger than {most:,} bytes; send less at a time")
        return message

    return bounded


def reply(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> JSONResponse:
    """A value of ours as JSON."""
    return JSONResponse(to_json(value), status, headers)


def stream(events: AsyncIterator[Any]) -> EventSourceResponse:
    """Server-sent events, with a comment now and then. A client that leaves ends the iterator."""
    return EventSourceResponse(events, ping=_PING, headers={"Cache-Control": "no-store"})


async def awaited(request: Request, ticket: Ticket[T]) -> T:
    """The result of a ticket, which is cancelled as soon as the client leaves."""

    async def leave() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    result, gone = asyncio.ensure_future(ticket.result()), asyncio.ensure_future(leave())
    try:
        await asyncio.wait((result, gone), return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            raise Problem(499, "left", "the client left")  # nobody reads it
        return result.result()
    finally:
        gone.cancel()
        result.cancel()
