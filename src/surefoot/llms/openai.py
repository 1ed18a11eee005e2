"""A language model behind any OpenAI-compatible endpoint: Ollama, vLLM, llama.cpp, OpenAI and the like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from surefoot import meter
from surefoot.llms._replies import Malformed, Reported, StreamedReply, chat_request
from surefoot.network import Network
from surefoot.network.endpoint import JsonEndpoint
from surefoot.types import Completion, Message

_ENVELOPE = 1 << 16
_PER_TOKEN = 1 << 10
"""Most bytes of an answer, and more for each token asked for (an event of a stream has some 400 beside its token): an
endpoint gone mad must not fill the memory."""
_MAX_BYTES = 8 << 20
"""Most bytes of a list of models."""


class OpenAI:
    """A model behind an OpenAI-compatible endpoint.

    `base_url`, `key_env`, `timeout`, `retries` and `network` are those of a `JsonEndpoint`, and so are the errors.
    """

    def __init__(
        self,
        model: str,
        base_url: str = "https://api.openai.com/v1",
        key_env: str = "OPENAI_API_KEY",
        timeout: float = 60.0,
        retries: int = 2,
        network: Network | None = None,
    ) -> None:
        self.name = model
        self._endpoint = JsonEndpoint(model, base_url, key_env, timeout, retries, network)

    def __repr__(self) -> str:
        return repr(self._endpoint).replace("JsonEndpoint", "OpenAI", 1)

    def complete(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any] | None = None,
        *,
        max_tokens: int = 100,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """The model's reply to the messages, at temperature 0; streamed if `on_text` is given.

        `schema` is sent as a strict `json_schema` response format; whether it binds is up to the endpoint. A count of
        tokens that is missing or impossible is 0. A reply longer than `max_tokens` can be is refused. Raises
        EndpointError, which says what is wrong with the endpoint.
        """
        asked = chat_request(messages, schema, max_tokens, stop, model=self.name)
        answer = StreamedReply(max_tokens, on_text)
        if on_text:
            self._stream(asked, answer)
        else:
            self._take(answer, self._endpoint.post("chat/completions", asked, _most(asked)), "message")
        completion = answer.completion(self.name)
        counted = {"prompt_tokens": completion.prompt_tokens, "completion_tokens": completion.completion_tokens}
        meter.count(calls=1, **counted)
        return completion

    def probe(self) -> tuple[str, ...]:
        """The names of the endpoint's models; raises EndpointError."""
        listed = self._endpoint.get("models", _MAX_BYTES)
        models = listed.get("data") if isinstance(listed, dict) else None
        named = [one.get("id") for one in models if isinstance(one, dict)] if isinstance(models, list) else []
        names = tuple(name for name in named if isinstance(name, str))
        if not isinstance(models, list) or len(names) < len(models):
            raise self._endpoint.nonsense("a list without models", listed)
        return names

    def _stream(self, request: dict[str, Any], answer: StreamedReply) -> None:
        request |= {"stream": True, "stream_options": {"include_usage": True}}
        with self._endpoint.events("chat/completions", request, _most(request)) as events:
            for event in events:
                self._take(answer, event, "delta")
        if not answer.ended:
            without = self._endpoint.nonsense("a stream without an answer", "")
            raise self._endpoint.broken("without an end") if answer.begun else without

    def _take(self, answer: StreamedReply, sent: Any, part: Literal["message", "delta"]) -> None:
        try:
            answer.take(sent, part)
        except Malformed as error:
            raise self._endpoint.nonsense(str(error), sent) from error
        except Reported as error:
            raise self._endpoint.reported(error) from error


def _most(request: dict[str, Any]) -> int:
    return _ENVELOPE + _PER_TOKEN * int(request["max_tokens"])
