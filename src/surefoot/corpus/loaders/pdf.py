"""PDF: the text layer, page after page."""

from __future__ import annotations

import logging
import re
import zlib
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from pypdf import PdfReader
from pypdf.errors import DeprecationError as Outdated
from pypdf.errors import FileNotDecryptedError, LimitReachedError, PyPdfError

from surefoot.corpus.loaders import MAX_BYTES, Document, DocumentProblem, Unreadable
from surefoot.text.blocks import blocks

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it logs every oddity of a file that it reads all the same

# Raised by pypdf on damaged files, beside its own errors, found by flipping and cutting bytes.
_COMMON = (AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
_DAMAGE = (PyPdfError, Outdated, zlib.error, ArithmeticError, AssertionError, MemoryError, *_COMMON)
_HYPHEN = re.compile(r"(?<=[a-z])-\n(?=[a-z])")


class PdfLoader:
    """Reads the text layer of a PDF."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document: pages apart by an empty line, words that a line end had cut made whole."""
        try:
            reader = PdfReader(stream)
            if reader.is_encrypted and not reader.decrypt(""):
                raise FileNotDecryptedError
            title = reader.metadata.title if reader.metadata else None
            text = _HYPHEN.sub("", _text(reader)).strip()
        except FileNotDecryptedError as error:
            raise Unreadable("is encrypted; save a copy without a password") from error
        except LimitReachedError as error:
            raise Unreadable("unpacks to more than is safe to hold; split it") from error
        except _DAMAGE as error:
            raise Unreadable(f"is a damaged PDF ({type(error).__name__}); print it to a new PDF") from error
        if not text:
            raise Unreadable("has no text layer, it is scanned; run OCR over it first, for example ocrmypdf")
        yield Document("", (title or "").strip() or PurePath(name).stem, blocks(text))


def _text(reader: PdfReader) -> str:
    pages, size = [], 0
    for page in reader.pages:
        pages.append(page.extract_text())
        size += len(pages[-1])
        if size > MAX_BYTES:  # pypdf limits each stream, but not all of them together
            raise LimitReachedError
    return "\n\n".join(pages)
