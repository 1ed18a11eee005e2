"""A small model that was taught one task: a short answer from numbered sources, or that they hold none."""

from __future__ import annotations

from surefoot.generators.llm import fitting
from surefoot.text.screen import line
from surefoot.types import Answer, Message, protocols
from surefoot.types.protocols import Knowledge, OnText

TASK = "Answer from the sources, with the number of each that you use, or say that they do not."
NOT_THERE = "Not in the sources."
"""The reader's words where no source answers."""
ROOM = 64
"""Tokens of an answer."""


class Reader:
    """Answers in a few words from numbered sources, or says that they hold no answer.

    `llm` is a model that was taught to: the local one with the adapter that `recipes/reader.py` wrote. Sources that do
    not fit into `max_characters` are left out from the end, and the step says so. Cost: one call.
    """

    def __init__(self, llm: protocols.LLM, max_characters: int = 2400) -> None:
        self.llm = llm
        self.max_characters = max_characters

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        """The answer, not yet checked, in one piece; a refusal where the reader says so, and without knowledge."""
        if not knowledge:
            return Answer("", refused=True)
        reply = self.llm.complete(prompt(question, fitting(knowledge, self.max_characters)), max_tokens=ROOM)
        text = reply.text.strip()
        if not text or text.casefold().startswith(NOT_THERE.casefold().rstrip(".")):
            return Answer("", refused=True, model=reply.model)
        if on_text:
            on_text(text)
        return Answer(text, model=reply.model)


def prompt(question: str, knowledge: Knowledge) -> list[Message]:
    """The conversation that the reader was taught: the task, the sources in a turn of their own, a line each with its
    number, then the question."""
    texts = [f"{p.title}: {strip.text}" if p.title else strip.text for strip, p in knowledge]
    sources = "\n".join(f"[{n}] {line(text)}" for n, text in enumerate(texts, start=1))
    return [Message("system", TASK), Message("user", sources), Message("user", line(question))]
