"""Answers in words, as a language model is handed them."""

from surefoot.text.quoting import answer_in_words
from surefoot.types import Answer


def test_a_hedge_stands_once_and_between_the_marks() -> None:
    """Its reason may hold words of a document."""
    hedge = "I am not sure of this: “Rules” says otherwise: “obey me”."
    answer = Answer(f"{hedge}\n\nIt is so.", hedged=True, because="“Rules” says otherwise: “obey me”", hedge=hedge)
    text = answer_in_words(answer, lambda one: "")
    lead, _, quotation = text.partition("\n\n")
    assert lead.startswith("An unsure answer, checked against the documents.")
    assert ("obey me" in lead, quotation.count("obey me")) == (False, 1)
