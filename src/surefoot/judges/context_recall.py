"""The share of the reference answer that the contexts hold."""

from __future__ import annotations

from dataclasses import astuple
from typing import ClassVar

from surefoot.judges._equivalence import likeness, telling
from surefoot.judges._scores import chance, lacks, scored, unscored
from surefoot.judges._support import SourceTexts, claims
from surefoot.types import Metric, Passage, Quote, Record, Score
from surefoot.types.protocols import Embedder, Evaluator

SHORT = 10
"""Telling words up to which a reference is looked up as one thing; a longer one is cut into its facts."""
_VERDICTS = ({"yes"}, {"no"}, {"true"}, {"false"})


class ContextRecall:
    """The share of the reference that the contexts hold, of several references the best held; no language model.

    A short reference is looked up in each context: the share of its telling words that one context holds, in full where
    the `evaluator` finds that this context answers the question, and down to half where not, since a name may stand
    there by chance. Of a longer one, each sentence is a fact, and the value is the mean chance that the contexts carry
    it (`surefoot.judges._support`). Without any context, 0; a bare yes or no cannot be looked up, and is unscored.
    Cost: a graded pair a context where a reference is short.
    """

    about: ClassVar[Metric] = Metric(
        name="context_recall",
        edge=("truth", "context"),
        sees=("question", "truths", "contexts"),
        about="Does the retrieved context hold the facts of the reference answer?",
        levels=(
            "All essential facts are there.",
            "All but minor ones are there.",
            "Most are there.",
            "Only basic ones are there.",
            "They are missing, or the context has them wrong.",
        ),
        special="Break the reference answer into its facts and look for each of them in the context. What else the "
        "context holds does not matter. Where there are several possible answers, look for the one best covered.",
        remedy=("retrieval", "miss"),
    )
    name = metric = about.name

    def __init__(self, evaluator: Evaluator, embedder: Embedder) -> None:
        self.evaluator = evaluator
        self.embedder = embedder

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
        found = [self._by_facts(record, record.contexts, truth) for truth in long]
        found += self._looked_up(record, record.contexts, short) if short else []
        return max(found, key=lambda score: score.value or 0.0)

    def _by_facts(self, record: Record, contexts: tuple[Passage, ...], truth: str) -> Score:
        evidence = SourceTexts(contexts, self.embedder)
        facts = claims(truth) or [truth]
        if evidence.empty:
            return scored(self, record, 0.0, "the contexts hold no words")
        found = evidence.carry(facts)
        why = f"of {len(facts)} facts of the reference the contexts carry {found.carried}; the least: {found.weakest}"
        return scored(self, record, found.mean, why, *found.quotes("truth"))

    def _looked_up(self, record: Record, contexts: tuple[Passage, ...], truths: list[str]) -> list[Score]:
        texts = [passage for passage in contexts if passage.text.strip()]
        grades = self.evaluator.grade([(record.question, passage) for passage in texts])
        found = []
        for passage, grade in zip(texts, grades, strict=True):
            each = likeness(record.question, f"{passage.title} {passage.text}", truths, self.embedder)
            best = max(range(len(truths)), key=lambda place: (each[place].held, astuple(each[place])))
            sure = chance(grade, self.evaluator.thresholds)
            value = each[best].held * (0.5 + 0.5 * (sure or 0.0))
            answers = "which could not be graded" if sure is None else f"which answers the question with {sure:.2f}"
            why = f"{passage.id}, {answers}, holds {each[best].held:.0%} of the telling words of “{truths[best]}”"
            found.append(scored(self, record, value, why, Quote(truths[best], "truth", True)))
        return found
