"""What a question may cost, and what becomes of it where that is spent."""

from collections.abc import Sequence

import pytest

from surefoot.llms._budgeted import Budgeted
from surefoot.llms.scripted import Scripted
from surefoot.run.cost import Budget, budgeted
from surefoot.types import Message
from surefoot.types.errors import ModelError, OverBudget
from surefoot.types.llms import Prices
from surefoot.types.protocols import LLM

ASKED = [Message("user", "x" * 39)]
"""14 tokens, as we reckon: 10 of the text and 4 of the turn."""
ANSWER = "one two three"


def model(prices: Prices | None = None) -> Budgeted:
    return Budgeted(Scripted(lambda _: ANSWER), prices)


def answered(model: LLM, budget: Budget, most: int = 9) -> int:
    """The calls that are answered before the budget is spent; `most` are tried."""
    with budgeted(budget):
        for done in range(most):
            try:
                model.complete(ASKED, max_tokens=10)
            except OverBudget:
                return done
    return most


@pytest.mark.parametrize(
    ("budget", "done"),
    [
        (Budget(), 9),
        (Budget(calls=3), 3),
        (Budget(tokens=23), 0),
        (Budget(tokens=24), 1),
        (Budget(tokens=44), 6),
        (Budget(money=20.0), 0),
        (Budget(money=42.0), 2),
    ],
)
def test_no_call_begins_that_could_exceed_the_budget(budget: Budget, done: int) -> None:
    """With all the tokens that it may write; what is settled is what it really took, here 1 and 3 tokens of 24."""
    assert answered(model(Prices(1e6, 2e6)), budget) == done


def test_each_question_has_a_budget_of_its_own() -> None:
    """What one spends the next one has again; and outside a question nothing is limited."""
    mine = model()
    assert [answered(mine, Budget(calls=2)) for _ in range(2)] == [2, 2]
    assert [mine.complete(ASKED).text for _ in range(3)] == [ANSWER] * 3


def test_a_call_that_fails_counts_for_the_most_that_it_can_cost() -> None:
    """It may have been charged."""

    def fail(_: Sequence[Message]) -> str:
        raise ModelError("down")

    broken = Budgeted(Scripted(fail))
    with budgeted(Budget(calls=1)):
        with pytest.raises(ModelError):
            broken.complete(ASKED)
        with pytest.raises(OverBudget, match=r"budget of 1 calls is spent; .* raise it under \[budget\]"):
            broken.complete(ASKED)
