"""`/v1/rerank`: the evaluator alone, in the shape of the rerankers that chat clients and other engines can call."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event as Flag
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from surefoot.pipeline import checked
from surefoot.server.bodies import body
from surefoot.server.chat import model
from surefoot.server.problems import Problem, invalid
from surefoot.server.questions import awaited
from surefoot.server.service import service
from surefoot.types import Grade

MOST = 1000
"""Documents of a request."""


@dataclass(frozen=True, slots=True)
class RerankDocument:
    """A document that is no bare text."""

    text: str


@dataclass(frozen=True, slots=True)
class RerankBody:
    """Documents to put into order; other fields are passed over."""

    query: str
    documents: tuple[str | RerankDocument, ...]
    model: str | None = None
    top_n: int | None = None
    return_documents: bool | None = None


async def post_rerank(request: Request) -> Response:
    """The documents by the probability that they answer the query, the likeliest first."""
    here = service(request)
    asked = await body(request, RerankBody, here.settings.body_bytes, others=True)
    if asked.model is not None:
        model(request, asked.model)
    question, texts = checked(asked.query), _texts(asked)

    def work(_: Flag) -> tuple[Grade, ...]:
        return here.library.grader().grade(question, texts)

    grades = await awaited(request, here.workers.start(work))
    ranked = sorted(enumerate(map(_relevance, grades)), key=lambda one: -one[1])[: asked.top_n or MOST]
    results = [_result(number, score, texts if asked.return_documents else None) for number, score in ranked]
    usage = {"total_tokens": 0, "prompt_tokens": 0}
    # Jina's and Cohere's clients read `results`, Voyage's and Continue read `data`.
    lists = {"object": "list", "results": results, "data": results}
    return JSONResponse({"id": uuid4().hex, "model": asked.model or "surefoot", **lists, "usage": usage})


def _texts(asked: RerankBody) -> list[str]:
    if not 0 < len(asked.documents) <= MOST:
        raise invalid(f"`documents` must be a list of 1 to {MOST:,} texts")
    if asked.top_n is not None and asked.top_n < 1:
        raise invalid("`top_n` must be a whole number from 1 up")
    texts = [one if isinstance(one, str) else one.text for one in asked.documents]
    if blank := [number for number, text in enumerate(texts) if not text.strip()]:
        raise invalid(f"`documents[{blank[0]}]` holds no text; leave it out")
    return texts


def _relevance(grade: Grade) -> float:
    """The probability that it answers; of an evaluator that is not calibrated, its score."""
    relevance = grade.score if grade.probability is None else grade.probability
    if relevance is None:  # a failure is no 0, and a list without it would shift the others
        number = int(grade.passage_id) - 1
        raise Problem(422, "ungraded", f"`documents[{number}]` could not be graded; leave it out")
    return relevance


def _result(number: int, score: float, texts: list[str] | None) -> dict[str, Any]:
    document = {"document": {"text": texts[number]}} if texts else {}
    return {"index": number, "relevance_score": score, **document}


ROUTES = [Route("/v1/rerank", post_rerank, methods=["POST"])]
