"""Shared by the loaders of tables: lines of bounded length, and the columns that make a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from io import TextIOWrapper
from json import dumps
from typing import Any, BinaryIO

from surefoot.documents.loaders import Block, Document, DocumentProblem
from surefoot.documents.loaders.text import encoding_of
from surefoot.text.blocks import blocks, paragraph
from surefoot.types.metadata import NO_META, Meta, plain, usable

MAX_LINE = 10_000_000
"""Characters of a line, at most; a longer one is a bad row, so that a damaged file does not fill the memory."""

TEXT = ("text", "contents", "content", "body")
"""Names of a text column; the first that is not empty is taken."""

LONGEST_PATH = 300
"""Characters of a key path, at most: the deepest keys say what a value is, and each value repeats its path."""

NAMING = ("id", "_id", "title", "url")
"""Columns that name a row, and are no part of what it says where it has a text."""

FIELDS = "meta"
"""The column of a row's fields, a table; a column "meta.year" of a CSV is one field."""


@contextmanager
def opened(stream: BinaryIO) -> Iterator[tuple[TextIOWrapper, DocumentProblem | None]]:
    """The stream as text with its line ends, and a problem if its encoding is in doubt; the stream stays open."""
    encoding, problem = encoding_of(stream)
    text = TextIOWrapper(stream, encoding, "replace", newline="")
    try:
        yield text, problem
    finally:
        text.detach()


def lines(text: TextIOWrapper) -> Iterator[str | None]:
    """Each line with its end; None for one above MAX_LINE, of which no more than that is ever held."""
    while line := text.readline(MAX_LINE):
        whole = len(line) < MAX_LINE or line.endswith("\n")
        while not whole:
            rest = text.readline(MAX_LINE)
            line, whole = "", len(rest) < MAX_LINE or rest.endswith("\n")
        yield line or None


def document(
    row: Mapping[str, Any], beside: Iterable[tuple[str, str]] = (), all_of_it: Iterable[tuple[str, str]] = ()
) -> Document | str:
    """The document in a row, with the text of the first of the columns TEXT that is not empty; or the row's fault.

    `beside` are (column, value) to be said below its text. Where the row has no column of a text, `all_of_it` is what
    it says.
    """
    words = next((value for name in TEXT if isinstance(value := row.get(name), str) and value.strip()), "")
    whole = "" if any(name in row for name in TEXT) else lines_of(all_of_it)
    if not words and not whole:
        return f"has no text in {' or '.join(TEXT)}"
    own = row.get("id", row.get("_id"))
    if isinstance(own, bool) or not isinstance(own, str | int | None):
        return "has an id that is neither text nor a whole number"
    id = str(own).strip() if own is not None else ""
    title, url = _plain(row.get("title")), _plain(row.get("url")) or None
    more = (lines_of(beside) if words else whole,)
    stable = id or _fingerprint(title, words, url or "", *filter(None, more))
    return Document(stable, title, (*blocks(words), *map(Block, filter(None, more))), url, id or None, fields(row)[0])


def fields(row: Mapping[str, Any]) -> tuple[Meta, list[str]]:
    """The row's fields, and why some of them cannot be kept."""
    inputs = row.get(FIELDS)
    table = dict(inputs) if isinstance(inputs, dict) else {}
    for name, cell in row.items():
        if name.startswith(f"{FIELDS}.") and isinstance(cell, str) and cell.strip():
            table[name.removeprefix(f"{FIELDS}.")] = plain(cell)
    return usable(table) if table else (NO_META, [])


def reservations(row: Mapping[str, Any], where: str) -> Iterator[DocumentProblem]:
    """The reasons why some of the row's fields are not kept."""
    yield from (DocumentProblem(f"{where}: {fault}; it is left out", skipped=False) for fault in fields(row)[1])


def lines_of(pairs: Iterable[tuple[str, str]]) -> str:
    """Lines of "column: value", without those that have no value."""
    return "\n".join(f"{paragraph(name)}: {line}" for name, value in pairs if (line := paragraph(value)))


def _plain(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _fingerprint(*parts: str) -> str:
    """In place of an id, so that a row keeps its identity when others are inserted before it."""
    return "#" + blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """(key path, value) of each text, number and truth value of a JSON value, such as ("hosts.2.name", "db1")."""
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for key, below in inside:
            yield from leaves(below, f"{path}.{key}"[-LONGEST_PATH:] if path else str(key)[-LONGEST_PATH:])
    elif value is not None:
        yield path, value if isinstance(value, str) else dumps(value)
