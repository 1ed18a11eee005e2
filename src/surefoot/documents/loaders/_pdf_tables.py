"""Tables of a PDF's page: rows of cells as one line, and those that stand between the rules that are drawn."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from surefoot.documents.loaders._pdf_lines import WIDE_GAP, Line, joined
from surefoot.documents.loaders._pdf_rules import Edge, Frame, Spans
from surefoot.text.blocks import table

_PROSE = 20
"""Letters of the median row from which a column holds prose, and not the cells of a table."""
FEWEST_ROWS = 4
"""Rows on both sides of a gap that make columns."""
_MOST_PIECES = 2_000
"""Between rules that are looked at."""
_CLOSE = 1.15
"""Times the least distance of two rows up to which others are as close."""
_FAR = 1.3
"""Heights of a line's letters from which the lines of a cell are not apart."""

Row = Sequence[Line]
"""Pieces side by side, from left to right."""


def ruled(pieces: Sequence[Line], frames: Sequence[Frame]) -> list[Line]:
    """The pieces of a page, each table between rules as one."""
    found = list(pieces)
    for frame in frames:
        inside = [piece for piece in found if not piece.table and frame.holds((piece.left + piece.right) / 2, piece.y)]
        if len(inside) > _MOST_PIECES:
            continue
        bands = [
            _joined_within(_baselines([piece for piece in inside if below < piece.y < above]))
            for (_, above), (below, _) in pairwise(frame.edges)
        ]
        start = 0
        while start < len(bands) - 1:
            ends = range(len(bands), start + 1, -1)
            end = next((end for end in ends if _spans(bands[start:end], frame, frame.edges[start : end + 1])), start)
            if end > start:
                whole = _ruled(bands[start:end], frame, frame.edges[start : end + 1])
                own = {id(piece) for piece in inside if frame.edges[end][1] < piece.y < frame.edges[start][0]}
                at = next(n for n, piece in enumerate(found) if id(piece) in own)
                found[at : at + 1] = [whole, found[at]]
                found = [piece for piece in found if id(piece) not in own]
            start = max(end, start + 1)
    return found


def _baselines(pieces: Sequence[Line]) -> list[Row]:
    """Rows from the top down; what is raised or lowered beside larger letters is in their row."""
    found: list[list[Line]] = []
    for piece in sorted(pieces, key=lambda piece: -piece.size):
        row = next((row for row in found if abs(row[0].y - piece.y) < 0.45 * row[0].size), None)
        if row is None:
            found.append([piece])
        else:
            row.append(piece)
    return [sorted(row, key=lambda piece: piece.left) for row in sorted(found, key=lambda row: -row[0].y)]


def _joined_within(band: Sequence[Row]) -> list[Row]:
    """Rows without the narrow gaps at whose place another row has letters."""
    found: list[Row] = []
    for row in band:
        whole = [row[0]]
        for piece in row[1:]:
            gap = piece.left - whole[-1].right
            middle = piece.left - gap / 2
            covered = any(other.left < middle < other.right for it in band if it is not row for other in it)
            if gap < WIDE_GAP * piece.size and covered:
                whole[-1] = joined((whole[-1], piece))
            else:
                whole.append(piece)
        found.append(whole)
    return found


def _spans(bands: Sequence[Sequence[Row]], frame: Frame, edges: Sequence[Edge]) -> Spans:
    """The columns that all rows between edges have; empty: they are no table, or all of its columns are prose."""
    page = [row for band in bands for row in band]
    parted = all(any(len(row) > 1 for row in band) for band in bands[:2])
    if not all(bands) or not parted or 3 * sum(len(row) > 1 for row in page) < len(page):
        return []
    if len(drawn := frame.columns(edges[0][0], edges[-1][1])) > 1:
        return drawn
    spans, fitting = columns(page)
    sides = ([[p for p in row if column(p, spans) == n] for row in page] for n in range(len(spans)))
    return spans if len(spans) > 1 and fitting >= 0.75 * len(page) and not all(map(is_prose, sides)) else []


def columns(page: Sequence[Row]) -> tuple[Spans, int]:
    """The columns of a table, of rows with as many pieces as most first, and how many rows have no piece in several."""
    spans: Spans = []
    fitting = 0
    counts = Counter(len(row) for row in page)
    for row in sorted(
        page, key=lambda row: (len(row) < 2, -counts[len(row)], -len(row), -max(p.right - p.left for p in row))
    ):
        wider = widened(spans, row)
        if len(wider) >= len(spans):
            spans, fitting = wider, fitting + 1
    return spans, fitting


