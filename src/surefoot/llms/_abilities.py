"""Parameters and habits of models by their names: models that think first differ in all of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from surefoot.types.errors import ConfigError

_THOUGHTS = 4096
"""Tokens for thoughts, without which an answer of a hundred tokens would be cut off in the middle of them."""

Limit = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True)
class Abilities:
    """The parameters that a model takes, and the room that its thoughts need."""

    temperature: bool = True
    """It takes a temperature; without, it may answer otherwise the second time."""
    stop: bool = True
    """It takes words to stop at; without, its answer is cut at them here."""
    limit: Limit = "max_tokens"
    """The field of the request that limits its tokens."""
    thoughts: int = 0
    """Tokens for thoughts that come before the answer, or beside it; 0: it does not think."""


_OPENAI = Abilities(temperature=False, stop=False, limit="max_completion_tokens", thoughts=_THOUGHTS)
_OPEN = Abilities(thoughts=_THOUGHTS)

TABLE: tuple[tuple[str, Abilities], ...] = (
    (r"gpt-5.*-chat", Abilities()),
    (r"o[134]\b|gpt-5", _OPENAI),
    (r"qwen3.*(instruct|coder)", Abilities()),
    (r"qwen3|qwq|deepseek-(r1|reasoner)|magistral|gpt-oss|glm-(4\.[5-9]|z1)|minimax-m[12]|phi-4.*reasoning", _OPEN),
    (r"smollm3|.*-(thinking|reasoner|reasoning)\b", _OPEN),
)
"""The beginning of a model's name, in small letters and without its maker, and its abilities; the first that fits
counts. From the makers' documents of 2025; a model that is not here has the common ones."""


def abilities(model: str, overrides: Mapping[str, Any] | None = None) -> Abilities:
    """A model's abilities by its name, but for the `overrides`. Raises ConfigError for what is none."""
    name = model.lower().rpartition("/")[2]
    known = next((found for pattern, found in TABLE if re.match(pattern, name)), Abilities())
    kinds = {field.name: type(getattr(known, field.name)) for field in fields(Abilities)}
    for key, value in (overrides or {}).items():
        fits = type(value) is kinds.get(key) and (key != "limit" or value in get_args(Limit))
        if not fits or (key == "thoughts" and value < 0):
            raise ConfigError(
                "abilities are temperature and stop (true or false), limit (max_tokens or max_completion_tokens) and "
                f"thoughts (tokens, 0: none), not {key} = {value!r}"
            )
    return replace(known, **(overrides or {}))
