"""The plain Markdown in which the text of a passage keeps its lists, tables, code and definitions: written by the
loaders, read again by the refiner and the generators.

    - an item of a list            | column | column |         ```sql            a term
      that goes on                 | ---    | ---    |         SELECT 1;         : what it means
    1. a numbered one              | cell   | cell   |         ```
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from urllib.parse import quote

from surefoot.text.words import sentences
from surefoot.types import Block, BlockKind

Span = tuple[int, int]

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(?=\S)")
_HEADINGS = frozenset("#" * level for level in range(1, 7))
_TERM = ": "
_FRAGMENT = "/?:@!$&'()*+,;=-._~%"
"""Characters that the end of an address may hold as they are."""


def paragraph(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def bullets(items: Iterable[str], ordered: bool = False) -> str:
    """A list, an item a line; further lines of an item are indented."""
    marked = ((f"{number}. " if ordered else "- ", item.strip()) for number, item in enumerate(items, start=1))
    return "\n".join(mark + item.replace("\n", "\n" + " " * len(mark)) for mark, item in marked if item)


def table(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> str:
    """A table, a row a line; without a header where it has none."""
    lines = [_row(header), _row(["---"] * len(header))] if any(map(str.strip, header)) else []
    return "\n".join([*lines, *(_row(row) for row in rows if any(map(str.strip, row)))])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(paragraph(cell) for cell in cells)} |"


def code(text: str, language: str = "") -> str:
    """Code with its line ends, between fences longer than any in it."""
    text = text.strip("\n").rstrip()
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}" if text.strip() else ""


def definition(term: str, text: str) -> str:
    """A term and its meaning; further lines of it are indented."""
    return f"{paragraph(term)}\n{_TERM}{text.strip().replace(chr(10), chr(10) + '  ')}"


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a text that is of one kind: a whole list, table, block of code, definition or paragraph."""

    kind: BlockKind
    start: int
    end: int
    units: tuple[Span, ...]
    """Its lines of code as one, else its items, rows without the header, or sentences; they cover all but white space,
    fences, and what is in `lead`."""
    lead: Span | None = None
    """The header of a table, the term of a definition, the sentence that ends in a colon before a list or code."""


@lru_cache(maxsize=1024)  # asked for each strip of a passage
def parts(text: str) -> tuple[Part, ...]:
    """The parts of a passage's text, in order; plain text is paragraphs, parted by empty lines."""
    found = list(_parts(text))
    for n, (before, part) in enumerate(pairwise(found), start=1):
        if part.kind in ("list", "code") and before.kind in ("paragraph", "definition"):
            lead = before.units[-1] if before.units else (before.start, before.end)
            if text.endswith(":", *lead):
                found[n] = Part(part.kind, part.start, part.end, part.units, lead)
    return tuple(found)


def led(text: str, start: int, end: int) -> tuple[str, int]:
    """A slice of a passage's text behind what leads up to it, if anything does, and the length of that."""
    part = next((part for part in parts(text) if part.start <= start < part.end), None)
    if part is None or part.lead is None or not part.lead[1] <= start:
        return text[start:end], 0
    lead = text[slice(*part.lead)]
    return f"{lead}\n{text[start:end]}", len(lead) + 1


def _parts(text: str) -> Iterator[Part]:
    lines = [(m.start(), m.end()) for m in re.finditer(r"[^\n]*\n|[^\n]+", text)]
    n = 0
    while n < len(lines):
        start, end = lines[n]
        line = text[start:end]
        if not line.strip():
            n += 1
        elif fence := _FENCE.match(line):
            n, part = _code(text, lines, n, fence[1])
            yield part
        elif line.lstrip().startswith("|"):
            n, part = _table(text, lines, n)
            yield part
        elif _ITEM.match(line):
            n, part = _list(text, lines, n)
            yield part
        elif line.startswith("#") and line.split()[0] in _HEADINGS:
            n += 1
            yield Part("caption", *_trimmed(text, start, end), ())
        else:
            n, part = _prose(text, lines, n)
            yield part


