"""A question that goes on from the ones before it, asked so that it stands alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from surefoot.run import meter
from surefoot.text.follow_up import standing_alone
from surefoot.text.screen import line
from surefoot.text.words import STOP_WORDS, words
from surefoot.types import Message
from surefoot.types.protocols import LLM

Turn = tuple[str, str]
"""A question and its answer. Only the question is read: an answer holds words of documents, which steer no search."""

TOKENS = 60
"""Of a completed question that a model writes, at most."""
_TASK = (
    "Rewrite the second question so that it can be understood without the first. Keep its language and its words. "
    "Write the question, and nothing else."
)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Completes a question from the turns before it: by a language model, or by rules where there is none."""

    llm: LLM | None = None

    def whole(self, question: str, history: Sequence[Turn]) -> str:
        """The question as it can be understood alone; as it is where it needs no other, or there is none.

        At most one call of the model, for a question that goes on. Where it drops words of the question, rules complete
        that, and the step says so. Raises what the model raises.
        """
        by_rules = self.by_rules(question, history)
        if self.llm is None or by_rules == question:
            return by_rules
        earlier = self.by_rules(history[-1][0], history[:-1])
        reply = self.llm.complete(prompt(question, earlier), max_tokens=TOKENS)
        text = reply.text.strip()
        if text and not reply.truncated and "\n" not in text and _own(question) <= set(words(text)):
            return text
        meter.degrade(f"{self.llm.name} dropped words of the question, or said more: completed by rules")
        return by_rules

    @staticmethod
    def by_rules(question: str, history: Sequence[Turn]) -> str:
        """The same without a model."""
        return standing_alone(question, [earlier for earlier, _ in history])


def prompt(question: str, earlier: str) -> list[Message]:
    """The conversation that asks to complete `question` from the `earlier` one."""
    return [Message("user", f"{_TASK}\n\nFirst question: {line(earlier)}\nSecond question: {line(question)}")]


def _own(question: str) -> set[str]:
    """The words that a completed question must still have."""
    return {word for word in words(question) if word.isdigit() or (len(word) > 3 and word not in STOP_WORDS)}
