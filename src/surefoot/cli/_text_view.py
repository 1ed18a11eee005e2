"""A text of a document in a terminal: code, tables and definitions as what they are, and the part that answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.styled import Styled
from rich.table import Table
from rich.text import Text

from surefoot.cli._console import tamed
from surefoot.text.blocks import Part, Span, parts

ROOM = 280
"""Characters of a passage that is shown in short, about."""
LINES = 4
"""Its lines, at most, where the text itself has lines."""
MOST_COLUMNS = 12
"""A table of more columns is shown as it is written."""

Mark = tuple[int, int, str]
"""Offsets in a text, and the style of what stands there."""

_CELL = re.compile(r"[^|]+")


def excerpt(text: str, span: Span | None) -> Span:
    """The part of a passage that is shown in short: around the words that answer, or its beginning; whole sentences,
    items, rows and lines as far as they fit."""
    units = [*_units(text)]
    if not units:
        return 0, min(len(text), ROOM)
    words = span or units[0]
    at = next((n for n, unit in enumerate(units) if words[0] < unit[1]), len(units) - 1)
    first = last = at
    if units[at][1] - units[at][0] > ROOM:
        return _window(text, units[at], words)
    while True:
        grown = [(first, last + 1), (first - 1, last)]
        fitting = [(a, b) for a, b in grown if a >= 0 and b < len(units) and _fits(text, units[a][0], units[b][1])]
        if not fitting:
            return units[first][0], units[last][1]
        first, last = fitting[0]


def _units(text: str) -> Iterator[Span]:
    """The sentences, items, rows and lines of code of a text, in order."""
    for part in parts(text):
        units = part.units or ((part.start, part.end),)
        if part.kind == "code":
            yield from (span for span in _lines(text, units[0][0], units[-1][1]) if text[slice(*span)].strip())
        elif part.kind == "definition":
            yield part.start, units[0][1]
            yield from units[1:]
        else:
            yield from units


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield start, stop
        start = stop + 1


def _fits(text: str, start: int, end: int) -> bool:
    return end - start <= ROOM and text.count("\n", start, end) < LINES


def _window(text: str, unit: Span, words: Span) -> Span:
    """As much of a long unit as fits around the words, cut between words."""
    start = max(unit[0], words[0] - ROOM // 3)
    end = min(unit[1], start + ROOM)
    if start > unit[0]:
        start = min(words[0], text.find(" ", start, end) + 1 or start)
    if end < unit[1]:
        end = max(text.rfind(" ", start, end), start + 1)
    return start, end


def readable(text: str, marks: Sequence[Mark] = (), part: Span | None = None, style: str = "") -> RenderableType:
    """A text with its lines: code indented and without its fences, tables in columns, all else as it is written.

    Of a `part` of it only that, with the header of its table. What would steer a terminal is shown, and nothing in it
    is read as markup.
    """
    begin, end = part or (0, len(text))
    shown: list[RenderableType] = []
    before = len(text)
    for each in parts(text):
        start, stop = max(begin, each.start), min(end, each.end)
        if start < stop:
            if not part and text.count("\n", before, start) > 1:
                shown.append("")
            shown += _DRAWN.get(each.kind, _prose)(text, each, (start, stop), marks)
            before = stop
    return Styled(Group(*shown), style)


def _code(text: str, part: Part, shown: Span, marks: Sequence[Mark]) -> Iterator[RenderableType]:
    for start, end in part.units:
        start, end = max(start, shown[0]), min(end, shown[1])
        if start < end:
            yield Padding(_inked(text, start, end, marks), (0, 0, 0, 4))


def _table(text: str, part: Part, shown: Span, marks: Sequence[Mark]) -> Iterator[RenderableType]:
    rows = [unit for unit in part.units if unit[0] < shown[1] and shown[0] < unit[1]]
    cells = [_cells(text, row) for row in rows]
    header = _cells(text, part.lead) if part.lead else []
    width = max(map(len, [header, *cells]))
    if width > MOST_COLUMNS:
        yield from _prose(text, part, shown, marks)
        return
    table = Table(box=None, show_header=bool(header), padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for n in range(width):
        table.add_column(_inked(text, *header[n], marks) if n < len(header) else "", overflow="fold")
    for row in cells:
        table.add_row(*(_inked(text, *cell, marks) for cell in row))
    yield table


def _cells(text: str, row: Span) -> list[Span]:
    """The cells of a row, without the white space around them."""
    start = row[0] + (text[row[0]] == "|")
    end = row[1] - (row[1] - 1 > start and text[row[1] - 1] == "|")
    found = []
    for match in _CELL.finditer(text, start, end):
        first = match.start() + len(match[0]) - len(match[0].lstrip())
        found.append((min(first, match.end()), match.start() + len(match[0].rstrip())))
    return [(a, max(a, b)) for a, b in found]


def _definition(text: str, part: Part, shown: Span, marks: Sequence[Mark]) -> Iterator[RenderableType]:
    """The term, also where only a part of its meaning is shown, and that below, indented."""
    lead = part.lead or (part.start, part.start)
    yield _inked(text, *lead, marks)
    begins = lead[1] + text[lead[1] : part.end].find(":") + 1
    for start, stop in _lines(text, max(shown[0], begins), shown[1]):
        bare = start + len(text[start:stop]) - len(text[start:stop].lstrip())
        if bare < stop:
            before = Text("… " if start == shown[0] > begins and text[start - 1] != "\n" else "")
            yield Padding(before + _inked(text, bare, stop, marks), (0, 0, 0, 4))


def _prose(text: str, part: Part, shown: Span, marks: Sequence[Mark]) -> Iterator[RenderableType]:
    begin, end = shown
    for start, stop in _lines(text, begin, end):
        bare = start + len(text[start:stop]) - len(text[start:stop].lstrip())
        line = _inked(text, bare, max(bare, stop), marks)
        if start == begin > part.start and text[begin - 1] != "\n":
            line = Text("… ") + line
        if stop == end < part.end and text[end] != "\n":
            line += Text(" …")
        yield Padding(line, (0, 0, 0, min(bare - start, 20)))


_DRAWN: dict[str, Callable[[str, Part, Span, Sequence[Mark]], Iterator[RenderableType]]]
_DRAWN = {"code": _code, "table": _table, "definition": _definition}


def _inked(text: str, start: int, end: int, marks: Sequence[Mark]) -> Text:
    """The characters from `start` to `end`, with what is marked among them in its style."""
    inside = [(max(start, a), min(end, b), style) for a, b, style in marks if a < end and start < b]
    edges = sorted({start, end, *(edge for a, b, _ in inside for edge in (a, b))})
    line = Text()
    for a, b in pairwise(edges):
        line.append(tamed(text[a:b]), " ".join(style for first, last, style in inside if first <= a and b <= last))
    return line
