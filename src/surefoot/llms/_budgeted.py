"""A language model that is asked for as long as the question's budget lasts."""

from surefoot.llms._base import Call, WrappedLLM
from surefoot.run.cost import counted, spending, tokens
from surefoot.types import Completion
from surefoot.types.llms import Prices, Spent
from surefoot.types.protocols import LLM


class Budgeted(WrappedLLM):
    """Another model, asked within the budget of the question that this thread works on (`surefoot.run.cost.budgeted`).

    No call begins that could exceed it, with as many tokens as it may write and, by their price, as much money; a call
    that brings nothing counts for the most that it can cost. Outside a question nothing is limited. Raises OverBudget.
    """

    def __init__(self, llm: LLM, prices: Prices | None = None) -> None:
        super().__init__(llm)
        self._prices = prices

    def answer(self, call: Call) -> Completion:
        """The model's completion, and its cost out of the question's budget."""
        if not (budget := spending()):
            return self.ask(call)
        inputs = tokens(call.messages)
        most = spent = Spent.of(inputs, call.max_tokens + self.thoughts, self._prices)
        budget.reserve(most)
        try:
            completion = self.ask(call)
            spent = Spent.of(*counted(completion, inputs), self._prices)
            return completion
        finally:
            budget.settle(most, spent)
