"""A language model reads the kept strips and answers."""

from __future__ import annotations

from surefoot.generators._prompts import TEMPLATES, USUAL, Template, template
from surefoot.generators._reflection import plain
from surefoot.run import meter
from surefoot.text.screen import line as on_one_line
from surefoot.types import Answer, Message, Passage, Source, Strip, protocols
from surefoot.types.protocols import Knowledge, OnText

HEADINGS: dict[Source, str] = {"corpus": "Local sources:", "external": "External sources:"}
"""The heading above the sources of each kind, in this order."""


class LLMGenerator:
    """Answers by one greedy call of a language model.

    `prompt` is a task ("qa", "choice", "claim", "biography", "chat") or a file with a template of your own, which holds
    {sources} and {question}; None: "qa", and with labelled questions the task of each. The answer has at most
    `max_tokens` (None: 100, as in the paper, or 300 where the task is a long answer). Sources that do not fit into
    `max_characters` are left out from the end, and the step says so, as it does where the answer was cut off. The
    reflection tokens of a Self-RAG model are taken out of its answer. Raises ConfigError for a prompt that is neither.
    """

    def __init__(
        self,
        llm: protocols.LLM,
        prompt: str | None = None,
        max_tokens: int | None = None,
        max_characters: int = 8000,
    ) -> None:
        self.llm = llm
        self.prompt = prompt
        self.template = template(prompt or USUAL)
        self.max_tokens = max_tokens
        self.max_characters = max_characters

    def with_task(self, task: str) -> LLMGenerator:
        """The same, asking in the words of this task; itself where the configuration says in which."""
        return self if self.prompt else LLMGenerator(self.llm, task, self.max_tokens, self.max_characters)

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        """The model's answer, not yet checked; without knowledge, what the model remembers."""
        room = self.max_tokens or self.template.max_tokens
        messages = prompt(question, knowledge, self.max_characters, self.template)
        completion = self.llm.complete(messages, max_tokens=room, on_text=on_text)
        if completion.truncated:
            meter.degrade(f"cut off after {room} tokens; raise generator.max_tokens")
        return Answer(plain(completion.text), model=completion.model)


def prompt(
    question: str, knowledge: Knowledge, max_characters: int = 8000, words: Template = TEMPLATES[USUAL]
) -> list[Message]:
    """The conversation that asks `question` of `knowledge`; the question stands last, and always whole.

    Local sources stand before external ones, each kind under its name. A source is one line that begins with "> ", and
    nothing in it can end that line. Citations are attributed and checked afterwards, whatever model wrote the answer.
    """
    read = fitting(knowledge, max_characters)
    lines: list[str] = []
    for kind, heading in HEADINGS.items():
        if quoted := [source(strip, passage) for strip, passage in read if passage.source == kind]:
            lines += [heading, *quoted, ""]
    return [Message("user", words.filled("".join(f"{line}\n" for line in lines), question))]


def fitting(knowledge: Knowledge, max_characters: int) -> Knowledge:
    """The first sources that fit into so many characters, at least one; the step says how many were left out."""
    room = max_characters
    for number, (strip, passage) in enumerate(knowledge):
        if number and len(strip.text) > room:
            meter.degrade(f"{len(knowledge) - number} of {len(knowledge)} sources left out: too long to read")
            return knowledge[:number]
        room -= len(source(strip, passage))
    return knowledge


def source(strip: Strip, passage: Passage) -> str:
    """One source, quoted on one line, without anything that could pass for a turn of the conversation."""
    text = f"{passage.title}: {strip.text}" if passage.title else strip.text
    return f"> {on_one_line(text)}"
