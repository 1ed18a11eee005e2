"""What a model's server sends as its answer, checked before anything is made of it.

A server may be broken, or somebody else's: any part of what it sends may be missing, of another kind, or far too large.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Any, Literal

from surefoot.types import Completion

_LONGEST = 50
"""Characters that a token may have on average; in English it has four."""
_SPARE = 1000
"""Characters beside, for an answer of few tokens."""
_TOKENS = 10**9
"""Most tokens that a server is believed to have counted."""
_STRANGE = {"message": "JSON without an answer", "delta": "a stream of something else"}


class Malformed(Exception):
    """What was sent is no answer; the text says what it is instead, after "sent"."""


class Reported(Exception):
    """The server says itself that it failed; the text is what it says."""

    def __init__(self, error: object) -> None:
        said = error.get("message") if isinstance(error, dict) else None
        super().__init__(said if isinstance(said, str) else str(error))
        self.error = error


class StreamedReply:
    """Gathers an answer, whole or as events of a stream, as an OpenAI-compatible server sends it.

    `on_text` is called with each piece as it comes. Halves of characters become �, two that belong together are joined.
    """

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
        """A whole answer, which has a `message`, or the next event of a stream, which may have a `delta`.

        Raises Malformed or Reported, and what `on_text` raises.
        """
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
        """Whether there is any text."""
        return bool(self._pieces)

    @property
    def ended(self) -> bool:
        """Whether the server said that this is all, and why."""
        return self._finish is not None

    def completion(self, model: str) -> Completion:
        """The whole of it. A count of tokens that cannot be one is 0, as one that was not sent."""
        self._add(self._halves.decode(b"", final=True))
        asked, said = (_count(self._usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
        return Completion("".join(self._pieces), model, asked, said, truncated=self._finish == "length")

    def _add(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)
            if self._on_text:
                self._on_text(piece)


def _first(sent: dict[str, Any], part: str) -> dict[str, Any] | None:
    """The choice that is read: one is asked for. Of a stream, an event may have none, and one without a text."""
    choices, stream = sent.get("choices"), part == "delta"
    if stream and not choices:
        return None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, dict) and (isinstance(of := choice.get(part), dict) or (stream and of is None)):
        return choice
    raise Malformed(_STRANGE[part])


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _TOKENS else 0
