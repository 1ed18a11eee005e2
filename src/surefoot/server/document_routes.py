"""`/documents`, `/jobs`, `/passages` and `/collections`: files on their way in, and all that is there."""

import asyncio
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import IO, Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.responses import Response

from surefoot.documents.loaders import Unreadable, head_of, kind_unread, loader_of, needs_head
from surefoot.documents.reading import Request as Reading
from surefoot.index.contents import StoredDocument
from surefoot.index.readers import READERS
from surefoot.index.search import Index
from surefoot.run.store import write_bytes
from surefoot.server.collections import Suggestion
from surefoot.server.history import behind, size
from surefoot.server.http import Body, awaited, is_upload, reply, require_json
from surefoot.server.problems import LOG, Problem, invalid, missing
from surefoot.server.service import Caller, RequestCaller, Service
from surefoot.server.trace_routes import Limit
from surefoot.server.uploads import UploadForm, free_name, set_fields
from surefoot.server.workers import Job, Unread
from surefoot.text.blocks import parts
from surefoot.text.json_values import parsed
from surefoot.types import Block, Passage
from surefoot.types.metadata import Meta

router = APIRouter()
MOST_FILES = 1000
"""Files of one upload."""
Files = Sequence[tuple[str, IO[bytes]]]


class TextBody(Body):
    """A text as a document."""

    name: str
    text: str
    collection: str | None = None
    meta: dict[str, Any] = Field(default_factory=dict)
    """Fields that a filter can ask for."""


class JobStarted(BaseModel):
    """The id under which `GET /jobs/{id}` shows how far it has come."""

    job: str


_FORM = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "file": {"type": "array", "items": {"type": "string", "format": "binary"}},
        "collection": {"type": "string"},
        "meta": {"type": "string", "contentMediaType": "application/json"},
    },
}
_CONTENT = {"application/json": {"schema": TextBody.model_json_schema()}, "multipart/form-data": {"schema": _FORM}}


@router.post(
    "/documents",
    status_code=202,
    response_model=JobStarted,
    openapi_extra={"requestBody": {"required": True, "content": _CONTENT}},
)
async def post_documents(request: Request, caller: RequestCaller) -> Response:
    """Take files, or one text as JSON, and read them in; `GET /jobs/{id}` shows how far that has come.

    A field `meta` of the form, a JSON object, gives all of its files fields that a filter can ask for.
    """
    with caller.arriving():
        caller.collection(new=True)  # before a body of many megabytes is read
        if not is_upload(request.scope):
            require_json(request)
            body = TextBody.model_validate_json(await request.body())
            files: Files = [(body.name, io.BytesIO(body.text.encode()))]
            return started(await asyncio.to_thread(_take_in, caller, body.collection, files, body.meta))
        try:
            form = await UploadForm(request.headers, request.stream(), max_files=MOST_FILES).parse()
        except MultiPartException as error:
            if "Too many" not in error.message:
                raise invalid(error.message) from None
            message = f"an upload holds at most {MOST_FILES:,} files; send the others in another one"
            raise Problem(413, "too_many", message) from None
        try:
            files = [(one.filename or "", one.file) for _, one in form.multi_items() if isinstance(one, UploadFile)]
            collection, meta = str(form.get("collection") or ""), str(form.get("meta") or "{}")
            return started(await asyncio.to_thread(_take_in, caller, collection, files, meta))
        finally:
            await form.close()


def started(job: Job) -> Response:
    """The answer to a request that began a job."""
    return reply({"job": job.id}, 202, {"Location": f"/jobs/{job.id}"})


