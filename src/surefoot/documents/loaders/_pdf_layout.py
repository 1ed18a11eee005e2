"""From the lines of a PDF to its blocks: paragraphs, lists, code and definitions, under headings, page by page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import NamedTuple

from surefoot.documents.loaders import Block
from surefoot.documents.loaders._headings import OpenHeadings
from surefoot.documents.loaders._pdf_lines import Line
from surefoot.documents.loaders._pdf_order import LEADERS, ordered, rows
from surefoot.documents.loaders._pdf_running import without_running
from surefoot.text.blocks import code
from surefoot.text.words import sentences
from surefoot.types import BlockKind

_BULLET = re.compile(r"[•◦▪‣·∙●○■□*–—-]\s+(?=\S)")
_NUMBER = re.compile(r"\(?(?:\d{1,3}|[a-z])[.)]\s+(?=\S)")
_NUMBERED = re.compile(
    r"(?:(?:chapter|appendix|part|section|kapitel|chapitre|teil)\s+\S+|[\dA-Z]+(?:\.\d+)*[.:]?|[IVXL]+[.:]?)\s+(?=\S)",
    re.IGNORECASE,
)
_SIGNS = ".,:;!?()[]{}'\"“”„‘’«»…-"
_WIDE = "\u2e80-\u9fff\uff00-\uffef"
_BETWEEN_WIDE = re.compile(rf"(?<=[{_WIDE}]) (?=[{_WIDE}])")

_CONTENTS = 5
"""Lines with dots up to a number that make a table of contents of a page."""
_LONGEST_HEADING = 200

_ALIKE = 20
"""Points within which lines begin at one place."""
_LISTS = ("list", "contents")

Group = tuple[BlockKind, list[Line]]
"""Lines that make a block or an item of a list."""
Found = tuple[int, int, int, str]
"""Of a heading on a page: its first line, the line behind its last, its level and its title."""


class Heading(NamedTuple):
    """An entry of a PDF's outline: also the index of its page, and its height there; None: unknown."""

    level: int
    title: str
    page: int
    y: float | None


def laid_out(pages: Sequence[Sequence[Line]], outline: Sequence[Heading]) -> Iterator[Block]:
    """The blocks of all pages, in their order, without running headers, footers and page numbers.

    The headings are those of the outline; without one they are the lines in larger letters.
    """
    pages = [[*ordered(page)] for page in without_running([rows(page) for page in pages])]
    text = _Text(pages)
    held: Block | None = None
    for block in _headed(pages, text, outline):
        if held and _goes_on_later(
            held, block
        ):  # a sentence that a page's or column's end cuts stands whole where it begins
            end = sentences(block.text)[0][1]
            held = replace(held, text=text.joined(held.text, block.text[:end]))
            block = replace(block, text=block.text[end:].lstrip())
        if held:
            yield held
        held = block if block.text else None
    if held:
        yield held


def _headed(pages: Sequence[Sequence[Line]], text: _Text, outline: Sequence[Heading]) -> Iterator[Block]:
    by_page: dict[int, list[Heading]] = defaultdict(list)
    for heading in outline:
        by_page[heading.page].append(heading)
    path = OpenHeadings()
    for number, page in enumerate(pages):
        place, at = f"page={number + 1}", 0
        headings = _outlined(page, by_page[number]) if outline else text.enlarged(page)
        for start, end, level, title in (*headings, (len(page), len(page), 0, "")):
            for kind, words in text.written(page[at:start]):
                yield Block(words, kind, path.path(), place)
            if title:
                yield from path.enter(level, title[:_LONGEST_HEADING], place)
            at = max(at, end)
    yield from path.close()


def _goes_on_later(before: Block, block: Block) -> bool:
    similar = before.kind == block.kind == "paragraph" and before.path == block.path
    return similar and block.text[0].islower() and (before.text[-1].isalpha() or before.text[-1] in ",;-")


