"""JSON lines: one object a line, `{"id": …, "title": …, "text": …, "url": …, "meta": {…}}`; only the text is required.
An object without any column of a text says all that it holds."""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONDecodeError
from typing import Any, BinaryIO

from surefoot.documents.loaders import Document, DocumentProblem
from surefoot.documents.loaders._rows import FIELDS, MAX_LINE, NAMING, document, leaves, lines, opened, reservations
from surefoot.text.json_values import parsed


class JsonlLoader:
    """Reads JSON lines, a document a row."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """One document a row; a bad row becomes a Problem that names its line, and the rest goes on."""
        with opened(stream) as (text, problem):
            if problem:
                yield problem
            for number, line in enumerate(lines(text), start=1):
                if line is None or line.strip():
                    row = _row(line)
                    found = row if isinstance(row, str) else row_of(row)
                    yield DocumentProblem(f"line {number} {found}") if isinstance(found, str) else found
                    if not isinstance(row, str):
                        yield from reservations(row, f"line {number}")


def _row(line: str | None) -> dict[str, Any] | str:
    if line is None:
        return f"is longer than {MAX_LINE:,} characters"
    try:
        row = parsed(line)
    except JSONDecodeError as error:
        return f"is not JSON that can be read: {error.msg}"
    return row if isinstance(row, dict) else "is not a JSON object"


def row_of(row: dict[str, Any]) -> Document | str:
    """The document of a JSON object, or its fault: its text alone where it has one, else all its key paths."""
    words = {key: value for key, value in row.items() if key != FIELDS or not isinstance(value, dict)}
    return document(row, all_of_it=() if words.keys() <= {*NAMING} else leaves(words))
