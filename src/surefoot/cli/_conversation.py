"""A conversation: a question that goes on from the one before it is asked whole."""

from __future__ import annotations

from surefoot import protocols
from surefoot.errors import ComponentError
from surefoot.text.follow_up import completed, follows
from surefoot.text.screen import line
from surefoot.text.words import STOP_WORDS, words
from surefoot.types import Message

TOKENS = 60
"""Of a completed question that a model writes, at most."""
_TASK = (
    "Rewrite the second question so that it can be understood without the first. Keep its language and its words. "
    "Write the question, and nothing else."
)


class Conversation:
    """Remembers the last question, as it was asked whole. `llm` completes questions; None: rules do."""

    def __init__(self, llm: protocols.LLM | None = None) -> None:
        self.llm = llm
        self.earlier = ""

    def whole(self, question: str) -> str | None:
        """The question as it can be understood alone; None: it goes on from an earlier one, and there is none.

        Where the model fails, or drops words of the question, the rules complete it.
        """
        if not follows(question):
            self.earlier = question
        elif not self.earlier:
            return None
        else:
            self.earlier = self._written(question) or completed(question, self.earlier)
        return self.earlier

    def _written(self, question: str) -> str:
        if self.llm is None:
            return ""
        try:
            reply = self.llm.complete(prompt(question, self.earlier), max_tokens=TOKENS)
        except ComponentError:
            return ""
        said = reply.text.strip()
        whole = said and not reply.truncated and "\n" not in said and _own(question) <= set(words(said))
        return said if whole else ""


def prompt(question: str, earlier: str) -> list[Message]:
    """The conversation that asks to complete `question` from the `earlier` one."""
    return [Message("user", f"{_TASK}\n\nFirst question: {line(earlier)}\nSecond question: {line(question)}")]


def _own(question: str) -> set[str]:
    """The words that a completed question must still have."""
    return {word for word in words(question) if word.isdigit() or (len(word) > 3 and word not in STOP_WORDS)}
