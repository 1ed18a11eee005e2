"""Any sentence encoder of Hugging Face, such as e5, bge-m3 or gte, through its own tokeniser and pooling."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.embedders.static import unit
from surefoot.models.checkpoint import MaxPieces, beside, opened
from surefoot.network import Network
from surefoot.types.errors import ConfigError, ModelError
from surefoot.types.protocols import Matrix
from surefoot.types.ranges import Count

POOLINGS = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}  # nosec B105 # no password
"""Ways to make one vector of those of the pieces, as `1_Pooling/config.json` calls them and as `pooling` does."""

_UNDERSTOOD = ("Transformer", "Pooling", "Normalize")
"""Kinds of modules of sentence-transformers that are built here; others would change the vector."""


class TransformersEmbedder:
    """A transformer's last states, pooled into one vector of length 1.

    `model` is a folder, or a name on the hub, fetched once over `network` (None: one without restrictions); nobody's
    code is run. `pooling` is "mean", "cls" (the first piece's vector) or None: as its own `1_Pooling/config.json` says.
    `query_prefix` and `passage_prefix` None: those of its own `config_sentence_transformers.json`, or none; e5's models
    lack that file, and want "query: " and "passage: ". Pieces beyond `max_pieces` are not read. `device` None takes a
    GPU that is there; a `batch` beyond 1 pays on one, and lets a row's last digits depend on its neighbours.
    """

    def __init__(
        self,
        model: str,
        pooling: str | None = None,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        batch: Count = 1,
        max_pieces: MaxPieces = 512,
        device: str | None = None,
        network: Network | None = None,
    ) -> None:
        self._checkpoint = opened("AutoModel", model, device=device, network=network)
        # The pooler, which classifiers have and encoders often lack, is not used.
        if missing := sorted(name for name in self._checkpoint.lacking if not name.startswith("pooler.")):
            raise ModelError(f"{model} is no trained encoder: its weights lack {missing[0]}; give another model")
        self._pooling = pooling or _own_pooling(model, network)
        if self._pooling not in POOLINGS.values():
            raise ConfigError(f'pooling must be "mean" or "cls", not {self._pooling!r}')
        prompts = _prompts(model, network)
        own = prompts.get("passage", prompts.get("document", ""))
        self._query_prefix = prompts.get("query", "") if query_prefix is None else query_prefix
        self._passage_prefix = own if passage_prefix is None else passage_prefix
        self._batch, self._max_pieces = batch, min(max_pieces, self._checkpoint.longest)
        self.dimensions = int(self._checkpoint.model.config.hidden_size)
        form = (self._pooling, self._query_prefix, self._passage_prefix, self._max_pieces)
        digest = hashlib.sha256(repr((self._checkpoint.fingerprint(), *form)).encode()).hexdigest()
        self.name = f"transformers:{Path(model).name}-{digest[:8]}"

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Rows of length 1, one for each passage; 0 for a text without a piece. Raises ModelError when a run fails."""
        return self._embedded(texts, self._passage_prefix)

    def embed_questions(self, texts: Sequence[str]) -> Matrix:
        """The same for questions, which have a prefix of their own."""
        return self._embedded(texts, self._query_prefix)

    def _embedded(self, texts: Sequence[str], prefix: str) -> Matrix:
        read = {n: self._checkpoint.pieces(prefix + text) for n, text in enumerate(texts) if text.strip()}
        for pieces in read.values():
            pieces.truncate(self._max_pieces - self._checkpoint.marks_around(pair=False))
        inputs = {n: self._checkpoint.finished(pieces) for n, pieces in read.items() if pieces.ids}
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        if inputs:
            rows[[*inputs]] = self._checkpoint.rows([*inputs.values()], self._batch, self._pooled)
        if not np.isfinite(rows).all():
            raise ModelError(f"{self._checkpoint.source} returned a vector with numbers that are none; use another")
        return unit(rows)

    def _pooled(self, output: Any, mask: Any) -> Any:
        states = output.last_hidden_state.float()
        if self._pooling == "cls":
            return states[:, 0]
        seen = mask.unsqueeze(-1).float()
        return (states * seen).sum(1) / seen.sum(1)


def _own_pooling(model: str, network: Network | None) -> str:
    """The pooling that the checkpoint declares; raises ConfigError where it does not say, or says what is not built."""
    modules = beside(model, "modules.json", network) or []
    kinds = [str(one.get("type", "")).rpartition(".")[2] for one in modules if isinstance(one, dict)]
    if strange := [kind for kind in kinds if kind not in _UNDERSTOOD]:
        raise ConfigError(f"{model} has a module {strange[0]!r} behind its encoder, which is not supported")
    pooling = beside(model, "1_Pooling/config.json", network)
    known = pooling if isinstance(pooling, dict) else {}
    modes = [POOLINGS.get(str(key), str(key)) for key, on in known.items() if on is True and "pooling_mode_" in key]
    if len(modes) != 1 or modes[0] not in POOLINGS.values():
        reason = f"pools by {' and '.join(modes)}" if modes else "does not say how it pools"
        raise ConfigError(f'{model} {reason}; set pooling = "mean" or "cls"')
    return modes[0]


def _prompts(model: str, network: Network | None) -> dict[str, str]:
    """The prefixes that the checkpoint names."""
    content = beside(model, "config_sentence_transformers.json", network)
    prompts = content.get("prompts") if isinstance(content, dict) else None
    return {k: v for k, v in prompts.items() if isinstance(v, str)} if isinstance(prompts, dict) else {}
