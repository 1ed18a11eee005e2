"""The share of the reference answer that the contexts hold."""

from collections.abc import Sequence
from dataclasses import astuple

from surefoot.judges._diamond import metrics
from surefoot.judges._equivalence import likeness, telling
from surefoot.judges._scores import BaseJudge, Finding, Unscored, chance, lacks, standalone
from surefoot.judges._support import best, carried, claims
from surefoot.types import Passage, Quote, Record
from surefoot.types.protocols import Embedder, Evaluator, Verifier

_VERDICTS = ({"yes"}, {"no"}, {"true"}, {"false"})


class ContextRecall(BaseJudge):
    """The share of the reference that the contexts hold, of several references the best held; no language model.

    A short reference is looked up in each context: the share of its telling words that one context holds, in full where
    the `evaluator` finds that this context answers the question, and down to half where not, since a name may stand
    there by chance. Of a longer one, each sentence is a fact, and the value is the mean of the verifier's chances that
    the contexts carry it. Without any context, 0; a bare yes or no cannot be looked up, and is unscored. Cost: a graded
    pair a context where a reference is short, else a sentence to verify a fact.
    """

    about = metrics()["context_recall"]

    def __init__(self, evaluator: Evaluator, embedder: Embedder, verifier: Verifier) -> None:
        self.evaluator = evaluator
        self.embedder = embedder
        self.verifier = verifier

    def find(self, record: Record) -> Finding:
        """It applies where a reference has a word in it."""
        truths = [truth for truth in record.truths if telling(truth)]
        texts = [passage for passage in record.contexts or () if passage.text.strip()]
        if not truths:
            raise lacks("reference answer")
        if all(set(telling(truth)) in _VERDICTS for truth in truths):
            raise Unscored("a bare yes or no cannot be looked up in the contexts")
        if not texts:
            return Finding(0.0, "there was no context")

        def by_facts(truth: str) -> Finding:
            return carried(self.verifier, record, claims(truth) or [truth], "truth", record.contexts or ())

        return best(truths, lambda short: self._looked_up(standalone(record), texts, short), by_facts)

    def _looked_up(self, question: str, texts: Sequence[Passage], truths: Sequence[str]) -> list[Finding]:
        grades = self.evaluator.grade([(question, passage) for passage in texts])
        found = []
        for passage, grade in zip(texts, grades, strict=True):
            each = likeness(question, f"{passage.title} {passage.text}", truths, self.embedder)
            best = max(range(len(truths)), key=lambda place: (each[place].held, astuple(each[place])))
            sure = chance(grade, self.evaluator.thresholds)
            value = each[best].held * (0.5 + 0.5 * (sure or 0.0))
            answers = "which could not be graded" if sure is None else f"which answers the question with {sure:.2f}"
            why = f"{passage.id}, {answers}, holds {each[best].held:.0%} of the telling words of “{truths[best]}”"
            found.append(Finding(value, why, (Quote(truths[best], "truth", True),)))
        return found
