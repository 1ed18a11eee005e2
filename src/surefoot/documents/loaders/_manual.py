"""Manual pages as text: headings at the margin, everything else indented, as `man` prints them."""

import re
from collections.abc import Iterator
from itertools import groupby

from surefoot.text.blocks import bullets, code, definition, paragraph
from surefoot.types import BlockKind

Found = tuple[tuple[str, ...], BlockKind, str]

_BULLETS = frozenset("o - * • +".split())
LONGEST_TERM = 100
"""Characters of a term that may stand above what is said of it."""
_PROSE = 45
"""Characters of a line above which it is taken for running text."""


def is_manual(text: str) -> bool:
    """True if a text that keeps its line ends is a manual page."""
    lines = text.split("\n")
    return "NAME" in lines and sum(map(_is_heading, lines)) > 2


def manual(text: str) -> Iterator[Found]:
    """Headings above, kind and text of each block; what is indented below a term stands under it."""
    heading: tuple[str, ...] = ()
    terms: list[tuple[int, str]] = []
    lines = [line.rstrip().expandtabs() for line in text.split("\n")]
    for is_text, group in groupby(lines, bool):
        for is_heading, body in groupby(group if is_text else (), _is_heading):
            words = list(body)
            if is_heading:
                heading, terms = (words[-1].strip(),), []
                continue
            margin = _indent(words[0])
            terms = [(at, term) for at, term in terms if at < margin]
            kind, written = _block(words)
            yield (*heading, *(term for _, term in terms)), kind, written
            if kind == "definition":
                terms.append((margin, written.partition("\n")[0][:LONGEST_TERM]))


def _block(lines: list[str]) -> tuple[BlockKind, str]:
    """A paragraph, an item, a term with its meaning, or what has to keep its lines."""
    first, *rest = lines
    margin, widest = _indent(first), max(len(line) - _indent(line) for line in lines)
    inner = {_indent(line) for line in rest}
    if len(inner) == 1 and min(inner) > margin and widest > _PROSE:
        term, meaning = first.strip(), rest
        head, _, tail = term.partition("  ")
        if tail and margin + len(term) - len(tail.lstrip()) == min(inner):
            term, meaning = head, [tail.lstrip(), *rest]
        if term in _BULLETS:
            return "list", bullets([_joined(meaning)])
        return "definition", definition(term, _joined(meaning))
    if inner <= {margin} and (widest > _PROSE or not rest):
        return "paragraph", _joined(lines)
    least = min(map(_indent, lines))
    return "code", code("\n".join(line[least:] for line in lines))


def _is_heading(line: str) -> bool:
    return line.isupper() and line[0].isalpha() and 2 < len(line) < 62 and "." not in line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _joined(lines: list[str]) -> str:
    """On one line, with words made whole that were parted at the end of one."""
    return paragraph(re.sub(r"(?<=[a-z])-\n\s*(?=[a-z])", "", "\n".join(lines)))
