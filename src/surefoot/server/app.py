"""The application: its parts, its addresses, its start and stop, and running it on a port, as `surefoot serve` does."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Event

import uvicorn
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Mount, Route
from starlette.types import ASGIApp
from uvicorn.config import LOGGING_CONFIG

from surefoot.config.settings import Config
from surefoot.index.storage import check_index
from surefoot.server import chat_completions, document_routes, page_routes, questions, rerank, responses, trace_routes
from surefoot.server.access import AccessMiddleware
from surefoot.server.backup import serving
from surefoot.server.connections import Connection
from surefoot.server.http import limit_body
from surefoot.server.keys import Keys
from surefoot.server.log import write_json_lines
from surefoot.server.problems import ProblemBody, answer_problem
from surefoot.server.service import ServerSettings, Service, assembled, warm
from surefoot.types.errors import ConfigError, SurefootError

_PARTS = questions, trace_routes, document_routes, chat_completions, responses, rerank, page_routes
_FAULTS = (HTTPException, RequestValidationError, ValidationError, ClientDisconnect, SurefootError, Exception)
_HOUR = 3600
_GRACE = 20
"""Seconds that requests have to end once the server is told to stop."""
_KEEP_ALIVE = 30
"""Seconds that an idle connection stays open."""
_BACKLOG = 64
"""Connections that wait to be taken, which asyncio takes all at once: the 2,048 of uvicorn stop the loop for half a
second, and with more than `MOST_OF_ADDRESS` / 3 one would be closed to make room before its header is read."""
_SWITCH = 0.0001
"""Seconds after which a thread hands the interpreter over to one that waits for it. A request is a dozen calls to the
system, behind each of which its thread waits once more; with Python's own 5 ms it waited longer than it worked."""


def keys_of(settings: ServerSettings) -> Keys:
    """The keys of a server."""
    return Keys(Path(settings.folder) / "keys.json")


class _Application(FastAPI):
    """FastAPI with the access middleware before all of it: answers to faults pass it too."""

    def build_middleware_stack(self) -> ASGIApp:
        """Called once, with the first request."""
        service: Service = self.state.service
        app = limit_body(super().build_middleware_stack(), service.settings)
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
    for part in _PARTS:
        app.include_router(part.router)
    app.state.routes = [route for part in _PARTS for route in part.router.routes]
    app.router.routes.append(Mount("/static", page_routes.PageFiles()))
    app.state.service, app.state.keys = service, keys_of(service.settings)
    app.state.tools, app.state.warmed = None, lambda: None
    if find_spec("mcp"):
        from surefoot.server import mcp

        app.state.tools = mcp.manager(service)
        app.router.routes.append(Route("/mcp", app.state.tools.asgi_app, methods=["POST"], include_in_schema=False))
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    await asyncio.to_thread(service.collections.recover)
    for collection in service.collections.uploaded():
        service.jobs.add(collection, ())
    stop = Event()
    tasks = [
        asyncio.create_task(asyncio.to_thread(service.collections.watch, service.settings.watch, stop)),
        asyncio.create_task(_forget(service)),
        asyncio.create_task(asyncio.to_thread(warm, service, app.state.warmed)),
    ]
    try:
        async with app.state.tools.run() if app.state.tools else nullcontext():
            with serving(Path(service.settings.folder)):
                yield
    finally:
        stop.set()
        for task in tasks:
            task.cancel()
        await asyncio.to_thread(service.jobs.close)
        await asyncio.to_thread(service.workers.close)


async def _forget(service: Service) -> None:
    """Delete each hour everything that is older than the days for which it is stored."""
    while True:
        for store in (service.traces, service.conversations):
            await asyncio.to_thread(store.forget)
        await asyncio.sleep(_HOUR)


def check(settings: ServerSettings, config: Config) -> None:
    """Raise ConfigError where others could reach it, and nobody needs a key; IndexFault for an index that cannot be
    read, whose collections would seem to be empty."""
    check_index(Path(config["index"]["path"]))
    if not settings.is_local and not keys_of(settings).all():
        raise ConfigError(
            f"on {settings.host} others could reach it, and there is no key; make one first: "
            "surefoot serve keys NAME --collection default"
        )


def listener(app: FastAPI, host: str, port: int) -> uvicorn.Config:
    """How the application is served there; port 0: on a free one."""
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=Connection,
        ws="none",
        backlog=_BACKLOG,
        log_level="warning",
        log_config=None if app.state.service.settings.log == "json" else LOGGING_CONFIG,
        access_log=False,  # it would hold every question, and who asked it
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
    )


def run(settings: ServerSettings, config: Config) -> None:
    """Serve until the process is told to stop; questions that run then have a while to end."""
    check(settings, config)
    sys.setswitchinterval(_SWITCH)
    if settings.log == "json":
        write_json_lines()
    app = create_app(assembled(settings, config))
    # No module and no model becomes garbage, and a full pass over all of them stops every thread for 60 ms and more.
    app.state.warmed = gc.freeze
    server = uvicorn.Server(listener(app, settings.host, settings.port))
    with suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        sys.exit(1)
