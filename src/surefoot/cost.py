"""What calls of language models cost, and how much of it there is to spend."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Condition

from surefoot.errors import ComponentError, ConfigError
from surefoot.types import Message

_BYTES = 4
"""Of a token, about, where nobody has counted; in bytes, since scripts with longer letters have more tokens."""

_TURN = 4
"""Tokens that a message takes beside its text."""


class OverBudget(ComponentError):
    """What there was to spend is spent."""


def tokens(messages: Sequence[Message]) -> int:
    """About how many tokens a conversation has."""
    return sum(_length(message.content) + _TURN for message in messages)


def _length(text: str) -> int:
    return len(text.encode("utf-8", "replace")) // _BYTES + 1


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in whatever money."""

    asked: float
    """Of the prompts."""
    said: float
    """Of the replies."""

    def of(self, asked: int, said: int) -> float:
        """What so many tokens cost."""
        return (asked * self.asked + said * self.said) / 1e6


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls that were answered, and what they cost."""

    calls: int = 0
    asked: int = 0
    """Tokens of the prompts."""
    said: int = 0
    """Tokens of the replies."""
    money: float = 0.0
    """0 also where no prices are known."""

    @property
    def tokens(self) -> int:
        """Of prompts and replies."""
        return self.asked + self.said

    def plus(self, other: Spent, times: int = 1) -> Spent:
        """Both together; `times` -1 takes the other away."""
        return Spent(
            self.calls + times * other.calls,
            self.asked + times * other.asked,
            self.said + times * other.said,
            self.money + times * other.money,
        )


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent; None: as much as it takes."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None

    @classmethod
    def read(cls, text: str) -> Budget:
        """ "300 calls", "2M tokens", or a sum of money: "5", "0.50". Raises ConfigError."""
        said = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kKmM]?)\s*(calls?|tokens?|)\s*", text)
        if not said or (said[2] and not said[3]):
            raise ConfigError(f"a budget is like '300 calls', '2M tokens' or, of money, '5.00'; it is not {text!r}")
        amount = float(said[1]) * {"": 1, "k": 1e3, "m": 1e6}[said[2].lower()]
        if not said[3]:
            return cls(money=amount)
        return cls(calls=int(amount)) if said[3].startswith("call") else cls(tokens=int(amount))

    def holds(self, spent: Spent) -> bool:
        """Whether it is enough for that."""
        pairs = (self.calls, spent.calls), (self.tokens, spent.tokens), (self.money, spent.money)
        return all(most is None or taken <= most for most, taken in pairs)

    def __str__(self) -> str:
        parts = (self.calls, "calls"), (self.tokens, "tokens"), (self.money, "of money")
        return ", ".join(f"{most:,g} {what}" for most, what in parts if most is not None) or "any"


class Purse:
    """What is left of a budget, for all threads: nothing is begun that could go beyond it."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.spent = Spent()
        self._reserved = Spent()
        self._over = False
        self._changed = Condition()

    def reserve(self, most: Spent) -> None:
        """Put so much aside, if need be once others have settled; raises OverBudget where there is too little.

        Once there is too little for one call there is nothing more for any, so that a run ends and does not fray.
        """
        with self._changed:
            while not self._over:
                if self.budget.holds(self.spent.plus(self._reserved).plus(most)):
                    self._reserved = self._reserved.plus(most)
                    return
                if self._reserved.calls == 0:
                    self._over = True
                    self._changed.notify_all()
                else:
                    self._changed.wait()
        raise OverBudget(f"the budget of {self.budget} is spent; run it again to go on")

    def settle(self, reserved: Spent, spent: Spent) -> None:
        """What was put aside has become this."""
        with self._changed:
            self._reserved = self._reserved.plus(reserved, -1)
            self.spent = self.spent.plus(spent)
            self._changed.notify_all()
