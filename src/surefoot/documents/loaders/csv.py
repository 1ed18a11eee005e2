"""Tables with a header line, their columns separated by comma, semicolon, tab or bar: one document a row."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import PurePath
from typing import Any, BinaryIO, cast

from surefoot.documents.loaders import Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._rows import FIELDS, MAX_LINE, NAMING, TEXT, document, lines, opened, reservations
from surefoot.text.json_values import parsed

_Row = tuple[int, list[str] | str]
"""The number of a row's last line, and its cells or its fault."""


class CsvLoader:
    """Reads tables, a document a row."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """A row says the text in the column called so, and below it each other column as "column: value"; without such
        a column it says all of them so, under the file's name. A bad row is a problem."""
        with opened(stream) as (text, problem):
            if problem:
                yield problem
            rows = _rows(lines(text))
            header = next(rows, (0, ""))[1]
            if isinstance(header, str):
                raise Unreadable("has no header line that names its columns")
            names = [cell.strip().lower() for cell in header]
            for number, cells in rows:
                where = f"the row that ends in line {number}"
                row = {} if isinstance(cells, str) else _row(names, cells)
                found = cells if isinstance(cells, str) else _document(header, names, cells, row, PurePath(name).stem)
                yield DocumentProblem(f"{where} {found}") if isinstance(found, str) else found
                yield from reservations(row, where)


def _row(names: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    """The cells by column; fields as the table that their cell spells."""
    row: dict[str, Any] = dict(zip(names, cells, strict=False))
    with suppress(ValueError):
        if isinstance(table := parsed(row.get(FIELDS, "")), dict):
            row[FIELDS] = table
    return row


def _document(
    header: Sequence[str], names: Sequence[str], cells: Sequence[str], row: dict[str, Any], stem: str
) -> Document | str:
    taken = next((name for name in TEXT if row.get(name, "").strip()), None)
    labelled = {
        n: (header[n].strip() if n < len(header) and header[n].strip() else f"column {n + 1}", cell)
        for n, cell in enumerate(cells)
        if n >= len(names) or not (names[n].startswith(f"{FIELDS}.") or isinstance(row[names[n]], dict))
    }
    beside = [pair for n, pair in labelled.items() if n >= len(names) or (names[n] not in NAMING and names[n] != taken)]
    found = document(row, beside, labelled.values())
    return found if isinstance(found, str) or found.title or taken else replace(found, title=stem)


def _rows(lines: Iterator[str | None]) -> Iterator[_Row]:
    csv.field_size_limit(MAX_LINE)  # the module's own limit is 128 KiB, less than a long article
    top = next(lines, "") or ""
    delimiter = max(",;\t|", key=top.count)
    # None stands for a line that is too long: the reader takes it for an error of its row and goes on.
    reader = csv.reader(cast(Iterable[str], chain([top], lines)), delimiter=delimiter)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield reader.line_num, f"is not CSV, or has more than {MAX_LINE:,} characters"
        else:
            if any(cells):
                yield reader.line_num, cells
