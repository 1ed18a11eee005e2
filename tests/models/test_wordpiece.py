"""The tokeniser that ships with the package."""

from surefoot.models.wordpiece import wordpiece
from surefoot.text.words import encodable


def test_the_tokenizer_reads_whole_texts() -> None:
    """It neither cuts nor pads."""
    assert len(wordpiece().encode("word " * 1000, add_special_tokens=False).ids) == 1000
    assert len(wordpiece().encode("word", add_special_tokens=False).ids) == 1


def test_any_text_can_be_read_and_keeps_its_length() -> None:
    """Half of a surrogate pair is no character."""
    assert encodable("a\ud800b\U0001f600") == "a?b\U0001f600"
