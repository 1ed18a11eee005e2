"""JSON: a list of objects is a table, any other value is lines of "key path: value" under its outermost keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from json import JSONDecodeError
from pathlib import PurePath
from typing import Any, BinaryIO

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._rows import LONGEST_PATH, leaves, lines_of, reservations
from surefoot.documents.loaders.jsonl import row_of
from surefoot.documents.loaders.text import decoded
from surefoot.text.blocks import blocks
from surefoot.text.json_values import parsed


class JsonLoader:
    """Reads JSON, with key paths instead of sentences."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """A document for each object of a list, else one for the file; places are JSON pointers like "/hosts"."""
        text, problem = decoded(stream)
        if problem:
            yield problem
        try:
            value = parsed(text)
        except JSONDecodeError as error:
            where = f"line {error.lineno}: " if error.pos else ""
            raise Unreadable(
                f"is not JSON that can be read ({where}{error.msg}); mend it, or save it as .txt"
            ) from error
        stem = PurePath(name).stem
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            yield from _rows(value, stem)
        elif found := tuple(_blocks(value)):
            yield Document("", stem, found)
        else:
            raise Unreadable("holds no text")


def _rows(rows: list[dict[str, Any]], stem: str) -> Iterator[Document | DocumentProblem]:
    for number, row in enumerate(rows, start=1):
        found = row_of(row)
        if isinstance(found, str):
            yield DocumentProblem(f"object {number} of the list {found}")
        else:
            yield found if found.title else replace(found, title=stem)
        yield from reservations(row, f"object {number} of the list")


def _blocks(value: object) -> Iterator[Block]:
    """A block for each outermost key that holds more than one value; the single values stand together."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else [value])
    single: list[tuple[str, str]] = []
    for key, below in pairs:
        path = str(key)[:LONGEST_PATH]
        place = "/" + path.replace("~", "~0").replace("/", "~1")
        if isinstance(below, dict | list):
            yield from (Block(line, "paragraph", (path,), place) for line in lines_of(leaves(below, path)).splitlines())
        elif isinstance(below, str) and "\n" in below:
            yield from (replace(block, path=(path,), place=place) for block in blocks(below))
        else:
            single += leaves(below, path)
    if lines := lines_of(single):
        yield Block(lines)
