"""Support by shared words."""

import pytest

from surefoot.types import Assertion, Passage, Support
from surefoot.verifiers.lexical import LexicalVerifier

BRIDGE = Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin. It was never closed.", "Ruvel Bridge")


def of(text: str, context: str = "") -> Support:
    (found,) = LexicalVerifier().support([Assertion(text, (BRIDGE,), context)])
    return found


def test_a_sentence_that_repeats_its_evidence_is_supported() -> None:
    """Nearly all its telling words stand in one sentence."""
    assert of("Tomas Aldwin built the Ruvel Bridge in 1911.").supported is True


def test_a_name_or_number_from_nowhere_is_not_supported_and_is_pointed_at() -> None:
    """The words stand neither in the evidence nor in the context."""
    text = "The bridge was built in 1874 by Anna Kreel."
    found = of(text)
    assert (found.supported, "“1874”" in found.reason) == (False, True)
    assert [text[slice(*span)] for span in found.unsupported] == ["1874", "Anna", "Kreel"]


def test_a_name_of_the_question_is_not_made_up() -> None:
    """The context carries nothing, but its names are nobody's invention."""
    assert of("Henry Hale asked for it.", "Who is Henry Hale?").supported is None


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("An engineer put the crossing up.", None),
        ("The Ruvel Bridge was not built in 1911 by Tomas Aldwin.", None),
        ("It was closed.", None),
        ("It was never closed.", True),
    ],
)
def test_other_words_and_other_negations_are_not_judged(text: str, supported: bool | None) -> None:
    """Shared words cannot tell a right rewording from a wrong one; negated otherwise they say the opposite."""
    assert of(text).supported is supported


def test_of_several_sentences_each_is_repeated() -> None:
    """A quotation of two is supported; with one in other words it is not judged."""
    told = (Passage("o", "The toll house is old. The bridge opened in the spring of 1911. It was closed in winter."),)
    quoted, other = (
        Assertion(f"The bridge opened in the spring of 1911. {more}", told)
        for more in ("It was closed in winter.", "It was shut when the snow lay.")
    )
    assert [one.supported for one in LexicalVerifier().support([quoted, other])] == [True, None]


def test_every_number_has_to_stand_in_the_sentence() -> None:
    """A number from another sentence of the evidence makes another statement."""
    other = Passage("o", "The bridge opened in the spring of 1911. The toll house opened in 1920.")
    said = Assertion("The bridge opened in the spring of 1920.", (other,))
    assert LexicalVerifier().support([said])[0].supported is None
