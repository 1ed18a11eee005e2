"""Whatever a server sends is an answer or says what is wrong with it; no third thing comes of it."""

import math
from typing import Any

import pytest

from surefoot.llms._replies import Malformed, Reported, StreamedReply
from surefoot.types import Completion, Token


def event(content: Any = None, finish: Any = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": content}, "finish_reason": finish}], **more}


def gathered(*events: Any, max_tokens: int = 100) -> Completion:
    answer = StreamedReply(max_tokens)
    for one in events:
        answer.take(one)
    return answer.completion("m")


ROWS = [
    {"token": "a", "logprob": -1, "top_logprobs": [{"token": 1, "logprob": 0.5}, 7, {"logprob": "x"}]},
    {"token": 7},
]
ODD: list[tuple[Any, tuple[Token, ...]]] = [
    *((odd, ()) for odd in (None, 7, "x", [1], {"content": None}, {"tokens": 7}, {"tokens": ["a"]})),
    *(({"content": [{"token": "a", "logprob": log}]}, ()) for log in (None, True, "x", math.nan, -math.inf)),
    ({"content": [3, *ROWS]}, (Token("a", -1.0, (("1", 0.0),)),)),
    ({"tokens": ["a", "b"], "token_logprobs": [0.5], "top_logprobs": [[1]]}, (Token("a", 0.0),)),
]


@pytest.mark.parametrize(("logprobs", "tokens"), ODD, ids=repr)
def test_log_probabilities_of_another_shape_are_left_out(logprobs: Any, tokens: tuple[Token, ...]) -> None:
    """A finite number of 0 or less, or none."""
    sent = {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop", "logprobs": logprobs}]}
    assert gathered(sent).tokens == tokens


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
