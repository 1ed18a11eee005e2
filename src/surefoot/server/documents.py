"""`/documents`, `/jobs`, `/passages` and `/collections`: what a collection holds, and how it gets in and out."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from itertools import dropwhile, islice
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from surefoot.documents.loaders import Unreadable, head_of, loader_of, needs_head, supported
from surefoot.documents.reader_pool import Request as Reading
from surefoot.index.readers import READERS
from surefoot.index.search import Index, StoredDocument
from surefoot.run.store import to_json
from surefoot.server.bodies import body
from surefoot.server.jobs import Job, Unread
from surefoot.server.problems import LOG, Problem, invalid, missing
from surefoot.server.questions import MOST_LISTED, number, stream
from surefoot.server.service import Service, chosen, service, visible
from surefoot.server.uploads import kept, received, safe
from surefoot.text.blocks import parts
from surefoot.text.json_values import parsed
from surefoot.types import Passage
from surefoot.types.metadata import Meta

MOST_READ = 20_000
"""Characters of a document's text that are given where nobody says how many."""
_PAGE = re.compile(r"#page=(\d{1,6})")
_DRAWN_WITHIN = 20.0
"""Seconds for the picture of a page."""
_GLANCE = 0.2
"""Seconds between two looks at a job that is watched."""


@dataclass(frozen=True, slots=True)
class TextBody:
    """A text as a document."""

    name: str
    text: str
    collection: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    """Fields that a filter can ask for."""


@dataclass(frozen=True, slots=True)
class CollectionLine:
    """A collection in a list."""

    name: str
    documents: int
    passages: int


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """A document as a client sees it."""

    id: str
    title: str
    file: str
    """The path of its file as indexed."""
    kind: str
    """The loader that read it, such as "pdf"."""
    pages: int | None
    """None: it has no pages."""
    passages: int
    characters: int
    """Of its text."""
    meta: dict[str, Any]
    added: str
    """UTC, ISO 8601; empty: not known."""
    state: str
    """"ready", "unfinished" or "unread"."""
    because: str
    """What was not read of it, and why; empty: nothing to say."""
    uploaded: bool
    """False: it was indexed from a folder of the server's machine, and cannot be taken out here."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A part of a document that is of one kind."""

    kind: str
    text: str
    path: tuple[str, ...]
    """The headings above, without the document's title."""
    place: str
    """The end of an address within the document, such as "page=3"; empty: none."""
    start: int
    """Offset in the document's text, as that of a passage; likewise `end`."""
    end: int


async def post_documents(request: Request) -> Response:
    """Take files, or one text as JSON, and read them in; `GET /jobs/{id}` tells how far that has come.

    A field `meta` of the form, a JSON object, gives all of its files fields that a filter can ask for.
    """
    with service(request).jobs.arriving():
        job = await _received(request)
    return JSONResponse({"job": job.id}, 202, {"Location": f"/jobs/{job.id}"})


async def _received(request: Request) -> Job:
    here = service(request)
    labels: Any
    named = request.query_params.get("collection")
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        chosen(request, named, new=True)  # before a body of many megabytes is read
        form = await received(request, here.settings.upload_bytes, here.settings.upload_seconds)
        said, files = form.get("collection"), [one for _, one in form.multi_items() if isinstance(one, UploadFile)]
        given = [(one.filename or "", one.file) for one in files]
        named, labels = said if isinstance(said, str) and said else named, form.get("meta", "{}")
    else:
        text = await body(request, TextBody, here.settings.body_bytes)
        given, named = [(text.name, io.BytesIO(text.text.encode()))], text.collection or named
        labels = text.meta
    try:
        fields, collection = _fields(labels), chosen(request, named, new=True)
        return await asyncio.to_thread(_taken_in, here, collection, given, fields)
    finally:
        for _, file in given:
            file.close()


