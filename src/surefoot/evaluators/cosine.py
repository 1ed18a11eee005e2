"""The likeness of question and passage in an embedder's space."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.evidence.policies import fitted_for, require_fitted
from surefoot.run import meter
from surefoot.types import Grade, Thresholds
from surefoot.types.protocols import Embedder, Pair, embedded_questions

_FITTED_ON = (
    "PopQA and NQ questions with E5 passages: at or above τ+, {} of the questions have a passage that holds an answer; "
    "below τ−, {}"
)

FITTED: dict[str, Thresholds] = {
    embedder: Thresholds(upper, lower, strip, f"cosine:{embedder}", _FITTED_ON.format(above, below))
    for embedder, upper, lower, strip, above, below in [
        ("static-256-v1-65bd3593", 0.65, 0.4, 0.4, "69 % and 73 %", "27 % and 53 %"),
        ("minilm-int8-8199be6f", 0.65, 0.45, 0.4, "85 % and 68 %", "12 % and 0 %"),
    ]
}
"""Thresholds by the name of the embedder that they were fitted for."""


class Cosine:
    """Cosine of the question's and the passage's embedding; in [-1, 1].

    Likeness is not an answer: a passage that repeats the question scores higher than one that answers it. One
    embedding a distinct question and a distinct passage; no model call.

    `fitted`: a table of `upper`, `lower` and `strip`, needed for an embedder that is not in `FITTED`. Without it pairs
    can be graded, and thresholds be fitted to them, but no pipeline be built.
    """

    def __init__(self, embedder: Embedder, fitted: Thresholds | Mapping[str, Any] | None = None) -> None:
        self.embedder = embedder
        self.name = f"cosine:{embedder.name}"
        self._fitted = FITTED.get(embedder.name) if fitted is None else fitted_for(self.name, fitted)

    @property
    def thresholds(self) -> Thresholds:
        """Those that it was given, or those of its embedder; raises ConfigError when there are none."""
        return require_fitted(self._fitted, self.name)

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair; a text without words cannot be graded."""
        meter.count(graded=len(pairs))
        texts = list(dict.fromkeys(_text(p.title, p.text) for _, p in pairs))
        questions = list(dict.fromkeys(question for question, _ in pairs))
        rows = dict(zip(texts, self.embedder.embed(texts), strict=True))
        question_rows = dict(zip(questions, embedded_questions(self.embedder, questions), strict=True))
        return tuple(self._grade(p.id, question_rows[question], rows[_text(p.title, p.text)]) for question, p in pairs)

    def _grade(self, passage_id: str, question: np.ndarray, passage: np.ndarray) -> Grade:
        if not question.any() or not passage.any():
            return Grade(passage_id, None, reason="no known word to embed")
        return Grade(passage_id, float(question @ passage), reason="likeness of meaning")


def _text(title: str, text: str) -> str:
    return f"{title}\n{text}" if title else text
