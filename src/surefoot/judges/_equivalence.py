"""The likeness of an answer and a reference answer, in numbers that a small linear head can weigh."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from surefoot.text.words import STOP_WORDS, fold, stem, words
from surefoot.types.protocols import Embedder

SHORTEST = 4
"""Letters from which a reference written together counts as found in an answer written together: "Valinor" in
"the lands ofValinor1"."""
ALIKE = 0.75
"""Dice similarity of letter pairs from which two words may be one, misspelt or inflected."""

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_FIGURES = "first=1st second=2nd third=3rd fourth=4th fifth=5th twenty=20 thirty=30 fifty=50 hundred=100 once=1 twice=2"
_NUMBERS = {word: str(number) for number, word in enumerate(_UNITS)} | {
    word: figure for word, _, figure in (pair.partition("=") for pair in _FIGURES.split())
}
_GLUED = r"(?<=[^\W\d_]{3})\d{1,2}$"
"""A footnote's number that stuck to the word before it."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """The likeness of an answer and one reference; each number in [0, 1]."""

    run: float
    """1 where the reference's words stand in the answer side by side, or its letters do, where spaces went astray."""
    held: float
    """Share of the reference's telling words, those that the question does not have, in the answer; a word that is
    spelt a little otherwise counts by its likeness."""
    either: float
    """The same, or the share of the answer's telling words that are the reference's where that is more: 1 for an answer
    that is a part of the reference, as "Rowling" is of "J. K. Rowling"."""
    near: float
    """Cosine of the reference with what the answer says beyond the question; 0 where that is negative."""
    figures: float
    """Share of the reference's numbers that the answer lacks; 0 where it has none."""


NAMES = tuple(Likeness.__dataclass_fields__)


def normal(text: str) -> list[str]:
    """The words as they are compared: folded, small numbers in figures, without footnotes that stuck to them."""
    plain = (re.sub(_GLUED, "", word) for word in words(text))
    return [_NUMBERS.get(word, word) for word in plain]


def telling(text: str, question: str = "") -> list[str]:
    """The words that carry meaning and are not in the question; else all that carry meaning, or all."""
    every = normal(text)
    content = [word for word in every if word not in STOP_WORDS] or every
    question_stems = {stem(word) for word in normal(question)}
    return [word for word in content if stem(word) not in question_stems] or content


def likeness(question: str, answer: str, truths: Sequence[str], embedder: Embedder) -> list[Likeness]:
    """One a reference, in order."""
    reply = normal(answer)
    new = telling(answer, question)
    vectors = embedder.embed([" ".join(new), *truths])
    near = vectors[1:] @ vectors[0]
    return [
        _alike(reply, new, answer, truth, telling(truth, question), max(0.0, float(cosine)))
        for truth, cosine in zip(truths, near, strict=True)
    ]


def _alike(reply: list[str], new: list[str], answer: str, truth: str, sought: list[str], near: float) -> Likeness:
    there, others = dict.fromkeys(reply), dict.fromkeys(sought)
    held, back = (_mean([_best(word, others) for word in some]) for some, others in ((sought, there), (new, others)))
    numbers = [word for word in sought if word[0].isdigit()]
    return Likeness(
        float(_runs(truth, answer, normal(truth), reply)),
        held,
        max(held, back),
        near,
        _mean([float(word not in there) for word in numbers]),
    )


def _runs(truth: str, answer: str, sought: list[str], reply: list[str]) -> bool:
    letters, there = (re.sub(r"[\W_]+", "", fold(text)) for text in (truth, answer))
    content, plain = ([word for word in some if word not in ("the", "a", "an")] for some in (sought, reply))
    width = len(content)
    side_by_side = width and any(plain[i : i + width] == content for i in range(len(plain) - width + 1))
    return bool(side_by_side) or (len(letters) >= SHORTEST and not letters.isdigit() and letters in there)


def _best(word: str, there: dict[str, None]) -> float:
    """The likeness of the word to the likest of the others: 1 for the word itself, 0 below `ALIKE`."""
    if word in there:
        return 1.0
    if word[0].isdigit() or len(word) < 3:
        return 0.0
    best, mine = 0.0, _pairs(word)
    for other in (other for other in there if other[0] == word[0]):
        others = _pairs(other)
        dice = 2 * len(mine & others) / (len(mine) + len(others))
        best = max(best, 1.0 if stem(word) == stem(other) else dice)
    return best if best >= ALIKE else 0.0


@lru_cache(maxsize=65536)
def _pairs(word: str) -> frozenset[str]:
    return frozenset(word[i : i + 2] for i in range(len(word) - 1))


def _mean(each: Sequence[float]) -> float:
    return sum(each) / len(each) if each else 0.0
