"""A second look at what a retriever found: a reranker reads each passage with the question and puts them into order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from surefoot.run import meter
from surefoot.types import Passage
from surefoot.types.errors import ComponentError
from surefoot.types.metadata import NO_FILTER, Filter, filtered
from surefoot.types.protocols import Evaluator, Retriever
from surefoot.types.ranges import Count


@dataclass(frozen=True, eq=False)
class Reranked:
    """The passages of another retriever in a reranker's order, the likeliest to answer first.

    `of` finds `depth` passages, or as many as are asked for if those are more; `reranker`, an evaluator, grades all of
    them, and needs no thresholds. A passage that it cannot grade is left out, and where it fails altogether the order
    stays that of `of`; the step says so either way.
    """

    name: ClassVar[str] = "reranked"
    of: Retriever
    reranker: Evaluator
    depth: Count = 50

    def retrieve(self, question: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """At most `k` passages, each with the reranker's score. Raises ConfigError where `of` cannot filter."""
        name = getattr(self.of, "name", type(self.of).__name__)
        found = filtered(self.of.retrieve, filter, f"retriever '{name}'")(question, max(k, self.depth))
        return self._ordered(question, found)[:k]

    def _ordered(self, question: str, found: Sequence[Passage]) -> tuple[Passage, ...]:
        try:
            grades = self.reranker.grade([(question, passage) for passage in found])
        except ComponentError as error:
            meter.degrade(f"{self.reranker.name} failed ({error}): passages stand as they were found")
            return (*found,)
        graded = zip(found, grades, strict=True)
        scored = [replace(passage, score=grade.score) for passage, grade in graded if grade.score is not None]
        if lost := len(found) - len(scored):
            meter.degrade(f"{self.reranker.name} could not read {lost} of {len(found)} passages: they are left out")
        return tuple(sorted(scored, key=lambda passage: -(passage.score or 0.0)))
