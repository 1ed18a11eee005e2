"""Shared by the loaders of tables: lines of bounded length, and the columns that make a document."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from io import TextIOWrapper
from itertools import chain
from typing import Any, BinaryIO

from surefoot.documents.loaders import Document, DocumentProblem
from surefoot.documents.loaders.text import encoding_of
from surefoot.text.blocks import blocks, paragraph, table
from surefoot.types.metadata import plain, usable

MAX_LINE = 10_000_000
"""Characters of a line, at most; a longer one is a bad row, so that a damaged file does not fill the memory."""

TEXT = ("text", "contents", "content", "body")
"""Names of a text column; the first that is not empty is taken."""

NAMING = ("id", "_id", "title", "url")
"""Columns that name a row, and are no part of what it says where it has a text."""

FIELDS = "meta"
"""The column of a row's fields, a table; a column "meta.year" of a CSV is one field."""

FAQ = ("question", "answer")
"""Columns of which the one is the heading and the other the text, where a row has no text column; likewise the two of
a row that has no more, and of which the first ends with a question mark."""

LONGEST_CELL, MOST_CELLS = 100, 12
"""Characters of a cell, and cells, of a row that is a table; a longer one is lines."""

Pairs = Iterable[tuple[str, str]]
"""(column, value) of each cell."""


@contextmanager
def opened(stream: BinaryIO) -> Iterator[tuple[TextIOWrapper, list[DocumentProblem]]]:
    """The stream as text with its line ends, and a problem if its encoding is in doubt; the stream stays open."""
    encoding, problems = encoding_of(stream)
    text = TextIOWrapper(stream, encoding, "replace", newline="")
    try:
        yield text, problems
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


def text_column(row: Mapping[str, Any]) -> str | None:
    """The name of the column that holds the row's text."""
    return next((name for name in TEXT if isinstance(value := row.get(name), str) and value.strip()), None)


def items(
    row: Mapping[str, Any] | str, where: str, title: str = "", beside: Pairs = (), whole: Pairs = ()
) -> Iterator[Document | DocumentProblem]:
    """The document in a row, with the text of its text column, and the reasons why some of its fields are not kept.

    A row that is text is a fault of the one at that place. `title` is that of a row without one. `beside` is said below
    the text; where the row has no text column, `whole` is what it says.
    """
    fault = row if isinstance(row, str) else ""
    row = {} if isinstance(row, str) else row
    name, own = text_column(row), row.get("id", row.get("_id"))
    words, question = row[name] if name else "", ""
    pairs = [*(beside if name else () if any(column in row for column in TEXT) else whole)]
    if faq := [] if name else _faq(pairs):
        question, words = (paragraph(cell) for _, cell in faq)
        pairs = [pair for pair in pairs if pair not in faq]
    more = lines_of(pairs) if words else row_of(pairs)
    if not words and not more:
        fault = fault or f"has no text in {' or '.join(TEXT)}"
    elif isinstance(own, bool) or not isinstance(own, str | int | None):
        fault = "has an id that is neither text nor a whole number"
    if fault:
        yield DocumentProblem(f"{where} {fault}")
    meta, faults = usable(_fields(row))
    if not fault:
        id = str(own).strip() if own is not None else ""
        own_title, url = _plain(row.get("title")), _plain(row.get("url"))
        key = id or _fingerprint(*filter(None, [own_title, question]), words, url, *filter(None, [more]))
        body = (*blocks(words), *blocks(more))
        if question:
            body = tuple(replace(block, path=(question,)) for block in body)
        yield Document(key, own_title or title, body, url or None, id or None, meta)
    yield from (DocumentProblem(f"{where}: {each}; it is left out", skipped=False) for each in faults)


def _faq(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The cells of the question and the answer, in this order; empty: the row has none."""
    named = {name.lower(): (name, cell) for name, cell in pairs}
    if named.keys() >= {*FAQ}:
        return [named[column] for column in FAQ]
    return [*pairs] if len(pairs) == 2 and pairs[0][1].rstrip().endswith("?") else []


def _fields(row: Mapping[str, Any]) -> dict[str, Any]:
    table = row.get(FIELDS)
    named = {name.removeprefix(f"{FIELDS}."): cell for name, cell in row.items() if name.startswith(f"{FIELDS}.")}
    cells = {name: plain(cell) for name, cell in named.items() if isinstance(cell, str) and cell.strip()}
    return (table if isinstance(table, dict) else {}) | cells


def lines_of(pairs: Pairs) -> str:
    """Lines of "column: value", without those that have no value."""
    return "\n".join(f"{paragraph(name)}: {line}" for name, value in pairs if (line := paragraph(value)))


def row_of(pairs: Pairs) -> str:
    """A table of one row where its cells are short, so that it reads as one of a larger table; else `lines_of`."""
    cells = [(paragraph(name), line) for name, value in pairs if (line := paragraph(value))]
    short = len(cells) > 1 and max(map(len, chain(*cells))) <= LONGEST_CELL and len(cells) <= MOST_CELLS
    return table([[line for _, line in cells]], [name for name, _ in cells]) if short else lines_of(cells)


def _plain(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _fingerprint(*parts: str) -> str:
    """In place of an id, so that a row keeps its identity when others are inserted before it."""
    return "#" + blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
