"""Shared by the loaders of tables: lines of bounded length, and the columns that make a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from io import TextIOWrapper
from typing import Any, BinaryIO

from surefoot.corpus.loaders import Document, DocumentProblem
from surefoot.corpus.loaders.text import encoding_of
from surefoot.text.blocks import blocks

MAX_LINE = 10_000_000
"""Characters of a line, at most; a longer one is a bad row, so that a damaged file does not fill the memory."""

TEXT = ("text", "contents", "content", "body")
"""Names of a text column; the first that is not empty is taken."""


@contextmanager
def opened(stream: BinaryIO) -> Iterator[tuple[TextIOWrapper, DocumentProblem | None]]:
    """The stream as text with its line ends, and a problem if its encoding is in doubt; the stream stays open."""
    encoding, problem = encoding_of(stream)
    text = TextIOWrapper(stream, encoding, "replace", newline="")
    try:
        yield text, problem
    finally:
        text.detach()


def lines(text: TextIOWrapper) -> Iterator[str | None]:
    """Each line with its end; None for one above MAX_LINE, of which no more than that is ever held."""
    while line := text.readline(MAX_LINE):
        whole = len(line) < MAX_LINE or line.endswith("\n")
        while not whole:
            rest = text.readline(MAX_LINE)
            line, whole = "", len(rest) < MAX_LINE or rest.endswith("\n")
        yield line or None


def document(row: Mapping[str, Any], columns: Sequence[str] = TEXT) -> Document | str:
    """The document in a row, with the text of the first of `columns` that is not empty; or the row's fault."""
    words = next((value for name in columns if isinstance(value := row.get(name), str) and value.strip()), None)
    if words is None:
        return f"has no text in {' or '.join(columns)}"
    own = row.get("id", row.get("_id"))
    if isinstance(own, bool) or not isinstance(own, str | int | None):
        return "has an id that is neither text nor a whole number"
    id = str(own).strip() if own is not None else ""
    title, url = _plain(row.get("title")), _plain(row.get("url")) or None
    return Document(id or _fingerprint(title, words, url or ""), title, blocks(words), url, id or None)


def _plain(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _fingerprint(*parts: str) -> str:
    """In place of an id, so that a row keeps its identity when others are inserted before it."""
    return "#" + blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
