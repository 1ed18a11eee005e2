"""Plain text of a speaker, and passages of contexts, from the messages and wrappers of frameworks."""

import json
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from math import isfinite
from typing import Any, Literal

from surefoot.text.json_values import logged
from surefoot.types import Passage
from surefoot.types.errors import UsageError

Who = Literal["user", "assistant"]

FOREIGN: dict[str, Any] = tomllib.loads((files("surefoot.evaluate.records") / "names.toml").read_text(encoding="utf-8"))
"""The names that frameworks give what a record holds, the best first."""


def plain_text(value: Any, who: Who) -> str:
    """Like `words`, but a value without words comes back as it is, in JSON."""
    found = words(value, who)
    return as_text(value) if found is None else found


def as_text(value: Any) -> str:
    """A text as it is; of anything else, its JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def words(value: Any, who: Who) -> str | None:
    """The words in a text, a message, a list of messages (the last of `who`), or an object around any of these, also as
    a text of JSON. None: they are in no known place."""
    try:
        return _words(value, who)
    except RecursionError:
        return None


def _words(value: Any, who: Who) -> str | None:
    if isinstance(value, str):
        return _words(inner, who) if (inner := nested(value)) else value
    if isinstance(value, Mapping):
        if isinstance(inner := value.get("kwargs"), Mapping):  # a message as LangChain serialises it
            value = inner
        for name in FOREIGN[who]["under"]:
            if value.get(name) not in (None, "", []) and (found := _words(value[name], who)) is not None:
                return found
        only = next(iter(value.values()), None) if len(value) == 1 else None
        return _words(only, who) if isinstance(only, Mapping | list | str) else None
    if not isinstance(value, Sequence) or not value:
        return None
    if all(_is_part(item) for item in value):
        return "".join(filter(None, (_words(item, who) for item in value if item["type"] in FOREIGN["parts"]["text"])))
    roles = FOREIGN[who]["roles"]
    theirs = [item for item in value if role(item) in roles] or [item for item in value if not role(item)]
    return next((found for item in reversed(theirs) if (found := _words(item, who)) is not None), None)


def role(message: Any) -> str:
    """The speaker in lower case; empty: the message names none."""
    if not isinstance(message, Mapping):
        return ""
    if isinstance(kwargs := message.get("kwargs"), Mapping):
        return str(kwargs.get("type", "")).lower()
    if isinstance(inner := message.get("message"), Mapping):
        return role(inner)
    return str(message.get("role") or ("" if _is_part(message) else message.get("type") or "")).lower()


def _is_part(item: Any) -> bool:
    """True for a part of a message's content: text, a picture, a tool call, or a model's thoughts."""
    kinds = FOREIGN["parts"]
    return isinstance(item, Mapping) and "role" not in item and item.get("type") in (*kinds["text"], *kinds["beside"])


def nested(text: Any) -> Any:
    """The object or list that a text of JSON spells; None: it is no such text."""
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return logged(text)
    except ValueError:
        return None


MOST = 10_000
"""Contexts of a record. Nobody shows a model as many; a file of empty ones would become a hundred times as large."""


def passages(value: Any) -> tuple[Passage, ...]:
    """A passage for each context, in order. A text alone is one; text, title, id and address of objects are looked up
    by the usual names, also in their `metadata`. Ids are distinct: "c1", "c2", … where there is none, and the second of
    an id has "#2" behind it. Raises UsageError for more than MOST."""
    items = value if isinstance(value, list | tuple) else [value]
    if len(items) > MOST:
        raise UsageError(f"a record has {len(items):,} contexts, and at most {MOST:,} are read; is it one record?")
    return distinct([_passage(item, f"c{number}") for number, item in enumerate(items, start=1)])


def distinct(found: Sequence[Passage]) -> tuple[Passage, ...]:
    """The passages with ids of their own: parts of one come to "p", "p#2", …"""
    seen: Counter[str] = Counter()
    apart = []
    for passage in found:
        seen[passage.id] += 1
        apart.append(replace(passage, id=f"{passage.id}#{seen[passage.id]}") if seen[passage.id] > 1 else passage)
    return tuple(apart)


def _passage(item: Any, name: str) -> Passage:
    if not isinstance(item, Mapping):
        return Passage(name, _joined(item))
    metadata = item.get("metadata")
    inner = nested(metadata) if isinstance(metadata, str) else metadata
    own = {key: cell for key, cell in item.items() if cell is not None}
    looked = {**inner, **own} if isinstance(inner, Mapping) else own
    found = {field: _first(looked, names) for field, names in FOREIGN["passage"].items()}
    score = found["score"]
    return Passage(
        str(found["id"] or name),
        _joined(found["text"]),
        title=_joined(found["title"]),
        url=_joined(found["url"]) or None,
        score=float(score) if isinstance(score, float) and isfinite(score) else None,
    )


def _first(item: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((item[name] for name in names if item.get(name) not in (None, "")), None)


def _joined(value: Any) -> str:
    """A text; of a list its parts, with spaces between; of anything else, its JSON."""
    if isinstance(value, list | tuple):
        return " ".join(map(_joined, value))
    return "" if value is None else as_text(value)
