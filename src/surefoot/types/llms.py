"""The values of a call of a language model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation with a language model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Token:
    """A token that a language model wrote, and those that it weighed in its place."""

    text: str
    logprob: float
    """Natural logarithm of its probability: 0 or less."""
    weighed: tuple[tuple[str, float], ...] = ()
    """The likeliest tokens in its place, each with its log-probability; it may be among them or not."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A language model's reply."""

    text: str
    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    truncated: bool = False
    """The token limit cut it off."""
    tokens: tuple[Token, ...] = ()
    """What the text is made of, with log-probabilities; empty: the endpoint gave none, or was not asked for them."""
