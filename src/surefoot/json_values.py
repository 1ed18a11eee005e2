"""JSON that a stranger may have written, read so that all that can be wrong with it is one error."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

DEEPEST = 100
"""Lists and objects within each other. Python gives up at some hundreds, depending on who asks, and what it can just
read it can often not write again; nobody's records nest half as deep."""


def parsed(text: str | bytes) -> Any:
    """The value that a JSON text spells. Raises ValueError for any other text, and for one nested more than a hundred
    deep: that would be a RecursionError here, or later where the value is used."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise _too_deep() from None
    if _brackets(text) > DEEPEST and deep(value):
        raise _too_deep()
    return value


def deep(value: Any) -> bool:
    """Whether it is nested deeper than is read."""
    level: list[Any] = [[value]]
    for _ in range(DEEPEST + 1):
        level = [inner for one in level for inner in _within(one) if isinstance(inner, dict | list)]
    return bool(level)


def _within(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _brackets(text: str | bytes) -> int:
    """How many open, strings included; most texts have too few to be deep, and need not be walked through."""
    return text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")


def _too_deep() -> ValueError:
    return ValueError(f"it is nested more than {DEEPEST} deep")
