"""Any server's `/rerank`: the shape of Cohere and Jina, which vLLM, llama.cpp and `surefoot serve` have too."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, ValidationError

from surefoot.evidence.policies import fitted_for, require_fitted
from surefoot.network import Network
from surefoot.network.endpoint import JsonEndpoint
from surefoot.run import cancel, meter
from surefoot.text.words import encodable
from surefoot.types import Grade, Passage, Thresholds
from surefoot.types.protocols import Pair
from surefoot.types.ranges import Count

_ENVELOPE = 1 << 16
_PER_TEXT = 1 << 10
"""Most bytes of an answer, and more for each text, beside as many as the texts have: some servers send them back."""


class Rerank:
    """The relevance that a server's `/rerank` gives to a question and a passage.

    A passage is sent as title and text, `batch` at a time. What range scores have is up to the server: a cross-encoder
    behind one may give probabilities or raw logits, so there are no thresholds until they are `fitted`: a table of
    `upper`, `lower` and `strip`. A reranker of retrieval (`[retriever] use = "reranked"`) needs none. `base_url` is
    what stands before `/rerank`, such as `https://api.jina.ai/v1`; it, `key_env`, `timeout`, `retries` and `network`
    are those of a `JsonEndpoint`, and so are the errors.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        key_env: str = "RERANK_API_KEY",
        fitted: Thresholds | Mapping[str, Any] | None = None,
        batch: Count = 64,
        timeout: float = 60.0,
        retries: int = 2,
        network: Network | None = None,
    ) -> None:
        self._endpoint = JsonEndpoint(model, base_url, key_env, timeout, retries, network)
        self._batch = batch
        self.name = f"rerank:{model}"
        self._fitted = None if fitted is None else fitted_for(self.name, fitted)

    @property
    def thresholds(self) -> Thresholds:
        """Those that it was given; raises ConfigError when there are none."""
        return require_fitted(self._fitted, self.name)

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair; without a question or a text there is nothing to grade. A request for each question and
        `batch` of its passages. Raises EndpointError."""
        meter.count(graded=len(pairs))
        texts_of: dict[str, dict[str, None]] = {}
        for question, passage in pairs:
            if question.strip() and passage.text.strip():
                texts_of.setdefault(question, {})[_text(passage)] = None
        scores = {question: self._scored(question, [*texts]) for question, texts in texts_of.items()}
        return tuple(_grade(question, passage, scores) for question, passage in pairs)

    def _scored(self, question: str, texts: Sequence[str]) -> dict[str, float]:
        found: dict[str, float] = {}
        for start in range(0, len(texts), self._batch):
            cancel.check()
            part = texts[start : start + self._batch]
            found |= zip(part, self._scores(question, part), strict=True)
        return found

    def _scores(self, question: str, texts: Sequence[str]) -> list[float]:
        documents = [*map(encodable, texts)]
        request = {"model": self._endpoint.model, "query": encodable(question), "documents": documents}
        most = _ENVELOPE + sum(_PER_TEXT + 8 * len(text) for text in texts)
        sent = self._endpoint.json("rerank", most, {**request, "top_n": len(texts)})
        try:
            scores = {one.index: one.relevance_score for one in _Results.model_validate(sent).results}
        except ValidationError:
            scores = {}
        if scores.keys() != {*range(len(texts))}:
            raise self._endpoint.nonsense(f"no score for each of {len(texts)} texts", sent)
        return [scores[n] for n in range(len(texts))]


class _Result(BaseModel):
    model_config = ConfigDict(strict=True)

    index: int
    """The place of the text, from 0."""
    relevance_score: Annotated[float, Ge(-1e9), Le(1e9)]


class _Results(BaseModel):
    results: list[_Result]


def _grade(question: str, passage: Passage, scores: Mapping[str, Mapping[str, float]]) -> Grade:
    if not question.strip() or not passage.text.strip():
        return Grade(passage.id, None, reason="there is no question" if passage.text.strip() else "no text")
    return Grade(passage.id, scores[question][_text(passage)])


def _text(passage: Passage) -> str:
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text
