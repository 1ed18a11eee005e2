"""JSON: an object a line or a list of objects is a table, `{"id": …, "title": …, "text": …, "url": …, "meta": {…}}`, of
which only the text is required; any other value is lines of "key path: value" under its outermost keys."""

from collections.abc import Iterator
from dataclasses import replace
from json import JSONDecodeError, dumps
from pathlib import PurePath
from typing import Any, BinaryIO

from surefoot.documents.loaders import STREAMED, Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._rows import FIELDS, MAX_LINE, NAMING, items, lines, lines_of, opened
from surefoot.documents.loaders.text import decoded
from surefoot.text.blocks import blocks
from surefoot.text.json_values import parsed

_LONGEST_PATH = 300
"""Characters of a key path, at most: the deepest keys say what a value is, and each value repeats its path."""


class JsonLoader:
    """Reads JSON and JSON lines, with key paths instead of sentences."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """A document for each object of a list and for each line, else one for the file; places are JSON pointers like
        "/hosts". A bad row becomes a problem that names it, and the rest goes on."""
        path = PurePath(name)
        yield from _lines(stream) if path.suffix.lower() in STREAMED else _value(stream, path.stem)


def _lines(stream: BinaryIO) -> Iterator[Document | DocumentProblem]:
    with opened(stream) as (text, problems):
        yield from problems
        for number, line in enumerate(lines(text), start=1):
            if line is None or line.strip():
                yield from _row(_object(line), f"line {number}")


def _object(line: str | None) -> dict[str, Any] | str:
    """The object on a line, or the line's fault."""
    if line is None:
        return f"is longer than {MAX_LINE:,} characters"
    try:
        row = parsed(line)
    except JSONDecodeError as error:
        return f"is not JSON that can be read: {error.msg}"
    return row if isinstance(row, dict) else "is not a JSON object"


def _row(row: dict[str, Any] | str, where: str, title: str = "") -> Iterator[Document | DocumentProblem]:
    """The document of an object: its text alone where it has one, else all its key paths."""
    pairs = () if isinstance(row, str) else row.items()
    words = {key: value for key, value in pairs if key != FIELDS or not isinstance(value, dict)}
    yield from items(row, where, title, whole=() if words.keys() <= {*NAMING} else _leaves(words))


def _value(stream: BinaryIO, title: str) -> Iterator[Document | DocumentProblem]:
    text, problems = decoded(stream)
    yield from problems
    try:
        value = parsed(text)
    except JSONDecodeError as error:
        where = f"line {error.lineno}: " if error.pos else ""
        raise Unreadable(f"is not JSON that can be read ({where}{error.msg}); mend it, or save it as .txt") from error
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        for number, row in enumerate(value, start=1):
            yield from _row(row, f"object {number} of the list", title)
    elif found := tuple(_blocks(value)):
        yield Document("", title, found)
    else:
        raise Unreadable("holds no text")


def _blocks(value: object) -> Iterator[Block]:
    """A block for each outermost key that holds more than one value; the single values stand together."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else [value])
    single: list[tuple[str, str]] = []
    for key, below in pairs:
        path = str(key)[:_LONGEST_PATH]
        place = "/" + path.replace("~", "~0").replace("/", "~1")
        if isinstance(below, dict | list):
            yield from (
                Block(line, "paragraph", (path,), place) for line in lines_of(_leaves(below, path)).splitlines()
            )
        elif isinstance(below, str) and "\n" in below:
            yield from (replace(block, path=(path,), place=place) for block in blocks(below))
        else:
            single += _leaves(below, path)
    if lines := lines_of(single):
        yield Block(lines)


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """(key path, value) of each text, number and truth value of a JSON value, such as ("hosts.2.name", "db1")."""
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for key, below in inside:
            yield from _leaves(below, f"{path}.{key}"[-_LONGEST_PATH:] if path else str(key)[-_LONGEST_PATH:])
    elif value is not None:
        yield path, value if isinstance(value, str) else dumps(value)
