"""The share of the reference answer that the contexts hold."""

from dataclasses import astuple
from typing import ClassVar

from surefoot.judges._diamond import metrics
from surefoot.judges._equivalence import likeness, telling
from surefoot.judges._scores import chance, lacks, scored, standalone, unscored
from surefoot.judges._support import best, carried, claims
from surefoot.types import Metric, Passage, Quote, Record, Score
from surefoot.types.protocols import Embedder, Evaluator, Verifier

SHORT = 10
"""Telling words up to which a reference is looked up as one thing; a longer one is cut into its facts."""
_VERDICTS = ({"yes"}, {"no"}, {"true"}, {"false"})


class ContextRecall:
    """The share of the reference that the contexts hold, of several references the best held; no language model.

    A short reference is looked up in each context: the share of its telling words that one context holds, in full where
    the `evaluator` finds that this context answers the question, and down to half where not, since a name may stand
    there by chance. Of a longer one, each sentence is a fact, and the value is the mean of the verifier's chances that
    the contexts carry it. Without any context, 0; a bare yes or no cannot be looked up, and is unscored. Cost: a graded
    pair a context where a reference is short, else a sentence to verify a fact.
    """

    about: ClassVar[Metric] = metrics()["context_recall"]
    name = metric = about.name

    def __init__(self, evaluator: Evaluator, embedder: Embedder, verifier: Verifier) -> None:
        self.evaluator = evaluator
        self.embedder = embedder
        self.verifier = verifier

    def judge(self, record: Record) -> Score:
        """The record's score; it applies where there are contexts and a reference with a word in it."""
        truths = [truth for truth in record.truths if telling(truth)]
        if not truths or record.contexts is None:
            return lacks(self, record, "contexts" if truths else "reference answer")
        if all(set(telling(truth)) in _VERDICTS for truth in truths):
            return unscored(self, record, "a bare yes or no cannot be looked up in the contexts")
        if not any(passage.text.strip() for passage in record.contexts):
            return scored(self, record, 0.0, "there was no context")
        long = [truth for truth in truths if len(telling(truth)) > SHORT]
        short = [truth for truth in truths if truth not in long]
        found = [
            carried(self, record, self.verifier, claims(truth) or [truth], "truth", record.contexts) for truth in long
        ]
        return best([*found, *(self._looked_up(record, record.contexts, short) if short else ())])

    def _looked_up(self, record: Record, contexts: tuple[Passage, ...], truths: list[str]) -> list[Score]:
        texts = [passage for passage in contexts if passage.text.strip()]
        question = standalone(record)
        grades = self.evaluator.grade([(question, passage) for passage in texts])
        found = []
        for passage, grade in zip(texts, grades, strict=True):
            each = likeness(question, f"{passage.title} {passage.text}", truths, self.embedder)
            best = max(range(len(truths)), key=lambda place: (each[place].held, astuple(each[place])))
            sure = chance(grade, self.evaluator.thresholds)
            value = each[best].held * (0.5 + 0.5 * (sure or 0.0))
            answers = "which could not be graded" if sure is None else f"which answers the question with {sure:.2f}"
            why = f"{passage.id}, {answers}, holds {each[best].held:.0%} of the telling words of “{truths[best]}”"
            found.append(scored(self, record, value, why, Quote(truths[best], "truth", True)))
        return found
