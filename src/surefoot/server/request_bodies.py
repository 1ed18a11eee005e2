"""Bodies of requests: what their models share, and the limits that hold before one is read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from surefoot.server.problems import Problem
from surefoot.server.settings import ServerSettings

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


class BodyLimits:
    """Middleware that refuses a body that is too large or too slow, wherever it is read."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with a bounded body."""
        if scope["type"] == "http":
            settings, most, seconds = self._settings, self._settings.body_bytes, SECONDS
            if is_upload(scope):
                most, seconds = settings.upload_bytes, settings.upload_seconds
            receive = _bounded(receive, most, seconds)
        await self._app(scope, receive, send)


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
