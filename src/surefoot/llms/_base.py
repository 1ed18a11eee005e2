"""The frame of the language models: the verb packs a request, a class answers it, and wrappers hand it on."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.types import Completion, Message
from surefoot.types.protocols import LLM, OnText


@dataclass(frozen=True, slots=True)
class Call:
    """One request for a completion; the fields are the parameters of `LLM.complete`."""

    messages: Sequence[Message]
    schema: dict[str, Any] | None
    max_tokens: int
    stop: Sequence[str]
    on_text: OnText


class BaseLLM(ABC):
    """A language model that answers a packed request."""

    def complete(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any] | None = None,
        *,
        max_tokens: int = 100,
        stop: Sequence[str] = (),
        on_text: OnText = None,
    ) -> Completion:
        """The completion, as `answer` gets it; raises what that raises."""
        return self.answer(Call(messages, schema, max_tokens, stop, on_text))

    @abstractmethod
    def answer(self, call: Call) -> Completion:
        """The completion of this request."""


class WrappedLLM(BaseLLM):
    """Another model behind the same verb; `answer` may call `ask`."""

    def __init__(self, llm: LLM) -> None:
        self.inner = llm
        self.name = llm.name
        self.thoughts: int = getattr(llm, "thoughts", 0)
        """Tokens that an answer may have beyond `max_tokens`, for thoughts."""

    def ask(self, call: Call) -> Completion:
        """The inner model's completion."""
        return self.inner.complete(
            call.messages, call.schema, max_tokens=call.max_tokens, stop=call.stop, on_text=call.on_text
        )
