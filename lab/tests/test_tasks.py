"""Every method on every task: a model that knows is always right, and one that guesses is right by chance."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest

from surefoot.evaluate.ask.choices import RULES
from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import Arm, answered
from surefoot.evidence.answer_policy import AnswerPolicy
from surefoot.generators.llm import LLMGenerator
from surefoot.llms.scripted import Scripted
from surefoot.pipeline import Pipeline
from surefoot.types import Message, Passage
from surefoot_lab.methods import arms
from surefoot_lab.qa import answer_text

LETTERS = "ABCD"
NOUNS = "magma basalt granite quartz copper silver helium oxygen carbon sulfur cobalt nickel".split()
CHOICES = [
    Example(
        f"c{n}",
        f"Which of these melts first in trial {n}?",
        (NOUNS[n % 12],),
        frozenset(),
        tuple((letter, NOUNS[(n + at - n % 4) % 12]) for at, letter in enumerate(LETTERS)),
        LETTERS[n % 4],
    )
    for n in range(40)
]
CLAIMS = [
    Example(f"t{n}", f"The hut of valley {n} was closed.", (("true", "false")[n % 2],), frozenset(), prop="claim")
    for n in range(40)
]
FACTS = [
    Example(f"f{n}", f"Who built the bridge of valley {n}?", (f"Tomas Aldwin {n}",), frozenset()) for n in range(10)
]
ARMS = arms(("none", "rag:10", "crag", "crag+search"), searches=True)
EVERY = [*CHOICES, *CLAIMS, *FACTS]


class Bare:
    """Finds a passage that says nothing of what is asked."""

    name = "bare"

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return (Passage("p", "Boil the dumplings until they float.", "Dumplings"),)

    search = retrieve


def key(messages: Sequence[Message]) -> str:
    """What the model should say: the letter, the verdict, or the name."""
    queries = messages[-1].content
    example = next(example for example in EVERY if example.question in queries)
    return example.key or example.answers[0]


def share(
    arm: Arm, pipeline: Pipeline, examples: Sequence[Example], model: Callable[[Sequence[Message]], str]
) -> float:
    """Of the questions that this arm answers right."""

    asking = replace(
        pipeline,
        retriever=Bare(),
        searcher=Bare(),
        generator=LLMGenerator(Scripted(model)),
        answering=AnswerPolicy("mark", "memory"),
    )
    right = [
        RULES["strict" if example.prop or example.choices else "match_lower"](
            answer_text(answered(asking, arm, example)), example
        )
        for example in examples
    ]
    return sum(right) / len(right)


@pytest.mark.parametrize("examples", [CHOICES, CLAIMS, FACTS], ids=["choices", "claims", "facts"])
@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_who_knows_the_answers_is_right_by_every_method(
    pipeline: Pipeline, arm: Arm, examples: Sequence[Example]
) -> None:
    """Nothing is withheld from one method that another passes on, though no source says so."""
    assert share(arm, pipeline, examples, key) == 1.0


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_who_guesses_is_right_by_chance(pipeline: Pipeline, arm: Arm) -> None:
    """No method makes a letter or a verdict better than it is."""
    dice = Random(7)
    assert share(arm, pipeline, CHOICES, lambda _: dice.choice(LETTERS)) < 0.45
    assert share(arm, pipeline, CLAIMS, lambda _: dice.choice(("true", "false"))) < 0.7
