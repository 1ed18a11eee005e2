"""Shared by the loaders of formats that are ZIP archives of XML: how much of one is safe to unpack."""

import zlib
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile

from lxml.etree import LxmlError

from surefoot.documents.loaders import MAX_BYTES, Unreadable

# Raised by the libraries on damaged files, found by flipping and cutting bytes; RuntimeError is a password.
_COMMON = (
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)
DAMAGE = (ArithmeticError, BadZipFile, LxmlError, zlib.error, *_COMMON)
"""Errors that a library raises over an archive that is damaged or locked."""


def refuse_a_bomb(stream: BinaryIO) -> None:
    """Raise Unreadable if the texts in an archive unpack to more than MAX_BYTES; leaves the stream at its start.

    The sizes that the archive declares are held to when it is unpacked.
    """
    with ZipFile(stream) as archive:
        texts = sum(part.file_size for part in archive.infolist() if part.filename.lower().endswith((".xml", ".rels")))
    if texts > MAX_BYTES:
        raise Unreadable("unpacks to more than is safe to hold; split it")
    stream.seek(0)
