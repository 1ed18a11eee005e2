"""Excel workbooks: the cells of each sheet as rows of tables, with the values that were last computed."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time
from itertools import groupby, pairwise, zip_longest
from pathlib import PurePath
from typing import IO, Any, BinaryIO
from warnings import catch_warnings, simplefilter

from lxml.etree import iterparse
from openpyxl import load_workbook
from openpyxl.utils import get_column_letter, range_boundaries
from openpyxl.utils.exceptions import InvalidFileException

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._archives import DAMAGE, refuse_a_bomb
from surefoot.documents.loaders._grid import LONGEST_REPEATED
from surefoot.documents.loaders._office import properties
from surefoot.text.blocks import paragraph, table

_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_UNCOMPUTED = "(not computed)"
_SPANNED = 50
"""Columns of a merged cell in which it is said."""
_ROWS = 40
"""Rows of a block; each block begins with the header again."""


class XlsxLoader:
    """Reads Excel workbooks, with the names of sheets as paths and places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document; a hidden sheet is a problem, and is not read. A merged cell is said
        in each row and column; a formula that no program has computed yet is called so, and a problem."""
        blocks: list[Block] = []
        hidden: list[str] = []
        formulas: list[str] = []
        try:
            refuse_a_bomb(stream)
            title, meta = properties(stream)
            with catch_warnings():
                simplefilter("ignore")  # it warns of what it does not keep, such as the looks of a cell
                book = load_workbook(stream, read_only=True, data_only=True, keep_links=False)
                for sheet in book.worksheets:
                    if sheet.sheet_state == "visible":
                        sheet.reset_dimensions()  # a file may declare any, and cells outside of them
                        with book._archive.open(sheet._worksheet_path) as source:
                            merged, uncomputed = _merged_and_uncomputed(source)
                        blocks += _blocks(sheet.title, _filled(sheet.iter_rows(), merged, uncomputed))
                        formulas += (f"{sheet.title}!{cell}" for cell in uncomputed)
                    else:
                        hidden.append(sheet.title)
                book.close()
        except (InvalidFileException, *DAMAGE) as error:
            raise Unreadable(
                f"is a damaged or locked Excel file ({type(error).__name__}); save it again without a password"
            ) from error
        if hidden:
            yield DocumentProblem(f"sheet {', '.join(hidden)[:200]} is hidden, and was not read")
        if formulas:
            why = f"{len(formulas)} formulas have no value yet, such as {formulas[0][:200]}"
            yield DocumentProblem(f"{why}; open the file once, and save it", skipped=False)
        if not blocks:
            raise Unreadable("holds no text; if it has formulas, open it in Excel or LibreOffice once, and save it")
        yield Document("", title or PurePath(name).stem, tuple(blocks), meta=meta)


def _merged_and_uncomputed(source: IO[bytes]) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """By the first cell of each range that is merged, its last column and row; and the cells of formulas without a
    value."""
    merged, uncomputed = dict[str, tuple[int, int]](), list[str]()
    for _, node in iterparse(source, tag=(f"{_SHEET}row", f"{_SHEET}mergeCell"), resolve_entities=False):
        if span := node.get("ref"):
            merged[span.partition(":")[0]] = range_boundaries(span)[2:]
        for cell in node.iterfind(f"{_SHEET}c[{_SHEET}f]"):
            if not cell.findtext(f"{_SHEET}v") and cell.get("t") != "str":  # an empty text is a value
                uncomputed.append(cell.get("r"))
        node.clear()
    return merged, uncomputed


def _filled(
    rows: Iterable[Sequence[Any]], merged: Mapping[str, tuple[int, int]], uncomputed: Collection[str]
) -> Iterator[list[str]]:
    """The texts of each row, with those of merged cells and of formulas without a value where it says anything."""
    spanning: dict[int, tuple[str, int]] = {}
    formulas = frozenset(uncomputed)
    for number, cells in enumerate(rows, start=1):
        row = [_text(cell) for cell in cells]
        for n, text in enumerate(row):
            name = f"{get_column_letter(n + 1)}{number}"
            if name in merged:
                right, bottom = merged[name]
                beside = any(row[:n] + row[right:])
                spanning |= dict.fromkeys(range(n, min(right, n + _SPANNED) if beside else n + 1), (text, bottom))
            elif name in formulas and any(row):
                row[n] = _UNCOMPUTED
        last_column = max((n for n, (_, last) in spanning.items() if number <= last), default=0)
        row += [""] * (last_column + 1 - len(row)) * any(row)
        for n, (text, last) in spanning.items():
            if number <= last and n < len(row) and not row[n] and any(row) and len(text) <= LONGEST_REPEATED:
                row[n] = text
        yield row


def _blocks(sheet: str, rows: Iterable[list[str]]) -> Iterator[Block]:
    """The tables of a sheet, which empty rows part. The first row of a table is its header; lone cells above are
    text."""
    for filled, together in groupby(rows, any):
        header: list[str] | None = None
        held: list[list[str]] = []
        for row in together if filled else ():
            if header is None and sum(map(bool, row)) == 1:
                yield Block(paragraph(" ".join(row)), "paragraph", (sheet,), sheet)
            elif header is None:
                header = row
            elif not held and _is_below(header, row):
                header = [" ".join(dict.fromkeys(filter(None, names))) for names in zip_longest(header, row)]
            else:
                held.append(row)
                if len(held) == _ROWS:
                    yield _table(sheet, header, held)
                    held = []
        if header and held:
            yield _table(sheet, header, held)
        elif header and not held:
            yield _table(sheet, [], [header])


def _is_below(header: Sequence[str], row: Sequence[str]) -> bool:
    """True if a row names the columns of a header that has one name for several, and none or the same for another."""
    twice = any(name and name == following for name, following in pairwise(header))
    return twice and any(below and name in ("", below) for name, below in zip(header, row, strict=False))


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
