"""A third-party loader: the words of a film's subtitles. Its entry point is called as the suffix that it reads."""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable

_TIME = re.compile(r"(?:\d+\s+)?\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}\s*")


class Subtitles:
    """One document a film; what is spoken in one scene is a paragraph."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        text = stream.read().decode("utf-8", "replace").replace("\r\n", "\n")
        if not _TIME.search(text):
            raise Unreadable("has no subtitles with a time; save it as SubRip, in UTF-8")
        scenes = [" ".join(scene.split()) for scene in _TIME.split(text)]
        spoken = tuple(Block(scene) for scene in scenes if scene)
        if not spoken:
            raise Unreadable("has subtitles without a word")
        yield Document("", PurePath(name).stem, spoken)
