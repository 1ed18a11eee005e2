"""A language model whose completions are cached on disk, so that you never pay for one twice."""

import hashlib
import json
import math
from pathlib import Path
from typing import Any

from surefoot.llms._base import Call, WrappedLLM
from surefoot.network.cache import Cache
from surefoot.network.values import Reply
from surefoot.run import meter
from surefoot.run.store import from_json, to_json
from surefoot.text.json_values import parsed
from surefoot.text.replies import objects
from surefoot.types import Completion
from surefoot.types.errors import TraceFault
from surefoot.types.protocols import LLM


class CachedLLM(WrappedLLM):
    """Another model's completions, each asked for once, even by several threads at once and by later runs.

    `file` is SQLite, readable by its owner alone; it holds the replies, which may quote the request, under hashes of
    the model's name, `where` (such as the endpoint) and the whole request. A cached reply costs no call and counts as
    `cached`. A file that cannot be used caches nothing, and the step's meter says so. Neither failures are cached nor
    spoilt replies: what is empty, cut off, or not the object that the schema asks for.
    """

    def __init__(self, llm: LLM, file: Path, where: str = "") -> None:
        super().__init__(llm)
        self._where = where
        self._cache = Cache(file, math.inf)

    def answer(self, call: Call) -> Completion:
        """The cached completion, or the inner model's; raises what that raises."""
        messages = [[message.role, message.content] for message in call.messages]
        request = ["1", self.name, self._where, messages, call.schema, call.max_tokens, list(call.stop)]
        key = hashlib.sha256(json.dumps(request).encode()).hexdigest()
        with self._cache.turn(key, self.name):
            cached = self._recalled(key)
            if cached is None or _spoilt(cached, call.schema):
                completion = self.ask(call)
                if not _spoilt(completion, call.schema):
                    body = json.dumps(to_json(completion)).encode()
                    self._cache.put(key, Reply(completion.model, 200, {}, body))
                return completion
        if call.on_text and cached.text:
            call.on_text(cached.text)
        meter.count(cached=1)
        return cached

    def _recalled(self, key: str) -> Completion | None:
        if (reply := self._cache.get(key)) is None:
            return None
        try:
            cached = from_json(Completion, parsed(reply.body))
        except (ValueError, TraceFault):
            cached = None
        if cached is None or not all(0 <= n < 10**12 for n in (cached.prompt_tokens, cached.completion_tokens)):
            meter.degrade("a cached completion is damaged; asked the model again")  # below 0 gives a budget back
            return None
        return cached


def _spoilt(completion: Completion, schema: dict[str, Any] | None) -> bool:
    if completion.truncated or not completion.text.strip():
        return True
    kinds, found = (schema or {}).get("properties", {}), objects(completion.text) if schema else []
    return bool(kinds) and not any(all(_fits(one.get(name), kind) for name, kind in kinds.items()) for one in found)


def _fits(value: Any, kind: dict[str, Any]) -> bool:
    """True if it is there, is no blank text, and is one of the texts that the schema lists, if it lists any."""
    text = "" if value is None else str(value).strip()
    return bool(text) and text in map(str, kind.get("enum", (text,)))
