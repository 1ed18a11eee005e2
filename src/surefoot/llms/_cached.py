"""A language model whose completions are kept on disk, so that you never pay for one twice."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Lock
from typing import Any

from surefoot.network.cache import Cache
from surefoot.network.values import Reply
from surefoot.run import meter
from surefoot.types import Completion, Message
from surefoot.types.protocols import LLM

_COUNT = re.compile("[0-9]{1,12}")
"""A number of tokens; `int` would also read other texts."""


class CachedLLM:
    """Another model's completions, each asked for once, even by several threads at once and by later runs.

    `file` is SQLite, readable by its owner alone; it holds the replies, which may quote the request, under hashes of
    the model's name, `where` (such as the endpoint) and the whole request. A kept reply costs no call and counts as
    `cached`. A file that cannot be used keeps nothing, and the step's meter says so. Failures are not kept.
    """

    def __init__(self, llm: LLM, file: Path, where: str = "") -> None:
        self.inner = llm
        self.name = llm.name
        self._where = where
        self._cache = Cache(file, math.inf)
        self._lock = Lock()
        self._asking: dict[str, Event] = {}

    def complete(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any] | None = None,
        *,
        max_tokens: int = 100,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """The kept completion, or the inner model's; raises what that raises."""
        said = [[message.role, message.content] for message in messages]
        key = _key([self.name, self._where, said, schema, max_tokens, list(stop)])
        while (kept := self._recalled(key)) is None:
            with self._lock:
                mine, done = key not in self._asking, self._asking.setdefault(key, Event())
            if not mine:
                done.wait()  # and look again: the other thread may have failed
                continue
            try:
                completion = self.inner.complete(messages, schema, max_tokens=max_tokens, stop=stop, on_text=on_text)
                self._keep(key, completion)
                return completion
            finally:
                with self._lock:
                    self._asking.pop(key).set()
        if on_text and kept.text:
            on_text(kept.text)
        meter.count(cached=1)
        return kept

    def _recalled(self, key: str) -> Completion | None:
        if (reply := self._cache.get(key)) is None:
            return None
        try:
            return _completion(reply)
        except (KeyError, ValueError):
            meter.degrade("a completion that was kept is damaged; asked the model again")
            return None

    def _keep(self, key: str, completion: Completion) -> None:
        headers = {"asked": completion.prompt_tokens, "said": completion.completion_tokens, "cut": completion.truncated}
        body = completion.text.encode("utf-8", "surrogatepass")
        told = {name: str(int(value)) for name, value in headers.items()}
        self._cache.put(key, Reply(completion.model, 200, told, body))


def _completion(reply: Reply) -> Completion:
    asked, said = (_count(reply.headers[name]) for name in ("asked", "said"))
    cut = ("0", "1").index(reply.headers["cut"])
    return Completion(reply.body.decode("utf-8", "surrogatepass"), reply.url, asked, said, truncated=bool(cut))


def _count(text: str) -> int:
    if not _COUNT.fullmatch(text):
        raise ValueError(f"{text[:20]} tokens")
    return int(text)


def _key(asked: Any) -> str:
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()
