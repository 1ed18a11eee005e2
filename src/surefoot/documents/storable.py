"""A document on its way into an index: the characters that can be stored, its size and its hash."""

import json
import re
from dataclasses import astuple, dataclass, replace
from functools import partial
from hashlib import blake2b, file_digest
from typing import BinaryIO

from surefoot.text.blocks import fragment
from surefoot.types import Block, Document, Passage
from surefoot.types.metadata import NO_META, Meta

LONGEST_TITLE = 1_000
"""Characters of a passage's title, at most. Every passage repeats it, so megabytes would multiply."""

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class CutDocument:
    """A document cut into passages; key, id, title and meta are the `Document`'s."""

    key: str
    id: str | None
    digest: bytes
    """Hash of its whole content."""
    passages: tuple[Passage, ...]
    title: str = ""
    bytes: int = 0
    """Size of its text in UTF-8."""
    meta: Meta = NO_META


def storable(document: Document) -> Document:
    """The document with each character that SQLite or UTF-8 cannot hold replaced by U+FFFD."""
    return replace(
        document,
        key=clean(document.key),
        title=" ".join(clean(document.title).split()),
        blocks=tuple(_block(block) for block in document.blocks if block.text.strip()),
        url=document.url and clean(document.url),
        id=document.id and clean(document.id),
    )


def _block(block: Block) -> Block:
    path = tuple(filter(None, (" ".join(clean(name).split())[:LONGEST_TITLE] for name in block.path)))
    return Block(clean(block.text).strip("\n"), block.kind, path, fragment(clean(block.place)[:LONGEST_TITLE]))


def clean(text: str) -> str:
    """The text with each character that SQLite or UTF-8 cannot hold replaced by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def content_hash(stream: BinaryIO) -> bytes:
    """Hash of a file's content, from where it stands."""
    return file_digest(stream, partial(blake2b, digest_size=16)).digest()  # type: ignore[arg-type]  # it wants a name


def size(document: Document) -> int:
    """Bytes of its text in UTF-8."""
    return sum(len(block.text.encode()) + 2 for block in document.blocks)


def digest(document: Document) -> str:
    """Hash of all of it, in hexadecimal digits."""
    blocks = [astuple(block) for block in document.blocks]
    parts = json.dumps((document.title, blocks, document.url, document.id, dict(document.meta)))
    return blake2b(parts.encode(), digest_size=16).hexdigest()
