"""The confidence of an answer: the chance that it is right, from facts of its trace, with what each of them adds.

confidence.json, which `recipes/confidence.py` made, holds a small logistic regression. It was fitted on answers that
the shipped evaluator graded and read, so it says nothing of any other's (`docs/trace.md`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from surefoot.evidence.ranking import repeats
from surefoot.stats.calibration import Head
from surefoot.text.words import STOP_WORDS, words
from surefoot.types import Answer, Certainty, Citation, Factor, Grade, Passage, Strip

FOR = (
    "grade of the quoted passage",
    "the quotation holds the words that the evaluator points at",
    "passages that point at the same words",
)
"""Facts that may only raise the confidence."""
AGAINST = ("place of its passage in retrieval", "passages that point at other words")
"""Facts that may only lower it; "its passage" is that of the first citation, and its place counts by its logarithm."""
NAMES = (*FOR, *AGAINST)
"""All facts, in the order in which `facts` gives them. Over families of questions that were held out, the kind of
question and the share of its words that are quoted tell nothing beside these."""


SURE_RISK = 0.1
"""Share of wrong ones among the answers that are called sure, at most."""


@dataclass(frozen=True, slots=True)
class ConfidenceFit:
    """A fit that turns facts into a confidence, and a confidence into an expected risk."""

    head: Head
    middle: tuple[float, ...]
    """Each fact of the average answer that it was fitted on."""
    evaluator: str
    """Name of the evaluator whose grades these were, and which had read the answers."""
    risks: tuple[tuple[float, float], ...]
    """(a confidence, the share of wrong ones among the answers that were at least so sure), the surest first: over sets
    of questions that the fit had not seen."""

    def least(self, risk: float) -> float:
        """The lowest confidence from which at most this share of answers is wrong; infinite: there is none."""
        return min((confidence for confidence, wrong in self.risks if wrong <= risk), default=math.inf)


@cache
def shipped() -> ConfidenceFit:
    """The package's own."""
    content = json.loads(files("surefoot.evidence").joinpath("confidence.json").read_text(encoding="utf-8"))
    risks = tuple((confidence, wrong) for confidence, wrong in content["risks"])
    return ConfidenceFit(Head.of(content), tuple(content["middle"]), content["evaluator"], risks)


def certainty(answer: Answer) -> Certainty:
    """The word for an answer that is given plainly, or for a refusal."""
    if answer.refused:
        return "not found"
    return "sure" if answer.confidence is not None and answer.confidence >= shipped().least(SURE_RISK) else "likely"


def judged(
    question: str, answer: Answer, passages: Sequence[Passage], grades: Sequence[Grade], evaluator: str
) -> Answer:
    """The answer with its confidence and the factors of that, or with the reason why it has none; a refusal as it is.

    `grades` are the evaluator's, one for each of the passages.
    """
    if answer.refused:
        return answer
    own = shipped()
    if {evaluator, answer.model} != {own.evaluator}:
        others = " and ".join(dict.fromkeys((evaluator, answer.model or "no model")))
        return replace(answer, unjudged=f"it is fitted to answers that {own.evaluator} graded and read, not {others}")
    found = facts(question, answer, passages, grades)
    if found is None:
        return replace(answer, unjudged="it quotes no graded strip")
    return replace(answer, confidence=own.head.probability(found), factors=_factors(own, found))


def _factors(own: ConfidenceFit, found: Sequence[float]) -> tuple[Factor, ...]:
    adds = [w * (x - m) for w, x, m in zip(own.head.weights, found, own.middle, strict=True)]
    return tuple(Factor(*one) for one in zip(NAMES, found, adds, strict=True))


def facts(
    question: str, answer: Answer, passages: Sequence[Passage], grades: Sequence[Grade]
) -> tuple[float, ...] | None:
    """The values of `NAMES` for an answer; None where it quotes no graded strip of these passages."""
    origin = {passage.id: place for place, passage in enumerate(passages)}
    cited = [(c, c.strip) for c in answer.citations if c.strip and c.strip.passage_id in origin]
    if not cited or cited[0][1].score is None:
        return None
    first = cited[0][1]
    place = origin[first.passage_id]
    same, others = _votes(place, set(words(question)), passages, grades)
    return (
        first.score or 0.0,
        float(_holds(cited, first.passage_id, grades[place].span)),
        math.log1p(same),
        math.log(_rank(place, passages)),
        math.log1p(others),
    )


def _rank(place: int, passages: Sequence[Passage]) -> int:
    """From 1, among the passages of the same source."""
    return sum(passage.source == passages[place].source for passage in passages[: place + 1])


def _holds(cited: Sequence[tuple[Citation, Strip]], passage: str, span: tuple[int, int] | None) -> bool:
    own = [strip for _, strip in cited if strip.passage_id == passage]
    return span is not None and any(strip.start <= span[0] and span[1] <= strip.end for strip in own)


def _votes(place: int, question: set[str], passages: Sequence[Passage], grades: Sequence[Grade]) -> tuple[float, float]:
    """The summed probabilities of the other passages that point at the same words, and of those at other words; what
    repeats the quoted passage, or one that was counted, is no other voice."""
    pointed = [_pointed(passage, grade) for passage, grade in zip(passages, grades, strict=True)]
    mine, same, others = pointed[place] - question, 0.0, 0.0
    heard = [passages[place].text]
    for n, (text, grade) in enumerate(zip(pointed, grades, strict=True)):
        if n != place and text and not repeats(passages[n].text, heard):
            heard.append(passages[n].text)
            new = text - question
            if mine and new and (mine <= new or new <= mine):
                same += grade.probability or 0.0
            else:
                others += grade.probability or 0.0
    return same, others


def _pointed(passage: Passage, grade: Grade) -> set[str]:
    return set(words(passage.text[slice(*grade.span)])) - STOP_WORDS if grade.span else set()
