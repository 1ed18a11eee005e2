"""What an answer and a reference have in common."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from surefoot.embedders.hashing import Hashing
from surefoot.judges._equivalence import Likeness, likeness, normal, telling

QUESTION = "Where do the elves sail?"


def alike(answer: str, truth: str, question: str = QUESTION) -> Likeness:
    return likeness(question, answer, [truth], Hashing())[0]


def test_small_numbers_are_compared_in_figures() -> None:
    """ "ten years" and "10 years" are the same words; a footnote that stuck to a word is none of it."""
    assert normal("every ten years") == normal("every 10 years")
    assert normal("the lands of Valinor1.")[-1] == "valinor"
    assert normal("B12 and 1911") == ["b12", "and", "1911"]


def test_what_the_question_says_tells_nothing() -> None:
    """Unless there is nothing else."""
    assert telling("The elves sail to Valinor", QUESTION) == ["valinor"]
    assert telling("the elves", QUESTION) == ["elves"]
    assert telling("to be", QUESTION) == ["to", "be"]


@pytest.mark.parametrize(
    ("answer", "truth"),
    [
        ("They sail to the Undying Lands.", "Undying Lands"),
        ("to the undying lands ofValinor1.", "Valinor"),
        ("Abidali Neemuchwala did.", "Abid Ali Neemuchwala"),
        ("Beyoncé", "beyonce"),
    ],
)
def test_a_reference_stands_in_an_answer_whatever_its_spaces_and_case(answer: str, truth: str) -> None:
    """Side by side, or with its letters side by side."""
    assert alike(answer, truth).run == 1.0


@pytest.mark.parametrize(
    ("answer", "truth"), [("in 19112", "1911"), ("the art of it", "TA"), ("Lands of the Undying", "Undying Lands")]
)
def test_a_reference_does_not_stand_there_by_chance(answer: str, truth: str) -> None:
    """Not as a part of a number, not as two letters, not in another order."""
    assert alike(answer, truth).run == 0.0


def test_a_part_of_a_name_is_likened_to_the_whole() -> None:
    """Held by half, and wholly the reference's own. A misspelt word counts by its likeness, another not at all; and a
    missing number is seen."""
    assert 0.7 < alike("Belshazar", "Belshazzar").held < 1.0
    assert alike("Nebuchadnezzar", "Belshazzar").held == 0.0
    assert alike("March 18, 2018", "March 1, 2018").figures == 0.5
    assert alike("March", "March").figures == 0.0
    one = alike("Rowling", "Joanne Rowling", "Who wrote it?")
    assert (one.held, one.either) == (0.5, 1.0)


@given(st.text(max_size=40), st.text(min_size=1, max_size=20))
def test_each_likeness_is_a_share(answer: str, truth: str) -> None:
    """In [0, 1], whatever the texts."""
    one = alike(answer, truth)
    assert all(0 <= value <= 1.0001 for value in (one.run, one.held, one.either, one.near, one.figures))
