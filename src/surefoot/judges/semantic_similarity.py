"""Semantic similarity of answer and reference, as RAGAS has it."""

from surefoot.judges._diamond import built_in
from surefoot.judges._scores import BaseJudge, Finding, lacks
from surefoot.judges._support import plainly
from surefoot.types import Quote, Record
from surefoot.types.protocols import Embedder


class SemanticSimilarity(BaseJudge):
    """The cosine of answer and reference by the `embedder`, of several references the nearest; 0 where it is negative.

    It tells what is talked about, not what is said of it: "in 1911" and "in 1912" are near. Cost: milliseconds.
    """

    about = built_in()["semantic_similarity"]

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def find(self, record: Record) -> Finding:
        """It applies where the answer has words."""
        truths, answer = [truth for truth in record.truths if truth.strip()], plainly(record.answer or "")
        if not answer:
            raise lacks("answer")
        mine, *others = self.embedder.embed([answer, *truths])
        near = [float(mine @ other) for other in others]
        truth = truths[near.index(max(near))]
        quotes = (Quote(truth, "truth", True),)
        return Finding(min(1.0, max(0.0, *near)), f"cosine {max(near):.2f} with “{truth}”", quotes)
