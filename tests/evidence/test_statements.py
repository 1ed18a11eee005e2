"""The statements of a model's answer: which stand, and how those that do not are marked."""

from collections.abc import Callable, Sequence

import pytest

from surefoot.evidence.citations import grounded
from surefoot.types import NOT_THERE, Answer, Assertion, Passage, Strip, Support

BRIDGE = Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "Ruvel Bridge")
HUT = Passage("h", "The hut stands at 2,214 m. Its keeper is Josef Ruhn.", "Upper Larrow Hut")
WHO = "Who built the Ruvel Bridge?"
HIGH = "How high is the Upper Larrow Hut?"
KNOWLEDGE = [(Strip(p.id, 0, len(p.text), p.text, 1.0, kept=True), p) for p in (BRIDGE, HUT)]


def judging(**chances: float) -> Callable[[Sequence[Assertion]], tuple[Support, ...]]:
    """A verifier that is as sure of an assertion as the word in it says."""
    return lambda every: tuple(
        Support(next((c for word, c in chances.items() if word in one.text), 0.0), None) for one in every
    )


def test_a_paraphrase_stands_and_what_nothing_carries_is_marked_in_its_place() -> None:
    """By the verifier's word; the leads of lists, and what says that something is not known, say nothing to mark."""
    text = "Its constructor was Aldwin [1]. He hated cheese. The sources do not say why:"
    answer = grounded(WHO, Answer(text), KNOWLEDGE, judging(constructor=0.5, cheese=0.3))
    assert answer.text == (f"Its constructor was Aldwin. [1] He hated cheese. {NOT_THERE} The sources do not say why:")
    assert answer.uncited == ("He hated cheese.",)
    assert answer.citations[0].supported


def test_a_number_that_no_source_holds_does_not_stand_whatever_the_verifier_says() -> None:
    """A sum of two numbers is none of them; "eleven" is 11 only where a source says so."""
    assert grounded(WHO, Answer("In 1911 + 214 = 2125 [1]."), KNOWLEDGE, judging(In=0.9)).refused
    assert not grounded(HIGH, Answer("It is 2,214 m high [2]."), KNOWLEDGE, judging(It=0.9)).refused


@pytest.mark.parametrize("text", ["【1】", "[Source 1]", "<sup>1</sup>", "(source 1)", "[^1]"])
def test_citations_in_other_forms_are_checked_like_any(text: str) -> None:
    """And shown in the one form."""
    assert grounded(WHO, Answer(f"Tomas Aldwin built it {text}."), KNOWLEDGE).text == "Tomas Aldwin built it. [1]"
