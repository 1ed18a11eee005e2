"""The cost of calls of language models, and budgets that limit it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Condition

from surefoot.run import cancel
from surefoot.types import Completion, Message
from surefoot.types.errors import ConfigError, OverBudget

_BYTES = 4
"""Length of a token, about, where nobody has counted; scripts with longer letters have more tokens."""

_TURN = 4
"""Tokens of a message beside its text."""


def tokens(messages: Sequence[Message]) -> int:
    """The tokens of a conversation, about."""
    return sum(length(message.content) + _TURN for message in messages)


def length(text: str) -> int:
    """The tokens of a text, about."""
    return len(text.encode("utf-8", "replace")) // _BYTES + 1


def counted(said: Completion, asked: int) -> tuple[int, int]:
    """The tokens of a call, asked and said, as the endpoint counts them; where that is not positive, our estimates:
    a wrong count must not enlarge a budget. `asked` is that of the prompt."""
    return max(said.prompt_tokens, 0) or asked, max(said.completion_tokens, 0) or length(said.text)


@dataclass(frozen=True, slots=True)
class Prices:
    """The price of a million tokens, in whatever money."""

    asked: float
    """A million tokens of prompts."""
    said: float
    """A million tokens of replies."""

    def of(self, asked: int, said: int) -> float:
        """The price of so many tokens."""
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
    """0 where no prices are known."""

    @classmethod
    def of(cls, asked: int, said: int, prices: Prices | None) -> Spent:
        """One call of so many tokens."""
        return cls(1, asked, said, prices.of(asked, said) if prices else 0.0)

    @property
    def tokens(self) -> int:
        """Tokens of prompts and replies."""
        return self.asked + self.said

    def plus(self, other: Spent, times: int = 1) -> Spent:
        """The sum of both; `times` -1 subtracts the other."""
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
    seconds: float | None = None
    """Of a question: the time in which its steps begin, and what works for long looks at the clock."""

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
        """Whether the budget allows that much, seconds aside."""
        pairs = (self.calls, spent.calls), (self.tokens, spent.tokens), (self.money, spent.money)
        return all(most is None or taken <= most for most, taken in pairs)

    def __str__(self) -> str:
        parts = (self.calls, "calls"), (self.tokens, "tokens"), (self.money, "of money"), (self.seconds, "seconds")
        return ", ".join(f"{most:,g} {what}" for most, what in parts if most is not None) or "any"


NO_BUDGET = Budget()
"""As much as it takes."""


class Purse:
    """A budget that all threads draw from; no call begins that could exceed it. `way_out` ends what OverBudget says."""

    def __init__(self, budget: Budget, way_out: str = "run it again to go on") -> None:
        self.budget = budget
        self._way_out = way_out
        self.spent = Spent()
        self._reserved = Spent()
        self._over = False
        self._changed = Condition()

    def reserve(self, most: Spent) -> None:
        """Put the most that a call can cost aside, waiting for others to settle if need be; raises OverBudget where too
        little is left, and from then on for every call, so that a run ends at once."""
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
        raise OverBudget(f"the budget of {self.budget} is spent; {self._way_out}")

    def settle(self, reserved: Spent, spent: Spent) -> None:
        """Replace the reservation by the true cost."""
        with self._changed:
            self._reserved = self._reserved.plus(reserved, -1)
            self.spent = self.spent.plus(spent)
            self._changed.notify_all()


_purse: ContextVar[Purse | None] = ContextVar("surefoot_purse", default=None)


@contextmanager
def budgeted(budget: Budget) -> Iterator[None]:
    """Give the code inside, in this thread, so much for one question: `purse` for its models, and the time."""
    way_out = "the question ends with what it has; raise it under [budget]"
    token = _purse.set(Purse(budget, way_out))
    late = f"the budget of {budget} is spent: the time is over; {way_out}"
    try:
        with cancel.until(budget.seconds, late):
            yield
    finally:
        _purse.reset(token)


def purse() -> Purse | None:
    """The purse of the question that this thread works on; None: it has no budget."""
    return _purse.get()