def _take_in(caller: Caller, name: str | None, files: Files, meta: Any) -> Job:
    """Store the files that can be read; the job also names those that cannot. `meta` may be JSON. Raises Problem, and
    FieldFault for fields that no document can have."""
    try:
        meta = parsed(meta.encode()) if isinstance(meta, str) else meta
    except ValueError as error:
        raise invalid(f"`meta` is not JSON: {error}") from error
    if not isinstance(meta, dict):
        raise invalid('`meta` must be an object of fields, such as {"product": "x"}')
    if not files:
        raise invalid("there is no file in the upload; send each as a part with a file name")
    fields, collection = Meta(meta), caller.collection(name, new=True)
    folder = caller.service.collections.uploads(collection)
    most = caller.service.settings.collection_bytes
    if sum(map(size, folder.glob("*"))) + sum(file.seek(0, io.SEEK_END) for _, file in files) > most:
        message = f"the files of a collection may have {most:,} bytes together; delete some, or send less"
        raise Problem(413, "quota", message)
    stored, unread = list[str](), list[Unread]()
    for sent, file in files:
        name = free_name(sent, stored)
        if reason := _unfit(name, file):
            unread.append(Unread(name or sent[:100], reason))
        else:
            file.seek(0)
            write_bytes(folder / name, file)
            stored.append(name)
    set_fields(folder, stored, fields)
    return caller.service.jobs.add(collection, tuple(stored), tuple(unread))


def _unfit(name: str, file: Any) -> str:
    """The reason why a file cannot be read; empty: it can."""
    if not name:
        return "has no name; send it with one, such as notes.md"
    file.seek(0)
    if not loader_of(name, head_of(file, name) if needs_head(name) else b""):
        return kind_unread(name)
    return ""


@router.get("/jobs/{id}", response_model=Job)
def get_job(id: str, caller: RequestCaller) -> Response:
    """Return a job as far as it has come."""
    job = caller.service.jobs.get(id)
    if job is None or job.collection not in caller.visible():
        raise missing("job")
    return reply(job)


MOST_READ = 20_000
"""Characters of a document's text that are returned where nobody says how many."""
_DRAWN_WITHIN = 20.0
"""Seconds for the picture of a page."""
Offset = Annotated[int, Query(ge=0, le=10**9)]


@dataclass(frozen=True, slots=True)
class CollectionLine:
    """A collection in a list."""

    name: str
    documents: int
    passages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLine(StoredDocument):
    """A document as a client sees it."""

    pages: int | None
    """None: it has no pages."""
    characters: int
    """Of its text."""
    uploaded: bool
    """False: it was indexed from a folder of the server's machine, and cannot be taken out here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock(Block):
    """A part of a document that is of one kind."""

    start: int
    """Offset in the document's text, as that of a passage; likewise `end`."""
    end: int


class CollectionList(BaseModel):
    """The collections of a caller."""

    collections: tuple[CollectionLine, ...]


class DocumentList(BaseModel):
    """A page of the documents; `next` is the `before` of the next page, None on the last."""

    documents: tuple[DocumentLine, ...]
    next: str | None


class DocumentText(BaseModel):
    """Whole blocks of a document's text."""

    document: DocumentLine
    start: int
    end: int
    blocks: tuple[TextBlock, ...]


class PassageDetail(BaseModel):
    """A passage, its document, and the ids of the passages before and after it; None: it is the first, or the last."""

    passage: Passage
    document: DocumentLine
    before: str | None
    after: str | None


@router.get("/documents", response_model=DocumentList)
def get_documents(caller: RequestCaller, limit: Limit = 50, before: str = "") -> Response:
    """List the documents of a collection, in the order in which they came: `limit` of them, behind the document
    `before`, which is the `next` of the page before."""
    index = caller.service.collections.index(caller.visible()[0])
    every = behind(index.documents() if index else (), before, lambda one: one.id)
    found = list(islice(every, limit + 1))
    lines = [_line(caller.service, index, one) for one in found[:limit] if index]
    return reply({"documents": lines, "next": lines[-1].id if len(found) > limit else None})


def _line(service: Service, index: Index, document: StoredDocument) -> DocumentLine:
    passages = index.text(document.id)
    pages = [int(at) for one in passages if (at := (one.url or "").partition("#page=")[2]).isdecimal()]
    return DocumentLine(
        **{field.name: getattr(document, field.name) for field in fields(document)},
        pages=max(pages, default=None),
        characters=max((passage.start + len(passage.text) for passage in passages), default=0),
        uploaded=service.collections.upload(document.collection, document.file) is not None,
    )


@router.get("/documents/{id}", response_model=DocumentLine)
def get_document(id: str, caller: RequestCaller) -> Response:
    """Describe a document: its title, size, fields, and what was not read of it."""
    return reply(_line(caller.service, *_document(caller, id)))


