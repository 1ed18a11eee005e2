"""Context recall without a language model."""

from __future__ import annotations

from surefoot.embedders.hashing import Hashing
from surefoot.evaluators.lexical import Lexical
from surefoot.judges.context_recall import ContextRecall
from surefoot.types import Passage, Record, Score

BRIDGE = Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin. It is of iron.", "Ruvel Bridge")
CHEESE = Passage("c", "Grate the cheese, add flour and eggs, and boil the dumplings.", "Cheese dumplings")
ALDWIN = Passage("a", "Tomas Aldwin kept bees.", "Bees")


def judged(contexts: tuple[Passage, ...], *truths: str) -> Score:
    return ContextRecall(Lexical(), Hashing()).judge(Record("r", "Who built the Ruvel Bridge?", contexts, None, truths))


def value(contexts: tuple[Passage, ...], *truths: str) -> float:
    found = judged(contexts, *truths).value
    assert found is not None
    return found


def test_the_contexts_hold_the_reference_or_not() -> None:
    """Whatever else they hold, in any order; the reason names the context that does."""
    assert value((CHEESE, BRIDGE), "Tomas Aldwin") == value((BRIDGE,), "Tomas Aldwin") == 1.0
    assert value((CHEESE,), "Tomas Aldwin") == 0.0
    assert judged((CHEESE, BRIDGE), "Tomas Aldwin").reason.startswith("b, which answers the question")


def test_a_long_reference_is_broken_into_facts() -> None:
    """Each is looked for by itself."""
    fact = "The Ruvel Bridge was built in 1911 by Tomas Aldwin."
    other = "Before the war the northern fleet painted its railings green every spring with great care."
    assert value((BRIDGE,), fact) > value((BRIDGE,), f"{fact} {other}") > value((BRIDGE,), other)
    assert "of 2 facts of the reference the contexts carry 1" in judged((BRIDGE,), f"{fact} {other}").reason


def test_a_name_in_a_context_that_does_not_answer_counts_half() -> None:
    """It may stand there by chance. No context is retrieval's failure, and so 0; a bare yes cannot be looked up."""
    assert value((), "Tomas Aldwin") == 0.0
    assert judged((BRIDGE,), "Yes.").value is None
    assert "yes or no" in judged((BRIDGE,), "Yes.").unscored_because
    assert value((ALDWIN,), "Tomas Aldwin") < 0.75 < value((BRIDGE,), "Tomas Aldwin")
