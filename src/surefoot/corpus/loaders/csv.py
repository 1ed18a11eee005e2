"""Tables with a header line, their columns separated by comma, semicolon, tab or bar: one document a row."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import BinaryIO, cast

from surefoot.corpus.loaders import Document, DocumentProblem, Unreadable
from surefoot.corpus.loaders._rows import MAX_LINE, TEXT, document, lines, opened

_Row = tuple[int, list[str] | str]
"""The number of a row's last line, and its cells or its fault."""

_LOOKED_AT = 100


class CsvLoader:
    """Reads tables, a document a row."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """A row's text is in the column called so, else in the one with the longest cells; a bad row is a problem."""
        with opened(stream) as (text, problem):
            if problem:
                yield problem
            rows = _rows(lines(text))
            header = next(rows, (0, ""))[1]
            if isinstance(header, str):
                raise Unreadable("has no header line that names its columns")
            names = [cell.strip().lower() for cell in header]
            first = list(islice(rows, _LOOKED_AT))
            columns = [name for name in TEXT if name in names] or [_longest(names, first)]
            for number, cells in chain(first, rows):
                row = cells if isinstance(cells, str) else document(dict(zip(names, cells, strict=False)), columns)
                yield DocumentProblem(f"the row that ends in line {number} {row}") if isinstance(row, str) else row


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


def _longest(names: Sequence[str], rows: Sequence[_Row]) -> str:
    lengths = dict.fromkeys(names, 0)
    for _, cells in rows:
        for name, cell in zip(names, [] if isinstance(cells, str) else cells, strict=False):
            lengths[name] += len(cell)
    return max(names, key=lengths.__getitem__)
