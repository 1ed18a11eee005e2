"""What a file says, as documents: one module a format, each imported only when a file of its format turns up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import BinaryIO

from surefoot.errors import UsageError

MAX_BYTES = 100_000_000
"""Above it a file that has to be read whole is refused; `STREAMED` files may have any size."""

FORMATS = {
    ".csv": "csv",
    ".docx": "docx",
    ".htm": "html",
    ".html": "html",
    ".jsonl": "jsonl",
    ".md": "markdown",
    ".pdf": "pdf",
    ".txt": "text",
}
"""Suffix to the module here that reads it."""

STREAMED = frozenset({".csv", ".jsonl"})
"""Suffixes that are read a row at a time."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text on its own: a whole file, or one row of a table."""

    key: str
    """Unique in its file and stable while the document's content is; "" where the file is one document."""
    title: str
    text: str
    url: str | None = None
    """The row's own address; None: the file is where a reader finds it."""
    id: str | None = None
    """The row's own id, which its passages take over; None: they get theirs from what they say."""
    sections: tuple[tuple[int, str], ...] = ()
    """Where in `text` sections begin, and what they are called; in the order of the text."""


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """Something in a file that was not read, or was read with a reservation."""

    reason: str
    skipped: bool = True
    """False: nothing is missing, but the text may not be what its author wrote."""


class Unreadable(UsageError):
    """A file that gives no document; the text says why, without naming the file, and then what its owner can do."""

    @property
    def why(self) -> str:
        """The text without the advice, which comes after a semicolon, for those who do not own the file."""
        return str(self).partition(";")[0]


def supported() -> str:
    """The suffixes that can be read, for a message."""
    return " ".join(sorted(FORMATS))


def read(stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
    """The documents of a seekable file, in its order, with a `DocumentProblem` in place of each row that cannot be
    read.

    `name` gives the format and, for want of a better one, the title. Raises Unreadable, also after some documents.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix not in FORMATS:
        raise Unreadable(f"is of a kind that is not read; these are: {supported()}")
    try:
        loader = import_module(f"{__name__}.{FORMATS[suffix]}")
    except ImportError as error:
        raise Unreadable(
            f"{suffix} cannot be read ({' '.join(str(error).split())}); run: pip install surefoot"
        ) from error
    found: Iterator[Document | DocumentProblem] = loader.read(stream, name)
    yield from found
