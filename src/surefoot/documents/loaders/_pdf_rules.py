"""The straight rules that are drawn on a PDF's page: where the rows and columns of a table stand between them."""

from collections.abc import Sequence
from itertools import islice, pairwise
from typing import NamedTuple

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage

_MOST_PATHS = 5_000
"""Paths of a page that are looked at."""
_MOST_FRAMES = 20
_THIN, _LONG = 3, 6
"""Points: the thickness of a rule at most, and its length at least."""
_ALIKE = 3
"""Points within which two rules end at one place."""
_DOUBLE = 4
"""Points between the two rules of a double one, at most."""
_NARROW_GAP = 0.45
"""Heights of a line's letters from which a gap parts two cells between rules of which none stands."""

Spans = list[tuple[float, float]]
"""The left and right ends of columns."""
Edge = tuple[float, float]
"""Heights of the upper and the lower of a double rule, or twice that of one."""
Rule = tuple[float, float, float]
"""Of one that lies its height, left and right end; of one that stands its place, lower and upper end."""


class Frame(NamedTuple):
    """Three rules or more of the same ends, one below the other."""

    left: float
    right: float
    edges: list[Edge]
    """From the top."""
    across: Sequence[Rule]
    down: Sequence[Rule]
    """Other rules in it."""

    def holds(self, x: float, y: float) -> bool:
        """True if a place is in it."""
        return self.left - _ALIKE < x < self.right + _ALIKE and self.edges[-1][1] < y < self.edges[0][0]

    def parts(self, left: float, right: float, y: float, size: float) -> bool:
        """True if a gap in a line of letters of this size is one between two columns."""
        if not self.holds((left + right) / 2, y):
            return False
        if self.down:
            return any(left - 1 < x < right + 1 and bottom < y < top for x, bottom, top in self.down)
        return right - left > _NARROW_GAP * size

    def columns(self, top: float, bottom: float) -> Spans:
        """The columns between those rules that stand along half of a stretch of it; at most one: there are none."""
        along: dict[float, float] = {}
        for x, low, high in sorted(self.down):
            x = next((other for other in along if x - other < _ALIKE), x)
            along[x] = along.get(x, 0) + max(0, min(top, high) - max(bottom, low))
        inner = [x for x, length in along.items() if 2 * length > top - bottom]
        return [*pairwise([self.left, *inner, self.right])]

    def divides(self, above: float, below: float) -> bool:
        """True if a rule, be it a short one, lies between two heights."""
        return any(below < y < above for y, _, _ in self.across)


def frames(page: PdfPage) -> list[Frame]:
    """Where on a page tables may be, narrow ones first; pieces of one rule are one."""
    lying, standing = list[Rule](), list[Rule]()
    for path in islice(page.get_objects([pdfium.FPDF_PAGEOBJ_PATH], max_depth=1), _MOST_PATHS):
        left, bottom, right, top = path.get_bounds()
        if top - bottom < _THIN and right - left > _LONG:
            lying.append(((bottom + top) / 2, left, right))
        elif right - left < _THIN and top - bottom > _LONG:
            standing.append(((left + right) / 2, bottom, top))
    across: list[Rule] = []
    for y, left, right in sorted(lying, key=lambda rule: (-round(rule[0]), rule[1])):
        if across and abs(across[-1][0] - y) < 1 and left < across[-1][2] + _ALIKE:
            across[-1] = y, across[-1][1], max(across[-1][2], right)
        else:
            across.append((y, left, right))
    ends: dict[tuple[float, float], list[Edge]] = {}
    for y, left, right in across:
        key = next((it for it in ends if abs(it[0] - left) < _ALIKE and abs(it[1] - right) < _ALIKE), (left, right))
        edges = ends.setdefault(key, [])
        is_double = edges and edges[-1][1] - y < _DOUBLE
        edges[len(edges) - bool(is_double) :] = [(edges[-1][0] if is_double else y, y)]
    return [
        Frame(
            left,
            right,
            edges,
            [rule for rule in across if rule[1] < right and rule[2] > left],
            [rule for rule in standing if left + _ALIKE < rule[0] < right - _ALIKE and rule[1] < edges[0][0]],
        )
        for (left, right), edges in sorted(ends.items(), key=lambda item: item[0][1] - item[0][0])
        if len(edges) > 2
    ][:_MOST_FRAMES]
