"""The confidence of an answer: the chance that it is right, from facts of its trace, with what each of them adds.

confidence.json, which `recipes/confidence.py` made, holds two small logistic regressions over passages that the shipped
evaluator graded: one for what it quotes itself, one for what a small language model words (`docs/trace.md`).
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from surefoot.evidence.markers import MARKER
from surefoot.evidence.ranking import repeats
from surefoot.stats.calibration import Head
from surefoot.text.model_names import is_small
from surefoot.text.words import STOP_WORDS, words
from surefoot.types import Answer, Certainty, Citation, Factor, Grade, Passage, Strip

GRADE, HELD = "grade of the cited passage", "words at which the evaluator points that it holds"
PLACE, SAME = "place of its passage in retrieval", "passages that point at the same words"
OTHERS, OUTSIDE = "passages that point at other words", "words that no cited passage has"
QUOTED, WORDED = (GRADE, HELD, SAME, PLACE, OTHERS), (GRADE, HELD, PLACE, OUTSIDE)
"""The facts of a quotation and of an answer that a small model worded, in the order of `facts`. "Its passage" is that
of the first citation; places and counts go by their logarithm. Over families of questions that were held out, the
kind of question and the share of its words that are quoted tell nothing beside the first; nor do length, the verifier's
support and other passages beside the second."""
AGAINST = (PLACE, OTHERS, OUTSIDE)
"""Facts that may only lower the confidence; all others may only raise it."""
SURE_RISK = 0.1
"""Share of wrong ones among the answers that are called sure, at most."""
LIKELY_RISK = 0.15
"""Likewise of those that are called sure or likely."""


@dataclass(frozen=True, slots=True)
class ConfidenceFit:
    """A fit that turns facts into a confidence, and a confidence into an expected risk."""

    head: Head
    middle: tuple[float, ...]
    """Each fact of the average answer that it was fitted on."""
    evaluator: str
    """Name of the evaluator whose grades these were, and which had read the answers that are quoted."""
    risks: tuple[tuple[float, float], ...]
    """(a confidence, the share of wrong ones among the answers that were at least so sure), the surest first: over sets
    of questions that the fit had not seen."""

    def least(self, risk: float) -> float:
        """The lowest confidence from which at most this share of answers is wrong; infinite: there is none."""
        return min((confidence for confidence, wrong in self.risks if wrong <= risk), default=math.inf)


@cache
def shipped(worded: bool) -> ConfidenceFit:
    """The package's own, for answers that a language model worded, or for quotations."""
    both = json.loads(files("surefoot.evidence").joinpath("confidence.json").read_text(encoding="utf-8"))
    content = both["worded" if worded else "quoted"]
    risks = tuple((confidence, wrong) for confidence, wrong in content["risks"])
    return ConfidenceFit(Head.of(content), tuple(content["middle"]), content["evaluator"], risks)


def certainty(answer: Answer) -> Certainty:
    """The word for an answer that is given plainly, or for a refusal."""
    if answer.refused:
        return "not found"
    if answer.confidence is None:
        return "likely"
    least = shipped(answer.worded).least
    return (
        "sure"
        if answer.confidence >= least(SURE_RISK)
        else "likely"
        if answer.confidence >= least(LIKELY_RISK)
        else "unsure"
    )


def judged(
    question: str, answer: Answer, passages: Sequence[Passage], grades: Sequence[Grade], evaluator: str
) -> Answer:
    """The answer with its confidence and the factors of that, or with the reason why it has none; a refusal as it is.

    `grades` are the evaluator's, one for each of the passages.
    """
    if answer.refused:
        return answer
    own, model = shipped(answer.worded), answer.model or "no model"
    if evaluator != own.evaluator or not (is_small(model) if answer.worded else model == own.evaluator):
        of = "passages that {} graded and a small model worded" if answer.worded else "answers that {} graded and read"
        others = " and ".join(dict.fromkeys((evaluator, model)))
        return replace(answer, unjudged=f"it is fitted to {of.format(own.evaluator)}, not {others}")
    found = facts(question, answer, passages, grades)
    if found is None:
        return replace(answer, unjudged="it cites no graded strip")
    return replace(answer, confidence=own.head.probability(found), factors=_factors(own, found))


def _factors(own: ConfidenceFit, found: Sequence[float]) -> tuple[Factor, ...]:
    adds = [w * (x - m) for w, x, m in zip(own.head.weights, found, own.middle, strict=True)]
    return tuple(Factor(*one) for one in zip(own.head.inputs, found, adds, strict=True))


def facts(
    question: str, answer: Answer, passages: Sequence[Passage], grades: Sequence[Grade]
) -> tuple[float, ...] | None:
    """The values of `WORDED` or `QUOTED` for an answer; None where it cites no graded strip of these passages."""
    origin = {passage.id: place for place, passage in enumerate(passages)}
    cited = [(c, c.strip) for c in answer.citations if c.strip and c.strip.passage_id in origin]
    if not cited or cited[0][1].score is None:
        return None
    first, in_question = cited[0][1], set(words(question))
    at = origin[first.passage_id]
    grade, place = first.score or 0.0, math.log(_rank(at, passages))
    if answer.worded:
        pointed = _pointed(passages[at], grades[at]) - in_question
        new = set(words(MARKER.sub("", answer.body))) - in_question - STOP_WORDS
        sources = (passages[origin[strip.passage_id]] for _, strip in cited)
        outside = new.difference(*(words(f"{source.title} {source.text}") for source in sources))
        return grade, float(bool(pointed) and pointed <= new), place, math.log1p(len(outside))
    same, others = _votes(at, in_question, passages, grades)
    return grade, float(_holds(cited, first.passage_id, grades[at].span)), math.log1p(same), place, math.log1p(others)


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
    return set(words(grade.pointed(passage.text))) - STOP_WORDS
