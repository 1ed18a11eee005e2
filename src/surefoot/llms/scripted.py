"""A language model that says what it was told to: for tests, of Surefoot and of what is built on it."""

import re
from collections.abc import Callable, Mapping, Sequence
from threading import Lock

from surefoot.llms._base import BaseLLM, Call
from surefoot.run import meter
from surefoot.types import Completion, Message
from surefoot.types.errors import ConfigError, ModelError

Replies = Mapping[str, str] | Sequence[str] | Callable[[Sequence[Message]], str]


class Scripted(BaseLLM):
    """A language model whose replies are given: by words of the last message, in order, or by a function.

    A mapping answers with the first entry whose key occurs in the last user message; a sequence is used up in order.
    Tokens are words. A schema is not looked at: what is scripted is said.
    """

    def __init__(self, replies: Replies, name: str = "scripted") -> None:
        texts = replies.values() if isinstance(replies, Mapping) else replies if isinstance(replies, Sequence) else ()
        of_a_kind = isinstance(replies, Mapping | Sequence) or callable(replies)
        if not of_a_kind or not all(isinstance(reply, str) for reply in texts):
            raise ConfigError("scripted replies must be texts, in a list, or in a table from words to them")
        self.name = name
        self._replies = replies
        self._used = 0
        self._lock = Lock()

    def answer(self, call: Call) -> Completion:
        """The reply that fits, cut at the first of `stop` and after `max_tokens` words; ModelError when none fits."""
        reply = self._reply(call.messages)
        words = _words(reply[: min((at for s in call.stop if (at := reply.find(s)) >= 0), default=None)])
        shown = words[: call.max_tokens]
        if call.on_text:
            for word in shown:
                call.on_text(word)
        inputs = sum(len(message.content.split()) for message in call.messages)
        meter.count(calls=1, prompt_tokens=inputs, completion_tokens=len(shown))
        return Completion("".join(shown), self.name, inputs, len(shown), truncated=len(shown) < len(words))

    def _reply(self, messages: Sequence[Message]) -> str:
        if isinstance(self._replies, Mapping):
            question = next((message.content for message in reversed(messages) if message.role == "user"), "")
            for key, reply in self._replies.items():
                if key in question:
                    return reply
            known = ", ".join(self._replies)
            raise ModelError(f"no scripted reply fits {question[:80]!r}; there are replies to: {known}")
        if not isinstance(self._replies, Sequence):
            return self._replies(messages)
        with self._lock:
            if self._used == len(self._replies):
                raise ModelError(f"all {len(self._replies)} scripted replies are used up; script one more")
            self._used += 1
            return self._replies[self._used - 1]


def _words(text: str) -> list[str]:
    """The words of a text, each with the space before it, the last also with the space behind it."""
    return re.findall(r"\s*\S+(?:\s+$)?", text)
