"""A language model whose completions are cached on disk, so that you never pay for one twice."""

from __future__ import annotations

import hashlib
import json
import math
import re
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from surefoot.llms._wrapper import Call, WrappedLLM
from surefoot.network.cache import Cache
from surefoot.network.values import Reply
from surefoot.run import meter
from surefoot.types import Completion
from surefoot.types.protocols import LLM

_COUNT = re.compile("[0-9]{1,12}")
"""A number of tokens; `int` would also read other texts."""


class CachedLLM(WrappedLLM):
    """Another model's completions, each asked for once, even by several threads at once and by later runs.

    `file` is SQLite, readable by its owner alone; it holds the replies, which may quote the request, under hashes of
    the model's name, `where` (such as the endpoint) and the whole request. A cached reply costs no call and counts as
    `cached`. A file that cannot be used caches nothing, and the step's meter says so. Failures are not cached.
    """

    def __init__(self, llm: LLM, file: Path, where: str = "") -> None:
        super().__init__(llm)
        self._where = where
        self._cache = Cache(file, math.inf)
        self._lock = Lock()
        self._under_way: WeakValueDictionary[str, Any] = WeakValueDictionary()
        """A lock for each request."""

    def answer(self, call: Call) -> Completion:
        """The cached completion, or the inner model's; raises what that raises."""
        messages = [[message.role, message.content] for message in call.messages]
        key = _key([self.name, self._where, messages, call.schema, call.max_tokens, list(call.stop)])
        with self._lock:
            mine = self._under_way.setdefault(key, Lock())
        with mine:  # of equal requests one asks, and the next find its completion
            if (cached := self._recalled(key)) is None:
                completion = self.ask(call)
                self._store(key, completion)
                return completion
        if call.on_text and cached.text:
            call.on_text(cached.text)
        meter.count(cached=1)
        return cached

    def _recalled(self, key: str) -> Completion | None:
        if (reply := self._cache.get(key)) is None:
            return None
        try:
            return _completion(reply)
        except (KeyError, ValueError):
            meter.degrade("a cached completion is damaged; asked the model again")
            return None

    def _store(self, key: str, completion: Completion) -> None:
        counts = {
            "input": completion.prompt_tokens,
            "output": completion.completion_tokens,
            "cut": completion.truncated,
        }
        headers = {name: str(int(value)) for name, value in counts.items()}
        body = completion.text.encode("utf-8", "surrogatepass")
        self._cache.put(key, Reply(completion.model, 200, headers, body))


def _completion(reply: Reply) -> Completion:
    inputs, outputs = (_count(reply.headers[name]) for name in ("input", "output"))
    cut = ("0", "1").index(reply.headers["cut"])
    return Completion(reply.body.decode("utf-8", "surrogatepass"), reply.url, inputs, outputs, truncated=bool(cut))


def _count(text: str) -> int:
    if not _COUNT.fullmatch(text):
        raise ValueError(f"{text[:20]} tokens")
    return int(text)


def _key(request: Any) -> str:
    return hashlib.sha256(json.dumps(request).encode()).hexdigest()
