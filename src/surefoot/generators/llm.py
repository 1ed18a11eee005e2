"""A language model reads the kept evidence and answers from it, with the number of the source behind each statement."""

from __future__ import annotations

from dataclasses import dataclass, replace

from surefoot.generators._prompts import ABSTAIN, TEMPLATES, USUAL, Template, template
from surefoot.generators._reflection import plain
from surefoot.run import meter
from surefoot.text.blocks import led
from surefoot.text.model_names import is_small
from surefoot.text.screen import line, lines
from surefoot.types import Answer, Message, Passage, Strip, protocols
from surefoot.types.errors import ContextOverflow, ModelError
from surefoot.types.protocols import Knowledge, OnText


@dataclass(eq=False)
class LLMGenerator:
    """Answers by one greedy call of a language model.

    `prompt` is a task ("qa", "short", "choice", "claim", "biography", "chat") or a file with a template of your
    own, which holds {sources} and {question}; None: "qa", and with labelled questions the task of each. `style` is
    added to the rules of "qa", such as "In at most two sentences." `abstain`: the model is told to say where the
    sources do not answer; None: unless its name tells that it is small. The answer has at most `max_tokens` (None:
    1,024, and 100 or 300 for the papers' tasks). Sources that do not fit into `max_characters` are left out from the
    end, and the step says so, as it does where the answer was cut off. The reflection tokens of a Self-RAG model are
    taken out of its answer.
    Raises ConfigError for a prompt that is neither.
    """

    llm: protocols.LLM
    prompt: str | None = None
    max_tokens: int | None = None
    max_characters: int = 4000
    style: str = ""
    abstain: bool | None = None

    def __post_init__(self) -> None:
        self.template = template(self.prompt or USUAL)

    def with_task(self, task: str) -> LLMGenerator:
        """The same, asking in the words of this task; itself where the configuration says in which."""
        return self if self.prompt else replace(self, prompt=task)

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        """The model's answer, not yet checked; without knowledge, what the model remembers. Where its context overflows
        it is asked again with half the sources. Raises ModelError, or EndpointError, where it fails or says nothing."""
        try:
            return self._worded(question, knowledge, on_text)
        except ContextOverflow as error:
            if len(knowledge) < 2:
                raise
            half = knowledge[: len(knowledge) // 2]
            meter.degrade(f"asked again with {len(half)} of {len(knowledge)} sources: {error}")
            return self.generate(question, half, on_text)

    def _worded(self, question: str, knowledge: Knowledge, on_text: OnText) -> Answer:
        room = self.max_tokens or self.template.max_tokens
        abstain = not is_small(self.llm.name) if self.abstain is None else self.abstain
        rules = " ".join(filter(None, (self.template.system, ABSTAIN if abstain else "", self.style)))
        words = self.template if not self.template.system else replace(self.template, system=rules)
        messages = prompt(question, knowledge, self.max_characters, words)
        completion = self.llm.complete(messages, max_tokens=room, on_text=on_text)
        if not completion.text.strip():
            raise ModelError(f"{self.llm.name} gave an empty answer")
        if completion.truncated:
            meter.degrade(f"cut off after {room} tokens; raise generator.max_tokens")
        return Answer(plain(completion.text), model=completion.model)


def prompt(
    question: str, knowledge: Knowledge, max_characters: int = 4000, words: Template = TEMPLATES[USUAL]
) -> list[Message]:
    """The conversation that asks `question` of `knowledge`: the rules, then the numbered sources, then the question.

    A source is a line with its number, title, headings and date, and its blocks as they stand, a table with its header,
    each line behind "> ": no line of it can pass for another source, the question, or a turn of the conversation. One
    from outside says so. Citations are checked afterwards, whatever model wrote the answer.
    """
    read = fitting(knowledge, max_characters)
    sources = [f"{source(number, *one)}\n\n" for number, one in enumerate(read, start=1)]
    rules = [Message("system", words.system)] if words.system and read else []
    return [*rules, Message("user", words.filled("".join(sources), question))]


def fitting(knowledge: Knowledge, max_characters: int) -> Knowledge:
    """The first sources that fit into so many characters, at least one; the step says how many were left out."""
    room = max_characters
    for number, (strip, passage) in enumerate(knowledge):
        if number and len(strip.text) > room:
            meter.degrade(f"{len(knowledge) - number} of {len(knowledge)} sources left out: too long to read")
            return knowledge[:number]
        room -= len(strip.text) + len(passage.title)
    return knowledge


def source(number: int, strip: Strip, passage: Passage) -> str:
    """One source: its number, title and date, and its text with what leads up to it, quoted line by line."""
    date, outside = passage.meta.get("date"), passage.source == "external"
    about = ", ".join(filter(None, (line(str(date)) if date else "", "from outside" if outside else "")))
    heading = " ".join(filter(None, (f"[{number}]", line(passage.title), f"({about})" if about else "")))
    return f"{heading}\n{lines(led(passage.text, strip.start, strip.end)[0], '> ')}"
