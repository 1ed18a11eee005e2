"""How well does an evaluator point at the answer? Word overlap with the accepted answers, as SQuAD counts it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from surefoot.words import words

_ARTICLES = {"a", "an", "the"}


def exact(said: str, answers: Sequence[str]) -> bool:
    """Whether the words said are those of an answer, but for case, marks and articles."""
    return any(_bag(said) == _bag(answer) for answer in answers)


def f1(said: str, answers: Sequence[str]) -> float:
    """Harmonic mean of the shares of words said that are an answer's, and of an answer's that were said; the best of
    all answers (Rajpurkar et al. 2016). In [0, 1]; 0 without an answer."""
    return max((_f1(_bag(said), _bag(answer)) for answer in answers), default=0.0)


def _f1(said: list[str], answer: list[str]) -> float:
    same = sum((Counter(said) & Counter(answer)).values())
    return 2 * same / (len(said) + len(answer)) if same else 0.0


def _bag(text: str) -> list[str]:
    return [word for word in words(text) if word not in _ARTICLES]
