"""Columns of a page and tables on it, told by the gaps that stand under each other in lines that are drawn across."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from surefoot.documents.loaders._pdf_lines import Line
from surefoot.text.blocks import table

PROSE = 20
"""Letters of the median line from which a column holds prose, and not the cells of a table."""
FEWEST_LINES, FEWEST_CELLS = 4, 6
"""Lines on both sides of a gap, and cells, that make columns and a table."""

LEADERS = re.compile(r"(?:\s?[.·…]){4,}\s*")
"""Between a heading and its page, in a table of contents."""

Row = tuple[Line, ...]


def arranged(page: Sequence[Line]) -> Iterator[Line]:
    """The lines of a page, those of columns one column after the other, and rows of tables with their cells."""
    at = 0
    while at < len(page):
        beside = page[at:] if len(page[at].pieces) > 1 else ()
        if rows := _columns(beside):
            middle, height = _gutter(rows)[0], rows[0][0].y - rows[-1][0].y + 3 * rows[0][0].size
            left = [joined(part) for row in rows if (part := tuple(p for p in row if p.left < middle))]
            right = [joined(part) for row in rows if (part := tuple(p for p in row if p.left >= middle))]
            yield from arranged(left)
            yield from (replace(line, y=line.y - height) for line in arranged(right))  # below, and not beside
        else:
            rows = _table(beside)
            yield from _with_cells(rows) if rows else [page[at]]
        at += max(1, len(rows))


def joined(pieces: Row) -> Line:
    """Pieces side by side as one line."""
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return first
    text = " ".join(piece.text for piece in pieces)
    size = max(piece.size for piece in pieces)
    return replace(first, text=text, right=last.right, size=size, hyphen=last.hyphen, pieces=pieces)


def _run(lines: Sequence[Line]) -> Iterator[Row]:
    """The pieces of each line, as far down as the lines stand close together."""
    before: Line | None = None
    for line in lines:
        apart = before is not None and not -0.1 <= before.y - line.y < 2.5 * before.size
        if apart or line.mono or _is_item(line.pieces) or LEADERS.search(line.text):
            return
        yield line.pieces or (line,)
        before = line


def _is_item(row: Row) -> bool:
    """True if a line is an item of a list behind its mark, or a line of code behind its number."""
    if len(row) != 2:
        return False
    mark, text = row
    return text.mono or not any(map(str.isalnum, mark.text)) or (len(mark.text) < 4 and mark.text.endswith((".", ")")))


def _columns(lines: Sequence[Line]) -> list[Row]:
    """The first lines if they are two columns of prose, and no table."""
    rows: list[Row] = []
    for row in _run(lines):
        left, right = _gutter([*rows, row])
        if left >= right:
            break
        rows.append(row)
    both = [row for row in rows if len(row) > 1]
    sides = [[len(row[n].text) for row in both] for n in (0, -1)]
    return rows if len(both) >= FEWEST_LINES and all(median(side) >= PROSE for side in sides) else []


def _gutter(rows: Sequence[Row]) -> tuple[float, float]:
    """Where the gap begins and ends that the first piece of the first line and the next leave in all lines."""
    left, right = rows[0][0].right, rows[0][1].left
    for piece in (piece for row in rows for piece in row):
        if piece.left < (rows[0][0].right + rows[0][1].left) / 2:
            left = max(left, piece.right)
        else:
            right = min(right, piece.left)
    return left, right


def _table(lines: Sequence[Line]) -> list[Row]:
    """The first lines if they are rows of a table: no two pieces of one stand above the same piece of another."""
    rows: list[Row] = []
    for row in _run(lines):
        if len(row) < 2 and (not rows or row[0].left <= rows[0][0].left + row[0].size):
            break
        spans = _spans([*rows, row])
        if any(len({_column(piece, spans) for piece in each}) < len(each) for each in (*rows, row)):
            break
        rows.append(row)
    whole = [row for row in rows if len(row) > 1]
    return rows if sum(map(len, whole)) >= FEWEST_CELLS and len(rows) <= 2 * len(whole) and len(whole) > 1 else []


def _spans(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """The left and right ends of columns, such that each piece lies in one."""
    found: list[tuple[float, float]] = []
    for left, right in sorted((piece.left, max(piece.left, piece.right)) for row in rows for piece in row):
        if found and left < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], right)
        else:
            found.append((left, right))
    return found


def _column(piece: Line, spans: Sequence[tuple[float, float]]) -> int:
    return next(n for n, (_, right) in enumerate(spans) if piece.left <= right)


def _with_cells(rows: Sequence[Row]) -> Iterator[Line]:
    """Each row as a line with a cell for each column; a piece alone goes on with the cell above it."""
    spans = _spans(rows)
    held: Line | None = None
    for row in rows:
        texts = {_column(piece, spans): piece.text for piece in row}
        if held and len(row) == 1:
            cells = tuple(f"{cell} {texts.get(n, '')}".strip() for n, cell in enumerate(held.cells))
            held = replace(held, text=f"{held.text} {row[0].text}", y=row[0].y, cells=cells)
            continue
        if held:
            yield held
        held = replace(joined(row), cells=tuple(texts.get(n, "") for n in range(len(spans))))
    if held:
        yield held


def tabular(rows: Sequence[Line]) -> str:
    """Rows as a table, under the first one if that is in another font, or has fewer digits than any other."""
    digits = [sum(map(str.isdigit, "".join(row.cells))) for row in rows]
    headed = len(rows) > 1 and (rows[0].font != rows[1].font or digits[0] < min(digits[1:]))
    return table([row.cells for row in rows[headed:]], rows[0].cells if headed else ())
