"""Running headers, footers and page numbers of a PDF: lines at the edges of pages that repeat, or count."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from surefoot.documents.loaders._pdf_lines import Line, joined
from surefoot.documents.loaders._pdf_tables import Row

EDGE = 2
"""Lines at each end of a page among which running headers and page numbers are looked for."""
REPEATED = 3
"""Pages on which a line must stand at the same height to be a running one, of a file that has so many."""


def without_running(pages: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """The pages without the rows that stand at one height of their edges, if half of them say the same, digits apart,
    or count the pages."""
    places: dict[tuple[bool, int], list[tuple[int, Line, Row]]] = defaultdict(list)
    for number, page in enumerate(pages):
        by_height = sorted(page, key=lambda row: -row[0].y)
        for top, ordered in ((True, by_height), (False, by_height[::-1])):
            for line, row in _edge(ordered):
                places[top, round(line.y / 3)].append((number, line, row))
    enough = max(2, min(REPEATED, len(pages)))
    running = {id(row) for found in places.values() if len(found) >= enough and _runs(found) for _, _, row in found}
    return [[row for row in page if id(row) not in running] for page in pages]


def _edge(page: Sequence[Row]) -> Iterator[tuple[Line, Row]]:
    """The first rows, which a gap parts from the text, each also as a line."""
    for row, within in zip(page[:EDGE], [*page[1:], None], strict=False):
        line = joined(row)
        if line.table or (within and 0.3 * line.size <= abs(line.y - within[0].y) <= 1.6 * line.size):
            break
        yield line, row


def _runs(found: Sequence[tuple[int, Line, Row]]) -> bool:
    """True if of lines, each with the index of its page, half repeat another, or count."""
    words = {"".join(letter for letter in line.text if not letter.isdecimal()) for _, line, _ in found}
    different = {text.strip("ivxlcdmIVXLCDM") and text for text in words}
    shifts = Counter(
        int(end) - number
        for number, line, _ in found
        for end in {line.text.split()[0], line.text.split()[-1]}
        if len(end) < 6 and end.isascii() and end.isdigit()
    )
    return 2 * max(len(found) - len(different), *shifts.values(), 0) >= len(found)
