"""A language model reads the kept strips and answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from surefoot import meter, protocols
from surefoot.screen import line
from surefoot.types import Answer, Message, Passage, Strip

_REFLECTION = re.compile(
    r"\[(?:No Retrieval|Retrieval|Continue to Use Evidence|Relevant|Irrelevant|Fully supported|Partially supported|"
    r"No support / Contradictory|Utility:[1-5])\]|</?paragraph>|</s>"
)


class LLM:
    """Answers by one greedy call of a language model, at most `max_tokens` long (the paper: 100).

    Sources that do not fit into `max_characters` are left out from the end, and the step says so. The reflection
    tokens of a Self-RAG model are taken out of its answer.
    """

    def __init__(self, llm: protocols.LLM, max_tokens: int = 100, max_characters: int = 8000) -> None:
        self.llm = llm
        self.max_tokens = max_tokens
        self.max_characters = max_characters

    def generate(
        self,
        question: str,
        knowledge: Sequence[tuple[Strip, Passage]],
        on_text: Callable[[str], None] | None = None,
    ) -> Answer:
        """The model's answer, not yet checked; without knowledge, what the model remembers."""
        messages = prompt(question, knowledge, self.max_characters)
        completion = self.llm.complete(messages, max_tokens=self.max_tokens, on_text=on_text)
        return Answer(_REFLECTION.sub("", completion.text).strip(), model=completion.model)


def prompt(question: str, knowledge: Sequence[tuple[Strip, Passage]], max_characters: int = 8000) -> list[Message]:
    """The conversation that asks `question` of `knowledge`; the question stands last, and always whole.

    It is as plain as can be, because the model that ships is small: of 20 PopQA questions with the same sources it
    answered 19 this way, 17 with the sources numbered, 13 to 16 with any rule added (short, cited, quotations only,
    "not found"). Citations are attributed and checked afterwards, whatever model wrote the answer.
    """
    sources: list[str] = []
    for strip, passage in knowledge:
        if sources and sum(map(len, sources)) + len(strip.text) > max_characters:
            meter.degrade(f"{len(knowledge) - len(sources)} of {len(knowledge)} sources left out: too long to read")
            break
        sources.append(source(strip, passage))
    heading = ["Sources:", *sources, "", ""] if sources else []
    return [Message("user", "\n".join(heading) + f"{question} Answer briefly.")]


def source(strip: Strip, passage: Passage) -> str:
    """One source on one line, without anything that could pass for a turn of the conversation."""
    text = f"{passage.title}: {strip.text}" if passage.title else strip.text
    return line(text)
