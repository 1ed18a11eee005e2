"""Answers that have to be one of a few: what they settle on, and what counts as right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from surefoot.evaluate.ask.choices import RULES, Posed, is_claim, picked, rules, stated, with_choices
from surefoot.evaluate.ask.questions import Example
from surefoot.generators.llm import LLMGenerator
from surefoot.llms.scripted import Scripted
from surefoot.pipeline import Pipeline
from surefoot.types.errors import UsageError

CHOICES = (("A", "the control"), ("B", "a gas"), ("C", "a gas mixture"), ("D", "water"))
MELTS = Example("m", "What melts?", ("a gas",), frozenset(), CHOICES, "B")
CLAIM = Example("c", "Ice is warm.", ("False",), frozenset())
OPEN = Example("o", "Who?", ("Aldwin",), frozenset())


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B", "B"),
        (" (B) ", "B"),
        ("**B.** a gas", "B"),
        ("C: a gas mixture", "C"),
        ("The answer is B.", "B"),
        ("The correct answer is (D) water [1].", "D"),
        ("The answer is B because it is one.", "B"),
        ("I would say option C", "C"),
        ("It is water.", "D"),
        ("It is a gas mixture.", "C"),
        ("A physicist uses water.", "D"),
    ],
)
def test_an_answer_settles_by_a_letter_or_by_words(answer: str, letter: str) -> None:
    """A letter that stands alone; the words of one choice, the longest that stand there; "A" is a word."""
    assert picked(answer, CHOICES) == letter


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I do not know.",
        "a gas or water",
        "B: water",
        "The answer is B. The answer is C.",
        "The answer is A physicist",
        "E",
        "It is A.",
    ],
)
def test_an_answer_that_settles_on_nothing_is_none(answer: str) -> None:
    """Nothing said, several said, a letter and another choice's words, a letter that there is not."""
    assert picked(answer, CHOICES) is None


@pytest.mark.parametrize(
    ("answer", "truth"),
    [
        ("True.", "true"),
        ("The claim is FALSE", "false"),
        ("SUPPORTS", "true"),
        ("REFUTES", "false"),
        ("That is not true.", "false"),
        ("true, not false", "true"),
        ("It is true that it is false.", None),
        ("untrue", None),
        ("", None),
    ],
)
def test_a_claim_is_said_to_be_true_or_false(answer: str, truth: str | None) -> None:
    """In any case, also negated; both or neither is none."""
    assert stated(answer) == truth


def test_the_lenient_rule_takes_nearly_anything() -> None:
    """The released scripts' rule finds the key within any word; the strict one does not, and neither without a key."""
    text = "Because nobody knows, a guess."
    assert {name: RULES[name](text, MELTS) for name in rules(MELTS)} == {
        "match": False,
        "match_lower": False,
        "strict": False,
        "letter": True,
        "letter_or_text": True,
    }
    assert RULES["strict"]("B.", MELTS)
    assert RULES["letter_or_text"]("it is a gas", MELTS)
    keyless = Example("k", "What melts?", (), frozenset(), CHOICES)
    assert not RULES["strict"]("", keyless)
    assert not RULES["letter"]("", keyless)


def test_a_rule_that_does_not_fit_is_refused() -> None:
    """Rather than counted as wrong. The case of a claim's gold does not matter; an open question is no claim."""
    assert rules(OPEN) == ("match", "match_lower")
    assert rules(CLAIM) == ("match", "match_lower", "strict")
    assert RULES["strict"]("It is not true.", CLAIM)
    assert not is_claim(Example("n", "Ice is warm.", (), frozenset()))
    with pytest.raises(UsageError, match="question o is neither"):
        RULES["strict"]("x", OPEN)
    with pytest.raises(UsageError, match="question c has no choices"):
        RULES["letter"]("x", CLAIM)


def test_only_the_generator_is_shown_the_choices(pipeline: Pipeline) -> None:
    """Passages are found and graded by the question alone; it is shown them a line each."""
    assert with_choices(MELTS) == "What melts?\nA: the control\nB: a gas\nC: a gas mixture\nD: water"
    assert with_choices(OPEN) == "Who?"
    said: list[str] = []
    bridge = replace(MELTS, question="Who built the Ruvel Bridge?")
    generator = LLMGenerator(Scripted(lambda messages: said.append(messages[-1].content) or "B: a gas [1]"))
    trace = replace(pipeline, generator=Posed(generator, bridge)).run(bridge.question)
    assert trace.question == bridge.question
    assert "C: a gas mixture" in said[0]