def _code(text: str, lines: list[Span], n: int, fence: str) -> tuple[int, Part]:
    last = n + 1
    while last < len(lines) and not text[slice(*lines[last])].lstrip().startswith(fence):
        last += 1
    inside = _trimmed(text, lines[n][1], lines[min(last, len(lines)) - 1][1] if last > n + 1 else lines[n][1])
    end = lines[last][1] if last < len(lines) else len(text)
    units = (inside,) if inside[0] < inside[1] else ()
    return last + 1, Part("code", *_trimmed(text, lines[n][0], end), units)


def _table(text: str, lines: list[Span], n: int) -> tuple[int, Part]:
    last = n
    while last < len(lines) and text[slice(*lines[last])].lstrip().startswith("|"):
        last += 1
    rows = [_trimmed(text, *line) for line in lines[n:last]]
    headed = len(rows) > 1 and _is_rule(text, rows[1])
    units = tuple(row for row in rows[2 if headed else 0 :] if not _is_rule(text, row))
    return last, Part("table", rows[0][0], rows[-1][1], units, rows[0] if headed else None)


def _is_rule(text: str, row: Span) -> bool:
    cells = text[slice(*row)].strip().strip("|").split("|")
    return all(set(cell.strip()) <= set(":-") and "--" in cell for cell in cells)


def _list(text: str, lines: list[Span], n: int) -> tuple[int, Part]:
    starts, last = [n], n + 1
    margin = _indent(text[slice(*lines[n])])
    while last < len(lines):
        line = text[slice(*lines[last])]
        if _ITEM.match(line):
            starts.append(last)
        elif not line.strip():
            following = text[slice(*lines[last + 1])] if last + 1 < len(lines) else ""
            deeper = following[:2].isspace() and following.strip() and _indent(following) > margin
            if not (_ITEM.match(following) or deeper):
                break
        elif not line[:1].isspace() and not text[slice(*lines[last - 1])].strip():
            break
        last += 1
    ends = [*(lines[m - 1][1] for m in starts[1:]), lines[last - 1][1]]
    units = tuple(_trimmed(text, lines[m][0], end) for m, end in zip(starts, ends, strict=True))
    return last, Part("list", units[0][0], units[-1][1], units)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _prose(text: str, lines: list[Span], n: int) -> tuple[int, Part]:
    """A paragraph, or a definition where its second line begins with a colon."""
    defines = n + 1 < len(lines) and text.startswith(_TERM, lines[n + 1][0])
    last = n + 1
    while last < len(lines):
        line = text[slice(*lines[last])]
        if not line.strip():
            following = text[slice(*lines[last + 1])] if last + 1 < len(lines) else ""
            if not (defines and following.startswith("  ") and following.strip()):
                break
        elif (last > n + 1 and not line.startswith("  ")) if defines else _begins(line):
            break
        last += 1
    start, end = _trimmed(text, lines[n][0], lines[last - 1][1])
    if not defines:
        return last, Part("paragraph", start, end, _sentence_spans(text, start, end))
    body = lines[n + 1][0] + len(_TERM)
    return last, Part("definition", start, end, _sentence_spans(text, body, end), _trimmed(text, *lines[n]))


def _begins(line: str) -> bool:
    """True if a line cannot go on with a paragraph."""
    return bool(_FENCE.match(line) or line.startswith("|") or _ITEM.match(line))


def _sentence_spans(text: str, start: int, end: int) -> tuple[Span, ...]:
    return tuple((start + a, start + b) for a, b in sentences(text[start:end]))


def _trimmed(text: str, start: int, end: int) -> Span:
    """The span without the white space around it, but for the indentation of its first line of code."""
    piece = text[start:end]
    if not (stripped := piece.rstrip()):
        return start, start
    first = len(piece) - len(piece.lstrip("\n"))
    return start + first, start + len(stripped)


def fragment(place: str) -> str:
    """A block's place as the end of an address, behind "#"."""
    return quote(place, safe=_FRAGMENT)


def blocks(text: str, place: str = "") -> tuple[Block, ...]:
    """The blocks of a text without headings, such as a row's; `place` is theirs."""
    return tuple(Block(text[part.start : part.end], part.kind, (), place) for part in parts(text))