@router.get("/documents/{id}/text", response_model=DocumentText)
def get_text(id: str, caller: RequestCaller, start: Offset = 0, end: Offset | None = None) -> Response:
    """Return the text of a document in whole blocks: those that touch the characters from `start` to `end`."""
    end = start + MOST_READ if end is None else end
    index, document = _document(caller, id)
    near = (one for one in index.text(document.id) if one.start <= end and one.start + len(one.text) >= start)
    blocks = [block for one in near for block in _blocks(one, document.title)]
    blocks = [block for block in blocks if block.start <= end and block.end >= start]
    bounds = (blocks[0].start, blocks[-1].end) if blocks else (start, end)
    line = _line(caller.service, index, document)
    return reply({"document": line, "start": bounds[0], "end": bounds[1], "blocks": blocks})


def _blocks(passage: Passage, title: str) -> Iterator[TextBlock]:
    headings, place = tuple(passage.title.split(" › ")), (passage.url or "").partition("#")[2]
    path = headings[headings[:1] == (title,) :]
    for part in parts(passage.text):
        text, at = passage.text[part.start : part.end], passage.start + part.start
        yield TextBlock(text, part.kind, path, place, start=at, end=at + len(text))


@router.get(
    "/documents/{id}/pages/{number:int}.png",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}},
)
def get_page_picture(id: str, number: int, caller: RequestCaller) -> Response:
    """Draw a page of a PDF as a picture, in a process of its own."""
    index, document = _document(caller, id)
    place = index.place(document.file) if loader_of(document.file) == "pdf" else None
    if place is None:
        raise missing("page")
    content = place.read_bytes()
    try:
        picture = READERS.picture(Reading(place.name, "", len(content), body=content, picture=number), _DRAWN_WITHIN)
    except Unreadable as error:
        LOG.warning("a page was not drawn: %s", error)
        raise missing("page") from None
    return Response(picture, media_type="image/png")


@router.delete("/documents/{id}", status_code=202, response_model=JobStarted)
def delete_document(id: str, caller: RequestCaller) -> Response:
    """Take an uploaded file out, with all the documents in it."""
    _, document = _document(caller, id)
    place = caller.service.collections.upload(document.collection, document.file)
    if place is None:
        message = "it was indexed from a folder of the server's machine; take it out there"
        raise Problem(409, "not_uploaded", message)
    with caller.arriving():
        place.unlink(missing_ok=True)
        return started(caller.service.jobs.add(document.collection, (place.name,)))


@router.get("/passages/{id}", response_model=PassageDetail)
def get_passage(id: str, caller: RequestCaller) -> Response:
    """Return a passage, its document, and the ids of its neighbours."""
    for index in caller.indexes():
        if (passage := index.get(id)) and (document := index.owner(id)):
            ids = [one.id for one in index.text(document.id)]
            at = ids.index(id)
            before, after = ids[at - 1] if at else None, next(iter(ids[at + 1 :]), None)
            line = _line(caller.service, index, document)
            return reply({"passage": passage, "document": line, "before": before, "after": after})
    raise missing("passage")


def _document(caller: Caller, id: str) -> tuple[Index, StoredDocument]:
    """The document with this id, and its collection's index. Raises Problem where this key sees none."""
    for index in caller.indexes():
        document = index.document(id)
        if document and document.id == id:
            return index, document
    raise missing("document")


class SuggestionList(BaseModel):
    """Questions that the documents answer."""

    suggestions: tuple[Suggestion, ...]


@router.get("/suggestions", response_model=SuggestionList)
async def get_suggestions(request: Request, caller: RequestCaller) -> Response:
    """Suggest questions that the documents answer, in the usual collection or the one that `collection` names."""
    name, service = caller.visible()[0], caller.service
    work = service.workers.start(lambda _: service.collections.suggestions(name), caller.owner)
    made = await awaited(request, work)
    return reply({"suggestions": made})


@router.get("/collections", response_model=CollectionList)
def get_collections(caller: RequestCaller) -> Response:
    """List the collections that this key sees."""
    lines = []
    for name in caller.visible():
        index = caller.service.collections.index(name)
        info = index.info() if index else None
        lines.append(CollectionLine(name, info.documents if info else 0, info.passages if info else 0))
    return reply({"collections": lines})
