"""The scripted model says what it was told to, and fails loudly where it was told nothing."""

import pytest

from surefoot.llms.scripted import Scripted
from surefoot.types import Message
from surefoot.types.errors import ConfigError, ModelError


def ask(llm: Scripted, question: str, **options: object) -> str:
    return llm.complete([Message("system", "weather"), Message("user", question)], **options).text


def test_a_mapping_answers_by_words_of_the_last_user_message() -> None:
    """The first entry whose key occurs is taken; a test that asks what it did not script must not go on."""
    llm = Scripted({"weather": "rain", "bridge": "in 1871", "built": "by Ola"})
    assert ask(llm, "When was the bridge built?") == "in 1871"
    with pytest.raises(ModelError, match="no scripted reply fits 'Who\\?'; there are replies to: weather, bridge"):
        ask(llm, "Who?")


def test_a_sequence_is_used_up_in_order() -> None:
    """One reply a call, and an error after the last."""
    llm = Scripted(["first", "second"])
    assert [ask(llm, "?"), ask(llm, "?")] == ["first", "second"]
    with pytest.raises(ModelError, match="all 2 scripted replies are used up"):
        ask(llm, "?")


@pytest.mark.parametrize("replies", [[{"a": 1}], {"word": [1]}, [None], 1, True, None])
def test_replies_that_are_no_texts_are_refused_before_anything_is_asked(replies: object) -> None:
    """A configuration may say anything."""
    with pytest.raises(ConfigError, match="must be texts"):
        Scripted(replies)  # type: ignore[arg-type]
