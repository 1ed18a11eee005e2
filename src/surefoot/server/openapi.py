"""`/openapi.json`, made from the values that the endpoints read and write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import getdoc
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from surefoot.server import chat, documents, evaluations, marking, pages, questions, rerank, responses
from surefoot.server.conversations import ConversationLine
from surefoot.server.feedback import Mark
from surefoot.server.jobs import Job
from surefoot.server.schemas import schema
from surefoot.server.traces import TraceLine
from surefoot.types import Attribution, Passage, Trace

EVENTS = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Operation:
    """What an endpoint takes and gives; its address and its words come from its route."""

    reply: Any = None
    """A type, or a mapping of names to types; None: no JSON, or none that is promised."""
    body: type | None = None
    status: int = 200
    kinds: Sequence[str] = ("application/json",)
    """Media types of the reply."""
    query: Sequence[str] = ()
    """Parameters behind the address; those of `_NUMBERS` are numbers, the others texts."""
    uploads: bool = False
    """The body may also be files."""


_COLLECTION = ("collection",)
_LISTED = ("collection", "before", "limit")
_NUMBERS = {
    "limit": {"type": "integer", "minimum": 1, "maximum": questions.MOST_LISTED},
    "end": {"type": "integer", "minimum": 0, "maximum": 10**9},
    "start": {"type": "integer", "minimum": 0, "maximum": 10**9},
    "number": {"type": "integer", "minimum": 0},
}
OPERATIONS: Mapping[Any, Operation] = {
    questions.post_ask: Operation(Trace, questions.QuestionBody, kinds=("application/json", EVENTS)),
    questions.get_traces: Operation({"traces": tuple[TraceLine, ...]}, query=_LISTED),
    questions.get_trace: Operation(Trace, query=_COLLECTION),
    questions.get_share: Operation(kinds=("text/html",), query=_COLLECTION),
    questions.post_explain: Operation(Attribution, questions.ExplainBody, query=_COLLECTION),
    questions.get_conversations: Operation({"conversations": tuple[ConversationLine, ...]}, query=_LISTED),
    questions.get_conversation: Operation(
        {"id": str, "title": str, "collection": str, "turns": tuple[Trace, ...], "feedback": tuple[Mark, ...]},
        query=_COLLECTION,
    ),
    questions.delete_conversation: Operation(status=204, kinds=(), query=_COLLECTION),
    documents.post_documents: Operation({"job": str}, documents.TextBody, 202, query=_COLLECTION, uploads=True),
    documents.get_documents: Operation(
        {"documents": tuple[documents.DocumentLine, ...], "next": str | None}, query=_LISTED
    ),
    documents.get_document: Operation(documents.DocumentLine, query=_COLLECTION),
    documents.get_text: Operation(
        {"document": documents.DocumentLine, "start": int, "end": int, "blocks": tuple[documents.TextBlock, ...]},
        query=("collection", "start", "end"),
    ),
    documents.get_page_picture: Operation(kinds=("image/png",), query=_COLLECTION),
    documents.delete_document: Operation({"job": str}, status=202, query=_COLLECTION),
    documents.get_passage: Operation(
        {"passage": Passage, "document": documents.DocumentLine, "before": str | None, "after": str | None},
        query=_COLLECTION,
    ),
    documents.get_collections: Operation({"collections": tuple[documents.CollectionLine, ...]}, query=_COLLECTION),
    documents.get_job: Operation(Job, kinds=("application/json", EVENTS), query=_COLLECTION),
    marking.post_feedback: Operation(body=Mark, status=204, kinds=(), query=_COLLECTION),
    chat.post_chat: Operation(body=chat.ChatBody, kinds=("application/json", EVENTS)),
    responses.post_response: Operation(body=responses.ResponsesBody, kinds=("application/json", EVENTS)),
    responses.get_response: Operation(query=_COLLECTION),
    responses.delete_response: Operation(query=_COLLECTION),
    rerank.post_rerank: Operation(body=rerank.RerankBody),
    evaluations.get_evaluation: Operation(kinds=("text/html",)),
    pages.get_page: Operation(kinds=("text/html",)),
    pages.get_static: Operation(kinds=("text/javascript", "text/css", "image/svg+xml")),
    pages.post_session: Operation(body=pages.SessionBody, status=204, kinds=()),
    pages.delete_session: Operation(status=204, kinds=()),
    pages.get_metrics: Operation(kinds=("text/plain",)),
}
"""Of the endpoints that take something, or give what has a schema."""
_PROBLEM = {
    "type": "object",
    "description": "What went wrong, and what to do.",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": "null"},
            },
            "required": ["code", "message"],
        }
    },
    "required": ["error"],
}


async def get_openapi(request: Request) -> Response:
    """This document."""
    return JSONResponse(request.app.state.openapi)


def document(routes: Sequence[Route]) -> dict[str, Any]:
    """The OpenAPI document of these routes."""
    named: dict[str, Any] = {"Problem": _PROBLEM}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        for method in sorted((route.methods or set()) - {"HEAD"}):
            paths.setdefault(re.sub(r":\w+}", "}", route.path), {})[method.lower()] = _operation(route, named)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Surefoot",
            "version": "1",
            "description": "Corrective RAG: answers with checked citations, and everything that led to them.",
        },
        "security": [{}, {"key": []}],
        "paths": paths,
        "components": {"schemas": named, "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
    }


def _operation(route: Route, named: dict[str, Any]) -> dict[str, Any]:
    of, said = OPERATIONS.get(route.endpoint, Operation()), getdoc(route.endpoint) or ""
    parameters = [_parameter(name, "path") for name in re.findall(r"{(\w+)[:}]", route.path)]
    return {
        "operationId": route.endpoint.__name__,
        "summary": said.partition("\n")[0],
        "parameters": parameters + [_parameter(name, "query") for name in of.query],
        **({"requestBody": _request(of, named)} if of.body else {}),
        "responses": {str(of.status): _reply(of, said, named), "default": _problem()},
    }


def _parameter(name: str, place: str) -> dict[str, Any]:
    kind = _NUMBERS.get(name, {"type": "string"})
    return {"name": name, "in": place, "required": place == "path", "schema": kind}


def _request(of: Operation, named: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": schema(of.body, named)}}
    if of.uploads:
        files = {"type": "array", "items": {"type": "string", "format": "binary"}}
        texts = {"collection": {"type": "string"}, "meta": {"type": "string", "contentMediaType": "application/json"}}
        form = {"type": "object", "properties": {"file": files, **texts}, "required": ["file"]}
        content["multipart/form-data"] = {"schema": form}
    return {"required": True, "content": content}


def _reply(of: Operation, said: str, named: dict[str, Any]) -> dict[str, Any]:
    content = {kind: {"schema": _given(of.reply, named)} if kind == "application/json" else {} for kind in of.kinds}
    return {"description": said.partition("\n")[0], **({"content": content} if content else {})}


def _given(reply: Any, named: dict[str, Any]) -> dict[str, Any]:
    if reply is None:
        return {"type": "object"}
    if not isinstance(reply, Mapping):
        return schema(reply, named)
    properties = {name: schema(kind, named) for name, kind in reply.items()}
    return {"type": "object", "properties": properties, "required": [*reply]}


def _problem() -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": "A problem: `error.code` for programs, `error.message` for people.", "content": content}


ROUTES = [Route("/openapi.json", get_openapi, methods=["GET"])]
