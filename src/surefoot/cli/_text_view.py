"""A text of a document in a terminal: its lines as they are, and the part that answers."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from surefoot.cli._console import tamed
from surefoot.text.blocks import Span, parts

ROOM = 280
"""Characters of a passage that is shown in short, about."""
LINES = 4
"""Its lines, at most, where the text itself has lines."""

Mark = tuple[int, int, str]
"""Offsets in a text, and the style of the characters there."""


def excerpt(text: str, span: Span | None) -> Span:
    """The part of a passage that is shown in short: around the words that answer, or its beginning; whole sentences,
    items, rows and lines as far as they fit."""
    units = [unit for part in parts(text) for unit in part.units or ((part.start, part.end),)]
    if not units:
        return 0, min(len(text), ROOM)
    words = span or units[0]
    first = last = next((n for n, unit in enumerate(units) if words[0] < unit[1]), len(units) - 1)
    if not _fits(text, *units[first]):
        return _window(text, units[first], words)
    while last + 1 < len(units) and _fits(text, units[first][0], units[last + 1][1]):
        last += 1
    while first > 0 and _fits(text, units[first - 1][0], units[last][1]):
        first -= 1
    return units[first][0], units[last][1]


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
    """A text with its lines, or a `part` of it with ellipses; control characters are shown, no markup is read."""
    begin, end = part or (0, len(text))
    whole = Text(tamed(text), style, tab_size=4)
    for start, stop, mark in marks:
        whole.stylize(mark, start, stop)
    lines = [*whole[begin:end].split("\n")]
    if begin > 0 and text[begin - 1] != "\n":
        lines[0] = Text("… ", style) + lines[0]
    if end < len(text) and text[end] != "\n":
        lines[-1].append(" …")
    return Group(*map(_indented, lines))


def _indented(line: Text) -> RenderableType:
    """The line behind its indentation, which also those that it folds into have."""
    bare = len(line.plain) - len(line.plain.lstrip())
    return Padding(line[bare:], (0, 0, 0, min(bare, 20)))
