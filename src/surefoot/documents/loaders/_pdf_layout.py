"""From the lines of a PDF to its blocks: paragraphs, lists, code and definitions, under headings, page by page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from surefoot.documents.loaders import Block
from surefoot.documents.loaders._headings import OpenHeadings
from surefoot.documents.loaders._pdf_columns import LEADERS, arranged, joined, tabular
from surefoot.documents.loaders._pdf_lines import WIDE_GAP, Line
from surefoot.documents.loaders._pdf_running import without_running
from surefoot.text.blocks import code, definition, table
from surefoot.text.words import sentences
from surefoot.types import BlockKind

_BULLET = re.compile(r"[•◦▪‣·∙●○■□*–—-]\s+(?=\S)")
_NUMBER = re.compile(r"\(?(?:\d{1,3}|[a-z])[.)]\s+(?=\S)")
_NUMBERED = re.compile(
    r"(?:(?:chapter|appendix|part|section|kapitel|chapitre|teil)\s+\S+|[\dA-Z]+(?:\.\d+)*[.:]?|[IVXL]+[.:]?)\s+(?=\S)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_HEAD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*(?=[^-]|\Z)")
_TAIL = re.compile(r"[^\W\d_]+\Z")
_WIDE = "\u2e80-\u9fff\uff00-\uffef"
_BETWEEN_WIDE = re.compile(rf"(?<=[{_WIDE}]) (?=[{_WIDE}])")

_CONTENTS = 5
"""Lines with dots up to a number that make a table of contents of a page."""
_LONGEST_HEADING = 200


@dataclass(frozen=True, slots=True)
class Heading:
    """An entry of a PDF's outline."""

    level: int
    title: str
    page: int
    """Index of its page."""
    y: float | None
    """Its height on the page; None: unknown."""


@dataclass(slots=True)
class _Group:
    """Lines that make a block or an item of a list."""

    lines: list[Line]
    kind: BlockKind = "paragraph"
    left: float = 0
    """Where its lines begin, from the second one on."""

    @property
    def top(self) -> Line:
        return self.lines[0]

    @property
    def bottom(self) -> Line:
        return self.lines[-1]


def laid_out(pages: Sequence[Sequence[Line]], outline: Sequence[Heading]) -> Iterator[Block]:
    """The blocks of all pages, in their order, without running headers, footers and page numbers.

    The headings are those of the outline; without one they are the lines in larger letters.
    """
    pages = [[*arranged([*_joined(page)])] for page in without_running(pages)]
    text = Text(pages)
    yield from _mended(_headed(pages, text, outline), text)


def _headed(pages: Sequence[Sequence[Line]], text: Text, outline: Sequence[Heading]) -> Iterator[Block]:
    by_page: dict[int, list[Heading]] = defaultdict(list)
    for heading in outline:
        by_page[heading.page].append(heading)
    path = OpenHeadings()
    for number, page in enumerate(pages):
        place = f"page={number + 1}"
        headings = _outlined(page, by_page[number]) if outline else text.enlarged(page)
        at = 0
        for start, end, level, title in headings:
            yield from text.blocks(page[at:start], path, place)
            yield from path.enter(level, title[:_LONGEST_HEADING], place)
            at = max(at, end)
        yield from text.blocks(page[at:], path, place)
    yield from path.close()


def _mended(blocks: Iterable[Block], text: Text) -> Iterator[Block]:
    """The blocks; a sentence that a page's end cuts stands whole on the page where it begins."""
    held: Block | None = None
    for block in blocks:
        if held and held.place != block.place and _goes_on_overleaf(held, block):
            end = sentences(block.text)[0][1]
            held = replace(held, text=text.joined(held.text, block.text[:end]))
            block = replace(block, text=block.text[end:].lstrip())
        if held:
            yield held
        held = block if block.text else None
    if held:
        yield held


def _goes_on_overleaf(before: Block, block: Block) -> bool:
    similar = before.kind == block.kind == "paragraph" and before.path == block.path
    return similar and block.text[0].islower() and (before.text[-1].isalpha() or before.text[-1] in ",;-")


