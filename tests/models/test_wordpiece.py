"""The tokeniser that ships with the package."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from surefoot.models.wordpiece import encodable, wordpiece


def test_the_tokenizer_reads_whole_texts() -> None:
    """It neither cuts nor pads."""
    assert len(wordpiece().encode("word " * 1000, add_special_tokens=False).ids) == 1000
    assert len(wordpiece().encode("word", add_special_tokens=False).ids) == 1


def test_it_has_the_pieces_of_bert() -> None:
    """30,522 of them, its marks where every network of this family expects them."""
    vocabulary = wordpiece().get_vocab()
    assert sorted(vocabulary.values()) == list(range(30522))
    assert [vocabulary[mark] for mark in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")] == [0, 100, 101, 102]


def test_each_is_a_fresh_one() -> None:
    """A setting of one is none of the other's."""
    wordpiece().enable_truncation(1)
    assert len(wordpiece().encode("two words", add_special_tokens=False).ids) == 2


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_any_text_becomes_encodable(text: str) -> None:
    """Only what no encoding can carry is left out."""
    (whole,) = encodable([text])
    whole.encode()
    assert whole == "".join(c for c in text if not "\ud800" <= c <= "\udfff")
