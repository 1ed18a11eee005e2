"""A language model behind any OpenAI-compatible endpoint: Ollama, vLLM, llama.cpp, OpenAI and the like."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from surefoot.llms._abilities import abilities as known_abilities
from surefoot.llms._base import BaseLLM, Call
from surefoot.llms._replies import OVERFLOW, Malformed, StreamedReply, as_chat, chat_request, cut_at
from surefoot.network import Network
from surefoot.network.endpoint import JsonEndpoint
from surefoot.types import Completion
from surefoot.types.errors import ConfigError, ContextOverflow, EndpointError

_ENVELOPE = 1 << 16
_PER_TOKEN = 1 << 10
"""Most bytes of an answer, and more for each token asked for (an event of a stream has some 400 beside its token): an
endpoint gone mad must not fill the memory."""
_MAX_BYTES = 8 << 20  # most bytes of a list of models
_PER_WEIGHED = 256  # most bytes for each of the tokens that a token is weighed against, twice what llama.cpp sends
_REFUSED = re.compile(
    r"unsupported|not supported|unknown|unrecognized|unexpected|invalid|not (?:allowed|permitted)", re.I
)
"""What an endpoint says of a parameter that it does not take."""
PATHS = {"chat": "chat/completions", "completions": "completions"}  # ways to ask, and their paths
PLAIN = "{system}\n\n{user}\n\n"  # the prompt of a model without a form of its own


class OpenAI(BaseLLM):
    """A model behind an OpenAI-compatible endpoint.

    `base_url`, `key_env`, `timeout`, `retries` and `network` are those of a `JsonEndpoint`, and so are the errors.
    `api` is "chat", or "completions" for a model without a chat's form: it is then given `template` with the texts of
    the system's messages for `{system}` and those of all others for `{user}`, such as
    "### Instruction:\\n{system}\\n\\n{user}\\n\\n### Response:\\n".
    The parameters of a model that thinks first go by its name (`_abilities.TABLE`), or by `abilities`, such as
    `{ temperature = false, stop = false, limit = "max_completion_tokens", thoughts = 4096 }`. Thoughts are no part of
    the text, and are counted in its tokens. `logprobs` asks for the log-probability of each token and of so many others
    in its place (`Completion.tokens`). `extra_body` holds further fields of each request, such as
    `{ skip_special_tokens = false }` for vLLM; those that Surefoot sets itself stay as they are.
    """

    def __init__(
        self,
        model: str,
        base_url: str = "https://api.openai.com/v1",
        key_env: str = "OPENAI_API_KEY",
        timeout: float = 60.0,
        retries: int = 2,
        network: Network | None = None,
        api: Literal["chat", "completions"] = "chat",
        template: str = PLAIN,
        abilities: Mapping[str, Any] | None = None,
        logprobs: Annotated[int, Ge(0), Le(100)] = 0,
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        if "{user}" not in template:
            raise ConfigError("template must hold {user}, where the question goes")
        self._path, self._chats, self._template = PATHS[api], api == "chat", template
        self._logprobs, self._extra = logprobs, dict(extra_body or {})
        self._abilities = known_abilities(model, abilities)
        self.thoughts = self._abilities.thoughts
        """Tokens that an answer may have beyond `max_tokens`, for thoughts."""
        self._streams = True
        self.name = model
        self._endpoint = JsonEndpoint(model, base_url, key_env, timeout, retries, network)

    def __repr__(self) -> str:
        return repr(self._endpoint).replace("JsonEndpoint", "OpenAI", 1)

    def answer(self, call: Call) -> Completion:
        """The model's reply to the messages, at temperature 0; streamed if `on_text` is given.

        `schema` is sent as a strict `json_schema` response format; whether it binds is up to the endpoint. A count of
        tokens that is missing or impossible is 0. A reply longer than `max_tokens` can be is refused. Raises
        EndpointError, which says what is wrong with the endpoint, or ContextOverflow; a parameter that the endpoint
        refuses is left out from then on.
        """
        while True:  # a parameter is left out once
            try:
                return self._once(call)
            except EndpointError as error:
                if OVERFLOW.search(str(error)):
                    raise ContextOverflow(str(error)) from error
                if not self._without(str(error)):
                    raise

    def _without(self, refusal: str) -> bool:
        """True if the endpoint refuses a parameter that can be left out, which from now on it is."""
        refused = _REFUSED.search(refusal)
        named = next((name for name in ("temperature", "stop", "max_tokens") if name in refusal), "") if refused else ""
        if named == "max_tokens" and self._abilities.limit == "max_tokens":
            self._abilities = replace(self._abilities, limit="max_completion_tokens")
        elif named == "temperature" and self._abilities.temperature:
            self._abilities = replace(self._abilities, temperature=False)
        elif named == "stop" and self._abilities.stop:
            self._abilities = replace(self._abilities, stop=False)
        elif refused and "stream" in refusal and self._streams:
            self._streams = False
        else:
            return False
        return True

    def _once(self, call: Call) -> Completion:
        most = call.max_tokens + self.thoughts
        request = self._request(chat_request(replace(call, max_tokens=most), model=self.name))
        cut = () if self._abilities.stop else call.stop
        answer = StreamedReply(most, None if cut else call.on_text, thinks=self.thoughts > 0)
        size = _ENVELOPE + (_PER_TOKEN + _PER_WEIGHED * self._logprobs) * most
        if call.on_text and self._streams:
            self._stream(request, answer, size)
        else:
            self._take(answer, self._endpoint.json(self._path, size, request), "message")
        completion = answer.completion(self.name)
        if cut:
            completion = cut_at(completion, cut)
            if call.on_text and completion.text:
                call.on_text(completion.text)
        return completion

    def probe(self) -> tuple[str, ...]:
        """The names of the endpoint's models; raises EndpointError."""
        listed = self._endpoint.json("models", _MAX_BYTES)
        try:
            names = tuple(one["id"] for one in listed["data"])
        except (KeyError, TypeError):
            names = (None,)
        if not all(isinstance(name, str) for name in names):
            raise self._endpoint.nonsense("a list without models", listed)
        return names

    def _request(self, request: dict[str, Any]) -> dict[str, Any]:
        request[self._abilities.limit] = request.pop("max_tokens")
        if not self._abilities.temperature:
            del request["temperature"]
        if not self._abilities.stop:
            request.pop("stop", None)
        if not self._chats:
            request["prompt"] = prompt(self._template, request.pop("messages"))
        if self._logprobs:
            many = self._logprobs
            request |= {"logprobs": True, "top_logprobs": many} if self._chats else {"logprobs": many}
        return {**self._extra, **request}

    def _stream(self, request: dict[str, Any], answer: StreamedReply, size: int) -> None:
        request |= {"stream": True, "stream_options": {"include_usage": True}}
        with self._endpoint.events(self._path, request, size) as events:
            for event in events:
                self._take(answer, event, "delta")
        if not answer.finish:
            without = self._endpoint.nonsense("a stream without an answer", "")
            raise self._endpoint.broken("without an end") if answer.length else without

    def _take(self, answer: StreamedReply, sent: Any, part: Literal["message", "delta"]) -> None:
        try:
            answer.take(sent if self._chats else as_chat(sent, part), part)
        except Malformed as error:
            raise self._endpoint.nonsense(str(error), sent) from error


def prompt(template: str, messages: Sequence[Mapping[str, str]]) -> str:
    """The template with the messages' texts in their places; a "{user}" within a text stays as it is."""
    system = "\n\n".join(one["content"] for one in messages if one["role"] == "system")
    others = "\n\n".join(one["content"] for one in messages if one["role"] != "system")
    texts = {"{system}": system, "{user}": others}
    return re.sub(r"\{system\}|\{user\}", lambda place: texts[place.group()], template).lstrip("\n")
