"""The page that asks, its files, and whether the server is well."""

from __future__ import annotations

import asyncio
import re
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from surefoot.errors import SurefootError
from surefoot.server.problems import LOG, Problem, missing
from surefoot.server.service import service

_WEB = files("surefoot") / "web"
_NAME = re.compile(r"[a-z0-9_-]+\.(js|css|svg|png|woff2)")
_KINDS = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "woff2": "font/woff2",
}


async def get_page(_: Request) -> Response:
    """The page."""
    page = _WEB / "ask.html"
    if not page.is_file():
        return PlainTextResponse("Surefoot answers at POST /ask; GET /openapi.json says how.\n")
    return Response(page.read_bytes(), media_type="text/html; charset=utf-8")


async def get_static(request: Request) -> Response:
    """A file of the page. Its name is one of a few letters and a known ending: none leads out of the folder."""
    name = request.path_params["name"]
    if not (found := _NAME.fullmatch(name)) or not (file := _WEB / name).is_file():
        raise missing("file")
    return Response(file.read_bytes(), media_type=_KINDS[found[1]], headers={"Cache-Control": "no-cache"})


async def get_health(_: Request) -> Response:
    """Whether the process answers; no work is done for it."""
    return JSONResponse({"status": "ok"})


async def get_ready(request: Request) -> Response:
    """Whether questions can be answered: the models are loaded."""
    try:
        await asyncio.to_thread(lambda: service(request).library.evaluator)
    except SurefootError as error:
        LOG.error("not ready", exc_info=error)
        raise Problem(503, "unready", "the server cannot answer yet; its log says why") from None
    return JSONResponse({"status": "ready"})


async def get_metrics(request: Request) -> Response:
    """Counts since the server began, as Prometheus reads them."""
    here = service(request)
    workers = here.workers
    told = here.metrics.text(
        places_taken=workers.taken,
        places=workers.count + workers.waiting,
        refused_total=workers.refused,
        jobs_waiting=here.jobs.waiting,
    )
    return PlainTextResponse(told, media_type="text/plain; version=0.0.4; charset=utf-8")


ROUTES = [
    Route("/", get_page, methods=["GET"]),
    Route("/static/{name}", get_static, methods=["GET"]),
    Route("/health", get_health, methods=["GET"]),
    Route("/ready", get_ready, methods=["GET"]),
    Route("/metrics", get_metrics, methods=["GET"]),
]
