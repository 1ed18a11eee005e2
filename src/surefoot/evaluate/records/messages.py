"""Plain text of a speaker, turns of a conversation, and passages of contexts, from the wrappers of frameworks."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, Literal

from surefoot.evaluate.ask.questions import distinct
from surefoot.evaluate.records.paths import COLUMNS, FORMATS, first, nest, nested
from surefoot.types import Passage
from surefoot.types.errors import UsageError

Who = Literal["user", "assistant", "tool"]
TURNS = 20
"""Turns before a question that its record keeps at most: a session may be as long as a log."""


def question_fields(value: Any) -> dict[str, Any]:
    """The fields of a record that a question holds: of messages, bare or in an object, the last question, what was said
    to it, the turns before it, and what tools returned; of all else the words, and the history beside them."""
    messages = nested(value) if isinstance(value, str) else value
    if isinstance(value, Mapping):
        messages = first(value, ["messages"])
    if isinstance(messages, list) and len(messages) == 1 and isinstance(messages[0], list):
        messages = messages[0]  # LangChain's batch of one
    found = turns(messages) if isinstance(messages, list) and all(map(role, messages)) else ()
    if not found:
        history = turns(first(value, COLUMNS["history"])) if isinstance(value, Mapping) else ()
        return {"question": "" if value is None else plain_text(value, "user"), "history": history}
    *before, (question, answer) = found
    sources: list[Any] = []
    for message in messages:
        if role(message) in FORMATS["tool"]["roles"]:
            sources.append(words(message, "tool"))
        sources += _list(first(message, ["retrieval_context"]))
    return {"question": question, "answer": answer or None, "history": tuple(before), "contexts": sources or None}


def turns(value: Any) -> tuple[tuple[str, str], ...]:
    """The questions and answers in a list of messages, of pairs, of questions, or of objects with both. The last that
    an assistant says to a question is its answer."""
    found: list[tuple[str, str]] = []
    for item in _list(nested(value) if isinstance(value, str) else value):
        speaker = role(item)
        pair = item if isinstance(item, list) and len(item) == 2 else (item, item)
        question, answer = words(pair[0], "user") or "", words(pair[1], "assistant") or ""
        if speaker in FORMATS["user"]["roles"] or (not speaker and answer == question):
            found.append((question, ""))
        elif speaker in FORMATS["assistant"]["roles"] and found:
            found[-1] = (found[-1][0], answer or found[-1][1])
        elif not speaker:
            found.append((question, answer))
    return tuple(found)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def plain_text(value: Any, who: Who) -> str:
    """Like `words`, but a value without words comes back as it is, in JSON."""
    found = words(value, who)
    return as_text(value) if found is None else found


def as_text(value: Any) -> str:
    """A text as it is, and none for None; of anything else, its JSON."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
        value = _unwrapped(value, ("kwargs", "message_content"))
        for name in FORMATS[who]["under"]:
            if value.get(name) not in (None, "", []) and (found := _words(value[name], who)) is not None:
                return found
        only = next(iter(value.values()), None) if len(value) == 1 else None
        return _words(only, who) if isinstance(only, Mapping | list | str) else None
    if not isinstance(value, Sequence) or not value:
        return None
    if all(_part(item) for item in value):
        return "".join(filter(None, (_words(item, who) for item in value if _part(item) in FORMATS["parts"]["text"])))
    roles = FORMATS[who]["roles"]
    theirs = [item for item in value if role(item) in roles] or [item for item in value if not role(item)]
    return next((found for item in reversed(theirs) if (found := _words(item, who)) is not None), None)


def role(message: Any) -> str:
    """The speaker in lower case; empty: the message names none."""
    if not isinstance(message, Mapping):
        return ""
    inner = _unwrapped(message, ("kwargs", "message"))
    return str(inner.get("role") or ("" if _part(inner) else inner.get("type") or "")).lower()


def _part(item: Any) -> str:
    """The type of a part of a message's content: text, a picture, a tool call, or a model's thoughts; empty: it is
    none."""
    kinds = FORMATS["parts"]
    if not isinstance(item, Mapping) or "role" in item:
        return ""
    kind = _unwrapped(item, ("message_content",)).get("type")
    return str(kind) if kind in (*kinds["text"], *kinds["beside"]) else ""


def _unwrapped(value: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    """What stands under one of the names, where frameworks wrap a message, its part or a document; else the value."""
    return next((inner for name in names if isinstance(inner := value.get(name), Mapping)), value)


MOST = 10_000
"""Contexts of a record. Nobody shows a model as many; a file of empty ones would become a hundred times as large."""


def passages(value: Any) -> tuple[Passage, ...]:
    """A passage for each context, in order. A text alone is one; text, title, id and address of objects are looked up
    by the usual names, also in their `metadata`. Ids are distinct: "c1", "c2", … where there is none, and the second of
    an id has "#2" behind it. Raises UsageError for more than MOST."""
    items = value if isinstance(value, list | tuple) else [value]
    if len(items) > MOST:
        raise UsageError(f"a record has {len(items):,} contexts, and at most {MOST:,} are read; is it one record?")
    return identified([_passage(item, f"c{number}") for number, item in enumerate(items, start=1)])


def identified(found: Sequence[Passage]) -> tuple[Passage, ...]:
    """The passages with ids of their own: parts of one come to "p", "p#2", …"""
    ids = distinct(passage.id for passage in found)
    return tuple(replace(passage, id=id) for passage, id in zip(found, ids, strict=True))


def _passage(item: Any, name: str) -> Passage:
    if not isinstance(item, Mapping):
        return Passage(name, _joined(item))
    item = nest(item)
    inner = _unwrapped(item, ("document", "node", "kwargs"))
    item = {**{key: cell for key, cell in item.items() if cell is not inner}, **inner}
    metadata = item.get("metadata") or item.get("meta")
    around = nested(metadata) or metadata
    own = {key: cell for key, cell in item.items() if cell is not None}
    looked = {**around, **own} if isinstance(around, Mapping) else own
    found = {field: _first(looked, names) for field, names in FORMATS["passage"].items()}
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
    """A text; of a list its parts, with spaces between; of anything else its words, or its JSON."""
    if isinstance(value, list | tuple):
        return " ".join(map(_joined, value))
    return plain_text(value, "tool") if isinstance(value, Mapping) else as_text(value)
