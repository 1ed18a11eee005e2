"""What judges without a language model read of a text, and what it comes to."""

import pytest
from hypothesis import given, strategies as st

from judge_heads import AGAINST
from surefoot.embedders.hashing import Hashing
from surefoot.judges._equivalence import NAMES, Likeness, likeness, normal, telling
from surefoot.judges._scores import chance, equivalence
from surefoot.judges._support import claimed, claims, plainly
from surefoot.types import Grade, Thresholds


def test_a_claim_is_a_sentence_or_a_line_of_a_list() -> None:
    """As it stands there; a line that leads up to a list and a refusal claim nothing. Addresses and marks are no
    words."""
    assert plainly("1. **Iron** [1, 2], see https://example.org/iron") == "Iron , see"
    text = "There are two:\n\n- Iron is one [1].\n- Stone. Wood.\nThe context does not mention more."
    assert claims(text) == ["- Iron is one [1].", "- Stone.", "Wood."]


def test_talk_around_a_claim_is_not_claimed() -> None:
    """Of the sources, of the answer and to its reader; a negation and a bound stay, and so does a bare no."""
    said = "According to the provided context, the answer is"
    assert claimed(f"{said} Tomas Aldwin.") == claimed("The answer is Tomas Aldwin.") == "Tomas Aldwin."
    assert claimed(f"{said} not Aldwin.") == "not Aldwin."
    assert claimed("The answer is more than 5.") == "more than 5."
    assert claimed("Based on the information given, before 1990.") == "before 1990."
    assert claims("Tomas Aldwin. Let me know if you need further help!") == ["Tomas Aldwin."]
    whole = "The information on Aldwin is in the archive."
    assert claimed(whole) == whole, "it is no talk that ends in neither a mark nor a verb"
    assert claims("No.") == ["No."]
    assert claims("Who built it? Aldwin. Would you like to hear more?") == ["Aldwin."]
    assert claimed("It was built by Aldwin.") == "It was built by Aldwin."
    assert [claimed(f"{number}. Let me know if you need help.") for number in ("17", "7.50")] == ["17", "7.50"]
    assert claimed("2. The bridge was built by Aldwin.") == "The bridge was built by Aldwin."


# What an answer and a reference have in common.


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


# The linear head of the judges, and what an evaluator's grade is worth as a chance.


OWN = Thresholds(0.8, 0.4, 0.5, "some")


def test_the_shipped_head_weighs_what_its_judge_gives_it() -> None:
    """The same inputs in the same order, none with the wrong sign."""
    shipped = equivalence()
    assert shipped.inputs == NAMES
    assert all(weight * (-1 if key in AGAINST else 1) >= 0 for key, weight in zip(NAMES, shipped.weights, strict=True))


def test_a_grade_without_a_probability_is_placed_between_its_thresholds() -> None:
    """And one that could not be given is None, whatever else it says."""
    assert chance(Grade("p", -3.0, 0.7), OWN) == 0.7
    assert chance(Grade("p", 0.6), OWN) == pytest.approx(0.5)
    assert [chance(Grade("p", score), OWN) for score in (0.0, 1.0)] == [0.0, 1.0]
    assert chance(Grade("p", 0.5), Thresholds(0.5, 0.5, 0.5, "a step")) == 1.0
    assert chance(Grade("p", None), OWN) is None
    assert chance(Grade("p", float("nan"), 0.5), OWN) is None
