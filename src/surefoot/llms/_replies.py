"""Requests to a model's server, and its replies: any part may be missing, of another kind, or far too large."""

import codecs
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import Any, Literal

from surefoot.llms._base import Call
from surefoot.run import meter
from surefoot.types import Completion, Token

_LONGEST, _SPARE = 50, 1000
"""Most characters per token on average, where English has four; and beside, for an answer of few tokens."""
_TOKENS = 10**9  # highest count of tokens that a server is believed
_THOUGHTS = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning)"
_OPENS = rf"(?:[<\[◁]{_THOUGHTS}[>\]▷]|<\|(?:channel|start(?:_thinking)?)\|?>)"
"""Beginnings of the thoughts of open models."""
_CLOSES = (
    rf"(?:[<\[◁]/{_THOUGHTS}[>\]▷]|<\|end_thinking\|>|<channel\|>|<\|channel\|>\s*final\s*<\|message\|>|assistantfinal)"
)
_OPENED = re.compile(_OPENS, re.IGNORECASE)
_CLOSED = re.compile(_CLOSES, re.IGNORECASE)
_FRAME = re.compile(r"(?:<(?:final_)?answer>|<\|start_(?:response|text)\|>)\s*", re.IGNORECASE)
"""Stands before an answer whose thoughts are marked as such."""
_ENDS = r"(?i)(?:\s*(?:<\|(?:return|end|call|end_response|end_text|eot_id|im_end)\|>|</(?:final_)?answer>))+\s*\Z"
_LONGEST_TAG = 40  # characters
_BESIDE = ("reasoning_content", "reasoning")
"""Fields in which servers send the thoughts that they have taken out of the text."""
OVERFLOW = re.compile(r"prompt is too long|context.{0,30}(?:length|window|size|limit)|too many tokens", re.IGNORECASE)
"""What servers say where a prompt and its answer do not fit into the context."""
_STRANGE = {"message": "JSON without an answer", "delta": "a stream of something else"}


