"""Phrases of a text, and lists of them."""

from surefoot.text.phrases import each, phrase_set, phrases


def test_the_phrases_of_a_text_are_its_short_runs_and_the_pairs_around_a_word() -> None:
    """Of up to three words."""
    assert phrases(["a", "b", "c"]) == {"a", "b", "c", "a b", "b c", "a b c", "a c"}


def test_lists_are_written_in_columns() -> None:
    """Each word of one with each of the other."""
    assert phrase_set("x", each("a|b", "c|d e")) == {"x", "a c", "a d e", "b c", "b d e"}
