"""Factuality: the answer says what a reference answer says."""

import math
from collections.abc import Sequence
from dataclasses import astuple, replace

from surefoot.judges._diamond import metrics
from surefoot.judges._equivalence import Likeness, likeness, telling
from surefoot.judges._scores import BaseJudge, Finding, equivalence, standalone
from surefoot.judges._support import best, carried, claims, plainly
from surefoot.text.refusals import refuses
from surefoot.text.words import stem
from surefoot.types import Passage, Quote, Record
from surefoot.types.protocols import Embedder, Verifier

REFUSED = 0.05
"""The value of an answer that gives none: about the least chance that the shipped head gives to any."""


class Factuality(BaseJudge):
    """The chance that people would call the answer right beside the likest of the references; no language model.

    A short reference is compared as one thing: do its words, letters, numbers and meaning (`embedder`) stand in the
    answer, beyond what the question says anyway? Of a longer one, each sentence is a fact, and the value is the mean of
    three: the verifier's chances that the answer carries a fact, the cosine of the two as wholes, and the root of the
    F1 of their telling words (an answer in other words shares half of them). What is true but not in the references
    counts as wrong; extra text counts by its words alone. Cost: some milliseconds a record, or a sentence to verify a
    fact.
    """

    about = metrics()["factuality"]

    def __init__(self, embedder: Embedder, verifier: Verifier) -> None:
        self.embedder = embedder
        self.verifier = verifier

    def find(self, record: Record) -> Finding:
        """A refusal gets `REFUSED`, whatever the references say."""
        answer = record.answer or ""
        if refuses(answer) and not claims(answer):
            return Finding(REFUSED, "the answer gives none")

        def looked_up(truths: Sequence[str]) -> list[Finding]:
            each = zip(truths, likeness(standalone(record), plainly(answer), truths, self.embedder), strict=True)
            return [
                Finding(equivalence().probability(astuple(like)), _why(truth, like), (Quote(truth, "truth", True),))
                for truth, like in each
            ]

        truths = [truth for truth in record.truths if truth.strip()]
        return best(truths, looked_up, lambda truth: self._by_facts(record, answer, truth))

    def _by_facts(self, record: Record, answer: str, truth: str) -> Finding:
        facts = claims(truth) or [truth]
        found = carried(self.verifier, record, facts, "truth", [Passage("answer", answer)])
        one, other = self.embedder.embed([plainly(answer), plainly(truth)])
        near = max(0.0, float(one @ other))
        mine, its = ({stem(word) for word in telling(plainly(text), record.question)} for text in (answer, truth))
        shared = 2 * len(mine & its) / (len(mine) + len(its)) if mine or its else 0.0
        reason = f"{found.reason} Cosine of the two: {near:.2f}; shared words: {shared:.2f}."
        return replace(found, value=(found.value + near + math.sqrt(shared)) / 3, reason=reason)


def _why(truth: str, one: Likeness) -> str:
    if one.run:
        return f"“{truth}” stands in the answer word for word"
    lacks = ", and it lacks a number of it" if one.figures else ""
    return (
        f"likest to “{truth}”: the answer has {one.held:.0%} of its telling words (or of each other's {one.either:.0%})"
        f"{lacks}; cosine {one.near:.2f}"
    )
