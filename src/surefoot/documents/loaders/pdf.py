"""PDF: the text layer, page after page."""

from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import PurePath
from typing import BinaryIO

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfiumError

from surefoot.documents.loaders import MAX_BYTES, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._pdf_layout import Heading, laid_out
from surefoot.documents.loaders._pdf_lines import Line, lines

_HEADINGS = 20_000
"""Entries of an outline that are read, at most."""
_NAMELESS = ("(anonymous)", "untitled", "unknown")
"""Titles that programs give by themselves."""
_Y_OF = {pdfium.PDFDEST_VIEW_XYZ: 1, pdfium.PDFDEST_VIEW_FITH: 0, pdfium.PDFDEST_VIEW_FITBH: 0}
"""By the kind of a link's target, which of its numbers is the height."""


class PdfLoader:
    """Reads the text layer of a PDF, with its outline as paths and the numbers of pages as places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document; what is damaged is a problem, and the other pages are read.

        PDFium is not safe for threads: no two of a process may read at a time.
        """
        try:
            pdf = PdfDocument(stream.read())
        except PdfiumError as error:
            if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
                raise Unreadable("is encrypted; save a copy without a password") from error
            raise Unreadable("is a damaged PDF; print it to a new PDF") from error
        with pdf:
            pages: list[list[Line]] = []
            size = 0
            for number in range(len(pdf)):
                found = _page(pdf, number)
                if found is None:
                    yield DocumentProblem(f"page {number + 1} is damaged; print the file to a new PDF")
                pages.append(found or [])
                size += sum(len(line.text) for line in pages[-1])
                if size > MAX_BYTES:
                    raise Unreadable("unpacks to more than is safe to hold; split it")
            outline = list(_outline(pdf))
            title = pdf.get_metadata_value("Title").strip().removeprefix("Microsoft Word - ")
        if not size:
            raise Unreadable("has no text layer, it is scanned; run OCR over it first, for example ocrmypdf")
        title = "" if title.lower() in _NAMELESS else title
        yield Document("", title or PurePath(name).stem, tuple(laid_out(pages, outline)))


def _page(pdf: PdfDocument, number: int) -> list[Line] | None:
    """The lines of a page; None: it is damaged."""
    try:
        with closing(pdf[number]) as page:
            return lines(page)
    except PdfiumError:
        return None


def _outline(pdf: PdfDocument) -> Iterator[Heading]:
    for entry in islice(pdf.get_toc(), _HEADINGS):
        target = entry.get_dest()
        page = target.get_index() if target else None
        title = " ".join(entry.get_title().split())
        if target and page is not None and title:
            mode, numbers = target.get_view()
            at = _Y_OF.get(mode)
            yield Heading(entry.level, title, page, numbers[at] if at is not None and len(numbers) > at else None)
