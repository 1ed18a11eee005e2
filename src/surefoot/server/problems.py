"""Problems of requests: a status, a code for programs, and a sentence that says what to do.

No sentence tells of the inside of the server: no path, no address, no library, no other tenant. What an operator needs
to know goes into the log.
"""

import errno
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from surefoot.types.errors import FieldFault, QuestionError, SurefootError
from surefoot.web import LANGUAGES, served

LOG = logging.getLogger("surefoot.server")

_BY_STATUS = {
    400: ("invalid", "the body cannot be read; send JSON in UTF-8, or a multipart form"),
    404: ("not_found", "there is nothing at this address; GET /openapi.json lists the addresses"),
    405: ("method", "this address does not take that method; the Allow header lists those that it takes"),
}
FULL = "the server's disk is full; delete documents, or ask whoever runs it"
_TYPES = {401: "authentication_error", 429: "rate_limit_error", 500: "server_error", 503: "server_error"}


class ErrorBody(BaseModel):
    """`code` for programs, `message` for people, and the two fields that OpenAI's clients read."""

    code: str
    message: str
    type: str
    param: None = None


class ProblemBody(BaseModel):
    """The body of every answer to a request that failed."""

    error: ErrorBody


class Problem(HTTPException):
    """A request that cannot be answered; `detail` is the sentence."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, message, headers)
        self.code = code

    def as_json(self) -> dict[str, Any]:
        """The body of the answer, in the shape of `ProblemBody`."""
        kind = _TYPES.get(self.status_code, "invalid_request_error")
        return {"error": {"code": self.code, "message": self.detail, "type": kind, "param": None}}

    def response(self) -> JSONResponse:
        """The answer."""
        return JSONResponse(self.as_json(), self.status_code, self.headers)


def invalid(message: str) -> Problem:
    """A body or a parameter that cannot be understood."""
    return Problem(400, "invalid", message)


def missing(thing: str) -> Problem:
    """The one answer for what does not exist and for what belongs to somebody else."""
    return Problem(404, "not_found", f"there is no such {thing}, or not for this key")


def problem_of(error: Exception) -> Problem:
    """The problem that any error is to the client. A fault of the server's is logged whole."""
    match error:
        case Problem():
            return error
        case QuestionError():
            return Problem(400, "question", "a question is text of 1 to 4,000 characters; shorten it, or ask something")
        case ClientDisconnect():
            return Problem(400, "cut_off", "the request broke off; send it again")
        case FieldFault():
            return invalid(str(error))
        case RequestValidationError():
            (first, *_) = error.errors()
            return invalid(_sentence({**first, "loc": first["loc"][1:]}))
        case ValidationError():
            return invalid(_sentence(error.errors()[0]))
        case HTTPException():
            code, message = _BY_STATUS.get(error.status_code, ("invalid", str(error.detail)))
            return Problem(error.status_code, code, message, error.headers)
    LOG.error("a request failed", exc_info=error)
    if is_disk_full(error):
        return Problem(507, "disk_full", FULL)
    if isinstance(error, SurefootError):
        return Problem(503, "unavailable", "this cannot be answered at present; try again, or ask whoever runs it")
    return Problem(500, "internal", "the server has a fault, which its log names; ask whoever runs it")


def is_disk_full(error: BaseException | None) -> bool:
    """Say whether an error, or one behind it, is that of a disk on which nothing more can be written."""
    if isinstance(error, sqlite3.Error):
        return vars(error).get("sqlite_errorcode") == sqlite3.SQLITE_FULL  # not there where we raised it
    own = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return own or (error is not None and is_disk_full(error.__cause__ or error.__context__))


def _sentence(fault: Mapping[str, Any]) -> str:
    """One of pydantic's errors with the field that it is about."""
    *above, last = [*fault["loc"]] or [""]
    place, parent = _path(fault["loc"]), _path(above)
    match fault["type"]:
        case "missing":
            return f"`{place}` is missing" if place else "the body is missing; send JSON"
        case "extra_forbidden":
            return f"{f'`{parent}`' if parent else 'the body'} has no field '{str(last)[:60]}'; see GET /openapi.json"
    return f"{f'`{place}`' if place else 'the body'}: {fault['msg'][:200]}"


def _path(parts: Sequence[str | int]) -> str:
    """Names and numbers as in `history[0].question`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).lstrip(".")[:100]


def language(request: Request) -> str:
    """The language of the page: the one that was chosen on it, else the first of the browser's that it has."""
    wanted = (request.cookies.get("language", ""), *request.headers.get("accept-language", "").split(","))
    tags = (one.partition(";")[0].partition("-")[0].strip().casefold() for one in wanted)
    return next((tag for tag in tags if tag in LANGUAGES), LANGUAGES[0])


async def answer_problem(request: Request, error: Exception) -> Response:
    """Answer an exception that left an endpoint; with all methods of an address, also where several routes share it; to
    a person who finds nothing with the page, which says so."""
    problem = problem_of(error)
    if problem.status_code == 405:
        here = (route for route in request.app.state.routes if route.path_regex.match(request.url.path))
        methods = {method for route in here for method in route.methods}
        problem.headers = {"Allow": ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))}
    if problem.status_code == 404 and request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(served(language(request)), 404)
    return problem.response()
