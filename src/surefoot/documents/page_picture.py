"""A page of a PDF as a picture, in PNG. It is drawn in a process that reads, never in the one that serves."""

import zlib
from struct import pack

from pypdfium2 import PdfDocument, PdfiumError

from surefoot.documents.loaders import Unreadable

LONGEST = 1600
"""Pixels of the longer side."""
_SCALE = 2.0
"""Pixels for a point, at most: a page of a book has some 1,600 then."""


def drawn(content: bytes, page: int) -> bytes:
    """The page with this number, from 1. Raises Unreadable where there is none, or it cannot be drawn."""
    try:
        with PdfDocument(content) as document:
            if not 1 <= page <= len(document):
                raise Unreadable(f"has {len(document)} pages, and no page {page}")
            sheet = document[page - 1]
            width, height = sheet.get_size()
            scale = min(_SCALE, LONGEST / max(width, height, 1))
            bitmap = sheet.render(scale=scale, rev_byteorder=True, prefer_bgrx=True)
            rows = bitmap.to_numpy()[:, :, :3]
    except PdfiumError as error:
        raise Unreadable(f"cannot be drawn: {error}") from error
    return _png(rows.shape[1], rows.shape[0], b"".join(b"\0" + row.tobytes() for row in rows))


def _png(width: int, height: int, rows: bytes) -> bytes:
    """A PNG of rows of red, green and blue, each behind the number of its filter, which is none."""
    head = pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
