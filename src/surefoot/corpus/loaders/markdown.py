"""Markdown: the text as it stands, titled by its first heading, with its headings as sections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from surefoot.corpus.loaders import Document, DocumentProblem
from surefoot.corpus.loaders.text import decoded

_FENCES = ("```", "~~~")


class MarkdownLoader:
    """Reads Markdown, with its headings as sections."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document."""
        text, problem = decoded(stream)
        if problem:
            yield problem
        found = list(_headings(text))
        title = found[0][1] if found else PurePath(name).stem
        yield Document("", title, text, sections=tuple(_sections(text, found)))


def _headings(text: str) -> Iterator[tuple[int, str, int]]:
    """Start, text and end of each heading outside fenced code."""
    fence, start, lines = "", 0, text.splitlines(keepends=True)
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        mark = line.lstrip()[:3]
        if fence:
            fence = "" if mark == fence else fence
        elif mark in _FENCES:
            fence = mark
        elif heading := _hashed(line):
            yield start, heading, start + len(line)
        elif line.strip() and len(below.strip()) > 2 and set(below.strip()) == {"="}:
            yield start, line.strip(), start + len(line) + len(below)
        start += len(line)


def _hashed(line: str) -> str:
    words = line.lstrip("#")
    return words.strip().rstrip("#").rstrip() if 1 <= len(line) - len(words) <= 6 and words[:1].isspace() else ""


def _sections(text: str, headings: list[tuple[int, str, int]]) -> Iterator[tuple[int, str]]:
    """Start and name of each section; headings with nothing between them open one, named by the last of them."""
    opened = None
    for number, (start, heading, end) in enumerate(headings):
        opened = start if opened is None else opened
        following = headings[number + 1][0] if number + 1 < len(headings) else len(text)
        if text[end:following].strip() or following == len(text):
            yield opened, heading
            opened = None
