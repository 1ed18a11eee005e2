"""Running headers, footers and page numbers of a PDF: lines at the edges of pages that repeat, or count."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from surefoot.documents.loaders._pdf_lines import Line

EDGE = 2
"""Lines at each end of a page among which running headers and page numbers are looked for."""
REPEATED = 3
"""Pages on which a line at an edge must stand to be a running one, of a file that has so many."""


def without_running(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without the lines that repeat at their edges, digits apart, or hold the page's number there."""
    edges = [_edges(page) for page in pages]
    repeated = Counter(_mark(line, side) for page in edges for side, line, *_ in page)
    shifts = Counter(
        shift
        for number, page in enumerate(edges)
        for shift in {s for _, line, *_ in page for s in _shifts(line, number)}
    )
    shift, votes = next(iter(shifts.most_common(1)), (0, 0))
    enough = max(2, min(REPEATED, len(pages)))
    numbered = votes >= max(REPEATED, len(pages) // 3)
    running: dict[int, list[Line]] = defaultdict(list)
    bands: Counter[tuple[bool, int]] = Counter()
    for number, candidates in enumerate(edges):
        ended: set[bool] = set()
        for side, line, outermost, apart in candidates:
            often = repeated[_mark(line, side)] >= (enough if outermost else max(enough, len(pages) // 2))
            if side not in ended and apart and (often or (numbered and outermost and shift in _shifts(line, number))):
                running[number].append(line)
                bands[side, round(line.y / 3)] += outermost
            else:
                ended.add(side)
    for number, candidates in enumerate(edges):
        # Where many pages have their header, what stands apart there is one too, though no other page says the same.
        running[number] += [
            line
            for side, line, outermost, apart in candidates
            if outermost and apart and 4 * bands[side, round(line.y / 3)] > len(pages) >= REPEATED
        ]
    left_out = {id(line) for found in running.values() for line in found}
    return [[line for line in page if id(line) not in left_out] for page in pages]


def _edges(page: Sequence[Line]) -> list[tuple[bool, Line, bool, bool]]:
    """The lines at the top (True) and the bottom of a page, outermost first, whether each is the outermost, and whether
    a gap parts it from the text."""
    by_height = sorted(page, key=lambda line: -line.y)
    found = []
    for side, ordered in ((True, by_height), (False, by_height[::-1])):
        for line, within in zip(ordered[:EDGE], [*ordered[1:], None], strict=False):
            gap = abs(line.y - within.y) if within else line.size * 2
            outermost = abs(line.y - ordered[0].y) < 0.3 * line.size
            found.append((side, line, outermost, gap > 1.6 * line.size or gap < 0.3 * line.size))
    return found


def _mark(line: Line, side: bool) -> tuple[bool, int, str]:
    words = "".join(letter for letter in line.text if not letter.isdecimal())
    return side, round(line.y / 3), words.strip("ivxlcdmIVXLCDM") and words


def _shifts(line: Line, number: int) -> set[int]:
    """By how much the numbers at the ends of a line differ from the index of its page."""
    ends = (line.text.split()[0], line.text.split()[-1])
    return {int(end) - number for end in ends if len(end) < 6 and end.isascii() and end.isdigit()}
