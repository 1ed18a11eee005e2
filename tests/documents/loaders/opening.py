"""Opens the content of a file as its loader does, and files as a user's `surefoot index` does."""

import io
from pathlib import Path

from surefoot.documents.loaders import Block, Document, read
from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.types import Passage


def documents(content: str | bytes, name: str) -> list[Document]:
    """The documents of a file."""
    raw = content.encode() if isinstance(content, str) else content
    return [item for item in read(io.BytesIO(raw), name) if isinstance(item, Document)]


def one(content: str | bytes, name: str) -> Document:
    """The only document of a file."""
    (document,) = documents(content, name)
    return document


def outline(content: str | bytes, name: str) -> list[tuple[str, str, str, str]]:
    """(kind, headings, place, text) of each block of the only document."""
    return [(block.kind, " › ".join(block.path), block.place, block.text) for block in one(content, name).blocks]


def kinds(content: str | bytes, name: str, kind: str) -> list[Block]:
    """The blocks of one kind."""
    return [block for block in one(content, name).blocks if block.kind == kind]


def found(folder: Path, name: str, content: str | bytes, question: str) -> Passage:
    """The first passage for a question after the file was indexed."""
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / name).write_bytes(content.encode() if isinstance(content, str) else content)
    report = build([folder / "docs"], folder / "index.db", Hashing())
    assert not report.skipped
    with Index.open(folder / "index.db") as index:
        return index.lexical(question, 1)[0]
