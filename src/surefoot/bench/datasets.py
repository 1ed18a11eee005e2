"""Labelled questions: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from surefoot.errors import UsageError


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its accepted answers and, where they are known, the passages that hold them."""

    id: str
    question: str
    answers: tuple[str, ...]
    gold: frozenset[str]
    """Ids of the passages labelled relevant; empty: not known."""


def read(path: str | Path, limit: int | None = None) -> list[Example]:
    """The questions of a file of lines `{"id", "question", "answers": [...], "passages": [{"id", "label"}]}`.

    `passages` may be left out; ids must be distinct. `limit` takes a sample of so many, in the order of the file: the
    ones whose ids hash lowest, so that it is the same everywhere and a smaller sample is part of a larger one. (The
    first lines are no sample: data sets are sorted.) Raises UsageError with the line number.
    """
    examples: dict[str, Example] = {}
    for number, row in rows(Path(path)):
        example = _example(row, f"{path}, line {number}")
        if example.id in examples:
            raise UsageError(f"{path}, line {number}: the id '{example.id}' was there before; ids must be distinct")
        examples[example.id] = example
    if not examples:
        raise UsageError(f"{path} holds no questions")
    chosen = set(sample(examples, limit))
    return [example for example in examples.values() if example.id in chosen]


def sample(ids: Iterable[str], limit: int | None) -> list[str]:
    """The `limit` ids that hash lowest, or all."""
    return sorted(ids, key=hashed)[:limit]


def hashed(text: str, size: int = 64) -> bytes:
    """So many bytes, at most 64, that are as good as drawn and the same everywhere; also of half a surrogate pair,
    which JSON may hold. Other sizes give other bytes."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=size).digest()


def rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Number, from 1, and content of each line of JSON that is not blank; raises UsageError with the line number."""
    number = 0
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, json.loads(line)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}, line {number} is not JSON: {error.msg} at column {error.colno}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text, after line {number}") from error


def _example(row: Any, place: str) -> Example:
    try:
        gold = frozenset(str(p["id"]) for p in row.get("passages", ()) if p.get("label") == 1)
        example = Example(str(row["id"]), row["question"], tuple(map(str, row["answers"])), gold)
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{place} is not a question: it needs id, question and answers ({error})") from error
    if not isinstance(example.question, str) or not isinstance(row["answers"], list):
        raise UsageError(f"{place} is not a question: question must be a text, and answers a list of texts")
    return example
