"""Requests to a model's server, and its replies, checked before use: a server may be broken, or somebody else's, so any
part of a reply may be missing, of another kind, or far too large."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from typing import Any, Literal

from surefoot.types import Completion, Message

_LONGEST = 50
"""Most characters per token on average; in English there are four."""
_SPARE = 1000
"""Characters allowed beside, for an answer of few tokens."""
_TOKENS = 10**9
"""Highest count of tokens that a server is believed."""
_STRANGE = {"message": "JSON without an answer", "delta": "a stream of something else"}


def chat_request(
    messages: Sequence[Message], schema: dict[str, Any] | None, max_tokens: int, stop: Sequence[str], **options: Any
) -> dict[str, Any]:
    """The body of a request for a chat completion, at temperature 0."""
    said = [{"role": message.role, "content": message.content} for message in messages]
    body = {"messages": said, "max_tokens": max_tokens, "temperature": 0, **options}
    if stop:
        body["stop"] = list(stop)
    if schema is not None:
        form = {"name": "answer", "schema": schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body


class Malformed(Exception):
    """The server sent no answer; the text says what it sent instead, to follow the word "sent"."""


class Reported(Exception):
    """The server reports a failure; the text is its message."""

    def __init__(self, error: object) -> None:
        said = error.get("message") if isinstance(error, dict) else None
        super().__init__(said if isinstance(said, str) else str(error))
        self.error = error


class StreamedReply:
    """Gathers an answer of an OpenAI-compatible server, whole or as events of a stream. `on_text` gets each piece as it
    comes. Halves of characters become �; two that belong together are joined."""

    def __init__(self, max_tokens: int, on_text: Callable[[str], None] | None = None) -> None:
        self._most = _SPARE + _LONGEST * max_tokens
        self._max_tokens = max_tokens
        self._on_text = on_text
        self._pieces: list[str] = []
        self._length = 0
        self._halves = codecs.getincrementaldecoder("utf-16-le")("replace")
        self._finish: str | None = None
        self._usage: dict[str, Any] = {}

    def take(self, sent: Any, part: Literal["message", "delta"] = "delta") -> None:
        """Add a whole answer, which has a `message`, or the next event of a stream, which may have a `delta`. Raises
        Malformed or Reported, and what `on_text` raises."""
        if not isinstance(sent, dict):
            raise Malformed(_STRANGE[part])
        if sent.get("error"):
            raise Reported(sent["error"])
        if isinstance(usage := sent.get("usage"), dict):
            self._usage = usage
        if (choice := _first(sent, part)) is None:
            return
        if isinstance(finish := choice.get("finish_reason"), str) and finish:
            self._finish = finish
        if not isinstance(text := (choice.get(part) or {}).get("content"), str | None):
            raise Malformed("an answer that is no text")
        piece = self._halves.decode((text or "").encode("utf-16-le", "surrogatepass"))
        self._length += len(piece)
        if self._length > self._most:
            raise Malformed(f"more than the {self._max_tokens} tokens that were asked for")
        self._add(piece)

    @property
    def begun(self) -> bool:
        """Whether any text has come."""
        return bool(self._pieces)

    @property
    def ended(self) -> bool:
        """Whether the server has said that the answer is complete."""
        return self._finish is not None

    def completion(self, model: str) -> Completion:
        """The whole answer; a count of tokens that is missing or impossible is 0."""
        self._add(self._halves.decode(b"", final=True))
        asked, said = (_count(self._usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
        return Completion("".join(self._pieces), model, asked, said, truncated=self._finish == "length")

    def _add(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)
            if self._on_text:
                self._on_text(piece)


def _first(sent: dict[str, Any], part: str) -> dict[str, Any] | None:
    """The first choice, since one is asked for; an event of a stream may have none, or one without text."""
    choices, stream = sent.get("choices"), part == "delta"
    if stream and not choices:
        return None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, dict) and (isinstance(of := choice.get(part), dict) or (stream and of is None)):
        return choice
    raise Malformed(_STRANGE[part])


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _TOKENS else 0
