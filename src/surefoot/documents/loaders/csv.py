"""Tables with a header line, their columns separated by comma, semicolon, tab or bar: one document a row."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import PurePath
from typing import Any, BinaryIO, cast

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._rows import FIELDS, MAX_LINE, NAMING, TEXT, Pairs, items, lines, opened, text_column
from surefoot.text.blocks import paragraph
from surefoot.text.json_values import parsed

_AHEAD = 20
"""Rows from which the header and what parts the columns are told."""


class CsvLoader:
    """Reads tables, a document a row."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """A row says the text in the column called so, and below it each other column as "column: value"; without such
        a column it is a table of one row, or all of them so, under the file's name and the titles above the header."""
        with opened(stream) as (text, problems):
            yield from problems
            rows = _rows(lines(text))
            first = [*islice(rows, _AHEAD)]
            at = _header([cells for _, cells in first])
            header = first[at][1] if first else ""
            if isinstance(header, str):
                raise Unreadable("has no header line that names its columns")
            above = [paragraph(" ".join(cells)) for _, cells in first[:at] if not isinstance(cells, str)]
            title = " › ".join([PurePath(name).stem, *above])
            if above:
                yield Document("#", title, (Block("\n\n".join(above)),))
            for number, cells in chain(first[at + 1 :], rows):
                where = f"the row that ends in line {number}"
                if isinstance(cells, str):
                    yield DocumentProblem(f"{where} {cells}")
                else:
                    yield from _document(header, cells, where, title)


def _extent(cells: Sequence[str]) -> int:
    """The number of its cells up to the last one that is not empty."""
    return max((n for n, cell in enumerate(cells, start=1) if cell.strip()), default=0)


def _header(rows: Sequence[Sequence[str] | str]) -> int:
    """The number of the row that names the columns: the first that is as wide as most, below titles. A first row that
    names a text is none, nor one of several cells above a number: the names of rows have none of their own."""
    extents = [0 if isinstance(row, str) else _extent(row) for row in rows]
    seen = Counter(extents)
    usual = max(seen, key=lambda extent: (seen[extent], extent), default=0)
    at = next((n for n, extent in enumerate(extents) if extent >= usual), 0)
    numbers = any(cell.strip()[:1].isdigit() for row in rows[at : at + 1] for cell in row)
    names = any(cell.strip().lower() in TEXT for row in rows[:1] for cell in row)
    return 0 if names or (numbers and extents[0] > 1) else at


def _regular(top: Sequence[str], mark: str) -> tuple[int, int]:
    """How many of a table's first rows are as wide as most, and how wide, if this parts their columns."""
    with suppress(csv.Error):
        seen = Counter(_extent(row) for row in csv.reader(top, delimiter=mark))
        return max(((count, extent) for extent, count in seen.items() if extent > 1), default=(0, 0))
    return 0, 0


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
    top = [*islice(lines, _AHEAD)]
    delimiter = max(",;\t|", key=lambda mark: _regular([line for line in top if line], mark))
    # None stands for a line that is too long: the reader takes it for an error of its row and goes on.
    reader = csv.reader(cast(Iterable[str], chain(top, lines)), delimiter=delimiter)
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
