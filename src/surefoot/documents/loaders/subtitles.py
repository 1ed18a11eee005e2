"""Subtitles: SubRip and WebVTT."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import PurePath
from typing import BinaryIO

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders.text import decoded
from surefoot.text.blocks import paragraph

_WORDS, _MOST = 40, 100
"""Words of a paragraph, which ends with a sentence; and words after which it ends anywhere."""
_ENDS = (".", "?", "!", "…", "。")


class SubtitlesLoader:
    """Reads subtitles, with the times at which something is spoken as places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document; what is spoken in a row is a paragraph, under no heading."""
        text, problems = decoded(stream)
        yield from problems
        spoken = tuple(_paragraphs(text))
        if not spoken:
            raise Unreadable("holds no subtitles; save it as SubRip or WebVTT")
        yield Document("", PurePath(name).stem, spoken)


def _paragraphs(text: str) -> Iterator[Block]:
    words, place = "", ""
    for time, line in _lines(text):
        place = place or f"t={time}"
        words = f"{words} {line}"
        count = len(words.split())
        if count >= _MOST or (count >= _WORDS and line.endswith(_ENDS)):
            yield Block(paragraph(words), "paragraph", (), place)
            words = place = ""
    if words:
        yield Block(paragraph(words), "paragraph", (), place)


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """The time, as hours, minutes and seconds, and the words of each line that is spoken; one that is shown on, as
    captions that roll do, comes once."""
    time, last = "", ""
    for line in text.split("\n"):
        if "-->" in line:
            start = line.partition("-->")[0].strip().partition(".")[0].partition(",")[0]
            time = start if start.count(":") == 2 else f"00:{start}"
        elif not line.strip():
            time = ""
        elif time and (words := re.sub(r"<v(?:\.\S{1,40})? ([^<>]{1,80})>", r"\1: ", line)):
            words = unescape(re.sub(r"<[^<>]{0,200}>|\{\\[^{}]{0,200}\}", "", words)).strip()
            if words and words != last:
                yield time, words
            last = words
