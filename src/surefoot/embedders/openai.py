"""The embedding model behind any OpenAI-compatible endpoint: OpenAI, vLLM, Ollama, llama.cpp, TEI and the like."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.embedders.static import unit
from surefoot.network import Network
from surefoot.network.endpoint import JsonEndpoint
from surefoot.run import cancel
from surefoot.text.words import encodable
from surefoot.types.protocols import Matrix
from surefoot.types.ranges import Count

_ENVELOPE = 1 << 16  # most bytes of an answer
_PER_TEXT = 1 << 19  # and more for each text: 16,000 numbers of some thirty characters
_LARGEST = 1e9  # the largest number in a vector; a model's are below a thousand


class OpenAIEmbedder:
    """The vectors that an endpoint's `/embeddings` gives, at length 1.

    `query_prefix` is put before each question and `passage_prefix` before each other text, as e5's models want
    ("query: ", "passage: "). `batch` texts are sent at a time. `base_url`, `key_env`, `timeout`, `retries` and
    `network` are those of a `JsonEndpoint`, and so are the errors.

    `name` holds the model and a hash of model and prefixes, not the address or the weights: other weights under the
    same name go unnoticed unless their vectors have another length.
    """

    def __init__(
        self,
        model: str,
        base_url: str = "https://api.openai.com/v1",
        key_env: str = "OPENAI_API_KEY",
        batch: Count = 64,
        query_prefix: str = "",
        passage_prefix: str = "",
        timeout: float = 60.0,
        retries: int = 2,
        network: Network | None = None,
    ) -> None:
        self._endpoint = JsonEndpoint(model, base_url, key_env, timeout, retries, network)
        self._batch = batch
        self._query_prefix, self._passage_prefix = query_prefix, passage_prefix
        digest = hashlib.sha256(repr((model, query_prefix, passage_prefix)).encode()).hexdigest()
        self.name = f"openai:{model}-{digest[:8]}"

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector, learned from the endpoint's first answer; raises EndpointError."""
        return len(self._requested(["dimensions"])[0])

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Rows of length 1, one for each passage; 0 for a blank text, which is not sent. Raises EndpointError."""
        return self._embedded(texts, self._passage_prefix)

    def embed_questions(self, texts: Sequence[str]) -> Matrix:
        """The same for questions, which have a prefix of their own."""
        return self._embedded(texts, self._query_prefix)

    def _embedded(self, texts: Sequence[str], prefix: str) -> Matrix:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        numbered = [(n, prefix + text) for n, text in enumerate(map(encodable, texts)) if text.strip()]
        for start in range(0, len(numbered), self._batch):
            cancel.check()
            places, sent = zip(*numbered[start : start + self._batch], strict=True)
            found = self._requested(sent)
            if found.shape[1] != self.dimensions:
                lengths = f"vectors of {found.shape[1]} numbers after some of {self.dimensions}"
                raise self._endpoint.nonsense(lengths, "")
            rows[[*places]] = found
        return unit(rows)

    def _requested(self, texts: Sequence[str]) -> Matrix:
        """A row for each text, as the endpoint gave it."""
        request = {"model": self._endpoint.model, "input": [*texts]}
        sent = self._endpoint.json("embeddings", _ENVELOPE + _PER_TEXT * len(texts), request)
        rows = _rows(sent, len(texts))
        if rows is None:
            raise self._endpoint.nonsense(f"no vector for each of {len(texts)} texts", sent)
        return rows


def _rows(sent: Any, count: int) -> Matrix | None:
    """The vectors in the order of the texts; None: they are not whole, not of one length, or not of numbers."""
    try:
        placed = {one.get("index", n): one["embedding"] for n, one in enumerate(sent["data"])}
        rows = np.array([placed[n] for n in range(count)])
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    numbers = rows.ndim == 2 and rows.size > 0 and rows.dtype.kind in "if" and bool((np.abs(rows) <= _LARGEST).all())
    return rows.astype(np.float32) if numbers and len(sent["data"]) == count else None