def _joined(page: Sequence[Line]) -> Iterator[Line]:
    """Lines side by side as one, such as a bullet and its text."""
    held: Line | None = None
    for line in page:
        if held and abs(held.y - line.y) < 0.4 * min(held.size, line.size) and line.left >= held.right - 1:
            pieces = (*(held.pieces or (held,)), *(line.pieces or (line,)))
            wide = line.left - held.right > WIDE_GAP * line.size
            both = joined((held, line))
            held = replace(both, y=line.y, mono=held.mono and line.mono, pieces=pieces if wide else ())
        else:
            if held:
                yield held
            held = line
    if held:
        yield held


def _outlined(page: Sequence[Line], headings: Iterable[Heading]) -> list[tuple[int, int, int, str]]:
    """First line, line behind the last, level and title of each heading on a page.

    A heading that is not printed stands before the first line below its place.
    """
    printed: dict[str, tuple[int, int]] = {}
    for count in (3, 2, 1):
        for start in range(len(page) - count + 1):
            words = " ".join(line.text for line in page[start : start + count])
            for key in _keys(words) if len(words) <= _LONGEST_HEADING else ():
                if key not in printed or printed[key][1] - printed[key][0] >= count:
                    printed.setdefault(key, (start, start + count))
    found = []
    for heading in headings:
        spans = [printed[key] for key in _keys(heading.title) if key in printed]
        if spans:
            start, end = spans[0]
            title = " ".join(line.text for line in page[start:end])
        else:
            y = heading.y
            start = end = next((n for n, line in enumerate(page) if y is not None and line.y < y), 0)
            title = heading.title
        found.append((start, end, heading.level, title))
    found.sort(key=lambda item: item[0])
    return found


def _kind(line: Line, contents: bool) -> BlockKind:
    """Of the block that a line begins; `contents`: there is a table of contents on its page."""
    if line.cells:
        return "table"
    if LEADERS.search(line.text) or (contents and line.text.rpartition(" ")[2].isdecimal()):
        return "contents"
    if _BULLET.match(line.text) or _NUMBER.match(line.text):
        return "list"
    return "code" if line.mono else "paragraph"


def _keys(title: str) -> list[str]:
    """The letters and digits of a title, also without its number."""
    bare = _NUMBERED.sub("", title, count=1)
    return list(dict.fromkeys(key for text in (title, bare) if (key := "".join(filter(str.isalnum, text.lower())))))


