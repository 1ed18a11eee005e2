"""The reading order of a page: the pieces of its lines become rows, columns one after the other, and tables."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from surefoot.documents.loaders._pdf_lines import WIDE_GAP, Line, joined
from surefoot.text.blocks import table

_PROSE = 20
"""Letters of the median row from which a column holds prose, and not the cells of a table."""
_FEWEST_ROWS, _FEWEST_CELLS = 4, 6
"""Rows on both sides of a gap, and cells, that make columns and a table."""
_LONGEST = 400
"""Rows of columns or of a table that are looked at."""
_LONGEST_CELL = 20
"""Lines of cells before the next one in their row that are looked at."""
_NARROW = 0.6
"""Of the width of the text: what is wider alone is no line of a column."""
LEADERS = re.compile(r"(?:\s?[.·…]){4,}\s*")
"""Between a heading and its page, in a table of contents."""

Row = Sequence[Line]
"""Pieces side by side, from left to right."""
Spans = list[tuple[float, float]]
"""The left and right ends of columns."""


def rows(pieces: Sequence[Line]) -> list[Row]:
    """What stands side by side, in the order in which it is drawn; pieces that no wide gap parts, or that are the mark
    of an item and its text, are one."""
    found: list[list[Line]] = []
    for piece in pieces:
        row = _beside(found, piece)
        if row is None:
            found.append([piece])
        else:
            row.append(piece)
    return [_row(row) for row in found]


def _beside(found: Sequence[list[Line]], piece: Line) -> list[Line] | None:
    """The row that the next piece goes on with: it is drawn to the right of that and of all since."""
    for back, row in enumerate(reversed(found[-_LONGEST_CELL:]), start=1):
        if piece.left < row[-1].right + (WIDE_GAP * piece.size if back > 1 else -1):
            return None
        if abs(row[0].y - piece.y) < 0.4 * min(row[0].size, piece.size):
            return row if all(below[0].left >= row[0].left - row[0].size for below in found[-back:]) else None
    return None


def by_place(pieces: Sequence[Line]) -> list[Line]:
    """The pieces of a page from the top down, whatever the order in which they are drawn."""
    found: list[list[Line]] = []
    for piece in sorted(pieces, key=lambda piece: -piece.y):
        if not found or found[-1][0].y - piece.y >= 0.5 * piece.size:
            found.append([])
        found[-1].append(piece)
    ordered = (piece for row in found for piece in sorted(row, key=lambda piece: piece.left))
    return [replace(piece, order=order) for order, piece in enumerate(ordered)]


def _row(pieces: Row) -> Row:
    found: list[Line] = []
    for piece in pieces:
        near = found and piece.left - found[-1].right <= WIDE_GAP * piece.size
        if near or (len(found) == 1 and _is_mark(found[0], piece)):
            found[-1] = joined((found[-1], piece))
        else:
            found.append(piece)
    return found


def _is_mark(mark: Line, text: Line) -> bool:
    """True if an item of a list stands behind its mark, or a line of code behind its number."""
    is_sign = not any(map(str.isalnum, mark.text))
    return is_sign or (text.mono and mark.text.isdecimal()) or (len(mark.text) < 4 and mark.text.endswith((".", ")")))


def ordered(page: Sequence[Row]) -> Iterator[Line]:
    """The lines of rows as they are read: those of columns one column after the other, and each table as one."""
    at = 0
    width = max((row[-1].right for row in page), default=0) - min((row[0].left for row in page), default=0)
    while at < len(page):
        count, gap = _columns(page[at : at + _LONGEST], width)
        cells = [] if gap else _cells(page[at : at + _LONGEST])
        if gap:
            pieces = [piece for row in page[at : at + count] for piece in row]
            for is_right in (False, True):
                yield from ordered(rows([piece for piece in pieces if (piece.left >= gap) == is_right]))
        else:
            count = max(1, len(cells))
            yield _tabular(cells) if cells else joined(page[at])
        at += count


def _columns(page: Sequence[Row], width: float) -> tuple[int, float]:
    """How many rows leave the same gap between two columns of prose, and where the right one begins; 0: none do."""
    spans: Spans = []
    count = len(page)
    for n, row in enumerate(page):
        wider = _spans(spans, row)
        if len(wider) == 1 and (len(spans) > 1 or wider[0][1] - wider[0][0] > _NARROW * width):
            count = n
            break
        spans = wider
    for begin in (left for left, _ in spans[1:]):
        sides = [
            [[p for p in row if (p.left >= begin) == is_right] for row in page[:count]] for is_right in (False, True)
        ]
        if all(map(_is_prose, sides)):
            return count, begin
    return 0, 0


def _is_prose(side: Sequence[Row]) -> bool:
    lengths = [max(len(piece.text) for piece in row) for row in side if row]
    return len(lengths) >= _FEWEST_ROWS and median(lengths) >= _PROSE


def _cells(page: Sequence[Row]) -> list[Row]:
    """The first rows that are a table: close together, with the same gaps, and no two pieces of one in a column."""
    spans: Spans = []
    taken: list[Row] = []
    for row in page:
        apart = taken and not _near(taken[-1], row)
        if apart or all(piece.mono for piece in row) or LEADERS.search(row[-1].text):
            break
        wider = _spans(spans, row)
        alone = len(row) == 1 and (not taken or row[0].left <= taken[0][0].left + row[0].size)
        if (alone and not (taken and _within(taken[-1], row))) or any(_collide(each, wider) for each in (*taken, row)):
            break
        spans = wider
        taken.append(row)
    whole = [row for row in taken if len(row) > 1]
    enough = len(whole) > 1 and sum(map(len, whole)) >= _FEWEST_CELLS and len(taken) <= 2 * len(whole)
    return taken if enough or any(_within(*pair) for pair in pairwise(whole)) else []


def _near(above: Row, row: Row) -> bool:
    """True if a row stands close below another one; of high rows, which begin alike, not quite as close."""
    alike = min(len(above), len(row)) > 1 and abs(above[0].left - row[0].left) < 0.1 * row[0].size
    return above[0].y - row[0].y < (5 if alike else 2.5) * above[0].size


def _within(above: Row, row: Row) -> bool:
    """True if a row is drawn before the one above it is complete: its cells have several lines."""
    return row[0].order < max(piece.order for piece in above)


def _collide(row: Row, spans: Spans) -> bool:
    """True if pieces side by side are in one column."""
    return len({_column(piece, spans) for piece in row}) < len(row)


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


def _tabular(page: Sequence[Row]) -> Line:
    """A table as one line: under its first row if that is in another font, or has fewer digits than any other. A piece
    alone goes on with the cell above it, as does a row that is drawn before the one above is complete."""
    spans: Spans = []
    whole: list[list[Line]] = []
    by_column = len(page) > _FEWEST_ROWS and all(_within(*pair) for pair in pairwise(page))
    for above, row in zip((None, *page), page, strict=False):
        spans = _spans(spans, row)
        goes_on = above and (len(row) == 1 or (not by_column and _within(above, row)))
        whole[len(whole) - bool(goes_on) :] = [[*(whole[-1] if goes_on else ()), *row]]
    cells = [[" ".join(p.text for p in row if _column(p, spans) == n) for n in range(len(spans))] for row in whole]
    digits = [sum(map(str.isdigit, "".join(row))) for row in cells]
    headed = len(cells) > 1 and (whole[0][0].font != whole[1][0].font or digits[0] < min(digits[1:]))
    pieces = [piece for row in page for piece in row]
    text = table(cells[headed:], cells[0] if headed else ())
    return replace(joined(pieces), y=min(piece.y for piece in pieces), table=text)
