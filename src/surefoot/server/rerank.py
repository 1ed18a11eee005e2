"""`/v1/rerank`: the evaluator alone, in the shape of the rerankers that chat clients and other engines can call."""

from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Request
from pydantic import Field

from surefoot.server.chat_completions import addressed
from surefoot.server.http import CompatibleBody, JsonRoute, awaited
from surefoot.server.problems import Problem
from surefoot.server.questions import grade
from surefoot.server.service import RequestCaller
from surefoot.types import Grade

router = APIRouter(route_class=JsonRoute)
MOST = 1000
"""Documents of a request."""


class RerankDocument(CompatibleBody):
    """A document that is no bare text."""

    text: str


class RerankBody(CompatibleBody):
    """Documents to put into order; other fields are ignored."""

    query: str
    documents: Annotated[tuple[str | RerankDocument, ...], Field(min_length=1, max_length=MOST)]
    model: str | None = None
    top_n: Annotated[int, Field(ge=1)] | None = None
    return_documents: bool | None = None


@router.post("/v1/rerank")
async def post_rerank(body: RerankBody, request: Request, caller: RequestCaller) -> dict[str, Any]:
    """Order documents by the probability that they answer the query, the likeliest first."""
    if body.model is not None:
        addressed(caller, body.model)
    texts = [one if isinstance(one, str) else one.text for one in body.documents]
    grades = await awaited(request, grade(caller, body.query, texts, "documents"))
    ranked = sorted(enumerate(map(_relevance, grades)), key=lambda one: -one[1])[: body.top_n or MOST]
    results = [
        {"index": number, "relevance_score": score}
        | ({"document": {"text": texts[number]}} if body.return_documents else {})
        for number, score in ranked
    ]
    usage = {"total_tokens": 0, "prompt_tokens": 0}
    # Jina's and Cohere's clients read `results`, Voyage's and Continue read `data`.
    lists = {"object": "list", "results": results, "data": results}
    return {"id": uuid4().hex, "model": body.model or "surefoot", **lists, "usage": usage}


def _relevance(one: Grade) -> float:
    """The probability that it answers; of an evaluator that is not calibrated, its score."""
    relevance = one.score if one.probability is None else one.probability
    if relevance is None:  # a failure is no 0, and a list without it would shift the others
        number = int(one.passage_id) - 1
        raise Problem(422, "ungraded", f"`documents[{number}]` could not be graded; leave it out")
    return relevance
