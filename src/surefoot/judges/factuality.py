"""Factuality: the answer says what a reference answer says."""

from dataclasses import astuple, replace
from typing import ClassVar

from surefoot.judges._diamond import metrics
from surefoot.judges._equivalence import Likeness, likeness, telling
from surefoot.judges._scores import equivalence, lacks, scored, standalone
from surefoot.judges._support import best, carried, claims, plainly
from surefoot.text.refusals import refuses
from surefoot.types import Metric, Passage, Quote, Record, Score
from surefoot.types.protocols import Embedder, Verifier

SHORT = 10
"""Telling words up to which a reference is one thing that an answer says or not; a longer one is cut into facts."""
REFUSED = 0.05
"""The value of an answer that gives none: about the least chance that the shipped head gives to any."""


class Factuality:
    """The chance that people would call the answer right beside the likest of the references; no language model.

    A short reference is compared as one thing: do its words, letters, numbers and meaning (`embedder`) stand in the
    answer, beyond what the question says anyway? Of a longer one, each sentence is a fact, and the value is half the
    mean of the verifier's chances that the answer carries a fact, half the cosine of the two as wholes. What is true
    but not in the references counts as wrong; extra text does not count. Cost: some milliseconds a record, or a
    sentence to verify a fact.
    """

    about: ClassVar[Metric] = metrics()["factuality"]
    name = metric = about.name

    def __init__(self, embedder: Embedder, verifier: Verifier) -> None:
        self.embedder = embedder
        self.verifier = verifier

    def judge(self, record: Record) -> Score:
        """The record's score; it applies where there are an answer and a reference with a word in it."""
        truths = [truth for truth in record.truths if truth.strip()]
        if not truths or record.answer is None:
            return lacks(self, record, "answer" if truths else "reference answer")
        if refuses(record.answer) and not claims(record.answer):
            return scored(self, record, REFUSED, "the answer gives none")
        long = [truth for truth in truths if len(telling(truth)) > SHORT]
        short = [truth for truth in truths if truth not in long]
        found = [self._by_facts(record, record.answer, truth) for truth in long]
        each = likeness(standalone(record), plainly(record.answer), short, self.embedder) if short else []
        for truth, like in zip(short, each, strict=True):
            chance = equivalence().probability(astuple(like))
            found.append(scored(self, record, chance, _why(truth, like), Quote(truth, "truth", True)))
        return best(found)

    def _by_facts(self, record: Record, answer: str, truth: str) -> Score:
        facts = claims(truth) or [truth]
        score = carried(self, record, self.verifier, facts, "truth", [Passage("answer", answer)])
        one, other = self.embedder.embed([plainly(answer), plainly(truth)])
        near = max(0.0, float(one @ other))
        if score.value is None:
            return score
        return replace(score, value=(score.value + near) / 2, reason=f"{score.reason} Cosine of the two: {near:.2f}.")


def _why(truth: str, one: Likeness) -> str:
    if one.run:
        return f"“{truth}” stands in the answer word for word"
    lacks = ", and it lacks a number of it" if one.figures else ""
    return (
        f"likest to “{truth}”: the answer has {one.held:.0%} of its telling words (or of each other's {one.either:.0%})"
        f"{lacks}; cosine {one.near:.2f}"
    )
