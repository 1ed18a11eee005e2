"""Records that can be passed on: every figure, and no text."""

import hmac
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from secrets import token_bytes
from typing import Any, TypeVar, cast

from surefoot.types import Record, Score
from surefoot.types.metadata import NO_META, Meta

T = TypeVar("T")

_TERMS = frozenset({"metric", "judge", "policy", "source", "via", "model", "evaluator", "name", "created"})
"""Fields whose words come from a program, not from a text."""
_TAGS = frozenset({"domain", "system"})
_CORNERS = frozenset({"question", "answer", "truth"})
"""Places of a quote other than a context."""


def share_safe(records: Iterable[Record], scores: Iterable[Score]) -> tuple[list[Record], list[Score]]:
    """Replace every text by "text:<hash>:<characters>", and keep every figure.

    Equal texts have equal hashes, ids included, so scores still find their records and citations their passages. The
    hash is keyed with a secret that is discarded, so that a guessed text cannot be checked. Settings of traces are
    dropped; tags are hashed but for `_TAGS`, by which figures are told apart.
    """
    key = token_bytes(32)

    def shared(value: Any, name: str) -> Any:
        if isinstance(value, Mapping):
            cells = value.items() if name == "tags" else ()
            return {each: cell if each in _TAGS else _hashed(str(cell), key) for each, cell in cells}
        known = name in _TERMS or (name == "where" and value in _CORNERS)
        return value if known else _hashed(value, key)

    return [_changed(record, shared) for record in records], [_changed(score, shared) for score in scores]


def _changed(value: T, change: Callable[[Any, str], Any], name: str = "") -> T:
    """The value with each text and each dictionary in it changed; `change` is given the name of its field."""
    result: Any = value
    if isinstance(value, Meta):
        result = NO_META  # no figure goes by it, and its values are texts of the user's
    elif isinstance(value, tuple):
        result = tuple(_changed(each, change, name) for each in value)
    elif is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: _changed(getattr(value, field.name), change, field.name) for field in fields(value)}
        result = replace(value, **parts)
    elif isinstance(value, str | dict) and not isinstance(value, Enum):
        result = change(value, name)
    return cast(T, result)


def _hashed(text: str, key: bytes) -> str:
    if not text:
        return text
    digest = hmac.new(key, text.encode(errors="surrogatepass"), "sha256").hexdigest()
    return f"text:{digest[:16]}:{len(text)}"
