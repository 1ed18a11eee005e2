"""A request to read a file or page, and what comes back: documents cut into passages, an article, or a picture."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from math import inf
from time import time_ns
from typing import Any

from surefoot.documents import limits
from surefoot.documents.loaders import DocumentProblem, Unreadable
from surefoot.documents.storable import CutDocument
from surefoot.types import Passage
from surefoot.types.metadata import usable

MOST_PROBLEMS = 20
"""Problems of a file that are named, at most."""

Answer = Callable[[float], Iterator[list[Any]]]
"""From the seconds there are to the items that the process writes about a file."""


@dataclass(frozen=True, slots=True)
class Request:
    """A file to read, given by its path, or a page, given by its bytes."""

    name: str
    """Its suffix says how to read it; the rest is the title unless the content has one."""
    url: str
    """Where a reader finds it."""
    size: int
    path: str | None = None
    space: str = ""
    """The name space of its ids; for a page that is its address."""
    known: bytes | None = None
    """The hash that the file had: a file that still has it is not read again."""
    body: bytes = b""
    article: bool = False
    """Whether the page is HTML of an encyclopedia, to be read as an `Article`."""
    picture: int = 0
    """The page of a PDF to draw, from 1; 0: read the text."""

    def encoded(self) -> bytes:
        """The bytes that are sent."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "body"}
        values |= {
            "known": self.known and self.known.hex(),
            "seconds": limits.processor_seconds(self.size),
            "characters": limits.output_characters(self.size),
        }
        return json.dumps(values).encode() + b"\n" + self.body


@dataclass(frozen=True, slots=True)
class Article:
    """A page of an encyclopedia."""

    extract: str
    """Its text: a line for each paragraph, list item and row of its box, headings between "=="."""
    ambiguous: bool
    """Whether its markup says that it is a disambiguation page."""
    links: tuple[tuple[str, str], ...]
    """The address of the first link of each line of a list, and the line."""


class ProcessDied(Exception):
    """A process ended before its answer was complete; the text says why, with the file as its subject."""

    def __init__(self, why: str, passing: bool) -> None:
        super().__init__(why)
        self.passing = passing


class Reading:
    """The content of a file; after its items have been iterated to the end, also how the reading ended."""

    def __init__(self, answer: Answer, size: int) -> None:
        self.requested = time_ns()
        """When it was requested, before the file was opened."""
        self.digest: bytes | None = None
        """Hash of the file's content; None: it was not read to its end."""
        self.same = False
        """Whether the file has the known hash."""
        self.passing = False
        """Whether it broke off for a reason that may pass, and may not be the file's fault."""
        self._answer = answer
        self._size = size

    def items(self, seconds: float = inf) -> Iterator[tuple[int, CutDocument | DocumentProblem]]:
        """(bytes read so far, document or problem), in the order of the file; `seconds` is the limit for all.

        The keys of the documents are distinct: a row that repeats an earlier one's is a problem. Of many problems the
        last one says how many there are: a file of bad rows must fill neither index nor screen.
        """
        seen, problems = set[str](), 0
        for at, item in self._items(seconds):
            if isinstance(item, CutDocument) and item.key not in seen:
                seen.add(item.key)
                yield at, item
                continue
            if isinstance(item, CutDocument):
                twin = f"has the id {item.id}" if item.id else "says the same"
                item = DocumentProblem(f"a row is left out, since an earlier one {twin}")
            problems += 1
            if problems <= MOST_PROBLEMS:
                yield at, item
        if (rest := problems - MOST_PROBLEMS) > 0:
            yield self._size, DocumentProblem(f"and {rest:,} more")

    def _items(self, seconds: float) -> Iterator[tuple[int, CutDocument | DocumentProblem]]:
        passages: list[Passage] = []
        try:
            for kind, *values in self._answer(seconds):
                if kind == "passage":
                    id, text, title, url, start, stored = values
                    places = tuple((at, place) for at, place in stored)
                    passages.append(Passage(id, text, title, url=url, start=start, places=places))
                elif kind == "document":
                    at, key, own, digest, title, size, meta = values
                    content, known = bytes.fromhex(digest), usable(meta)[0]
                    yield at, CutDocument(key, own, content, tuple(passages), title, size, known)
                    passages.clear()
                elif kind == "problem":
                    at, reason, skipped = values
                    yield at, DocumentProblem(reason, skipped)
                else:
                    digest, self.same = values
                    self.digest = digest and bytes.fromhex(digest)
        except ProcessDied as died:
            self.passing = died.passing
            yield self._size, DocumentProblem(str(died))

    def value(self, seconds: float) -> Any:
        """The value that was requested beside documents: the parts of an article, or a picture in base64.

        Raises Unreadable, with the reason, if it is not there within so many seconds.
        """
        try:
            found = {kind: values for kind, *values in self._answer(seconds)}
        except ProcessDied as died:
            raise Unreadable(str(died)) from died
        if "problem" in found:
            raise Unreadable(found["problem"][1])
        return found["value"][0]
