"""The JSON objects in a model's reply, whatever stands around them, is wrong with them, or is missing of them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

_STRING_OR_STRAY_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]]', re.DOTALL)
_DANGLING = re.compile(r'(?:,|,?\s*"(?:[^"\\]|\\.)*"?\s*:?|:)\s*$', re.DOTALL)
_MOST = 20
"""Places where an object may begin that are looked at."""


def objects(reply: str) -> list[dict[str, Any]]:
    """The outermost objects of a reply, in order; of one that was cut off, what is there of it.

    Code fences, talk before and after, stray commas, line breaks inside strings and Python's way of writing a
    dictionary cost nothing. What cannot be read is left out.
    """
    return list(_objects(_STRING_OR_STRAY_COMMA.sub(r"\1", reply)))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    at = 0
    for _ in range(_MOST):
        if (start := text.find("{", at)) < 0:
            return
        found, length = _read(text[start:])
        if found is not None:
            yield found
        at = start + length


def _read(text: str) -> tuple[dict[str, Any] | None, int]:
    """The object that the text begins with, if it is one, and how many characters were read."""
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text)
        return value, end
    except (ValueError, RecursionError):
        pass
    end = _end(text)
    found = _pythons(text[:end]) if end else _completed(text)
    return found, (end or len(text)) if found is not None else 1


def _end(text: str) -> int:
    """Where the object that the text begins with is closed; 0: nowhere."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "{[") - (token[0] in "}]") if len(token[0]) == 1 else 0
        if depth == 0:
            return token.end()
    return 0


def _pythons(text: str) -> dict[str, Any] | None:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, dict) and all(isinstance(key, str) for key in value) else None


def _completed(text: str) -> dict[str, Any] | None:
    """The object that was cut off, closed where it ends; else without its last, half-written entry."""
    for half in (text, _DANGLING.sub("", text)):
        try:
            value = json.loads(half + _closing(half), strict=False)
        except (ValueError, RecursionError):
            continue
        return value or None
    return None


def _closing(text: str) -> str:
    """What closes all that is open at the end of the text."""
    ends: list[str] = []
    quote = ""
    for token in _TOKEN.finditer(text):
        said = token[0]
        if said[0] == '"':
            quote = "" if len(said) > 1 and re.fullmatch(r'"(?:[^"\\]|\\.)*"', said, re.DOTALL) else '"'
        elif said in "{[":
            ends.append("}" if said == "{" else "]")
        elif ends:
            ends.pop()
    return quote + "".join(reversed(ends))