class Text:
    """Facts of all pages together: the size of their letters, the gap between their lines, and how words are spelt."""

    def __init__(self, pages: Sequence[Sequence[Line]]) -> None:
        sizes: Counter[float] = Counter()
        gaps: dict[int, Counter[float]] = defaultdict(Counter)
        self._words: set[str] = set()
        for page in pages:
            for line in page:
                sizes[_rounded(line.size)] += len(line.text)
                self._words.update(word.lower() for word in _WORD.findall(line.text))
            for before, line in pairwise(page):
                if 0.5 * line.size < (gap := before.y - line.y) < 2 * line.size:
                    gaps[round(line.size)][_rounded(gap)] += 1
        self._size = sizes.most_common(1)[0][0] if sizes else 10.0
        self._gaps = {size: seen.most_common(1)[0][0] for size, seen in gaps.items()}
        large = Counter({size: count for size, count in sizes.items() if size > 1.15 * self._size})
        few = large.total() <= 0.15 * sizes.total()
        self._levels = {size: level for level, size in enumerate(sorted(large, reverse=True)[:6])} if few else {}

    def enlarged(self, page: Sequence[Line]) -> list[tuple[int, int, int, str]]:
        """First line, line behind the last, level and title of each heading, told by the size of its letters."""
        found = []
        at = 0
        for level, same in groupby(page, self._level):
            run = list(same)
            title = " ".join(line.text for line in run)
            if level >= 0 and len(title) <= _LONGEST_HEADING and any(map(str.isalpha, title)):
                found.append((at, at + len(run), level, title))
            at += len(run)
        return found

    def _level(self, line: Line) -> int:
        """The level of the heading that it may be; -1: it is none."""
        return -1 if line.cells else self._levels.get(_rounded(line.size), -1)

    def blocks(self, page: Sequence[Line], path: OpenHeadings, place: str) -> Iterator[Block]:
        """The blocks of lines without a heading among them."""
        if not page:
            return
        headings = path.path()
        for kind, text in self._written(self._groups(page)):
            yield Block(text, kind, headings, place)

    def _groups(self, page: Sequence[Line]) -> list[_Group]:
        groups: list[_Group] = []
        contents = sum(1 for line in page if LEADERS.search(line.text)) >= _CONTENTS
        for line, end in zip(page, self._right_ends(page), strict=True):
            group = groups[-1] if groups else None
            if group and self._goes_on(group, line, end):
                group.lines.append(line)
                if len(group.lines) == 2 or group.kind != "list":
                    group.left = min(line.left, group.left) if group.kind == "code" else line.left
            else:
                groups.append(_Group([line], _kind(line, contents), line.left))
        return groups

    def _right_ends(self, page: Sequence[Line]) -> list[float]:
        """For each line where the longest ends of those that stand close together with it."""
        clusters: list[list[Line]] = []
        for line in page:
            before = clusters[-1][-1] if clusters else None
            if before and self._close(before, line) and abs(line.left - before.left) < 3.5 * line.size:
                clusters[-1].append(line)
            else:
                clusters.append([line])
        return [end for same in clusters for end in [max(line.right for line in same)] * len(same)]

    def _usual(self, size: float) -> float:
        """The gap between two lines of one paragraph, in letters of this size."""
        return self._gaps.get(round(size), 1.2 * size)

    def _close(self, before: Line, line: Line) -> bool:
        """True if a line is as far below another as one of the same paragraph would be."""
        return 0 < before.y - line.y <= 1.3 * self._usual(line.size)

    def _goes_on(self, group: _Group, line: Line, end: float) -> bool:
        """True if a line belongs to the group before it."""
        last, em = group.lines[-1], line.size
        if line.cells or last.cells:
            return len(line.cells) == len(last.cells)
        if group.kind == "code":
            return line.mono and 0 < last.y - line.y < 3.2 * self._usual(line.size)
        if not self._close(last, line) or not 0.85 < line.size / last.size < 1.18 or _BULLET.match(line.text):
            return False
        if group.kind == "contents":
            return not last.text[-1].isdigit() and line.left > last.left
        if LEADERS.search(line.text) or _ended_early(last, line, end):
            return False
        if len(group.lines) > 1:
            return abs(line.left - group.left) < 0.5 * em
        if _NUMBER.match(line.text) and line.left <= last.left + 0.5 * em:
            return group.kind != "list" and line.left < last.left - 0.5 * em
        if group.kind == "list":
            return line.left > last.left - 0.5 * em
        return -3.5 * em < line.left - last.left < 0.5 * em

    def _written(self, groups: Sequence[_Group]) -> Iterator[tuple[BlockKind, str]]:
        """Each block's kind and text."""
        n = 0
        while n < len(groups):
            rows, behind = self._rows(groups, n)
            if rows:
                yield "table", table(rows)
                n = behind
                continue
            group = groups[n]
            if group.kind == "table":
                yield "table", tabular(group.lines)
                n += 1
                continue
            run = 1
            while n + run < len(groups) and self._follows(groups[n + run - 1], groups[n + run]):
                run += 1
            if group.kind in ("list", "contents") or (run > 2 and group.kind == "paragraph"):
                yield group.kind if group.kind == "contents" else "list", self._list(groups[n : n + run])
                n += run
            elif self._is_term(groups[n : n + 2]):
                yield "definition", definition(self._text(group.lines), self._text(groups[n + 1].lines))
                n += 2
            elif group.kind == "code":
                yield "code", code(self._typed(group))
                n += 1
            else:
                yield "paragraph", self._text(group.lines)
                n += 1

    def _rows(self, groups: Sequence[_Group], n: int) -> tuple[list[list[str]], int]:
        """The rows of the table that begins with a group, and the group behind it."""
        rows: list[list[str]] = []
        while n < len(groups):
            cells = [groups[n]]
            while n + len(cells) < len(groups) and self._is_beside(cells, groups[n + len(cells)]):
                cells.append(groups[n + len(cells)])
            if len(cells) == 1:
                break
            rows.append([self._text(cell.lines) for cell in cells])
            n += len(cells)
        return rows, n

    def _is_beside(self, cells: Sequence[_Group], group: _Group) -> bool:
        """True if a group is the next cell of a row: to the right of the last, and no lower than it."""
        last, line = cells[-1].bottom, group.top
        top = max(cells[0].top.y, cells[-1].top.y) + 2 * self._usual(line.size)
        return line.left > last.left + line.size and last.y + 0.3 * line.size < line.y < top

    def _follows(self, before: _Group, group: _Group) -> bool:
        """True if a group is the next item of the list that the one before is in."""
        if group.kind != before.kind or group.kind == "code":
            return False
        if group.kind != "paragraph":
            return True
        last, line = before.lines[-1], group.lines[0]
        similar = abs(line.left - before.lines[0].left) < 0.5 * line.size and line.font == before.lines[0].font
        return self._close(last, line) and similar and len(before.lines) == len(group.lines) == 1

    def _is_term(self, groups: Sequence[_Group]) -> bool:
        if len(groups) < 2 or groups[1].kind != "paragraph" or len(groups[0].lines) > 2:
            return False
        term, piece = groups[0].lines[-1], groups[1].lines[0]
        if term.text.isdecimal():  # the mark of a footnote
            return False
        return self._close(term, piece) and piece.left > term.left + piece.size and term.font != piece.font

    def _list(self, items: Sequence[_Group]) -> str:
        lefts: list[float] = []
        written = []
        for item in items:
            first = item.lines[0]
            while lefts and first.left < lefts[-1] - 0.5 * first.size:
                lefts.pop()
            if not lefts or first.left > lefts[-1] + 0.5 * first.size:
                lefts.append(first.left)
            text = self._text(item.lines)
            number = _NUMBER.match(text)
            mark = number[0].strip(" (") if number and text[number.start()].isdigit() else "-"
            text = text[number.end() :] if mark != "-" and number else _BULLET.sub("", text, count=1)
            written.append(f"{'  ' * min(len(lefts) - 1, 9)}{mark} {LEADERS.sub(' ', text).strip()}")
        return "\n".join(written)

    def _text(self, lines: Sequence[Line]) -> str:
        text = lines[0].text
        for before, line in pairwise(lines):
            text = self.joined(text, line.text, before.hyphen)
        return _BETWEEN_WIDE.sub("", text)

    def joined(self, before: str, after: str, hyphen: bool = False) -> str:
        """Two lines as one, words that the line's end had cut made whole; `hyphen`: one stood behind the first."""
        return self._hyphenated(before, after, hyphen) + after

    def _hyphenated(self, before: str, after: str, hyphen: bool) -> str:
        """The text before a line's end, with what joins it to the text after: nothing, a hyphen, or a space."""
        visible = before.endswith("-")
        bare = before[:-1] if visible and not hyphen else before
        head, tail = _TAIL.search(bare[-80:]), _HEAD.match(after[:80])
        if not (hyphen or (visible and head and tail)):
            return before + " "
        if not (head and tail):
            return bare + "-"
        whole, parted = (head[0] + tail[0]).lower(), f"{head[0]}-{tail[0]}".lower()
        if parted in self._words:
            return bare + "-"
        return bare if whole in self._words or tail[0].islower() else bare + "-"

    def _typed(self, group: _Group) -> str:
        """Code, with the indentation and the empty lines that its place on the page shows."""
        widths = sorted((line.right - line.left) / len(line.text) for line in group.lines)
        width = max(widths[len(widths) // 2], 1.0)
        left = min(line.left for line in group.lines)
        usual = self._usual(group.lines[0].size)
        typed = []
        for before, line in pairwise([group.lines[0], *group.lines]):
            typed += [""] * (before.y - line.y > 1.6 * usual)
            typed.append(" " * min(round((line.left - left) / width), 80) + line.text + "-" * line.hyphen)
        return "\n".join(typed)


def _ended_early(line: Line, following: Line, end: float) -> bool:
    """True if the next line's first word would have had room on this one, up to `end`: then its author ended it."""
    first = following.text.partition(" ")[0]
    word = (following.right - following.left) * (len(first) + 1) / len(following.text)
    return not line.hyphen and line.right + word < end - 0.3 * line.size


def _rounded(length: float) -> float:
    return round(length * 2) / 2
