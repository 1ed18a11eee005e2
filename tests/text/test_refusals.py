"""What counts as an answer that gives none."""

import pytest

from surefoot.text.refusals import begins_with_verdict, refuses


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "I don't know.",
        "I'm sorry, but I can't help.",
        "I could not find this in the documents.",
        "The context does not mention the keeper's name.",
        "There is no information about the bridge.",
        "The height is not specified in the passage.",
        "Unknown",
        "It cannot be determined.",
        "We are unable to say.",
    ],
)
def test_a_refusal_is_known_by_its_words(text: str) -> None:
    """The commonest ways to say that nothing is known; silence is one."""
    assert refuses(text)


@pytest.mark.parametrize(
    "text", ["Tomas Aldwin", "It is not of iron.", "Nobody lives there.", "He did not know his father.", "No.", "0"]
)
def test_a_negative_answer_is_no_refusal(text: str) -> None:
    """Nor is an answer about somebody who did not know."""
    assert not refuses(text)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("Yes.", True), ("This claim is not true [1].", True), ("No source says so.", False), ("It is of iron.", False)],
)
def test_a_verdict_is_known_by_its_first_words(text: str, verdict: bool) -> None:
    """With or without what it is about; a "no" may also begin what says that nothing is known."""
    assert begins_with_verdict(text) is verdict
