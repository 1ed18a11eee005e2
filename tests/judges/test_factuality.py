"""Factuality without a language model."""

from __future__ import annotations

import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.judges.factuality import Factuality
from surefoot.types import Record, Score

LONG = (
    "The bridge was built in 1911 by the engineer Tomas Aldwin. It is of iron and carries the road between the two "
    "halves of the town."
)


def judged(answer: str, *truths: str, question: str = "Who built the Ruvel Bridge?") -> Score:
    return Factuality(Hashing()).judge(Record("r", question, None, answer, truths))


def value(answer: str, *truths: str, question: str = "Who built the Ruvel Bridge?") -> float:
    found = judged(answer, *truths, question=question).value
    assert found is not None
    return found


@pytest.mark.parametrize("answer", ["Tomas Aldwin", "It was Tomas Aldwin, an engineer.", "TOMAS ALDWIN!"])
def test_an_answer_that_says_the_reference_is_right(answer: str) -> None:
    """However much it says beside it. A refusal is not right, since the question had an answer; blank references are
    none."""
    assert value("I don't know.", "Tomas Aldwin") == value("", "Tomas Aldwin") < 0.1
    assert not judged("Tomas Aldwin", " ", "").applies
    assert value(answer, "Tomas Aldwin") > 0.8
    assert value("Anna Tresk", "Tomas Aldwin") < 0.2


def test_the_likest_reference_counts() -> None:
    """And the reason names it."""
    score = judged("Aldwin", "the chief engineer", "Aldwin")
    assert score.value == judged("Aldwin", "Aldwin").value
    assert "“Aldwin”" in score.reason


def test_another_number_is_wrong() -> None:
    """Where the number is the answer."""
    when = "When was it built?"
    assert value("in 1911", "1911", question=when) > 0.8
    assert value("in 1918", "1911", question=when) < 0.2


def test_a_long_reference_is_cut_into_its_facts() -> None:
    """Who tells both has more than who tells one, and who tells neither less; the reason names what is missing."""
    first = LONG[: LONG.index(" It is")]
    assert value(LONG, LONG) > value(first, LONG) > value("Grate the cheese and add the flour.", LONG)
    assert "of 2 facts of the reference the answer carries 1" in judged(first, LONG).reason
