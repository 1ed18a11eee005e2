"""Answer relevancy: the answer gives what the question asks for, right or wrong."""

from surefoot.judges._diamond import metrics
from surefoot.judges._equivalence import normal, telling
from surefoot.judges._scores import BaseJudge, Finding, Unscored, chance, standalone
from surefoot.judges._support import claimed, claims, plainly
from surefoot.stats.text import percent
from surefoot.text.refusals import refuses
from surefoot.text.words import stem
from surefoot.types import Passage, Quote, Record
from surefoot.types.protocols import Evaluator

REFUSED = 0.1
"""The value of an answer that gives none, or that only says the question again: the need is not met."""
SENTENCE = 4
"""Telling words from which an answer stands by itself; a shorter one is read behind its question."""


class AnswerRelevancy(BaseJudge):
    """The chance, by the `evaluator`, that the answer answers the question; no language model.

    Low where the answer refuses, or only says the question again. Right or wrong plays no part. An answer of a few
    words is read behind its question. Cost: one graded pair.
    """

    about = metrics()["answer_relevancy"]

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def find(self, record: Record) -> Finding:
        """An empty answer counts as a refusal."""
        whole = record.answer or ""
        if refuses(whole) and not claims(whole):
            return Finding(REFUSED, "the answer gives none")
        answer = " ".join(map(claimed, claims(whole))) or plainly(whole)
        question = standalone(record)
        new = telling(answer, question)
        question_stems = {stem(word) for word in normal(question)}
        if all(stem(word) in question_stems for word in new) and len(new) >= SENTENCE:
            return Finding(REFUSED, "the answer only says the question again")
        text = answer if len(telling(answer)) >= SENTENCE else f"{question.rstrip('? ')}: {answer}"
        (grade,) = self.evaluator.grade([(question, Passage("answer", text))])
        sure = chance(grade, self.evaluator.thresholds)
        if sure is None:
            raise Unscored(f"the answer could not be graded: {grade.reason}")
        reason = f"it reads as an answer to the question ({percent(sure, 0)})"
        pointed = grade.pointed(text)
        there = " ".join(pointed.split()).casefold() in " ".join(whole.split()).casefold()
        return Finding(sure, reason, (Quote(pointed, "answer", True),) if pointed and there else ())
