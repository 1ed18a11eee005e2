"""Markdown: the text as it stands, titled by its front matter or its first heading."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from surefoot.corpus.loaders import Block, Document, DocumentProblem
from surefoot.corpus.loaders.text import decoded
from surefoot.text.blocks import code, parts

_FRONT = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*(\S.*)$", re.MULTILINE)
_HASHES = re.compile(r"(#{1,6})(?:\s|\Z)")
_UNDERLINE = re.compile(r"(?:=+|-{2,})[ \t]*\Z")


class MarkdownLoader:
    """Reads Markdown, with its headings as paths and the numbers of lines as places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document."""
        text, problem = decoded(stream)
        if problem:
            yield problem
        front = _FRONT.match(text)
        named = _FRONT_TITLE.search(front[1]) if front else None
        found = tuple(headed(text))
        title = named[1].strip().strip("\"'") if named else next((block.path[0] for block in found if block.path), "")
        yield Document("", title or PurePath(name).stem, found)


def headed(text: str) -> Iterator[Block]:
    """The blocks of a Markdown text under their headings; a heading with nothing below it is a caption."""
    ends = [match.start() for match in re.finditer("\n", text)]
    path: list[tuple[int, str]] = []
    lonely = ""
    front = _FRONT.match(text)
    begin = front.end() if front else 0
    if front:
        yield Block(code(front[1], "yaml"), "code", place="L1")
    for part in parts(text[begin:]):
        said, place = text[begin + part.start : begin + part.end], f"L{bisect_right(ends, begin + part.start - 1) + 1}"
        level, heading, rest = _heading(said) if part.kind in ("paragraph", "caption") else (0, "", said)
        if level:
            if lonely and path and path[-1][0] >= level:
                yield Block(path[-1][1], "caption", tuple(name for _, name in path[:-1]), lonely)
            path = [(depth, name) for depth, name in path if depth < level] + [(level, heading)]
            lonely = place
        if rest.strip():
            lonely = ""
            yield Block(rest, part.kind, tuple(name for _, name in path), place)
    if lonely and path:
        yield Block(path[-1][1], "caption", tuple(name for _, name in path[:-1]), lonely)


def _heading(said: str) -> tuple[int, str, str]:
    """The level of a heading, 0 for none, its words, and the text that follows it in the same paragraph."""
    first, _, rest = said.partition("\n")
    if hashes := _HASHES.match(first):
        name = first[hashes.end() :].strip().rstrip("#").strip()
        return (len(hashes[1]), name, rest) if name else (0, "", rest)
    below, _, more = rest.partition("\n")
    if below and _UNDERLINE.match(below.strip()):
        return (1 if below.strip()[0] == "=" else 2), first.strip(), more
    return 0, "", said
