"""Models that think first: how they are asked, and what of their replies is the answer."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from surefoot.config.options import build
from surefoot.llms._abilities import Abilities, abilities
from surefoot.llms._replies import StreamedReply
from surefoot.types.errors import ConfigError


@pytest.mark.parametrize(
    ("models", "temperature", "limit", "thinks"),
    [
        ("gpt-4o-mini gpt-5-chat-latest Qwen/Qwen3-Instruct qwen3-coder:30b o10", True, "max_tokens", False),
        ("o3-mini openai/o4-mini gpt-5-nano", False, "max_completion_tokens", True),
        ("qwen3:8b Qwen/Qwen3-Thinking deepseek-r1:7b kimi-k2-thinking SmolLM3", True, "max_tokens", True),
    ],
)
def test_a_models_name_says_how_it_is_asked(models: str, temperature: bool, limit: str, thinks: bool) -> None:
    """By its beginning, without its maker; a name that nobody knows has the common abilities."""
    for model in models.split():
        found = abilities(model)
        assert (found.temperature, found.limit, found.thoughts > 0) == (temperature, limit, thinks), model
        assert found.stop is found.temperature


def test_a_configuration_has_the_last_word() -> None:
    """Each by itself."""
    assert abilities("o3", {"thoughts": 100}).thoughts == 100
    assert not abilities("o3", {"thoughts": 100}).temperature
    assert abilities("qwen3:8b", {"thoughts": 0}) == Abilities()


@pytest.mark.parametrize(
    "given",
    [{"temprature": True}, {"temperature": 0}, {"thoughts": True}, {"thoughts": -1}, {"limit": "tokens"}, {"stop": ""}],
    ids=str,
)
def test_what_is_no_ability_is_refused(given: dict[str, Any]) -> None:
    """A misspelt one would change nothing, in silence."""
    with pytest.raises(ConfigError, match="abilities are temperature and stop"):
        abilities("m", given)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"logprobs": 101}, "less than or equal to 100"),
        ({"logprobs": -1}, "greater than or equal to 0"),
        ({"extra_body": "x"}, "extra_body must be"),
    ],
)
def test_options_that_cannot_be_sent_are_refused(options: dict[str, Any], what: str) -> None:
    """Before anything is asked."""
    with pytest.raises(ConfigError, match=what):
        build("llm", "openai", {"model": "m", **options}, {})


def answer(*pieces: str, **beside: str) -> tuple[str, list[str]]:
    """The text of a model that thinks, and the pieces that were handed on."""
    heard: list[str] = []
    reply = StreamedReply(100, heard.append, thinks=True)
    if beside:
        reply.take({"choices": [{"delta": beside}]})
    for piece in pieces:
        reply.take({"choices": [{"delta": {"content": piece}}]})
    text = reply.completion("m").text
    assert "".join(heard) == text
    return text, heard


@given(st.integers(1, 9))
def test_thoughts_before_an_answer_are_no_part_of_it(size: int) -> None:
    """However the pieces cut them, with the mark that begins them or without, as some templates set it themselves."""
    for begin in ("<think>", "\n<think>\n", ""):
        whole = f"{begin}It is iron, or < think.</think>\n\nOla <b>Vint</think>"
        assert answer(*(whole[n : n + size] for n in range(0, len(whole), size)))[0] == "Ola <b>Vint</think>"


def test_thoughts_in_a_field_of_their_own_hold_nothing_back() -> None:
    """As vLLM, DeepSeek and others send them."""
    for field in ("reasoning_content", "reasoning"):
        assert answer("Ola", " Vint", **{field: "Who?"})[1] == ["Ola", " Vint"]


def test_thoughts_that_never_end_are_no_answer() -> None:
    """The limit cut them off: the text is empty, and the completion says that it was cut. Also where the template began
    them."""
    for thoughts in ("<think>It is iron", "It is iron"):
        reply = StreamedReply(100, thinks=True)
        choice = {"message": {"content": thoughts}, "finish_reason": "length"}
        reply.take({"choices": [choice], "usage": {"completion_tokens": 90}}, "message")
        found = reply.completion("m")
        assert (found.text, found.truncated, found.completion_tokens) == ("", True, 90)


@pytest.mark.parametrize(
    "begin",
    [
        "<think>Let me see. [3]</think>\n\n",
        "<thinking>Let me see.</thinking>",
        "Let me see.\n</think>\n",
        "<|channel|>analysis<|message|>Let me see.<|end|><|start|>assistant<|channel|>final<|message|>",
        "analysisLet me see. [3]assistantfinal",
        "[THINK]Let me see. [3][/THINK]",
        "◁think▷Let me see. [3]◁/think▷",
        "<|channel>thought\nLet me see. [3]<channel|>",
        "<seed:think>Let me see.</seed:think>",
        "<thinking>Let me see.</thinking>\n<answer>\n",
        "<|START_THINKING|>Let me see.<|END_THINKING|><|START_RESPONSE|>",
        "<answer>",
        "",
    ],
)
@pytest.mark.parametrize("end", ["", "<|return|>", "</answer>", "<|END_RESPONSE|>", "\n<think>Is it? [9]</think>"])
@pytest.mark.parametrize("size", [1, 7, 500])
def test_thoughts_in_any_form_are_no_part_of_any_models_answer(begin: str, size: int, end: str) -> None:
    """Whatever its name; a model that is known to think may not do so."""
    assert answer("Ola", " Vint")[0] == "Ola Vint"
    reply, whole = StreamedReply(300), f"{begin}Guests may not vote. [1]{end}"
    for n in range(0, len(whole), size):
        reply.take({"choices": [{"delta": {"content": whole[n : n + size]}}]})
    assert reply.completion("m").text == "Guests may not vote. [1]"
