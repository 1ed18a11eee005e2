"""Any cross-encoder of Hugging Face that classifies a question and a passage read together."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Encoding

from surefoot.evidence.policies import finite, fitted_for, require_fitted
from surefoot.models.checkpoint import Checkpoint, MaxPieces, opened
from surefoot.network import Network
from surefoot.run import meter
from surefoot.types import Grade, Passage, Thresholds
from surefoot.types.errors import ConfigError, ModelError
from surefoot.types.protocols import Pair
from surefoot.types.ranges import Count

_LEAST = 8
"""Pieces of a passage that a window must have room for."""

Window = tuple[Encoding, tuple[int, int] | None]
"""The model's input, and its offsets in the passage's text; None: it is the whole text."""


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
        batch: Count = 1,
        max_pieces: MaxPieces = 512,
        device: str | None = None,
        network: Network | None = None,
    ) -> None:
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
        return graded(self._checkpoint, self._batch, pairs, self._windows, self._score)

    def _windows(self, question: str, passage: Passage) -> list[Window] | str:
        if reason := lacking(question, passage):
            return reason
        asking = self._checkpoint.pieces(question)
        room = self._max_pieces - len(asking.ids) - self._checkpoint.marks_around(pair=True)
        if room < _LEAST:
            return f"the question leaves no room in the {self._max_pieces} pieces that the model reads"
        head = f"{passage.title}\n" if passage.title else ""
        whole = self._checkpoint.pieces(head + passage.text)
        whole.truncate(room, stride=room // 4)
        parts = [whole, *whole.overflowing]
        spans = [_span(part, len(head)) if len(parts) > 1 else None for part in parts]
        return [(self._checkpoint.finished(asking, part), span) for part, span in zip(parts, spans, strict=True)]

    def _score(self, logits: Sequence[float]) -> float:
        if not self._two_labels:
            return logits[0]
        return 1 / (1 + math.exp(min(logits[0] - logits[1], 700)))  # e^700 is still a float


def graded(
    checkpoint: Checkpoint,
    batch: int,
    pairs: Sequence[Pair],
    read: Callable[[str, Passage], list[Window] | str],
    score: Callable[[Sequence[float]], float],
) -> tuple[Grade, ...]:
    """One grade a pair: of its best window, by the `score` of its logits. `read` gives the windows of a pair, or the
    reason why there is nothing to grade."""
    meter.count(graded=len(pairs))
    found = [read(*pair) for pair in pairs]
    inputs = [window for windows in found if not isinstance(windows, str) for window, _ in windows]
    rows = map(score, checkpoint.logits(inputs, batch))
    return tuple(
        Grade(passage.id, None, reason=windows)
        if isinstance(windows, str)
        else _best(passage, [(next(rows), span) for _, span in windows])
        for (_, passage), windows in zip(pairs, found, strict=True)
    )


def lacking(question: str, passage: Passage) -> str:
    """Why there is nothing to grade; empty: there is a question and a text."""
    if not question.strip():
        return "there is no question"
    return "" if passage.text.strip() else "the passage has no text"


def _best(passage: Passage, windows: Sequence[tuple[float, tuple[int, int] | None]]) -> Grade:
    """The grade by the best window, or by one whose score is no number."""
    score, span = max(windows, key=lambda window: (not math.isfinite(window[0]), window[0]))
    reason = f"read up to character {span[1]} of {len(passage.text)}" if span else ""
    if len(windows) > 1:
        reason = f"the best of {len(windows)} windows"
    return finite(Grade(passage.id, score, reason=reason, window=span))


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