def _outlined(page: Sequence[Line], headings: Sequence[Heading]) -> list[Found]:
    """A heading that is not printed stands before the first line below its place."""
    printed: dict[str, tuple[int, int]] = {}
    titles = tuple(key for heading in headings for key in _keys(heading.title))
    letters = [_letters(line.text) for line in page] if titles else []
    for count in (3, 2, 1):
        for start in range(len(letters) - count + 1):
            if "".join(letters[start : start + count]).endswith(titles):
                for key in _keys(" ".join(line.text for line in page[start : start + count])):
                    printed.setdefault(key, (start, start + count))
    found = []
    for heading in headings:
        if span := next((printed[key] for key in _keys(heading.title) if key in printed), None):
            found.append((*span, heading.level, " ".join(line.text for line in page[slice(*span)])))
        else:
            y = heading.y
            start = next((n for n, line in enumerate(page) if y is not None and line.y < y), 0)
            found.append((start, start, heading.level, heading.title))
    return sorted(found, key=lambda item: item[0])


def _keys(title: str) -> list[str]:
    """The letters and digits of a title, also without its number; none of a text that is too long for one."""
    texts = (title, _NUMBERED.sub("", title, count=1)) if len(title) <= _LONGEST_HEADING else ()
    return [key for text in texts if (key := _letters(text))]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _kind(line: Line, contents: bool) -> BlockKind:
    """Of the block that a line begins; `contents`: there is a table of contents on its page."""
    if line.table:
        return "table"
    if LEADERS.search(line.text) or (contents and line.text.rpartition(" ")[2].isdecimal()):
        return "contents"
    if _BULLET.match(line.text) or _NUMBER.match(line.text):
        return "list"
    return "code" if line.mono else "paragraph"


