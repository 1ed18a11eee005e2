"""The page that asks, its files, the evaluations that it shows, and the health of the server.

A run of `surefoot evaluate` is of no collection, so that no key can open one: they are shown only where nobody needs a
key.
"""

import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response
from starlette.staticfiles import StaticFiles

from surefoot.evaluate.report.page import page, policy, read
from surefoot.server.access import COOKIE, unknown_key
from surefoot.server.http import HTML, Body, JsonRoute
from surefoot.server.problems import LOG, Problem, language, missing
from surefoot.server.service import Caller, RequestCaller
from surefoot.types.errors import SurefootError
from surefoot.web import served

router = APIRouter(route_class=JsonRoute)


class SessionBody(Body):
    """A key, as a person types it into the page."""

    key: str


@router.get("/", response_class=Response, responses=HTML)
async def get_page(request: Request) -> Response:
    """Return the page, in the language that was chosen on it or that the browser asks for."""
    return Response(served(language(request)), media_type="text/html; charset=utf-8")


class PageFiles(StaticFiles):
    """The page's own scripts, styles and pictures."""

    def __init__(self) -> None:
        super().__init__(directory=str(files("surefoot") / "web"))

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Find a file of the page; templates and modules of Python are none."""
        return super().lookup_path(path) if path.endswith((".js", ".css", ".svg")) else ("", None)

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return a file that the browser asks for again by its tag."""
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


@router.post("/session", status_code=204, response_class=Response)
def post_session(body: SessionBody, request: Request) -> Response:
    """Begin a session. Its id is stored in a cookie that no script can read, and that no other site's page has sent
    along; it is not the key, and opens nothing once the session ended, the key is removed, or the server stopped."""
    if (session := request.app.state.keys.begin_session(body.key)) is None:
        raise unknown_key()
    reply = Response(status_code=204)
    secure = request.url.scheme == "https"
    reply.set_cookie(COOKIE, session, httponly=True, samesite="strict", secure=secure, path="/")
    return reply


@router.delete("/session", status_code=204, response_class=Response)
async def delete_session(request: Request) -> Response:
    """End the session, and forget the cookie."""
    request.app.state.keys.end_session(request.cookies.get(COOKIE, ""))
    reply = Response(status_code=204)
    reply.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return reply


@router.get("/health")
async def get_health() -> dict[str, str]:
    """Say that the process answers; no work is done for it."""
    return {"status": "ok"}


@router.get("/ready")
def get_ready(caller: RequestCaller) -> dict[str, str]:
    """Say whether questions can be answered: every part is built. A model is read when it is first needed."""
    try:
        caller.service.collections.grader()
    except SurefootError as error:
        LOG.error("not ready", exc_info=error)
        raise Problem(503, "unready", "the server cannot answer yet; its log says why") from None
    return {"status": "ready"}


@router.get("/metrics", response_class=PlainTextResponse)
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


@router.get("/evaluations")
def get_evaluations(caller: RequestCaller) -> dict[str, Any]:
    """List the evaluations below the folder of runs, the latest first."""
    lines = [line for run in _runs(caller) if (line := _line(run))]
    return {"evaluations": sorted(lines, key=lambda line: line["created"], reverse=True)}


def _line(run: Path) -> dict[str, Any] | None:
    try:
        contents = read(run)
    except SurefootError:  # half written, or damaged; `surefoot view` says why
        return None
    created = str(contents.about.get("created", ""))
    return {"name": run.name, "created": created, "records": len(contents.records), "summaries": contents.summaries}


@router.get("/evaluations/{name}", response_class=Response, responses=HTML)
def get_evaluation(name: str, caller: RequestCaller) -> Response:
    """Return the page of one evaluation, for a frame of the page."""
    run = next((run for run in _runs(caller) if run.name == name), None)
    if run is None:
        raise missing("evaluation")
    headers = {"Content-Security-Policy": f"{policy()}; frame-ancestors 'self'"}
    return Response(page(read(run)), media_type="text/html; charset=utf-8", headers=headers)


def _runs(caller: Caller) -> Iterator[Path]:
    """The folders of the evaluations that this client may see."""
    if caller.trusted_client:
        yield from (file.parent for file in Path(caller.service.settings.runs).glob("*/records.jsonl"))
