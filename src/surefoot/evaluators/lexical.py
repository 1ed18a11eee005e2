"""Word overlap of question and passage."""

from collections.abc import Sequence
from typing import ClassVar

from surefoot.run import meter
from surefoot.text.words import content_words, names, stem, words
from surefoot.types import Grade, Passage, Thresholds
from surefoot.types.protocols import Pair


class Lexical:
    """Weighted share of the question's content words that the title and text hold; in [0, 1].

    It is what it is: word overlap. It tells "about this person" from "about somebody else" well, and "says this of
    the person" from "says something else" badly. A word of a name weighs `NAME_WEIGHT` times another word; a name
    whose words are all there but not side by side ("Henry Wemyss Feilden" for "Henry Feilden") counts `SCATTERED` of
    its weight. No model call; thousands of pairs a second.
    """

    name: ClassVar[str] = "lexical"
    NAME_WEIGHT: ClassVar[float] = 2.0
    SCATTERED: ClassVar[float] = 0.5
    thresholds: ClassVar[Thresholds] = Thresholds(
        upper=0.75,
        lower=0.4,
        strip=0.5,
        evaluator="lexical",
        fitted_on="PopQA and NQ questions with E5 passages: at or above τ+, 73 % and 72 % of the questions have a "
        "passage that holds an answer; below τ−, 3 % and 14 %",
    )

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair; a question without a word cannot be graded."""
        meter.count(graded=len(pairs))
        return tuple(self._grade(question, passage) for question, passage in pairs)

    def _grade(self, question: str, passage: Passage) -> Grade:
        wanted = {stem(word): word for word in content_words(question)}
        if not wanted:
            return Grade(passage.id, None, reason="the question has no words to look for")
        there = [stem(word) for word in words(f"{passage.title} {passage.text}")]
        held = set(there)
        weights = dict.fromkeys(wanted, 1.0)
        share = {word: float(word in held) for word in wanted}
        for name in names(question):
            parts = [stem(word) for word in words(name)]
            whole = _contains_run(there, parts)
            for part in wanted.keys() & parts:
                weights[part] = self.NAME_WEIGHT
                share[part] *= 1.0 if whole else self.SCATTERED
        score = sum(weights[word] * share[word] for word in wanted) / sum(weights.values())
        missing = sorted(word for stemmed, word in wanted.items() if stemmed not in held)
        reason = f"lacks: {', '.join(missing)}" if missing else "holds every word of the question"
        return Grade(passage.id, score, reason=reason)


def _contains_run(text: list[str], run: list[str]) -> bool:
    return any(text[i : i + len(run)] == run for i, word in enumerate(text) if word == run[0])
