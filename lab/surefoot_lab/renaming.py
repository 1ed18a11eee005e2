"""Texts with another name in them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from surefoot.text.words import places, replaced


def renamed(text: str, mine: str, other: str) -> str:
    """The text with another name: the whole name is replaced, with or without words in its midst, and its last word
    alone by the other's last word."""
    by = dict.fromkeys(places(mine, text), other)
    for pattern, new in _parts(mine, other):
        for match in re.finditer(rf"(?<!\w){pattern}(?!\w)", text):
            if not any(start < match.end() and match.start() < end for start, end in by):
                by[match.span()] = new
    return replaced(text, by)


def _parts(mine: str, other: str) -> Iterator[tuple[str, str]]:
    """Patterns of other forms of a name, each with its replacement: with more words in its midst, and the last word
    alone."""
    first, last = re.escape(mine.split()[0]), re.escape(mine.split()[-1])
    if last[:1].isupper():
        yield rf"{first}(?:\s+[^\W\d_a-z][\w.'’-]*){{1,3}}\s+{last}", other
        yield last, other.split()[-1]
