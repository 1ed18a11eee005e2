"""The answer as it stands in the evidence: no language model, nothing made up."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

from surefoot.act import finite
from surefoot.protocols import Evaluator, Knowledge, OnText
from surefoot.text.words import sentences, words
from surefoot.types import Answer, Grade

_FOOTNOTE = re.compile(r"\s*\[[\s,]*\d[\d,\s]*\]")
"""A number in brackets that the text brought along: in an answer it would cite another strip."""


class Extractive:
    """Answers with the sentence that the reader points at, in the strip that it thinks most of.

    `reader`: an evaluator whose grades have spans. Configured, it is the pipeline's own evaluator where that points,
    and the shipped one where not, so that another evaluator changes what is read and not who reads.

    `whole` False: with no more of it than the words it points at. Strips that point at the same words add up: what
    several sources say wins over what the best one says alone. It refuses where nothing is pointed at, or where no
    strip that points holds the answer with a probability of `least` (for a reader without probabilities: always, as
    it says by pointing). Cost: one graded pair a strip, most of them known from refinement; no language-model call.
    """

    def __init__(self, reader: Evaluator, least: float = 0.2, whole: bool = True) -> None:
        self.reader = reader
        self.least = least
        self.whole = whole

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        """The words, cited to the strip that points at them best; a refusal when there are none."""
        grades = map(finite, self.reader.grade([(question, replace(p, text=strip.text)) for strip, p in knowledge]))
        votes: dict[str, list[tuple[float, int, str]]] = defaultdict(list)
        for marker, ((strip, _), grade) in enumerate(zip(knowledge, grades, strict=True), start=1):
            pointed = _plain(strip.text[slice(*grade.span)]) if grade.span else ""
            if grade.span and pointed and _weight(grade) >= self.least:
                said = _plain(_sentence(strip.text, grade.span)) if self.whole else pointed
                votes[" ".join(words(pointed)) or pointed].append((_weight(grade), marker, said))
        if not votes:
            return Answer("", refused=True, model=self.reader.name)
        same = max(votes.values(), key=lambda found: sum(weight for weight, *_ in found))
        _, marker, said = max(same, key=lambda vote: vote[0])
        text = f"{said} [{marker}]"
        if on_text:
            on_text(text)
        return Answer(text, model=self.reader.name)


def _sentence(text: str, span: tuple[int, int]) -> str:
    """The sentence, or the sentences, that the span stands in."""
    touched = [(start, end) for start, end in sentences(text) if start < span[1] and span[0] < end]
    return text[touched[0][0] : touched[-1][1]]


def _plain(text: str) -> str:
    """On one line, without footnotes."""
    return " ".join(_FOOTNOTE.sub("", text).split())


def _weight(grade: Grade) -> float:
    return 1.0 if grade.probability is None else grade.probability
