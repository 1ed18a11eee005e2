"""A prompt that does not fit into the context of a model."""

import json

import pytest

from endpoint import serving
from surefoot.llms.openai import OpenAI
from surefoot.types import Message
from surefoot.types.errors import ContextOverflow


@pytest.mark.parametrize(
    "message",
    ["This model's maximum context length is 4096 tokens", "exceeds the available context size", "Prompt is too long"],
)
def test_a_prompt_that_overflows_is_told_from_other_refusals(message: str) -> None:
    """In the words of OpenAI, llama.cpp and Anthropic; who asks can ask again with less."""
    body = json.dumps({"error": {"message": message}}).encode()
    with serving(lambda _: (400, {}, body)) as url, pytest.raises(ContextOverflow, match=message):
        OpenAI("larrow-7b", f"{url}/v1").complete([Message("user", "Who built it?")])
