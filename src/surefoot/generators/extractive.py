"""The answer as it stands in the evidence: no language model, nothing made up."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from surefoot.protocols import Evaluator
from surefoot.types import Answer, Grade, Passage, Strip
from surefoot.words import words

_FOOTNOTE = re.compile(r"\s*\[[\d,\s]*\]")
"""A number in brackets that the text brought along: in an answer it would cite another strip."""


class Extractive:
    """Answers with the words that the evaluator points at, in the strips that it thinks most of.

    Strips that point at the same words add up: what several sources say wins over what the best one says alone. It
    refuses where nothing is pointed at, or where no strip that points holds the answer with a probability of `least`
    (for an evaluator without probabilities: always, as it says by pointing). Cost: one graded pair a strip, most of
    them known from refinement; no language-model call.
    """

    def __init__(self, evaluator: Evaluator, least: float = 0.2) -> None:
        self.evaluator = evaluator
        self.least = least

    def generate(
        self,
        question: str,
        knowledge: Sequence[tuple[Strip, Passage]],
        on_text: Callable[[str], None] | None = None,
    ) -> Answer:
        """The words, cited to the strip that points at them best; a refusal when there are none."""
        grades = self.evaluator.grade([(question, replace(p, text=strip.text)) for strip, p in knowledge])
        votes: dict[str, list[tuple[float, int, str]]] = defaultdict(list)
        for marker, ((strip, _), grade) in enumerate(zip(knowledge, grades, strict=True), start=1):
            said = _said(strip, grade)
            if said and _weight(grade) >= self.least:
                votes[" ".join(words(said)) or said].append((_weight(grade), marker, said))
        if not votes:
            return Answer("", refused=True, model=self.evaluator.name)
        same = max(votes.values(), key=lambda found: sum(weight for weight, *_ in found))
        _, marker, said = max(same, key=lambda vote: vote[0])
        text = f"{said} [{marker}]"
        if on_text:
            on_text(text)
        return Answer(text, model=self.evaluator.name)


def _said(strip: Strip, grade: Grade) -> str:
    """The words that the grade points at, on one line; empty when it points at none."""
    return " ".join(_FOOTNOTE.sub("", strip.text[slice(*grade.span)]).split()) if grade.span else ""


def _weight(grade: Grade) -> float:
    return 1.0 if grade.probability is None else grade.probability
