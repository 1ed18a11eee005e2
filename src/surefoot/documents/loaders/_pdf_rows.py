"""The reading order of a page: what stands side by side is a line, the columns of a page, or a row of a table."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from statistics import median

from surefoot.documents.loaders._pdf_lines import WIDE_GAP, Line, joined
from surefoot.text.blocks import table

PROSE = 20
"""Letters of the median line from which a column holds prose, and not the cells of a table."""
FEWEST_LINES, FEWEST_CELLS = 4, 6
"""Lines on both sides of a gap, and cells, that make columns and a table."""
_LONGEST_CELL, _LONGEST_TABLE = 20, 200
"""Lines of cells before the next one in their row, and rows of a table, that are looked at."""

LEADERS = re.compile(r"(?:\s?[.·…]){4,}\s*")
"""Between a heading and its page, in a table of contents."""

Row = Sequence[Line]
Spans = list[tuple[float, float]]
"""The left and right ends of columns."""


def arranged(page: Sequence[Line]) -> Iterator[Line]:
    """The lines of a page, those of columns one column after the other, and each table as one."""
    rows: list[Line] = []
    for line in page:
        start = _same_row(rows, line)
        rows[start:] = [_row([piece for part in (*rows[start:], line) for piece in part.parts])]
    return _ordered(rows)


def _same_row(rows: Sequence[Line], line: Line) -> int:
    """From which row on all are in one with the next line: it is drawn beside the first, and to the right of all."""
    for n in range(len(rows) - 1, max(-1, len(rows) - 1 - _LONGEST_CELL), -1):
        row = rows[n]
        if line.left < row.right + (-1 if n == len(rows) - 1 else WIDE_GAP * line.size):
            break
        if abs(row.y - line.y) < 0.4 * min(row.size, line.size):
            return n if all(below.left >= row.left - row.size for below in rows[n:]) else len(rows)
    return len(rows)


def _row(pieces: Iterable[Line]) -> Line:
    """Pieces as one line; those that no wide gap parts, or that are the mark of an item and its text, are one."""
    found: list[Line] = []
    for piece in pieces:
        before = found[-1] if found else piece
        beside = found and abs(before.y - piece.y) < 0.4 * min(before.size, piece.size)
        if beside and (
            piece.left - before.right <= WIDE_GAP * piece.size or (len(found) == 1 and _is_mark(before, piece))
        ):
            found[-1] = replace(joined((before, piece)), pieces=())
        else:
            found.append(piece)
    return joined(found)


def _is_mark(mark: Line, text: Line) -> bool:
    """True if an item of a list stands behind its mark, or a line of code behind its number."""
    is_sign = not any(map(str.isalnum, mark.text))
    return is_sign or (text.mono and mark.text.isdecimal()) or (len(mark.text) < 4 and mark.text.endswith((".", ")")))


def _ordered(lines: Sequence[Line]) -> Iterator[Line]:
    at = 0
    while at < len(lines):
        run = [*_run(islice(lines, at, at + _LONGEST_TABLE))] if len(lines[at].pieces) > 1 else []
        rows, spans = _aligned(run)
        if _is_prose(rows, spans):
            height = rows[0][0].y - rows[-1][0].y + 3 * rows[0][0].size
            for n, (left, right) in enumerate(spans):
                column = [joined(part) for row in rows if (part := [p for p in row if left <= p.left <= right])]
                yield from (replace(line, y=line.y - n * height) for line in _ordered(column))  # below, not beside
        else:
            rows, spans = _aligned(run, is_table=True)
            rows = rows if _are_cells(rows) else []
            yield _tabular(rows, spans) if rows else lines[at]
        at += max(1, len(rows))


def _run(lines: Iterable[Line]) -> Iterator[Row]:
    """The pieces of each line, as far down as the lines stand close together."""
    before: Line | None = None
    for line in lines:
        if (before and not _near(before, line)) or line.mono or LEADERS.search(line.text):
            return
        yield line.parts
        before = line


def _near(before: Line, line: Line) -> bool:
    """True if a line stands close below another one; of high rows, which begin alike, not quite as close."""
    alike = min(len(before.pieces), len(line.pieces)) > 1 and abs(before.left - line.left) < 0.1 * line.size
    return -0.1 <= min(piece.y for piece in before.parts) - line.y < (5 if alike else 2.5) * before.size


def _aligned(run: Sequence[Row], is_table: bool = False) -> tuple[Sequence[Row], Spans]:
    """The first rows that leave the same gaps, and the columns between; of a table no row has two pieces in one."""
    spans: Spans = []
    for n, row in enumerate(run):
        wider = _spans(spans, row)
        alone = len(row) < 2 and row[0].left <= run[0][0].left + row[0].size
        if len(wider) < 2 or (is_table and (alone or any(_collides(each, wider) for each in run[: n + 1]))):
            return run[:n], spans
        spans = wider
    return run, spans


def _is_prose(rows: Sequence[Row], spans: Spans) -> bool:
    lengths = [[len(p.text) for row in rows for p in row if left <= p.left <= right] for left, right in spans]
    return sum(len(row) > 1 for row in rows) >= FEWEST_LINES and all(median(each) >= PROSE for each in lengths)


def _are_cells(rows: Sequence[Row]) -> bool:
    """True if rows are many enough to be a table, or have cells of several lines that are drawn cell by cell."""
    whole = [row for row in rows if len(row) > 1]
    enough = sum(map(len, whole)) >= FEWEST_CELLS and len(rows) <= 2 * len(whole)
    return (enough and len(whole) > 1) or any(row[0].y - piece.y > 0.8 * row[0].size for row in whole for piece in row)


def _collides(row: Row, spans: Spans) -> bool:
    """True if pieces side by side are in one column."""
    return len({(_column(piece, spans), round(piece.y)) for piece in row}) < len(row)


def _spans(spans: Spans, row: Row) -> Spans:
    """The columns, such that each piece of a row, too, lies in one."""
    found: Spans = []
    for left, right in sorted([*spans, *((piece.left, max(piece.left, piece.right)) for piece in row)]):
        if found and left < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], right)
        else:
            found.append((left, right))
    return found


def _column(piece: Line, spans: Spans) -> int:
    return next(n for n, (_, right) in enumerate(spans) if piece.left <= right)


def _tabular(rows: Sequence[Row], spans: Spans) -> Line:
    """A table as one line: under its first row if that is in another font, or has fewer digits than any other. A piece
    alone goes on with the cell above it."""
    whole: list[list[Line]] = []
    for row in rows:
        whole[len(whole) - (len(row) == 1) :] = [[*(whole[-1] if len(row) == 1 else ()), *row]]
    cells = [[" ".join(p.text for p in row if _column(p, spans) == n) for n in range(len(spans))] for row in whole]
    digits = [sum(map(str.isdigit, "".join(row))) for row in cells]
    headed = len(cells) > 1 and (whole[0][0].font != whole[1][0].font or digits[0] < min(digits[1:]))
    pieces = [piece for row in rows for piece in row]
    text = table(cells[headed:], cells[0] if headed else ())
    return replace(joined(pieces), y=min(piece.y for piece in pieces), table=text)
