"""An answer needs the strips without which it is another."""

from dataclasses import replace

import pytest

from surefoot.explain.answer import needs
from surefoot.generators.llm import LLMGenerator
from surefoot.llms.scripted import Scripted
from surefoot.types import Answer, Passage, Strip, Trace
from surefoot.types.errors import TraceFault
from surefoot.types.protocols import Knowledge, OnText

QUESTION = "Who built the Ruvel Bridge?"
TEXTS = ("The Ruvel Bridge stands in Ruvel.", "Tomas Aldwin built the Ruvel Bridge.")
TRACE = Trace(
    "t",
    QUESTION,
    passages=tuple(Passage(f"p{n}", text) for n, text in enumerate(TEXTS)),
    strips=tuple(Strip(f"p{n}", 0, len(text), text, 1.0, kept=True) for n, text in enumerate(TEXTS)),
    answer=Answer("Tomas Aldwin built it [2]."),
)


def generator() -> LLMGenerator:
    return LLMGenerator(Scripted(lambda messages: said(messages[-1].content)))


def said(prompt: str) -> str:
    return "Tomas Aldwin built it." if "Aldwin" in prompt else "I do not know."


def test_the_strip_that_answers_is_needed_and_the_other_is_not() -> None:
    """A marker that moves is no change."""
    found = needs(TRACE, generator())
    assert found.as_recorded
    assert [one.changed for one in found.strips] == [False, True]
    assert [one.refused for one in found.strips] == [False, True]
    assert found.text == "Tomas Aldwin built it."


def test_the_last_strip_leaves_a_refusal() -> None:
    """Without calling the generator, which would answer from memory."""
    found = needs(replace(TRACE, strips=TRACE.strips[1:]), generator())
    assert [(one.refused, one.text) for one in found.strips] == [(True, "")]


def test_a_trace_without_kept_strips_is_refused() -> None:
    """There is nothing to leave out; nor with a strip of a passage that is not there."""
    with pytest.raises(TraceFault, match="no answer that was made from strips"):
        needs(replace(TRACE, strips=()), generator())
    with pytest.raises(TraceFault, match="a passage that is not there"):
        needs(replace(TRACE, passages=()), generator())


class Hearing:
    """A generator that remembers what it was asked, and the passages that it was given."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        self.heard += [(question, passage.text) for _, passage in knowledge]
        return Answer("Tomas Aldwin built it.")


def test_the_question_that_was_answered_is_answered_again() -> None:
    """Completed from the turns before it; a passage that repeats it as it was read is no evidence."""
    repeated = Passage("p1", f"{TEXTS[1]} {QUESTION} Zorblax.")
    trace = replace(TRACE, question="Who bilt the Ruvel Brigde?", read_as=QUESTION)
    hearing = Hearing()
    assert needs(replace(trace, passages=(TRACE.passages[0], repeated)), hearing).as_recorded
    assert {question for question, _ in hearing.heard} == {QUESTION}
    assert {text.strip() for _, text in hearing.heard} == set(TEXTS)
