"""A third-party evaluator: the Jaccard index of the words of question and passage. It inherits nothing."""

from collections.abc import Sequence

from surefoot import Grade, Passage, Thresholds
from surefoot.run import meter


class Jaccard:
    """Shared words over all words of question and passage; in [0, 1]."""

    name = "jaccard"
    thresholds = Thresholds(upper=0.15, lower=0.05, strip=0.05, evaluator="jaccard", fitted_on="chosen by eye")

    def grade(self, pairs: Sequence[tuple[str, Passage]]) -> tuple[Grade, ...]:
        """One grade a pair, each by itself."""
        meter.count(graded=len(pairs))
        return tuple(self._grade(question, passage) for question, passage in pairs)

    def _grade(self, question: str, passage: Passage) -> Grade:
        asked, held = set(question.lower().split()), set(f"{passage.title} {passage.text}".lower().split())
        if not asked:
            return Grade(passage.id, None, reason="the question has no words")
        shared = asked & held
        return Grade(passage.id, len(shared) / len(asked | held), reason=f"shares {len(shared)} words")
