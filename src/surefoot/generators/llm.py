"""A language model reads the kept strips and answers."""

from __future__ import annotations

import re

from surefoot import meter, protocols
from surefoot.protocols import Knowledge, OnText
from surefoot.text.screen import line
from surefoot.types import Answer, Message, Passage, Source, Strip

HEADINGS: dict[Source, str] = {"corpus": "Local sources:", "external": "External sources:"}
"""The heading above the sources of each kind, in this order."""

_REFLECTION = re.compile(
    r"\[(?:No Retrieval|Retrieval|Continue to Use Evidence|Relevant|Irrelevant|Fully supported|Partially supported|"
    r"No support / Contradictory|Utility:[1-5])\]|</?paragraph>|</s>"
)


class LLMGenerator:
    """Answers by one greedy call of a language model, at most `max_tokens` long (the paper: 100).

    Sources that do not fit into `max_characters` are left out from the end, and the step says so, as it does where the
    answer was cut off. The reflection tokens of a Self-RAG model are taken out of its answer.
    """

    def __init__(self, llm: protocols.LLM, max_tokens: int = 100, max_characters: int = 8000) -> None:
        self.llm = llm
        self.max_tokens = max_tokens
        self.max_characters = max_characters

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        """The model's answer, not yet checked; without knowledge, what the model remembers."""
        messages = prompt(question, knowledge, self.max_characters)
        completion = self.llm.complete(messages, max_tokens=self.max_tokens, on_text=on_text)
        if completion.truncated:
            meter.degrade(f"cut off after {self.max_tokens} tokens; raise generator.max_tokens")
        return Answer(_REFLECTION.sub("", completion.text).strip(), model=completion.model)


def prompt(question: str, knowledge: Knowledge, max_characters: int = 8000) -> list[Message]:
    """The conversation that asks `question` of `knowledge`; the question stands last, and always whole.

    Local sources stand before external ones, each kind under its name. A source is one line that begins with "> ", and
    nothing in it can end that line. It is otherwise as plain as can be, because the model that ships is small: of 20
    PopQA questions with the same sources it answered 19 with the sources as plain lines, 17 with them numbered, 13 to
    16 with any rule added (short, cited, quotations only, "not found"). Citations are attributed and checked
    afterwards, whatever model wrote the answer.
    """
    read: list[tuple[Source, str]] = []
    room = max_characters
    for strip, passage in knowledge:
        if read and len(strip.text) > room:
            meter.degrade(f"{len(knowledge) - len(read)} of {len(knowledge)} sources left out: too long to read")
            break
        read.append((passage.source, source(strip, passage)))
        room -= len(read[-1][1])
    lines: list[str] = []
    for kind, heading in HEADINGS.items():
        if quoted := [text for origin, text in read if origin == kind]:
            lines += [heading, *quoted, ""]
    return [Message("user", "\n".join([*lines, f"{question} Answer briefly."]))]


def source(strip: Strip, passage: Passage) -> str:
    """One source, quoted on one line, without anything that could pass for a turn of the conversation."""
    text = f"{passage.title}: {strip.text}" if passage.title else strip.text
    return f"> {line(text)}"
