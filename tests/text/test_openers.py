"""Openers and offers claim nothing."""

from __future__ import annotations

import pytest

from surefoot.text.openers import claiming


@pytest.mark.parametrize(
    "sentence",
    [
        "Sure!",
        "Certainly! Here is the answer to your question.",
        "Based on the given passages, here are the steps:",
        "**Here is a short summary:**",
        "Let me know if you have any other questions.",
        "I hope that helps!",
        "If you need further help, please let me know.",
    ],
)
def test_an_opener_or_an_offer_claims_nothing(sentence: str) -> None:
    """Nothing of it could be true or false."""
    assert claiming(sentence) == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "The Ruvel Bridge was built in 1911.",
        "Here are 12 people who help.",
        "Sure Foot is a mountain guide's company.",
        "If you need further help, you can ring the warden of the hut.",
        "Here is " + "a very long sentence " * 12 + "with an answer.",
        "",
    ],
)
def test_a_sentence_that_says_something_is_left_as_it_is(sentence: str) -> None:
    """Also where it begins like an opener: a number, a further clause or its length tells it apart."""
    assert claiming(sentence) == sentence


def test_what_follows_an_opener_is_claimed() -> None:
    """One sentence may open and answer."""
    assert claiming("Sure, here is the answer: Tomas Aldwin.") == "Tomas Aldwin."
    assert claiming("The time: noon.") == "The time: noon."
