"""Tables with a header line, their columns separated by comma, semicolon, tab or bar: one document a row."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import PurePath
from typing import Any, BinaryIO, cast

from surefoot.documents.loaders import Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._rows import FIELDS, MAX_LINE, NAMING, Pairs, items, lines, opened, text_column
from surefoot.text.json_values import parsed


class CsvLoader:
    """Reads tables, a document a row."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """A row says the text in the column called so, and below it each other column as "column: value"; without such
        a column it says all of them so, under the file's name. A bad row is a problem."""
        with opened(stream) as (text, problems):
            yield from problems
            rows = _rows(lines(text))
            header = next(rows, (0, ""))[1]
            if isinstance(header, str):
                raise Unreadable("has no header line that names its columns")
            for number, cells in rows:
                where = f"the row that ends in line {number}"
                if isinstance(cells, str):
                    yield DocumentProblem(f"{where} {cells}")
                else:
                    yield from _document(header, cells, where, PurePath(name).stem)


def _document(
    header: Sequence[str], cells: Sequence[str], where: str, stem: str
) -> Iterator[Document | DocumentProblem]:
    names = [cell.strip().lower() for cell in header]
    row: dict[str, Any] = dict(zip(names, cells, strict=False))
    with suppress(ValueError):  # fields as the table that their cell spells
        if isinstance(table := parsed(row.get(FIELDS, "")), dict):
            row[FIELDS] = table
    taken = text_column(row)
    whole: dict[int, tuple[str, str]] = {}
    for n, cell in enumerate(cells):
        label = header[n].strip() if n < len(header) else ""
        if n >= len(names) or not (names[n].startswith(f"{FIELDS}.") or isinstance(row[names[n]], dict)):
            whole[n] = label or f"column {n + 1}", cell
    beside: Pairs = (pair for n, pair in whole.items() if n >= len(names) or names[n] not in (*NAMING, taken))
    yield from items(row, where, "" if taken else stem, beside, whole.values())


def _rows(lines: Iterator[str | None]) -> Iterator[tuple[int, list[str] | str]]:
    """The number of each row's last line, and its cells or its fault."""
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
