"""AsciiDoc, rewritten as Markdown line by line, and read as that.

A reader of our own: Asciidoctor is a program in Ruby, and Python has no reader that is kept up. Nothing is included.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import BinaryIO

from surefoot.documents.loaders import Document, DocumentProblem, Unreadable
from surefoot.documents.loaders.markdown import headed
from surefoot.documents.loaders.text import decoded
from surefoot.text.blocks import table

_HEADING = re.compile(r"(={1,6})[ \t]+(\S.*)\Z")
_ATTRIBUTE = re.compile(r":!?([\w-]{1,60})!?:(?:[ \t]+(.{1,300}))?\Z")
_MARKED = re.compile(r"\[([^\[\]]{0,300})\]\Z|\[\[[^\[\]]{1,200}\]\]\Z")
_LISTING = re.compile(r"(-{4,}|\.{4,}|\+{4,}|```)\w{0,30}\Z")
_FRAME = re.compile(r"(?:={4,}|\*{4,}|_{4,}|--)\Z")
_ITEM = re.compile(r"[ \t]*(\*{1,5}|-|\.{1,5}|\d{1,3}\.)[ \t]+(\S.*)\Z")
_TERM = re.compile(r"[ \t]*(\S.{0,500}?)(?::{2,4}|;;)(?:[ \t]+(\S.*))?\Z")
_SILENT = re.compile(r"(?:include|ifdef|ifndef|ifeval|endif|toc)::|//(?!/)")
_UNDERLINE = re.compile(r"([=~^+-])\1{2,200}\Z")
_LEVELS = "=-~^+"
_MACRO = re.compile(r"\b[a-z]{3,10}:{1,2}([^\s\[\]:]{0,500})\[([^\[\]\n]{0,500})\]")
_ADDRESS = re.compile(r"\b(https?://[^\s\[\]]{1,500})\[([^\[\]\n]{1,500})\]")
_REFERENCE = re.compile(r"<<([^<>,\n]{1,200})(?:,([^<>\n]{1,300}))?>>")
_NAMED = re.compile(r"\{([\w-]{1,60})\}")
_LONGEST_VALUE = 100
"""Characters of an attribute, at most: each may name others, and be named many times."""


class AsciiDocLoader:
    """Reads AsciiDoc, with its headings as paths and the numbers of lines as places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document, titled by its first heading."""
        text, problem = decoded(stream)
        if problem:
            yield problem
        rewritten = _Rewriter(text)
        blocks = tuple(
            replace(block, place=f"L{rewritten.line(int(block.place[1:]))}") for block in headed(rewritten.markdown())
        )
        if not blocks:
            raise Unreadable("holds no text")
        yield Document("", next((block.path[0] for block in blocks if block.path), PurePath(name).stem), blocks)


class _Rewriter:
    """An AsciiDoc text as Markdown."""

    def __init__(self, text: str) -> None:
        self._written: list[str] = []
        self._begins: list[int] = []
        self._size = 0
        self._values: dict[str, str] = {}
        self._end = ""
        self._language = ""
        self._margin = ""
        self._term = ""
        self._rows: list[str] = []
        for number, line in enumerate(text.split("\n"), start=1):
            self._begins.append(self._size + 1)
            self._take(line.rstrip(), number)
        if self._end == "|===":
            self._write(_table(self._rows))
        if term := self._term:
            self._term = ""
            self._write(term)

    def markdown(self) -> str:
        """The whole text."""
        return "\n".join(self._written)

    def line(self, number: int) -> int:
        """The line of the AsciiDoc that this line of the Markdown comes from."""
        return bisect_right(self._begins, number)

    def _write(self, text: str) -> None:
        if self._term and text:  # a term whose meaning is a list or a listing
            text, self._term = f"\n{self._term}:\n{text}", ""
        self._written.append(text)
        self._size += 1 + text.count("\n")

    def _take(self, line: str, number: int) -> None:
        if self._end:
            self._within(line)
        elif line == "|===":
            self._end, self._rows = line, []
            self._write("")
        elif self._underlines(line):
            level = _LEVELS.index(line[0]) + 1
            self._written[-1] = f"{'#' * level} {self._written[-1]}"
            self._write("")
        elif _LISTING.match(line):
            self._end = line.rstrip("abcdefghijklmnopqrstuvwxyz") if line[0] == "`" else line
            self._write(f"````{self._language}")
        elif line.startswith("////"):
            self._end = line
        else:
            self._say(line)

    def _underlines(self, line: str) -> bool:
        """Whether the line makes a heading of the one above: it is about as long."""
        above = self._written[-1] if self._written else ""
        alone = len(self._written) < 2 or not self._written[-2].strip()
        title = bool(above.strip()) and above[0] not in "#-|:` "
        return bool(_UNDERLINE.match(line)) and alone and title and abs(len(line) - len(above)) <= 3

    def _within(self, line: str) -> None:
        """A line of a table, a comment, or a listing."""
        closes = line == self._end
        if self._end == "|===" and closes:
            self._write(_table(self._rows))
        elif self._end == "|===":
            self._rows.append(self._plain(line))
        elif not self._end.startswith("////"):
            self._write("````" if closes else line)
        if closes:
            self._end = self._language = ""

    def _say(self, line: str) -> None:
        if found := _ATTRIBUTE.match(line):
            self._values[found[1]] = self._plain(found[2] or "")[:_LONGEST_VALUE]
        elif found := _MARKED.match(line):
            words = (found[1] or "").replace(" ", "").split(",")
            self._language = words[1] if len(words) > 1 and words[0] in ("source", "") else ""
            self._write("")
        elif _FRAME.match(line) or _SILENT.match(line):
            self._write("")
        elif found := _HEADING.match(line):
            self._margin = ""
            self._write(f"{'#' * len(found[1])} {self._plain(found[2])}")
        elif found := _ITEM.match(line):
            mark = found[1]
            depth = len(mark) - 1 if mark[0] in "*." else 0
            self._margin = "  " * (depth + 1)
            self._write(f"{'  ' * depth}{'-' if mark[0] in '*-' else '1.'} {self._plain(found[2])}")
        elif found := _TERM.match(line):
            term = self._plain(found[1])
            self._term = f"{self._term}, {term}" if 0 < len(self._term) < _LONGEST_VALUE else term
            if found[2]:
                self._define(found[2])
        elif line == "+":
            self._write("")
        elif not line:
            self._margin = ""
            self._write("")
        elif line[0] == "." and line[1:2].isalnum():
            self._write(f"\n{self._plain(line[1:])}\n")
        elif self._term:
            self._define(line)
        else:
            self._write(self._margin + self._plain(line.lstrip() if self._margin else line))

    def _define(self, text: str) -> None:
        term, self._term, self._margin = self._term, "", "  "
        self._write(f"\n{term}\n: {self._plain(text.strip())}")

    def _plain(self, line: str) -> str:
        line = _NAMED.sub(lambda found: self._values.get(found[1], found[0]), line)
        line = _REFERENCE.sub(lambda found: (found[2] or found[1]).strip(), line)
        line = _ADDRESS.sub(r"[\2](\1)", line)
        return _MACRO.sub(lambda found: f"{found[1]}({found[2]})" if found[2].isdigit() else found[2] or found[1], line)


def _table(lines: list[str]) -> str:
    """The rows between two marks of a table; a first row above an empty line is its header."""
    cells = [[cell.strip() for cell in line.split("|")[1:]] for line in lines if line.startswith("|")]
    if not cells:
        return ""
    width = len(cells[0])
    if width > 1 and all(len(row) == 1 for row in cells[1:]):  # a cell a line below the header
        flat = [cell for row in cells[1:] for cell in row]
        cells = [cells[0], *(flat[n : n + width] for n in range(0, len(flat), width))]
    starts = [n for n, line in enumerate(lines) if line.startswith("|")]
    headed = len(lines) > starts[0] + 1 and not lines[starts[0] + 1].strip()
    return table(cells[1:], cells[0]) if headed and len(cells) > 1 else table(cells)
