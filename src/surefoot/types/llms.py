"""The values of a call of a language model."""

from __future__ import annotations

from dataclasses import astuple, dataclass
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


@dataclass(frozen=True, slots=True)
class Prices:
    """The price of a million tokens of prompts and of replies, in whatever money."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """The price of so many tokens."""
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls that were answered, the tokens of their prompts and replies, and what they cost."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0
    """0 where no prices are known."""

    @classmethod
    def of(cls, input_tokens: int, output_tokens: int, prices: Prices | None) -> Spent:
        """One call of so many tokens."""
        return cls(1, input_tokens, output_tokens, prices.of(input_tokens, output_tokens) if prices else 0.0)

    @property
    def tokens(self) -> int:
        """Tokens of prompts and replies."""
        return self.input_tokens + self.output_tokens

    def plus(self, other: Spent, times: int = 1) -> Spent:
        """The sum of both; `times` -1 subtracts the other."""
        return Spent(*(one + times * more for one, more in zip(astuple(self), astuple(other), strict=True)))
