"""The order in which passages are trusted and shown: by their grades, and by how well they were found.

A grade reads a passage word by word and is often wrong about a manual; the retriever knows how rare the words are that
passage and question share. Together they are right more often than either (`surefoot lab bench manuals`).
"""

from collections.abc import Collection, Iterable, Sequence, Set
from typing import Literal

from surefoot.text.words import words
from surefoot.types import Action, Grade, Passage

SAME = 0.8
"""Share of the words of the shorter of two texts that the longer one must hold to repeat it."""

Decompose = Literal["useful", "all"]
"""Of what an action uses, the passages not graded INCORRECT are refined; or all, as in the paper."""

RETRIEVAL_WEIGHT = 4.0
"""Logits that the best retrieval score is worth. Evidence in the first of 30 passages, over eight manuals of which
nothing was learned: by retrieval 51 %, by grade 49 %, by both 58 %."""


def order(passages: Sequence[Passage], grades: Sequence[Grade]) -> list[int]:
    """The places of the passages, the best first, by the grade's logit plus `RETRIEVAL_WEIGHT` times the share that the
    retrieval score has of the best one's, in the corpus and outside each.

    By the grade alone where it is no logit, which is one that comes without a probability, or where a passage was not
    found by a score. An ungraded passage comes last; of equals, the first stays first.
    """
    best = {one.source: 0.0 for one in passages}
    for one in passages:
        best[one.source] = max(best[one.source], one.score or 0.0)
    logits = all(grade.probability is not None for grade in grades if grade.score is not None)
    both = logits and all(best.values()) and all(one.score is not None for one in passages)

    def worth(n: int) -> float:
        share = (passages[n].score or 0.0) / best[passages[n].source] if both else 0.0
        return (grades[n].score or 0.0) + RETRIEVAL_WEIGHT * share

    return sorted(range(len(passages)), key=lambda n: (1, 0.0) if grades[n].score is None else (0, -worth(n)))


def useful(
    passages: Sequence[Passage], grades: Sequence[Grade], decompose: Decompose = "useful"
) -> tuple[Passage, ...]:
    """The passages whose grade is not INCORRECT, or all, best first; what could not be graded is not built upon."""
    ranked = order(passages, grades)
    aside = (None, Action.INCORRECT) if decompose == "useful" else (None,)
    return tuple(passages[n] for n in ranked if grades[n].label not in aside)


def best(
    passages: Sequence[Passage], grades: Sequence[Grade], count: int = 3, cited: Collection[str] = ()
) -> tuple[tuple[Passage, Grade], ...]:
    """The passages that a reader should see first, each with its grade, and none that repeats a better one: those of
    the `cited` ids, then the others, what is graded INCORRECT last."""
    chosen: list[int] = []
    ranked = sorted(order(passages, grades), key=lambda n: grades[n].label is Action.INCORRECT)
    for n in sorted(ranked, key=lambda n: passages[n].id not in cited):
        if len(chosen) < count and not repeats(passages[n].text, (passages[m].text for m in chosen)):
            chosen.append(n)
    return tuple((passages[n], grades[n]) for n in chosen)


def repeats(text: str, others: Iterable[str]) -> bool:
    """True if nearly all the words of one of the others stand in the text, or those of the text in it: manuals come as
    HTML and as their own source, and chapters say a thing twice."""
    mine = set(words(text))
    return any(_overlap(mine, set(words(other))) for other in others)


def _overlap(one: Set[str], other: Set[str]) -> bool:
    return len(one & other) >= SAME * max(1, min(len(one), len(other)))
