"""`/v1/rerank` and `/v1/embeddings`: the evaluator and the embedder alone, in the shapes that other programs call; and
`/v1/grade`, the evaluator as another Surefoot calls it.

Any name of a model is taken by the first two: each has one, and programs ask for a name that they know, or make one up.
"""

import base64
from typing import Annotated, Any, Literal
from uuid import uuid4

import numpy as np
from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from surefoot.run.cancel import check
from surefoot.server.http import Body, CompatibleBody, JsonRoute, awaited
from surefoot.server.problems import Problem, invalid
from surefoot.server.questions import bounded, grade, limited
from surefoot.server.service import RequestCaller
from surefoot.types import Grade, Passage
from surefoot.types.protocols import Matrix

router = APIRouter(route_class=JsonRoute)
MOST = 1000
"""Documents of a request."""
MOST_INPUTS = 2048
"""Texts of a request for embeddings, as OpenAI has it."""
_BATCH = 64
"""Texts that are embedded between two looks whether the client is still there."""
_NO_TOKENS = {"prompt_tokens": 0, "total_tokens": 0}
"""Tokens of language models; nothing is billed here."""


class RerankDocument(CompatibleBody):
    """A document that is no bare text."""

    text: str


class RerankBody(CompatibleBody):
    """Documents to put into order; other fields are ignored."""

    query: str
    documents: Annotated[tuple[str | RerankDocument, ...], Field(min_length=1, max_length=MOST)]
    model: str | None = None
    top_n: Annotated[int, Field(ge=1)] | None = None
    top_k: Annotated[int, Field(ge=1)] | None = None
    """Voyage's name of `top_n`."""
    return_documents: bool | None = None


@router.post("/v2/rerank")
@router.post("/v1/rerank")
async def post_rerank(body: RerankBody, request: Request, caller: RequestCaller) -> dict[str, Any]:
    """Order documents by the probability that they answer the query, the likeliest first."""
    texts = [one if isinstance(one, str) else one.text for one in body.documents]
    grades = await awaited(request, grade(caller, body.query, texts, "documents"))
    ranked = sorted(enumerate(map(_relevance, grades)), key=lambda one: -one[1])
    results = [
        {"index": number, "relevance_score": score}
        | ({"document": {"text": texts[number]}} if body.return_documents else {})
        for number, score in ranked[: body.top_n or body.top_k or MOST]
    ]
    # Jina's and Cohere's clients read `results`, Voyage's and Continue read `data`; Cohere's bill is in `meta`.
    lists = {"object": "list", "results": results, "data": results}
    version = request.url.path.partition("/v")[2][:1]
    meta = {"api_version": {"version": version}, "billed_units": {"search_units": 0}}
    return {"id": str(uuid4()), "model": body.model or "surefoot", **lists, "usage": _NO_TOKENS, "meta": meta}


def _relevance(one: Grade) -> float:
    """The probability that it answers; of an evaluator that is not calibrated, its score."""
    relevance = one.score if one.probability is None else one.probability
    if relevance is None:  # a failure is no 0, and a list without it would shift the others
        number = int(one.passage_id) - 1
        raise Problem(422, "ungraded", f"`documents[{number}]` could not be graded; leave it out")
    return relevance


class GradePassage(Body):
    """A passage as an evaluator reads it; a blank one gets a grade without a score."""

    text: str
    title: str = ""


class GradeBody(Body):
    """Passages of one question, for an evaluator of this name."""

    evaluator: str
    """The name of the evaluator whose grades are wanted."""
    question: str
    passages: Annotated[tuple[GradePassage, ...], Field(min_length=1, max_length=MOST)]


class GradeList(BaseModel):
    """A grade for each passage, in their order; `passage_id` is the passage's number, from 1."""

    grades: tuple[Grade, ...]


@router.post("/v1/grade")
async def post_grade(body: GradeBody, request: Request, caller: RequestCaller) -> GradeList:
    """Grade passages just as the evaluator does in a pipeline, for `[evaluator] use = "remote"` of another machine. 409
    where the evaluator of this server has another name: its grades would be on another scale."""
    limited((body.question, *(text for one in body.passages for text in (one.title, one.text))), "passages")
    pairs = [(body.question, Passage(str(n), one.text, title=one.title)) for n, one in enumerate(body.passages, 1)]

    def work(_: object) -> tuple[Grade, ...]:
        evaluator = caller.service.collections.grader().evaluator
        if evaluator.name != body.evaluator:
            message = f"this server grades with {evaluator.name}, not with {body.evaluator[:80]}"
            raise Problem(409, "evaluator", f"{message}; have the same version and [evaluator] on both machines")
        return evaluator.grade(pairs)

    return GradeList(grades=await awaited(request, caller.service.workers.start(work, caller.owner)))


class EmbeddingsBody(CompatibleBody):
    """Texts to embed; other fields are ignored."""

    input: str | Annotated[tuple[str | int | tuple[int, ...], ...], Field(min_length=1, max_length=MOST_INPUTS)]
    """Tokens are refused: they are numbers of somebody else's vocabulary."""
    model: str | None = None
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    """Refused, unless it is what the embedder has."""


@router.post("/v1/embeddings")
async def post_embeddings(body: EmbeddingsBody, request: Request, caller: RequestCaller) -> dict[str, Any]:
    """Embed texts by the embedder of the index, each as a vector of length 1."""
    inputs = (body.input,) if isinstance(body.input, str) else body.input
    texts = [one for one in inputs if isinstance(one, str)]
    if len(texts) < len(inputs):
        raise invalid("`input` holds tokens, whose numbers mean nothing here; send texts")
    bounded(texts, "input")

    def work(_: object) -> tuple[str, Matrix]:
        embedder = caller.service.collections.embedder
        if body.dimensions not in (None, embedder.dimensions):
            raise invalid(f"`dimensions` must be {embedder.dimensions}, which the embedder has; or leave it out")
        batches = []
        for start in range(0, len(texts), _BATCH):
            check()
            batches.append(embedder.embed(texts[start : start + _BATCH]))
        return embedder.name, np.concatenate(batches)

    name, vectors = await awaited(request, caller.service.workers.start(work, caller.owner))
    packed = body.encoding_format == "base64"
    data = [
        {"object": "embedding", "index": number, "embedding": _base64(row) if packed else row.tolist()}
        for number, row in enumerate(vectors)
    ]
    return {"object": "list", "data": data, "model": name, "usage": _NO_TOKENS}


def _base64(row: Matrix) -> str:
    return base64.b64encode(row.astype("<f4").tobytes()).decode()
