"""Contexts in whatever shape they were kept, as passages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from surefoot.evaluate.records.messages import nested
from surefoot.types import Passage
from surefoot.types.errors import UsageError

MOST = 10_000
"""Contexts of a record. Nobody shows a model as many; a file of empty ones would become a hundred times as large."""

_TEXT = ("text", "content", "contents", "page_content", "passage", "body", "chunk", "chunk_text", "snippet", "document")
_TITLE = ("title", "name", "heading")
_URL = ("url", "source", "link", "file_path", "file_name")
_ID = ("id", "_id", "doc_id", "document_id", "docid", "passage_id", "chunk_id", "pid")
_SCORE = ("score", "similarity", "relevance_score")


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
    score = _first(looked, _SCORE)
    return Passage(
        str(_first(looked, _ID) or name),
        _joined(_first(looked, _TEXT)),
        title=_joined(_first(looked, _TITLE)),
        url=_joined(_first(looked, _URL)) or None,
        score=float(score) if isinstance(score, float) and isfinite(score) else None,
    )


def _first(item: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((item[name] for name in names if item.get(name) not in (None, "")), None)


def _joined(value: Any) -> str:
    """A text; of a list its parts, with spaces between; of anything else, its JSON."""
    if isinstance(value, list | tuple):
        return " ".join(map(_joined, value))
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