def _ruled(bands: Sequence[Sequence[Row]], frame: Frame, edges: Sequence[Edge]) -> Line:
    """Bands between edges as a table: each is a row, if most have no more; the first, if a double rule or
    several rows stand behind it, is the header."""
    each = [_whole(band, frame) for band in bands]
    if 2 * sum(len(rows) == 1 for rows in each[1:]) > len(each) - 1 > 1:
        each = [[[piece for row in band for piece in row]] for band in bands]
    head = [piece for row in bands[0] for piece in row]
    body = [row for rows in each[1:] for row in rows]
    is_double = edges[1][0] > edges[1][1]
    headed = len(bands[0]) < FEWEST_ROWS and (is_double or len(each[1]) > 1)
    return tabular([head, *body] if headed else [*each[0], *body], _spans(bands, frame, edges), headed)


def _whole(page: Sequence[Row], frame: Frame | None = None) -> list[Row]:
    """Rows with all lines of their cells: a piece alone goes on with the cell above it, as does a row that is drawn
    before the one above is complete, or that is shorter and closer to it than most."""
    gaps = [above[0].y - row[0].y for above, row in pairwise(page)]
    close = min(gaps) * _CLOSE if gaps and min(gaps) * _CLOSE < max(gaps) else 0
    whole: list[Row] = []
    far = len(page) > FEWEST_ROWS or min(gaps, default=0) > _FAR * page[0][0].size
    by_column = far and all(within(*pair) for pair in pairwise(page))
    for n, row in enumerate(page):
        above = page[max(0, n - 1)]
        goes_on = len(row) == 1 or (not by_column and within(above, row))
        goes_on |= bool(frame and len(row) < len(above) and above[0].y - row[0].y < close)
        goes_on &= n > 0 and not (frame and frame.divides(above[0].y, row[0].y))
        whole[len(whole) - goes_on :] = [[*(whole[-1] if goes_on else ()), *row]]
    return whole


def under_each_other(page: Sequence[Row]) -> Line:
    """Rows without rules as one line."""
    return tabular(_whole(page), columns(page)[0])


def tabular(whole: Sequence[Row], spans: Spans, headed: bool = False) -> Line:
    """A table as one line: under its first row if that is `headed`, is in another font than most, or has fewer digits
    than any other."""
    cells = [[_text([p for p in row if column(p, spans) == n]) for n in range(len(spans))] for row in whole]
    digits = [sum(map(str.isdigit, "".join(row))) for row in cells]
    if len(cells) > 1 and not headed:
        same = sum(row[0].font == whole[0][0].font for row in whole[1:])
        headed = 4 * same < len(whole) - 1 or (len(cells) > 2 and digits[0] < min(digits[1:]))
    pieces = [piece for row in whole for piece in row]
    left, right, y = min(p.left for p in pieces), max(p.right for p in pieces), min(p.y for p in pieces)
    text = table(cells[headed:], cells[0] if headed else ())
    return replace(joined(pieces), left=left, right=right, y=y, hyphen=False, table=text)


def _text(pieces: Row) -> str:
    return "".join(piece.text + " " * (not piece.hyphen) for piece in pieces).strip()


def within(above: Row, row: Row) -> bool:
    """True if a row is drawn before the one above it is complete: its cells have several lines."""
    return row[0].order < max(piece.order for piece in above)


def widened(spans: Spans, row: Row) -> Spans:
    """The columns, such that each piece of a row, too, lies in one."""
    found: Spans = []
    for left, right in sorted([*spans, *((piece.left, max(piece.left, piece.right)) for piece in row)]):
        if found and left < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], right)
        else:
            found.append((left, right))
    return found


def column(piece: Line, spans: Spans) -> int:
    """The index of the column in which a piece begins."""
    return next((n for n, (_, right) in enumerate(spans) if piece.left <= right), len(spans) - 1)


def is_prose(side: Sequence[Row]) -> bool:
    """True if a column holds prose, and not the cells of a table."""
    lengths = [max(len(piece.text) for piece in row) for row in side if row]
    return len(lengths) >= FEWEST_ROWS and median(lengths) >= _PROSE
