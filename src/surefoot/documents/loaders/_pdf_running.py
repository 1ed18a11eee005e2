"""Running headers, footers and page numbers of a PDF: lines at the edges of pages that repeat, or count."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from surefoot.documents.loaders._pdf_lines import Line

EDGE = 2
"""Lines at each end of a page among which running headers and page numbers are looked for."""
REPEATED = 3
"""Pages on which a line must stand at the same height to be a running one, of a file that has so many."""


def without_running(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without the lines that stand at one height of their edges, if half of them say the same, digits apart,
    or count the pages."""
    places: dict[tuple[bool, int], list[tuple[int, Line]]] = defaultdict(list)
    for number, page in enumerate(pages):
        for top, line in _edges(page):
            places[top, round(line.y / 3)].append((number, line))
    enough = max(2, min(REPEATED, len(pages)))
    running = {id(line) for found in places.values() if len(found) >= enough and _runs(found) for _, line in found}
    return [[line for line in page if id(line) not in running] for page in pages]


def _edges(page: Sequence[Line]) -> Iterator[tuple[bool, Line]]:
    """The lines at the top (True) and the bottom of a page that a gap parts from the text."""
    by_height = sorted(page, key=lambda line: -line.y)
    for top, ordered in ((True, by_height), (False, by_height[::-1])):
        for line, within in zip(ordered[:EDGE], [*ordered[1:], None], strict=False):
            gap = abs(line.y - within.y) if within else line.size * 2
            if 0.3 * line.size <= gap <= 1.6 * line.size:
                break
            yield top, line


def _runs(found: Sequence[tuple[int, Line]]) -> bool:
    """True if of lines, each with the index of its page, half repeat another, or count."""
    words = {"".join(letter for letter in line.text if not letter.isdecimal()) for _, line in found}
    different = {text.strip("ivxlcdmIVXLCDM") and text for text in words}
    shifts = Counter(
        int(end) - number
        for number, line in found
        for end in {line.text.split()[0], line.text.split()[-1]}
        if len(end) < 6 and end.isascii() and end.isdigit()
    )
    return 2 * max(len(found) - len(different), *shifts.values(), 0) >= len(found)
