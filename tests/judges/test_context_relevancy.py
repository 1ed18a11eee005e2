"""Context relevancy without a language model."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from surefoot.evaluators.lexical import Lexical
from surefoot.judges.context_relevancy import SPLIT, ContextRelevancy, split
from surefoot.types import Grade, Passage, Record, Score
from surefoot.types.protocols import Pair

BRIDGE = Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin. It is of iron.", "Ruvel Bridge")
CHEESE = Passage("c", "Grate the cheese, add flour and eggs, and boil the dumplings.", "Cheese dumplings")
CUT = Passage("d", "The Ruvel Bridge was built in 1911 by Tomas Aldwin, who had already", "Ruvel Bridge")


class Broken(Lexical):
    """Grades nothing."""

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        return tuple(Grade(passage.id, None, reason="it broke") for _, passage in pairs)


def judged(*contexts: Passage) -> Score:
    return ContextRelevancy(Lexical()).judge(Record("r", "Who built the Ruvel Bridge?", contexts))


def test_the_best_context_counts() -> None:
    """What else was retrieved does not lower it; text cut off does, by a step of the rubric, and is said."""
    assert judged(CUT).value == SPLIT
    assert "ends inside a sentence" in judged(CUT).reason
    assert judged(BRIDGE).value == judged(CHEESE, BRIDGE).value == 1.0
    assert judged(CHEESE).value == judged().value == 0.0


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("It is of iron.", []),
        ("Bridges of the county\n- Ruvel Bridge", []),
        ("it is not possible, he said.", []),
        ("was built in 1911 by Tomas Aldwin.", ["begins inside a sentence"]),
        (", and of iron. It has One arch.", ["begins inside a sentence"]),
        ("The bridge was built in the year of ...", ["ends inside a sentence"]),
        ("He said: “It is of iron.” [3]", []),
    ],
)
def test_a_cut_is_seen_at_either_end(text: str, ends: list[str]) -> None:
    """Not in a heading, an entry of a list, nor in text that is all lower case."""
    assert split(text) == ends


def test_what_cannot_be_graded_is_unscored() -> None:
    """With the evaluator's reason."""
    score = ContextRelevancy(Broken()).judge(Record("r", "Who?", (BRIDGE,)))
    assert score.value is None
    assert "it broke" in score.unscored_because
