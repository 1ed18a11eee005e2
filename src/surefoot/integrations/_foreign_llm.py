"""A chat model of another framework as a language model of ours."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from surefoot.integrations._foreign import foreign
from surefoot.llms._abilities import abilities
from surefoot.llms._base import BaseLLM, Call
from surefoot.llms._replies import Malformed, StreamedReply, cut_at
from surefoot.run import cancel, meter
from surefoot.types import Completion
from surefoot.types.errors import ConfigError, EndpointError

_LIMITS = ("max_tokens", "max_output_tokens", "max_completion_tokens", "max_new_tokens", "num_predict")
"""The names that models give to the limit of their tokens."""
_ENDINGS = ("finish_reason", "stop_reason", "done_reason")
"""Where models say why they ended."""
_CUT_OFF = ("length", "max_tokens")
"""How they say that it was the limit."""


def event(text: str, about: Mapping[str, Any], tokens: tuple[int, int] | None = None, thoughts: Any = None) -> Any:
    """A reply, or a piece of one, in the form that `StreamedReply` takes; `about` may say why it ended, and `tokens`
    are those of the prompt and of the reply so far."""
    cut_off = any(str(about.get(key)).lower() in _CUT_OFF for key in _ENDINGS)
    message = {"content": text, "reasoning": thoughts}
    usage = {} if tokens is None else {"usage": dict(zip(("prompt_tokens", "completion_tokens"), tokens, strict=True))}
    return {"choices": [{"message": message, "finish_reason": "length" if cut_off else None}], **usage}


class ForeignLLM(BaseLLM):
    """A chat model of another framework, at temperature 0 and with its limit of tokens set anew for each call."""

    framework: str
    stops = True
    """It takes words to stop at; without, its reply is cut at them here."""

    def __init__(self, model: Any, kind: type) -> None:
        if not isinstance(model, kind):
            raise ConfigError(f"{type(self).__name__} takes a {kind.__name__}, not a {type(model).__name__}")
        self._model: Any = model
        self.name = self.model_name(model)
        self._abilities = abilities(self.name)
        self.thoughts = self._abilities.thoughts
        """Tokens that an answer may have beyond `max_tokens`, for thoughts."""

    def answer(self, call: Call) -> Completion:
        """The model's reply, streamed if `on_text` is given; tokens are those that it reports, else 0.

        A model that takes no limit of tokens, or no schema, is asked without, and the step says so. Raises
        EndpointError, which has the HTTP status where the model's client tells it, or ContextOverflow.
        """
        most = call.max_tokens + self.thoughts
        cut = () if self.stops and self._abilities.stop and call.schema is None else call.stop
        reply = StreamedReply(most, None if cut else call.on_text, thinks=self.thoughts > 0)
        try:
            for piece in self._asked(replace(call, max_tokens=most, stop=() if cut else call.stop)):
                cancel.check()
                reply.take(piece, "message")
        except Malformed as error:
            raise EndpointError(f"{self.name} sent {error}; ask again") from error
        completion = reply.completion(self.name)
        if cut:
            completion = cut_at(completion, cut)
            if call.on_text and completion.text:
                call.on_text(completion.text)
        return completion

    def _asked(self, call: Call) -> Iterator[Any]:
        with foreign(f"{self.framework}'s model '{self.name}'"):
            yield from self.events(self._limited(call.max_tokens), call)

    def _limited(self, most: int) -> Any:
        names = type(self._model).model_fields
        limit = next((name for name in _LIMITS if name in names), None)
        if limit is None:
            self.cannot("limit of tokens")
        greedy = self._abilities.temperature and "temperature" in names
        return self._model.model_copy(
            update={**({limit: most} if limit else {}), **({"temperature": 0.0} if greedy else {})}
        )

    def cannot(self, what: str) -> Any:
        """Let the step say that the model was asked without this."""
        meter.degrade(f"{self.name} takes no {what}; it was asked without")

    @staticmethod
    @abstractmethod
    def model_name(model: Any) -> str:
        """The model's name."""

    @abstractmethod
    def events(self, model: Any, call: Call) -> Iterator[Any]:
        """The reply as `event`s: its pieces where the call has `on_text`, else one."""
