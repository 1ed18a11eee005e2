"""The cross-encoder's score beside what words say: names, edit similarity, and the kind of question."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from surefoot.evaluators.lexical import Lexical
from surefoot.evaluators.minilm import MiniLM
from surefoot.evidence.policies import fitted_for
from surefoot.text.json_values import parsed
from surefoot.text.words import fold, names, sentences, words
from surefoot.types import Grade, Passage, Thresholds
from surefoot.types.errors import ConfigError, ModelError
from surefoot.types.protocols import Pair

KINDS = ("who", "when", "where", "which", "what", "why", "how", "in", "is", "are", "was", "were", "do", "does", "did")
"""First words of questions, which stand for the question's intent."""
COMPARED = 64
"""Words of a question, a title or a sentence that are compared word by word; the time grows with their square."""
_LEXICAL = Lexical()


def _named(question: str, text: str) -> float:
    """Share of the question's names that the text holds, in [0, 1]; 0 where it has none."""
    sought, held = [fold(name) for name in names(question)], fold(text)
    return sum(name in held for name in sought) / len(sought) if sought else 0.0


def _alike(question: str, text: str) -> float:
    """Edit similarity of the words, in [0, 1]."""
    return SequenceMatcher(None, words(question)[:COMPARED], words(text)[:COMPARED], autojunk=False).ratio()


def _nearest(question: str, text: str) -> float:
    """Edit similarity of the question and the sentence that is most like it."""
    return max((_alike(question, text[start:end]) for start, end in sentences(text)), default=0.0)


def _overlap(question: str, passage: Passage) -> float:
    (grade,) = _LEXICAL.grade([(question, passage)])
    return grade.score or 0.0


OF_PAIR: dict[str, Callable[[str, Passage], float]] = {
    "words": _overlap,
    "names in text": lambda question, passage: _named(question, passage.text),
    "names in title": lambda question, passage: _named(question, passage.title),
    "edit title": lambda question, passage: _alike(question, passage.title),
    "edit sentence": lambda question, passage: _nearest(question, passage.text),
}
"""What is measured of a question and a passage, each in [0, 1]."""
NAMES = ("cross-encoder", *OF_PAIR, *KINDS)
"""All features, in the order of `row`."""


def row(logit: float, question: str, passage: Passage) -> list[float]:
    """The features of a pair: the cross-encoder's logit, `OF_PAIR`, and 1 at the kind of question."""
    first = next(iter(words(question)), "")
    measured = [measure(question, passage) for measure in OF_PAIR.values()]
    return [logit, *measured, *(float(first == kind) for kind in KINDS)]


@dataclass(frozen=True, slots=True)
class Card:
    """The content of features.json."""

    weights: tuple[float, ...]
    """One for each of `NAMES`."""
    intercept: float
    thresholds: Thresholds
    """Under the name of the evaluator, which holds that of the cross-encoder it was fitted for."""


class Features:
    """A linear model over `minilm`'s logit, names, edit similarity, word overlap and the kind of question.

    It ranks no better than `minilm` alone, at some more cost; the role's page has the figures. Score: the log-odds that
    the passage holds the answer, `probability` the same in [0, 1]. Span and window are the cross-encoder's, and what
    that cannot grade has no grade here. The weights are fitted for the `minilm` of the package, which it runs on so
    many `threads` (None: one for each core).
    """

    points = True
    reads = MiniLM.reads

    def __init__(self, threads: int | None = None) -> None:
        self._inner = MiniLM(threads=threads)
        self.name = f"features:{self._inner.name}"
        self._card = card(Path(__file__).with_suffix(".json"), self.name)
        self.thresholds = self._card.thresholds

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair. Raises ModelError when the cross-encoder does not load or run."""
        return tuple(self._moved(grade, *pair) for grade, pair in zip(self._inner.grade(pairs), pairs, strict=True))

    def _moved(self, grade: Grade, question: str, passage: Passage) -> Grade:
        if grade.score is None:
            return grade
        said = row(grade.score, question, passage)
        score = self._card.intercept + math.fsum(map(float.__mul__, self._card.weights, said))
        chance = 1 / (1 + math.exp(-score))
        return replace(
            grade, score=score, probability=chance, reason=f"{grade.reason}; without features {grade.score:.2f}"
        )


def card(path: Path, evaluator: str) -> Card:
    """The card in this file. Raises ModelError for one that is damaged, or that was fitted for another evaluator."""
    try:
        told: dict[str, Any] = parsed(path.read_text(encoding="utf-8"))
        weights = tuple(float(told["weights"][name]) for name in NAMES)
        return Card(weights, float(told["intercept"]), fitted_for(evaluator, told["thresholds"]))
    except (OSError, ValueError, TypeError, KeyError, ConfigError) as error:
        raise ModelError(
            f"the weights {path} of the evaluator 'features' cannot be used: {error}; fit them with "
            "benchmarks/features.py, or use minilm"
        ) from error
