"""What goes wrong with a request: its status, a code for programs, and a sentence that says what to do.

No sentence tells of the inside of the server: no path, no address, no library, no other tenant. What an operator needs
to know goes into the log.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Match, Route

from surefoot.types.errors import FieldFault, QuestionError, SurefootError

LOG = logging.getLogger("surefoot.server")

_BY_STATUS = {
    404: ("not_found", "there is nothing at this address; GET /openapi.json lists the addresses"),
    405: ("method", "this address does not take that method; the Allow header lists those that it takes"),
}
_TYPES = {401: "authentication_error", 429: "rate_limit_error", 500: "server_error", 503: "server_error"}


class Problem(Exception):
    """A request that cannot be answered."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers

    def as_json(self) -> dict[str, Any]:
        """The body of the answer: `error.code` and `error.message`, with the two fields that OpenAI's clients read."""
        kind = _TYPES.get(self.status, "invalid_request_error")
        return {"error": {"code": self.code, "message": self.message, "type": kind, "param": None}}

    def response(self) -> JSONResponse:
        """The answer."""
        return JSONResponse(self.as_json(), self.status, self.headers)


def invalid(message: str) -> Problem:
    """A body or a parameter that cannot be understood."""
    return Problem(400, "invalid", message)


def missing(what: str) -> Problem:
    """The one answer for what does not exist and for what belongs to somebody else."""
    return Problem(404, "not_found", f"there is no such {what}, or not for this key")


def problem_of(error: Exception) -> Problem:
    """The problem that an error of ours, of Starlette's or of anybody's is to the client. What is no fault of the
    client's is logged whole."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, QuestionError):
        return Problem(400, "question", "a question is text of 1 to 4,000 characters; shorten it, or ask something")
    if isinstance(error, FieldFault):
        return invalid(str(error))
    if isinstance(error, HTTPException):
        code, message = _BY_STATUS.get(error.status_code, ("invalid", str(error.detail)))
        return Problem(error.status_code, code, message, error.headers)
    LOG.error("a request failed", exc_info=error)
    if isinstance(error, SurefootError):
        return Problem(503, "unavailable", "this cannot be answered at present; try again, or ask whoever runs it")
    return Problem(500, "internal", "the server has a fault, which its log names; ask whoever runs it")


async def answer_problem(request: Request, error: Exception) -> JSONResponse:
    """Starlette's handler of exceptions."""
    problem = problem_of(error)
    if problem.status == 405:
        problem.headers = {"Allow": _allowed(request)}
    return problem.response()


def _allowed(request: Request) -> str:
    """The methods of this address, also where several routes share it: Starlette names those of the first alone."""
    routes = (route for route in request.app.routes if isinstance(route, Route))
    fitting = (route for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    return ", ".join(sorted({method for route in fitting for method in route.methods or ()}))
