"""From a file to documents: one loader a format, imported only when a file of its format turns up.

A loader is a component: a file here, or a class that another package plugs in through the entry-point group
`surefoot.loaders` under the suffix that it reads (`pptx = "package:Pptx"`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import PurePath
from typing import BinaryIO

from surefoot import components
from surefoot.errors import ConfigError, UsageError
from surefoot.protocols import Loader
from surefoot.types import Block, Document, DocumentProblem

__all__ = ["Block", "Document", "DocumentProblem", "Unreadable", "formats", "read", "supported"]

MAX_BYTES = 100_000_000
"""Above it a file that has to be read whole is refused; `STREAMED` files may have any size."""

STREAMED = frozenset({".csv", ".jsonl"})
"""Suffixes that are read a row at a time."""

_FORMATS = {f".{name}": name for name in components.built_in("loader")}
_FORMATS |= {".htm": "html", ".md": _FORMATS.pop(".markdown"), ".txt": _FORMATS.pop(".text")}
"""Of the built-in loaders. A file is named as its suffix but for these three."""


class Unreadable(UsageError):
    """A file that gives no document; the text says why, without naming the file, and then what its owner can do."""

    @property
    def why(self) -> str:
        """The text without the advice, which comes after a semicolon, for those who do not own the file."""
        return str(self).partition(";")[0]


@cache
def formats() -> dict[str, str]:
    """By each suffix that is read, the name of its loader."""
    plugged_in = set(components.names("loader")) - set(components.built_in("loader"))
    return {f".{name.lower()}": name for name in plugged_in} | _FORMATS


def supported() -> str:
    """The suffixes that can be read, for a message."""
    return " ".join(sorted(formats()))


def read(stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
    """The documents of a seekable file, in its order, with a `DocumentProblem` in place of each row that cannot be
    read.

    `name` gives the format and, for want of a better one, the title. Raises Unreadable, also after some documents.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix not in formats():
        raise Unreadable(f"is of a kind that is not read; these are: {supported()}")
    try:
        loader: Loader = components.build("loader", formats()[suffix], {}, {})
    except ConfigError as error:
        why = " ".join(str(error.__cause__ or error).split())
        way_out = "run: pip install surefoot" if suffix in _FORMATS else "mend the package that reads it, or remove it"
        raise Unreadable(f"{suffix} cannot be read ({why}); {way_out}") from error
    yield from loader.read(stream, name)
