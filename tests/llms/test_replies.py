"""Whatever a server sends is an answer or says what is wrong with it; no third thing comes of it."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st

from surefoot.llms._replies import Malformed, Reported, StreamedReply
from surefoot.types import Completion


def event(content: Any = None, finish: Any = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": content}, "finish_reason": finish}], **more}


def gathered(*events: Any, max_tokens: int = 100) -> Completion:
    answer = StreamedReply(max_tokens)
    for one in events:
        answer.take(one)
    return answer.completion("m")


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def _shaped(part: str) -> st.SearchStrategy[Any]:
    """An answer of which any part may be another thing."""

    def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.fixed_dictionaries({}, optional={name: of | ODD for name, of in fields.items()}) | ODD

    rows = st.lists(some(token=st.text(max_size=4), logprob=st.floats(), top_logprobs=ODD), max_size=2)
    logprobs = some(content=rows, tokens=ODD, token_logprobs=ODD, top_logprobs=ODD)
    told = {part: some(content=st.text(max_size=4)), "finish_reason": st.just("stop"), "logprobs": logprobs}
    choice = some(**told)
    usage = some(prompt_tokens=st.integers(), completion_tokens=st.integers())
    return some(choices=st.lists(choice, max_size=2), usage=usage, error=ODD)


@given(
    st.lists(_shaped("delta").map(lambda sent: (sent, "delta")), max_size=4)
    | st.tuples(_shaped("message")).map(lambda sent: [(*sent, "message")])
)
def test_whatever_comes_is_a_completion_or_a_named_fault(sent: list[Any]) -> None:
    """Its text is text and its counts are counts, whatever stood in their places."""
    answer = StreamedReply(100)
    with suppress(Malformed, Reported):
        for one in sent:
            answer.take(*one)
        completion = answer.completion("m")
        completion.text.encode()
        for token in completion.tokens:
            assert all(-math.inf < log <= 0 for _, log in ((token.text, token.logprob), *token.weighed))
        for count in (completion.prompt_tokens, completion.completion_tokens):
            assert type(count) is int
            assert 0 <= count <= 10**9


@pytest.mark.parametrize("count", [-5, 1.5, "12", True, None, [], {}, 10**400, float("nan"), float("inf")], ids=repr)
def test_a_count_of_tokens_that_cannot_be_one_is_none(count: Any) -> None:
    """A negative one would make the budget larger, a huge one ends in an OverflowError where it costs money."""
    found = gathered(event("a", "stop", usage={"prompt_tokens": count, "completion_tokens": 2}))
    assert (found.prompt_tokens, found.completion_tokens) == (0, 2)


def test_a_server_that_says_that_it_failed_is_quoted() -> None:
    """Also with a good HTTP status, and whatever it says it with."""
    for error in ({"message": "out of memory", "code": 500}, "out of memory", ["out of memory"]):
        with pytest.raises(Reported, match="out of memory"):
            gathered({"error": error})


def test_what_is_longer_than_was_asked_for_is_no_answer() -> None:
    """Ten tokens have some forty characters; what is never an answer of ten tokens is not read on."""
    assert gathered(event("x" * 1500, "stop"), max_tokens=10).text == "x" * 1500
    with pytest.raises(Malformed, match="more than the 10 tokens that were asked for"):
        gathered(event("x" * 1000), event("x" * 501), max_tokens=10)


def test_halves_of_a_character_are_joined_and_a_lone_one_is_replaced() -> None:
    """JSON can spell them, and events may part them; nothing can store or send one."""
    pieces: list[str] = []
    answer = StreamedReply(100, pieces.append)
    for content in ("a\ud83d", "\ude00b\ude00", "c\ud83d"):
        answer.take(event(content, "stop"))
    assert answer.completion("m").text == "a😀b�c�" == "".join(pieces)