def chat_request(call: Call, **options: Any) -> dict[str, Any]:
    """The body of a request for a chat completion, at temperature 0."""
    turns = [{"role": message.role, "content": message.content} for message in call.messages]
    body = {"messages": turns, "max_tokens": call.max_tokens, "temperature": 0, **options}
    if call.stop:
        body["stop"] = list(call.stop)
    if call.schema is not None:
        form = {"name": "answer", "schema": call.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body


def as_chat(sent: Any, part: Literal["message", "delta"]) -> Any:
    """An answer of `/completions`, or an event of its stream, in the shape of a chat's; others as they are."""
    choices = sent.get("choices") if isinstance(sent, dict) else None
    if not isinstance(choices, list):
        return sent
    shaped = [
        {**one, part: {"content": one["text"]}} if isinstance(one, dict) and "text" in one else one for one in choices
    ]
    return {**sent, "choices": shaped}


def weighed_tokens(logprobs: Any) -> Iterator[Token]:
    """The tokens and their log-probabilities, as chats give them (`content`) and as `/completions` does (lists)."""
    fields = logprobs if isinstance(logprobs, dict) else {}
    if isinstance(rows := fields.get("content"), list):
        rows = [row for row in rows if isinstance(row, dict)]
        found = [(row.get("token"), row.get("logprob"), _listed(row.get("top_logprobs"))) for row in rows]
    else:
        lists = (fields.get(name) for name in ("tokens", "token_logprobs", "top_logprobs"))
        found = [*zip_longest(*(one if isinstance(one, list) else [] for one in lists))]
    for text, log, beside in found:
        if isinstance(text, str) and (logprob := _log(log)) is not None:
            others = beside.items() if isinstance(beside, dict) else ()
            weighed = tuple((str(other), at) for other, each in others if (at := _log(each)) is not None)
            yield Token(text, logprob, weighed)


def _listed(rows: Any) -> Mapping[str, Any]:
    rows = rows if isinstance(rows, list) else []
    return {str(row.get("token")): row.get("logprob") for row in rows if isinstance(row, dict)}


def _log(value: Any) -> float | None:
    """A log-probability; rounding may have put one above 0."""
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return min(0.0, float(value)) if number else None


class ThoughtFilter:
    """Keeps the thoughts back that stand before an answer, in the forms of open models: up to `</think>` and the like,
    or to the final channel of harmony.

    `expected`: the model thinks, and its template may begin the thoughts without a tag: nothing goes through before
    they or the answer have ended, unless the server takes them out itself and `beside` was called. Of another model
    what begins like thoughts is held back.
    """

    def __init__(self, expected: bool) -> None:
        self._expected = expected
        self._held = ""
        self._over = self._begun = self._plain = False

    def passed(self, piece: str) -> str:
        """As much of what has come as belongs to the answer; blank lines behind thoughts do not."""
        if self._begun:
            return piece
        self._held += piece
        if not self._over:
            end = _CLOSED.search(self._held, max(0, len(self._held) - len(piece) - _LONGEST_TAG))
            opened = _OPENED.search(self._held, 0, end.start()) if end else None
            if end and not (opened and self._held[: opened.start()].strip()):
                self._held, self._over = self._held[end.end() :], True
            elif self._expected or _OPENED.match(self._held.lstrip()):
                return ""
        head = self._held.lstrip()
        frame = _FRAME.match(head)
        answer = head[frame.end() :] if frame else head
        if re.match(r"(?:[<\[◁][^>\]▷\s]{0,30})?\Z", answer):  # as much of a mark as has come
            return ""
        self._plain, self._begun = not self._over, True
        return answer if frame or self._over else self._held

    @property
    def none(self) -> bool:
        """True if nothing was taken for thoughts: where an end of some stands in the text, all before it was."""
        return self._plain

    def beside(self) -> None:
        """The thoughts come in a field of their own."""
        self._over = self._over or not self._held

    def rest(self, truncated: bool) -> str:
        """The text that was held back and is no thought. A limit with room for thoughts cuts these off, no answer."""
        cut = not self._over and ((self._expected and truncated) or _OPENED.match(self._held.lstrip()))
        return "" if self._begun or cut else self._held.lstrip()


def cut_at(completion: Completion, stops: Sequence[str]) -> Completion:
    """The completion up to the first of the words to stop at, which ends it where it stands."""
    ends = [place for stop in stops if (place := completion.text.find(stop)) >= 0]
    return replace(completion, text=completion.text[: min(ends)], truncated=False) if ends else completion


class Malformed(Exception):
    """The server sent no answer; the text says what it sent instead, to follow the word "sent"."""


class Reported(Exception):
    """The server reports a failure; the text is its message."""

    def __init__(self, error: object) -> None:
        message = error.get("message") if isinstance(error, dict) else None
        super().__init__(message if isinstance(message, str) else str(error))
        self.error = error


class StreamedReply:
    """Gathers an answer of an OpenAI-compatible server, whole or as events of a stream. `on_text` gets each piece as it
    comes. Halves of characters become �; two that belong together are joined. Thoughts are no part of it; the server's
    count of tokens has them. `thinks`: the model is known to think first."""

    def __init__(self, max_tokens: int, on_text: Callable[[str], None] | None = None, *, thinks: bool = False) -> None:
        self._most = _SPARE + _LONGEST * max_tokens
        self._max_tokens = max_tokens
        self._on_text = on_text
        self._thoughts = ThoughtFilter(thinks)
        self._pieces: list[str] = []
        self._tokens: list[Token] = []
        self.length = 0
        """Characters that have come so far."""
        self._halves = codecs.getincrementaldecoder("utf-16-le")("replace")
        self.finish: str | None = None
        """Why the answer is complete, in the server's words; None: it is not."""
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
            self.finish = finish
        self._tokens += islice(weighed_tokens(choice.get("logprobs")), self._max_tokens - len(self._tokens))
        body = next((body for name in (part, "message") if isinstance(body := choice.get(name), dict)), {})
        if not isinstance(text := body.get("content"), str | None):
            raise Malformed("an answer that is no text")
        if any(body.get(name) for name in _BESIDE):
            self._thoughts.beside()
        piece = self._halves.decode((text or "").encode("utf-16-le", "surrogatepass"))
        self.length += len(piece)
        if self.length > self._most:
            raise Malformed(f"more than the {self._max_tokens} tokens that were asked for")
        self._add(self._thoughts.passed(piece))

    def completion(self, model: str) -> Completion:
        """The whole answer, counted in the step's meter; a count of tokens that is missing or impossible is 0."""
        last = self._halves.decode(b"", final=True)
        truncated = self.finish == "length"
        self._add(self._thoughts.passed(last) + self._thoughts.rest(truncated))
        inputs, outputs = (_count(self._usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
        meter.count(calls=1, prompt_tokens=inputs, completion_tokens=outputs)
        text = "".join(self._pieces)
        text = re.sub(rf"(?is)\s*{_OPENS}.*?{_CLOSES}\s*\Z", "", text)  # thoughts behind the answer
        unopened = re.sub(rf"(?is)\A.*{_CLOSES}\s*", "", text) if self._thoughts.none else text
        return Completion(re.sub(_ENDS, "", unopened), model, inputs, outputs, truncated, tuple(self._tokens))

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
