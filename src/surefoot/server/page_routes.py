"""The page that asks, its files, and the health of the server."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from surefoot.server.access import COOKIE, unknown_key
from surefoot.server.problems import LOG, Problem, missing
from surefoot.server.replies import HTML
from surefoot.server.request_bodies import Body, JsonRoute
from surefoot.server.service import RequestCaller
from surefoot.types.errors import SurefootError
from surefoot.web import served, static

router = APIRouter(route_class=JsonRoute, default_response_class=Response)
_KINDS = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml"}


class SessionBody(Body):
    """A key, as a person types it into the page."""

    key: str


@router.get("/", responses=HTML)
async def get_page() -> Response:
    """Return the page."""
    return Response(served(), media_type="text/html; charset=utf-8")


@cache
def page_files() -> dict[str, tuple[bytes, str, str]]:
    """The page's own files by name: content, media type and tag. A request names one of them or none."""
    names = [file.name for file in (files("surefoot") / "web").iterdir()]
    return {name: _tagged(name) for name in names if name.rpartition(".")[2] in _KINDS}


def _tagged(name: str) -> tuple[bytes, str, str]:
    content = static(name).encode()
    return content, _KINDS[name.rpartition(".")[2]], f'"{sha256(content).hexdigest()[:32]}"'


@router.get(
    "/static/{name}", responses={200: {"content": {"text/javascript": {}, "text/css": {}, "image/svg+xml": {}}}}
)
async def get_static(name: str, request: Request) -> Response:
    """Return a file of the page."""
    if name not in page_files():
        raise missing("file")
    content, kind, tag = page_files()[name]
    headers = {"Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


@router.post("/session", status_code=204)
def post_session(body: SessionBody, request: Request) -> Response:
    """Store a key in a cookie that no script can read, and that no other site's page has sent along."""
    if request.app.state.keys.holder(body.key) is None:
        raise unknown_key()
    reply = Response(status_code=204)
    secure = request.url.scheme == "https"
    reply.set_cookie(COOKIE, body.key, httponly=True, samesite="strict", secure=secure, path="/")
    return reply


@router.delete("/session", status_code=204)
async def delete_session() -> Response:
    """Forget the cookie."""
    reply = Response(status_code=204)
    reply.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return reply


health = APIRouter()


@health.get("/health")
async def get_health() -> dict[str, str]:
    """Say that the process answers; no work is done for it."""
    return {"status": "ok"}


@health.get("/ready")
def get_ready(caller: RequestCaller) -> dict[str, str]:
    """Say whether questions can be answered: every part is built. A model is read when it is first needed."""
    try:
        _ = caller.service.collections.evaluator
    except SurefootError as error:
        LOG.error("not ready", exc_info=error)
        raise Problem(503, "unready", "the server cannot answer yet; its log says why") from None
    return {"status": "ready"}


@health.get("/metrics", response_class=PlainTextResponse)
async def get_metrics(caller: RequestCaller) -> Response:
    """Return counts since the server began, as Prometheus reads them."""
    workers = caller.service.workers
    text = caller.service.metrics.text(
        places_taken=workers.taken,
        places=workers.count + workers.waiting,
        refused_total=workers.refused,
        jobs_waiting=caller.service.jobs.waiting,
    )
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")
