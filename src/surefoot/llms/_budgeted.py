"""A language model that is asked for as long as the question's budget lasts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from surefoot.run.cost import counted, spending, tokens
from surefoot.types import Completion, Message
from surefoot.types.llms import Prices, Spent
from surefoot.types.protocols import LLM


class Budgeted:
    """Another model, asked within the budget of the question that this thread works on (`surefoot.run.cost.budgeted`).

    No call begins that could exceed it, with as many tokens as it may write and, by their price, as much money; a call
    that brings nothing counts for the most that it can cost. Outside a question nothing is limited. Raises OverBudget,
    else what the model raises.
    """

    def __init__(self, llm: LLM, prices: Prices | None = None) -> None:
        self.inner = llm
        self.name = llm.name
        self._prices = prices
        self._thoughts: int = getattr(llm, "thoughts", 0)

    def complete(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any] | None = None,
        *,
        max_tokens: int = 100,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """The model's completion, and its cost out of the question's spending."""
        if not (mine := spending()):
            return self.inner.complete(messages, schema, max_tokens=max_tokens, stop=stop, on_text=on_text)
        asked = tokens(messages)
        most = spent = Spent.of(asked, max_tokens + self._thoughts, self._prices)
        mine.reserve(most)
        try:
            said = self.inner.complete(messages, schema, max_tokens=max_tokens, stop=stop, on_text=on_text)
            spent = Spent.of(*counted(said, asked), self._prices)
            return said
        finally:
            mine.settle(most, spent)
