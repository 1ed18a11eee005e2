"""What a claim shares with texts, and what it comes to."""

from __future__ import annotations

from surefoot.embedders.hashing import Hashing
from surefoot.judges._support import SourceTexts, WordSupport, claims, plainly
from surefoot.types import Passage

PASSAGES = (
    Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin. It is of iron.", "Ruvel Bridge"),
    Passage("h", "The hut stands at 2,214 metres. The keeper is called Josef."),
)


def of(claim: str) -> WordSupport:
    return SourceTexts(PASSAGES, Hashing()).of(claim)


def test_a_claim_is_a_sentence_or_a_line_of_a_list() -> None:
    """As it stands there; a line that leads up to a list and a refusal claim nothing. Addresses and marks are no words,
    and texts of nothing else are empty."""
    assert plainly("1. **Iron** [1, 2], see https://example.org/iron") == "Iron , see"
    assert SourceTexts([Passage("a", "[3] https://example.org/a", "")], Hashing()).empty
    text = "There are two:\n\n- Iron is one [1].\n- Stone. Wood.\nThe context does not mention more."
    assert claims(text) == ["- Iron is one [1].", "- Stone.", "Wood."]


def test_the_evidence_of_a_claim_is_named() -> None:
    """The sentence with most of its words, as it stands there, and the words that stand nowhere."""
    support = of("The Ruvel Bridge was built by Anna Tresk.")
    assert (support.passage_id, support.sentence) == ("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin.")
    assert support.missing == ("anna", "tresk")


def test_what_stands_there_is_likelier_than_what_does_not() -> None:
    """A copy above another builder, and that above another subject."""
    copy, other = (
        of("The Ruvel Bridge was built in 1911 by Tomas Aldwin."),
        of("The Ruvel Bridge was built by Anna Tresk."),
    )
    assert copy.probability > 0.8 > other.probability > of("Cheese dumplings are boiled in water.").probability


def test_another_number_and_a_negation_are_lies() -> None:
    """They lower the chance though every other word stands there; and nobody's "I" is the texts'."""
    assert of("The keeper is not called Josef.").shared.negation == 1.0
    assert of("The keeper is not called Josef.").probability < of("The keeper is called Josef.").probability
    assert of("I think the keeper is called Josef.").shared.person == 1.0
    assert of("The Ruvel Bridge was built in 1918 by Tomas Aldwin.").shared.figures == 1.0
    assert of("The hut stands at 2,914 metres.").probability < of("The hut stands at 2,214 metres.").probability - 0.2


def test_a_few_words_are_judged_by_the_words() -> None:
    """A name has no direction of its own."""
    shared = of("Tomas Aldwin").shared
    assert (shared.near, shared.triples) == (1.0, 1.0)
    assert of("Aldwin Tomas").shared.triples == 0.0
