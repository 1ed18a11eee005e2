"""The cost of calls of language models, and budgets that limit it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Condition

from surefoot.run import cancel
from surefoot.types import Completion, Message, Spent
from surefoot.types.errors import ConfigError, OverBudget
from surefoot.types.ranges import Count, Positive

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


def counted(completion: Completion, input_tokens: int) -> tuple[int, int]:
    """The input and output tokens of a call, as the endpoint counts them; where that is not positive, our estimates:
    a wrong count must not enlarge a budget. `input_tokens` is the estimate of the prompt."""
    output_tokens = max(completion.completion_tokens, 0) or length(completion.text)
    return max(completion.prompt_tokens, 0) or input_tokens, output_tokens


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent; None: as much as it takes."""

    calls: Count | None = None
    tokens: Count | None = None
    money: Positive | None = None
    seconds: Positive | None = None
    """Of a question: the time in which its steps begin, and what works for long looks at the clock."""

    @classmethod
    def read(cls, text: str) -> Budget:
        """ "300 calls", "2M tokens", or a sum of money: "5", "0.50". Raises ConfigError."""
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kKmM]?)\s*(calls?|tokens?|)\s*", text)
        if not found or (found[2] and not found[3]):
            raise ConfigError(f"a budget is like '300 calls', '2M tokens' or, of money, '5.00'; it is not {text!r}")
        amount = float(found[1]) * {"": 1, "k": 1e3, "m": 1e6}[found[2].lower()]
        if not found[3]:
            return cls(money=amount)
        return cls(calls=int(amount)) if found[3].startswith("call") else cls(tokens=int(amount))

    def holds(self, spent: Spent) -> bool:
        """True where the budget allows that much, seconds aside."""
        pairs = (self.calls, spent.calls), (self.tokens, spent.tokens), (self.money, spent.money)
        return all(most is None or taken <= most for most, taken in pairs)

    def __str__(self) -> str:
        parts = (self.calls, "calls"), (self.tokens, "tokens"), (self.money, "of money"), (self.seconds, "seconds")
        return ", ".join(f"{most:,g} {what}" for most, what in parts if most is not None) or "any"


NO_BUDGET = Budget()
"""As much as it takes."""


class Spending:
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


_spending: ContextVar[Spending | None] = ContextVar("surefoot_spending", default=None)


@contextmanager
def budgeted(budget: Budget) -> Iterator[None]:
    """Give the code inside, in this thread, so much for one question: `spending` for its models, and the time."""
    way_out = "the question ends with what it has; raise it under [budget]"
    token = _spending.set(Spending(budget, way_out))
    late = f"the budget of {budget} is spent: the time is over; {way_out}"
    try:
        with cancel.until(budget.seconds, late):
            yield
    finally:
        _spending.reset(token)


def spending() -> Spending | None:
    """The spending of the question that this thread works on; None: it has no budget."""
    return _spending.get()
