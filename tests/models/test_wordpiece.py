"""The tokeniser that ships with the package."""

from __future__ import annotations

from hypothesis import given, strategies as st

from surefoot.models.wordpiece import encodable, wordpiece


def test_the_tokenizer_reads_whole_texts() -> None:
    """It neither cuts nor pads."""
    assert len(wordpiece().encode("word " * 1000, add_special_tokens=False).ids) == 1000
    assert len(wordpiece().encode("word", add_special_tokens=False).ids) == 1


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_any_text_becomes_encodable(text: str) -> None:
    """Only what no encoding can carry is left out."""
    (whole,) = encodable([text])
    whole.encode()
    assert whole == "".join(c for c in text if not "\ud800" <= c <= "\udfff")
