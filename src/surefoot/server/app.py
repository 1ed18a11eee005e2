"""The application: its parts, its addresses, and what happens when it starts and stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp

from surefoot.config.settings import Config
from surefoot.server import chat, documents, evaluations, marking, openapi, pages, questions, rerank, responses
from surefoot.server.conversations import Conversations
from surefoot.server.door import Door
from surefoot.server.feedback import Feedback
from surefoot.server.jobs import Jobs
from surefoot.server.keys import Keys
from surefoot.server.library import Library
from surefoot.server.metrics import Metrics
from surefoot.server.problems import LOG, Problem, answer_problem
from surefoot.server.service import Service
from surefoot.server.settings import ServerSettings
from surefoot.server.traces import Traces
from surefoot.server.workers import Workers
from surefoot.types.errors import SurefootError

_HOUR = 3600
ROUTES = [
    *questions.ROUTES,
    *documents.ROUTES,
    *marking.ROUTES,
    *chat.ROUTES,
    *responses.ROUTES,
    *rerank.ROUTES,
    *evaluations.ROUTES,
    *pages.ROUTES,
    *openapi.ROUTES,
]


def assembled(settings: ServerSettings, config: Config) -> Service:
    """The parts of a server, over the folders that the settings name."""
    folder = Path(settings.folder) / "collections"
    library = Library(folder, config)
    return Service(
        settings,
        library,
        Workers(settings.workers, settings.waiting, settings.seconds),
        Jobs(folder, settings.keep_days, library.update, settings.waiting),
        Traces(Path(settings.runs) / "serve", settings.keep_days),
        Conversations(folder, settings.keep_days),
        Feedback(folder),
        Metrics(),
    )


def keys_of(settings: ServerSettings) -> Keys:
    """The keys of a server."""
    return Keys(Path(settings.folder) / "keys.json")


class _Application(Starlette):
    """Starlette with the door before all of it: answers to faults pass it too."""

    def build_middleware_stack(self) -> ASGIApp:
        """Called once, with the first request."""
        state = self.state
        settings: ServerSettings = state.service.settings
        app, metrics = super().build_middleware_stack(), state.service.metrics
        return Door(app, state.keys, metrics, settings.host, settings.name, state.crowded)


def create_app(service: Service) -> Starlette:
    """The ASGI application over these parts, which it starts and stops. Whoever runs it may set `state.crowded`, which
    says whether more connections are open than the process can bear, and `state.warmed`, which is called once all is
    loaded."""
    handlers = dict.fromkeys((Problem, HTTPException, SurefootError, Exception), answer_problem)
    tools = _tools(service)
    routes = [*ROUTES, *([Route("/mcp", tools.asgi_app, methods=["POST"])] if tools else [])]
    app = _Application(routes=routes, exception_handlers=handlers, lifespan=_lifespan)
    app.state.service, app.state.openapi = service, openapi.document(ROUTES)
    app.state.keys, app.state.tools = keys_of(service.settings), tools
    app.state.crowded, app.state.warmed = lambda: False, lambda: None
    return app


def _tools(service: Service) -> Any:
    """What answers at `/mcp`; None: the extra is not installed."""
    if find_spec("mcp") is None:
        return None
    from surefoot.server import mcp

    return mcp.manager(service)


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    service: Service = app.state.service
    await asyncio.to_thread(service.library.recover)
    service.jobs.start(service.library.uploaded())
    tasks = [asyncio.create_task(_forgetting(service)), asyncio.create_task(_warming(app))]
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


def warm(service: Service) -> None:
    """Read the page's files, and load the models and the collection that is meant where none is named, before the first
    visitor and the first question."""
    pages.own_files()
    library = service.library
    try:
        library.grader()
        if library.index(library.default):
            library.pipeline(library.default)
    except SurefootError as error:
        LOG.error("the models cannot be loaded", exc_info=error)


async def _warming(app: Starlette) -> None:
    await asyncio.to_thread(warm, app.state.service)
    app.state.warmed()


async def _forgetting(service: Service) -> None:
    """Delete each hour what is older than the days for which it is kept."""
    while True:
        await asyncio.to_thread(service.traces.forget)
        await asyncio.to_thread(service.conversations.forget)
        await asyncio.to_thread(service.jobs.forget)
        await asyncio.sleep(_HOUR)
