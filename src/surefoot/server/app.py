"""The application: its parts, its addresses, and its start and stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from surefoot.server import (
    chat_completions,
    document_routes,
    page_routes,
    questions,
    rerank,
    responses,
    trace_routes,
)
from surefoot.server.access import AccessMiddleware
from surefoot.server.keys import Keys
from surefoot.server.problems import ProblemBody, answer_problem
from surefoot.server.request_bodies import BodyLimits
from surefoot.server.service import Service, warm
from surefoot.server.settings import ServerSettings
from surefoot.types.errors import SurefootError

ROUTERS = (
    questions.router,
    trace_routes.router,
    document_routes.router,
    chat_completions.router,
    responses.router,
    rerank.router,
    page_routes.router,
    page_routes.public,
)
_FAULTS = (HTTPException, RequestValidationError, ValidationError, ClientDisconnect, SurefootError, Exception)
_HOUR = 3600


def keys_of(settings: ServerSettings) -> Keys:
    """The keys of a server."""
    return Keys(Path(settings.folder) / "keys.json")


class _Application(FastAPI):
    """FastAPI with the access middleware before all of it: answers to faults pass it too."""

    def build_middleware_stack(self) -> ASGIApp:
        """Called once, with the first request."""
        service: Service = self.state.service
        app = BodyLimits(super().build_middleware_stack(), service.settings)
        return AccessMiddleware(app, self.state.keys, service.metrics, service.settings)


def create_app(service: Service) -> FastAPI:
    """The ASGI application over these parts, which it starts and stops. Whoever runs it may set `state.warmed`, which
    is called once all is loaded."""
    app = _Application(
        title="Surefoot",
        version="1",
        description="Corrective RAG: answers with checked citations, and everything that led to them.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers=dict.fromkeys(_FAULTS, answer_problem),
        responses={"default": {"model": ProblemBody, "description": "A problem."}},
        lifespan=_lifespan,
    )
    for router in ROUTERS:
        app.include_router(router)
    app.state.routes = [route for router in ROUTERS for route in router.routes]
    app.router.routes.append(Mount("/static", page_routes.PageFiles()))
    app.state.service, app.state.keys = service, keys_of(service.settings)
    app.state.tools, app.state.warmed = _tools(service), lambda: None
    if app.state.tools:
        app.router.routes.append(Route("/mcp", app.state.tools.asgi_app, methods=["POST"], include_in_schema=False))
    return app


def _tools(service: Service) -> Any:
    """The application at `/mcp`; None: the extra is not installed."""
    if find_spec("mcp") is None:
        return None
    from surefoot.server import mcp

    return mcp.manager(service)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    await asyncio.to_thread(service.collections.recover)
    service.jobs.start(service.collections.uploaded())
    tasks = [asyncio.create_task(_forget(service)), asyncio.create_task(_warm(app))]
    try:
        async with AsyncExitStack() as stack:
            if app.state.tools:
                await stack.enter_async_context(app.state.tools.run())
            yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.to_thread(service.jobs.close)
        await asyncio.to_thread(service.workers.close)


async def _warm(app: FastAPI) -> None:
    await asyncio.to_thread(warm, app.state.service)
    app.state.warmed()


async def _forget(service: Service) -> None:
    """Delete each hour everything that is older than the days for which it is stored."""
    while True:
        for store in (service.traces, service.conversations):
            await asyncio.to_thread(store.forget)
        await asyncio.sleep(_HOUR)
