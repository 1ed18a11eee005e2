"""`/documents`, `/jobs`, `/passages` and `/collections`: what a collection holds, and how it gets in and out."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from surefoot.corpus.loaders import loader_of, supported
from surefoot.server.bodies import body
from surefoot.server.jobs import Job, Unread
from surefoot.server.problems import Problem, invalid, missing
from surefoot.server.questions import stream
from surefoot.server.service import chosen, service, visible
from surefoot.server.uploads import kept, received, safe
from surefoot.store import to_json

_GLANCE = 0.2
"""Seconds between two looks at a job that is watched."""
_HEAD = 4096
"""Bytes of a file that tell its format where its name does not."""


@dataclass(frozen=True, slots=True)
class TextBody:
    """A text as a document."""

    name: str
    text: str
    collection: str | None = None


async def post_documents(request: Request) -> Response:
    """Take files, or one text as JSON, and read them in; `GET /jobs/{id}` tells how far that has come."""
    here = service(request)
    here.jobs.check()
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        collection = chosen(request, request.query_params.get("collection"), new=True)
        uploaded = await received(request, here.settings.upload_bytes, here.settings.upload_seconds)
        files = [(one.filename or "", one.file) for one in uploaded]
    else:
        text = await body(request, TextBody, here.settings.body_bytes)
        collection = chosen(request, text.collection or request.query_params.get("collection"), new=True)
        files = [(text.name, io.BytesIO(text.text.encode()))]
    try:
        job = await asyncio.to_thread(_taken_in, request, collection, files)
    finally:
        for _, file in files:
            file.close()
    return JSONResponse({"job": job.id}, 202, {"Location": f"/jobs/{job.id}"})


def _taken_in(request: Request, collection: str, files: list[tuple[str, Any]]) -> Job:
    """Keep the files that can be read; the job also tells of those that cannot."""
    if not files:
        raise invalid("there is no file in the upload; send each as a part with a file name")
    here = service(request)
    taken, unread = [], []
    for given, file in files:
        name = safe(given)
        if reason := _unfit(name, file):
            unread.append(Unread(name or given[:100], reason))
        else:
            kept(file, here.library.shelf(collection).uploads, name)
            taken.append(name)
    return here.jobs.add(collection, tuple(taken), tuple(unread))


def _unfit(name: str, file: Any) -> str:
    """The reason why a file cannot be taken; empty: it can."""
    if not name:
        return "has no name; send it with one, such as notes.md"
    file.seek(0)
    if not loader_of(name, file.read(_HEAD)):
        return f"is of a kind that is not read; these are: {supported()}"
    return ""


async def get_job(request: Request) -> Response:
    """A job, or the events of one until it is over."""
    job = _job(request)
    if "text/event-stream" in request.headers.get("accept", ""):
        return stream(_watched(request))
    return JSONResponse(to_json(job))


async def _watched(request: Request) -> AsyncIterator[dict[str, str]]:
    from json import dumps

    told = None
    while (job := service(request).jobs.get(request.path_params["id"])) and job != told:
        yield {"event": "job", "data": dumps(to_json(job))}
        told = job
        while told == job and job.state in ("waiting", "reading"):
            await asyncio.sleep(_GLANCE)
            job = service(request).jobs.get(job.id) or job


def _job(request: Request) -> Job:
    job = service(request).jobs.get(request.path_params["id"])
    if job is None or job.collection not in visible(request):
        raise missing("job")
    return job


async def get_collections(request: Request) -> Response:
    """The collections that this key sees."""
    return JSONResponse({"collections": [{"name": name} for name in visible(request)]})


def read_only() -> Problem:
    """The problem of taking a document out that was never uploaded."""
    return Problem(409, "not_uploaded", "it was indexed from a folder of the server's machine; take it out there")


ROUTES = [
    Route("/documents", post_documents, methods=["POST"]),
    Route("/jobs/{id}", get_job, methods=["GET"]),
    Route("/collections", get_collections, methods=["GET"]),
]
