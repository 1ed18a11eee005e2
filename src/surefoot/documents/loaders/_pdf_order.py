"""The reading order of a page: the pieces of its lines become rows, columns one after the other, and tables."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from surefoot.documents.loaders._pdf_lines import WIDE_GAP, Line, joined
from surefoot.documents.loaders._pdf_rules import Spans
from surefoot.documents.loaders._pdf_tables import (
    Row,
    column,
    is_prose,
    under_each_other,
    widened,
    within,
)

_FEWEST_CELLS = 6
"""That make a table."""
_LONGEST = 400
"""Rows of columns or of a table that are looked at."""
_LONGEST_CELL = 20
"""Lines of cells before the next one in their row that are looked at."""
_NARROW = 0.6
"""Of the width of the text: what is wider alone is no line of a column."""
LEADERS = re.compile(r"(?:\s?[.·…]){4,}\s*")
"""Between a heading and its page, in a table of contents."""


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
        if piece.table or row[0].table:
            return None
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
            yield under_each_other(cells) if cells else joined(page[at])
        at += count


def _columns(page: Sequence[Row], width: float) -> tuple[int, float]:
    """How many rows leave the same gap between two columns of prose, and where the right one begins; 0: none do."""
    spans: Spans = []
    count = len(page)
    for n, row in enumerate(page):
        wider = widened(spans, row)
        if len(wider) == 1 and (len(spans) > 1 or wider[0][1] - wider[0][0] > _NARROW * width):
            count = n
            break
        spans = wider
    for begin in (left for left, _ in spans[1:]):
        sides = [
            [[p for p in row if (p.left >= begin) == is_right] for row in page[:count]] for is_right in (False, True)
        ]
        if all(map(is_prose, sides)):
            return count, begin
    return 0, 0


def _cells(page: Sequence[Row]) -> list[Row]:
    """The first rows that are a table: close together, with the same gaps, and no two pieces of one in a column."""
    spans: Spans = []
    taken: list[Row] = []
    for row in page:
        apart = row[0].table or (taken and not _near(taken[-1], row))
        if apart or all(piece.mono for piece in row) or LEADERS.search(row[-1].text):
            break
        wider = widened(spans, row)
        alone = len(row) == 1 and (not taken or row[0].left <= taken[0][0].left + row[0].size)
        if (alone and not (taken and within(taken[-1], row))) or any(_collide(each, wider) for each in (*taken, row)):
            break
        spans = wider
        taken.append(row)
    whole = [row for row in taken if len(row) > 1]
    enough = len(whole) > 1 and sum(map(len, whole)) >= _FEWEST_CELLS and len(taken) <= 2 * len(whole)
    return taken if enough or any(within(*pair) for pair in pairwise(whole)) else []


def _near(above: Row, row: Row) -> bool:
    """True if a row stands close below another one; of high rows, which begin alike, not quite as close."""
    alike = min(len(above), len(row)) > 1 and abs(above[0].left - row[0].left) < 0.1 * row[0].size
    return above[0].y - row[0].y < (5 if alike else 2.5) * above[0].size


def _collide(row: Row, spans: Spans) -> bool:
    """True if pieces side by side are in one column."""
    return len({column(piece, spans) for piece in row}) < len(row)
