"""Answer relevancy: the answer gives what the question asks for, right or wrong."""

from __future__ import annotations

import re
from typing import ClassVar

from surefoot.judges._equivalence import normal, telling
from surefoot.judges._heads import chance
from surefoot.judges._scores import lacks, scored, unscored
from surefoot.judges._support import claims, plainly
from surefoot.text.refusals import refuses
from surefoot.text.words import names, stem
from surefoot.types import Metric, Passage, Quote, Record, Score
from surefoot.types.protocols import Evaluator

REFUSED = 0.1
"""The value of an answer that gives none, or that only says the question again: the need is not met."""
OTHER_KIND = 0.5
"""Factor of the value where the answer has nothing of the kind that is asked for: no number to a "how many"."""
SENTENCE = 4
"""Telling words from which an answer stands by itself; a shorter one is read behind its question."""

_MONTHS = "january february march april may june july august september october november december".split()
_WHEN = re.compile(
    r"\b(?:when|what (?:year|date|day|month|time|century)|which (?:year|date|day|month|century))\b", re.I
)
_COUNT = re.compile(r"\bhow (?:many|much|old|tall|long|far|high|deep|big|large|fast|heavy|often)\b", re.I)
_WHO = re.compile(r"^\W*(?:by )?(?:who|whom|whose)\b", re.I)
_TIMES = frozenset((*_MONTHS, *"today yesterday century spring summer autumn fall winter morning evening".split()))
_AMOUNTS = frozenset("none no few several many dozen half once twice million billion thousand every daily".split())


class AnswerRelevancy:
    """The chance, by the `evaluator`, that the answer answers the question; no language model.

    Lowered where the answer refuses, repeats the question, or has nothing of the kind that is asked for.

    Right or wrong plays no part. An answer of a few words is read behind its question. Cost: one graded pair.
    """

    about: ClassVar[Metric] = Metric(
        name="answer_relevancy",
        edge=("question", "answer"),
        sees=("question", "answer"),
        about="Does the answer address what was asked?",
        levels=(
            "It meets the whole need behind the question.",
            "It deals with the main points; something minor is left aside.",
            "It deals with some aspects and passes over others.",
            "It touches the subject, but the core of what is needed is not met.",
            "It is about something else.",
        ),
        special="Whether the answer is true is not your concern, only whether it answers this question.",
        remedy=("reading", "wrong"),
    )
    name = metric = about.name

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def judge(self, record: Record) -> Score:
        """The record's score; it applies where an answer was kept. An empty answer counts as a refusal."""
        if record.answer is None:
            return lacks(self, record, "answer")
        if refuses(record.answer) and not claims(record.answer):
            return scored(self, record, REFUSED, "the answer gives none")
        answer = plainly(record.answer)
        new = telling(answer, record.question)
        question_stems = {stem(word) for word in normal(record.question)}
        if all(stem(word) in question_stems for word in new) and len(new) >= SENTENCE:
            return scored(self, record, REFUSED, "the answer only says the question again")
        text = answer if len(telling(answer)) >= SENTENCE else f"{record.question.rstrip('? ')}: {answer}"
        (grade,) = self.evaluator.grade([(record.question, Passage("answer", text))])
        sure = chance(grade, self.evaluator.thresholds)
        if sure is None:
            return unscored(self, record, f"the answer could not be graded: {grade.reason}")
        missing = lacking(record.question, answer)
        reason = f"the evaluator takes it for an answer with {sure:.2f}"
        reason += f"; but it has no {missing}, which is asked for" if missing else ""
        pointed = text[slice(*grade.span)] if grade.span else ""
        there = " ".join(pointed.split()).casefold() in " ".join(record.answer.split()).casefold()
        quotes = [Quote(pointed, "answer", True)] if pointed and there else []
        return scored(self, record, sure * (OTHER_KIND if missing else 1.0), reason, *quotes)


def lacking(question: str, answer: str) -> str:
    """The kind of thing that the question asks for and the answer lacks; empty: it has one, or any kind will do."""
    every = set(normal(answer))
    numbered = any(word[0].isdigit() for word in every)
    if _WHEN.search(question):
        return "" if numbered or every & _TIMES else "date or time"
    if _COUNT.search(question):
        return "" if numbered or every & _AMOUNTS else "number"
    if _WHO.search(question) and answer != answer.lower():
        return "" if names(f"It is {answer}") else "name"
    return ""
