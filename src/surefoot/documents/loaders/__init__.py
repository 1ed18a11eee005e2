"""From a file to documents: one loader a format, imported only when a file of its format turns up.

A loader is a component: a file here, or a class that another package plugs in through the entry-point group
`surefoot.loaders` under the suffix that it reads (`srt = "package:Subtitles"`).
"""

import re
import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from io import BytesIO
from lzma import LZMAError
from pathlib import PurePath
from typing import BinaryIO

from surefoot import components
from surefoot.documents.loaders._suffixes import BY_LOADER, LANGUAGES, OLD
from surefoot.types import Block, Document, DocumentProblem
from surefoot.types.errors import ConfigError, MissingExtra, UsageError
from surefoot.types.protocols import Loader

__all__ = ["Block", "Document", "DocumentProblem", "Unreadable", "formats", "loader_of", "read", "supported"]

MAX_BYTES = 100_000_000
"""Above it a file that has to be read whole is refused; `STREAMED` files may have any size."""

STREAMED = frozenset({".csv", ".tsv", ".jsonl", ".ndjson"})
"""Suffixes that are read a row at a time."""

LOCK = "~$"
"""Begins the name of a file that Office lays beside one that is open; it holds its user's name and no text."""

HEAD = 4096
"""Bytes at the start of a file that tell its format where its name does not."""

PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
"""By the suffix of a compressed file, the module that unpacks it."""

_UNPACKING = (EOFError, OSError, ValueError, zlib.error, LZMAError)
_SOURCES = frozenset((".rst", ".md", ".ipynb"))
"""What Sphinx keeps beside its pages, as page.rst.txt."""
_SECTION = re.compile(r"\.[1-9][a-z]{0,8}\Z")
_TROFF = re.compile(rb"\s*[.'](?:\\\"|(?:TH|Dd|so|de|ds|if|ie|nr|nh|hy|ad)\b)")


LACKING = "cannot be read without another library"
"""In the reason of each file that a missing extra would read."""


class Unreadable(UsageError):
    """A file that gives no document; the text says why, without naming the file, and then what its owner can do."""

    @property
    def why(self) -> str:
        """The text without the advice, which comes after a semicolon, for those who do not own the file."""
        return str(self).partition(";")[0]


@cache
def formats() -> dict[str, str]:
    """By each suffix that is read, the name of its loader, first of one that is plugged in. A built-in is named as its
    suffix, or is in `BY_LOADER`."""
    own = components.built_in("loader")
    plugged_in = set(components.names("loader")) - set(own)
    built_in = {suffix: name for name in own for suffix in BY_LOADER.get(name, [f".{name}"])}
    return built_in | {f".{name.lower()}": name for name in plugged_in}


def supported() -> str:
    """The suffixes that can be read, for a message; those of source code are only counted."""
    documents = " ".join(sorted(formats().keys() - LANGUAGES.keys()))
    return f"{documents}, source code in {len({*LANGUAGES.values()})} languages, man pages, and text without a suffix"


def remedy_of(suffix: str) -> str:
    """The way out for a binary format that is not read; empty: the suffix is of another kind."""
    if not (wanted := OLD.get(suffix)):
        return ""
    office = f"; LibreOffice saves many: soffice --headless --convert-to {wanted[1:]} *{suffix}"
    return f"is in a binary format that is not read; save it as {wanted}{office if suffix != '.msg' else ''}"


def kind_unread(name: str) -> str:
    """Why a file that no loader reads is not read, and what its owner can do."""
    if PurePath(name).name.startswith(LOCK):
        return "is a lock file of Office, which holds no text"
    return remedy_of(suffix_of(name)) or "is of a kind that is not read; surefoot doctor lists those that are"


def suffix_of(name: str) -> str:
    """The suffix that tells a file's format, in small letters: of policy.txt.gz it is .txt, of page.rst.txt .rst."""
    path = PurePath(name.lower())
    path = PurePath(path.stem) if path.suffix in PACKED else path
    before = PurePath(path.stem).suffix
    return before if path.suffix == ".txt" and before in _SOURCES else path.suffix


def needs_head(name: str) -> bool:
    """True if only the start of the file tells its format: it has no suffix, or a man page's, such as .1 or .3pm."""
    suffix = suffix_of(name)
    return suffix not in formats() and (not suffix or _SECTION.match(suffix) is not None)


def loader_of(name: str, head: bytes = b"") -> str | None:
    """The name of the loader of a file; None: it is not read. `head` is its start, where `needs_head`; it may be
    compressed. The locks that Office lays beside an open file, such as ~$plan.docx, are not read."""
    if PurePath(name).name.startswith(LOCK):
        return None
    if not needs_head(name):
        return formats().get(suffix_of(name))
    if suffix_of(name):
        return "pandoc" if _TROFF.match(head) else None
    return "text" if _is_text(head) else None


def head_of(stream: BinaryIO, name: str) -> bytes:
    """The first bytes of a file, unpacked; b"" where they cannot be. Leaves the stream at its start."""
    try:
        return _opened(stream, name).read(HEAD)
    except _UNPACKING:
        return b""
    finally:
        stream.seek(0)


def read(stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
    """The documents of a seekable file, in its order, with a `DocumentProblem` in place of each row that cannot be
    read.

    `name` gives the format and, for want of a better one, the title. Raises Unreadable, also after some documents.
    """
    loader = loader_of(name, head_of(stream, name) if needs_head(name) else b"")
    if loader is None:
        raise Unreadable(kind_unread(name))
    if PurePath(name).suffix.lower() in PACKED:
        stream, name = BytesIO(_unpacked(stream, name)), PurePath(name).stem
    yield from _built(loader, suffix_of(name)).read(stream, name)


def _built(name: str, suffix: str) -> Loader:
    try:
        loader: Loader = components.find("loader", name)()
    except MissingExtra as error:
        raise Unreadable(f"{suffix} {LACKING}; {str(error).partition('; ')[2]}") from error
    except ConfigError as error:
        why = " ".join(str(error.__cause__ or error).split())
        ours = name in components.built_in("loader")
        way_out = "run: pip install surefoot" if ours else "mend the package that reads it, or remove it"
        raise Unreadable(f"{suffix or 'text'} cannot be read ({why}); {way_out}") from error
    return loader


def _opened(stream: BinaryIO, name: str) -> BinaryIO:
    module = PACKED.get(PurePath(name).suffix.lower())
    return import_module(module).open(stream) if module else stream


def _unpacked(stream: BinaryIO, name: str) -> bytes:
    try:
        content = _opened(stream, name).read(MAX_BYTES + 1)
    except _UNPACKING as error:
        raise Unreadable(f"is a damaged compressed file ({type(error).__name__}); compress it again") from error
    if len(content) > MAX_BYTES:
        raise Unreadable(f"unpacks to more than {MAX_BYTES / 1e6:.0f} MB; unpack it, and split it")
    return content


def _is_text(head: bytes) -> bool:
    if b"\0" in head or not head.strip():
        return False
    try:
        getincrementaldecoder("utf-8")().decode(head, final=len(head) < HEAD)  # the cut may go through a character
    except UnicodeDecodeError:
        return False
    return True
