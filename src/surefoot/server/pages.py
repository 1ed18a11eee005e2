"""The page that asks, its files, and whether the server is well."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from surefoot.server.bodies import body
from surefoot.server.door import COOKIE, unknown
from surefoot.server.problems import LOG, Problem, missing
from surefoot.server.service import service
from surefoot.types.errors import SurefootError
from surefoot.web import served, static

_KINDS = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml"}


async def get_page(_: Request) -> Response:
    """The page."""
    return Response(served(), media_type="text/html; charset=utf-8")


@cache
def own_files() -> dict[str, tuple[bytes, str, str]]:
    """The page's own files by name: content, media type and tag. A request names one of them or none."""
    found = [(place.name, place.name.rpartition(".")[2]) for place in (files("surefoot") / "web").iterdir()]
    return {name: _tagged(static(name).encode(), _KINDS[suffix]) for name, suffix in found if suffix in _KINDS}


def _tagged(content: bytes, kind: str) -> tuple[bytes, str, str]:
    return content, kind, f'"{sha256(content).hexdigest()[:32]}"'


async def get_static(request: Request) -> Response:
    """A file of the page."""
    if not (found := own_files().get(request.path_params["name"])):
        raise missing("file")
    content, kind, tag = found
    headers = {"Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


@dataclass(frozen=True, slots=True)
class SessionBody:
    """A key, as a person types it into the page."""

    key: str


async def post_session(request: Request) -> Response:
    """Keep a key in a cookie that no script can read, and that no other site's page has sent along."""
    given = await body(request, SessionBody, service(request).settings.body_bytes)
    if await asyncio.to_thread(request.app.state.keys.holder, given.key) is None:
        raise unknown()
    reply = Response(status_code=204)
    secure = request.url.scheme == "https"
    reply.set_cookie(COOKIE, given.key, httponly=True, samesite="strict", secure=secure, path="/")
    return reply


async def delete_session(_: Request) -> Response:
    """Forget the cookie."""
    reply = Response(status_code=204)
    reply.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return reply


async def get_health(_: Request) -> Response:
    """Whether the process answers; no work is done for it."""
    return JSONResponse({"status": "ok"})


async def get_ready(request: Request) -> Response:
    """Whether questions can be answered: every part is built. A model is read when it is first asked."""
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
    Route("/session", post_session, methods=["POST"]),
    Route("/session", delete_session, methods=["DELETE"]),
    Route("/health", get_health, methods=["GET"]),
    Route("/ready", get_ready, methods=["GET"]),
    Route("/metrics", get_metrics, methods=["GET"]),
]
