"""Adherence by the configured verifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.judges.verified import Verified
from surefoot.types import Assertion, Passage, Record, Support
from surefoot.types.errors import ModelError
from surefoot.verifiers.lexical import LexicalVerifier

BRIDGE = Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "Ruvel Bridge")
ANSWER = "Tomas Aldwin built it. It is red [1]."


class Says:
    """A verifier with this verdict for each sentence."""

    name = "says"

    def __init__(self, verdict: Callable[[str], Support]) -> None:
        self.verdict = verdict

    def support(self, assertions: Sequence[Assertion]) -> tuple[Support, ...]:
        """One for each."""
        return tuple(self.verdict(one.text) for one in assertions)


def record(answer: str | None = ANSWER) -> Record:
    return Record("1", "Who built the bridge?", (BRIDGE,), answer)


def test_the_value_is_the_mean_chance_of_the_claims() -> None:
    """Marks of citations are not read."""
    seen: list[str] = []

    def verdict(text: str) -> Support:
        seen.append(text)
        return Support(0.9 if "Aldwin" in text else 0.2, None, reason="it decides nothing")

    score = Verified(Says(verdict)).judge(record())
    assert seen == ["Tomas Aldwin built it.", "It is red ."]
    assert score.value == pytest.approx(0.55)
    assert "1 of 2 claims" in score.reason
    assert "It is red" in score.reason


def test_a_word_counts_where_there_is_no_chance() -> None:
    """Supported 1, not supported 0; with an open one there is no value, but a reason, nor where the verifier fails."""

    def fails(text: str) -> Support:
        raise ModelError("out of order")

    assert "out of order" in Verified(Says(fails)).judge(record()).unscored_because
    sure = Verified(Says(lambda text: Support(None, "Aldwin" in text)))
    assert sure.judge(record()).value == 0.5
    unsure = Verified(Says(lambda text: Support(None, None, reason="other words")))
    score = unsure.judge(record())
    assert score.value is None
    assert "2 of 2 claims are left open: other words" in score.unscored_because


def test_a_configuration_may_choose_it() -> None:
    """By its name, with the configured verifier."""
    builder = Builder(read({"judge": {"context_adherence": "verified"}, "verifier": {"use": "lexical"}}))
    (judge,) = builder.judges(["context_adherence"])
    assert judge.name == f"verified:{LexicalVerifier.name}"