def _fields(said: Any) -> Meta:
    """The fields that an upload gives to its files. Raises Problem, and FieldFault for what no document can have."""
    try:
        found = parsed(said.encode()) if isinstance(said, str) else said
    except ValueError as error:
        raise invalid(f"`meta` is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise invalid('`meta` must be an object of fields, such as {"product": "x"}')
    return Meta(found)


def _taken_in(here: Service, collection: str, files: list[tuple[str, Any]], fields: Meta) -> Job:
    """Keep the files that can be read; the job also tells of those that cannot."""
    if not files:
        raise invalid("there is no file in the upload; send each as a part with a file name")
    uploads = here.library.uploads(collection)
    taken, unread = [], []
    for given, file in files:
        name = safe(given)
        if reason := _unfit(name, file):
            unread.append(Unread(name or given[:100], reason))
        else:
            kept(file, uploads, name)
            taken.append(name)
    here.library.labels.give(uploads, taken, fields)
    return here.jobs.add(collection, tuple(taken), tuple(unread))


def _unfit(name: str, file: Any) -> str:
    """The reason why a file cannot be taken; empty: it can."""
    if not name:
        return "has no name; send it with one, such as notes.md"
    file.seek(0)
    if not loader_of(name, head_of(file, name) if needs_head(name) else b""):
        return f"is of a kind that is not read; these are: {supported()}"
    return ""


async def get_job(request: Request) -> Response:
    """A job, or the events of one until it is over."""
    job = _job(request)
    if "text/event-stream" in request.headers.get("accept", ""):
        return stream(_watched(request))
    return JSONResponse(to_json(job))


async def _watched(request: Request) -> AsyncIterator[dict[str, str]]:
    told = None
    while (job := service(request).jobs.get(request.path_params["id"])) and job != told:
        yield {"event": "job", "data": json.dumps(to_json(job))}
        told = job
        while told == job and job.state in ("waiting", "reading"):
            await asyncio.sleep(_GLANCE)
            job = service(request).jobs.get(job.id) or job


def _job(request: Request) -> Job:
    job = service(request).jobs.get(request.path_params["id"])
    if job is None or job.collection not in visible(request):
        raise missing("job")
    return job


async def get_documents(request: Request) -> Response:
    """The documents of a collection, in the order in which they came: `limit` of them, behind the document `before`,
    which is the `next` of the page before."""
    here, name = service(request), visible(request)[0]
    limit, before = number(request, "limit", 50, MOST_LISTED), request.query_params.get("before", "")

    def listed() -> Response:
        index = here.library.index(name)
        every: Iterator[StoredDocument] = index.documents() if index else iter(())
        if before:
            every = islice(dropwhile(lambda one: one.id != before, every), 1, None)
        found = list(islice(every, limit + 1))
        lines = [_line(here, index, one) for one in found[:limit] if index]
        return JSONResponse({"documents": to_json(lines), "next": lines[-1].id if len(found) > limit else None})

    return await asyncio.to_thread(listed)


def _line(here: Service, index: Index, document: StoredDocument) -> DocumentLine:
    passages = index.text(document.id)
    pages = [int(found[1]) for passage in passages if (found := _PAGE.search(passage.url or ""))]
    about = {name: getattr(document, name) for name in ("added", "state", "because")}
    about["meta"] = dict(document.meta)
    uploaded = here.library.upload(document.collection, document.file) is not None
    length = max((passage.start + len(passage.text) for passage in passages), default=0)
    size = max(pages, default=None), len(passages), length
    return DocumentLine(
        document.id, document.title, document.file, _kind(document.file), *size, **about, uploaded=uploaded
    )


def _kind(file: str) -> str:
    return loader_of(file) or "text"


async def get_document(request: Request) -> Response:
    """A document: its title, size, fields, and what was not read of it."""
    return JSONResponse(to_json(await asyncio.to_thread(lambda: _line(service(request), *_document(request)))))


async def get_text(request: Request) -> Response:
    """The text of a document in whole blocks: those that touch the characters from `start` to `end`."""
    start = number(request, "start", 0, 10**9)
    end = number(request, "end", start + MOST_READ, 10**9)

    def read() -> Response:
        index, document = _document(request)
        near = (one for one in index.text(document.id) if one.start <= end and one.start + len(one.text) >= start)
        blocks = [block for one in near for block in _blocks(one, document.title)]
        chosen = [block for block in blocks if block.start <= end and block.end >= start]
        about = {"document": _line(service(request), index, document), "start": start, "end": end}
        if chosen:
            about |= {"start": chosen[0].start, "end": chosen[-1].end}
        return JSONResponse(to_json({**about, "blocks": chosen}))

    return await asyncio.to_thread(read)


def _blocks(passage: Passage, title: str) -> Iterator[TextBlock]:
    headings, place = tuple(passage.title.split(" › ")), (passage.url or "").partition("#")[2]
    path = headings[headings[:1] == (title,) :]
    for part in parts(passage.text):
        said, at = passage.text[part.start : part.end], passage.start + part.start
        yield TextBlock(part.kind, said, path, place, at, at + len(said))


async def get_page_picture(request: Request) -> Response:
    """A page of a PDF as a picture; it is drawn in a process of its own."""

    def drawn() -> bytes:
        index, document = _document(request)
        place = index.place(document.file) if _kind(document.file) == "pdf" else None
        if place is None:
            raise missing("page")
        content = place.read_bytes()
        asked = Reading(place.name, "", len(content), body=content, picture=request.path_params["number"])
        try:
            return READERS.picture(asked, _DRAWN_WITHIN)
        except Unreadable as error:
            LOG.warning("a page was not drawn: %s", error)
            raise missing("page") from None

    return Response(await asyncio.to_thread(drawn), media_type="image/png")


async def delete_document(request: Request) -> Response:
    """Take an uploaded file out, with all the documents in it."""

    def taken_out() -> Job:
        here, (_, document) = service(request), _document(request)
        place = here.library.upload(document.collection, document.file)
        if place is None:
            raise read_only()
        with here.jobs.arriving():
            place.unlink(missing_ok=True)
            return here.jobs.add(document.collection, (place.name,))

    job = await asyncio.to_thread(taken_out)
    return JSONResponse({"job": job.id}, 202, {"Location": f"/jobs/{job.id}"})


async def get_passage(request: Request) -> Response:
    """A passage, its document, and the ids of the passages before and after it; None: it is the first, or the last."""
    id = request.path_params["id"]

    def found() -> dict[str, Any]:
        for index in _indexes(request):
            if (passage := index.get(id)) and (document := index.owner(id)):
                ids = [one.id for one in index.text(document.id)]
                at = ids.index(id)
                beside = {"before": ids[at - 1] if at else None, "after": next(iter(ids[at + 1 :]), None)}
                return {"passage": passage, "document": _line(service(request), index, document), **beside}
        raise missing("passage")

    return JSONResponse(to_json(await asyncio.to_thread(found)))


def _document(request: Request) -> tuple[Index, StoredDocument]:
    """The document that the path names, and the collection's index. Raises Problem where this key sees none."""
    for index in _indexes(request):
        document = index.document(request.path_params["id"])
        if document and document.id == request.path_params["id"]:
            return index, document
    raise missing("document")


def _indexes(request: Request) -> Iterator[Index]:
    for name in visible(request):
        if index := service(request).library.index(name):
            yield index


async def get_collections(request: Request) -> Response:
    """The collections that this key sees."""
    here = service(request)

    def counted() -> list[CollectionLine]:
        found = [(name, here.library.index(name)) for name in visible(request)]
        known = [(name, index.info() if index else None) for name, index in found]
        return [CollectionLine(name, of.documents if of else 0, of.passages if of else 0) for name, of in known]

    return JSONResponse({"collections": to_json(await asyncio.to_thread(counted))})


def read_only() -> Problem:
    """The problem of taking a document out that was never uploaded."""
    return Problem(409, "not_uploaded", "it was indexed from a folder of the server's machine; take it out there")


ROUTES = [
    Route("/documents", post_documents, methods=["POST"]),
    Route("/documents", get_documents, methods=["GET"]),
    Route("/documents/{id}/pages/{number:int}.png", get_page_picture, methods=["GET"]),
    Route("/documents/{id}/text", get_text, methods=["GET"]),
    Route("/documents/{id}", get_document, methods=["GET"]),
    Route("/documents/{id}", delete_document, methods=["DELETE"]),
    Route("/passages/{id}", get_passage, methods=["GET"]),
    Route("/jobs/{id}", get_job, methods=["GET"]),
    Route("/collections", get_collections, methods=["GET"]),
]
