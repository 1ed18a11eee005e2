"""The JSON objects in a model's reply, whatever talk stands around them and whatever common mistakes are in them."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from surefoot.text.json_values import DEEPEST, deep

# Possessive: a quotation mark that nobody closes is looked at once, and not again from each mark behind it.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\],:]', re.DOTALL)
_NUMBERED = re.compile(r'"(\d{1,9})"\s*:\s*(?=\{)')
_MOST_NUMBERED = 500
"""Most openings of a numbered object that are looked at."""
_DECODER = json.JSONDecoder(strict=False)
_CLOSES = {"{": "}", "[": "]"}
_MOST = 20
"""Most openings of an object that are looked at."""
_OFTEN = 2
"""Times its length that a long reply is read for objects, so that twenty unclosed ones cost no more."""
_SHORT = 20_000
"""Characters; in a reply of so many, all openings are looked at, however far each look goes."""

Token = re.Match[str]


def object_form(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these properties, all of them required, and no others."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def objects(reply: str) -> list[dict[str, Any]]:
    """The outermost objects of a reply, in order.

    Code fences, talk before and after, stray commas, line breaks inside strings and Python's way of writing a
    dictionary cost nothing. What cannot be read, was cut off or is nested more than a hundred deep is left out.
    """
    return [found for found in _objects(reply) if not deep(found)]


def numbered(reply: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The whole objects that stand under numbers, as `"3": {…}`, in order and wherever in the reply; a number may come
    twice. Stray commas and line breaks inside strings cost nothing; of a reply that was cut off the rest counts."""
    tokens = list(_TOKEN.finditer(reply))
    text, at = _without_strays(reply, tokens, len(reply)) if tokens else "", 0
    for _ in range(_MOST_NUMBERED):
        if (entry := _NUMBERED.search(text, at)) is None:
            return
        at = entry.end()
        try:
            found, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        yield int(entry[1]), found


def _objects(reply: str) -> Iterator[dict[str, Any]]:
    at, left = 0, max(_MOST * _SHORT, _OFTEN * len(reply))
    for _ in range(_MOST):
        if left < 0 or (start := reply.find("{", at)) < 0:
            return
        found, end = _read(reply, start)
        at, left = start + 1 if found is None else end, left - (end - start)
        if found is not None:
            yield found


def _read(reply: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """The object that begins there, if it is one, and the end of the text that was read for it."""
    try:
        return _DECODER.raw_decode(reply, start)
    except (ValueError, RecursionError):
        pass
    tokens, opened = _tokens(reply, start)
    end = len(reply) if 0 < len(opened) <= DEEPEST else tokens[-1].end()
    return (None if opened else _mended(_without_strays(reply, tokens, end))), end


def _tokens(reply: str, start: int) -> tuple[list[Token], list[str]]:
    """The tokens from there to where the object is closed, cut off or too deep, and the brackets open then."""
    tokens: list[Token] = []
    opened: list[str] = []
    for token in _TOKEN.finditer(reply, start):
        tokens.append(token)
        if token[0] in _CLOSES:
            opened.append(token[0])
        elif token[0] in "}]":
            opened.pop()
        if not 0 < len(opened) <= DEEPEST:
            break
    return tokens, opened


def _mended(text: str) -> dict[str, Any] | None:
    """The object of a text from bracket to bracket, as JSON or Python writes it."""
    for read in (_loaded, ast.literal_eval):
        try:
            value = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return value if isinstance(value, dict) and all(isinstance(key, str) for key in value) else None
    return None


def _without_strays(reply: str, tokens: Sequence[Token], end: int) -> str:
    """The text from the first token to `end`, without commas before a closing bracket."""
    rest, at = [], tokens[0].start()
    for comma, closing in pairwise(tokens):
        if comma[0] == "," and closing[0] in "}]" and not reply[comma.end() : closing.start()].strip():
            rest.append(reply[at : comma.start()])
            at = comma.end()
    return "".join((*rest, reply[at:end]))


def _loaded(text: str) -> Any:
    return json.loads(text, strict=False)
