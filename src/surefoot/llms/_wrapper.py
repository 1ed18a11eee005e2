"""The base of language models that wrap another one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.types import Completion, Message
from surefoot.types.protocols import LLM


@dataclass(frozen=True, slots=True)
class Call:
    """One request for a completion."""

    messages: Sequence[Message]
    schema: dict[str, Any] | None
    max_tokens: int
    stop: Sequence[str]
    on_text: Callable[[str], None] | None


class WrappedLLM:
    """Another model behind the same verb. A subclass implements `answer`, which may call `ask`."""

    def __init__(self, llm: LLM) -> None:
        self.inner = llm
        self.name = llm.name
        self.thoughts: int = getattr(llm, "thoughts", 0)
        """Tokens that an answer may have beyond `max_tokens`, for thoughts."""

    def complete(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any] | None = None,
        *,
        max_tokens: int = 100,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """The completion, as the subclass's `answer` gets it; raises what that raises."""
        return self.answer(Call(messages, schema, max_tokens, stop, on_text))

    def answer(self, call: Call) -> Completion:
        """The completion of this request."""
        raise NotImplementedError

    def ask(self, call: Call) -> Completion:
        """The inner model's completion."""
        return self.inner.complete(
            call.messages, call.schema, max_tokens=call.max_tokens, stop=call.stop, on_text=call.on_text
        )
