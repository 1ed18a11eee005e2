"""`POST /documents` and `/jobs`: files on their way into a collection."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from typing import IO, Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import Response

from surefoot.documents.loaders import head_of, loader_of, needs_head, supported
from surefoot.server.jobs import Job, Unread
from surefoot.server.problems import Problem, invalid, missing
from surefoot.server.replies import reply
from surefoot.server.request_bodies import Body, is_upload, require_json
from surefoot.server.service import Caller, RequestCaller
from surefoot.server.uploads import safe_name, set_fields, write_upload
from surefoot.text.json_values import parsed
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
    with caller.service.jobs.arriving():
        caller.collection(new=True)  # before a body of many megabytes is read
        if not is_upload(request.scope):
            require_json(request)
            body = TextBody.model_validate_json(await request.body())
            files: Files = [(body.name, io.BytesIO(body.text.encode()))]
            return started(await asyncio.to_thread(_take_in, caller, body.collection, files, body.meta))
        try:
            async with request.form(max_files=MOST_FILES) as form:
                files = [(one.filename or "", one.file) for _, one in form.multi_items() if isinstance(one, UploadFile)]
                collection, meta = str(form.get("collection") or ""), str(form.get("meta") or "{}")
                return started(await asyncio.to_thread(_take_in, caller, collection, files, _json(meta)))
        except HTTPException as error:
            if "Too many" not in str(error.detail):
                raise
            message = f"an upload holds at most {MOST_FILES:,} files; send the others in another one"
            raise Problem(413, "too_many", message) from None


def started(job: Job) -> Response:
    """The answer to a request that began a job."""
    return reply({"job": job.id}, 202, {"Location": f"/jobs/{job.id}"})


def _json(meta: str) -> Any:
    try:
        return parsed(meta.encode())
    except ValueError as error:
        raise invalid(f"`meta` is not JSON: {error}") from error


def _take_in(caller: Caller, name: str | None, files: Files, meta: Any) -> Job:
    """Store the files that can be read; the job also names those that cannot. Raises Problem, and FieldFault for fields
    that no document can have."""
    if not isinstance(meta, dict):
        raise invalid('`meta` must be an object of fields, such as {"product": "x"}')
    if not files:
        raise invalid("there is no file in the upload; send each as a part with a file name")
    fields, collection = Meta(meta), caller.collection(name, new=True)
    folder = caller.service.collections.uploads(collection)
    stored, unread = [], []
    for sent, file in files:
        name = safe_name(sent)
        if reason := _unfit(name, file):
            unread.append(Unread(name or sent[:100], reason))
        else:
            write_upload(file, folder, name)
            stored.append(name)
    set_fields(folder, stored, fields)
    return caller.service.jobs.add(collection, tuple(stored), tuple(unread))


def _unfit(name: str, file: Any) -> str:
    """The reason why a file cannot be read; empty: it can."""
    if not name:
        return "has no name; send it with one, such as notes.md"
    file.seek(0)
    if not loader_of(name, head_of(file, name) if needs_head(name) else b""):
        return f"is of a kind that is not read; these are: {supported()}"
    return ""


@router.get("/jobs/{id}", response_model=Job)
def get_job(id: str, caller: RequestCaller) -> Response:
    """Return a job as far as it has come."""
    job = caller.service.jobs.get(id)
    if job is None or job.collection not in caller.visible():
        raise missing("job")
    return reply(job)
