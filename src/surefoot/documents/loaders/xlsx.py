"""Excel workbooks: the cells of each sheet as rows of tables, with the values that were last computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time
from itertools import groupby
from pathlib import PurePath
from typing import Any, BinaryIO
from warnings import catch_warnings, simplefilter

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._archives import DAMAGE, refuse_a_bomb
from surefoot.text.blocks import paragraph, table

_ROWS = 40
"""Rows of a block; each block begins with the header again."""


class XlsxLoader:
    """Reads Excel workbooks, with the names of sheets as paths and places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document; a hidden sheet is a problem, and is not read.

        A formula that no program has computed yet has no value.
        """
        blocks: list[Block] = []
        hidden = []
        try:
            refuse_a_bomb(stream)
            with catch_warnings():
                simplefilter("ignore")  # it warns of what it does not keep, such as the looks of a cell
                book = load_workbook(stream, read_only=True, data_only=True, keep_links=False)
                for sheet in book.worksheets:
                    if sheet.sheet_state == "visible":
                        sheet.reset_dimensions()  # a file may declare any, and cells outside of them
                        blocks += _blocks(sheet.title, sheet.iter_rows())
                    else:
                        hidden.append(sheet.title)
                title = (book.properties.title or "").strip()
                book.close()
        except (InvalidFileException, *DAMAGE) as error:
            raise Unreadable(
                f"is a damaged or locked Excel file ({type(error).__name__}); save it again without a password"
            ) from error
        if hidden:
            yield DocumentProblem(f"sheet {', '.join(hidden)[:200]} is hidden, and was not read")
        if not blocks:
            raise Unreadable("holds no text; if it has formulas, open it in Excel or LibreOffice once, and save it")
        yield Document("", title or PurePath(name).stem, tuple(blocks))


def _blocks(sheet: str, rows: Iterable[Sequence[Any]]) -> Iterator[Block]:
    """The tables of a sheet, which empty rows part. The first row of a table is its header; lone cells above are
    text."""
    written = ([_text(cell) for cell in row] for row in rows)
    for filled, together in groupby(written, any):
        header: list[str] | None = None
        held: list[list[str]] = []
        for row in together if filled else ():
            if header is None and sum(map(bool, row)) == 1:
                yield Block(paragraph(" ".join(row)), "paragraph", (sheet,), sheet)
            elif header is None:
                header = row
            else:
                held.append(row)
                if len(held) == _ROWS:
                    yield _table(sheet, header, held)
                    held = []
        if header and held:
            yield _table(sheet, header, held)
        elif header and not held:
            yield _table(sheet, [], [header])


def _table(sheet: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Block:
    """Without the columns that are empty in all of them."""
    width = max(map(len, [header, *rows]))
    full = [[*row, *[""] * (width - len(row))] for row in ([header] if header else []) + [*rows]]
    used = [column for column in range(width) if any(row[column] for row in full)]
    stored = [[row[column] for column in used] for row in full]
    return Block(table(stored[1:], stored[0]) if header else table(stored), "table", (sheet,), sheet)


def _text(cell: Any) -> str:
    """A cell's value as a reader sees it, but for the digits of numbers, which are all kept."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        return str(value.date() if value.time() == time() else value)
    if isinstance(value, int | float) and "%" in (cell.number_format or ""):
        return f"{value * 100:.10g}%"
    return f"{value:.15g}" if isinstance(value, float) else paragraph(str(value))
