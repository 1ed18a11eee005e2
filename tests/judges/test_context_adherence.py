"""Context adherence without a language model."""

from __future__ import annotations

from surefoot.embedders.hashing import Hashing
from surefoot.judges.context_adherence import ContextAdherence
from surefoot.types import Passage, Record, Score

CONTEXTS = (Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin. It is of iron.", "Ruvel Bridge"),)


def judged(answer: str, contexts: tuple[Passage, ...] | None = CONTEXTS) -> Score:
    return ContextAdherence(Hashing()).judge(Record("r", "Who built the Ruvel Bridge?", contexts, answer))


def value(answer: str) -> float:
    found = judged(answer).value
    assert found is not None
    return found


def test_every_claim_of_the_answer_is_checked() -> None:
    """One that nothing carries lowers the value, and is the one that the reason names."""
    good = "The Ruvel Bridge was built in 1911 by Tomas Aldwin."
    bad = "It was painted green by sailors of the northern fleet."
    assert value(good) > value(f"{good} {bad}") > value(bad)
    score = judged(f"{good} {bad}")
    assert "1 of 2 claims" in score.reason
    assert f"“{bad}”" in score.reason
    assert "sailors" in score.reason
    assert score.quotes[0].text == bad


def test_a_refusal_claims_nothing() -> None:
    """It is carried by any context, and by none. Nothing carries an answer without context: that is 0, while bare
    addresses are no context to judge by."""
    assert judged("Tomas Aldwin built it.", ()).value == 0.0
    bare = judged("Tomas Aldwin built it.", (Passage("a", "https://example.org/bridge"),))
    assert bare.value is None
    assert "no words" in bare.unscored_because
    assert value("The context does not say who built it.") == 1.0
    assert judged("I don't know.", ()).value == 1.0
