"""Semantic similarity of answer and reference, as RAGAS has it."""

from typing import ClassVar

from surefoot.judges._diamond import built_in
from surefoot.judges._scores import lacks, scored
from surefoot.judges._support import plainly
from surefoot.types import Metric, Quote, Record, Score
from surefoot.types.protocols import Embedder


class SemanticSimilarity:
    """The cosine of answer and reference by the `embedder`, of several references the nearest; 0 where it is negative.

    It tells what is talked about, not what is said of it: "in 1911" and "in 1912" are near. Cost: milliseconds.
    """

    about: ClassVar[Metric] = built_in()["semantic_similarity"]
    name = metric = about.name

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def judge(self, record: Record) -> Score:
        """The record's score; it applies where there are an answer and a reference with words in them."""
        truths, answer = [truth for truth in record.truths if truth.strip()], plainly(record.answer or "")
        if not truths or not answer:
            return lacks(self, record, "answer" if truths else "reference answer")
        mine, *others = self.embedder.embed([answer, *truths])
        near = [float(mine @ other) for other in others]
        truth = truths[near.index(max(near))]
        reason = f"cosine {max(near):.2f} with “{truth}”"
        return scored(self, record, min(1.0, max(0.0, *near)), reason, Quote(truth, "truth", True))