class _Text:
    """Facts of all pages together: the size of their letters, the gap between their lines, and how words are spelt."""

    def __init__(self, pages: Sequence[Sequence[Line]]) -> None:
        sizes: Counter[float] = Counter()
        gaps: dict[int, Counter[float]] = defaultdict(Counter)
        self._compounds: set[str] = set()
        for page in pages:
            for line in page:
                sizes[_rounded(line.size)] += len(line.text)
                if "-" in line.text:
                    self._compounds.update(word.strip(_SIGNS) for word in line.text.lower().split() if "-" in word)
            for before, line in pairwise(page):
                if 0.5 * line.size < (gap := before.y - line.y) < 2 * line.size:
                    gaps[round(line.size)][_rounded(gap)] += 1
        usual = sizes.most_common(1)[0][0] if sizes else 10.0
        self._gaps = {size: seen.most_common(1)[0][0] for size, seen in gaps.items()}
        large = {size: count for size, count in sizes.items() if size > 1.15 * usual}
        few = sum(large.values()) <= 0.15 * sizes.total()
        self._levels = {size: level for level, size in enumerate(sorted(large, reverse=True)[:6])} if few else {}

    def enlarged(self, page: Sequence[Line]) -> Iterator[Found]:
        """The lines in larger letters, as headings."""
        at = 0
        for level, same in groupby(page, lambda line: -1 if line.table else self._levels.get(_rounded(line.size), -1)):
            run = list(same)
            title = " ".join(line.text for line in run)
            if level >= 0 and len(title) <= _LONGEST_HEADING and any(map(str.isalpha, title)):
                yield at, at + len(run), level, title
            at += len(run)

    def _groups(self, page: Sequence[Line]) -> list[Group]:
        groups: list[Group] = []
        contents = sum(1 for line in page if LEADERS.search(line.text)) >= _CONTENTS
        ends: dict[int, float] = defaultdict(float)
        for line in page:
            ends[round(line.left / _ALIKE)] = max(ends[round(line.left / _ALIKE)], line.right)
        for line in page:
            if groups and self._goes_on(*groups[-1], line, ends[round(groups[-1][1][-1].left / _ALIKE)]):
                groups[-1][1].append(line)
            else:
                groups.append((_kind(line, contents), [line]))
        return groups

    def _usual(self, size: float) -> float:
        """The gap between two lines of one paragraph, in letters of this size."""
        return self._gaps.get(round(size), 1.2 * size)

    def _close(self, before: Line, line: Line) -> bool:
        """True if a line is as far below another as one of the same paragraph would be."""
        return 0 < before.y - line.y <= 1.3 * self._usual(line.size)

    def _goes_on(self, kind: BlockKind, group: Sequence[Line], line: Line, end: float) -> bool:
        """True if a line belongs to the group before it."""
        last, em = group[-1], line.size
        if kind == "code":
            return line.mono and 0 < last.y - line.y < 3.2 * self._usual(em)
        if line.table or kind == "table" or (last.parted and line.parted):
            return False
        if not self._close(last, line) or not 0.85 < em / last.size < 1.18:
            return False
        if kind == "contents":
            return not last.text[-1].isdigit() and line.left > last.left
        if _BULLET.match(line.text) or LEADERS.search(line.text) or _ended_early(last, line, end):
            return False
        if len(group) > 1:
            return abs(line.left - group[1 if kind == "list" else -1].left) < 0.5 * em
        if _NUMBER.match(line.text) and line.left <= last.left + 0.5 * em:
            return kind != "list" and line.left < last.left - 0.5 * em
        return line.left > last.left - 0.5 * em if kind == "list" else -3.5 * em < line.left - last.left < 0.5 * em

    def written(self, page: Sequence[Line]) -> Iterator[tuple[BlockKind, str]]:
        """The kind and text of each block of lines without a heading among them."""
        for (kind, _), same in groupby(
            enumerate(self._groups(page)), lambda it: (it[1][0], it[1][0] in _LISTS or it[0])
        ):
            groups = [group for _, (_, group) in same]
            if kind == "table":
                yield kind, groups[0][0].table
            elif kind == "code":
                yield kind, code(self._typed(groups[0]))
            else:
                yield kind, self._list(groups) if kind in _LISTS else self._text(groups[0])

    def _list(self, items: Sequence[Sequence[Line]]) -> str:
        least, written = min(lines[0].left for lines in items), []
        for lines in items:
            depth = round((lines[0].left - least) / (1.5 * lines[0].size))
            text = _BULLET.sub("", self._text(lines), count=1)
            number = _NUMBER.match(text)
            item = text.lstrip("(") if number and any(map(str.isdigit, number[0])) else f"- {text}"
            written.append("  " * min(depth, 9) + LEADERS.sub(" ", item).strip())
        return "\n".join(written)

    def _text(self, lines: Sequence[Line]) -> str:
        text = lines[0].text
        for before, line in pairwise(lines):
            text = self.joined(text, line.text, before.hyphen)
        return _BETWEEN_WIDE.sub("", text)

    def joined(self, before: str, after: str, hyphen: bool = False) -> str:
        """Two lines as one, words that the line's end had cut made whole; `hyphen`: one stood behind the first."""
        visible = before.endswith("-") and not hyphen
        bare = before.removesuffix("-") if visible else before
        head, tail = bare.rpartition(" ")[2], after.partition(" ")[0]
        parted = head[-1:].isalpha() and tail[:1].isalpha()
        if not hyphen and not (visible and parted):
            return f"{before} {after}"
        is_compound = f"{head}-{tail}".lower().strip(_SIGNS) in self._compounds
        return f"{bare}{'' if parted and tail[0].islower() and not is_compound else '-'}{after}"

    def _typed(self, lines: Sequence[Line]) -> str:
        """Code, with the indentation and the empty lines that its place on the page shows."""
        widths = sorted((line.right - line.left) / len(line.text) for line in lines)
        width, left = max(widths[len(widths) // 2], 1.0), min(line.left for line in lines)
        typed = []
        for before, line in pairwise([lines[0], *lines]):
            typed += [""] * (before.y - line.y > 1.6 * self._usual(lines[0].size))
            typed.append(" " * min(round((line.left - left) / width), 80) + line.text + "-" * line.hyphen)
        return "\n".join(typed)


def _ended_early(line: Line, following: Line, end: float) -> bool:
    """True if the next line's first word would have had room on this one, up to `end`: then its author ended it."""
    first = following.text.partition(" ")[0]
    if line.text[-1] not in ".:;!?" and not first[0].isupper() and first[0].isalnum():
        return False
    word = (following.right - following.left) * (len(first) + 1) / len(following.text)
    return not line.hyphen and line.right + word < end - 0.3 * line.size


def _rounded(length: float) -> float:
    return round(length * 2) / 2
