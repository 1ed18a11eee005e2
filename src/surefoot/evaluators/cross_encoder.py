"""Any cross-encoder of Hugging Face that classifies a question and a passage read together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Encoding

from surefoot.evidence.policies import fitted_for, require_fitted
from surefoot.models.checkpoint import Checkpoint, check_batch, opened
from surefoot.network import Network
from surefoot.run import meter
from surefoot.types import Grade, Passage, Thresholds
from surefoot.types.errors import ConfigError, ModelError
from surefoot.types.protocols import Pair

_LEAST = 8
"""Pieces of a passage that a window must have room for."""

_Window = tuple[Encoding, tuple[int, int]]
"""The model's input, and its offsets in the passage's text."""


class CrossEncoder:
    """A reranker such as bge-reranker or ms-marco-MiniLM: its logit, or of two labels the second's probability.

    `model` is a folder, or a name on the hub, fetched once over `network` (None: one without restrictions). It reads
    title and text. A passage too long for `max_pieces` is read in windows that overlap by a quarter, and the best one's
    score counts; the title stands in the first alone. A raw logit's scale is the model's own, so a pipeline needs
    `fitted`: a table of `upper`, `lower` and `strip`. `name` holds a hash of the weights, so that thresholds fitted for
    one model are refused for another. `device` None takes a GPU that is there; a `batch` beyond 1 pays on one.
    """

    def __init__(
        self,
        model: str,
        fitted: Thresholds | Mapping[str, Any] | None = None,
        batch: int = 1,
        max_pieces: int = 512,
        device: str | None = None,
        network: Network | None = None,
    ) -> None:
        check_batch(batch, max_pieces)
        self._checkpoint = opened("AutoModelForSequenceClassification", model, device=device, network=network)
        self._two_labels = _labels(self._checkpoint) == 2
        self._batch, self._max_pieces = batch, min(max_pieces, self._checkpoint.longest)
        self.name = f"cross_encoder:{Path(model).name}-{self._checkpoint.fingerprint()}"
        self._fitted = None if fitted is None else fitted_for(self.name, fitted)

    @property
    def thresholds(self) -> Thresholds:
        """Those that it was given; raises ConfigError when there are none."""
        return require_fitted(self._fitted, self.name)

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair; without a question or a text there is nothing to grade."""
        meter.count(graded=len(pairs))
        read = [self._windows(*pair) for pair in pairs]
        inputs = [window for found in read if not isinstance(found, str) for window, _ in found]
        rows = iter(self._checkpoint.logits(inputs, self._batch))
        return tuple(
            Grade(passage.id, None, reason=found)
            if isinstance(found, str)
            else _best(passage.id, [(self._score(next(rows)), span) for _, span in found])
            for (_, passage), found in zip(pairs, read, strict=True)
        )

    def _windows(self, question: str, passage: Passage) -> list[_Window] | str:
        """The model's input for the pair, window by window; or the reason why there is nothing to grade."""
        if not question.strip() or not passage.text.strip():
            return "there is no question" if not question.strip() else "the passage has no text"
        asking = self._checkpoint.pieces(question)
        room = self._max_pieces - len(asking.ids) - self._checkpoint.marks_around(pair=True)
        if room < _LEAST:
            return f"the question leaves no room in the {self._max_pieces} pieces that the model reads"
        head = f"{passage.title}\n" if passage.title else ""
        whole = self._checkpoint.pieces(head + passage.text)
        whole.truncate(room, stride=room // 4)
        return [(self._checkpoint.finished(asking, w), _span(w, len(head))) for w in (whole, *whole.overflowing)]

    def _score(self, logits: Sequence[float]) -> float:
        if not self._two_labels:
            return logits[0]
        return 1 / (1 + math.exp(min(logits[0] - logits[1], 700)))  # e^700 is still a float


def _best(passage_id: str, windows: Sequence[tuple[float, tuple[int, int]]]) -> Grade:
    for score, span in windows:
        if not math.isfinite(score):
            return Grade(passage_id, None, reason=f"the model returned {score}", window=span)
    score, span = max(windows, key=lambda window: window[0])
    if len(windows) == 1:
        return Grade(passage_id, score)
    return Grade(passage_id, score, reason=f"the best of {len(windows)} windows", window=span)


def _span(window: Encoding, head: int) -> tuple[int, int]:
    offsets = window.offsets or [(head, head)]
    return max(0, offsets[0][0] - head), max(0, offsets[-1][1] - head)


def _labels(checkpoint: Checkpoint) -> int:
    if missing := sorted(checkpoint.lacking | checkpoint.misshapen):
        raise ModelError(
            f"{checkpoint.source} is no trained cross-encoder: its weights lack {missing[0]}; give a model that was "
            "trained for sequence classification"
        )
    labels = int(checkpoint.model.config.num_labels)
    if labels > 2:
        raise ConfigError(
            f"{checkpoint.source} has {labels} labels; a cross-encoder that grades has one (relevance) or two"
        )
    return labels
