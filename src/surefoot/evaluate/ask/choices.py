"""Answers that have to be one of a few: multiple choice, and claims that are true or false. Each rule by its name."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from surefoot.evaluate.ask.questions import Example
from surefoot.stats.figures import match, match_lower
from surefoot.text.words import words
from surefoot.types import Answer
from surefoot.types.errors import UsageError
from surefoot.types.protocols import Generator, Knowledge, OnText, TaskAware

TRUTHS = ("true", "false")

_STATED = re.compile(r"\b(?:answer|option|choice)(?:\s+is)?\s*:?\s*[(*\"]*(?:([B-HJ])\b|([AI])(?=\s*(?:[.,;:)*\"]|$)))")
_LEADING = re.compile(r"[\s(*\"\[]*([A-J])(?:[.:)*\"\]]+(?:\s|$)|\s*$)")
_TRUTH = re.compile(r"\b(not\s+|isn't\s+)?(true|false|supports|supported|refutes|refuted)\b", re.IGNORECASE)
_FALSE = {"false", "refutes", "refuted"}


def with_choices(example: Example) -> str:
    """The question as a reader needs it: with its choices, a line each."""
    return "\n".join([example.question, *(f"{letter}: {text}" for letter, text in example.choices)])


def task(example: Example) -> str:
    """The task: "choice", "claim", "biography" or "qa", as `generator.prompt` names them."""
    if example.choices:
        return "choice"
    if is_claim(example) or example.prop == "claim":
        return "claim"
    return "biography" if example.prop == "biography" else "qa"


@dataclass(frozen=True, slots=True)
class Posed:
    """A generator that is asked one question as its data set poses it: with its choices, and in the words of its task
    unless the configuration has others. Retrieval and grading see the bare question, as in the paper."""

    generator: Generator
    example: Example

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        """The generator's answer, with what its letter or verdict stands for."""
        kind, own, example = task(self.example), self.generator, self.example
        generator: Generator = own.with_task(kind) if isinstance(own, TaskAware) else own
        answer = generator.generate(with_choices(example), knowledge, on_text)
        if not answer.text:
            return answer
        meant = example.question if kind == "claim" and stated(answer.text) == "true" else None
        if kind == "choice":
            meant = dict(example.choices).get(picked(answer.text, example.choices) or "")
        return replace(answer, stands_for=meant)


def picked(answer: str, choices: tuple[tuple[str, str], ...]) -> str | None:
    """The letter of the one choice that the answer settles on; None: of none, or of several.

    It settles by a letter that stands alone ("B", "(B) the text", "the answer is B") or by the words of one choice.
    Where it does both they must agree. A letter within a sentence is no choice: "A" is a word.
    """
    letters = {letter for letter, _ in choices}
    leading = _LEADING.match(answer)
    named = {one or other for one, other in _STATED.findall(answer)} | ({leading[1]} if leading else set())
    padded = f" {' '.join(words(answer))} "
    texts = {letter: f" {' '.join(words(text))} " for letter, text in choices if words(text)}
    there = {letter: text for letter, text in texts.items() if text in padded}
    # One within another that stands there too counts not.
    worded = {letter for letter, text in there.items() if not any(text in other != text for other in there.values())}
    every = (named & letters) or worded
    return every.pop() if len(every) == 1 and worded <= every else None


def stated(answer: str) -> str | None:
    """ "true" or "false", whichever the answer says of the claim; None: neither, or both."""
    verdicts = {(word.lower() in _FALSE) != bool(negated) for negated, word in _TRUTH.findall(answer)}
    return TRUTHS[verdicts.pop()] if len(verdicts) == 1 else None


def is_claim(example: Example) -> bool:
    """True for a claim that is known to be true or false."""
    return not example.choices and {answer.lower() for answer in example.answers} in ({"true"}, {"false"})


def _strict(answer: str, example: Example) -> bool:
    """True if the answer settles on the right choice or truth; UsageError for other questions."""
    if example.choices:
        return bool(example.key) and picked(answer, example.choices) == example.key
    if is_claim(example):
        return stated(answer) == example.answers[0].lower()
    raise UsageError(f"the rule 'strict' is for choices and claims; question {example.id} is neither")


def _letter(answer: str, example: Example) -> bool:
    """True if the letter of the right choice stands anywhere in the answer: the rule of CRAG's released scripts, which
    nearly any sentence satisfies where the letter is A. Raises UsageError for questions without choices."""
    if not example.choices:
        raise UsageError(f"the rule 'letter' is for multiple choice; question {example.id} has no choices")
    return bool(example.key) and example.key in answer


RULES: dict[str, Callable[[str, Example], bool]] = {
    "match": lambda answer, example: match(answer, example.answers),
    "match_lower": lambda answer, example: match_lower(answer, example.answers),
    "strict": _strict,
    "letter": _letter,
    "letter_or_text": lambda answer, example: _letter(answer, example) or match_lower(answer, example.answers),
}
"""Rules for a right answer: (answer, example) -> bool. The open reproduction takes the letter or the choice's text."""


def rules(example: Example) -> tuple[str, ...]:
    """The names of the rules that fit this question."""
    if example.choices:
        return tuple(RULES)
    return ("match", "match_lower", "strict") if is_claim(example) else ("match", "match_lower")
